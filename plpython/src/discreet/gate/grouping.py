"""GROUP BY: the keys, what is known of their values, and the grouping sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from pglast import ast, enums

from discreet.core.errors import DiscreetError
from discreet.gate.expressions import Expressions
from discreet.gate.refusal import refuse
from discreet.gate.schema import Family
from discreet.gate.traces import Item
from discreet.gate.values import Value, one_of_its_equals

MOST_SETS = 32
# a row of the answer has all of them, each up to LONGEST_KEY bytes
MOST_KEYS = 32


@dataclass(frozen=True)
class Key:
    """A group key; `domain` lists its values when they are known without data, `items` what they let be known."""

    sql: str
    native_type: str
    domain: tuple[str, ...] | None
    family: Family = Family.OTHER
    items: frozenset[Item] = field(default=frozenset(), repr=False, compare=False)

    @property
    def canonical(self) -> str:
        return one_of_its_equals(self.sql, self.family)

    @property
    def canonical_domain(self) -> list[str]:
        return [one_of_its_equals(entry, self.family) for entry in self.domain or ()]


@dataclass(frozen=True)
class Grouping:
    """The keys of a question, and for each grouping set the positions of the keys that it groups by."""

    keys: tuple[Key, ...]
    sets: tuple[tuple[int, ...], ...]


def group_by(select: ast.SelectStmt, expressions: Expressions) -> Grouping:
    compiled: dict[str, Key] = {}

    def position(node: Any) -> int:
        value = key_value(node, select, expressions)
        key = Key(value.sql, value.native_type, value.domain, value.family, value.trace.items)
        compiled.setdefault(key.sql, key)
        if len(compiled) > MOST_KEYS:
            refuse(f"more than {MOST_KEYS} group keys", node, "Ask for fewer at once.")
        return list(compiled).index(key.sql)

    sets: list[tuple[int, ...]] = [()]
    for item in select.groupClause or ():
        choices = [tuple(map(position, nodes)) for nodes in sets_of(item)]
        sets = [tuple(dict.fromkeys(done + choice)) for done in sets for choice in choices]
        if len(sets) > MOST_SETS:
            refuse(f"more than {MOST_SETS} grouping sets", item)
    return Grouping(tuple(compiled.values()), tuple(sets))


def sets_of(item: Any) -> list[list[Any]]:
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


def row_items(node: Any) -> list[Any]:
    return list(node.args) if isinstance(node, ast.RowExpr) else [node]


def key_value(node: Any, select: ast.SelectStmt, expressions: Expressions) -> Value:
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
    value = expressions.value(node)
    if value.constant:
        refuse("a constant in GROUP BY", node)
    return value
