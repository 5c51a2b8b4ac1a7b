"""What becomes of each column of a synthetic table, from the catalog and the curator's declarations alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.errors import InvalidParameterError, MissingBoundsError, RefusedShapeError, UndefinedColumnError
from discreet.core.syntax import Json
from discreet.gate.schema import FAMILY_OF_TYPE, NUMBERS, TIMES, Family

# Numbers are first counted in fine bins; their noisy counts say where coarse ones lie, and how values spread in these.
FINE = 256
COARSE = 24
MOST_CATEGORIES = 2000
MOST_COLUMNS = 80
WHOLE = frozenset([Family.INT, Family.DATE])
# the years from 1 to 9999, in days since 1970
DAYS = (-719_162, 2_932_896)
SECONDS = (DAYS[0] * 86_400, (DAYS[1] + 1) * 86_400 - 1)
# what a type holds; whole numbers only as far as doubles tell them apart
RANGES: Mapping[str, tuple[int, int]] = {
    "smallint": (-(2**15), 2**15 - 1),
    "integer": (-(2**31), 2**31 - 1),
    "bigint": (-(2**53), 2**53),
    "real": (-(10**38), 10**38),
    "double precision": (-(10**150), 10**150),
    "numeric": (-(10**150), 10**150),
    "date": DAYS,
    "timestamp without time zone": SECONDS,
    "timestamp with time zone": SECONDS,
}
# the keys that a type can hold, which are numbered from 1
MOST_KEYS: Mapping[str, int] = {
    "smallint": 2**15 - 1,
    "integer": 2**31 - 1,
    "bigint": 2**53,
    "real": 2**24,
    "double precision": 2**53,
    "numeric": 2**53,
    "uuid": 2**48 - 1,
    "text": 2**53,
    "character varying": 2**53,
    "character": 2**53,
}


@dataclass(frozen=True)
class Column:
    """A column of the source, as the catalog and the declarations describe it."""

    name: str
    type: str  # with its modifiers, as it is written
    base: str  # below domains, without modifiers
    not_null: bool = False
    generated: str | None = None
    labels: tuple[str, ...] | None = None  # of an enum
    precision: int | None = None  # of numeric(p, s)
    scale: int | None = None  # of numeric(p, s)
    length: int | None = None  # of varchar(n)
    bounds: tuple[Fraction, Fraction] | None = None
    categories: tuple[str, ...] | None = None
    hidden: bool = False
    identifies: bool = False
    runs_code: bool = False  # a domain whose constraints call functions that are not PostgreSQL's own

    @property
    def family(self) -> Family:
        return FAMILY_OF_TYPE.get(self.base, Family.OTHER)

    @property
    def range(self) -> tuple[Fraction, Fraction] | None:
        """The least and the largest number that the type holds, if it holds numbers or times."""
        if self.base == "numeric" and self.precision is not None and self.scale is not None:
            most = min(Fraction(10**self.precision - 1) / Fraction(10) ** self.scale, Fraction(RANGES["numeric"][1]))
            return -most, most
        found = RANGES.get(self.base)
        return None if found is None else (Fraction(found[0]), Fraction(found[1]))

    @property
    def most_keys(self) -> int:
        """How many different keys the column can hold; 0: its type is none of which keys are made."""
        most = MOST_KEYS.get(self.base, 0)
        if self.base == "numeric" and self.range is not None:
            most = min(most, int(self.range[1]))
        return most if self.length is None else min(most, 10**self.length - 1)


@dataclass(frozen=True)
class Kind:
    """What a column becomes."""


@dataclass(frozen=True)
class Key(Kind):
    """A new key. `person`: that of the person, else of the row."""

    person: bool = False


@dataclass(frozen=True)
class Reference(Kind):
    """The key of the row's parent, over which it has its person."""


@dataclass(frozen=True)
class Category(Kind):
    """One of these texts; where `null`, or NULL, which is the last code."""

    texts: tuple[str, ...]
    null: bool

    @property
    def size(self) -> int:
        return len(self.texts) + self.null


@dataclass(frozen=True)
class Number(Kind):
    """A number between bounds, in `fine` equal bins: days of dates and seconds of timestamps since 1970."""

    lower: float
    upper: float
    fine: int
    whole: bool
    null: bool

    @property
    def is_coarsened(self) -> bool:
        return self.fine > COARSE


@dataclass(frozen=True)
class Filler(Kind):
    """A text that says nothing: `before`, a number, `after`."""

    before: str
    after: str = ""
    length: int | None = None


