"""UNION ALL of people who are named by numerics and by doubles: a cast that fails tells that somebody is there."""

from __future__ import annotations

import psycopg
import pytest
from tests.attacks.gate.asking import how_it_ends, protect
from tests.attacks.target import Target
from tests.databases import Connection

HUGE = "INSERT INTO extra.precise VALUES (1e400)"
ROWS = "SELECT id FROM extra.precise UNION ALL SELECT id FROM extra.rough"


def test_whether_somebody_is_there_is_not_told_by_an_error(gated: Target, blind: Connection) -> None:
    protect(gated, "precise", "id numeric PRIMARY KEY", "SELECT generate_series(1, 10)")
    protect(gated, "rough", "id float8 PRIMARY KEY", "SELECT generate_series(1, 10)")
    before = how_it_ends(blind, f"SELECT count(*) FROM ({ROWS}) s")
    gated.admin.execute(HUGE)
    with pytest.raises(psycopg.errors.NumericValueOutOfRange):
        gated.admin.execute(f"SELECT count(*) FROM ({ROWS}) s WHERE id > 0")
    assert how_it_ends(blind, f"SELECT count(*) FROM ({ROWS}) s") == before == "DP001"
