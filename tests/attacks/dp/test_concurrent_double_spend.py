"""Many sessions ask at the same moment, for the last of the budget."""

import threading
from collections import Counter
from decimal import Decimal

from tests.attacks.target import Target, in_thread, outcome
from tests.database.waiting import wait_for_lock
from tests.databases import Connection

SESSIONS = 50
AFFORDABLE = 20
CHECK_THEN_SPEND = """
    CREATE FUNCTION extra.check_then_spend() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
    DECLARE before numeric := (SELECT spent FROM naive.budget);
    BEGIN
        IF before + 0.1 > 1 THEN RAISE EXCEPTION 'exhausted'; END IF;
        UPDATE naive.budget SET spent = before + 0.1;
        RETURN (SELECT count(*) FROM hr.person);
    END $$"""


def test_two_sessions_pay_once_where_reading_and_writing_are_two_steps(target: Target) -> None:
    target.admin.execute(CHECK_THEN_SPEND)
    first, second = target.connect("mallory"), target.connect("eve")
    answers: list[object] = []
    first.execute("BEGIN")
    answers += first.execute("SELECT extra.check_then_spend()").fetchall()
    thread = in_thread(lambda: answers.extend(second.execute("SELECT extra.check_then_spend()").fetchall()))
    wait_for_lock(target.database, second)
    first.execute("COMMIT")
    thread.join(60)
    assert (len(answers), target.naive_spent()) == (2, Decimal("0.1"))


def ask(connection: Connection, start: threading.Barrier, outcomes: list[str]) -> None:
    start.wait(120)
    while (seen := outcome(connection)) != "DP003":
        outcomes.append(seen)
    outcomes.append(seen)


def test_fifty_sessions_get_exactly_what_the_limit_allows(lonely_target: Target) -> None:
    """Each asks until it is refused. DP007, no ledger in time, may cost a charge but never gives an answer."""
    target = lonely_target
    target.admin.execute("UPDATE discreet._budget SET amount_limit = 2, epsilon_limit = 2 WHERE dataset = 'people'")
    start = threading.Barrier(SESSIONS)
    outcomes: list[str] = []
    threads = [
        threading.Thread(target=ask, args=(target.connect(role), start, outcomes), daemon=True)
        for role in ["mallory", "eve"] * (SESSIONS // 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    seen = Counter(outcomes)
    assert set(seen) <= {"answer", "DP003", "DP007"}
    assert seen["DP003"] == SESSIONS
    assert AFFORDABLE - seen["DP007"] <= seen["answer"] <= AFFORDABLE
    assert (target.spent(), target.charges()) == (2, AFFORDABLE)
