"""Many sessions ask at the same moment, for the last of the budget."""

import threading
from collections import Counter

from tests.attacks.gate.asking import FRESH
from tests.attacks.target import Target, outcome
from tests.databases import Connection

SESSIONS = 10
AFFORDABLE = 10


def test_all_sessions_together_get_what_the_limit_allows(gated: Target) -> None:
    """A naive ledger in which two pay once is shown in tests/attacks/test_concurrent_double_spend.py."""
    start = threading.Barrier(SESSIONS)
    outcomes: list[str] = []

    def work(connection: Connection) -> None:
        start.wait(120)
        while True:
            outcomes.append(outcome(connection, FRESH))
            if outcomes[-1] == "DP003":
                return

    roles = ["blind", "eve"] * (SESSIONS // 2)
    threads = [threading.Thread(target=work, args=(gated.connect(role, new=True),), daemon=True) for role in roles]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    seen = Counter(outcomes)
    # DP007, no ledger in time, may cost a charge but never gives an answer
    assert set(seen) <= {"answer", "DP003", "DP007"}
    assert AFFORDABLE - seen["DP007"] <= seen["answer"] <= AFFORDABLE
    assert (gated.spent(), gated.charges()) == (1, AFFORDABLE)