@dataclass(frozen=True)
class Dependent(Kind):
    """A category that follows from that of another column."""

    texts: tuple[str, ...]
    null: bool
    on: str

    @property
    def size(self) -> int:
        return len(self.texts) + self.null


@dataclass(frozen=True)
class Empty(Kind):
    """Always NULL: nothing is declared of the column, and nothing need be there."""


@dataclass(frozen=True)
class Generated(Kind):
    """PostgreSQL computes it."""


Modelled = Category | Number
BOOLEAN = ("false", "true")


def kinds(
    table: str,
    columns: Sequence[Column],
    unit: str,
    wanted: Sequence[str] | None,
    dependencies: Mapping[str, str],
    by_path: bool = False,
) -> dict[str, Kind]:
    """What each wanted column becomes, in the order of the table. Numbers of which nothing is known are refused.

    `by_path`: the unit is the key of a parent, over which a row has its person.
    """
    names = [column.name for column in columns]
    for name in [*(wanted or ()), *dependencies, *dependencies.values()]:
        if name not in names:
            raise UndefinedColumnError(f"{table} has no column {name}", "Name columns of the table.")
    if wanted is not None and (not wanted or len(set(wanted)) < len(wanted)):
        raise InvalidParameterError("columns must name columns, each once", "Leave columns out for all of them.")
    if (len(columns) > MOST_COLUMNS and wanted is None) or len(wanted or ()) > MOST_COLUMNS:
        raise InvalidParameterError(
            f"a synthetic table has at most {MOST_COLUMNS} columns", "Name fewer: columns => ARRAY['…', '…']."
        )
    taken = [column for column in columns if wanted is None or column.name in wanted]
    found = {column.name: kind(table, column, unit, by_path) for column in taken}
    for name, on in dependencies.items():
        of, other = found.get(name), found.get(on)
        if not isinstance(of, Category) or not isinstance(other, Category) or name == on:
            raise InvalidParameterError(
                f"the dependency {on} -> {name} is not one of two columns with categories",
                "Declare the categories of both: discreet.describe_column(table, column, categories => ARRAY[…]).",
            )
    for name, on in dependencies.items():
        of = found[name]
        assert isinstance(of, Category)
        if on in dependencies:
            raise InvalidParameterError(
                f"column {on} depends on another and is depended on", f"Write what {name} follows from at the end."
            )
        found[name] = Dependent(of.texts, of.null, on)
    return found


def kind(table: str, column: Column, unit: str, by_path: bool = False) -> Kind:
    null = not column.not_null
    if column.runs_code:
        raise RefusedShapeError(
            f"the type of column {column.name} of {table} calls functions, which would run in your name",
            "Name the other columns: columns => ARRAY['…'].",
        )
    if column.generated is not None:
        return Generated()
    if column.name == unit and column.most_keys:
        return Reference() if by_path else Key(person=True)
    if column.identifies and column.most_keys:
        return Key()
    if column.name == unit or column.identifies:
        return _without_keys(table, column)
    if column.hidden:
        return _unknown(table, column)
    if column.categories is not None:
        return Category(_checked(column, column.categories), null)
    if column.labels is not None:
        return Category(_checked(column, column.labels), null)
    if column.family is Family.BOOL:
        return Category(BOOLEAN, null)
    if column.bounds is not None and (column.family in NUMBERS or column.family in TIMES):
        return number(column)
    if column.family in NUMBERS or column.family in TIMES:
        raise MissingBoundsError(
            f"column {column.name} of {table} has no bounds",
            f"SELECT discreet.describe_column('{table}', '{column.name}', lower => …, upper => …),"
            " or name the other columns: columns => ARRAY['…'].",
        )
    return _unknown(table, column)


