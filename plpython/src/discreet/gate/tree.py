"""The typed tree of a question: expressions over one row, and relations, which are the rows themselves.

The reader of a question builds it (expressions.py, sources.py), every later stage asks it, and printer.py alone makes
SQL from it. Two nodes are equal when they mean the same: what a table is called in the question does not count. Each
expression carries its type and what is known of its values without looking at data:

- `interval`: between which bounds they lie. Of a `raw` expression that is a wish of the curator, which nothing enforces
  yet; the values of any other lie there, because its SQL keeps them there.
- `domain`: every value besides NULL, where they are known.
- `nullable`: whether a column can be NULL; of what is made of columns, nullness.py says it.
- `others`: as a group key, what stands for every value that is not in `domain`.

Each question about a node is one function, in a file of its own: what it lets be known (traces.py), whether it can fail
(totality.py), what it is called (keys.py), how it is written (printer.py). Each of them has a rule for each type of
node, and refuses a type that it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Literal, TypeAlias, TypeVar

from discreet.gate.intervals import Interval
from discreet.gate.schema import FAMILY_OF_TYPE, Family, Relation

REAL = "real"
BLANK_PADDED = "pg_catalog.bpchar"
# within this, 64-bit arithmetic on whole numbers cannot overflow
LARGEST_INT = 2**62
NATIVE_TYPE = {
    Family.INT: "int8",
    Family.NUMERIC: "numeric",
    Family.FLOAT: "float8",
    Family.TEXT: "text",
    Family.BOOL: "bool",
    Family.DATE: "date",
    Family.TIMESTAMP: "timestamp",
    Family.TIMESTAMPTZ: "timestamptz",
}
# built in, of no family
SHOWN_TYPES = frozenset(
    ["uuid", "inet", "cidr", "macaddr", "macaddr8", "interval", "time without time zone", "time with time zone",
     "bytea", "money", 'pg_catalog."bit"', "bit varying"]
)  # fmt: skip
# the name of the unit in a derived table, which no column of a question may have
UNIT = "discreet unit"

Answer = TypeVar("Answer")
Asked = TypeVar("Asked", bound="Expression")
Rule: TypeAlias = "tuple[type[Expression], Callable[[Expression], Answer]]"
Rules: TypeAlias = "Mapping[type[Expression], Callable[[Expression], Answer]]"


def kept(ask: Callable[[Expression], Answer]) -> Callable[[Expression], Answer]:
    """Keeps the answer to a question about a node with the node: a node stands in a tree more than once.

    The parts of a node are asked first, from below, so that no depth of a tree is too much for the stack.
    """
    return asked_from_below(ask, lambda node: node.parts)


def kept_of_origins(ask: Callable[[Expression], Answer]) -> Callable[[Expression], Answer]:
    """Likewise, where the answer for a column of a derived table is that for the expression that it is there."""
    return asked_from_below(ask, lambda node: (node.origin,) if isinstance(node, Output) else node.parts)


def asked_from_below(
    ask: Callable[[Expression], Answer], below: Callable[[Expression], tuple[Expression, ...]]
) -> Callable[[Expression], Answer]:
    name = f"_{ask.__name__}"

    def answered(node: Expression) -> Answer:
        held: dict[str, Answer] = node.__dict__
        waiting = [] if name in held else [node]
        while waiting:
            missing = [part for part in below(waiting[-1]) if name not in part.__dict__]
            waiting += missing
            if not missing:
                asked = waiting.pop()
                if name not in asked.__dict__:
                    asked.__dict__[name] = ask(asked)
        return held[name]

    answered.__doc__ = ask.__doc__
    return answered


def rules(*each: Rule[Answer]) -> Rules[Answer]:
    """The table of the rules of one question, by types of nodes."""
    table = dict(each)
    assert len(table) == len(each)
    return table


def rule(
    kind: type[Asked], answer: Callable[[Asked], Answer]
) -> tuple[type[Expression], Callable[[Expression], Answer]]:
    """The rule for a type of nodes, by a function that takes nodes of this type."""

    def of_kind(node: Expression) -> Answer:
        assert isinstance(node, kind)
        return answer(node)

    return kind, of_kind


# -- types


@dataclass(frozen=True)
class Type:
    """A type: its family, and its name as the catalog writes it, where the family does not say all."""

    family: Family
    name: str | None = None

    @property
    def element(self) -> str | None:
        """The name of the type of the elements, where it is an array."""
        name = self.name or ""
        return name.removesuffix("[]") if name.endswith("[]") else None

    @property
    def names(self) -> tuple[str, ...]:
        """Schema and name of a type that is known by name only; those of pg_catalog have no schema."""
        parts = re.findall(r'"((?:[^"]|"")+)"|([^".]+)', (self.name or "").removeprefix("pg_catalog."))
        return tuple(plain or quoted.replace('""', '"') for quoted, plain in parts)


BOOLEAN = Type(Family.BOOL)
TEXT = Type(Family.TEXT)
INTERVAL = Type(Family.OTHER, "interval")


@dataclass(frozen=True)
class Duration:
    """An interval: months and days are of different lengths, seconds are not."""

    months: int
    days: int
    microseconds: int

    @property
    def length(self) -> Fraction:
        """In seconds, with months of 30 days, as PostgreSQL compares intervals."""
        return Fraction((self.months * 30 + self.days) * 86_400) + Fraction(self.microseconds, 10**6)


# -- expressions


@dataclass(frozen=True, eq=False, kw_only=True)
class Expression:
    """`raw`: the name of the column whose values it takes as they are, NaN, infinities and all."""

    type: Type
    interval: Interval | None = None
    domain: tuple[Constant, ...] | None = field(default=None, compare=False)
    nullable: bool = field(default=True, compare=False)
    others: Constant | None = field(default=None, compare=False)
    raw: str | None = field(default=None, compare=False)

    @cached_property
    def identity(self) -> tuple[object, ...]:
        """What it means."""
        return (type(self).__name__, *(getattr(self, each.name) for each in fields(self) if each.compare))

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.identity == other.identity)

    def __hash__(self) -> int:
        return hashed(self)

    @property
    def family(self) -> Family:
        return self.type.family

    @property
    def kind_name(self) -> str:
        """What kind of value it is, in a message: text, number, jsonb."""
        return (self.type.name or "this type").strip('"') if self.family is Family.OTHER else self.family.value

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions that it is made of."""
        return ()

    @property
    def constant(self) -> bool:
        """Whether it is a literal of the question, perhaps in another type."""
        return False

    @property
    def is_null(self) -> bool:
        return False

    @property
    def native_type(self) -> str:
        """The type in which it is shown, always a built-in one; values of others are shown as their text.

        Types, casts and domains of users run code, and what shows an answer runs as the extension's owner.
        """
        named = self.type.name or ""
        if self.family is Family.OTHER:
            return named if named in SHOWN_TYPES else "text"
        if named == BLANK_PADDED or FAMILY_OF_TYPE.get(named) is self.family:
            return named
        return "numeric" if is_wide(self) else NATIVE_TYPE[self.family]


