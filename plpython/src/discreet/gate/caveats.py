"""What an answer does not cover: why PostgreSQL's own answer may lie outside the stated error.

Found by text and catalog alone, so that a caveat tells nothing of the data: each names what is possible, not what has
happened. The notice of an answer, the view last_answer and explain() say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

from discreet.gate import caveats_around as around
from discreet.gate.caveats_values import (
    clamped_values,
    expressions_below,
    expressions_of,
    long_texts,
    name_of,
    unknown_years,
)
from discreet.gate.excluded import conditions_about, constants_wanted
from discreet.gate.grouping import Key
from discreet.gate.known import kept_with_plan
from discreet.gate.measurements import Measurement, Quantity
from discreet.gate.moving import moved_clock
from discreet.gate.nullness import may_be_null
from discreet.gate.people import columns_of
from discreet.gate.periods import spans_text
from discreet.gate.plan import Plan
from discreet.gate.schema import Family
from discreet.gate.terms import Terms
from discreet.gate.tree import (
    Among,
    Call,
    Cast,
    Column,
    Constant,
    Derived,
    Elements,
    Listing,
    Logic,
    Query,
    Released,
    Rows,
    SamePerson,
    Series,
    Table,
    Union,
    every_node,
)

EPOCH = datetime(1970, 1, 1)
FIRST, LAST = datetime.min, datetime.max
# what they say of a moment depends on the zone, which some name
MOMENT_CALLS = {"extract": 2, "date_part": 2, "date_trunc": 2, "to_char": 2}


@kept_with_plan
def caveats(plan: Plan, terms: Sequence[Terms]) -> list[str]:
    """Of a question that can be answered; `terms` are those of its grouping sets."""
    found = [
        *limited_rows(plan),
        *rows_without_a_person(plan),
        *public_rows_alone(plan),
        *people_who_cannot_pay(plan),
        *small_groups(plan, terms),
        *values_outside(plan),
        *clamped_values(plan),
        *unknown_years(plan),
        *long_texts(plan),
        *days_in_utc(plan),
        *rows_of_other_periods(plan),
        *moved_clock(plan),
        *sampled_people(plan),
        *noisy_constants(plan),
        *nulls_of_not_in(plan),
        *around.rows_chosen_by_noise(plan),
        *around.groups_without_people(plan),
    ]
    return list(dict.fromkeys(found))


def limited_rows(plan: Plan) -> Iterator[str]:
    """How much of one person counts, where there can be more."""
    if plan.source.single:
        return
    limits = plan.source.limits
    by_rows = any(measurement.quantity is not Quantity.PEOPLE for measurement in plan.measurements)
    grouped = any(plan.grouping.sets)
    parts = []
    if by_rows:
        parts.append(f"rows per person limited to {limits.rows()}" + (" in a group" if grouped else ""))
    if grouped:
        start = "" if by_rows else "people limited "
        parts.append(f"{start}to {limits.max_groups} group{'s' if limits.max_groups > 1 else ''} of an answer")
    if by_rows and grouped and limits.rows(limits.max_groups) < limits.rows() * limits.max_groups:
        parts.append(f"to {limits.rows(limits.max_groups)} in all")
    if parts:
        yield ", ".join(parts)


def rows_without_a_person(plan: Plan) -> Iterator[str]:
    if drops_rows(plan.source.rows):
        yield "rows without a person left out"


def drops_rows(rows: Rows) -> bool:
    """Whether a row can have no person where PostgreSQL would keep it; a join on the person drops it in any case."""
    if isinstance(rows, Derived):
        return drops_rows_of_query(rows.query)
    if isinstance(rows, Elements | Listing | Series):
        return False
    if isinstance(rows, Table):
        single = rows.relation.protection is not None and rows.relation.protection.single
        return rows.unit is not None and not single and may_be_null(rows.unit)
    if any(isinstance(condition, SamePerson) for condition in rows.conditions):
        return rows.kind == "LEFT" and drops_rows(rows.left)
    return drops_rows(rows.left) or drops_rows(rows.right)


def drops_rows_of_query(query: Query) -> bool:
    if isinstance(query, Union):
        return drops_rows_of_query(query.left) or drops_rows_of_query(query.right)
    return drops_rows(query.rows)


def public_rows_alone(plan: Plan) -> Iterator[str]:
    """Public rows that no person is joined to: PostgreSQL has a row of NULLs for each, which count(*) counts."""
    if plan.source.listed is not None and any(map(counts_nulls, plan.measurements)):
        yield "public rows without a joined person not counted"


def counts_nulls(measurement: Measurement) -> bool:
    """Whether a row in which all columns of people are NULL would take part."""
    if measurement.quantity is Quantity.PEOPLE:
        return False
    value, condition = measurement.subject.argument, measurement.subject.condition
    return (value is None or not may_be_null(value)) and (condition is None or not may_be_null(condition))


def people_who_cannot_pay(plan: Plan) -> Iterator[str]:
    if plan.personal is not None:
        yield "people whose own budget is used up left out"


def small_groups(plan: Plan, terms: Sequence[Terms]) -> Iterator[str]:
    for least in sorted(thresholds(plan, terms)):
        yield f"groups with fewer than about {least} people not shown"


def thresholds(plan: Plan, terms: Sequence[Terms]) -> set[int]:
    """The number of people from which on a group is shown, about, of each grouping set that has such a number."""
    keys = plan.grouping.keys
    unknown = (not all(keys[key].known for key in some) for some in plan.grouping.sets)
    return {least_people(some) for hidden, some in zip(unknown, terms, strict=True) if hidden}


def least_people(terms: Terms) -> int:
    found = terms.threshold().threshold
    return found if terms.sample is None else terms.sample.scaled(found)


def values_outside(plan: Plan) -> Iterator[str]:
    """Group keys whose known values a curator has listed, and that may have others."""
    used = {place for some in plan.grouping.sets for place in some}
    for place in sorted(used):
        key = plan.grouping.keys[place]
        listed = any(isinstance(entry, Constant) and entry.declared for entry in key.domain or ())
        if listed and key.others is None and not is_complete(key) and not wants_listed(key, plan):
            yield f"values of {name_of(key.value)} outside its categories left out"


def is_complete(key: Key) -> bool:
    """Whether constraints let no value in that is none of those known."""
    columns = [node for node in every_node([key.value]) if isinstance(node, Column)]
    return all(column.complete for column in columns if column.domain is not None)


def wants_listed(key: Key, plan: Plan) -> bool:
    """Whether a condition lets nothing through but some of the values that are listed."""
    known = {written(entry) for entry in key.domain or ()}
    for condition, value in conditions_about(key.value, plan.source, plan.conditions):
        wanted = constants_wanted(condition, value)
        if wanted and all(written(constant) in known for constant in wanted):
            return True
    return False


def written(constant: Constant) -> str:
    held = constant.value
    return format(held.normalize(), "f") if isinstance(held, Decimal) else str(held)


def days_in_utc(plan: Plan) -> Iterator[str]:
    """Moments with a time zone that are taken apart: by the clock of UTC, whatever that of the session is."""
    for node in every_node([*expressions_of(plan), *expressions_below(plan.source.rows)]):
        moments = [part for part in node.parts if part.family is Family.TIMESTAMPTZ]
        taken_apart = isinstance(node, Call) and MOMENT_CALLS.get(node.name) == len(node.arguments)
        cast = isinstance(node, Cast) and node.family is not Family.TIMESTAMPTZ
        if moments and (taken_apart or cast):
            yield "days and hours counted in UTC"
            return


def rows_of_other_periods(plan: Plan) -> Iterator[str]:
    """Rows that conditions let through, and whose periods do not pay."""
    charged = plan.charged
    if charged is None or not charged.clipped:
        return
    spans = spans_text(charged.calendar, charged.numbers)
    undated = "" if charged.undated else " and without a date"
    yield f"rows dated outside {' and '.join(spans[:3])}{' …' if len(spans) > 3 else ''}{undated} left out"


def noisy_constants(plan: Plan) -> Iterator[str]:
    """Numbers that stand in the question as constants, and were released with noise."""
    nodes = every_node([*expressions_of(plan), *expressions_below(plan.source.rows)])
    if plan.within or any(isinstance(node, Released) for node in nodes):
        yield "a subquery about all people is answered with noise of its own, which the stated error does not include"
    for one in plan.within:
        for caveat in (
            *limited_rows(one),
            *rows_without_a_person(one),
            *clamped_values(one),
            *unknown_years(one),
            *days_in_utc(one),
        ):
            yield f"in the subquery: {caveat}"


def sampled_people(plan: Plan) -> Iterator[str]:
    if plan.sample is not None:
        yield f"estimated from a random {percent(plan.sample.rate)} % of the people"


def percent(rate: Fraction) -> str:
    return format((Decimal(100 * rate.numerator) / Decimal(rate.denominator)).normalize(), "f")


def nulls_of_not_in(plan: Plan) -> Iterator[str]:
    """A NULL among the people of NOT IN would decide about all people: PostgreSQL finds no person then."""
    for node in every_node([*expressions_of(plan), *expressions_below(plan.source.rows)]):
        denied = node.conditions[0] if isinstance(node, Logic) and node.word == "NOT" else None
        if isinstance(denied, Among) and any(may_be_null(column) for column in columns_of(denied.query)):
            yield "NULLs in the subquery of NOT IN left out"
            return
