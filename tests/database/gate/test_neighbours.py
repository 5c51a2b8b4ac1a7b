"""With and without one person: no exact number differs by more than planned, and plans do not differ at all.

Random tables with hostile rows, random questions from a grammar of what is let in. `--more` asks twenty times as many.
"""

from __future__ import annotations

from random import Random

import pytest
from tests.corpus.sample import questions
from tests.database.gate.conftest import Asker
from tests.database.gate.exact import exact_totals, planned
from tests.database.gate.grammar import Questions, World, random_world
from tests.databases import Database

from discreet.gate.neighbours import excess

WORLDS, MORE_WORLDS, ACCEPTED_EACH = 16, 320, 130


def heaviest(world: World) -> list[str]:
    """The person with most rows in all tables, and one with few."""
    rows = [row[0] for relation in world.relations if relation.protection for row in world.rows[relation.name]]
    ranked = sorted(world.people, key=rows.count)
    return [ranked[-1], ranked[len(ranked) // 2]]


def accepted(world: World, random: Random, wanted: int) -> list[str]:
    """As many questions as wanted, of which the grammar promises that most are let in."""
    found: list[str] = []
    writer, written = Questions(random, world), 0
    while len(found) < wanted:
        question, written = writer.question(), written + 1
        if planned(question, world.schema) is not None:
            found.append(question)
    assert len(found) > written / 2
    return found


def test_one_person_changes_no_more_than_planned(database: Database, more: bool) -> None:
    with_all, without_one = database.connect(), database.connect()
    for connection in (with_all, without_one):
        connection.execute("SET jit = off")
    asked = 0
    for number in range(MORE_WORLDS if more else WORLDS):
        random = Random(number)
        world = random_world(random, f"w{number}")
        with_all.execute(world.script())
        questions_of_world = accepted(world, random, ACCEPTED_EACH)
        for person, part in zip(heaviest(world), (questions_of_world[::2], questions_of_world[1::2]), strict=True):
            without_one.execute("BEGIN")
            without_one.execute(world.without(person))
            for question in part:
                plan = planned(question, world.schema)
                assert plan is not None
                here, there = exact_totals(with_all, plan), exact_totals(without_one, plan)
                for before, after in zip(here, there, strict=True):
                    assert excess(plan, before, after) == [], (number, person, question)
                asked += 1
            without_one.execute("ROLLBACK")
        with_all.execute(f"DROP SCHEMA w{number} CASCADE")
    assert asked >= 2000


@pytest.mark.parametrize("person", [13, 1])
def test_refusals_and_prices_do_not_differ(asker: Asker, person: int) -> None:
    asked = [question.sql for name in ("accepted.sql", "refused.sql") for question in questions(name)]
    before = [asker.explain(question) for question in asked]
    try:
        asker.admin.execute("BEGIN; SET LOCAL session_replication_role = replica")
        removed = {"clinic.visit": "patient_id", "clinic.patient": "id", "hr.employee": "id", "census.person": "id"}
        for table, unit in removed.items():
            asker.admin.execute(f"CREATE TABLE {table}_kept AS SELECT * FROM {table} WHERE {unit} = {person}")
            asker.admin.execute(f"DELETE FROM {table} WHERE {unit} = {person}")
        asker.admin.execute("COMMIT")
        assert [asker.explain(question) for question in asked] == before
    finally:
        for table in reversed(removed):
            asker.admin.execute(f"INSERT INTO {table} SELECT * FROM {table}_kept; DROP TABLE {table}_kept")
