"""LATERAL and generate_series: the same question many times in one statement."""

import pytest
from tests.attacks.target import ASK, PRICE, Target, ask_until_refused
from tests.databases import Connection

LATERAL = (
    "SELECT c FROM generate_series(1, {n}) g, LATERAL (SELECT discreet.dp_count(*) c FROM hr.person WHERE id > g - g) a"
)


def test_every_run_of_a_lateral_subquery_is_paid(target: Target, mallory: Connection) -> None:
    with target.costs(4 * PRICE):
        assert len(mallory.execute(LATERAL.format(n=4)).fetchall()) == 4


def test_lateral_subquery_ends_at_the_limit(target: Target, mallory: Connection) -> None:
    assert ask_until_refused(mallory, LATERAL.format(n=11)) == 0
    assert target.spent() == 1


def test_subquery_that_needs_no_outer_row_gives_one_answer(target: Target, mallory: Connection) -> None:
    with target.costs(PRICE):
        answers = mallory.execute(f"SELECT dp_count FROM generate_series(1, 50) g, ({ASK}) answer").fetchall()
    assert (len(answers), len(set(answers))) == (50, 1)


def test_two_call_sites_pay_twice(target: Target, mallory: Connection) -> None:
    with target.costs(2 * PRICE):
        mallory.execute(f"SELECT ({ASK}), ({ASK})")


def test_one_call_site_written_twice_is_one_answer(target: Target, mallory: Connection) -> None:
    with target.costs(PRICE):
        row = mallory.execute("SELECT discreet.dp_count(*), discreet.dp_count(*) FROM hr.person").fetchone()
    assert row is not None
    assert row[0] == row[1]


@pytest.mark.parametrize("branches", [2, 5])
def test_union_of_questions_pays_for_each(target: Target, mallory: Connection, branches: int) -> None:
    with target.costs(branches * PRICE):
        mallory.execute(" UNION ALL ".join([ASK] * branches))
