"""nextval on the rows of a secret: the sequence would tell how many there are."""

import pytest
from tests.attacks.gate.asking import NAIVE_GATE, SECRET, assert_refused
from tests.attacks.target import Target
from tests.databases import Connection

COUNTED = "SELECT count(CASE WHEN dept = 'dept 2' THEN nextval('extra.s') END) FROM hr.person"


def test_a_naive_design_counts_with_it(target: Target) -> None:
    target.admin.execute(f"{NAIVE_GATE}; CREATE SEQUENCE extra.s")
    target.connect("blind").execute("SELECT extra.noisy(%s)", [COUNTED])
    assert target.value("SELECT last_value FROM extra.s") == 200


@pytest.mark.parametrize("call", ["nextval('extra.s')", "setval('extra.s', 5)", "currval('extra.s')", "lastval()"])
def test_no_question_moves_a_sequence(gated: Target, blind: Connection, call: str) -> None:
    blind.execute("CREATE SEQUENCE extra.s")
    assert_refused(blind, call)
    assert_refused(blind, f"CASE WHEN {SECRET} THEN {call} END")
    assert gated.value("SELECT is_called FROM extra.s") is False
