"""A shop with hidden columns, and an analyst with a schema of her own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

import psycopg
import pytest
from dev.cluster import Cluster
from psycopg import sql
from tests.databases import Connection, Database, MakeRole, created
from tests.shop import PROTECTED, TABLES


class Staging:
    """The analyst's connection, and what the superuser sees."""

    def __init__(self, database: Database, role: str, other: str) -> None:
        self.database, self.role, self.other = database, role, other
        self.admin, self.ana = database.connect(), database.connect(role)

    def spent(self) -> Decimal:
        row = self.admin.execute("SELECT amount_spent FROM discreet._budget WHERE role = 0").fetchone()
        assert row is not None
        return Decimal(row[0])

    @contextmanager
    def free(self) -> Iterator[None]:
        before = self.spent()
        yield
        assert self.spent() == before

    def columns(self, question: str) -> list[str]:
        """Those of a question that has no rows, and costs nothing."""
        with self.free():
            asked = self.ana.execute(question.encode())
            assert asked.fetchall() == []
        return [column.name for column in asked.description or ()]


@contextmanager
def staged(cluster: Cluster, template: str, make_role: MakeRole) -> Iterator[Staging]:
    role, other = make_role("ana"), make_role("bob")
    with created(cluster, f"staging_{role}", template) as database:
        admin = database.connect()
        admin.execute(TABLES)
        admin.execute(PROTECTED)
        admin.execute("SELECT discreet.grant_budget('customers', %s, 500, 0.005)", (role,))
        admin.execute(sql.SQL("CREATE SCHEMA mine AUTHORIZATION {}").format(sql.Identifier(role)))
        admin.execute("GRANT USAGE ON SCHEMA mine TO PUBLIC")
        yield Staging(database, role, other)


def refusal(connection: Connection, statement: str) -> str:
    """The SQLSTATE by which a statement is refused."""
    with pytest.raises(psycopg.Error) as refused:
        connection.execute(statement.encode())
    return str(refused.value.sqlstate)
