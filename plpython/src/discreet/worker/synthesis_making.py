"""Makes synthetic tables, once they are charged for: counts, measures, lets the model be fitted, and writes rows.

Exact counts stay here. The process that fits is told what aim.py has released, and declarations.
"""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import numpy as np

from discreet.core.errors import RefusedShapeError
from discreet.core.syntax import Json
from discreet.dp.price import Price
from discreet.dp.sensitivity import Neighbours
from discreet.synthesis.aim import Aim, Purse, Sensitivity, Taken, release
from discreet.synthesis.columns import Coarse, Dependent, Key, Number, Reference, as_json, coarse
from discreet.synthesis.counting import Spreads, counting, looking, problems_of
from discreet.synthesis.plan import SynthesisPlan, TablePlan
from discreet.synthesis.problem import Counts, Layout, Problem, decoded
from discreet.synthesis.process import PARENT, PERSON
from discreet.synthesis.report import Part, report
from discreet.worker.acting import run_as
from discreet.worker.asker import Asker
from discreet.worker.fitting import FittingProcess
from discreet.worker.session import kept
from discreet.worker.synthesis_request import MOST_RESULT

# in the name of a role
WRITE = kept("SELECT discreet._synthesis_write($1, $2, $3) AS written", "oid", "text", "text[]")
# values of rows that go through the session at once, which holds several copies of them
VALUES_AT_ONCE = 50_000
DRAWN_AT_ONCE = 1_000_000
# rows of each of several tables, which the process holds all at once
MOST_LINKED = 5_000_000
# rows that break a CHECK are drawn again, up to so many times the rows that are wanted
MOST_DRAWS = 20
# seconds between words about how far it is
TOLD_EVERY = 5


