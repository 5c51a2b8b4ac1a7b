"""The report as a page: one document, with nothing in it that the report does not tell."""

from __future__ import annotations

import pytest

from discreet.core.errors import InvalidParameterError
from discreet.synthesis.page import page

REPORT = {
    "tables": {"clinic.<copy>": {"rows": 1234}}, "dataset": "clinic", "epsilon": 1.0, "delta": 1e-7, "seconds": 2.5,
    "models": [{
        "attributes": ["age", "sex"], "rows_per_person": 1, "rows": 1230,
        "expected": [{"columns": ["a", "b"], "error": 0.07, "by": "choice"}, {"columns": ["a", "c"], "error": None}],
        "measured": [
            {"columns": ["age"], "counts": [5, -3, 20], "error": 0.01},
            {"columns": ["age", "sex"], "error": 0.02},
        ],
    }],
    "notes": ["patient: nothing is declared of these columns, they are NULL: note"],
}  # fmt: skip


def test_the_page_shows_rows_price_counts_and_errors() -> None:
    shown = page(REPORT)
    assert shown.startswith("<!DOCTYPE html>")
    assert all(
        told in shown
        for told in ("1,234", "clinic.&lt;copy&gt;", "age × sex", "2 %", "a × b", "7 %", "1 pairs", "NULL: note")
    )
    assert "<copy>" not in shown
    assert shown.count('class="main"') == 3


@pytest.mark.parametrize("report", [{}, {"tables": 1}, REPORT | {"models": [{}]}, REPORT | {"epsilon": "x"}])
def test_what_is_no_report_is_refused(report: dict[str, object]) -> None:
    with pytest.raises(InvalidParameterError):
        page(report)
