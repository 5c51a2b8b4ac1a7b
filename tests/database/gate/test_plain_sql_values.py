"""The questions about values in plain SQL: each is answered, with names and types of columns as PostgreSQL has them."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from dev.cluster import Cluster
from tests.corpus import lab
from tests.corpus.sample import questions
from tests.database.gate.conftest import Asker, protect
from tests.databases import Connection, created


@pytest.fixture(scope="module")
def laboratory(cluster: Cluster, template: str) -> Iterator[Asker]:
    with created(cluster, "lab_plain", template) as database:
        admin = database.connect()
        admin.execute(lab.DATA.encode())
        admin.execute("CREATE ROLE lab_analyst LOGIN; GRANT USAGE ON SCHEMA lab TO lab_analyst")
        admin.execute("SELECT discreet.create_dataset('lab', 1000, 0.1)")
        for relation in (lab.PERSON, lab.VISIT):
            protect(admin, relation)
        admin.execute("SELECT discreet.grant_budget('lab', 'lab_analyst', 1000, 0.1)")
        asker = Asker(database, "lab_analyst")
        try:
            yield asker
        finally:
            database.close()
    with psycopg.connect(cluster.dsn("postgres"), autocommit=True) as owner:
        owner.execute("DROP ROLE lab_analyst")


def shape(session: Connection, statement: str) -> list[tuple[str, int]]:
    cursor = session.execute(statement.encode())
    return [(column.name, column.type_code) for column in cursor.description or ()]


def test_every_question_is_answered_in_the_shape_that_postgresql_gives(laboratory: Asker) -> None:
    for session in (laboratory.connection, laboratory.admin):
        session.execute("SET TimeZone = 'UTC'; SET search_path = public, discreet")
    laboratory.connection.execute("SET discreet.epsilon = 50")
    differ = []
    for question in questions("values.sql"):
        laboratory.reset()
        try:
            given = shape(laboratory.connection, question.sql)
        except psycopg.Error as error:
            differ.append((question.sql, str(error)))
            continue
        wanted = shape(laboratory.admin, question.sql)
        if given != wanted:
            differ.append((question.sql, f"{given} and not {wanted}"))
    assert differ == []
