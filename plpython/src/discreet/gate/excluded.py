"""Groups that the conditions of a question exclude, whatever the data: they do not appear in its answer.

For every known value of a group key, each condition about this key and constants alone is put down with the value in
its place. PostgreSQL evaluates what comes out, which names no column. A group is kept where all are true; the rows of
the others take no part, by the very same conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace

from discreet.gate.grouping import Key
from discreet.gate.names import Listed, Source
from discreet.gate.printer import listed, printed, rows, where
from discreet.gate.schema import Family
from discreet.gate.tree import (
    TEXT,
    Column,
    Compare,
    Constant,
    Derived,
    Either,
    Expression,
    Logic,
    Map,
    Output,
    Own,
    Released,
    SystemColumn,
    size,
)

# nodes; beyond it all groups are shown
LARGEST = 20_000
# how these are written depends on no setting
UNSET = frozenset([Family.INT, Family.NUMERIC, Family.TEXT, Family.BOOL])
# groups of public rows: more than an answer may have
MOST_LISTED = 10_001


def groups_sql(key: Key, source: Source, conditions: Iterable[Expression]) -> str:
    """The SQL of the known groups of a key that no condition excludes, as texts; NULL among them where it is one."""
    groups: list[Constant | None] = [*(key.groups or ()), *([None] if key.nullable else [])]
    about = list(conditions_about(key.value, source, conditions))
    weight = sum(size(condition) for condition, _ in about) * len(groups)
    found = []
    for group in groups:
        text = "NULL::pg_catalog.text" if group is None else f"({key.shown(group)})::pg_catalog.text"
        kept: list[str] = []
        if group is not None and group is key.others:
            wanted = [constants_wanted(condition, value) for condition, value in about]
            kept = [leaves_others(key, constants) for constants in wanted if constants]
        elif weight <= LARGEST:
            kept = [printed(substituted(condition, value, with_value(value, group))) for condition, value in about]
        found.append(f"({text}, {' AND '.join(kept) or 'true'})")
    return f"SELECT text FROM (VALUES {', '.join(found)}) AS known(text, kept) WHERE kept"


def are_lasting(key: Key, source: Source, conditions: Iterable[Expression]) -> bool:
    """Whether these groups are the same in every session: no condition excludes any, and no setting says how they are
    written.
    """
    return key.value.family in UNSET and not any(conditions_about(key.value, source, conditions))


def listed_sql(keys: Iterable[Key], public: Listed) -> str:
    """The SQL of the groups that public rows give to the keys, as arrays of texts; one more than an answer may have."""
    texts = ", ".join(f"({key.sql})::pg_catalog.text" for key in keys)
    where_sql = where(map(printed, public.conditions))
    inside = f"SELECT DISTINCT pg_catalog.jsonb_build_array({texts})::pg_catalog.text AS text FROM {rows(public.rows)}"
    return f"{inside}{where_sql} LIMIT {MOST_LISTED}"


def constant_conditions_sql(conditions: Iterable[Expression]) -> list[str]:
    """The SQL of whether the conditions that name no column hold, if there are some: else no row takes part."""
    constant = [printed(condition) for condition in conditions if not has_columns(condition)]
    return [f"SELECT ({' AND '.join(constant)}) IS TRUE AS holds"] if constant else []


def constants_wanted(condition: Expression, value: Expression) -> list[Constant] | None:
    """The constants of which a value that meets the condition is one; None where it may be another."""
    if isinstance(condition, Logic) and condition.word == "OR":
        parts = [constants_wanted(part, value) for part in condition.conditions]
        return None if None in parts else [constant for part in parts for constant in part or ()]
    if isinstance(condition, Compare) and condition.name == "=":
        constants = [part for part in condition.parts if isinstance(part, Constant)]
        return constants if len(constants) == 1 and value in condition.parts else None
    return None


def leaves_others(key: Key, constants: list[Constant]) -> str:
    """The SQL of the condition that one of the constants is outside the categories."""
    known = ", ".join(map(listed, key.domain or ()))
    return f"(NOT ({' AND '.join(f'({printed(constant)} IN ({known}))' for constant in constants)}))"


def with_value(key: Expression, group: Constant | None) -> Constant:
    """The group with the type of the key; values of others are compared by their text, NULL among them."""
    if group is not None:
        return replace(group, type=key.type)
    return Constant(None, type=TEXT if key.family is Family.OTHER else key.type)


def conditions_about(
    key: Expression, source: Source, conditions: Iterable[Expression]
) -> Iterator[tuple[Expression, Expression]]:
    """Conditions that a row of a group has met and that name no other column, each with what the key is in it."""
    nothing = Constant(None, type=key.type)
    for condition in conditions:
        if any(part == key for part in nodes(condition)) and not has_columns(substituted(condition, key, nothing)):
            yield condition, key
    below = source.rows
    if isinstance(below, Derived) and isinstance(below.query, Map) and isinstance(key, Output):
        yield from conditions_about(key.origin, Source(below.query.rows, ()), below.query.conditions)


def nodes(expression: Expression) -> Iterator[Expression]:
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.parts


def has_columns(expression: Expression) -> bool:
    """Whether its value is not known yet: it names columns, or a number that is still to be released."""
    return any(
        isinstance(node, Column | Output | Either | SystemColumn | Own)
        or (isinstance(node, Released) and not node.known)
        for node in nodes(expression)
    )


def substituted(node: Expression, old: Expression, new: Expression) -> Expression:
    """The expression with another one in the place of each that equals `old`."""
    if node == old:
        return new
    if not node.parts:
        return node

    def inside(held: object) -> object:
        if isinstance(held, Expression):
            return substituted(held, old, new)
        return tuple(map(inside, held)) if isinstance(held, tuple) else held

    known = {"type", "interval", "domain", "nullable", "others", "raw"}
    changed = {each.name: inside(getattr(node, each.name)) for each in fields(node) if each.name not in known}
    return replace(node, **changed)  # type: ignore[arg-type]
