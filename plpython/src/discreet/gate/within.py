"""Reading what is computed from the rows of one person: aggregates of groups, and window functions.

An aggregate here is exact and depends on the rows alone, not on their order (tree.Within). Its interval is a wish that
comes from the policy and from the declared bounds; nothing enforces it until a clamp does, so it stays `raw`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pglast import ast, enums

from discreet.core.errors import DiscreetError
from discreet.core.syntax import Node
from discreet.gate.expressions import TRUE_OR_FALSE, Expressions, function_name
from discreet.gate.intervals import Interval
from discreet.gate.moments import as_interval
from discreet.gate.names import Names, Source
from discreet.gate.ordered import ORDERED, ordered
from discreet.gate.parse import nodes
from discreet.gate.printer import VARIANCES
from discreet.gate.refusal import refuse, refuse_tracker
from discreet.gate.schema import NUMBERS, TIMES, Family
from discreet.gate.texts import ELEMENTS, JSON
from discreet.gate.tree import (
    BLANK_PADDED,
    BOOLEAN,
    REAL,
    Arithmetic,
    Canonical,
    Cast,
    Clamp,
    Column,
    Constant,
    Conversion,
    Duration,
    Edge,
    Expression,
    Frame,
    FrameEnd,
    FrameMode,
    NullTest,
    Output,
    Placed,
    Released,
    SortKey,
    Type,
    Window,
    Within,
    tables_of,
)
from discreet.gate.values import as_family, clamped, guarded_time, identifies, number_constant

BIGINT = Type(Family.INT, "bigint")
DOUBLE = Type(Family.FLOAT)
SPREADS = VARIANCES | {"stddev", "stddev_samp", "stddev_pop"}
WITHIN = SPREADS | {"count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every"}
# different values of these types are written differently
SHOWN_APART = JSON | ELEMENTS.keys() | {"interval"}
# equal values of these types are written alike, and they have an order that is built in
ORDERED_TYPES = frozenset(
    ["uuid", "inet", "cidr", "macaddr", "macaddr8", "time without time zone", "time with time zone", "bytea", "money"]
)


class Subqueries(Protocol):
    """What reads the subqueries of an expression."""

    def sublink(self, node: ast.SubLink, around: RowExpressions) -> Expression: ...


class RowExpressions(Expressions):
    """Expressions over the rows of a FROM clause, subqueries included.

    `windows`: those that the SELECT names, in whose list window functions may stand; `ties`: the columns that it uses.
    """

    def __init__(
        self,
        scope: Names,
        source: Source,
        subqueries: Subqueries | None = None,
        windows: Mapping[str, ast.WindowDef] | None = None,
        ties: Callable[[], tuple[Expression, ...]] = tuple,
    ) -> None:
        super().__init__(scope)
        self.scope = scope
        self.source = source
        self._subqueries = subqueries
        self._windows = windows
        self._ties = ties

    def value(self, node: Node, may_identify: bool = False) -> Expression:
        if isinstance(node, ast.SubLink) and self._subqueries is not None:
            return self._subqueries.sublink(node, self)
        if isinstance(node, ast.FuncCall) and node.over is not None and self._windows is not None:
            return self.windowed(node)
        if isinstance(node, ast.NullTest) and self.may_lack(node.arg):
            negated = node.nulltesttype == enums.NullTestType.IS_NOT_NULL
            missing = self.value(node.arg, may_identify=True)
            return NullTest(missing, negated, type=BOOLEAN, domain=TRUE_OR_FALSE, nullable=False)
        return super().value(node, may_identify)

    def may_lack(self, node: Node) -> bool:
        """Whether this is a column of the side that an outer join lacks in some rows: that it does, names no person."""
        if not isinstance(node, ast.ColumnRef) or self.source.listed is not None:
            return False
        try:
            named, _ = self.scope.find(node)
        except DiscreetError:
            return False
        return named in self.source.names and named.extended

    def of_person(self, node: Node, may_identify: bool = True) -> Expression:
        """A value by which rows of one person are told apart; a column that holds the person is the unit itself."""
        if is_unit(node, self):
            assert self.source.unit is not None
            return self.source.unit
        return self.value(node, may_identify)

    # -- windows

    def windowed(self, node: ast.FuncCall) -> Expression:
        name, window = function_name(node), self.window(node.over, node)
        if name in WITHIN:
            if node.agg_distinct:
                refuse("DISTINCT in a window function", node)
            window = replace(window, ties=self._ties() if is_by_rows(window) else ())
            return replace(aggregate(node, self, self.rows_each), window=window)
        build = PLACES.get(name)
        if build is None or node.agg_filter or node.agg_distinct or node.agg_order or node.agg_star:
            refuse(f"window function {name}()", node)
        if name in FRAMED and not is_framed(name, window):
            refuse(
                f"{name}() over a frame that ends among rows of equal rank",
                node,
                "Add ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING to the window.",
            )
        if name not in RANKS:
            window = replace(window, ties=self._ties())
        return build(name, list(node.args or ()), window, self, node)

    @property
    def rows_each(self) -> int:
        """How many rows of a person are expected, by the policy."""
        return self.source.limits.rows(self.source.limits.max_groups)

    def window(self, written: ast.WindowDef, node: Node) -> Window:
        partition, order, options, ends = self.clauses(written, node)
        by = tuple(self.of_person(each) for each in partition)
        for value in by:
            refuse_unordered(value, node)
        keys = tuple(self.sort_key(each) for each in order)
        if options & MODES["RANGE"] and options & OFFSETS:
            keys = (self.measurable(keys, node),)
        return Window(by, keys, frame=self.frame(options, ends, keys, node))

    def measurable(self, keys: tuple[SortKey, ...], node: Node) -> SortKey:
        """The one sort key of a frame whose ends are so far away: what is added to it stays within its type."""
        if len(keys) != 1 or keys[0].value.family not in TIMES | {Family.INT, Family.NUMERIC}:
            refuse("RANGE with an offset by something other than one number or moment", node, "Write ROWS or GROUPS.")
        (key,) = keys
        return replace(key, value=guarded_time(key.value, node)) if key.value.family in TIMES else key

    def clauses(
        self, written: ast.WindowDef, node: Node
    ) -> tuple[Sequence[Node], Sequence[Node], int, tuple[Node, Node]]:
        """PARTITION BY, ORDER BY and the frame, of which a named window may have some."""
        name = written.name if written.name and written.partitionClause is None else written.refname
        ends = written.startOffset, written.endOffset
        if not name:
            return written.partitionClause or (), written.orderClause or (), written.frameOptions, ends
        named = (self._windows or {}).get(name)
        if named is None:
            refuse(f"there is no window {name}", node)
        partition, order, options, named_ends = self.clauses(replace_name(named), node)
        if written.frameOptions & NONDEFAULT:
            options, named_ends = written.frameOptions, ends
        return partition, order or written.orderClause or (), options, named_ends

    def sort_key(self, written: ast.SortBy, value: Expression | None = None) -> SortKey:
        if written.sortby_dir == enums.SortByDir.SORTBY_USING:
            refuse("ORDER BY … USING", written)
        value = self.value(written.node, may_identify=True) if value is None else value
        refuse_unordered(value, written)
        descending = written.sortby_dir == enums.SortByDir.SORTBY_DESC
        nulls = {enums.SortByNulls.SORTBY_NULLS_FIRST: True, enums.SortByNulls.SORTBY_NULLS_LAST: False}
        return SortKey(value, descending, nulls.get(written.sortby_nulls, descending))

    def frame(self, options: int, ends: tuple[Node, Node], keys: tuple[SortKey, ...], node: Node) -> Frame | None:
        if not options & NONDEFAULT:
            return None
        if options & EXCLUDE:
            refuse("EXCLUDE in a window", node)
        mode = next(mode for mode, bit in MODES.items() if options & bit)
        start, end = (
            self.frame_end(next(edge for edge, bit in edges.items() if options & bit), mode, offset, keys, node)
            for edges, offset in zip((STARTS, ENDS), ends, strict=True)
        )
        return Frame(mode, start, end)

    def frame_end(self, edge: Edge, mode: FrameMode, offset: Node, keys: tuple[SortKey, ...], node: Node) -> FrameEnd:
        if edge not in (Edge.BEFORE, Edge.AFTER):
            return FrameEnd(edge)
        if mode == "RANGE":
            return FrameEnd(edge, self.distance(offset, keys, node))
        return FrameEnd(edge, number_constant(place_number(self.value(offset), 0, node), Family.INT))

    def distance(self, offset: Node, keys: tuple[SortKey, ...], node: Node) -> Constant:
        """How far the end of a frame is from a row; a distance below 0 would be an error."""
        value, key = self.value(offset), keys[0].value
        if key.family in TIMES:
            length = as_interval(value, node)
            held = length.value if isinstance(length, Constant) else None
            far = isinstance(held, Duration) and min(held.months, held.days, held.microseconds) >= 0
            if isinstance(length, Constant) and far:
                return length
        else:
            number = as_family(value, key.family, node)
            far = number.interval is not None and number.interval.lower >= 0
            if isinstance(number, Constant) and number.family in (Family.INT, key.family) and far:
                return number
        refuse("RANGE with an offset that is no constant from 0 on", node)


def replace_name(window: ast.WindowDef) -> ast.WindowDef:
    """A window of the WINDOW clause, without the name that it has there."""
    return ast.WindowDef(
        refname=window.refname, partitionClause=window.partitionClause or (), orderClause=window.orderClause,
        frameOptions=window.frameOptions, startOffset=window.startOffset, endOffset=window.endOffset,
    )  # fmt: skip


def is_unit(node: Node, rows: RowExpressions) -> bool:
    """Whether this is a column that holds the person of every row."""
    if not isinstance(node, ast.ColumnRef) or rows.source.unit is None:
        return False
    try:
        named, column = rows.scope.find(node)
    except DiscreetError:
        return False
    return named in rows.source.names and column in named.unit_columns and not named.extended


def is_key_of_parent(node: Node, rows: RowExpressions) -> bool:
    """Whether rows that agree in this column belong to one row of a protected table, and so to one person."""
    if not isinstance(node, ast.ColumnRef) or rows.source.unit is None:
        return False
    try:
        named, column = rows.scope.find(node)
    except DiscreetError:
        return False
    return named in rows.source.names and column in named.parents and not named.extended


# PostgreSQL's FRAMEOPTION_*
NONDEFAULT, OFFSETS, EXCLUDE = 0x1, 0x7800, 0x38000
MODES: Mapping[FrameMode, int] = {"RANGE": 0x2, "ROWS": 0x4, "GROUPS": 0x8}
STARTS: Mapping[Edge, int] = {
    Edge.FIRST_ROW: 0x20, Edge.LAST_ROW: 0x80, Edge.THIS_ROW: 0x200, Edge.BEFORE: 0x800, Edge.AFTER: 0x2000,
}  # fmt: skip
ENDS: Mapping[Edge, int] = {
    Edge.FIRST_ROW: 0x40, Edge.LAST_ROW: 0x100, Edge.THIS_ROW: 0x400, Edge.BEFORE: 0x1000, Edge.AFTER: 0x4000,
}  # fmt: skip
FRAMED = frozenset(["first_value", "last_value", "nth_value"])


def is_by_rows(window: Window) -> bool:
    return window.frame is not None and window.frame.counts_rows


def is_framed(name: str, window: Window) -> bool:
    """Whether breaking ties changes nothing about which rows the frame has."""
    if window.frame is None:
        return name == "first_value" or not window.order
    from_start = name == "first_value" and window.frame.start.edge is Edge.FIRST_ROW
    return is_by_rows(window) or window.frame.has_all_rows or from_start


# -- functions of the place of a row


def place_number(value: Expression, least: int, node: Node) -> int:
    number = as_family(value, Family.INT, node)
    if not isinstance(number, Constant) or number.family is not Family.INT or number.interval is None:
        refuse("a number of rows that is not a constant", node)
    held = int(number.interval.lower)
    if not least <= held < 2**31:
        refuse(f"a number of rows below {least}, or too large", node)
    return held


def ranked(name: str, arguments: list[Node], window: Window, rows: RowExpressions, node: Node) -> Expression:
    refuse_arguments(name, arguments, (0, 0), node)
    if name in ("percent_rank", "cume_dist"):
        return Placed(name, (), window, type=DOUBLE, interval=Interval.of(0, 1), nullable=False)
    most = max(rows.rows_each, 1)
    return Placed(name, (), window, type=BIGINT, interval=Interval.of(1, most), nullable=False, raw=f"{name}()")


def tile(name: str, arguments: list[Node], window: Window, rows: RowExpressions, node: Node) -> Expression:
    refuse_arguments(name, arguments, (1, 1), node)
    number = place_number(rows.value(arguments[0]), 1, node)
    return Placed(
        name, (number_constant(number, Family.INT),), window, type=Type(Family.INT, "integer"),
        interval=Interval.of(1, number), nullable=False,
    )  # fmt: skip


def of_other_row(name: str, arguments: list[Node], window: Window, rows: RowExpressions, node: Node) -> Expression:
    """The value of another row of the same person; NULL where there is none."""
    refuse_arguments(name, arguments, ARGUMENTS[name], node)
    value = rows.value(arguments[0])
    refuse_unordered(value, node)
    least = 0 if name in ("lag", "lead") else 1
    numbers = [number_constant(place_number(rows.value(each), least, node), Family.INT) for each in arguments[1:]]
    return Placed(
        name, (value, *numbers), window, type=value.type, interval=value.interval, domain=value.domain,
        raw=value.raw or (f"{name}()" if value.family in NUMBERS | TIMES else None),
    )  # fmt: skip


def refuse_arguments(name: str, arguments: list[Node], number: tuple[int, int], node: Node) -> None:
    if not number[0] <= len(arguments) <= number[1]:
        refuse(f"{name}() with {len(arguments)} arguments", node)


RANKS = frozenset(["rank", "dense_rank", "percent_rank", "cume_dist"])
ARGUMENTS = {"lag": (1, 2), "lead": (1, 2), "first_value": (1, 1), "last_value": (1, 1), "nth_value": (2, 2)}
PLACES: dict[str, Callable[[str, list[Node], Window, RowExpressions, Node], Expression]] = {
    **dict.fromkeys(["row_number", *RANKS], ranked),
    "ntile": tile,
    **dict.fromkeys(ARGUMENTS, of_other_row),
}


def refuse_unordered(value: Expression, node: Node) -> None:
    """Types whose order or equality may be any user's code, or for which equal values are written differently."""
    if value.family is Family.OTHER and not value.is_null and value.type.name not in ORDERED_TYPES:
        refuse(f"an order or comparison of values of type {value.type.name}", node, "Cast it to text.")