@kept_of_origins
def hashed(node: Expression) -> int:
    return hash(node.identity)


@kept_of_origins
def size(node: Expression) -> int:
    """How many nodes are written where this one is, the columns of derived tables written out.

    Whatever stands once in a question may be written often, below each other exponentially so.
    """
    origin = size(node.origin) if isinstance(node, Output) else 0
    return 1 + origin + sum(copies * size(part) for part, copies in zip(node.parts, written(node), strict=True))


def every_node(expressions: Iterable[Expression]) -> Iterator[Expression]:
    """All nodes, each once, with what the columns of derived tables are there."""
    waiting, seen = list(expressions), set()
    while waiting:
        node = waiting.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        waiting += [node.origin] if isinstance(node, Output) else node.parts


def written(node: Expression) -> list[int]:
    """How often each part is written: values that are clamped or tested stand in the test, too."""
    if isinstance(node, Clamp | KnownYears):
        return [3 if isinstance(node, KnownYears) else 7]
    if isinstance(node, Arithmetic) and node.name in ("/", "%"):
        return [1, 2]
    tested = isinstance(node, Cast) and node.family is Family.INT
    tested |= isinstance(node, Call) and node.name in ("sqrt", "bucket", "ln", "log", "power")
    return [2 if tested else 1] * len(node.parts)


