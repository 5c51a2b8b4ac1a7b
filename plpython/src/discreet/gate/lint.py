"""Lint: what an asker may not expect of a question, each with its code; found by text and catalog alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.core import codes
from discreet.gate.plan import Plan

MANY_MEASUREMENTS = 5
MANY_COLUMNS = 3


@dataclass(frozen=True)
class Code:
    """What a code means; `details`: of a plan, or None when there is nothing to find. A refusal has its own words."""

    code: str
    finding: str
    hint: str
    details: Callable[[Plan], str | None] = lambda plan: None


def unknown_groups(plan: Plan) -> str | None:
    return "those with few people are left out" if plan.thresholds else None


def many_rows(plan: Plan) -> str | None:
    if plan.source.single:
        return None
    limits = plan.source.limits
    in_all = "" if limits.max_total_rows is None else f", {limits.max_total_rows} in all"
    return f"at most {limits.rows()} per group{in_all}"


def many_measurements(plan: Plan) -> str | None:
    count = len(plan.measurements)
    return f"{count} measurements share it" if count >= MANY_MEASUREMENTS else None


def few_people(plan: Plan) -> str | None:
    return ", ".join(plan.fixed_columns) if len(plan.fixed_columns) >= MANY_COLUMNS else None


def extremes(plan: Plan) -> str | None:
    ends = {Fraction(0), Fraction(1)}
    found = any(measurement.fraction in ends for measurement in plan.measurements)
    return "of small groups they say little" if found else None


def many_sets(plan: Plan) -> str | None:
    count = len(plan.grouping.sets)
    return f"{count} times epsilon" if count > 1 else None


# what a question may be refused for by its text
REFUSALS = (codes.REFUSED_SHAPE, codes.TRACKER, codes.NO_ACCESS, codes.MISSING_BOUNDS)

# From this table lint() finds and docs/reference.md tells.
CODES = (
    *(Code(each.sqlstate, each.meaning, each.what_to_do) for each in REFUSALS),
    Code("L001", "the groups are unknown", "A curator can declare categories.", unknown_groups),
    Code(
        "L002",
        "a person counts for a limited number of rows",
        "max_rows and max_total_rows of discreet.protect() say how many.",
        many_rows,
    ),
    Code("L003", "one epsilon is split over many numbers", "Fewer aggregates are more exact.", many_measurements),
    Code(
        "L004",
        "conditions compare many columns by value, so that few people may be left",
        "The noise does not shrink with the group: ask with fewer conditions, or for ranges.",
        few_people,
    ),
    Code("L005", "min and max are not the exact extremes", "Ask for percentile_cont(0.05) or (0.95).", extremes),
    Code("L006", "every grouping set is paid", "Leave out the sets that are not needed.", many_sets),
)


def findings(plan: Plan) -> list[tuple[str, str, str]]:
    """Code, finding and hint of everything that is worth telling about a question that can be answered."""
    found = [(code, code.details(plan)) for code in CODES]
    return [(code.code, f"{code.finding}: {details}", code.hint) for code, details in found if details is not None]
