"""`python -m bench.crash --minutes 30`: sessions ask while their server is tormented; no answer may lack its charge.

Every session writes down what it asked and what it was answered. Meanwhile sessions, the processes that charge, and
the checkpointer are killed, terminated, cancelled and frozen, and the server is stopped at once and started again. At
the end every answer has its charge, no question is charged twice, no limit is exceeded, and the log is intact.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import re
import shutil
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import psycopg
from dev.cluster import ROOT, Cluster

from bench.clusters import throw_away_cluster
from bench.measure import Connection

SESSIONS = 40
EPSILON = Decimal("0.0001")
# the ledger of these people runs out of budget early, while many ask at once
FEW_LIMIT = Decimal("0.002")
POOR_LIMIT = Decimal("0.0015")
# how long a session may wait for its answer, or a server for its start, before that counts as a fault
PATIENCE = 120.0
# where the server's log is kept
LOG = ROOT / "build" / "crash.log"

# alice and bob ask the gate, poor too, with little budget; rita may read the table and uses the aggregates
PREPARE = f"""
    SET client_min_messages = warning;
    CREATE EXTENSION IF NOT EXISTS discreet CASCADE;
    CREATE TABLE citizen (id int PRIMARY KEY, badge bigint NOT NULL);
    INSERT INTO citizen SELECT n, 1000000 * n FROM generate_series(1, 900) n;
    CREATE TABLE hermit (id int PRIMARY KEY, badge bigint NOT NULL);
    INSERT INTO hermit SELECT n, 1000000 * n FROM generate_series(1, 900) n;
    SELECT discreet.create_dataset('citizens', 1000), discreet.create_dataset('hermits', {FEW_LIMIT});
    SELECT discreet.protect('citizen', 'id', 'citizens'), discreet.protect('hermit', 'id', 'hermits');
    SELECT discreet.describe_column('citizen', 'badge', 0, 1000000000);
    SELECT discreet.describe_column('hermit', 'badge', 0, 1000000000);
    CREATE ROLE crash_alice LOGIN;
    CREATE ROLE crash_bob LOGIN;
    CREATE ROLE crash_poor LOGIN;
    CREATE ROLE crash_rita LOGIN;
    GRANT SELECT ON citizen TO crash_rita;
    SELECT discreet.grant_budget('citizens', role::regrole, 1000)
    FROM unnest(ARRAY['crash_alice', 'crash_bob', 'crash_rita']) AS role;
    SELECT discreet.grant_budget('hermits', role::regrole, {POOR_LIMIT})
    FROM unnest(ARRAY['crash_alice', 'crash_poor']) AS role;
"""


@dataclass(frozen=True)
class Question:
    """Who asks what; the number stands in the text of the question, and in that of no other."""

    role: str
    number: int
    epsilon: Decimal


@dataclass(frozen=True)
class Way:
    """A way to ask. A stored answer is free, unless the way is always fresh."""

    role: str
    statement: str
    fresh: bool
    rolled_back: bool = False


def gate(role: str, table: str, rolled_back: bool = False) -> Way:
    call = f"discreet.query('SELECT count(*) FROM {table} WHERE badge > {{number}}', {EPSILON}, fresh => true)"
    return Way(role, f"SELECT n FROM {call} AS t(n bigint)", True, rolled_back)


WAYS = (
    Way("crash_alice", "SELECT count(*) FROM citizen WHERE badge > {number}", fresh=False),
    Way("crash_rita", f"SELECT discreet.dp_count(id, {EPSILON}) FROM citizen WHERE badge > {{number}}", fresh=True),
    gate("crash_bob", "citizen"),
    gate("crash_alice", "citizen", rolled_back=True),
    gate("crash_poor", "hermit"),
    gate("crash_alice", "hermit"),
)

# TOUCHED: a worker was cancelled or terminated between the charge and the answer, which is paid for and lost
NO_BUDGET, NO_LEDGER, TOUCHED, CANCELLED = "DP003", "DP007", "DP000", "57014"
# the session is terminated, the server crashed, is starting or has no connection left; None: the connection is lost
GONE = {"57P01", "57P02", "57P03", "53300", None}
EXPECTED = GONE | {NO_BUDGET, NO_LEDGER, TOUCHED, CANCELLED}


# -- journals, and what is held against them


@dataclass
class Journal:
    """What one session asked, what it was answered, and how its other questions ended."""

    asked: Counter[Question] = field(default_factory=Counter)
    answers: dict[Question, list[object]] = field(default_factory=lambda: defaultdict(list))
    ended: Counter[str | None] = field(default_factory=Counter)
    always_fresh: set[Question] = field(default_factory=set)

    @property
    def finished(self) -> int:
        """How many questions came to an end by the server's word, whatever it was."""
        refused = sum(self.ended[state] for state in (NO_BUDGET, NO_LEDGER, TOUCHED, CANCELLED))
        return refused + sum(len(answers) for answers in self.answers.copy().values())

    def owed(self, question: Question) -> int:
        """How many charges the answers need at least. A stored answer is free, but equals one that was paid for."""
        answers = self.answers[question]
        return len(answers) if question in self.always_fresh else len(set(answers))


