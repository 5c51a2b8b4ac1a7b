"""A window over the rows that meet a condition, and one over all rows of a person: the number of one for the other."""

import pytest
from tests.attacks.gate.asking import ask, number
from tests.attacks.target import Target
from tests.databases import Connection

ROWS = "SELECT id, smoker, row_number() OVER (PARTITION BY id ORDER BY salary) AS place FROM extra.visit"
# the first visits at which people smoked, and the first visits if they smoked there
WITHIN = f"SELECT count(*) FROM ({ROWS} WHERE smoker) AS visits WHERE place = 1"
AROUND = f"SELECT count(*) FROM ({ROWS}) AS visits WHERE place = 1 AND smoker"
NESTED = f"SELECT count(*) FROM ({ROWS.replace('extra.visit', '(SELECT * FROM extra.visit WHERE smoker) AS v')}) AS v"


@pytest.fixture
def visits(gated: Target) -> Target:
    gated.admin.execute(
        "CREATE TABLE extra.visit AS"
        " SELECT n % 500 AS id, n AS salary, n >= 500 AS smoker FROM generate_series(0, 999) n"
    )
    gated.admin.execute("SELECT discreet.protect('extra.visit', 'id', dataset => 'people', max_rows => 1)")
    return gated


def test_both_differ(visits: Target) -> None:
    assert (visits.value(WITHIN), visits.value(AROUND)) == (500, 0)


@pytest.mark.parametrize("within", [WITHIN, f"{NESTED} WHERE place = 1"])
def test_one_is_not_answered_by_the_other(visits: Target, blind: Connection, within: str) -> None:
    # noise of one person at epsilon 0.4 is beyond 100 with a probability below 1e-17
    assert number(blind, AROUND, "0.4") < 100
    with visits.costs("0.4"):
        assert number(blind, within, "0.4") > 400


def test_asked_again_it_is_free(visits: Target, blind: Connection) -> None:
    first = ask(blind, WITHIN)
    with visits.free():
        assert ask(blind, WITHIN) == first
