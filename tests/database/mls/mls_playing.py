"""Plays histories on a real database: every subject has a session of its own, every run keys of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
from tests.database.mls.mls_histories import OBSERVERS, READ, RUN, SUBJECTS, Act, Expected, retained
from tests.database.mls.mls_model import Label, Shown
from tests.database.mls.subjects import Subjects

TABLE = """
    CREATE TABLE staff (run int, name text, salary int CHECK (salary >= 0), perf text, PRIMARY KEY (run, name))
"""
HISTORIES_BETWEEN_VACUUMS = 20
# what the view relies on when it shows a root without sources as it is stored (extension/mls_versions.c)
EMPTY_ABOVE_WHOLE_ROOTS = """
    SELECT a._row_id FROM staff_mls a JOIN staff_mls r ON r._row_id = a._entity
    WHERE NOT a._dead AND NOT r._dead AND r._source IS NULL AND NOT (-2 = ANY (a._source))
"""

# of a statement that fails: everything that the client is told
Refusal = tuple[str | None, ...]
Answer = tuple[int, list[Shown]] | Refusal


@dataclass(frozen=True)
class Run:
    """The acts that were played, what each statement told, and what each label saw in the end."""

    answers: list[tuple[Act, list[Answer]]]
    seen: dict[Label, list[Shown]]


class Stage:
    """A database with a multilevel table; runs are told apart by a column of its key."""

    def __init__(
        self,
        subjects: Subjects,
        change: str = "",
        downgraders: tuple[Label, ...] = (),
        observers: list[Label] = OBSERVERS,
        actors: list[Label] = SUBJECTS,
        before: str = "",
    ) -> None:
        """change: what is changed of the multilevel table; before: of the table that it was."""
        self._observers, self._actors = observers, actors
        self._admin = subjects.admin
        subjects.make_table(f"{TABLE}; {before}", "staff", ["run", "name"])
        self._admin.execute(change)
        self._sessions = {observer: subjects.at(str(observer)) for observer in {*observers, *actors}}
        self._trusted = {at: subjects.trusted(str(at)) for at in downgraders}
        self._played = 0
        for session in self._sessions.values():
            session.prepared_max = 1000

    def runs(self, history: list[Act]) -> tuple[Run, dict[Label, Run]]:
        """The history as a whole, and what is left of it for each observer; what is left for several is played once."""
        self._played += 1
        if self._played % HISTORIES_BETWEEN_VACUUMS == 0:
            self._admin.execute("VACUUM staff_mls")
        whole = self.play(history, 0, self._observers)
        watchers: dict[frozenset[Label], list[Label]] = {}
        for observer in self._observers:
            dominated = frozenset(subject for subject in self._actors if observer.dominates(subject))
            watchers.setdefault(dominated, []).append(observer)
        left: dict[Label, Run] = {}
        for number, same in enumerate(watchers.values(), 1):
            left |= dict.fromkeys(same, self.play(retained(history, same[0]), number, same))
        return whole, left

    def play(self, acts: list[Act], run: int, watchers: list[Label]) -> Run:
        self._admin.execute("DELETE FROM staff_mls")
        answers = [(act, self.perform(act, run)) for act in acts]
        query = f"SELECT {READ} FROM staff WHERE run = %s"
        assert self._admin.execute(EMPTY_ABOVE_WHOLE_ROOTS).fetchall() == []
        seen = {at: sorted(self._sessions[at].execute(query, [run]).fetchall(), key=repr) for at in watchers}
        return Run(answers, seen)

    def perform(self, act: Act, run: int) -> list[Answer]:
        session = (self._trusted if act.trusted else self._sessions)[act.subject]
        transaction = len(act.statements) > 1 or not act.commits
        told: list[Answer] = []
        if transaction:
            session.execute("BEGIN")
        for statement in act.statements:
            try:
                values = [run if value == RUN else value for value in statement.values]
                cursor = session.execute(statement.sql, values)
                rows: list[Any] = cursor.fetchall() if cursor.description else []
                told.append((cursor.rowcount, sorted(rows, key=repr)))
            except psycopg.Error as error:
                told.append(refusal(error))
                break
        if transaction:
            session.execute("COMMIT" if act.commits else "ROLLBACK")
        return told


def refusal(error: psycopg.Error) -> Refusal:
    told = error.diag
    return (
        told.sqlstate, told.message_primary, told.message_detail, told.message_hint, told.context,
        told.schema_name, told.table_name, told.column_name, told.constraint_name, told.statement_position,
    )  # fmt: skip


def as_expected(answer: Answer) -> Expected:
    """What the model would say: it knows that a statement is refused, not in which words."""
    if len(answer) == 2 and isinstance(answer[0], int) and isinstance(answer[1], list):
        return answer[0], answer[1]
    return None
