"""How far one person moves the exact totals of a question: never further than the plan says.

For any two databases of which one lacks a person, and any question that the gate accepts, `excess` is empty. The tests
try random schemas, data and questions; discreet.selftest() tries the curator's own tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.dp.price import Accounting, Price
from discreet.gate.measurements import Measurement, Quantity
from discreet.gate.plan import Plan
from discreet.gate.printer import output_text, printed
from discreet.gate.printer import rows as rows_sql
from discreet.gate.terms import Terms
from discreet.gate.tree import BOOLEAN, TEXT, Compare, Constant, Conversion

Group = tuple[object, ...]


@dataclass(frozen=True)
class Totals:
    """Of one grouping set: per measurement and group a number, or the numbers of the bins of a quantile."""

    keys: tuple[int, ...]
    numbers: dict[Measurement, dict[Group, int]]
    bins: dict[Measurement, dict[Group, list[int]]]


def busiest_sql(asked: Plan) -> str:
    """SQL for the person with most rows in what a question reads, as a text."""
    assert asked.source.unit is not None
    unit = printed(asked.source.unit)
    return (
        f"SELECT {output_text(unit)} FROM {rows_sql(asked.source.rows)} WHERE {unit} IS NOT NULL"
        f" GROUP BY {unit} ORDER BY pg_catalog.count(*) DESC LIMIT 1"
    )


def without(asked: Plan, person: str) -> Plan:
    """The same question in a database that lacks the person of this text."""
    assert asked.source.unit is not None
    text = Conversion(asked.source.unit, "text", type=TEXT)
    other = Compare("<>", text, Constant(person, type=TEXT), type=BOOLEAN)
    return replace(asked, conditions=(*asked.conditions, other))


def excess(asked: Plan, here: Totals, there: Totals) -> list[str]:
    """What of the totals with and without one person differs by more than the plan says."""
    terms = Terms.of(asked, Price(Accounting.PURE, Fraction(1)), Fraction(0), here.keys)
    findings = []
    for measurement in asked.measurements:
        if measurement.quantity is Quantity.QUANTILE:
            most, in_all = terms.rows * terms.acts, terms.total * terms.acts
            moved = bins_moved(measurement, here, there)
            findings += losses_moved(measurement, here, there, terms)
        else:
            most, in_all = terms.in_group(measurement) * terms.acts, terms.in_all(measurement) * terms.acts
            moved = numbers_moved(here.numbers[measurement], there.numbers[measurement])
        if len(moved) > terms.reach:
            findings.append(f"{measurement} moved in {len(moved)} groups, not {terms.reach}")
        if sum(moved.values()) > in_all:
            findings.append(f"{measurement} moved by {sum(moved.values())} in all groups, not {in_all}")
        findings += [f"{measurement} moved by {by} in {group}, not {most}" for group, by in moved.items() if by > most]
    return findings + together_moved(terms, here, there)


def together_moved(terms: Terms, here: Totals, there: Totals) -> list[str]:
    """What moves further than the precondition of joint noise says (dp/joint.py)."""
    findings = []
    for members, _ in terms.together:
        parts: dict[Group, Fraction] = {}
        for measurement, part in members.items():
            for group, by in numbers_moved(here.numbers[measurement], there.numbers[measurement]).items():
                parts[group] = max(parts.get(group, Fraction(0)), Fraction(by, part.width))
        if max(parts.values(), default=0) > 1 or sum(parts.values()) > terms.groups:
            findings.append(f"{len(members)} measurements moved together by {parts}")
        if len(parts) > terms.reach:
            findings.append(f"{len(members)} measurements moved in {len(parts)} groups, not {terms.reach}")
    return findings


def numbers_moved(here: dict[Group, int], there: dict[Group, int]) -> dict[Group, int]:
    moved = {group: abs(here.get(group, 0) - there.get(group, 0)) for group in here.keys() | there.keys()}
    return {group: by for group, by in moved.items() if by}


def counts_of(measurement: Measurement, totals: Totals, group: Group) -> list[int]:
    assert measurement.bins is not None
    return totals.bins[measurement].get(group, [0] * measurement.bins.number)


def bins_moved(measurement: Measurement, here: Totals, there: Totals) -> dict[Group, int]:
    moved = {}
    for group in here.bins[measurement].keys() | there.bins[measurement].keys():
        pairs = zip(counts_of(measurement, here, group), counts_of(measurement, there, group), strict=True)
        moved[group] = sum(abs(a - b) for a, b in pairs)
    return {group: by for group, by in moved.items() if by}


def losses_moved(measurement: Measurement, here: Totals, there: Totals, terms: Terms) -> list[str]:
    held = terms.choice(measurement)
    findings = []
    for group in bins_moved(measurement, here, there):
        losses = [held.losses(counts_of(measurement, side, group)) for side in (here, there)]
        if max(abs(a - b) for a, b in zip(*losses, strict=True)) > held.choice.sensitivity:
            findings.append(f"a loss of {measurement} moved by more than {held.choice.sensitivity} in {group}")
    return findings
