"""The question fails after it was paid, in the hope of a refund."""

import pytest
from tests.attacks.gate.asking import ask, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused

# part of the rows is on a server that nobody reaches
BROKEN = """
    CREATE EXTENSION IF NOT EXISTS postgres_fdw SCHEMA public;
    DROP SERVER IF EXISTS nowhere CASCADE;
    CREATE SERVER nowhere FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nowhere', dbname 'secret');
    CREATE USER MAPPING FOR postgres SERVER nowhere;
    CREATE TABLE extra.whole (id int, x int) PARTITION BY LIST (x);
    CREATE TABLE extra.near PARTITION OF extra.whole FOR VALUES IN (1);
    CREATE FOREIGN TABLE extra.far PARTITION OF extra.whole FOR VALUES IN (2) SERVER nowhere;
    SELECT discreet.protect('extra.whole', 'id', dataset => 'people')
"""


@pytest.mark.parametrize(
    "failing", ["ln(-1 - count(*))", "sqrt(-1 - count(*))", "('x' || count(*))::int", "power(1e300::float8, 9)"]
)
def test_an_error_around_the_answer_refunds_nothing(gated: Target, blind: Connection, failing: str) -> None:
    """It tells of released numbers only; asking again is free, and fails again."""
    with gated.costs("0.001"):
        for _ in range(3):
            assert how_it_ends(blind, f"SELECT {failing}, count(*) FROM hr.person") == "DP001"


def test_an_error_while_rows_are_read_is_paid_and_not_told(gated: Target, blind: Connection) -> None:
    gated.admin.execute(BROKEN)
    try:
        with gated.costs("0.001"), refused("DP000", "the question could not be answered", "The reason is not told"):
            ask(blind, "SELECT count(*) FROM extra.whole")
    finally:
        gated.admin.execute("DROP SERVER nowhere CASCADE")
