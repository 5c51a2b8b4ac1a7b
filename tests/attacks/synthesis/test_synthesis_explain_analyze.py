"""EXPLAIN ANALYZE would tell how many rows the counts have read."""

from __future__ import annotations

import psycopg
import pytest
from tests.attacks.synthesis.conftest import ASKED
from tests.attacks.target import Target
from tests.databases import Connection


def test_explain_analyze_of_a_synthesis_is_refused(target: Target, publisher: Connection) -> None:
    with target.free(), pytest.raises(psycopg.Error) as error:
        publisher.execute(f"EXPLAIN ANALYZE {ASKED.format(0.1)}")
    assert error.value.sqlstate == "DP001"
