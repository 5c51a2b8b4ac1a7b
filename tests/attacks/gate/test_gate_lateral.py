"""One call site in a LATERAL join, run again for every row on its left."""

from tests.attacks.gate.asking import assert_paid_for_each
from tests.attacks.target import Target
from tests.databases import Connection


def test_every_run_of_a_lateral_join_is_paid(gated: Target, blind: Connection) -> None:
    again = "discreet.query_json('SELECT count(*) FROM hr.person', 0.1 + 0 * n, fresh => true)"
    assert_paid_for_each(gated, blind, f"SELECT q FROM generate_series(1, {{}}) n, LATERAL {again} q")