def is_wide(value: Expression) -> bool:
    """Whether whole numbers are kept as numeric, because 64 bits may not be enough for what is made of them."""
    return value.family is Family.INT and value.interval is not None and value.interval.reach >= LARGEST_INT


@dataclass(frozen=True, eq=False)
class Column(Expression):
    """A column of the table that stands at this place of the question; `identifies`: it names people.

    `table`: the name of that table, with its schema, for messages. For caveats alone: `complete`: constraints let no
    value outside the domain in, `limits`: nor outside of these.
    """

    place: int
    name: str
    alias: str = field(compare=False)
    table: str = field(default="", compare=False)
    identifies: bool = False
    is_unit: bool = False
    complete: bool = field(default=False, compare=False)
    limits: Interval | None = field(default=None, compare=False)


@dataclass(frozen=True, eq=False)
class Output(Expression):
    """A column of the derived table at this place of the question, and the expression that it is there."""

    place: int
    name: str
    alias: str = field(compare=False)
    origin: Expression
    identifies: bool = False


@dataclass(frozen=True, eq=False)
class Given(Expression):
    """One of the values that a question lists in a column of its own, or that begin, end and step a series."""

    values: tuple[Constant, ...]


@dataclass(frozen=True, eq=False)
class Either(Expression):
    """A column of UNION ALL: of one side or the other."""

    left: Expression
    right: Expression
    identifies: bool = False

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.left, self.right


@dataclass(frozen=True, eq=False)
class SystemColumn(Expression):
    """tableoid, xmin or ctid, of which only the gate itself makes use."""

    place: int
    name: Literal["tableoid", "xmin", "ctid"]
    alias: str = field(compare=False)


@dataclass(frozen=True, eq=False)
class Constant(Expression):
    """A literal: its value, None for NULL. `untyped`: it may yet become any type.

    `declared`: a category, which a curator has written, so that it may be read by its type; that of a question is not.
    """

    value: bool | str | Decimal | date | Duration | None
    untyped: bool = False
    declared: bool = False

    @cached_property
    def identity(self) -> tuple[object, ...]:
        """1.0 and 1.00 are equal, but not the same: quotients of them have other scales; and 0 is not -0."""
        written = self.value.as_tuple() if isinstance(self.value, Decimal) else self.value
        offset = self.value.isoformat() if isinstance(self.value, date) else None
        return "Constant", self.type, type(self.value).__name__, written, offset, self.untyped, self.declared

    @property
    def constant(self) -> bool:
        return True

    @property
    def is_null(self) -> bool:
        return self.value is None

    @property
    def content(self) -> str | None:
        """What a text says."""
        return self.value if isinstance(self.value, str) else None


@dataclass(frozen=True, eq=False)
class Logic(Expression):
    """AND or OR of conditions, or NOT of one."""

    word: Literal["AND", "OR", "NOT"]
    conditions: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.conditions


@dataclass(frozen=True, eq=False)
class NullTest(Expression):
    argument: Expression
    negated: bool

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.argument,)


@dataclass(frozen=True, eq=False)
class TruthTest(Expression):
    """IS TRUE, IS NOT UNKNOWN …"""

    argument: Expression
    words: str

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.argument,)


@dataclass(frozen=True, eq=False)
class Compare(Expression):
    """left `name` right, with name one of = <> < <= > >=; NULL beside NULL."""

    name: str
    left: Expression
    right: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.left, self.right


@dataclass(frozen=True, eq=False)
class SamePerson(Expression):
    """unit = unit, of two tables of one person each."""

    left: Expression
    right: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.left, self.right


@dataclass(frozen=True, eq=False)
class SameParent(Expression):
    """key = key, of two rows that are, or belong to, one row of a protected table: so they have one person."""

    left: Expression
    right: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.left, self.right


@dataclass(frozen=True, eq=False)
class HasPerson(Expression):
    """That the unit of a row is not NULL."""

    unit: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.unit,)