def columns_used(listed: Node, scope: Names, source: Source) -> tuple[Expression, ...]:
    """The columns that a SELECT list uses: rows that agree in all of them are the same row to it.

    Which of two such rows comes first changes nothing; between others, the columns decide.
    """
    found: dict[Expression, None] = {}
    for node in nodes(listed):
        if isinstance(node, ast.ColumnRef) and not isinstance(node.fields[-1], ast.A_Star):
            try:
                named, column = scope.find(node)
            except DiscreetError:
                continue
            if named in source.names:
                found[named.columns[column]] = None
        elif isinstance(node, ast.ColumnRef):
            found |= {value: None for named in source.names for value in named.columns.values()}
    ties = [shown(value) for value in found if value != source.unit]
    for value in ties:
        refuse_unordered(value, listed[0] if listed else None)
    return tuple(ties)


def shown(value: Expression) -> Expression:
    """What tells values of a built-in type without an order apart: their texts, of which no two values have one."""
    if value.family is Family.OTHER and value.type.name in SHOWN_APART:
        return Conversion(value, "text", type=Type(Family.TEXT))
    return value


# -- aggregates


def is_within(node: Node) -> bool:
    return isinstance(node, ast.FuncCall) and node.over is None and node.funcname[-1].sval in WITHIN | ORDERED


