"""pg_sleep on the row of a secret: time would tell."""

import pytest
from tests.attacks.gate.asking import SECRET, assert_refused
from tests.databases import Connection


@pytest.mark.parametrize(
    "call",
    ["pg_sleep(1)", "pg_sleep_for('1 s')", "pg_sleep_until('tomorrow')", "clock_timestamp()"],
)
def test_no_question_waits_or_reads_the_clock(blind: Connection, call: str) -> None:
    assert_refused(blind, call)
    assert_refused(blind, f"CASE WHEN {SECRET} THEN {call} END")
