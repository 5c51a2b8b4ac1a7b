"""Names in FROM: their columns, the person of their rows, and what the policies of their tables allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from pglast import ast

from discreet.core.errors import DiscreetError
from discreet.core.syntax import Node
from discreet.gate.clauses import equated
from discreet.gate.intervals import Interval
from discreet.gate.refusal import refuse
from discreet.gate.schema import Column, Family, Relation
from discreet.gate.traces import Comparison
from discreet.gate.tree import BLANK_PADDED, BOOLEAN, SHOWN_TYPES, Constant, Expression, NullTest, Rows, Type
from discreet.gate.tree import Column as ColumnOf
from discreet.gate.values import boolean_constant

WHOLE_TYPES = {"smallint", "integer", "bigint"}
TEXT_TYPES = {"text", "character varying"}
# Written without a length, these would mean a length of 1.
UNLIMITED = {"character": BLANK_PADDED, "bit": 'pg_catalog."bit"'}


@dataclass(frozen=True)
class Limits:
    """What the policies of the tables involved allow; the strictest cap, the widest reach.

    Without `max_total_rows` there is no such bound, which is wider than any.
    """

    max_groups: int = 1
    max_rows: int = 1
    max_epsilon: Fraction | None = None
    max_delta: Fraction | None = None
    max_total_rows: int | None = None

    def rows(self, groups: int = 1) -> int:
        """The most rows of one person that count in so many groups together."""
        most = self.max_rows * groups
        return most if self.max_total_rows is None else min(most, self.max_total_rows)

    def __or__(self, other: Limits) -> Limits:
        return Limits(
            max(self.max_groups, other.max_groups),
            max(self.max_rows, other.max_rows),
            least(self.max_epsilon, other.max_epsilon),
            least(self.max_delta, other.max_delta),
            widest(self.max_total_rows, other.max_total_rows),
        )


def least(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return b if a is None else a if b is None else min(a, b)


def widest(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else max(a, b)


@dataclass(frozen=True)
class Named:
    """One name in FROM, and its columns; `unit_columns`: those that hold the person of a row, or NULL."""

    alias: str
    columns: Mapping[str, Expression]
    unit_columns: frozenset[str] = frozenset()
    unique_keys: tuple[frozenset[str], ...] = ()
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Source:
    """Rows with their person: `unit` is the expression that names it, None for public rows.

    `compared`: what decides which rows these are; `owned`: every row has a person; `people`: the columns by which
    foreign keys know them, None where no key tells; `whole_table`: all rows of one protected table, of which none is
    hidden from who reads them.
    """

    rows: Rows
    names: tuple[Named, ...]
    unit: Expression | None
    dataset: str | None
    single: bool
    limits: Limits = field(default_factory=Limits)
    filtered: bool = False
    compared: frozenset[Comparison] = frozenset()
    owned: bool = False
    people: frozenset[str] | None = None
    whole_table: bool = False

    def with_people(self, conditions: Iterable[Expression]) -> tuple[Expression, ...]:
        """These conditions, and that a row has a person."""
        if self.unit is None or self.owned:
            return tuple(conditions)
        return (*conditions, NullTest(self.unit, True, type=BOOLEAN, nullable=False))


def people_of_both(left: Source, right: Source, node: Node) -> frozenset[str] | None:
    """The people of two sources that are to be one person's rows; refused where foreign keys know them apart.

    Where no key tells about one of them, the curator's word holds: one dataset names its people by the same values.
    """
    if left.people is None or right.people is None:
        return left.people or right.people
    if not left.people & right.people:
        refuse(
            f"{min(left.people)} and {min(right.people)} name different people",
            node,
            "Where they are the same, a curator can say so by a foreign key, which may be NOT VALID.",
        )
    return left.people | right.people


class Names:
    """The scope of expressions over a list of names."""

    def __init__(self, names: tuple[Named, ...], parameters: tuple[str | None, ...]) -> None:
        self._names = names
        self._parameters = parameters

    def column(self, node: ast.ColumnRef) -> Expression:
        named, column = self.find(node)
        return named.columns[column]

    def find(self, node: ast.ColumnRef) -> tuple[Named, str]:
        parts = [getattr(part, "sval", None) for part in node.fields]
        if None in parts:
            refuse("* other than as the whole select list", node)
        if len(parts) > 2:
            refuse("a column name with its schema", node, "Give the table an alias, and write alias.column.")
        found = [
            named
            for named in self._names
            if parts[-1] in named.columns and (len(parts) == 1 or parts[0] == named.alias)
        ]
        written = ".".join(map(str, parts))
        if not found:
            refuse(f"there is no column {written}", node, "Hidden and system columns cannot be asked about.")
        if len(found) > 1:
            refuse(f"column {written} is ambiguous", node, "Write alias.column.")
        return found[0], str(parts[-1])

    def parameter(self, number: int, node: Node) -> str | None:
        if not 1 <= number <= len(self._parameters):
            refuse(f"parameter ${number} has no value", node, "Give the values in params => ARRAY[…].")
        return self._parameters[number - 1]


def unit_values(source: Source) -> set[Expression]:
    """The columns that hold the person of a row, or NULL after a LEFT JOIN."""
    return {named.columns[column] for named in source.names for column in named.unit_columns & named.columns.keys()}


def is_hidden(node: Node, names: tuple[Named, ...]) -> bool:
    """Whether this is a column that a curator hides."""
    if not isinstance(node, ast.ColumnRef):
        return False
    *alias, column = (getattr(part, "sval", None) for part in node.fields)
    return any(column in named.hidden and (not alias or alias == [named.alias]) for named in names)


def matched_columns(conjunct: Node, names: tuple[Named, ...]) -> set[tuple[str, str]]:
    """Columns of these names, as (alias, column), that the conjunct equates with a column of another one.

    Not doubles: they are compared as numerics, which several of them may share.
    """
    sides = equated(conjunct)
    found = []
    for side in sides or ():
        try:
            named, column = Names(names, ()).find(side)
        except DiscreetError:
            continue
        found.append((named.columns[column].family, (named.alias, column)))
    return {name for family, name in found if family is not Family.FLOAT} if len(found) == 1 else set()


def same_people(left: Expression, right: Expression) -> bool:
    """Whether equal values name one person: compared as doubles, or without their last blanks, several people are."""
    types = {left.type.name, right.type.name}
    if left.family is Family.OTHER:
        return len(types) == 1 and types <= SHOWN_TYPES
    return len(types) == 1 or types <= WHOLE_TYPES or types <= TEXT_TYPES


def column_names(relation: Relation, alias: ast.Alias | None) -> dict[str, str]:
    """What each column of a table is called in `table AS alias(names)`."""
    given = [name.sval for name in (alias and alias.colnames) or ()]
    own = list(relation.columns)
    called = dict(zip(own, given + own[len(given) :], strict=False))
    if len(given) > len(own) or len(set(called.values())) < len(own):
        refuse(f"names for the columns of {relation.name} that do not fit", alias)
    return called


def column_value(place: int, alias: str, column: Column, relation: Relation) -> ColumnOf:
    """A column of a table at a place of the question, with what a curator has declared of it."""
    of_type = Type(column.family, UNLIMITED.get(column.type_name, column.type_name))
    domain = None
    if column.categories is not None:
        domain = tuple(Constant(each, declared=True, type=of_type, nullable=False) for each in column.categories)
    elif column.family is Family.BOOL:
        domain = (boolean_constant(True), boolean_constant(False))
    kept = relation.protection
    return ColumnOf(
        place,
        column.name,
        alias,
        identifies=column.identifies and kept is not None,
        is_unit=kept is not None and column.name == kept.unit,
        type=of_type,
        interval=None if column.bounds is None else Interval(*column.bounds),
        domain=domain,
        nullable=not column.not_null,
        raw=column.name,
    )
