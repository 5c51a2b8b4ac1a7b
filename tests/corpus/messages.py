"""Every message with which the gate refuses the text of a question, each with a question that has it.

The places that refuse are found in the sources; which of them a question comes to, by asking it, without a server.
"""

from __future__ import annotations

import ast
import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.corpus import lab, sample
from tests.corpus.sample import HARMLESS, NOON, questions

import discreet.gate
from discreet.core.errors import DiscreetError
from discreet.gate.parse import parse
from discreet.gate.plan import plan
from discreet.gate.refusal import quoting, sentence
from discreet.gate.schema import Schema
from discreet.gate.times import with_moment

GATE = Path(str(discreet.gate.__file__)).parent
SCHEMA = Schema({**sample.SCHEMA.relations, **lab.SCHEMA.relations}, {**sample.SCHEMA.datasets, **lab.SCHEMA.datasets})
# what no question of the corpora comes to: it takes a text that is too long for a page, arguments of a function, or
# declarations that the tables of the corpora do not have; or something else refuses before
LONG = "a text that is too long for this page"
ARGUMENTS = "arguments of query(), ask() or suggest_bounds()"
DECLARED = "other declarations, or other foreign keys"
SECOND = "a second lock: another rule refuses before"
BY_FILE = {
    "pricing.py": ARGUMENTS, "wish.py": ARGUMENTS, "finish.py": ARGUMENTS, "suggest.py": ARGUMENTS,
    "payers.py": DECLARED, "periods.py": DECLARED, "scans.py": DECLARED,
}  # fmt: skip
NOT_ASKED = {
    "a FROM clause nested too deeply, or with too many names": LONG,
    "a question nested too deeply": LONG,
    "an expression nested too deeply": LONG,
    "an expression that grows too long": LONG,
    "the question is nested too deeply": LONG,
    "a list of more than … values": LONG,
    "VALUES of more than … rows": LONG,
    "a table of … groups": DECLARED,
    "quantiles of … groups": DECLARED,
    "… measurements of … groups": DECLARED,
    "ONLY before a view": DECLARED,
    "a question of this kind in a dataset with periods": DECLARED,
    "rows of ….… are not kept in their periods: a trigger is missing or disabled": DECLARED,
    "a subquery about all people, of whom each pays for an own budget": DECLARED,
    "… is under policy '…', other tables of the question are not": DECLARED,
    "a foreign key of … between columns of several types": DECLARED,
    "the people of … are not known: ….… is no longer unique": DECLARED,
    "… and … name different people": DECLARED,
    "… of people who are named by values of several types": DECLARED,
    "ANY or ALL of this subquery": SECOND,
    "GROUP BY other than by the person": SECOND,
    "a cast from text to bpchar": SECOND,
    "a join in which rows lose their person": SECOND,
    "a join of this kind": SECOND,
    "a subquery that has no person of its own": SECOND,
    "a subquery without a name": SECOND,
    "a window function over rows": SECOND,
    "VALUES of several types": SECOND,
    "an aggregate of several people below the aggregation": SECOND,
    "an expression that could fail on a row": SECOND,
    "aggregate …()": SECOND,
    "using column …": SECOND,
}
CORPORA = ("refused.sql", "messages.sql")
DIRECT = ("refuse", "refuse_tracker", "refuse_unbounded", "RefusedShapeError", "UndefinedObjectError", "NoAccessError")

Site = tuple[str, int]


@dataclass(frozen=True)
class Refusal:
    """How a question is refused; `sites`: the lines that were on the way, by the name of their file."""

    question: str
    code: str
    message: str
    hint: str | None
    sites: frozenset[Site]


def refusals() -> Iterator[Refusal]:
    for name in CORPORA:
        for question in questions(name):
            found = refusal(question.sql, question.parameters)
            if found is not None:
                yield found


def refusal(sql: str, parameters: tuple[str | None, ...] = ()) -> Refusal | None:
    try:
        with quoting(sql):
            plan(with_moment(parse(sql), lambda: NOON), SCHEMA, HARMLESS, parameters)
    except DiscreetError as error:
        frames = traceback.extract_tb(error.__traceback__)
        sites = frozenset((Path(frame.filename).name, frame.lineno or 0) for frame in frames)
        return Refusal(sql, error.sqlstate, error.message, error.hint, sites)
    return None


@dataclass(frozen=True)
class Place:
    """A call that refuses: its file, its lines, what it says as it is written there, and the error."""

    file: str
    first: int
    last: int
    written: str
    error: str

    def was_reached(self, sites: frozenset[Site]) -> bool:
        return any(file == self.file and self.first <= line <= self.last for file, line in sites)

    @property
    def message(self) -> str:
        """What it says, with … for what depends on the question."""
        if self.error == "refuse_tracker":
            return f"{self.words} singles out a person"
        return self.words if self.error.endswith("Error") else sentence(self.words)

    @property
    def words(self) -> str:
        return re.sub(r"\{[^{}]*\}", "…", str(ast.literal_eval(self.written.removeprefix("f"))))

    @property
    def why_not_asked(self) -> str | None:
        return BY_FILE.get(self.file) or NOT_ASKED.get(self.words)


def places() -> list[Place]:
    found = []
    for path in sorted(GATE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DIRECT:
                first, last = node.lineno - 1, node.end_lineno or node.lineno
                found.append(Place(path.name, first, last, ast.unparse(node.args[0]), node.func.id))
    return found


def not_asked() -> dict[str, list[Place]]:
    """What no question of the corpora comes to, by what it says."""
    every = places()
    sites = frozenset(site for found in refusals() for site in found.sites)
    said = {place.written for place in every if place.was_reached(sites)}
    left: dict[str, list[Place]] = {}
    for place in every:
        if place.written not in said and not is_passed_on(place.written):
            left.setdefault(place.written, []).append(place)
    return left


def is_passed_on(written: str) -> bool:
    """Whether it says what its caller says: the caller is another place."""
    return not written.startswith(("'", '"', "f'", 'f"'))
