"""Advisory locks on the rows of a secret: another session would see who is locked."""

import pytest
from tests.attacks.gate.asking import NAIVE_GATE, assert_refused
from tests.attacks.target import Target
from tests.databases import Connection

HELD = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"


def test_a_naive_design_shows_who_is_locked(target: Target) -> None:
    target.admin.execute(NAIVE_GATE)
    attacker = target.connect("blind")
    attacker.execute("BEGIN")
    question = "SELECT count(pg_advisory_xact_lock(id)) FROM hr.person WHERE salary = 1007"
    attacker.execute("SELECT extra.noisy(%s)", [question])
    assert target.value(HELD) == 10


@pytest.mark.parametrize("call", ["pg_advisory_lock(1)", "pg_try_advisory_lock(salary)", "pg_advisory_unlock_all()"])
def test_no_question_locks(gated: Target, blind: Connection, call: str) -> None:
    assert_refused(blind, call)
    assert gated.value(HELD) == 0
