"""One call site in the select list, run again for every row of generate_series."""

from tests.attacks.gate.asking import FRESH, assert_paid_for_each
from tests.attacks.target import Target
from tests.databases import Connection


def test_every_run_in_a_select_list_is_paid(gated: Target, blind: Connection) -> None:
    assert_paid_for_each(gated, blind, f"{FRESH} FROM generate_series(1, {{}})")


def test_a_subquery_that_runs_once_gives_one_answer(gated: Target, blind: Connection) -> None:
    with gated.costs("0.1"):
        rows = blind.execute(f"SELECT ({FRESH}) FROM generate_series(1, 100)").fetchall()
    assert (len(rows), len(set(map(str, rows)))) == (100, 1)
