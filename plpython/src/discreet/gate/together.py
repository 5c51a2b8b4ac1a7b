"""The rows of an answer, put together from stored numbers and those drawn now."""

from __future__ import annotations

from dataclasses import replace

from pglast import ast

from discreet.gate.consistent import consistent
from discreet.gate.measure import Released, Terms, assembled, domain_groups, shown_groups
from discreet.gate.plan import Plan
from discreet.gate.pricing import Asked
from discreet.gate.stored import Found, of_one_run, released_numbers, terms_with

Rows = list[list[object]]


def put_together(asked: Asked, due: Asked, found: Found, drawn: list[Released] | None) -> tuple[Asked, Rows]:
    """The question with the price that each measurement had, and its rows."""
    rows: Rows = []
    terms: list[Terms] = []
    plan = asked.plan
    if asked.empty:
        return asked, rows_of_nothing(plan)
    of_sets = [
        (domain_groups(plan, keys, asked.texts), released_numbers(found, n, None if drawn is None else drawn[n]))
        for n, keys in enumerate(plan.grouping.sets)
    ]
    in_all = sum(len(shown_groups(known, numbers)) for known, numbers in of_sets)
    for place, some in enumerate(asked.terms):
        terms.append(terms_with(some, place, found, None if drawn is None else due.terms[place]))
    together = of_one_run(found, due.plan.measurements if drawn is not None else ())
    known = [groups for groups, _ in of_sets]
    stated, estimates = consistent(plan, terms, known, [numbers for _, numbers in of_sets], together)
    for some, groups, numbers in zip(stated, known, estimates, strict=True):
        rows += assembled(plan, some, groups, numbers, in_all)
    return replace(asked, terms=stated, epsilon=due.epsilon, delta=due.delta), rows


def wants_no_rows(plan: Plan) -> bool:
    """LIMIT 0, by which tools ask for the columns of an answer."""
    limit = plan.levels[-1].select.limitCount
    return isinstance(limit, ast.A_Const) and getattr(limit.val, "ival", None) == 0


def rows_of_nothing(plan: Plan) -> Rows:
    """What PostgreSQL answers of no rows: no group, and without GROUP BY a count of 0 beside NULLs."""
    numbers = ["0" if aggregate.kind == "count" else None for aggregate in plan.aggregates]
    rows: Rows = []
    for place, keys in enumerate(plan.grouping.sets):
        if not keys:
            told = [place] if plan.tells_set else []
            errors = [*["0" for _ in plan.errors], *[None for _ in plan.margins]]
            rows.append([*[None] * len(plan.grouping.keys), *numbers, *errors, *told])
    return [] if wants_no_rows(plan) else rows
