"""Random histories of subjects at many labels: each act is SQL for a real session, and the same for the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from random import Random

from tests.database.mls.mls_model import (
    COLUMNS,
    COMPARTMENTS,
    LEVELS,
    Label,
    Multilevel,
    RefusedError,
    Seen,
    Shown,
    Value,
    label,
)

SUBJECTS = [label(text) for text in ("U", "C", "S", "C:CRYPTO", "C:NATO", "S:CRYPTO", "S:NATO,CRYPTO")]
OBSERVERS = [
    Label(level, frozenset(inside))
    for level in range(len(LEVELS))
    for count in range(len(COMPARTMENTS) + 1)
    for inside in combinations(COMPARTMENTS, count)
]
TOP = label("S:NATO,CRYPTO")
READ = "name, name_label, salary, salary_label, perf, perf_label, tc"
KEYS = ["ann", "bob", "cy"]
PERFS = ["good", "bad", "fair"]
FEWEST_ACTS = 40
RUN = "the number of the run"

# the number of rows, and what is returned of them; or None: refused
Expected = tuple[int, list[Shown]] | None
Apply = Callable[[Multilevel, Label], list[Shown]]


@dataclass(frozen=True)
class Statement:
    """SQL, with RUN among its values; `returning`: whether the rows that it counts are shown, too."""

    sql: str
    values: tuple[Value, ...]
    apply: Apply
    returning: bool

    @property
    def writes(self) -> bool:
        return not self.sql.startswith("SELECT name")


@dataclass(frozen=True)
class Act:
    """One statement, or a transaction; one that fails is rolled back, and so is one that does not commit."""

    subject: Label
    statements: tuple[Statement, ...]
    commits: bool = True
    trusted: bool = False

    def expected(self, model: Multilevel) -> list[Expected]:
        """What each statement tells, the model being changed by it."""
        told: list[Expected] = []
        before = model.copy()
        for statement in self.statements:
            try:
                rows = statement.apply(model, self.subject)
            except RefusedError:
                told.append(None)
                break
            told.append((len(rows), sorted(rows, key=repr) if statement.returning else []))
        if not self.commits or None in told:
            model.entities = before.entities
        return told


def purged(model: Multilevel, at: Label) -> list[Shown]:
    model.purge()
    return [("true",)]


PURGE = Statement("SELECT (discreet.mls_purge('staff', 'tests') >= 0)::text", (), purged, True)


class Histories:
    """Draws histories, the same for the same seed. `downgrader`: the label of a trusted subject that declassifies;
    `purges`: what share of all acts are purges; `relabels`: it gives many cells another label, too."""

    def __init__(
        self,
        seed: int,
        downgrader: Label | None = None,
        purges: float = 0.0,
        relabels: bool = False,
        subjects: list[Label] = SUBJECTS,
    ) -> None:
        self._subjects = subjects
        self._random = Random(seed)
        self._downgrader = downgrader
        self._purges = purges
        self._relabels = relabels

    def draw(self) -> list[Act]:
        return [self.act() for _ in range(FEWEST_ACTS + self._random.randrange(8))]

    def act(self) -> Act:
        subject = self._random.choice(self._subjects)
        if self._purges > 0 and self._random.random() < self._purges:
            return Act(TOP, (PURGE,), trusted=True)
        if self._downgrader is not None and self._random.random() < 0.5:
            subject = self._downgrader
            if self._random.random() < 0.5:
                kind = self.relabel if self._relabels and self._random.random() < 0.7 else self.declassify
                return Act(subject, (kind(subject),), trusted=True)
        if self._random.random() < 0.92:
            return Act(subject, (self.statement(subject),))
        several = tuple(self.statement(subject) for _ in range(self._random.randint(2, 3)))
        return Act(subject, several, commits=self._random.random() < 0.4)

    def statement(self, subject: Label) -> Statement:
        kinds = [self.insert, self.insert_select, self.update, self.delete, self.select, self.uplevel]
        # among purges more that leaves tombstones, and looks for them
        weights = [28, 2, 34, 16, 12, 8] if self._purges == 0 else [14, 2, 34, 24, 2, 24]
        (kind,) = self._random.choices(kinds, weights)
        return kind(subject)

    def cells(self) -> dict[str, Value]:
        salary = self._random.choice([1, 2, 3, None, None, -1 if self._random.random() < 0.2 else 4])
        cells: dict[str, Value] = {"salary": salary, "perf": self._random.choice([*PERFS, None])}
        return {name: cells[name] for name in COLUMNS if self._random.random() < 0.75}

    def where(self) -> tuple[str, tuple[Value, ...], Callable[[Seen], bool]]:
        """Conditions on what is shown."""
        choice = self._random.random()
        if choice < 0.6:
            column, value = "name", self._random.choice(KEYS)
        elif choice < 0.7:
            return "", (), lambda seen: True
        elif choice < 0.8:
            column, value = "perf", self._random.choice(PERFS)
        elif choice < 0.9:
            column, value = "tc", str(self._random.choice(self._subjects))
        else:
            column, value = "salary_label", str(self._random.choice(self._subjects))
        return f" AND {column} = %s", (value,), lambda seen: seen.values[column] == value

    def returning(self) -> bool:
        return self._random.random() < 0.5

    def insert(self, subject: Label) -> Statement:
        drawn = [(self._random.choice(KEYS), self.cells()) for _ in range(1 if self._random.random() < 0.8 else 2)]
        columns = [name for name in COLUMNS if any(name in cells for _, cells in drawn)]
        rows = [(key, {name: cells.get(name) for name in columns}) for key, cells in drawn]
        row = "(%s, " + ", ".join(["%s"] * (len(columns) + 1)) + ")"
        values = tuple(value for key, cells in rows for value in (RUN, key, *cells.values()))
        returning = self.returning()
        listed = ", ".join(["run", "name", *columns])
        sql = f"INSERT INTO staff ({listed}) VALUES {', '.join([row] * len(rows))}" + shown(returning)
        return Statement(sql, values, lambda m, at: [m.insert(at, key, cells) for key, cells in rows], returning)

    def insert_select(self, subject: Label) -> Statement:
        condition, values, holds = self.where()
        sql = "INSERT INTO staff (run, name, salary) SELECT run, name || '2', salary FROM staff WHERE run = %s"

        def apply(model: Multilevel, at: Label) -> list[Shown]:
            read = [seen.values for seen in model.rows(at) if holds(seen)]
            return [model.insert(at, f"{row['name']}2", {"salary": row["salary"]}) for row in read]

        return Statement(sql + condition, (RUN, *values), apply, False)

    def update(self, subject: Label) -> Statement:
        cells = self.cells() or {"perf": "good"}
        condition, values, holds = self.where()
        returning = self.returning()
        sets = ", ".join(f"{name} = %s" for name in cells)

        def apply(model: Multilevel, at: Label) -> list[Shown]:
            matched = [seen for seen in model.rows(at) if holds(seen)]
            done = [model.update(at, seen, cells) for seen in matched]
            return [row for row in done if row is not None]

        sql = f"UPDATE staff SET {sets} WHERE run = %s{condition}" + shown(returning)
        return Statement(sql, (*cells.values(), RUN, *values), apply, returning)

    def delete(self, subject: Label) -> Statement:
        condition, values, holds = self.where()
        returning = self.returning()

        def apply(model: Multilevel, at: Label) -> list[Shown]:
            return [model.delete(at, seen) for seen in [each for each in model.rows(at) if holds(each)]]

        sql = "DELETE FROM staff WHERE run = %s" + condition + shown(returning)
        return Statement(sql, (RUN, *values), apply, returning)

    def select(self, subject: Label) -> Statement:
        condition, values, holds = self.where()

        def apply(model: Multilevel, at: Label) -> list[Shown]:
            return [seen.shown for seen in model.rows(at) if holds(seen)]

        return Statement(f"SELECT {READ} FROM staff WHERE run = %s{condition}", (RUN, *values), apply, True)

    def uplevel(self, subject: Label) -> Statement:
        key, column = self._random.choice(KEYS), self._random.choice(COLUMNS)
        below = [each for each in self._subjects if subject.above(each)] or [subject]
        source = self._random.choice(below)

        def apply(model: Multilevel, at: Label) -> list[Shown]:
            model.uplevel(at, key, column, source)
            return [("",)]

        sql = "SELECT discreet.mls_uplevel('staff', jsonb_build_object('run', %s::int, 'name', %s::text), %s, %s)::text"
        return Statement(sql, (RUN, key, column, str(source)), apply, True)

    def declassify(self, subject: Label) -> Statement:
        key, column = self._random.choice(KEYS), self._random.choice(COLUMNS)
        to = self._random.choice([each for each in self._subjects if subject.above(each)])

        def apply(model: Multilevel, at: Label) -> list[Shown]:
            model.declassify(at, key, column, to)
            return [("",)]

        sql = (
            "SELECT discreet.mls_declassify('staff', jsonb_build_object('run', %s::int, 'name', %s::text),"
            " ARRAY[%s::text], %s, 'tests')::text"
        )
        return Statement(sql, (RUN, key, column, str(to)), apply, True)

    def relabel(self, subject: Label) -> Statement:
        key, column = self._random.choice(KEYS), self._random.choice(COLUMNS)
        to = self._random.choice([each for each in self._subjects if subject.dominates(each)])

        def apply(model: Multilevel, at: Label) -> list[Shown]:
            return [(str(model.relabel(at, key, column, to)),)]

        sql = (
            "SELECT discreet.mls_relabel('staff', format('run = %%s AND name = %%L', %s::int, %s::text),"
            " ARRAY[%s::text], %s, 'tests')::text"
        )
        return Statement(sql, (RUN, key, column, str(to)), apply, True)


def shown(returning: bool) -> str:
    return f" RETURNING {READ}" if returning else ""


def retained(history: list[Act], observer: Label) -> list[Act]:
    """The history without the acts of those whom the observer does not dominate."""
    return [act for act in history if observer.dominates(act.subject)]
