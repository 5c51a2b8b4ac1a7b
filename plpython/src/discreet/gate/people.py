"""Unit propagation: who the person of each row of a relation is, and how often one person may appear.

Theorem. Call a computation 1-stable in people when adding or removing one person adds or removes this person's rows of
the result and changes no other person's. A computation that treats each person apart is 1-stable, whatever is inside:
let f be any function from the rows of one person to rows, and let the result be the union of f(rows of p) over all
people p. Without p, the union lacks f(rows of p), and each other term is what it was. Public rows may enter f: they
stay the same. So it is enough that each rule below is such an f, and that it is a *function*: its result must not
depend on where rows lie, on the plan, or on which of several equal values came first.

The rules, by types of relations (u: carries a unit, with at most one row per person if *single*):

    protected table                   u, single when its unit is unique and NOT NULL; over a path of foreign keys, the
                                      unit is that of the parent, which a unique key finds; without a parent, no person
    public table, rows of a question  no unit
    u ⋈ u on both units               u; single when both are; INNER, LEFT, RIGHT and FULL, with the unit of the side
                                      that is kept; foreign keys must not show that the units name different people
    u ⋈ u on one parent               u; the rows are, or belong to, one row of a protected table, which has one person
    u ⋈ elements of its own value     u: the first elements of an array or of jsonb, whose order is part of the value
    u ⋈ public, any condition         u; single when u is and the public side is matched on a unique key
    SELECT … FROM u WHERE …           u, as single as before: rows are only dropped and mapped; a view likewise
    … GROUP BY unit, keys HAVING …    u: groups hold rows of one person; single without keys. Aggregates are exact, so
                                      the order of rows does not count (tree.Within)
    window functions                  u: PARTITION BY includes the unit. Where the order of peers would count, all
                                      columns that the query uses break ties: rows that agree in them are the same row
    DISTINCT ON (unit, …)             u, likewise; single when it is on the unit alone; over windows, in a subquery of
                                      their own, whose columns break ties, too
    … ORDER BY … LIMIT n              only in a subquery whose rows are all of one person, with ties likewise broken
    subqueries in expressions         rows of the person of the row around them, or public ones: a function of both; for
                                      person IN (…), those of all people, without NULL, which would be compared to all
    u UNION ALL u of one dataset      u, not single; foreign keys likewise
    UNION, INTERSECT, EXCEPT          likewise, where the unit is one of the columns that are compared; the last two as
                                      single as the left side, UNION when the unit is the only column

All else is refused. What a person may then change in the answer is bounded by the plan, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.gate.nullness import may_be_null
from discreet.gate.refusal import refuse
from discreet.gate.schema import Family
from discreet.gate.traces import Comparison, all_comparisons, told_apart
from discreet.gate.tree import (
    UNIT,
    Among,
    Choice,
    Column,
    Compare,
    Conversion,
    Derived,
    Either,
    Elements,
    Exists,
    Expression,
    Join,
    Listing,
    Output,
    PerPerson,
    Placed,
    Quantified,
    Query,
    Rows,
    SameParent,
    SamePerson,
    Scalar,
    Series,
    Table,
    Type,
    Union,
    Window,
    Within,
    deciding,
    telling_apart,
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
    keys know the people, None where no key tells. `led`: the person of a row is that of the row it is joined to, so
    that it needs no unit of its own.
    """

    unit: Expression | None = None
    dataset: str | None = None
    single: bool = False
    limits: Limits = field(default_factory=Limits)
    owned: bool = False
    known_by: frozenset[str] | None = None
    led: bool = False

    @property
    def public(self) -> bool:
        return self.dataset is None


def people_of(rows: Rows) -> People:
    """Whose rows these are. Refuses a relation in which the rows of two people could meet."""
    if isinstance(rows, Table):
        return of_table(rows)
    if isinstance(rows, Join):
        return of_join(rows)
    if isinstance(rows, Elements):  # they belong to the row before them, as public rows would
        return People(limits=Limits(max_rows=rows.most))
    if isinstance(rows, Listing | Series):
        return People()
    if isinstance(rows, Derived):
        found = of_query(rows.query)
        if found.led and not rows.lateral:
            refuse("a subquery that has no person of its own")
        unit = found.unit and outward(found.unit, rows.place, UNIT, rows.alias)
        return replace(found, unit=unit)
    raise TypeError(type(rows).__name__)


