"""Groups that are known because a public table lists them: the keys of a table that a curator declared public.

A question that groups by such a key, or by a foreign key that references it, has all keys of the public table as its
groups, whatever people are in them. That reads public rows only, which no person decides about; and it is a
declaration, never a fact: the native SQL leaves out rows with other values, as with categories of a curator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from discreet.core.checks import MOST_CATEGORIES
from discreet.core.declarations import LONGEST_CATEGORY
from discreet.core.quoting import identifier
from discreet.gate.plan import Plan
from discreet.gate.schema import Column, Family, Relation, Schema
from discreet.gate.spans import as_it_is, bare
from discreet.gate.tree import Column as ColumnOf

# their texts mean the same values under all settings
FAMILIES = frozenset([Family.INT, Family.NUMERIC, Family.TEXT])
UUID = "uuid"

# schema, name and key of a public table
PublicKey = tuple[str, str, str]
# the type of a key, of which columns that reference it must be, and its values
Listed = Mapping[PublicKey, tuple[str, tuple[str, ...]]]


def wanted(plan: Plan, schema: Schema) -> Iterator[PublicKey]:
    """Public keys that would tell the groups of a question."""
    by_name = {f"{one.schema}.{one.name}": one for one in schema.relations.values()}
    for key in plan.grouping.keys:
        value = as_it_is(bare(key.value))
        if key.known or not isinstance(value, ColumnOf) or value.table not in by_name:
            continue
        column = by_name[value.table].columns.get(value.name)
        if column is not None and column.listed_by is not None and is_written_alike(column):
            yield column.listed_by


def is_written_alike(column: Column) -> bool:
    return column.family in FAMILIES or column.type_name == UUID


def keys_sql(key: PublicKey, public: Relation) -> str | None:
    """The SQL of the keys of a public table, as texts, one more than are groups; None where they do not tell them."""
    *_, name = key
    column = public.columns.get(name)
    if public.protection is not None or public.row_security or frozenset([name]) not in public.unique_keys:
        return None
    if column is None or not is_written_alike(column):
        return None
    table = f"{identifier(public.schema)}.{identifier(public.name)}"
    # a key of so many bytes is no group, and tells here that there is one
    text = f"pg_catalog.left((t.{identifier(name)})::pg_catalog.text, {LONGEST_CATEGORY + 1})"
    return f"SELECT {text} FROM {table} AS t WHERE t.{identifier(name)} IS NOT NULL LIMIT {MOST_CATEGORIES + 1}"


def as_categories(texts: list[str]) -> tuple[str, ...] | None:
    if not texts or len(texts) > MOST_CATEGORIES or any(len(text.encode()) > LONGEST_CATEGORY for text in texts):
        return None
    return tuple(sorted(texts))
