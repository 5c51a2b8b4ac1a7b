"""The shape of an answer: SELECTs on top of each other, the lowest of them over the measured table.

Errors are columns of the measured table, or made of margins there (margins.py). Where they are wanted, every SELECT
hands them on to the next.
"""

from __future__ import annotations

from pglast import ast

from discreet.core.printing import printed
from discreet.core.syntax import Node
from discreet.gate.column_names import free_name
from discreet.gate.levels import Level
from discreet.gate.margins import Columns, margin_errors
from discreet.gate.propagation import Dependence


def errors_of(levels: tuple[Level, ...]) -> tuple[Dependence, ...]:
    """The columns of errors that the measured table needs for an answer."""
    noisy = (part.error for part in levels[-1].dependences if not part.exact and part.unknown is None)
    return tuple(dict.fromkeys(noisy))


def answer_sql(levels: tuple[Level, ...]) -> str:
    return printed(nested(levels, (), None))


def answer_with_errors(levels: tuple[Level, ...]) -> tuple[str, tuple[str, ...], tuple[int, ...]]:
    """The answer with a column <name>_error beside each noisy one, NULL where it is not known; all names; and the
    places of those errors that are made of margins.
    """
    top, errors = levels[-1], errors_of(levels)
    by_margins, columns = margin_errors(levels)
    taken = {name for level in levels for name in level.names}
    hidden = tuple(free_name(f"error {number}", taken) for number in range(len(errors)))
    tree = nested(levels, hidden, columns)
    taken = set(top.names)
    targets: list[ast.ResTarget] = []
    places: dict[int, int] = {}
    made: list[int] = []
    for place, (target, part) in enumerate(zip(top.select.targetList, top.dependences, strict=True), start=1):
        targets.append(target)
        places[place] = len(targets)
        if part.exact:
            continue
        if part.unknown is None:
            error = error_column(levels, top, hidden, errors.index(part.error))
        else:
            error = by_margins.get(place - 1, no_number())
            made += [len(targets)] if place - 1 in by_margins else []
        targets.append(ast.ResTarget(name=free_name(f"{target.name}_error", taken), val=error))
    tree.targetList = tuple(targets)
    tree.sortClause = tuple(moved(item, places) for item in tree.sortClause or ()) or None
    tree.groupClause = tuple(moved(item, places) for item in tree.groupClause or ()) or None
    return printed(tree), tuple(target.name for target in targets), tuple(made)


def nested(levels: tuple[Level, ...], hidden: tuple[str, ...], columns: Columns | None) -> ast.SelectStmt:
    """The SELECTs as one; each but the last hands the errors on, under these names, and margins."""
    tree = None
    for place, level in enumerate(levels):
        select = ast.SelectStmt(**{slot: getattr(level.select, slot) for slot in level.select})
        if tree is not None:
            alias = ast.Alias(aliasname=level.alias)
            select.fromClause = (ast.RangeSubselect(lateral=False, subquery=tree, alias=alias),)
        if level is not levels[-1]:
            handed_on = [
                ast.ResTarget(name=name, val=error_column(levels, level, hidden, number))
                for number, name in enumerate(hidden)
            ]
            margins = [] if columns is None else [some for (at, _), some in columns.handed_on.items() if at == place]
            handed_on += [ast.ResTarget(name=name, val=value) for name, value in margins]
            select.targetList = (*select.targetList, *handed_on)
        tree = select
    return tree


def error_column(levels: tuple[Level, ...], level: Level, hidden: tuple[str, ...], number: int) -> ast.ColumnRef:
    """The error of this number as a level sees it."""
    name = f"e{number}" if level is levels[0] else hidden[number]
    return ast.ColumnRef(fields=(ast.String(sval=level.alias), ast.String(sval=name)))


def no_number() -> ast.TypeCast:
    names = (ast.String(sval="pg_catalog"), ast.String(sval="numeric"))
    return ast.TypeCast(arg=ast.A_Const(isnull=True), typeName=ast.TypeName(names=names, typemod=-1))


def moved(item: Node, places: dict[int, int]) -> Node:
    """ORDER BY 2 and GROUP BY 2 mean the column that was second before errors came between; 0 is no column."""
    if isinstance(item, ast.SortBy):
        node = moved(item.node, places)
        return ast.SortBy(node=node, sortby_dir=item.sortby_dir, sortby_nulls=item.sortby_nulls)
    if isinstance(item, ast.A_Const) and isinstance(item.val, ast.Integer):
        return ast.A_Const(isnull=False, val=ast.Integer(ival=places.get(item.val.ival, 0)))
    return item
