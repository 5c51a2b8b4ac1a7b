"""Unit propagation: who the person of each row of a relation is, and how often one person may appear.

The rules, by types of relations (u: carries a unit, with at most one row per person if *single*):

    protected table                   u, single when its unit is unique and NOT NULL
    public table                      no unit
    u ⋈ u on both units               u; single when both are; INNER, or LEFT keeping the left side's unit;
                                      foreign keys must not show that the units name different people
    u ⋈ public, any condition         u; single when u is and the public side is matched on a unique key
    SELECT … FROM u WHERE …           u, as single as before: rows are only dropped and mapped; a view likewise
    u UNION ALL u of one dataset      u, not single; foreign keys likewise

Every rule keeps: adding or removing one person changes only rows that carry this person's unit (induction over the
tree: each row of the result is made from rows of one person and of public tables). All else is refused. What a person
may then change in the answer is bounded by the plan, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.gate.refusal import refuse
from discreet.gate.schema import Family
from discreet.gate.traces import Comparison, all_comparisons
from discreet.gate.tree import (
    UNIT,
    Column,
    Compare,
    Conversion,
    Derived,
    Either,
    Expression,
    Join,
    Map,
    Output,
    Rows,
    SamePerson,
    Table,
    Type,
    Union,
)
from discreet.gate.values import identifies, known_values, same_family

# every value of which has a double of its own
SMALL_TYPES = frozenset(["smallint", "integer"])


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
class People:
    """The people of a relation: `unit` names the person of a row, None for public rows.

    `single`: one person has at most one row. `owned`: every row has a person. `known_by`: the columns by which foreign
    keys know the people, None where no key tells.
    """

    unit: Expression | None = None
    dataset: str | None = None
    single: bool = False
    limits: Limits = field(default_factory=Limits)
    owned: bool = False
    known_by: frozenset[str] | None = None


def people_of(rows: Rows) -> People:
    """Whose rows these are. Refuses a relation in which the rows of two people could meet."""
    if isinstance(rows, Table):
        return of_table(rows)
    if isinstance(rows, Join):
        return of_join(rows)
    if isinstance(rows, Derived):
        found = of_query(rows.query)
        unit = found.unit and outward(found.unit, rows.place, UNIT, rows.alias)
        return replace(found, unit=unit)
    raise TypeError(type(rows).__name__)


def of_query(query: Map | Union) -> People:
    if isinstance(query, Union):
        return of_union(query)
    found = people_of(query.rows)
    return replace(found, unit=query.unit, owned=query.unit is not None)


def of_table(table: Table) -> People:
    kept = table.relation.protection
    if kept is None:
        return People()
    total = kept.max_total_rows
    if total is None and kept.single:  # what is joined to it keeps its own bound
        total = kept.max_groups * kept.max_rows
    limits = Limits(kept.max_groups, kept.max_rows, kept.max_epsilon, kept.max_delta, total)
    # single needs a unit that is NOT NULL in every part
    return People(table.unit, kept.dataset, kept.single, limits, kept.single, kept.people)


def of_join(join: Join) -> People:
    left, right = people_of(join.left), people_of(join.right)
    if left.unit is not None and right.unit is not None:
        linked = any(isinstance(condition, SamePerson) for condition in join.conditions)
        if not linked:
            refuse(
                "a join of people that is not on the person",
                hint="Join protected tables on their units: a.person = b.person.",
            )
        if left.dataset != right.dataset:
            refuse("a join of people of several datasets")
        single, limits = left.single and right.single, left.limits | right.limits
        return People(left.unit, left.dataset, single, limits, False, known_by_both(left, right))
    if join.kind == "LEFT" and left.unit is None and right.unit is not None:
        refuse(
            "RIGHT or FULL JOIN, or LEFT JOIN from public rows to people",
            hint="Write it with the people on the left.",
        )
    owners = right if left.unit is None else left
    once = isinstance(join.right, Table) and right.unit is None and is_matched_once(join.right, join.conditions)
    return replace(owners, single=owners.single and once, owned=False)


def is_matched_once(public: Table, conditions: Iterable[Expression]) -> bool:
    """Whether the conditions equate a unique key of a public table with columns of the other side.

    A key that is compared as a double is none, unless it is of 32 bits: 2**53 and 2**53 + 1 are one double. Nor is one
    of doubles, which are compared as numerics, and several of them may share one.
    """
    matched = set()
    for condition in conditions:
        if isinstance(condition, Compare) and condition.name == "=":
            columns = [side.argument if isinstance(side, Conversion) else side for side in condition.parts]
            sides = zip(condition.parts, columns, strict=True)
            mine = [(s, c) for s, c in sides if isinstance(c, Column) and c.place == public.place]
            if len(mine) == 1 and all(isinstance(column, Column | Output) for column in columns):
                ((side, column),) = mine
                if column.family is not Family.FLOAT and (side is column or column.type.name in SMALL_TYPES):
                    matched.add(column.name)
    return any(key <= matched for key in public.relation.unique_keys)


def of_union(union: Union) -> People:
    left, right = of_query(union.left), of_query(union.right)
    if left.dataset != right.dataset:
        refuse("UNION ALL of people of several datasets, or of people and public rows")
    if meet_in_a_cast(side.unit for side in (left, right)):
        refuse("UNION ALL of people who are named by values of several types")
    unit = None
    if left.unit is not None and right.unit is not None:
        unit = either(UNIT, left.unit, right.unit, True)
    limits = left.limits | right.limits
    return replace(left, unit=unit, single=False, limits=limits, known_by=known_by_both(left, right))


def known_by_both(left: People, right: People) -> frozenset[str] | None:
    """The people of two relations that are to be one person's rows; refused where foreign keys know them apart.

    Where no key tells about one of them, the curator's word holds: one dataset names its people by the same values.
    """
    if left.known_by is None or right.known_by is None:
        return left.known_by or right.known_by
    if not left.known_by & right.known_by:
        refuse(
            f"{min(left.known_by)} and {min(right.known_by)} name different people",
            hint="Where they are the same, a curator can say so by a foreign key, which may be NOT VALID.",
        )
    return left.known_by | right.known_by


def compared_in(rows: Rows) -> frozenset[Comparison]:
    """What decides which rows these are: all comparisons of its conditions."""
    if isinstance(rows, Table):
        return frozenset()
    if isinstance(rows, Join):
        return all_comparisons(rows.conditions) | compared_in(rows.left) | compared_in(rows.right)
    return compared_in_query(rows.query)


def compared_in_query(query: Map | Union) -> frozenset[Comparison]:
    if isinstance(query, Union):
        return compared_in_query(query.left) | compared_in_query(query.right)
    return all_comparisons(query.conditions) | compared_in(query.rows)


# -- columns of derived tables


def outward(value: Expression, place: int, name: str, alias: str) -> Output:
    """A column of a subquery, seen from outside; one that was taken over as it is, is still to be clamped."""
    return Output(
        place,
        name,
        alias,
        value,
        identifies=identifies(value),
        type=value.type,
        interval=value.interval,
        domain=known_values(value),
        nullable=value.nullable,
        raw=name if value.raw else None,
    )


def either(name: str, mine: Expression, theirs: Expression, units: bool, node: object = None) -> Either:
    """A column of UNION ALL. What holds of both sides holds of it."""
    family, _ = same_family([mine, theirs], node)
    interval = None
    if mine.interval is not None and theirs.interval is not None:
        interval = mine.interval | theirs.interval
    return Either(
        mine,
        theirs,
        identifies=identifies(mine) or identifies(theirs),
        type=Type(family, mine.type.name if units and mine.type.name == theirs.type.name else None),
        interval=interval,
        nullable=mine.nullable or theirs.nullable,
        raw=name if mine.raw or theirs.raw else None,
    )


def meet_in_a_cast(values: Iterable[Expression | None]) -> bool:
    """Whether PostgreSQL would cast one kind of number, or of time, to the other, which could fail, or make two one."""
    families = {value and value.family for value in values}
    return len(families) > 1 and families != {Family.INT, Family.NUMERIC}
