"""Trackers: questions that single out a person by columns that are unique together (Schlörer 1975, Denning 1979).

The rule: no aggregate may depend on a comparison by value of *every* column of a unique key of a protected table. What
counts is all that decides which rows, or parts of rows, the aggregate adds up: WHERE and ON here and in the subqueries
below, FILTER, GROUP BY, and conditions inside its argument. AND, OR and NOT between them do not count.

The reason: let a compare one column of a key by value, and b another. Each of

    a AND b     a OR b     a AND NOT b     NOT (a AND b) …     also inside "… OR c", "… AND c"

isolates the same person, since count(a AND b) = count(a) + count(b) - count(a OR b) = count(a) - count(a AND NOT b).
So looking for clauses that fix the whole key would not be enough, and no rewriting of the logic changes the verdict.
Nor can questions that keep the rule be added up to one person: each adds up a function of the key that ignores one
column, so its mixed difference over all columns is 0, and so is that of every linear combination; that of "the one
person with this key" is not.

By value means: = <> IN BETWEEN v AND v, IS DISTINCT FROM, LIKE without wildcards, or two ends of ranges between which
one value is left; with a constant, with a column that such comparisons tie to a constant, or with one row of public
tables (a list of names with birthdays says of each row whom it means; a dimension table for each column of a key does
not). It is seen through expressions that let their column be known: casts, + - * of constants, lower(), ||, CASE,
COALESCE. Real ranges, patterns, rounding, extract() and left() do not count, except where together they are the value:
year, month and day. A range of what is made of several columns of a key (a * 1000 + b > 7004) depends on all of
them: it counts for that key. On columns with declared categories every comparison counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from discreet.core.errors import TrackerError
from discreet.gate.refusal import refuse
from discreet.gate.schema import Family, Relation
from discreet.gate.traces import DAY, NULL_TEST, Comparison, Item

# Looking at one of them takes milliseconds.
MOST_MEETINGS = 200
# parts that together are the whole
DIVIDED = frozenset(["quotient", "remainder"])
WHOLE_DAYS = (
    DAY,
    frozenset(["year", "doy"]),
    frozenset(["year", "week", "dow"]),
    frozenset(["year", "week", "isodow"]),
)


def refuse_trackers(
    aggregates: Iterable[frozenset[Comparison]],
    groups: Iterable[frozenset[Comparison]],
    tables: Mapping[int, Relation],
) -> None:
    """Refuses a question in which comparisons meet that fix all columns of a unique key.

    `aggregates`: what decides about the rows of each; `groups`: what a group of each grouping set lets be known;
    `tables`: what stands at each place of the question. Of too many to look at one by one, all count together.
    """
    meetings = [compared | grouped for compared in dict.fromkeys(aggregates) for grouped in dict.fromkeys(groups)]
    everything = frozenset[Comparison]().union(*meetings)
    items = {item for comparison in everything for item in comparison.left | comparison.right}
    public = frozenset(item.row for item in items if tables[item.row].protection is None)
    if len(meetings) > MOST_MEETINGS or singled_out(everything, tables, public) is None:
        meetings = [everything]
    suspects = [meeting for meeting in meetings if singled_out(meeting, tables, public) is not None]
    starts = [frozenset[int](), *(frozenset([row]) for row in sorted(public))]
    if len(suspects) * len(starts) > MOST_MEETINGS:
        starts = [public]
    for suspect in suspects:
        for rows in starts:
            found = singled_out(suspect, tables, rows)
            if found is not None:
                refuse_key(*found)


def singled_out(
    comparisons: frozenset[Comparison], tables: Mapping[int, Relation], rows: frozenset[int]
) -> tuple[Relation, frozenset[str]] | None:
    """A protected table and a unique key of it that is known, by constants or by these rows of public tables.

    All places of one protected table count as one: they are joined on the person.
    """
    known = known_items(comparisons, tables, rows)
    for table in tables.values():
        if table.protection is None:
            continue
        here = [item for item in known if is_of(tables[item.row], table)]
        values = {item.column for item in here if not item.part}
        nulls = {item.column for item in here if item.part == NULL_TEST}
        ranges = [
            {item.column for item in comparison.left if not item.part and is_of(tables[item.row], table)}
            for comparison in comparisons
            if comparison.joint
        ]
        for key in table.combinations:
            fixed = set(values | nulls if key.nulls else values)
            fixed.update(*(columns for columns in ranges if len(columns & key.columns) > 1))
            if key.columns <= fixed:
                return table, key.columns
    return None


def is_of(relation: Relation, table: Relation) -> bool:
    return (relation.schema, relation.name) == (table.schema, table.name)


def refuse_key(table: Relation, columns: frozenset[str]) -> None:
    refuse(
        f"comparing the columns {', '.join(sorted(columns))} by value singles out a person",
        None,
        f"Together they are unique in {table.name}: leave one of them out, or ask for ranges.",
        TrackerError,
    )


def fixed_columns(comparisons: frozenset[Comparison], tables: Mapping[int, Relation]) -> tuple[str, ...]:
    """The columns of people that these comparisons compare by value."""
    known = known_items(comparisons, tables, frozenset())
    return tuple(sorted({item.column for item in known if not item.part and tables[item.row].protection is not None}))


def known_items(comparisons: frozenset[Comparison], tables: Mapping[int, Relation], given: frozenset[int]) -> set[Item]:
    """What is tied to constants, or to public rows that are known.

    Known are the rows `given`, those that they are compared with, and those of which a unique key is known.
    """
    points = [(each.left, each.right) for each in comparisons if is_by_value(each, comparisons, tables)]
    points += [(right, left) for left, right in points]
    known: set[Item] = set()
    rows = set(given)

    def is_known(item: Item) -> bool:
        return item.row in rows or item in known or Item(item.row, item.column) in known

    before = -1
    while before < len(known) + len(rows):
        before = len(known) + len(rows)
        for these, others in points:
            if all(map(is_known, others)):
                known |= these
            if others and all(item.row in rows for item in others):
                rows |= {item.row for item in these if tables[item.row].protection is None}
        known |= wholes(known, tables)
        rows |= {
            row
            for row, table in tables.items()
            if table.protection is None
            and any(all(Item(row, column) in known for column in key) for key in table.unique_keys)
        }
    return known


def is_by_value(one: Comparison, every: frozenset[Comparison], tables: Mapping[int, Relation]) -> bool:
    """Whether a comparison is by value, or begins a range of one value."""
    if one.joint:
        return False
    if one.cut is None or any(has_categories(item, tables) for item in one.left):
        return True
    end = one.cut.one_value_on
    return end is not None and replace(one, cut=end) in every


def wholes(known: set[Item], tables: Mapping[int, Relation]) -> set[Item]:
    """The columns of which so many parts are known that all is."""
    labels: dict[Item, set[str]] = {}
    for item in known:
        if item.part and item.part != NULL_TEST:
            labels.setdefault(Item(item.row, item.column), set()).add(item.part)
    return {item for item, found in labels.items() if has_categories(item, tables) or are_whole(item, found, tables)}


def are_whole(item: Item, labels: set[str], tables: Mapping[int, Relation]) -> bool:
    family = tables[item.row].columns[item.column].family
    clock = frozenset() if family is Family.DATE else frozenset(["hour", "minute"])
    return labels >= DIVIDED or any(day | clock <= labels for day in WHOLE_DAYS)


def has_categories(item: Item, tables: Mapping[int, Relation]) -> bool:
    """Of few values each comparison names some."""
    return tables[item.row].columns[item.column].categories is not None
