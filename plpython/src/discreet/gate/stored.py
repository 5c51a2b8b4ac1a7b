"""Measurements that were made before are given again, free of charge: which of a question's are stored, and under what.

What is stored is a measurement: its noisy number in every group, with its price, from which its error follows. Its key
holds whose rows are measured, which of them, the group keys in any order, what is measured, and the policy, and nothing
of the statement: names, order, arithmetic, HAVING and LIMIT stand around the same numbers. Giving a number again is
post-processing, so it costs nothing.

A question may also be answered from other measurements than its own:

- a sum from the number of values and the centred sum, of which an average was made; count(x) from the former;
- a question with conditions on one column from the cells of the same question grouped by this column. Each person has
  one row, hence is in one cell, and what a person changes in the cell is what the person changes in the answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.dp.grid import Grid
from discreet.dp.joint import JointNoise, JointPart
from discreet.dp.price import Accounting, Price
from discreet.gate.aggregates import AVERAGED, Aggregate, is_whole, of_each
from discreet.gate.excluded import conditions_about, nodes
from discreet.gate.grouping import Grouping, Key
from discreet.gate.keys import key_of
from discreet.gate.measure import Group, Released
from discreet.gate.measurements import SUM_BITS, Measurement, Quantity, Subject
from discreet.gate.plan import Plan
from discreet.gate.schema import NUMBERS
from discreet.gate.terms import PEOPLE, Terms
from discreet.gate.tree import Column, Expression, Output


@dataclass(frozen=True)
class Stored:
    """A measurement of one grouping set as it was released: its price, and delta where groups were thresholded.

    `joint`: the noise that it had together with others. `run`: what is common to all that was measured at once.
    """

    price: Price
    delta: Fraction
    numbers: Mapping[Group, int]
    joint: JointPart | None = None
    run: str | None = None


# of every measurement that is there for all grouping sets, one for each of them
Found = Mapping[Measurement, Sequence[Stored]]


def store_keys(plan: Plan, policy: str) -> dict[tuple[Measurement, int], str]:
    """The key of every measurement in every grouping set, as a hexadecimal number."""
    known = plan.known_store_keys.get(policy)
    if known is None:
        known = plan.known_store_keys[policy] = {
            (measurement, place): hashlib.sha256(
                json.dumps([policy, plan.key_of(same(measurement, plan), keys)]).encode()
            ).hexdigest()
            for measurement in plan.measurements
            for place, keys in enumerate(plan.grouping.sets)
        }
    return known


def same(measurement: Measurement, plan: Plan) -> Measurement:
    """The number of rows is that of people where each has one."""
    rows = measurement.quantity is Quantity.ROWS and measurement.subject == Subject()
    return replace(PEOPLE, own=measurement.own) if rows and plan.source.single else measurement


def in_order(plan: Plan, keys: tuple[int, ...]) -> list[int]:
    """The places of group keys in the order in which they are stored, whatever the order of the question is."""
    return sorted(keys, key=lambda place: key_of(plan.grouping.keys[place])) if len(keys) > 1 else list(keys)


def written(terms: Terms, measurement: Measurement, numbers: Mapping[Group, int], run: str) -> dict[str, object]:
    """A measurement of a grouping set, as the ledger keeps it beside the groups."""
    part = terms.joint_part(measurement)
    joint = (
        {}
        if part is None
        else {"widths": part.joint.widths, "scale": part.joint.scale, "place": part.place, "copies": part.copies}
    )
    return {
        "price": str(terms.price_of(measurement).amount),
        "joint": joint,
        "run": run,
        "delta": str(terms.delta),
        "numbers": list(numbers.values()),
    }


def written_groups(plan: Plan, keys: tuple[int, ...], groups: Iterable[Group]) -> list[list[str | None]]:
    """The groups of a grouping set, of which its measurements have numbers in this order."""
    places = in_order(plan, keys)
    return [[group[place] for place in places] for group in groups]


def read(plan: Plan, keys: tuple[int, ...], entry: Mapping[str, object]) -> Stored:
    places, groups, numbers = in_order(plan, keys), entry["groups"], entry["numbers"]
    assert isinstance(groups, list)
    assert isinstance(numbers, list)
    price = Price(Accounting(plan.dataset.accounting), Fraction(str(entry["price"])))
    width = len(plan.grouping.keys)
    found: dict[Group, int] = {}
    for texts, number in zip(groups, numbers, strict=True):
        held = dict(zip(places, texts, strict=True))
        found[tuple(held.get(place) for place in range(width))] = int(number)
    run = entry.get("run")
    return Stored(price, Fraction(str(entry["delta"])), found, joint_of(entry), None if run is None else str(run))


def joint_of(entry: Mapping[str, object]) -> JointPart | None:
    """The joint noise of a stored measurement; those of earlier versions had none."""
    held = entry.get("joint")
    if not isinstance(held, dict) or not held:
        return None
    noise = JointNoise(tuple(map(int, held["widths"])), int(held["scale"]))
    return noise.of_number(int(held["place"]), int(held.get("copies", 1)))


def found_in(
    plan: Plan,
    keys: Mapping[tuple[Measurement, int], str],
    entries: Mapping[str, Mapping[str, object]],
    known: Sequence[list[Group] | None],
) -> dict[Measurement, list[Stored]]:
    """The measurements of a plan that are stored in all groups of its answer; `known`: these, where they are known.

    Which groups of unknown keys are shown is a measurement itself: without it, no other is of use.
    """
    found = cells_in(plan, keys, entries)
    if any(groups is None for groups in known) and PEOPLE not in found:
        return {}
    shown = [found[PEOPLE][place].numbers if groups is None else groups for place, groups in enumerate(known)]
    return {
        measurement: stored
        for measurement, stored in found.items()
        if all(one.numbers.keys() >= set(groups) for one, groups in zip(stored, shown, strict=True))
    }


def cells_in(
    plan: Plan, keys: Mapping[tuple[Measurement, int], str], entries: Mapping[str, Mapping[str, object]]
) -> dict[Measurement, list[Stored]]:
    """The measurements of a plan that are stored, in whatever groups."""
    found: dict[Measurement, list[Stored]] = {}
    for measurement in plan.measurements:
        held = [entries.get(keys[measurement, place]) for place in range(len(plan.grouping.sets))]
        if all(entry is not None for entry in held):
            found[measurement] = [
                read(plan, some, entry or {}) for some, entry in zip(plan.grouping.sets, held, strict=True)
            ]
    return found


def of_found(found: Found, place: int) -> dict[Measurement, Mapping[Group, int]]:
    """The numbers of one grouping set."""
    return {measurement: stored[place].numbers for measurement, stored in found.items()}


def terms_with(terms: Terms, place: int, found: Found, drawn: Terms | None) -> Terms:
    """The terms of a grouping set in which each measurement has the price that was paid for it, now or before."""
    if not found and drawn is terms:
        return terms.all_paid
    paid = {measurement: stored[place].price for measurement, stored in found.items()}
    joint = {measurement: stored[place].joint for measurement, stored in found.items()}
    if drawn is not None:
        paid |= {m: drawn.price_of(m) for m in drawn.measured if m not in paid}
        joint |= {m: drawn.joint_part(m) for m in drawn.measured if m not in joint}
    delta = found[PEOPLE][place].delta if PEOPLE in found else terms.delta
    parts = tuple((measurement, part) for measurement, part in joint.items() if part is not None)
    return replace(terms, paid=tuple(paid.items()), drawn=parts, delta=delta)


# -- other ways to the same answer


def from_averages(plan: Plan) -> Plan | None:
    """The same question with its sums and counts of values made of what an average measures."""
    changed = tuple(map(of_parts, plan.aggregates))
    if changed == plan.aggregates:
        return None
    measurements = tuple(dict.fromkeys(m for aggregate in changed for m in aggregate.measurements))
    kept = tuple(m for m in plan.measurements if m == PEOPLE)
    return replace(plan, aggregates=changed, measurements=tuple(dict.fromkeys((*kept, *measurements))))


def of_parts(aggregate: Aggregate) -> Aggregate:
    (first, *_) = aggregate.measurements
    if aggregate.kind == "sum":
        parts = tuple(replace(part, own=first.own) for part in of_each(AVERAGED, first.subject))
        return replace(aggregate, kind="sum_of_parts", measurements=parts)
    value = first.subject.argument
    if aggregate.kind != "count" or first.quantity is not Quantity.ROWS or value is None or value.interval is None:
        return aggregate
    if value.family not in NUMBERS or not value.interval.usable:
        return aggregate
    grid = Grid.fit(value.interval.lower, value.interval.upper, SUM_BITS)
    subject = Subject(value, first.subject.condition, grid, is_whole(value))
    return replace(aggregate, measurements=(Measurement(Quantity.VALUES, subject, own=first.own),))


@dataclass(frozen=True)
class Wider:
    """A question whose cells hold the answer of another: the conditions on one column are gone, and it is a group key.

    `cell`: that key, where the narrower question does not group by it, so that one cell is its answer; `conditions`:
    those that are gone.
    """

    plan: Plan
    cell: Key | None
    conditions: tuple[Expression, ...]


def wider(plan: Plan) -> Iterator[Wider]:
    """Questions from which this one can be answered, where each person has one row and so is in one cell."""
    if not plan.source.single or plan.personal is not None:
        return
    columns = (node for condition in plan.conditions for node in nodes(condition))
    for column in dict.fromkeys(node for node in columns if isinstance(node, Column | Output)):
        about = tuple(condition for condition, value in conditions_about(column, plan.source, plan.conditions))
        about = tuple(condition for condition in about if condition in plan.conditions)
        if not about:
            continue
        rest = tuple(condition for condition in plan.conditions if condition not in about)
        grouping, cell = plan.grouping, None
        places = [place for place, key in enumerate(grouping.keys) if key.value == column]
        if not all(set(places) & set(some) for some in grouping.sets) or not places:
            cell = Key(column)
            if cell.domain is None or places:
                continue
            last = len(grouping.keys)
            grouping = Grouping((*grouping.keys, cell), tuple((*some, last) for some in grouping.sets))
        yield Wider(replace(plan, conditions=rest, grouping=grouping), cell, about)


def narrowed(found: Found, group: str | None) -> dict[Measurement, list[Stored]]:
    """The cells of one value of the last key, as a question that does not group by it has them."""
    return {
        measurement: [
            replace(one, numbers={cell[:-1]: number for cell, number in one.numbers.items() if cell[-1] == group})
            for one in stored
        ]
        for measurement, stored in found.items()
    }


def covers(plan: Plan, found: Iterable[Measurement]) -> bool:
    return set(plan.measurements) <= set(found)


def of_one_run(found: Found, drawn: Iterable[Measurement]) -> list[Measurement]:
    """The measurements whose numbers in all grouping sets come from one run."""
    runs = {measurement: {one.run for one in stored} for measurement, stored in found.items()}
    return [*(m for m, ids in runs.items() if len(ids) == 1 and None not in ids), *(m for m in drawn if m not in runs)]


def released_numbers(found: Found, place: int, drawn: Released | None) -> Released:
    numbers: Released = {measurement: dict(held) for measurement, held in of_found(found, place).items()}
    return numbers if drawn is None else numbers | drawn