def aggregate(node: ast.FuncCall, rows: RowExpressions, most: int) -> Within:
    """An aggregate of rows of one person, of whom `most` rows are expected."""
    name = function_name(node)
    if node.func_variadic or node.agg_order or node.agg_within_group:
        refuse("ORDER BY or VARIADIC in an aggregate", node)
    condition = None if node.agg_filter is None else rows.condition(node.agg_filter)
    if name == "count":
        return counted(node, rows, most, condition)
    if node.agg_star or len(node.args or ()) != 1:
        refuse(f"{name}() with other than 1 argument", node)
    value = rows.value(node.args[0])
    named = f"{name}({value.raw or '…'})"
    if name in ("bool_and", "bool_or", "every"):
        value = as_family(value, Family.BOOL, node)
        if value.family is not Family.BOOL:
            refuse(f"{name}() of {value.kind_name}", node)
        return Within(name, value, condition, type=BOOLEAN, domain=TRUE_OR_FALSE)
    if name in ("min", "max"):
        return extreme(name, value, condition, named, node)
    if value.family not in NUMBERS:
        refuse(f"{name}() of {value.kind_name}", node)
    value = clamped(value, node)
    assert value.interval is not None
    if node.agg_distinct and name != "sum":
        refuse(f"DISTINCT in {name}()", node)
    floating = value.family is Family.FLOAT
    kind, interval = DOUBLE if floating else Type(Family.NUMERIC), value.interval
    if name == "sum":
        kind = value.type if floating else BIGINT if is_small(value) else kind
        interval = Interval.of(0) | Interval(interval.lower * most, interval.upper * most)
    elif name in SPREADS:
        width = interval.upper - interval.lower
        interval = Interval.of(0, width * width if name in VARIANCES else width)
    if not interval.usable:
        refuse("numbers of more than 60 digits", node)
    return Within(name, value, condition, node.agg_distinct, type=kind, interval=interval, raw=named)


