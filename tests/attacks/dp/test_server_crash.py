"""The server crashes under load: every answer that a client saw has its charge."""

import itertools
import threading

import psycopg
from tests.attacks.target import Target
from tests.databases import Connection

SESSIONS = 16
ANSWERS = 200
TAGGED = "SELECT discreet.dp_count(*) /* {tag} */ FROM hr.person"


class Load:
    """Sessions that ask until the server is gone; each question is told from the others by its text."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.enough = threading.Event()
        self._numbers = itertools.count()

    def run(self, connection: Connection) -> None:
        while True:
            tag = f"question {next(self._numbers)}."
            try:
                connection.execute(TAGGED.format(tag=tag)).fetchone()
            except psycopg.Error:
                return
            self.seen.append(tag)
            if len(self.seen) >= ANSWERS:
                self.enough.set()


def test_crash_under_load_loses_no_charge(lonely_target: Target) -> None:
    target = lonely_target
    target.admin.execute(
        "UPDATE discreet._budget SET amount_limit = 1000, epsilon_limit = 1000 WHERE dataset = 'people'"
    )
    load = Load()
    sessions = [target.connect(role) for role in ["mallory", "eve"] * (SESSIONS // 2)]
    threads = [threading.Thread(target=load.run, args=(session,), daemon=True) for session in sessions]
    for thread in threads:
        thread.start()
    assert load.enough.wait(120)
    target.database.cluster.stop("immediate")
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    target.database.cluster.start()
    target.reconnect()

    charged = [question for (question,) in target.admin.execute("SELECT question FROM discreet._charge").fetchall()]
    assert len(set(charged)) == len(charged)
    assert {TAGGED.format(tag=tag) for tag in load.seen} <= set(charged)
    assert len(charged) <= len(load.seen) + SESSIONS
    target.check()
    with target.costs("0.1"):
        target.connect().execute(TAGGED.format(tag="after the crash"))
