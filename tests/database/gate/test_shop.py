"""Questions of decision support about people over foreign keys: the answers are PostgreSQL's own, up to their error."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from dev.cluster import Cluster
from tests.corpus.sample import questions
from tests.database.gate.conftest import Asker
from tests.databases import Connection, Row, created
from tests.exactly import Columns, answered, asked_by, columns, differences, same_types
from tests.shop import PROTECTED, TABLES

from discreet.core.errors import DiscreetError

# of sums
GRID = 1e-6


@pytest.fixture(scope="module")
def shop(cluster: Cluster) -> Iterator[Asker]:
    with created(cluster, "shop") as database:
        admin = database.connect()
        for statements in ("CREATE EXTENSION discreet CASCADE", TABLES, PROTECTED, "CREATE ROLE shopkeeper LOGIN"):
            admin.execute(statements.encode())
        admin.execute("SELECT discreet.grant_budget('customers', 'shopkeeper', 1000, 0.01)")
        yield Asker(database, "shopkeeper")
        admin.execute("DROP OWNED BY shopkeeper; SELECT discreet.revoke_budget('customers', 'shopkeeper')")
        database.close()
        with psycopg.connect(cluster.dsn("postgres"), autocommit=True) as others:
            others.execute("DROP ROLE shopkeeper")


def truth(admin: Connection, question: str) -> tuple[Columns, list[Row]]:
    """PostgreSQL's answer about the rows that have a person."""
    admin.execute("BEGIN; SET LOCAL session_replication_role = replica")
    admin.execute("DELETE FROM shop.item WHERE order_id IS NULL")
    cursor = admin.execute(question.encode())
    rows = cursor.fetchall()
    admin.execute("ROLLBACK")
    return columns(cursor), rows


def compared(admin: Connection, question: str) -> list[object]:
    """What of an answer without noise differs from PostgreSQL's: names, types, rows, order."""
    mine, told = answered(admin, asked_by(admin, question, "shopkeeper"))
    expected, theirs = truth(admin, question)
    if not all(same_types(*pair) for pair in zip(told, expected, strict=True)):
        return [told, expected]
    return differences(question, mine, theirs, GRID)


def test_answers_without_noise_are_those_of_postgresql(shop: Asker) -> None:
    failed = []
    for question in (*questions("shop.sql"), *questions("people.sql")):
        try:
            found = compared(shop.admin, question.sql)
        except (psycopg.Error, DiscreetError) as error:
            shop.admin.execute("ROLLBACK")
            found = [str(error)]
        if found:
            failed.append(f"{question.sql}: {found}")
    assert not failed, "\n".join(failed)


def test_questions_over_paths_are_answered(shop: Asker) -> None:
    for question in list(questions("shop.sql"))[::4]:
        shop.admin.execute("UPDATE discreet._budget SET amount_spent = 0, delta_spent = 0")
        assert shop.json(question.sql, 100)