def counted(node: ast.FuncCall, rows: RowExpressions, most: int, condition: Expression | None) -> Within:
    value = None
    if not node.agg_star and node.args:
        if len(node.args) != 1:
            refuse("count() with other than 1 argument", node)
        value = rows.value(node.args[0], may_identify=True)
        if node.agg_distinct and not identifies(value):
            value = Canonical(value, type=value.type)
    wish = Interval.of(0, max(most, 1))
    return Within(
        "count", value, condition, node.agg_distinct, type=BIGINT, interval=wish, nullable=False, raw="count(…)"
    )


def extreme(name: str, value: Expression, condition: Expression | None, named: str, node: Node) -> Within:
    if value.family not in NUMBERS | TIMES | {Family.TEXT} or value.type.name == BLANK_PADDED:
        refuse(f"{name}() of {value.kind_name}", node)
    return Within(
        name, value, condition, type=value.type, interval=value.interval, domain=value.domain, raw=value.raw or named
    )


def is_small(value: Expression) -> bool:
    """Whether PostgreSQL computes this whole number in 32 bits, so that its sum is a bigint."""
    if value.family is not Family.INT:
        return False
    if isinstance(value, Constant):
        return value.interval is not None and value.interval.reach < 2**31
    if isinstance(value, Cast):
        return value.target in ("int2", "int4")
    if isinstance(value, Clamp | Conversion):
        return is_small(value.argument)
    if isinstance(value, Column | Output | Within | Placed):
        return value.type.name in ("smallint", "integer")
    return isinstance(value, Arithmetic) and all(map(is_small, value.parts))


