"""EXPLAIN (ANALYZE) counts rows that are not shown; a command that failed before it must not open the way."""

from collections.abc import Iterator

import pytest
from tests.attacks.mls.levels import Levels
from tests.messages import refused

EXPLAINED = "EXPLAIN (ANALYZE, TIMING off, SUMMARY off, COSTS off) SELECT * FROM employee"
FAILS = "ALTER TABLE lows.own ADD COLUMN x int, ADD CHECK (1 / (id - 1) = 0)"


@pytest.fixture
def own(levels: Levels) -> Iterator[None]:
    """A protected table that mls_low owns, so that discreet follows what happens to it."""
    levels.admin.execute(
        "CREATE SCHEMA lows AUTHORIZATION mls_low; SET ROLE mls_low; CREATE TABLE lows.own (id int PRIMARY KEY);"
        "INSERT INTO lows.own VALUES (1); RESET ROLE; SELECT discreet.protect('lows.own', NULL, policy => 'public')"
    )
    yield
    levels.admin.execute("DROP SCHEMA lows CASCADE")


def test_rows_above_are_not_counted(levels: Levels, own: None) -> None:
    low = levels.at("low")
    with refused("42501", "EXPLAIN ANALYZE", ""):
        low.execute(EXPLAINED)
    low.execute("BEGIN; SAVEPOINT a")
    with refused("22012", "division by zero", None):
        low.execute(FAILS)
    low.execute("ROLLBACK TO a")
    with refused("42501", "EXPLAIN ANALYZE", ""):
        low.execute(EXPLAINED)