class Making:
    """Counts, measures, fits and writes. Nothing is told of an error that the data may have led to."""

    spreads: dict[int, dict[str, Coarse]]
    counts: dict[int, Counts]
    problems: Mapping[int, Problem]
    parts: list[Part]
    started: float

    def __init__(
        self,
        asker: Asker,
        process: FittingProcess,
        plan: SynthesisPlan,
        role: int,
        caller: int,
        rows: int | None,
        most_mb: float,
    ) -> None:
        """`role` reads the source, `caller` writes; `rows`: of the first table, None for a noisy number."""
        self.asker, self.process, self.plan, self.role, self.caller = asker, process, plan, role, caller
        self.rows, self.most_mb = rows, most_mb
        self.session = asker.session
        self.neighbours = Neighbours(plan.dataset.neighbours)
        self.told = time.monotonic()
        self.of: dict[tuple[int, str], list[int]] = {}
        self.looked: list[Taken] = []

    def count(self) -> None:
        """Bins, and exact counts: all that is read of the tables."""
        self.spreads = self.looked_at(self.plan.shares()[0])
        self.counts = self.counted(counting(self.plan, self.spreads, secrets.randbits(62)))

    def fit(self) -> None:
        """Measures, and fits models to what was measured, until the price is spent."""
        self.started = time.monotonic()
        _, rest = self.plan.shares()
        self.problems = problems_of(self.plan, self.spreads)
        people = 0 if self.plan.people is None else len(self.plan.people.coded(self.spreads.get(0, {})))
        self.parts = []
        for n, problem in self.problems.items():
            fitter = self.process.begun(
                problem, {each: each for each in sorted(problem.given)} if n else {}, people + n - 1 if n else None
            )
            if n not in self.counts and n:
                continue
            aim = Aim(problem, rest, self.neighbours, fitter, self.most_mb, self.teller(n))
            exact = counts_of(self.counts.get(n), problem.layout)
            with self.touching_data():
                taken = aim.run(exact)
            settled, model = fitter.settled()
            self.parts.append(Part(self.names(n, self.spreads), problem, tuple(taken), settled, aim.expected(model)))

    def write(self) -> dict[str, Json]:
        """Writes rows. What the report tells; its seconds are those of fitting and writing, since reading takes as long
        as the data is large.
        """
        written = self.written(self.process, self.spreads, self.parts, self.problems)
        return report(self.plan, self.parts, self.looked, written, time.monotonic() - self.started)

    def touching_data(self) -> AbstractContextManager[None]:
        """What may depend on the data ends in one constant error, and the log; the end of the process does not."""
        return self.asker.touching_data(passing=(RefusedShapeError,))

    def tell(self, words: str) -> None:
        """Says now and then how far it is."""
        if time.monotonic() - self.told > TOLD_EVERY:
            self.told = time.monotonic()
            self.session.notice(f"synthesize: {words}")

    def teller(self, n: int) -> Callable[[int, float], None]:
        of = f" of model {n + 1}" if self.plan.others else ""
        return lambda number, spent: self.tell(f"round {number}{of}, {100 * spent:.0f} % of its price used")

    # -- what is read

    def counted(self, statements: Mapping[int, str]) -> dict[int, Counts]:
        with self.touching_data():
            found = {n: run_as(self.session, self.role, sql) for n, sql in statements.items()}
            return {
                n: decoded(base64.b64decode(texts[0])) if texts and texts[0] is not None else np.zeros(0, np.int64)
                for n, texts in found.items()
            }

    def looked_at(self, price: Price) -> dict[int, dict[str, Coarse]]:
        """Bins of numbers, and what follows from a column that others depend on, by noisy counts.

        Each model has a share of the price for it, and a table is of one model; the marginals of a table divide it.
        """
        counts = self.counted(looking(self.plan, secrets.randbits(62)))
        spreads: dict[int, dict[str, Coarse]] = {}
        for n, table in enumerate(self.plan.tables):
            spreads[n] = {
                name: coarse([1.0] * kind.fine)
                for name, kind in table.kinds.items()
                if isinstance(kind, Number) and not kind.is_coarsened
            }
            coded, layout = table.first_coded(), table.first_layout()
            if not coded:
                continue
            names = [each.column.name for each in coded]
            sensitivity = Sensitivity(1 if table is self.plan.people else table.most_rows, self.neighbours)
            purse = Purse(price)
            exact = counts_of(counts[n], layout)
            for clique in layout.cliques:
                amount = price.amount / len(layout.cliques)
                noise = sensitivity.noise(purse.take(amount))
                with self.touching_data():
                    taken = release(noise, clique, layout.counts(exact, clique), amount)
                self.looked.append(taken)
                kind = table.kinds[names[clique[-1]]]
                if isinstance(kind, Number):
                    spreads[n][names[clique[0]]] = coarse(taken.measured.counts[: kind.fine].tolist())
                else:
                    self.of[n, names[clique[-1]]] = taken.measured.counts.argmax(axis=1).tolist()
        return spreads

    def names(self, n: int, spreads: Spreads) -> tuple[str, ...]:
        people = self.plan.people
        own = [] if people is None else [f"{each.column.name}" for each in people.coded(spreads.get(0, {}))]
        if n == 0:
            return (*own, *(f"rows in {table.source.name}" for table in self.plan.others))
        table = self.plan.others[n - 1]
        coded = table.coded(spreads.get(self.plan.tables.index(table), {}))
        return (*own, *(f"{table.source.name}.{each.column.name}" for each in coded))

    # -- what is written

    def written(
        self, process: FittingProcess, spreads: Spreads, parts: Sequence[Part], problems: Mapping[int, Problem]
    ) -> dict[str, int]:
        """Draws rows and inserts them; how many each table got."""
        plan, found = self.plan, {}
        people = plan.people
        wanted = self.people_wanted(parts[0])
        if people is None:
            for drawn in range(0, wanted, DRAWN_AT_ONCE):
                process.ask({"do": "people", "number": min(wanted - drawn, DRAWN_AT_ONCE), "keep": True})
        else:
            process.ask({"do": "write", "part": 0, "columns": self.written_columns(0, people, spreads, 0)})
            found[people.target.written] = self.filled(process, people, wanted)
        for n, table in enumerate(plan.others, 1):
            place = plan.tables.index(table)
            before = len(problems[n].given)
            process.ask({"do": "write", "part": n, "columns": self.written_columns(place, table, spreads, before)})
            most = min(MOST_LINKED, table.most_keys)
            told, _ = process.ask({
                "do": "visits", "part": n, "least": plan.counted[n - 1].least, "parent": plan.parent_of(table),
                "most": most,
            })  # fmt: skip
            if told["rows"] == most:
                self.session.warning(f"{table.target.written} has no more than {most} rows: its keys, or memory, end")
            found[table.target.written] = sum(
                self.insert(process, table, n, start, at_once(table))
                for start in range(0, told["rows"], at_once(table))
            )
        return found

    def people_wanted(self, part: Part) -> int:
        """How many people are drawn: as many as were asked for, or were measured, and as there is room for."""
        plan = self.plan
        wanted = self.rows or max(1, round(part.total))
        if plan.people is None and self.rows is not None:
            wanted = max(1, round(wanted / mean_rows(part, 0, 1)))
        most = MOST_RESULT if plan.people is None else min(MOST_RESULT, plan.people.most_keys)
        if plan.others:
            first = len(part.problem.sizes) - len(plan.others)
            means = [mean_rows(part, first + n, each.least) for n, each in enumerate(plan.counted)]
            most = min(most, int(MOST_LINKED / max(1.0, *means)))
        if wanted > most:
            self.session.warning(f"the synthetic tables have {most} people and not {wanted}: keys, or memory, end")
        return min(wanted, most)

    def filled(self, process: FittingProcess, table: TablePlan, wanted: int) -> int:
        """Fills the table of the people: who breaks a CHECK is replaced, as long as that leads somewhere."""
        done = start = 0
        keep = bool(self.plan.others)
        most = min(MOST_DRAWS * wanted, table.most_keys)
        while done < wanted and start < most:
            number = min(wanted - done, DRAWN_AT_ONCE, most - start)
            told, _ = process.ask({"do": "people", "number": number, "keep": keep})
            for first in range(start, told["rows"], at_once(table)):
                done += self.insert(process, table, 0, first, min(at_once(table), told["rows"] - first))
                self.tell(f"{100 * done // wanted} % of the rows are written")
            start = told["rows"]
        if done < wanted:
            self.session.warning(f"{table.target.written} has {done} rows: most that were drawn break its constraints")
        return done

    def insert(self, process: FittingProcess, table: TablePlan, part: int, start: int, number: int) -> int:
        told, _ = process.ask({"do": "rows", "part": part, "start": start, "number": number})
        sql = table.target.insert_sql(table.conditions)
        return int(self.session.execute(WRITE, [self.caller, sql, told["columns"]])[0]["written"])

    def written_columns(self, place: int, table: TablePlan, spreads: Spreads, before: int) -> list[dict[str, Json]]:
        """What the process is told of each column: its attribute, and how a code is written."""
        attributes = {each.column.name: before + n for n, each in enumerate(table.coded(spreads.get(place, {})))}
        listed = []
        for name in table.target.filled:
            kind = table.kinds[name]
            told = as_json(kind, table.columns[name], spreads.get(place, {}).get(name))
            told["attribute"] = attributes.get(name)
            if isinstance(kind, Dependent):
                told |= {"attribute": attributes[kind.on], "of": self.of[place, name]}
            elif isinstance(kind, Key) and kind.person:
                told["attribute"] = PERSON
            elif isinstance(kind, Reference):
                told["attribute"] = PARENT
            listed.append(told)
        return listed


def at_once(table: TablePlan) -> int:
    """How many rows of a table are written at once."""
    return max(1, VALUES_AT_ONCE // max(1, len(table.target.filled)))


def mean_rows(part: Part, attribute: int, least: int) -> float:
    """How many rows a person has on average, by the noisy counts of this attribute alone, which begins at `least`."""
    measured = next(each.measured for each in part.taken if each.measured.clique == (attribute,))
    counts = np.maximum(measured.counts, 0)
    total = float(counts.sum())
    return float((counts * np.arange(least, counts.size + least)).sum()) / total if total > 0 else 1.0


def counts_of(counts: Counts | None, layout: Layout) -> Counts:
    """Counts of a table; one without rows has none."""
    return counts if counts is not None and len(counts) else np.zeros(layout.cells, np.int64)