@dataclass(frozen=True, eq=False)
class Distinct(Expression):
    """left IS [NOT] DISTINCT FROM right."""

    left: Expression
    right: Expression
    negated: bool

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.left, self.right


@dataclass(frozen=True, eq=False)
class Like(Expression):
    """The beginning of a text `name` a constant pattern, with name one of ~~ !~~ ~~* !~~*."""

    name: str
    argument: Expression
    pattern: str

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.argument,)


@dataclass(frozen=True, eq=False)
class Matches(Expression):
    """The beginning of a text `name` a constant regular expression, with name one of ~ !~ ~* !~*."""

    name: str
    argument: Expression
    pattern: str

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.argument,)


@dataclass(frozen=True, eq=False)
class AnyElement(Expression):
    """A constant `name` ANY or, not `any_one`, ALL of the elements of an array of the row."""

    name: str
    value: Expression
    array: Expression
    any_one: bool

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.value, self.array


@dataclass(frozen=True, eq=False)
class NullIf(Expression):
    """The result, unless the condition holds."""

    condition: Expression
    result: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.condition, self.result


@dataclass(frozen=True, eq=False)
class Case(Expression):
    """The result that stands at the place of the first condition that holds; one result more than conditions."""

    conditions: tuple[Expression, ...]
    results: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.conditions + self.results


@dataclass(frozen=True, eq=False)
class Choice(Expression):
    """COALESCE, GREATEST or LEAST."""

    word: Literal["COALESCE", "GREATEST", "LEAST"]
    values: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.values


@dataclass(frozen=True, eq=False)
class Arithmetic(Expression):
    """left `name` right: of numbers; a difference of dates; a date or timestamp moved by a constant."""

    name: str
    left: Expression
    right: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.left, self.right


@dataclass(frozen=True, eq=False)
class Negative(Expression):
    """-value in floating point, where -0 is another 0 than 0 - 0."""

    argument: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.argument,)


@dataclass(frozen=True, eq=False)
class Concatenation(Expression):
    """left || right of the beginnings of texts."""

    left: Expression
    right: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.left, self.right


@dataclass(frozen=True, eq=False)
class Call(Expression):
    """A function of functions.py, by its native name."""

    name: str
    arguments: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.arguments


@dataclass(frozen=True, eq=False)
class Cast(Expression):
    """argument::target, as the question says."""

    argument: Expression
    target: str

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.argument,)

    @property
    def constant(self) -> bool:
        return self.family in (Family.NUMERIC, Family.FLOAT) and self.argument.constant


@dataclass(frozen=True, eq=False)
class Conversion(Expression):
    """The same value in another type, which PostgreSQL would take it for as well, or as its text."""

    argument: Expression
    to: Literal["double", "real", "numeric", "int8", "text"]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.argument,)

    @property
    def constant(self) -> bool:
        return self.argument.constant


@dataclass(frozen=True, eq=False)
class Clamp(Expression):
    """A number moved into its interval; no value for NaN and the infinities."""

    argument: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.argument,)


@dataclass(frozen=True, eq=False)
class KnownYears(Expression):
    """A date or timestamp of the years 1 to 9999; outside, where date functions fail, there is no value."""

    argument: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.argument,)


@dataclass(frozen=True, eq=False)
class Beginning(Expression):
    """The first bytes of a text, in whole characters; of a character(n) with its blanks, where it is `padded`."""

    argument: Expression
    most: int
    padded: bool = False

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.argument,)


@dataclass(frozen=True, eq=False)
class Canonical(Expression):
    """One of all values that are equal: which one is kept must not depend on other rows."""

    argument: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.argument,)


@dataclass(frozen=True, eq=False)
class Together(Expression):
    """Several values as one, which is equal to another just when all of them are; never NULL."""

    values: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.values


@dataclass(frozen=True, eq=False)
class Own(Expression):
    """What the gate itself adds, and no question can name; printer.py has the SQL of each."""

    name: Literal["_person", "_personal_paid", "_personal_key", "_since_1970"]
    arguments: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.arguments


# -- what is computed from the rows of one person


