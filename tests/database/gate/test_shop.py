"""Questions of decision support about people over foreign keys: the answers are PostgreSQL's own, up to their error."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from dev.cluster import Cluster
from tests.corpus.sample import questions
from tests.database.gate.conftest import Asker
from tests.databases import Connection, created
from tests.exactly import answered
from tests.shop import PROTECTED, TABLES

from discreet.core.errors import DiscreetError

# noise on sums, and so what an answer shows of them, is coarser than the grid
GRID = Decimal("0.002")


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


def truth(admin: Connection, question: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """PostgreSQL's answer about the rows that have a person."""
    admin.execute("BEGIN; SET LOCAL session_replication_role = replica")
    admin.execute("DELETE FROM shop.item WHERE order_id IS NULL")
    cursor = admin.execute(question.encode())
    rows = cursor.fetchall()
    admin.execute("ROLLBACK")
    return [column.name for column in cursor.description or ()], rows


def is_same(mine: Any, theirs: Any) -> bool:
    """Equal, or a number that is as near as the grid."""
    if mine is None or theirs is None or isinstance(theirs, str):
        return bool(mine == theirs)
    return abs(Decimal(str(mine)) - Decimal(str(theirs))) <= abs(Decimal(str(theirs))) * GRID + GRID


def keyed(rows: list[tuple[Any, ...]]) -> dict[tuple[str, ...], tuple[Any, ...]]:
    """Rows by their texts, which are the keys."""
    return {tuple(value for value in row if isinstance(value, str)): row for row in rows}


def numbered(place: int) -> tuple[str, ...]:
    return (str(place),)


def differences(admin: Connection, question: str) -> list[object]:
    """What of an answer without noise differs from PostgreSQL's. Declared groups that are empty appear, too."""
    (names, mine), (expected, theirs) = answered(admin, question, "shopkeeper"), truth(admin, question)
    groups, known = keyed(mine), keyed(theirs)
    empty = [row for keys, row in groups.items() if keys not in known]
    numbers = [value for row in empty for value in row if not isinstance(value, str)]
    if names != expected or not known.keys() <= groups.keys() or any(numbers):
        return [names, expected, mine, theirs]
    if len(known) < len(theirs):  # its keys are numbers, and it has an order
        groups, known = (dict(zip(map(numbered, range(len(rows))), rows, strict=True)) for rows in (mine, theirs))
    pairs = [pair for keys, row in known.items() for pair in zip(groups[keys], row, strict=True)]
    return [pair for pair in pairs if not is_same(*pair)]


def test_answers_without_noise_are_those_of_postgresql(shop: Asker) -> None:
    failed = []
    for question in questions("shop.sql"):
        try:
            found = differences(shop.admin, question.sql)
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