@dataclass(frozen=True)
class Charge:
    role: str
    dataset: str
    epsilon: Decimal
    question: str


@dataclass(frozen=True)
class Budget:
    """A line of budget_status; role None is the dataset's own."""

    dataset: str
    role: str | None
    limit: Decimal
    spent: Decimal


@dataclass(frozen=True)
class Ledger:
    charges: tuple[Charge, ...]
    budgets: tuple[Budget, ...]
    bad_logs: tuple[str, ...]


def read_ledger(connection: Connection) -> Ledger:
    """The ledger as of one moment."""
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        charges = connection.execute("SELECT role, dataset, epsilon, question FROM discreet.charges").fetchall()
        budgets = connection.execute(
            "SELECT dataset, role, epsilon_limit, epsilon_spent FROM discreet.budget_status"
        ).fetchall()
        logs = connection.execute("SELECT dataset, finding FROM discreet.verify_log() WHERE intact IS NOT TRUE")
        return Ledger(
            tuple(Charge(str(role), str(of), Decimal(str(price)), str(text)) for role, of, price, text in charges),
            tuple(
                Budget(str(of), None if role is None else str(role), Decimal(str(limit)), Decimal(str(spent)))
                for of, role, limit, spent in budgets
            ),
            tuple(f"{of}: {finding}" for of, finding in logs.fetchall()),
        )


def question_of(charge: Charge) -> Question:
    """The question of a charge, by the nine digits in its text."""
    numbers = re.findall(r"\b\d{9}\b", charge.question)
    return Question(charge.role, int(numbers[0]) if len(numbers) == 1 else 0, charge.epsilon)


def faults(journals: Iterable[Journal], ledger: Ledger) -> list[str]:
    """What does not fit between the answers that clients hold and the ledger, in words."""
    found = unbalanced(ledger)
    charged = Counter(question_of(charge) for charge in ledger.charges)
    asked: Counter[Question] = Counter()
    for journal in journals:
        asked += journal.asked
        for question, answers in journal.answers.items():
            if charged[question] < journal.owed(question):
                found.append(f"{question}: {len(answers)} answers, but {charged[question]} charges")
        found += [f"a question ended with {state}" for state in journal.ended.keys() - EXPECTED]
    for question, times in charged.items():
        if times > asked[question]:
            found.append(f"{question}: asked {asked[question]} times, but charged {times} times")
    return found


def unbalanced(ledger: Ledger) -> list[str]:
    """What does not fit within the ledger."""
    found = [f"the log does not fit: {finding}" for finding in ledger.bad_logs]
    for budget in ledger.budgets:
        paid = [
            charge.epsilon
            for charge in ledger.charges
            if charge.dataset == budget.dataset and budget.role in (None, charge.role)
        ]
        if sum(paid) != budget.spent:
            found.append(f"{budget}: the charges come to {sum(paid)}")
        if budget.spent > budget.limit:
            found.append(f"{budget}: overspent")
    return found


# -- sessions


