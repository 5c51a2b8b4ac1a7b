"""Virtual generated columns (PostgreSQL 18) are computed when read: one that fails for one person is an oracle."""

import psycopg
import pytest
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused
from tests.versions import since

pytestmark = since(18)

TRAP = """
    CREATE TABLE extra.trapped (
        id int PRIMARY KEY, salary int NOT NULL, trap int GENERATED ALWAYS AS (100 / (salary - 1007)) VIRTUAL);
    INSERT INTO extra.trapped SELECT n, 1000 + n % {most} FROM generate_series(1, 100) n;
"""
ASK = "SELECT count(*) FROM extra.trapped WHERE trap = 1"


@pytest.mark.parametrize("most", [5, 10])
def test_a_plain_table_tells_whether_somebody_is_in_the_trap(gated: Target, most: int) -> None:
    gated.admin.execute(TRAP.format(most=most))
    if most == 5:
        gated.admin.execute(ASK)
    else:
        with pytest.raises(psycopg.errors.DivisionByZero):
            gated.admin.execute(ASK)


@pytest.mark.parametrize("most", [5, 10])
@pytest.mark.parametrize("ask", [ASK, "SELECT trap, count(*) FROM extra.trapped GROUP BY 1",
                                 "SELECT avg(trap) FROM extra.trapped"])  # fmt: skip
def test_they_cannot_be_asked_about(gated: Target, blind: Connection, most: int, ask: str) -> None:
    gated.admin.execute(TRAP.format(most=most) + "SELECT discreet.protect('extra.trapped', 'id', dataset => 'people')")
    with refused("DP001", "there is no column trap", "Hidden and system columns"):
        blind.execute(ask)


def test_other_columns_of_the_table_can(gated: Target, blind: Connection) -> None:
    gated.admin.execute(TRAP.format(most=10) + "SELECT discreet.protect('extra.trapped', 'id', dataset => 'people')")
    assert blind.execute("SELECT count(*) FROM extra.trapped WHERE salary > 1000").fetchone() is not None


def test_they_cannot_name_people(gated: Target) -> None:
    gated.admin.execute(TRAP.format(most=5))
    with refused("22023", "column trap is generated when it is read", "Take a column that is stored."):
        gated.admin.execute("SELECT discreet.protect('extra.trapped', 'trap', dataset => 'people', max_rows => 1)")
