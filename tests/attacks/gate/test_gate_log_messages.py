"""Messages that settings of the session turn on: trace_sort, debug_print_plan, and the log shown to the client."""

import psycopg
import pytest
from tests.attacks.gate.asking import BROKEN, FEW, NAIVE_GATE, ask
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import notices


def test_a_naive_design_tells_how_much_was_sorted(target: Target) -> None:
    target.admin.execute(NAIVE_GATE)
    attacker = target.connect("blind")
    attacker.execute("SET client_min_messages = log; SET trace_sort = on")
    heard = notices(attacker)
    attacker.execute("SELECT extra.noisy('SELECT count(DISTINCT name) FROM hr.person WHERE salary > 1090')")
    assert "sort" in str(heard)


@pytest.mark.parametrize(
    "setting",
    [
        "client_min_messages = debug5", "log_executor_stats = on", "debug_print_plan = on", "trace_sort = on",
        "debug_print_parse = on", "auto_explain.log_min_duration = 0", "log_min_messages = debug5", "track_counts = on",
        "debug_print_rewritten = on", "log_statement_stats = on", "log_temp_files = 0", "log_lock_waits = on",
    ],
)  # fmt: skip
def test_messages_tell_nothing_of_the_rows(gated: Target, blind: Connection, setting: str) -> None:
    try:
        blind.execute(f"SET {setting}; SET client_min_messages = debug5; SET work_mem = '64kB'")
    except psycopg.errors.InsufficientPrivilege:
        gated.admin.execute(f"ALTER ROLE blind SET {setting.replace(' = ', ' TO ')}")
        blind = gated.connect("blind", new=True)
        gated.admin.execute("ALTER ROLE blind RESET ALL")
        blind.execute("SET client_min_messages = debug5; SET work_mem = '64kB'")
    ask(blind, FEW)
    heard = notices(blind)
    for question in (FEW, FEW.replace("avg(salary)", "count(DISTINCT name)")):
        ask(blind, question, fresh=True)
    inside = [message for level, message, _ in heard if level not in ("NOTICE", "DEBUG", "LOG")]
    assert inside == []
    assert [message for _, message, _ in heard if "hr.person" in str(message) or "sort" in str(message)] == []


@pytest.mark.parametrize(
    "setting", ["exit_on_error = on", "client_min_messages = log", "log_error_verbosity = verbose"]
)
def test_an_error_of_the_rows_is_told_to_the_log_only(gated: Target, setting: str) -> None:
    """exit_on_error would end the session with the error as it was."""
    gated.admin.execute(f"{BROKEN}; ALTER ROLE blind SET {setting.replace(' = ', ' TO ')}")
    try:
        blind = gated.connect("blind", new=True)
        heard = notices(blind)
        with pytest.raises(psycopg.Error) as caught:
            ask(blind, "SELECT count(*) FROM extra.whole")
        assert caught.value.sqlstate == "DP000"
        assert "nowhere" not in f"{heard} {caught.value} {caught.value.diag.context}"
        assert blind.execute("SELECT 1").fetchall() == [(1,)]
    finally:
        gated.admin.execute("ALTER ROLE blind RESET ALL; DROP SERVER nowhere CASCADE")