class Session(threading.Thread):
    """Asks in one way until it is told to stop, and connects again whenever its connection is lost."""

    def __init__(self, cluster: Cluster, place: int, enough: threading.Event) -> None:
        super().__init__(daemon=True)
        self.way = WAYS[place % len(WAYS)]
        self.journal = Journal()
        self._cluster, self._enough = cluster, enough
        self._asynchronous = place % 2 == 0
        # numbers of nine digits, a range for each session
        self._number = 100_000_000 + 1_000_000 * place

    def run(self) -> None:
        while not self._enough.is_set():
            try:
                with psycopg.connect(self._cluster.dsn(user=self.way.role), autocommit=True) as connection:
                    # a wish of the session must not make the charge less durable
                    connection.execute(f"SET synchronous_commit = {'off' if self._asynchronous else 'on'}")
                    connection.execute(f"SET discreet.epsilon = '{EPSILON}'")
                    while not self._enough.is_set():
                        self._ask(connection)
            except psycopg.Error as error:
                self.journal.ended[error.sqlstate] += 1
                self._enough.wait(0.05)

    def _ask(self, connection: Connection) -> None:
        question = Question(self.way.role, self._number, EPSILON)
        # asked again from time to time: fresh questions pay each time, others are answered from the store
        times = self.journal.asked[question] = self.journal.asked[question] + 1
        if times % 3 == 0:
            self._number += 1
        if self.way.fresh:
            self.journal.always_fresh.add(question)
        try:
            with connection.transaction(force_rollback=True) if self.way.rolled_back else nullcontext():
                ((answer,),) = connection.execute(self.way.statement.format(number=question.number).encode()).fetchall()
                self.journal.answers[question].append(answer)
        except psycopg.Error as error:
            if connection.closed:
                raise
            self.journal.ended[error.sqlstate] += 1
            if error.sqlstate == NO_BUDGET:
                self._enough.wait(0.1)


# -- torments


def wait(condition: Callable[[], bool]) -> bool:
    """Whether a condition came true; if not, something hangs."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def reconnected(cluster: Cluster) -> Connection:
    """The superuser, as soon as the server has recovered."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return psycopg.connect(cluster.dsn(), autocommit=True)
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def processes(cluster: Cluster, title: str) -> list[int]:
    """Processes of the server whose title fits a pattern."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        postmaster = (cluster.data / "postmaster.pid").read_text().split()[0]
        for folder in Path("/proc").iterdir():
            with suppress(OSError):
                if folder.name.isdigit() and (folder / "stat").read_text().rpartition(") ")[2].split()[1] == postmaster:
                    words = (folder / "cmdline").read_bytes().rstrip(b"\0").decode(errors="replace")
                    if re.match(f"postgres: (?:{title})", words):
                        found.append(int(folder.name))
    return found


ASKERS = "crash_"
# workers of discreet, and the ledger's connections where sessions have such: no other superuser is connected meanwhile
CHARGERS = "discreet|postgres "
CHECKPOINTER = "checkpointer"


class Tormentor:
    """What is done to the server. Each torment leaves it able to run again, and tells how often it met something."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster = cluster
        self.random = random.Random(seed)
        self.torments: dict[str, Callable[[], int]] = {
            "a session killed": lambda: self._kill(ASKERS),
            "a charging process killed": lambda: self._kill(CHARGERS),
            "the checkpointer killed": lambda: self._kill(CHECKPOINTER),
            "sessions terminated": lambda: self._signal(ASKERS, signal.SIGTERM, 3),
            "charging processes terminated": lambda: self._signal(CHARGERS, signal.SIGTERM, 3),
            "sessions cancelled": self._cancel_often,
            "charging processes cancelled": lambda: self._signal(CHARGERS, signal.SIGINT, 3),
            "charging processes frozen": self._freeze,
            "server stopped at once": lambda: self._restart("immediate"),
            "server restarted": lambda: self._restart("fast"),
        }

    def _signal(self, title: str, number: signal.Signals, most: int) -> int:
        chosen = processes(self.cluster, title)
        self.random.shuffle(chosen)
        for process in chosen[:most]:
            with suppress(ProcessLookupError):
                os.kill(process, number)
        return len(chosen[:most])

    def _kill(self, title: str) -> int:
        """Kills one process; the server then ends all others, and starts anew by itself."""
        before = set(processes(self.cluster, ""))
        met = self._signal(title, signal.SIGKILL, 1)
        if met and not wait(lambda: before.isdisjoint(processes(self.cluster, ""))):
            raise RuntimeError("the server does not start anew after one of its processes was killed")
        return met

    def _cancel_often(self) -> int:
        met = 0
        for _ in range(10):
            met += self._signal(ASKERS, signal.SIGINT, 5)
            time.sleep(self.random.uniform(0, 0.02))
        return met

    def _freeze(self) -> int:
        """Askers leave while those who charge for them stand still, and finish later."""
        frozen = processes(self.cluster, CHARGERS)
        try:
            for process in frozen:
                os.kill(process, signal.SIGSTOP)
            time.sleep(self.random.uniform(0, 0.1))
            self._signal(ASKERS, signal.SIGINT, 5)
            self._signal(ASKERS, signal.SIGTERM, 2)
            time.sleep(self.random.uniform(0, 0.1))
        except ProcessLookupError:
            return 0
        finally:
            for process in frozen:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGCONT)
        return len(frozen)

    def _restart(self, mode: str) -> int:
        # PostgreSQL 15 does not end when it is stopped fast while it recovers
        reconnected(self.cluster).close()
        self.cluster.stop(mode)
        self.cluster.start()
        return 1