# -- groups


def is_grouped(select: ast.SelectStmt) -> bool:
    """Whether a SELECT groups its rows, or aggregates all of them."""
    if select.groupClause or select.havingClause:
        return True
    waiting: list[Node] = [select.targetList, select.sortClause]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple | list):
            waiting.extend(node)
        elif is_within(node):
            return True
        elif isinstance(node, ast.Node) and not isinstance(node, ast.SelectStmt):
            waiting.extend(getattr(node, slot) for slot in node)
    return False


@dataclass(frozen=True)
class Group:
    """What a SELECT that groups by the person is grouped by: keys as they are written, and as they are kept."""

    keys: Mapping[Expression, Expression]
    by_person: bool


class GroupExpressions(RowExpressions):
    """Expressions over the groups of one person each."""

    def __init__(self, rows: RowExpressions, group: Group) -> None:
        super().__init__(rows.scope, rows.source)
        self._rows = rows
        self._group = group
        self.fixed: dict[Expression, None] = {}

    @property
    def keys(self) -> tuple[Expression, ...]:
        return tuple(dict.fromkeys(self._group.keys.values()))

    @property
    def rows_each(self) -> int:
        limits = self.source.limits
        return limits.rows() if self._group.keys else limits.rows(limits.max_groups)

    def value(self, node: Node, may_identify: bool = False) -> Expression:
        if is_within(node):
            return self.aggregate(node)
        if isinstance(node, ast.SubLink) and isinstance(number := self._rows.value(node), Released):
            return number
        if is_unit(node, self._rows) and self._group.by_person:
            assert self.source.unit is not None
            return self.source.unit if may_identify else refuse_tracker("using the person", node)
        if not isinstance(node, ast.A_Const):
            found = self.key(node, may_identify)
            if found is not None:
                return found
        return super().value(node, may_identify)

    def aggregate(self, node: ast.FuncCall) -> Expression:
        if function_name(node) in ORDERED:
            condition = None if node.agg_filter is None else self._rows.condition(node.agg_filter)
            return ordered(node, self._rows, condition)
        found = aggregate(node, self._rows, self.rows_each)
        # a group has a row; all rows together may be none
        some = self._group.by_person or self._group.keys
        if found.name == "count" and found.argument is None and found.condition is None and some:
            return replace(found, interval=Interval.of(1, max(self.rows_each, 1)))
        return found

    def key(self, node: Node, may_identify: bool) -> Expression | None:
        try:
            value = self._rows.value(node, may_identify=True)
        except DiscreetError:
            if isinstance(node, ast.ColumnRef):
                raise
            return None
        kept = self._group.keys.get(value)
        if kept is None and self.is_fixed(value):
            self.fixed[value] = None
            kept = value
        if kept is None and isinstance(node, ast.ColumnRef):
            name = node.fields[-1].sval
            hint = f"Aggregate it, for example by max({name}), or add it to GROUP BY."
            refuse(f"column {name} is neither in GROUP BY nor in an aggregate", node, hint)
        if kept is not None and identifies(kept) and not may_identify:
            refuse_tracker(f"using column {kept.raw}", node)
        return kept

    def is_fixed(self, value: Expression) -> bool:
        """A column of the table whose unique key is the unit: a person has one value of it."""
        unit = self.source.unit
        if not (self._group.by_person and isinstance(value, Column) and isinstance(unit, Column)):
            return False
        return value.place == unit.place and self.is_key(unit)

    def is_key(self, unit: Column) -> bool:
        return any(
            table.place == unit.place and not table.path and frozenset([unit.name]) in table.relation.unique_keys
            for table in tables_of(self.source.rows)
        )


def kept_key(value: Expression, node: Node) -> Expression:
    """A key as it is kept: of equal values, one."""
    if identifies(value):
        return value
    if value.family is Family.OTHER and value.type.name not in ORDERED_TYPES:
        return Conversion(value, "text", type=Type(Family.TEXT))
    if value.family in (Family.NUMERIC, Family.FLOAT):
        real = value.family is Family.FLOAT and value.type.name == REAL
        return Canonical(
            value, type=DOUBLE if real else value.type, interval=value.interval, domain=value.domain,
            nullable=value.nullable, raw=value.raw,
        )  # fmt: skip
    if value.type.name == BLANK_PADDED:
        return Cast(value, "text", type=Type(Family.TEXT, "text"), domain=value.domain, raw=value.raw)
    return value
