"""The question fails after it was paid, in the hope of a refund."""

import pytest
from tests.attacks.gate.asking import BROKEN, ask, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused


@pytest.mark.parametrize(
    "failing",
    ["ln(-1 - count(*))", "sqrt(-1 - count(*))", "('x' || count(*))::int", "power(1e300::float8, 9 + count(*))"],
)
def test_an_error_around_the_answer_refunds_nothing(gated: Target, blind: Connection, failing: str) -> None:
    """It tells of released numbers only; asking again is free, and fails again."""
    with gated.costs("0.001"):
        for _ in range(3):
            assert how_it_ends(blind, f"SELECT {failing}, count(*) FROM hr.person") == "DP001"


def test_an_error_that_comes_with_every_answer_is_told_before_it_is_paid(gated: Target, blind: Connection) -> None:
    with gated.costs("0"):
        assert how_it_ends(blind, "SELECT power(1e300::float8, 9), count(*) FROM hr.person") == "DP001"


def test_an_error_while_rows_are_read_is_paid_and_not_told(gated: Target, blind: Connection) -> None:
    gated.admin.execute(BROKEN)
    try:
        with gated.costs("0.001"), refused("DP000", "the question could not be answered", "The reason is not told"):
            ask(blind, "SELECT count(*) FROM extra.whole")
    finally:
        gated.admin.execute("DROP SERVER nowhere CASCADE")
