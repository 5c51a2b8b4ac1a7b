"""One call site, run again for every row around it."""

from tests.attacks.gate.asking import assert_paid_for_each
from tests.attacks.target import Target
from tests.databases import Connection

AGAIN = "(SELECT discreet.query_json('SELECT count(*) FROM hr.person', 0.1, fresh => n > 0))"


def test_every_run_of_a_correlated_subquery_is_paid(gated: Target, blind: Connection) -> None:
    assert_paid_for_each(gated, blind, f"SELECT {AGAIN} FROM generate_series(1, {{}}) n")


def test_every_run_in_a_condition_is_paid(gated: Target, blind: Connection) -> None:
    assert_paid_for_each(gated, blind, f"SELECT n FROM generate_series(1, {{}}) n WHERE {AGAIN} IS NOT NULL")
