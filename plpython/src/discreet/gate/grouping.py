"""GROUP BY: the keys, what is known of their values, and the grouping sets."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import combinations

from pglast import ast, enums

from discreet.core.errors import DiscreetError
from discreet.core.printing import meaning
from discreet.core.syntax import Node
from discreet.gate.expressions import Expressions
from discreet.gate.names import Listed
from discreet.gate.nullness import may_be_null
from discreet.gate.parse import nodes
from discreet.gate.printer import listed, one_of_its_equals, printed, type_name
from discreet.gate.refusal import refuse
from discreet.gate.schema import Family
from discreet.gate.tree import Canonical, Constant, Expression, Released
from discreet.gate.values import literal

MOST_SETS = 32
# a row of the answer has all of them, each up to LONGEST_KEY bytes
MOST_KEYS = 32


@dataclass(frozen=True)
class Key:
    """A group key.

    NULL is a group of its own wherever the value can be NULL. Values that are none of those known take no part, unless
    one of these stands for them. `listed`: the public rows whose values are its groups.
    """

    value: Expression
    listed: Listed | None = None

    @property
    def known(self) -> bool:
        """Whether its groups are known without looking at people: by their values, or by public rows."""
        return self.domain is not None or self.listed is not None

    @property
    def native_type(self) -> str:
        return self.value.native_type

    @property
    def domain(self) -> tuple[Constant, ...] | None:
        """Its values, where they are known without data."""
        return self.value.domain

    @property
    def others(self) -> Constant | None:
        """The value that stands for all that are not known."""
        return None if self.domain is None else self.value.others

    @property
    def groups(self) -> tuple[Constant, ...] | None:
        """What its groups are called, where that is known without data; NULL aside."""
        if self.domain is None or self.others is None:
            return self.domain
        return (*self.domain, self.others)

    @cached_property
    def nullable(self) -> bool:
        """Whether NULL is one of its groups."""
        return may_be_null(self.value)

    @property
    def canonical(self) -> Canonical:
        return Canonical(self.value, type=self.value.type)

    @cached_property
    def sql(self) -> str:
        """The SQL of the group of a row, one for all values that are equal."""
        value = printed(self.canonical)
        if self.others is None:
            return value
        *_, others = self.canonical_groups
        return f"CASE WHEN {self._is_known} OR {is_null(value)} THEN {value} ELSE {others} END"

    @cached_property
    def canonical_groups(self) -> list[str]:
        """The SQL of the groups that are known, as they are shown; NULL aside."""
        return [self.shown(entry) for entry in self.groups or ()]

    def shown(self, entry: Constant) -> str:
        if self.value.family is Family.OTHER and entry is self.others:
            return f'({literal(entry.content or "")} COLLATE pg_catalog."C")'
        return one_of_its_equals(listed(entry), self.value.family)

    @cached_property
    def _is_known(self) -> str:
        if self.value.family is Family.OTHER:
            return f"({printed(self.canonical)} IN ({', '.join(map(self.shown, self.domain or ()))}))"
        return f"({printed(self.value)} IN ({', '.join(map(listed, self.domain or ()))}))"

    @cached_property
    def in_domain(self) -> str:
        """The SQL of the condition that a row is in one of the groups that are known."""
        if self.others is not None:
            return "true"
        return f"({self._is_known} OR {is_null(printed(self.value))})" if self.nullable else self._is_known

    def among_groups(self, column: str) -> str:
        """The SQL of the same condition, of a group that was found."""
        known = f"{column} IN ({', '.join(self.canonical_groups)})"
        wholes = [int(one.value) for one in self.groups or () if isinstance(one.value, Decimal) and one.value % 1 == 0]
        types = {one.type for one in self.groups or ()}
        if self.value.family is Family.INT and len(wholes) == len(self.groups or ()) and len(types) == 1:
            # one constant, however many they are
            array = literal("{" + ",".join(map(str, wholes)) + "}")
            known = f"{column} OPERATOR(pg_catalog.=) ANY ({array}::{type_name(types.pop())}[])"
        return f"({known} OR {is_null(column)})" if self.nullable else f"({known})"


def is_null(sql: str) -> str:
    """A row of NULLs is not NULL itself."""
    return f"({sql} IS NOT DISTINCT FROM NULL)"


@dataclass(frozen=True)
class Grouping:
    """The keys of a question, and for each grouping set the positions of the keys that it groups by."""

    keys: tuple[Key, ...]
    sets: tuple[tuple[int, ...], ...]


def group_by(select: ast.SelectStmt, expressions: Expressions) -> Grouping:
    keys: dict[Expression, int] = {}

    def position(node: Node) -> int:
        place = keys.setdefault(key_value(node, select, expressions), len(keys))
        if len(keys) > MOST_KEYS:
            refuse(f"more than {MOST_KEYS} group keys", node, "Ask for fewer at once.")
        return place

    sets: list[tuple[int, ...]] = [()]
    for item in select.groupClause or ():
        choices = [tuple(map(position, nodes)) for nodes in sets_of(item)]
        sets = [tuple(dict.fromkeys(done + choice)) for done in sets for choice in choices]
        if len(sets) > MOST_SETS:
            refuse(f"more than {MOST_SETS} grouping sets", item)
    return Grouping(tuple(map(Key, keys)), tuple(sets))


def sets_of(item: Node) -> list[list[Node]]:
    """The grouping sets that one item of GROUP BY stands for, as lists of expressions."""
    if not isinstance(item, ast.GroupingSet):
        return [row_items(item)]
    kind = enums.GroupingSetKind(item.kind).name.removeprefix("GROUPING_SET_")
    content = [row_items(part) for part in item.content or () if not isinstance(part, ast.GroupingSet)]
    if kind == "EMPTY":
        return [[]]
    if kind == "SIMPLE":
        return [[node for part in content for node in part]]
    if kind == "ROLLUP":
        return [[node for part in content[:n] for node in part] for n in range(len(content), -1, -1)]
    if kind == "CUBE":
        if 2 ** len(content) > MOST_SETS:
            refuse(f"more than {MOST_SETS} grouping sets", item)
        chosen = [some for n in range(len(content), -1, -1) for some in combinations(content, n)]
        return [[node for part in some for node in part] for some in chosen]
    listed = [nodes for part in item.content for nodes in sets_of(part)]
    if len(listed) > MOST_SETS:
        refuse(f"more than {MOST_SETS} grouping sets", item)
    return listed


def row_items(node: Node) -> list[Node]:
    return list(node.args) if isinstance(node, ast.RowExpr) else [node]


def key_value(node: Node, select: ast.SelectStmt, expressions: Expressions) -> Expression:
    """The expression that a GROUP BY item means: by position, by column, or by the name it has in the select list."""
    if isinstance(node, ast.A_Const) and isinstance(node.val, ast.Integer):
        if not 1 <= node.val.ival <= len(select.targetList):
            refuse(f"GROUP BY {node.val.ival} is no position of the select list", node)
        node = select.targetList[node.val.ival - 1].val
    elif isinstance(node, ast.ColumnRef) and len(node.fields) == 1:
        try:
            expressions.value(node, may_identify=True)
        except DiscreetError:
            named = [target.val for target in select.targetList if target.name == node.fields[0].sval]
            node = named[0] if len(named) == 1 else node
    elif any(isinstance(part, ast.SubLink) for part in nodes(node)):
        # a subquery is read once: written twice, it would be two
        node = next((target.val for target in select.targetList if meaning(target.val) == meaning(node)), node)
    value = expressions.value(node)
    if value.constant or isinstance(value, Released):
        refuse("a constant in GROUP BY", node)
    return value