def of_query(query: Query) -> People:
    if isinstance(query, Union):
        return of_union(query)
    if isinstance(query, PerPerson):
        return of_groups(query)
    found = people_of(query.rows)
    apart = found.public or is_led(query)
    placed = bool(query.first) or query.most is not None or query.skip > 0
    sorting = (*query.first, *(key.value for key in query.order))
    for window in windows_of((*(value for _, value in query.columns), *sorting)):
        if found.unit not in window.partition and not apart:
            refuse("a window over the rows of several people", hint="Add the person to PARTITION BY.")
        if placed:
            # rows that agree in all columns have several numbers, and which of them comes first is not decided;
            # sources.py puts one into a subquery of the other
            raise ValueError("window functions beside DISTINCT ON or LIMIT")
    refuse_orders_of_ties(value for _, value in query.columns)
    if query.first and query.unit not in query.first and not found.public:
        refuse("DISTINCT ON without the person", hint="Write DISTINCT ON (person, …).")
    if (query.most is not None or query.skip) and not apart:
        refuse("LIMIT below the aggregation", hint=LIMITED)
    single = found.single or set(query.first) == {query.unit}
    return replace(found, unit=query.unit, single=single, owned=query.unit is not None)


def refuse_orders_of_ties(values: Iterable[Expression]) -> None:
    """Rows that agree in all columns have several numbers. One sort gives these to them, whichever row gets which.

    A second sort pairs its numbers with those of the first by where the rows lie, and other people's rows change that.
    """
    if len({(window.partition, window.order) for window in windows_of(values) if window.ties}) > 1:
        refuse("two orders of rows in one SELECT", hint="Put one of the window functions into a subquery of the other.")


LIMITED = "To keep the first rows of each person, number them: row_number() OVER (PARTITION BY person ORDER BY …)."


def of_groups(query: PerPerson) -> People:
    """Grouped by the unit alone a person has one row, with keys one for each of their values.

    So it is in a subquery about one person, which need not group by the unit.
    """
    found = people_of(query.rows)
    if any(windows_of((*(value for _, value in query.columns), *query.keys, *query.having))):
        raise ValueError("window functions beside GROUP BY")  # sources.py puts the groups into a subquery
    if query.unit is not None:
        if query.unit != found.unit:
            refuse("GROUP BY other than by the person")
        return replace(found, single=not query.keys, owned=True)
    if found.public:
        return found
    if not is_led(query):
        refuse("an aggregate of several people below the aggregation", hint="Add the person to its GROUP BY.")
    return replace(found, unit=None, single=not query.keys, led=True)


def is_row_by_row(rows: Rows) -> bool:
    """Whether each row of a relation is made of one row of each of its tables, alone."""
    if isinstance(rows, Table):
        return not rows.path
    if isinstance(rows, Elements | Listing | Series):
        return False
    if isinstance(rows, Join):
        return is_row_by_row(rows.left) and is_row_by_row(rows.right) and not has_subqueries(rows.conditions)
    return is_query_row_by_row(rows.query)


def is_query_row_by_row(query: Query) -> bool:
    if isinstance(query, Union):
        return query.word == "UNION ALL" and is_query_row_by_row(query.left) and is_query_row_by_row(query.right)
    values = [value for _, value in query.columns]
    if isinstance(query, PerPerson) or query.first or query.most is not None or any(windows_of(values)):
        return False
    return is_row_by_row(query.rows) and not has_subqueries([*query.conditions, *values])


def has_subqueries(values: Iterable[Expression]) -> bool:
    waiting = list(values)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Exists | Quantified | Scalar | Among):
            return True
        waiting.extend(node.parts)
    return False


def refuse_strangers(values: Iterable[Expression], around: People) -> None:
    """Refuses a subquery that looks at other people than that of the row it stands beside."""
    waiting = list(values)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Exists | Quantified | Scalar | Among):
            found = of_query(node.query)
            own = found.public or isinstance(node, Among) or is_led(node.query)
            if not own or found.dataset not in (None, around.dataset):
                refuse("a subquery about other people than that of the row")
        waiting.extend(node.parts)


def is_led(query: Query) -> bool:
    """Whether all rows of a query are of the person of a row around it."""
    if isinstance(query, Union):
        return is_led(query.left) and is_led(query.right)
    if isinstance(query.rows, Derived) and query.rows.lateral and is_led(query.rows.query):
        return True  # it is alone in FROM, so that the row by which it is led is around the query, too
    inside = places_of(query.rows)
    return any(
        sum(side.place in inside for side in condition.parts if isinstance(side, Column | Output)) == 1
        for condition in query.conditions
        if isinstance(condition, SamePerson | SameParent)
    )


def places_of(rows: Rows) -> set[int]:
    if isinstance(rows, Join):
        return places_of(rows.left) | places_of(rows.right)
    return {rows.place}


def windows_of(values: Iterable[Expression]) -> Iterator[Window]:
    """The windows of these expressions, those of derived tables aside."""
    waiting = list(values)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Placed | Within) and node.window is not None:
            yield node.window
        waiting.extend(node.parts)


def of_table(table: Table) -> People:
    kept = table.relation.protection
    if kept is None:
        return People()
    total = kept.max_total_rows
    if total is None and kept.single:  # what is joined to it keeps its own bound
        total = kept.max_groups * kept.max_rows
    limits = Limits(kept.max_groups, kept.max_rows, kept.max_epsilon, kept.max_delta, total)
    # single needs a unit that is NOT NULL in every part
    unit = None if table.led else table.unit
    owned = kept.single and not table.path
    return People(unit, kept.dataset, kept.single, limits, owned, kept.people, table.led)


