"""The hint of a value without bounds names the columns whose bounds would help, and no others."""

from __future__ import annotations

import pytest
from tests.corpus.sample import planned

from discreet.core.errors import MissingBoundsError


@pytest.mark.parametrize(
    "value",
    [
        "lag(household) OVER (PARTITION BY id ORDER BY age)",
        "max(household) OVER (PARTITION BY id, district ORDER BY id)",
        "(SELECT max(n.household) FROM census.person n WHERE n.id = p.id)",
    ],
)
def test_columns_that_choose_rows_need_no_bounds(value: str) -> None:
    with pytest.raises(MissingBoundsError) as refusal:
        planned(f"SELECT avg(v) FROM (SELECT id, {value} AS v FROM census.person p) q")
    hint = refusal.value.hint or ""
    assert "'household', lower" in hint
    assert "'id', lower" not in hint
