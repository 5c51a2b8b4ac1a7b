"""What each table is counted by, before and after its columns have bins; and the models that are made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.synthesis.columns import Coarse
from discreet.synthesis.plan import SynthesisPlan
from discreet.synthesis.problem import Problem
from discreet.synthesis.statements import people_sql, rows_sql

# bins of the numbers of each table
Spreads = Mapping[int, Mapping[str, Coarse]]


def looking(plan: SynthesisPlan, seed: int) -> dict[int, str]:
    """What each table is looked at by before its columns have bins."""
    found = {}
    for n, table in enumerate(plan.tables):
        coded = table.first_coded()
        if coded:
            spec = table.first_layout().spec()
            found[n] = (
                people_sql(table.source, coded, (), spec) if table is plan.people
                else rows_sql(table.source, coded, table.most_rows, None, spec, seed)
            )  # fmt: skip
    return found


def counting(plan: SynthesisPlan, spreads: Spreads, seed: int) -> dict[int, str]:
    """What each model is counted by: 0 is that of the people."""
    problems = problems_of(plan, spreads)
    people = plan.people
    coded = [] if people is None else people.coded(spreads.get(0, {}))
    found = {0: people_sql(None if people is None else people.source, coded, plan.counted, problems[0].layout.spec())}
    for n, table in enumerate(plan.others, 1):
        own = table.coded(spreads.get(plan.tables.index(table), {}))
        if own:
            of_person = None if people is None else (people.source, coded)
            found[n] = rows_sql(table.source, own, table.most_rows, of_person, problems[n].layout.spec(), seed)
    return found


def problems_of(plan: SynthesisPlan, spreads: Spreads) -> dict[int, Problem]:
    """The models: the people with how many rows they have elsewhere; the rows of each table, given the person's own."""
    people = plan.people
    coded = [] if people is None else people.coded(spreads.get(0, {}))

    def place(names: Sequence[str]) -> int | None:
        return names.index(plan.target) if plan.target in names else None

    sizes = [each.size for each in coded]
    names = [each.column.name for each in coded]
    found = {0: Problem((*sizes, *(each.size for each in plan.counted)), 1, frozenset(), place(names))}
    for n, table in enumerate(plan.others, 1):
        own = table.coded(spreads.get(plan.tables.index(table), {}))
        target = place([each.column.name for each in own])
        found[n] = Problem(
            (*sizes, *(each.size for each in own)), table.most_rows, frozenset(range(len(sizes))),
            None if target is None else len(sizes) + target,
        )  # fmt: skip
    return found
