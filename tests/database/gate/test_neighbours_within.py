"""What is computed within one person: with and without one, exact numbers differ by no more than planned.

The rows of the smaller database lie elsewhere, and other plans read them. Mutants show that the test would notice: the
same grammar finds each of them. `make fuzz` asks many more questions, each about three people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from random import Random
from typing import Any
from unittest import mock

import psycopg
import pytest
from tests.database.gate.exact import exact_totals, planned
from tests.database.gate.within_grammar import PathWorld, PersonQuestions, random_path_world
from tests.databases import Connection, Database

from discreet.core.errors import DiscreetError
from discreet.gate import numbers, people, printer, sources, subqueries, totality, tree, within
from discreet.gate.neighbours import excess
from discreet.gate.schema import Family

QUESTIONS, ASKED_EACH = 1500, 150
# worlds, and questions in each, after which a mutant must have been noticed
MOST_WORLDS, OF_A_MUTANT = 60, 60
PLANS = "SET jit = off; SET enable_hashagg = {0}; SET enable_hashjoin = {0}; SET enable_nestloop = {1}"


def accepted(world: PathWorld, random: Random, wanted: int) -> list[str]:
    """As many questions as wanted, of which the grammar promises that many are let in."""
    writer, found, written = PersonQuestions(random, world), list[str](), 0
    while len(found) < wanted:
        question, written = writer.question(), written + 1
        if planned(question, world.schema) is not None:
            found.append(question)
    assert len(found) > written / 3
    return found


def people_of(world: PathWorld, random: Random) -> list[str]:
    return random.sample(world.people, 3)


def findings(
    here: Connection, there: Connection, world: PathWorld, questions: list[str], person: str
) -> Iterator[object]:
    """What of the questions differs too much between all people here, and those without one there."""
    there.execute("BEGIN")
    there.execute(world.without(person))
    there.execute(world.elsewhere(int(person)))
    try:
        for question in questions:
            plan = planned(question, world.schema)
            assert plan is not None
            for before, after in zip(exact_totals(here, plan), exact_totals(there, plan), strict=True):
                found = excess(plan, before, after)
                if found:
                    yield world.name, person, question, found
    except psycopg.Error as error:
        yield world.name, person, question, str(error)
    finally:
        there.execute("ROLLBACK")
        if here.info.transaction_status:
            here.rollback()


@pytest.fixture
def connections(database: Database) -> tuple[Connection, Connection]:
    here, there = database.connect(), database.connect()
    here.execute(PLANS.format("on", "off").encode())
    there.execute(PLANS.format("off", "on").encode())
    return here, there


def test_one_person_changes_no_more_than_planned(
    connections: tuple[Connection, Connection], pytestconfig: pytest.Config
) -> None:
    here, there = connections
    wanted = pytestconfig.getoption("--questions")
    worlds = -(-(wanted or QUESTIONS) // ASKED_EACH)
    for number in range(worlds):
        random = Random(f"within {number}")
        world = random_path_world(random, f"w{number}")
        here.execute(world.script())
        questions = accepted(world, random, ASKED_EACH)
        for place, person in enumerate(people_of(world, random)):
            part = questions if wanted else questions[place::3]
            assert list(findings(here, there, world, part, person)) == []
        here.execute(f"DROP SCHEMA w{number} CASCADE")
        if wanted:
            print(f"{(number + 1) * ASKED_EACH} questions, each about three people", flush=True)


# -- mutants: each breaks one rule, and must be noticed


def without_ties() -> AbstractContextManager[Any]:
    sorting = printer.sorting
    return mock.patch.object(printer, "sorting", lambda order, ties: sorting(order, ()))


def sums_in_row_order() -> AbstractContextManager[Any]:
    held = printer.within

    def mutant(node: tree.Within) -> str:
        if node.name == "sum" and node.argument is not None and node.argument.family is Family.FLOAT:
            return f"pg_catalog.sum(({printer.printed(node.argument)})::float8)"
        return held(node)

    return mock.patch.dict(printer.PRINTERS, {tree.Within: mutant})


def windows_over_two_people() -> AbstractContextManager[Any]:
    over = printer.over
    return mock.patch.object(printer, "over", lambda window: over(replace(window, partition=window.partition[1:])))


def intervals_believed() -> AbstractContextManager[Any]:
    def bare(value: tree.Expression, node: object) -> tree.Expression:
        if value.interval is None:
            raise DiscreetError("no bounds", "none")
        return value

    return Several(
        mock.patch.object(numbers, "clamped", bare), mock.patch.object(totality, "is_bounded", return_value=True)
    )


def scalars_of_two_rows() -> AbstractContextManager[Any]:
    return Several(
        mock.patch.object(subqueries, "has_one_row", return_value=True),
        mock.patch.dict(totality.RULES, {tree.Scalar: lambda node: True}),
        mock.patch.object(printer, "places", return_value=""),
    )


def wrong_intervals_of_sums() -> AbstractContextManager[Any]:
    held = within.aggregate

    def mutant(*arguments: Any) -> tree.Within:
        found = held(*arguments)
        if found.name != "sum" or found.argument is None:
            return found
        return replace(found, interval=found.argument.interval, raw=None)

    return mock.patch.object(within, "aggregate", mutant)


def keys_that_are_not_unique() -> AbstractContextManager[Any]:
    held = sources.parents_of

    def mutant(relation: Any) -> dict[str, str]:
        anything = {name: "any" for name, column in relation.columns.items() if column.family is Family.INT}
        return held(relation) | (anything if relation.protection is not None else {})

    return mock.patch.object(sources, "parents_of", mutant)


def windows_over_groups_of_two_people() -> AbstractContextManager[Any]:
    """Windows over the rows of a subquery lose the person; those over tables keep it."""
    over = printer.over

    def mutant(window: tree.Window) -> str:
        first = window.partition[0] if window.partition else None
        derived = isinstance(first, tree.Output) and first.name == tree.UNIT
        return over(replace(window, partition=window.partition[1:]) if derived else window)

    return mock.patch.object(printer, "over", mutant)


def groups_that_are_one_row() -> AbstractContextManager[Any]:
    held = people.of_groups

    def mutant(query: tree.PerPerson) -> people.People:
        found = held(query)
        return replace(found, single=found.single or found.led)

    return mock.patch.object(people, "of_groups", mutant)


class Several(AbstractContextManager[None]):
    def __init__(self, *each: AbstractContextManager[Any]) -> None:
        self._each = each

    def __enter__(self) -> None:
        for one in self._each:
            one.__enter__()

    def __exit__(self, *arguments: Any) -> None:
        for one in reversed(self._each):
            one.__exit__(*arguments)


Mutant = Callable[[], AbstractContextManager[Any]]
MUTANTS: list[Mutant] = [
    without_ties,
    sums_in_row_order,
    windows_over_two_people,
    intervals_believed,
    scalars_of_two_rows,
    wrong_intervals_of_sums,
    keys_that_are_not_unique,
    groups_that_are_one_row,
    windows_over_groups_of_two_people,
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_mutant_is_noticed(connections: tuple[Connection, Connection], mutant: Mutant) -> None:
    here, there = connections
    for number in range(MOST_WORLDS):
        random = Random(f"mutant {number}")
        world = random_path_world(random, f"m{number}")
        here.execute(world.script())
        try:
            with mutant():
                questions = accepted(world, random, OF_A_MUTANT)
                if any(any(findings(here, there, world, questions, person)) for person in people_of(world, random)):
                    return
        finally:
            here.execute(f"DROP SCHEMA m{number} CASCADE")
    pytest.fail("the mutant was not noticed")
