"""Two sessions at different labels whose transactions are interleaved statement by statement, and what the rules allow.

A session writes rows of its own label alone. So what a transaction sees is what was committed when the statement began
or, in REPEATABLE READ, when the transaction did, with the rows of its own label as it has written them. Nobody waits
for anybody. That leaves one outcome for each interleaving, and a wait is a failure.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from random import Random

import psycopg
from tests.database.mls.mls_histories import OBSERVERS, PURGE, READ, RUN, SUBJECTS, TOP, Histories, Statement
from tests.database.mls.mls_model import Entity, Label, Multilevel, RefusedError, Row, Shown
from tests.database.mls.mls_playing import TABLE, as_expected, refusal
from tests.database.mls.subjects import Subjects
from tests.databases import Connection

STEPS = 24
# nothing that is played takes as long
LONGEST_WAIT = "20s"


@dataclass(frozen=True)
class Step:
    """What a session does next; `what` is a statement, or BEGIN, COMMIT, ROLLBACK."""

    subject: Label
    what: Statement | str
    trusted: bool = False


@dataclass
class Transaction:
    """`own`: the rows at the label of the session, by the number of their entity; `seen`: what was committed then."""

    own: dict[int, tuple[str, Label, Row]] = field(default_factory=dict)
    seen: Multilevel | None = None
    failed: bool = False


class Interleaved:
    """What the rules say. Entities are known by numbers, which copies keep."""

    def __init__(self) -> None:
        self.committed = Multilevel()
        self._open: dict[Label, Transaction] = {}
        self._last = 0

    def _with(self, basis: Multilevel, at: Label, transaction: Transaction) -> Multilevel:
        state = basis.copy()
        known = {number(entity): entity for entity in state.entities}
        for each, (key, key_label, row) in transaction.own.items():
            entity = known.get(each)
            if entity is None:
                entity = Entity(key, key_label)
                entity.__dict__["number"] = each
                state.entities.append(entity)
            entity.rows[at] = deepcopy(row)
        return state

    def begin(self, at: Label, repeatable: bool) -> None:
        self._open[at] = Transaction(seen=self.committed.copy() if repeatable else None)

    def end(self, at: Label, commits: bool) -> None:
        transaction = self._open.pop(at)
        if commits and not transaction.failed:
            self.committed = self._with(self.committed, at, transaction)

    def apply(self, at: Label, statement: Statement) -> tuple[int, list[Shown]] | None:
        transaction = self._open.get(at)
        alone = transaction is None
        transaction = transaction or Transaction()
        if transaction.failed:
            return None
        state = self._with(transaction.seen or self.committed, at, transaction)
        try:
            rows = statement.apply(state, at)
        except RefusedError:
            transaction.failed = True
            return None
        for entity in state.entities:
            if number(entity) < 0:
                self._last += 1
                entity.__dict__["number"] = self._last
            if at in entity.rows:
                transaction.own[number(entity)] = (entity.key, entity.key_label, entity.rows[at])
        if alone:
            self.committed = self._with(self.committed, at, transaction)
        return len(rows), sorted(rows, key=repr) if statement.returning else []


def number(entity: Entity) -> int:
    return int(entity.__dict__.get("number", -1))


class Scheduler:
    """Draws interleavings, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._histories = Histories(seed, purges=0.3)

    def draw(self) -> list[Step]:
        pair = self._random.sample(SUBJECTS, 2)
        steps: list[Step] = []
        open_at: set[Label] = set()
        for _ in range(STEPS):
            at = self._random.choice(pair)
            choice = self._random.random()
            if choice < 0.12:
                steps.append(Step(TOP, PURGE, trusted=True))
            elif at not in open_at and choice < 0.5:
                open_at.add(at)
                steps.append(Step(at, self._random.choice(["BEGIN", "BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ"])))
            elif at in open_at and choice < 0.35:
                open_at.discard(at)
                steps.append(Step(at, "COMMIT" if self._random.random() < 0.75 else "ROLLBACK"))
            else:
                steps.append(Step(at, self._histories.statement(at)))
        return steps + [Step(at, "COMMIT") for at in sorted(open_at, key=lambda each: each.rank)]


class Theatre:
    """A database with a multilevel table, in which interleavings are played."""

    def __init__(self, subjects: Subjects, change: str = "", longest_wait: str = LONGEST_WAIT) -> None:
        self._admin = subjects.admin
        subjects.make_table(TABLE, "staff", ["run", "name"])
        self._admin.execute(change)
        self._sessions = {observer: subjects.at(str(observer)) for observer in OBSERVERS}
        self._officer = subjects.trusted(str(TOP))
        for session in (*self._sessions.values(), self._officer):
            session.execute(f"SET lock_timeout = '{longest_wait}'")

    def deviation(self, steps: list[Step]) -> str | None:
        """Where the database does what the rules do not allow."""
        self._admin.execute("DELETE FROM staff_mls")
        rules = Interleaved()
        found = None
        for step in steps:
            session = self._officer if step.trusted else self._sessions[step.subject]
            found = found or self._deviation_of(rules, session, step)
            if found is not None:
                break
        for session in self._sessions.values():
            session.rollback() if session.info.transaction_status else None
        if found is not None:
            return found
        for observer, session in self._sessions.items():
            seen = sorted(session.execute(f"SELECT {READ} FROM staff WHERE run = 0").fetchall(), key=repr)
            expected = sorted((each.shown for each in rules.committed.rows(observer)), key=repr)
            if seen != expected:
                return f"{observer} sees {seen}, expected {expected}"
        return None

    def _deviation_of(self, rules: Interleaved, session: Connection, step: Step) -> str | None:
        what = step.what
        if isinstance(what, str):
            failed = session.info.transaction_status == psycopg.pq.TransactionStatus.INERROR
            session.execute(what.encode())
            if what.startswith("BEGIN"):
                # the snapshot is that of the first statement
                session.execute("SELECT 1")
                rules.begin(step.subject, repeatable="REPEATABLE" in what)
            else:
                rules.end(step.subject, commits=what == "COMMIT" and not failed)
            return None
        try:
            cursor = session.execute(what.sql, [0 if value == RUN else value for value in what.values])
            told = (cursor.rowcount, sorted(cursor.fetchall() if cursor.description else [], key=repr))
        except psycopg.Error as error:
            if error.sqlstate in ("55P03", "40P01", "40001"):
                return f"{step.subject} waits, or must try again: {what.sql} {what.values}: {refusal(error)}"
            told = refusal(error)  # type: ignore[assignment]
        # nobody notices a purge, so the rules know none
        expected = (1, [("true",)]) if step.trusted else rules.apply(step.subject, what)
        if as_expected(told) != expected:
            return f"{step.subject}: {what.sql} {what.values}: told {told}, expected {expected}"
        return None