def number(column: Column) -> Number:
    """Bounds are narrowed to what the type can hold: noise puts rows where no row can be."""
    assert column.bounds is not None
    assert column.range is not None
    bounds = max(column.bounds[0], column.range[0]), min(column.bounds[1], column.range[1])
    if bounds[0] > bounds[1]:
        raise InvalidParameterError(
            f"no value of type {column.type} lies between the bounds of column {column.name}",
            "A curator can declare others: discreet.describe_column().",
        )
    lower, upper = (float(bound) for bound in bounds)
    whole = column.family in WHOLE
    if whole:
        values = int(bounds[1] // 1) - int(-(-bounds[0] // 1)) + 1
        low = float(-(-bounds[0] // 1))
        fine = max(1, min(values, FINE))
        return Number(low - 0.5, low + max(values, 1) - 0.5, fine, True, not column.not_null)
    if upper <= lower:
        return Number(lower, lower + abs(lower) * 1e-9 + 1e-9, 1, False, not column.not_null)
    return Number(lower, upper, FINE, False, not column.not_null)


def _checked(column: Column, texts: Sequence[str]) -> tuple[str, ...]:
    if len(texts) > MOST_CATEGORIES:
        raise InvalidParameterError(
            f"column {column.name} has {len(texts)} categories, and at most {MOST_CATEGORIES} can be modelled",
            "Leave it out: columns => ARRAY['…'].",
        )
    return tuple(texts)


def _unknown(table: str, column: Column) -> Kind:
    """A text gets a filler, by the name and the length of the column; other types are NULL where they may be."""
    if column.family is Family.TEXT:
        return filler(column)
    if not column.not_null:
        return Empty()
    raise MissingBoundsError(
        f"column {column.name} of {table} cannot be NULL, and nothing is declared of it",
        "Name the other columns: columns => ARRAY['…'].",
    )


def _without_keys(table: str, column: Column) -> Kind:
    """A unique column of a type that no keys are made of."""
    if not column.not_null:
        return Empty()
    raise RefusedShapeError(
        f"no new keys of type {column.type} are made for column {column.name} of {table}",
        "Name the other columns: columns => ARRAY['…'].",
    )


def filler(column: Column) -> Filler:
    name = column.name.lower()
    if re.search("mail", name):
        return Filler("person", "@example.org", column.length)
    if re.search("phone|mobile|^tel|_tel|fax", name):
        return Filler("+00 000 ", "", column.length)
    if re.search("url|website|homepage", name):
        return Filler("https://example.org/", "", column.length)
    return Filler(f"{column.name} ", "", column.length)


def parsed_dependencies(written: Sequence[str] | None) -> dict[str, str]:
    """'zip -> city' as city: zip."""
    found: dict[str, str] = {}
    for each in written or ():
        sides = [side.strip() for side in (each or "").split("->")]
        if len(sides) != 2 or not all(sides):
            raise InvalidParameterError(f"{each!r} is not a dependency", "Write it as 'zip -> city'.")
        if sides[1] in found:
            raise InvalidParameterError(f"column {sides[1]} depends on two columns", "Name one of them.")
        found[sides[1]] = sides[0]
    return found


# -- how codes become texts


@dataclass(frozen=True)
class Coarse:
    """The coarse bin of each fine one, and the weights of fine bins, which a value within a coarse bin is drawn by."""

    bins: tuple[int, ...]
    weights: tuple[float, ...]

    @property
    def number(self) -> int:
        return self.bins[-1] + 1


def coarse(noisy: Sequence[float], most: int = COARSE) -> Coarse:
    """Neighbouring fine bins together, so that each coarse bin holds about as much of the noisy counts.

    Made from released numbers and declarations only.
    """
    weights = [max(count, 0.0) for count in noisy]
    if len(weights) <= most:
        return Coarse(tuple(range(len(weights))), (1.0,) * len(weights))
    total = sum(weights) or 1.0
    bins: list[int] = []
    here, held, left = 0, 0.0, total
    for place, weight in enumerate(weights):
        share = left / (most - here)
        if held > 0 and held + weight / 2 > share and here < most - 1:
            here, left, held = here + 1, left - held, 0.0
        bins.append(here)
        held += weight
        del place
    floor = total / len(weights) / 1000
    return Coarse(tuple(bins), tuple(weight + floor for weight in weights))


def as_json(kind: Kind, column: Column, spread: Coarse | None) -> dict[str, Json]:
    """What the fitting process is told of a column: how its codes are written."""
    if isinstance(kind, Category):
        return {"kind": "category", "texts": kind.texts, "null": kind.null}
    if isinstance(kind, Dependent):
        return {"kind": "dependent", "texts": kind.texts, "null": kind.null, "on": kind.on}
    if isinstance(kind, Number):
        assert spread is not None
        return {
            "kind": "number", "lower": kind.lower, "upper": kind.upper, "bins": spread.bins,
            "weights": spread.weights, "null": kind.null, "family": str(column.family), "scale": column.scale,
            "whole": kind.whole,
        }  # fmt: skip
    if isinstance(kind, Filler):
        return {"kind": "filler", "before": kind.before, "after": kind.after, "length": kind.length}
    assert isinstance(kind, Key | Reference)
    return {"kind": "key", "type": column.base}