def of_join(join: Join) -> People:
    left, right = people_of(join.left), people_of(join.right)
    if not left.public and not right.public:
        return of_people(join, left, right)
    loses = {"LEFT": left.public, "RIGHT": right.public, "FULL": True}.get(join.kind, False)
    if loses and not (left.public and right.public):
        refuse(
            "RIGHT or FULL JOIN, or LEFT JOIN from public rows to people",
            hint="Write it with the people on the left.",
        )
    owners = right if left.public else left
    once = not left.public and isinstance(join.right, Derived) and has_one_row(join.right.query)
    public = join.left if left.public else join.right
    if isinstance(public, Table) and people_of(public).public:
        once = is_matched_once(public, join.conditions)
    return replace(owners, single=owners.single and once, owned=False)


def of_people(join: Join, left: People, right: People) -> People:
    linked = any(isinstance(condition, SamePerson | SameParent) for condition in join.conditions)
    linked |= isinstance(join.right, Derived) and join.right.lateral and is_led(join.right.query)
    if not linked:
        refuse(
            "a join of people that is not on the person",
            hint="Join protected tables on their units: a.person = b.person.",
        )
    if left.dataset != right.dataset:
        refuse("a join of people of several datasets")
    unit = right.unit if join.kind == "RIGHT" or (left.led and join.kind == "INNER") else left.unit
    if join.kind == "FULL":
        if left.unit is None or right.unit is None:
            refuse("a join in which rows lose their person")
        if not all(isinstance(condition, SamePerson) for condition in join.conditions):
            refuse("FULL JOIN on more than the person", hint="Filter the sides in subqueries of their own.")
        unit = Choice("COALESCE", (left.unit, right.unit), type=left.unit.type)
    single, limits = left.single and right.single, left.limits | right.limits
    return People(unit, left.dataset, single, limits, False, known_by_both(left, right), unit is None)


def has_one_row(query: Query) -> bool:
    """Whether it has at most one row, whatever the tables hold."""
    if isinstance(query, Union):
        return False
    if isinstance(query, PerPerson):
        return query.unit is None and not query.keys
    if query.most in (0, 1):
        return True
    table = query.rows
    return isinstance(table, Table) and of_table(table).public and is_matched_once(table, query.conditions)


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
        refuse(f"{union.word} of people of several datasets, or of people and public rows")
    if meet_in_a_cast(side.unit for side in (left, right)):
        refuse(f"{union.word} of people who are named by values of several types")
    unit = None
    if left.unit is not None and right.unit is not None:
        unit = either(UNIT, left.unit, right.unit, True)
    limits = left.limits | right.limits
    single = left.single and union.word not in ("UNION ALL", "UNION")
    if union.word != "UNION ALL" and unit is not None:
        columns = list(zip(columns_of(union.left), columns_of(union.right), strict=True))
        pairs = [pair for pair in columns if are_units(pair, (left, right))]
        if not pairs:
            refuse(f"{union.word} without the person", hint="Select the person at the same place on both sides.")
        single |= union.word == "UNION" and len(columns) == 1
    return replace(left, unit=unit, single=single, limits=limits, known_by=known_by_both(left, right))


def are_units(pair: tuple[Expression, Expression], people: tuple[People, People]) -> bool:
    return all(
        value == side.unit or (isinstance(value, Either) and isinstance(side.unit, Either) and value == side.unit)
        for value, side in zip(pair, people, strict=True)
    )


def columns_of(query: Query) -> list[Expression]:
    """What the columns of a query are, by their places."""
    if not isinstance(query, Union):
        return [value for _, value in query.columns]
    sides = zip(columns_of(query.left), columns_of(query.right), strict=True)
    return [either("", mine, theirs, mine.type == theirs.type) for mine, theirs in sides]


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
    if isinstance(rows, Table | Listing | Series):
        return frozenset()
    if isinstance(rows, Elements):
        return all_comparisons([rows.value])
    if isinstance(rows, Join):
        return all_comparisons(rows.conditions) | compared_in(rows.left) | compared_in(rows.right)
    return compared_in_query(rows.query)


def compared_in_query(query: Query) -> frozenset[Comparison]:
    apart = frozenset(told_apart(telling_apart(query)))
    if not isinstance(query, Union):
        return apart | all_comparisons(deciding(query)) | compared_in(query.rows)
    return apart | compared_in_query(query.left) | compared_in_query(query.right) | all_comparisons(query.compared)


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
        nullable=may_be_null(value),
        others=value.others,
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
        nullable=may_be_null(mine) or may_be_null(theirs),
        raw=name if mine.raw or theirs.raw else None,
    )


def meet_in_a_cast(values: Iterable[Expression | None]) -> bool:
    """Whether PostgreSQL would cast one kind of number, or of time, to the other, which could fail, or make two one."""
    families = {value and value.family for value in values}
    return len(families) > 1 and families != {Family.INT, Family.NUMERIC}
