"""Two sessions whose transactions are interleaved statement by statement, and what the rules allow.

A session writes rows of its own label alone. So what a transaction sees is what was committed when the statement began
or, in REPEATABLE READ, when the transaction did, with the rows that it has written itself. Sessions at different labels
never wait. That leaves one outcome for each interleaving, and a wait is a failure. Of two sessions at one label, one
may wait for rows that the other one has written and not committed; its lock timeout then fails its transaction. It
never writes such a row. These two use READ COMMITTED.
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
# the share of interleavings in which a transaction stays open to the end
HELD = 0.4
# nothing that is played takes as long
LONGEST_WAIT = "20s"
# of sessions at one label, of which one waits for the other
SHORTEST_WAIT = "150ms"
LOCK_TIMEOUT = "55P03"

# a session: its label, and whether it is the second one there
Actor = tuple[Label, bool]


@dataclass(frozen=True)
class Step:
    """What a session does next; `what` is a statement, or BEGIN, COMMIT, ROLLBACK."""

    subject: Label
    what: Statement | str
    trusted: bool = False
    second: bool = False

    @property
    def actor(self) -> Actor:
        return self.subject, self.second


@dataclass
class Transaction:
    """own: the rows that it has written, by the number of their entity; seen: what was committed then."""

    own: dict[int, tuple[str, Label, Row]] = field(default_factory=dict)
    seen: Multilevel | None = None
    failed: bool = False
    writes: bool = False


class LostUpdateError(Exception):
    """A session writes a row that another one has written and not committed."""


class Interleaved:
    """What the rules say. Entities are known by numbers, which copies keep."""

    def __init__(self) -> None:
        self.committed = Multilevel()
        self._open: dict[Actor, Transaction] = {}
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

    def begin(self, actor: Actor, repeatable: bool) -> None:
        self._open[actor] = Transaction(seen=self.committed.copy() if repeatable else None)

    def end(self, actor: Actor, commits: bool) -> None:
        transaction = self._open.pop(actor)
        if commits and not transaction.failed:
            self.committed = self._with(self.committed, actor[0], transaction)

    def fail(self, actor: Actor) -> None:
        """A statement fails, and with it the transaction around it."""
        if actor in self._open:
            self._open[actor].failed = True

    def beside(self, actor: Actor) -> Transaction:
        """What the other session at the label has written and not committed."""
        other = self._open.get((actor[0], not actor[1]), Transaction())
        return Transaction() if other.failed else other

    def apply(self, actor: Actor, statement: Statement) -> tuple[int, list[Shown]] | None:
        """What the statement tells; None if it is refused."""
        at = actor[0]
        transaction = self._open.get(actor)
        alone = transaction is None
        transaction = transaction or Transaction()
        if transaction.failed:
            return None
        transaction.writes |= statement.writes
        state = self._with(transaction.seen or self.committed, at, transaction)
        before = {number(entity): deepcopy(entity.rows.get(at)) for entity in state.entities}
        try:
            rows = statement.apply(state, at)
        except RefusedError:
            transaction.failed = True
            return None
        for entity in state.entities:
            if number(entity) < 0:
                self._last += 1
                entity.__dict__["number"] = self._last
            if at in entity.rows and entity.rows[at] != before.get(number(entity)):
                if number(entity) in self.beside(actor).own:
                    raise LostUpdateError
                transaction.own[number(entity)] = (entity.key, entity.key_label, entity.rows[at])
        if alone:
            self.committed = self._with(self.committed, at, transaction)
        return len(rows), sorted(rows, key=repr) if statement.returning else []


def number(entity: Entity) -> int:
    return int(entity.__dict__.get("number", -1))


class Scheduler:
    """Draws interleavings, the same for the same seed; at_one_label: of two sessions at the same label."""

    def __init__(self, seed: int, at_one_label: bool = False) -> None:
        self._random = Random(seed)
        self._histories = Histories(seed, purges=0.3)
        self._at_one_label = at_one_label

    def _pair(self) -> list[Actor]:
        if self._at_one_label:
            at = self._random.choice(SUBJECTS)
            return [(at, False), (at, True)]
        return [(at, False) for at in self._random.sample(SUBJECTS, 2)]

    def draw(self) -> list[Step]:
        if not self._at_one_label and self._random.random() < HELD:
            return self._draw_held()
        pair = self._pair()
        begins = ["BEGIN"] if self._at_one_label else ["BEGIN", "BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ"]
        steps: list[Step] = []
        is_open: set[Actor] = set()
        for _ in range(STEPS):
            actor = self._random.choice(pair)
            at, second = actor
            choice = self._random.random()
            if choice < 0.12:
                steps.append(Step(TOP, PURGE, trusted=True))
            elif actor not in is_open and choice < 0.5:
                is_open.add(actor)
                steps.append(Step(at, self._random.choice(begins), second=second))
            elif actor in is_open and choice < 0.35:
                is_open.discard(actor)
                steps.append(Step(at, "COMMIT" if self._random.random() < 0.75 else "ROLLBACK", second=second))
            else:
                steps.append(Step(at, self._histories.statement(at), second=second))
        return steps + [Step(at, "COMMIT", second=second) for at, second in pair if (at, second) in is_open]

    def _draw_held(self) -> list[Step]:
        """A transaction stays open above, while a session below commits each of its statements, and purges run."""
        low, high = self._random.choice([(low, high) for low in SUBJECTS for high in SUBJECTS if high.above(low)])
        begun = self._random.randrange(2, STEPS // 3)
        steps = [Step(low, self._histories.statement(low)) for _ in range(begun)]
        steps.append(Step(high, "BEGIN"))
        for _ in range(STEPS - begun):
            if self._random.random() < 0.2:
                steps.append(Step(TOP, PURGE, trusted=True))
            else:
                # an UPDATE is seldom refused, which would fail the transaction
                is_low = self._random.random() < 0.7
                statement = self._histories.statement(low) if is_low else self._histories.update(high)
                steps.append(Step(low if is_low else high, statement))
        return [*steps, Step(high, "COMMIT")]


class Theatre:
    """A database with a multilevel table, in which interleavings are played."""

    def __init__(self, subjects: Subjects, change: str = "", longest_wait: str = LONGEST_WAIT) -> None:
        self._admin = subjects.admin
        subjects.make_table(TABLE, "staff", ["run", "name"])
        self._admin.execute(change)
        self.waits = 0
        self._sessions: dict[Actor, Connection] = {(at, False): subjects.at(str(at)) for at in OBSERVERS}
        self._sessions |= {(at, True): subjects.another(str(at)) for at in SUBJECTS}
        self._officer = subjects.trusted(str(TOP))
        for session in (*self._sessions.values(), self._officer):
            session.execute(f"SET lock_timeout = '{longest_wait}'")

    def deviation(self, steps: list[Step]) -> str | None:
        """Where the database does what the rules do not allow."""
        self._admin.execute("DELETE FROM staff_mls")
        rules = Interleaved()
        found = None
        for step in steps:
            session = self._officer if step.trusted else self._sessions[step.actor]
            found = found or self._deviation_of(rules, session, step)
            if found is not None:
                break
        for session in self._sessions.values():
            session.rollback() if session.info.transaction_status else None
        if found is not None:
            return found
        for observer in OBSERVERS:
            session = self._sessions[observer, False]
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
                rules.begin(step.actor, repeatable="REPEATABLE" in what)
            else:
                rules.end(step.actor, commits=what == "COMMIT" and not failed)
            return None
        try:
            cursor = session.execute(what.sql, [0 if value == RUN else value for value in what.values])
            told = (cursor.rowcount, sorted(cursor.fetchall() if cursor.description else [], key=repr))
        except psycopg.Error as error:
            if error.sqlstate == LOCK_TIMEOUT and what.writes and rules.beside(step.actor).writes:
                self.waits += 1
                rules.fail(step.actor)
                return None
            if error.sqlstate in (LOCK_TIMEOUT, "40P01", "40001"):
                return f"{step.subject} waits, or must try again: {what.sql} {what.values}: {refusal(error)}"
            told = refusal(error)  # type: ignore[assignment]
        # nobody notices a purge, so the rules know none
        try:
            expected = (1, [("true",)]) if step.trusted else rules.apply(step.actor, what)
        except LostUpdateError:
            return f"{step.subject} writes a row that another session is writing: {what.sql} {what.values}"
        if as_expected(told) != expected:
            return f"{step.subject}: {what.sql} {what.values}: told {told}, expected {expected}"
        return None