@dataclass(frozen=True)
class SortKey:
    """ORDER BY value; NULLs come last unless `nulls_first`."""

    value: Expression
    descending: bool = False
    nulls_first: bool = False


FrameMode = Literal["ROWS", "RANGE", "GROUPS"]


class Edge(StrEnum):
    """Where a frame begins or ends, as seen from a row."""

    FIRST_ROW = "UNBOUNDED PRECEDING"
    BEFORE = "PRECEDING"
    THIS_ROW = "CURRENT ROW"
    AFTER = "FOLLOWING"
    LAST_ROW = "UNBOUNDED FOLLOWING"


@dataclass(frozen=True)
class FrameEnd:
    """An end of a frame; `distance`: how far it is before or after the row, and nothing for other edges."""

    edge: Edge
    distance: Constant | None = None

    def __post_init__(self) -> None:
        if (self.distance is not None) != (self.edge in (Edge.BEFORE, Edge.AFTER)):
            raise ValueError(self.edge)


@dataclass(frozen=True)
class Frame:
    """Which rows of its partition a window function sees; the unit of distances is a row, a sort key, or a rank."""

    mode: FrameMode
    start: FrameEnd
    end: FrameEnd

    @property
    def counts_rows(self) -> bool:
        """Whether an end may lie between rows of equal rank, so that it depends on the order of these."""
        return self.mode == "ROWS"

    @property
    def has_all_rows(self) -> bool:
        return self.start.edge is Edge.FIRST_ROW and self.end.edge is Edge.LAST_ROW


@dataclass(frozen=True)
class Window:
    """OVER (…): the rows of one person, since `partition` includes the unit.

    `ties`: the columns that decide where the sort keys do not, for functions that would otherwise depend on where rows
    lie. `frame`: None is what PostgreSQL takes for a window without one.
    """

    partition: tuple[Expression, ...]
    order: tuple[SortKey, ...] = ()
    ties: tuple[Expression, ...] = ()
    frame: Frame | None = None

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (*self.partition, *(key.value for key in self.order), *self.ties)


@dataclass(frozen=True, eq=False)
class Within(Expression):
    """An aggregate of rows of one person: those of a group, or of a window; `condition`: its FILTER.

    It does not depend on the order of the rows: whole numbers and numerics are added exactly, doubles on a grid that
    the interval of the `argument` gives, and of equal values in several spellings it takes one.
    """

    name: str
    argument: Expression | None = None
    condition: Expression | None = None
    distinct: bool = False
    window: Window | None = None

    @property
    def parts(self) -> tuple[Expression, ...]:
        given = (part for part in (self.argument, self.condition) if part is not None)
        return (*given, *(self.window.parts if self.window is not None else ()))


@dataclass(frozen=True, eq=False)
class Ordered(Expression):
    """A quantile, the most frequent value, or texts in a row, of rows of one person that go by an order (ordered.py).

    `fraction`: of a quantile; `separator`: between texts; `condition`: its FILTER.
    """

    name: str
    argument: Expression
    order: tuple[SortKey, ...]
    fraction: Fraction | None = None
    separator: str = ""
    condition: Expression | None = None
    distinct: bool = False

    @property
    def parts(self) -> tuple[Expression, ...]:
        given = () if self.condition is None else (self.condition,)
        return (self.argument, *(key.value for key in self.order), *given)


@dataclass(frozen=True, eq=False)
class Placed(Expression):
    """row_number(), rank(), lag(value) …: what the place of a row among those of its person tells."""

    name: str
    arguments: tuple[Expression, ...]
    window: Window

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (*self.arguments, *self.window.parts)


# -- subqueries as expressions, each over rows of the person of the row around it, or over public rows


@dataclass(frozen=True, eq=False)
class Exists(Expression):
    query: Query

    @property
    def parts(self) -> tuple[Expression, ...]:
        return tuple(expressions_of_query(self.query))


@dataclass(frozen=True, eq=False)
class Quantified(Expression):
    """value `name` ANY or ALL of the `element` that the one column of the query is."""

    name: str
    value: Expression
    every: bool
    query: Query
    element: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.value, *expressions_of_query(self.query))


