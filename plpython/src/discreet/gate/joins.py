"""Joins: which conditions say that two rows are of one person, and what their columns are called afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pglast import ast, enums

from discreet.core.errors import DiscreetError
from discreet.core.syntax import Node
from discreet.gate.clauses import equated
from discreet.gate.names import MERGED, Named, Names, Source, same_people
from discreet.gate.people import People
from discreet.gate.refusal import refuse
from discreet.gate.tree import BOOLEAN, Choice, Expression, Join, Rows, SameParent, SamePerson, Table


def link(conjunct: Node, left: tuple[Named, ...], right: tuple[Named, ...]) -> Expression | None:
    """The condition, where it says that rows of the two sides are of one person.

    It is unit = unit, of types in which no value equals two others; or key = key, where both sides tell by it to which
    row of one protected table they belong.
    """
    sides = equated(conjunct)
    if sides is None:
        return None
    found = []
    for side in sides:
        try:
            found.append(Names(right, (), Names(left, ())).find(side))
        except DiscreetError:
            return None
    (one, mine), (other, theirs) = found
    if not ((one in left and other in right) or (one in right and other in left)):
        return None
    values = one.columns[mine], other.columns[theirs]
    if not same_people(*values):
        return None
    if mine in one.unit_columns and theirs in other.unit_columns:
        return SamePerson(*values, type=BOOLEAN)
    if mine in one.parents and one.parents[mine] == other.parents.get(theirs):
        return SameParent(*values, type=BOOLEAN)
    return None


def followed(rows: Rows, condition: Expression, people: People) -> Rows:
    """These rows, without the parents over which they have their person, where the condition leads to it.

    That is where the table whose foreign key it compares names the person of the rows.
    """
    if not isinstance(condition, SameParent):
        return rows
    if isinstance(rows, Table):
        compared = any(side == step.held for side in condition.parts for step in rows.path[:1])
        return replace(rows, led=True) if compared and people.unit == rows.unit else rows
    if isinstance(rows, Join) and rows.kind in ("INNER", "CROSS", "LEFT"):
        return replace(rows, left=followed(rows.left, condition, people), right=followed(rows.right, condition, people))
    return rows


def using(column: str, left: Source, right: Source, node: Node) -> ast.A_Expr:
    """USING (column) as a condition."""
    sides = []
    for source in (left, right):
        holders = [named.relation or (named.alias,) for named in source.names if column in named.columns]
        if (MERGED,) in holders:
            holders = [(MERGED,)]
        if len(holders) != 1:
            refuse(f"USING ({column}) is ambiguous or unknown", node)
        sides.append(ast.ColumnRef(fields=tuple(ast.String(sval=name) for name in (*holders[0], column))))
    kind = enums.A_Expr_Kind.AEXPR_OP
    return ast.A_Expr(kind=kind, name=(ast.String(sval="="),), lexpr=sides[0], rexpr=sides[1])


def shared_columns(left: Source, right: Source, node: Node) -> list[str]:
    """The columns that NATURAL means; hidden ones would be compared, too."""
    mine, theirs = ([name for named in source.names for name in named.columns] for source in (left, right))
    hidden = [{name for named in source.names for name in named.hidden} for source in (left, right)]
    if hidden[0] & (hidden[1] | set(theirs)) or hidden[1] & set(mine):
        refuse("NATURAL JOIN of hidden columns", node, "Write the columns in ON or USING.")
    return [name for name in dict.fromkeys(mine) if name in theirs]


def merged(source: Source, left: Source, right: Source, kind: str, columns: list[str]) -> Source:
    """The columns of USING, each of which is one column now."""
    values: dict[str, Expression] = {}
    units, parents = set(), dict[str, str]()
    for column in columns:
        (mine, own), (theirs, other) = (held(column, side) for side in (left, right))
        values[column] = theirs if kind == "RIGHT" else mine
        kept = other if kind == "RIGHT" else own
        if kind == "FULL":
            values[column] = Choice("COALESCE", (mine, theirs), type=mine.type, raw=mine.raw)
        if column in kept.unit_columns and (kind != "FULL" or values[column] == source.unit):
            units.add(column)
        if column in kept.parents and kind != "FULL":
            parents[column] = kept.parents[column]
    earlier = [named for named in source.names if named.alias == MERGED]
    others = tuple(named for named in source.names if named.alias != MERGED)
    for one in earlier:
        values = {**one.columns, **values}
        units |= one.unit_columns - set(columns)
        parents = {**{name: key for name, key in one.parents.items() if name not in columns}, **parents}
    return replace(source, names=(Named(MERGED, values, frozenset(units), parents=parents), *others))


def held(column: str, source: Source) -> tuple[Expression, Named]:
    holders = [named for named in source.names if column in named.columns]
    named = next((one for one in holders if one.alias == MERGED), holders[0])
    return named.columns[column], named


def aliased(source: Source, alias: ast.Alias) -> Source:
    """A join with a name of its own, which hides those of its tables."""
    if alias.colnames:
        refuse("names for the columns of a join", alias)
    columns: dict[str, Expression] = {}
    twice, units = set(), set()
    parents: dict[str, str] = {}
    shared = {name for named in source.names if named.alias == MERGED for name in named.columns}
    for named in sorted(source.names, key=lambda each: each.alias != MERGED):
        for name, value in named.columns.items():
            if named.alias != MERGED and name in shared:
                continue
            twice |= {name} & columns.keys()
            columns[name] = value
            if name in named.unit_columns and not named.extended:
                units.add(name)
            if name in named.parents and not named.extended:
                parents[name] = named.parents[name]
    kept: Mapping[str, Expression] = {name: value for name, value in columns.items() if name not in twice}
    hidden = frozenset(twice).union(*(named.hidden for named in source.names))
    return replace(source, names=(Named(alias.aliasname, kept, frozenset(units) - twice, hidden, parents),))


def null_extended(named: Named) -> Named:
    """The side of an outer join that may be missing: every column may be NULL."""
    columns = {name: replace(value, nullable=True) for name, value in named.columns.items()}
    return replace(named, columns=columns, extended=True)
