"""Names in FROM: their columns, the person of their rows, and what the policies of their tables allow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from pglast import ast

from discreet.core.errors import UnknownColumnError
from discreet.core.syntax import Node
from discreet.gate.intervals import Interval
from discreet.gate.people import Limits, People, people_of
from discreet.gate.refusal import refuse
from discreet.gate.schema import Column, Family, Relation
from discreet.gate.tree import BLANK_PADDED, BOOLEAN, SHOWN_TYPES, Constant, Expression, HasPerson, Rows, Table, Type
from discreet.gate.tree import Column as ColumnOf
from discreet.gate.values import boolean_constant

WHOLE_TYPES = {"smallint", "integer", "bigint"}
TEXT_TYPES = {"text", "character varying"}
# Written without a length, these would mean a length of 1.
UNLIMITED = {"character": BLANK_PADDED, "bit": 'pg_catalog."bit"'}


@dataclass(frozen=True)
class Named:
    """One name in FROM, and its columns; `unit_columns`: those that hold the person of a row, or NULL.

    `parents`: the columns that tell to which row of a protected table a row belongs, and which column is that row's
    key. `extended`: the side of an outer join that may be missing. Columns that USING or NATURAL has merged stand under
    a name that nothing can be called by. `relation`: schema and name of a table or view that stands in FROM without an
    alias, by which its columns can be written, too.
    """

    alias: str
    columns: Mapping[str, Expression]
    unit_columns: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    parents: Mapping[str, str] = field(default_factory=dict)
    extended: bool = False
    relation: tuple[str, str] | None = None

    def is_called(self, parts: Sequence[str | None]) -> bool:
        """Whether a column, or *, that is written after these names is one of this table's."""
        if len(parts) == 2:
            return self.relation == tuple(parts)
        return not parts or parts[0] == self.alias


MERGED = ""


@dataclass(frozen=True)
class Listed:
    """Public rows that were joined with people by LEFT JOIN: each gives a group, with or without people."""

    rows: Rows
    conditions: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Source:
    """Rows, the names by which a question knows their columns, and whose rows they are.

    `listed`: the public rows of which all appear, where people are joined to them.
    """

    rows: Rows
    names: tuple[Named, ...]
    listed: Listed | None = None

    @cached_property
    def people(self) -> People:
        return people_of(self.rows)

    @property
    def unit(self) -> Expression | None:
        return self.people.unit

    @property
    def public(self) -> bool:
        return self.people.public

    @property
    def dataset(self) -> str | None:
        return self.people.dataset

    @property
    def single(self) -> bool:
        return self.people.single

    @property
    def limits(self) -> Limits:
        return self.people.limits

    @property
    def is_whole_table(self) -> bool:
        """Whether these are all rows of one table, of which none is hidden from who reads them."""
        return isinstance(self.rows, Table) and not self.rows.only and not self.rows.relation.row_security

    def with_people(self, conditions: Iterable[Expression]) -> tuple[Expression, ...]:
        """These conditions, and that a row has a person."""
        if self.unit is None or self.people.owned:
            return tuple(conditions)
        return (*conditions, HasPerson(self.unit, type=BOOLEAN, nullable=False))


class Names:
    """The scope of expressions over a list of names."""

    def __init__(
        self, names: tuple[Named, ...], parameters: tuple[str | None, ...], outer: Names | None = None
    ) -> None:
        """`outer`: the scope of the query around a subquery."""
        self._names = names
        self._parameters = parameters
        self._outer = outer

    def column(self, node: ast.ColumnRef) -> Expression:
        named, column = self.find(node)
        return named.columns[column]

    def find(self, node: ast.ColumnRef) -> tuple[Named, str]:
        parts = [getattr(part, "sval", None) for part in node.fields]
        if None in parts:
            refuse("* other than as the whole select list", node)
        if len(parts) > 3:
            refuse("a column name with a database", node, "Write schema.table.column, or alias.column.")
        called = [named for named in self._names if named.is_called(parts[:-1])]
        if len(parts) == 2 and len(called) > 1:
            refuse(f"table {parts[0]} is ambiguous", node, "Write schema.table.column, or give the tables aliases.")
        found = [named for named in called if parts[-1] in named.columns]
        if len(parts) == 1 and any(named.alias == MERGED for named in found):
            found = [named for named in found if named.alias == MERGED]
        written = ".".join(map(str, parts))
        shown_above = len(parts) < 3 or not called
        if not found and shown_above and self._outer is not None and not is_hidden(node, self._names):
            # in SQL the name of the inner one would be taken for that of the outer one
            if len(parts) == 3 and any(named.alias == parts[1] and named.relation is None for named in self._names):
                hint = "Give one of them another alias, and write alias.column."
                refuse(f"column {written} beside an alias {parts[1]} in a subquery", node, hint)
            return self._outer.find(node)
        if not found:
            hint = (
                "Hidden and system columns cannot be asked about: SELECT * FROM discreet.catalog lists those that can."
            )
            refuse(f"there is no column {written}", node, hint, UnknownColumnError)
        if len(found) > 1:
            refuse(f"column {written} is ambiguous", node, "Write alias.column.")
        return found[0], str(parts[-1])

    def parameter(self, number: int, node: Node) -> str | None:
        if not 1 <= number <= len(self._parameters):
            refuse(f"parameter ${number} has no value", node, "Give the values in params => ARRAY[…].")
        return self._parameters[number - 1]


def unit_values(source: Source) -> set[Expression]:
    """The columns that hold the person of every row: not those that are NULL in a row that an outer join adds."""
    kept = (named for named in source.names if not named.extended)
    return {named.columns[column] for named in kept for column in named.unit_columns & named.columns.keys()}


def is_hidden(node: Node, names: tuple[Named, ...]) -> bool:
    """Whether this is a column that a curator hides."""
    if not isinstance(node, ast.ColumnRef):
        return False
    *called, column = (getattr(part, "sval", None) for part in node.fields)
    return any(column in named.hidden and named.is_called(called) for named in names)


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
        f"{relation.schema}.{relation.name}",
        identifies=column.identifies and kept is not None,
        is_unit=kept is not None and column.name == kept.unit,
        type=of_type,
        interval=None if column.bounds is None else Interval(*column.bounds),
        domain=domain,
        nullable=not column.not_null,
        others=None if column.others is None else Constant(column.others, declared=True, type=of_type, nullable=False),
        raw=column.name,
        complete=column.complete,
        limits=column.implied.bounds and Interval(*map(Fraction, column.implied.bounds)),
    )