@dataclass(frozen=True, eq=False)
class Among(Expression):
    """That the person of the row, or its row of a protected table, is one of those that the query has in its column."""

    value: Expression
    query: Query

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.value, *expressions_of_query(self.query))


@dataclass(frozen=True, eq=False)
class Scalar(Expression):
    """The `result` that the one column of a query is, which has at most one row."""

    query: Query
    result: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        return tuple(expressions_of_query(self.query))


@dataclass(frozen=True, eq=False)
class Released(Expression):
    """The answer of a question of its own, a constant of the question around it (subquestions.py).

    Until it is released it is not `known`, and the question is checked and priced for every value; `text` is None where
    it has none. Which of them it is, by `number`, tells two apart that are not known.
    """

    number: int
    known: bool = False
    text: str | None = None


# -- relations


@dataclass(frozen=True)
class Step:
    """One step of the way from a row to its person: the parent whose unique `key` a foreign key of the row holds."""

    schema: str
    name: str
    alias: str = field(compare=False)
    held: Expression
    key: Expression
    dated: Dated | None = None


@dataclass(frozen=True)
class Dated:
    """Which rows a scan reads: those whose time lies in one of the spans of days, which are counted from 0001-01-01.

    `undated`: also those whose time is NULL, infinite or outside the years 1 to 9999.
    """

    time: Expression
    spans: tuple[tuple[int, int], ...]
    undated: bool = False


@dataclass(frozen=True)
class Table:
    """A table of the catalog; `only`: without those that inherit from it; `unit`: what names the person of a row.

    `path`: the parents over which a row has its person. `led`: they are not looked up, since the row is joined to its
    parent, or to another row of it, whose person is its own. `dated`: the rows that are read, if not all.
    """

    place: int
    schema: str
    name: str
    only: bool
    alias: str = field(compare=False)
    relation: Relation = field(compare=False, repr=False)
    unit: Expression | None = field(default=None, compare=False)
    path: tuple[Step, ...] = ()
    led: bool = False
    dated: Dated | None = None


@dataclass(frozen=True)
class Map:
    """Expressions over those rows of a relation that meet all conditions, with the unit of the row if it has one.

    `first`: of the rows of a person that agree in these values, only the first (DISTINCT ON). `most`: no more than so
    many rows, after `skip`; the rows are then those of one person. Both go by the order of `order` and `ties`.
    """

    rows: Rows
    conditions: tuple[Expression, ...]
    columns: tuple[tuple[str, Expression], ...]
    unit: Expression | None
    first: tuple[Expression, ...] = ()
    order: tuple[SortKey, ...] = ()
    ties: tuple[Expression, ...] = ()
    most: int | None = None
    skip: int = 0


@dataclass(frozen=True)
class PerPerson:
    """A row for each person and each value of `keys`: GROUP BY unit, keys, of those groups that meet `having`.

    `fixed`: columns that have one value for a person anyway. `unit` None: one row in all, of rows that are all of one
    person, or public; it is there even where there are no rows.
    """

    rows: Rows
    conditions: tuple[Expression, ...]
    unit: Expression | None
    keys: tuple[Expression, ...]
    fixed: tuple[Expression, ...]
    having: tuple[Expression, ...]
    columns: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Union:
    """UNION ALL, or a set operation that compares whole rows, of which the unit is a part."""

    left: Query
    right: Query
    word: Literal["UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"] = "UNION ALL"

    @cached_property
    def compared(self) -> tuple[Expression, ...]:
        """What a set operation compares: each column of one side with that of the other, but for the person."""
        if self.word == "UNION ALL":
            return ()
        sides = combinations([*selects_of(self.left), *selects_of(self.right)], 2)
        return tuple(
            Compare("=", left, right, type=BOOLEAN)
            for mine, theirs in sides
            for (_, left), (_, right) in zip(mine.columns, theirs.columns, strict=True)
            if left != mine.unit or right != theirs.unit
        )


@dataclass(frozen=True)
class Derived:
    """A subquery in FROM; `lateral`: it reads rows of the person of the row before it, or public ones."""

    place: int
    query: Query
    alias: str = field(compare=False)
    lateral: bool = False