@dataclass
class Outcome:
    """How it went: what was done, the journals, the ledger at the end, and what is wrong."""

    torments: Counter[str]
    journals: list[Journal]
    ledger: Ledger
    faults: list[str]

    @property
    def answers(self) -> int:
        return sum(len(answers) for journal in self.journals for answers in journal.answers.values())

    def __str__(self) -> str:
        ended: Counter[str | None] = sum((journal.ended for journal in self.journals), Counter())
        asked = sum(journal.asked.total() for journal in self.journals)
        return "\n".join([
            f"{len(self.journals)} sessions asked {asked} times",
            f"{self.answers} answers, {len(self.ledger.charges)} charges",
            "otherwise ended: " + ", ".join(f"{state or 'no connection'} {times}" for state, times in ended.items()),
            "torments: " + ", ".join(f"{name} {times}" for name, times in self.torments.items()),
            *(self.faults or ["every answer has its charge, no limit is exceeded, the log is intact"]),
        ])  # fmt: skip


def everybody_goes_on(sessions: list[Session]) -> bool:
    """Whether each session has come to the end of two more questions: none waits for an answer that never comes."""
    before = [session.journal.finished for session in sessions]
    return wait(
        lambda: all(session.journal.finished >= seen + 2 for session, seen in zip(sessions, before, strict=True))
    )


def torment(cluster: Cluster, sessions: int, chosen: Callable[[Tormentor], Iterable[str]], seed: int) -> Outcome:
    """Sessions ask while the chosen torments are done, one after the other; each is survived by all before the next."""
    cluster.sql(PREPARE)
    enough, tormentor, done, found = threading.Event(), Tormentor(cluster, seed), Counter[str](), []
    asking = [Session(cluster, place, enough) for place in range(sessions)]
    for session in asking:
        session.start()
    try:
        everybody_goes_on(asking)
        for name in chosen(tormentor):
            time.sleep(tormentor.random.uniform(0, 0.3))
            done[name] += tormentor.torments[name]()
            if not everybody_goes_on(asking):
                found.append(f"a session hangs: {name}")
                break
    finally:
        enough.set()
    if not wait(lambda: not any(session.is_alive() for session in asking)):
        found.append("a session hangs at the end")
    # what is not on disk is lost before the ledger is read
    cluster.stop("immediate")
    cluster.start()
    with reconnected(cluster) as admin:
        ledger = read_ledger(admin)
    journals = [session.journal for session in asking]
    return Outcome(done, journals, ledger, found + faults(journals, ledger))


def for_minutes(minutes: float) -> Callable[[Tormentor], Iterable[str]]:
    """Random torments, until the time is over."""

    def chosen(tormentor: Tormentor) -> Iterable[str]:
        end = time.monotonic() + 60 * minutes
        while time.monotonic() < end:
            yield tormentor.random.choice(list(tormentor.torments))

    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.crash", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="how long the server is tormented (30)")
    parser.add_argument("--sessions", type=int, default=SESSIONS, help=f"how many ask ({SESSIONS})")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the choice of torments")
    arguments = parser.parse_args()
    # which tells of each transaction that could not be rolled back
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    print(f"seed {arguments.seed}", flush=True)
    with throw_away_cluster(max_connections="300", shared_buffers="128MB") as cluster:
        try:
            outcome = torment(cluster, arguments.sessions, for_minutes(arguments.minutes), arguments.seed)
        finally:
            LOG.parent.mkdir(exist_ok=True)
            shutil.copyfile(cluster.folder / "log", LOG)
    print(outcome)
    sys.exit(bool(outcome.faults))


if __name__ == "__main__":
    main()
