"""pg_notify on the rows of a secret: whoever listens would hear of each."""

from tests.attacks.gate.asking import NAIVE_GATE, assert_refused
from tests.attacks.target import Target
from tests.databases import Connection


def heard(connection: Connection) -> int:
    connection.execute("SELECT 1")
    return len(list(connection.notifies(timeout=0)))


def test_a_naive_design_tells_every_row(target: Target) -> None:
    target.admin.execute(NAIVE_GATE)
    attacker = target.connect("blind")
    attacker.execute("LISTEN rows")
    question = "SELECT count(pg_notify('rows', name)) FROM hr.person WHERE salary = 1007"
    attacker.execute("SELECT extra.noisy(%s)", [question])
    assert heard(attacker) == 10


def test_no_question_notifies(gated: Target, blind: Connection) -> None:
    blind.execute("LISTEN rows")
    assert_refused(blind, "pg_notify('rows', 'b')")
    assert_refused(blind, "CASE WHEN salary = 1007 THEN pg_notify('rows', name) END")
    assert heard(blind) == 0