@dataclass(frozen=True)
class Elements:
    """The elements of an array or a jsonb value of the row before it, the first `most` of them, as rows of one column.

    Which they are, and their order, is a function of this one value.
    """

    place: int
    function: Literal["unnest", "jsonb_array_elements", "jsonb_array_elements_text", "jsonb_object_keys"]
    value: Expression
    column: str = field(compare=False)
    most: int
    alias: str = field(compare=False)
    text: bool = False


@dataclass(frozen=True)
class Listing:
    """VALUES: constants, column by column."""

    place: int
    values: tuple[tuple[Constant, ...], ...]
    names: tuple[str, ...] = field(compare=False)
    alias: str = field(compare=False)


@dataclass(frozen=True)
class Series:
    """generate_series() of constants, the first `most` of its rows."""

    place: int
    ends: tuple[Constant, ...]
    column: str = field(compare=False)
    alias: str = field(compare=False)
    most: int


@dataclass(frozen=True)
class Join:
    """Pairs of rows that meet all conditions; LEFT, RIGHT, FULL: also a row alone, if it has no such pair."""

    kind: Literal["INNER", "LEFT", "RIGHT", "FULL", "CROSS"]
    left: Rows
    right: Rows
    conditions: tuple[Expression, ...] = ()


Rows = Table | Derived | Elements | Listing | Series | Join
Query = Map | PerPerson | Union


def expressions_of(rows: Rows) -> Iterator[Expression]:
    """All expressions that a relation evaluates."""
    if isinstance(rows, Table):
        yield from (part for step in rows.path for part in (step.held, step.key))
    elif isinstance(rows, Join):
        yield from rows.conditions
        yield from expressions_of(rows.left)
        yield from expressions_of(rows.right)
    elif isinstance(rows, Derived):
        yield from expressions_of_query(rows.query)
    elif isinstance(rows, Elements):
        yield rows.value
    elif not isinstance(rows, Listing | Series):
        raise TypeError(type(rows).__name__)


def expressions_of_query(query: Query) -> Iterator[Expression]:
    if isinstance(query, Union):
        yield from query.compared
        yield from expressions_of_query(query.left)
        yield from expressions_of_query(query.right)
        return
    yield from deciding(query)
    yield from (value for _, value in query.columns)
    if query.unit is not None:
        yield query.unit
    yield from expressions_of(query.rows)


def selects_of(query: Query) -> Iterator[Map | PerPerson]:
    if not isinstance(query, Union):
        yield query
        return
    yield from selects_of(query.left)
    yield from selects_of(query.right)


def deciding(query: Map | PerPerson) -> Iterator[Expression]:
    """The expressions that decide which rows a query has, those of the relations below aside."""
    yield from query.conditions
    if isinstance(query, PerPerson):
        yield from (*query.keys, *query.fixed, *query.having)
    else:
        yield from (*query.first, *(key.value for key in query.order), *query.ties)


def telling_apart(query: Query) -> Iterator[Expression]:
    """The values by which a query tells rows of one person apart, those of the relations below aside."""
    if isinstance(query, Union):
        yield from telling_apart(query.left)
        yield from telling_apart(query.right)
        if query.word != "UNION ALL":
            yield from (value for side in selects_of(query) for _, value in side.columns)
    elif isinstance(query, PerPerson):
        yield from query.keys
    else:
        yield from (*query.first, *(key.value for key in query.order), *query.ties)


def telling_apart_below(query: Query) -> Iterator[Expression]:
    """Likewise, and those of the subqueries in its FROM clauses."""
    yield from telling_apart(query)
    waiting: list[Rows] = [side.rows for side in selects_of(query)]
    while waiting:
        rows = waiting.pop()
        if isinstance(rows, Join):
            waiting += [rows.left, rows.right]
        elif isinstance(rows, Derived):
            yield from telling_apart_below(rows.query)


def tables_of(rows: Rows) -> Iterator[Table]:
    """The tables that stand in a relation itself, not in a subquery of it."""
    if isinstance(rows, Table):
        yield rows
    elif isinstance(rows, Join):
        yield from tables_of(rows.left)
        yield from tables_of(rows.right)
