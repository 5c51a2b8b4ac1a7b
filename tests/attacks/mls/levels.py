"""A database with levels that cleared users attack, and what each of their statements tells them."""

from __future__ import annotations

from typing import Any

import psycopg
from tests.databases import Connection, Database, Row

LABELS = {"low": "U", "middle": "C", "high": "S", "nato": "S:NATO"}
CLEARED = """
    CREATE TABLE employee (name text PRIMARY KEY, salary int CHECK (salary > 0), perf text);
    GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON employee TO {roles};
    SELECT discreet.mls_define(ARRAY['U', 'C', 'S'], ARRAY['NATO']);
    SELECT discreet.mls_table('employee', ARRAY['name']);
"""
LOAD = """
    INSERT INTO employee (name, name_label, salary, salary_label, perf, perf_label)
    VALUES ('Smith', 'U', 40000, 'C', 'Fair', 'S'), ('Brown', 'C', 80000, 'S', 'Good', 'C')
"""


class Levels:
    """Sessions of login roles mls_low, mls_middle, mls_high, mls_nato and the trusted mls_trusted."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.admin = database.connect()

    def build(self) -> None:
        roles = {f"mls_{name}": label for name, label in LABELS.items()}
        for role in roles:
            self.admin.execute(f"CREATE ROLE {role} LOGIN")
        self.admin.execute("CREATE ROLE mls_trusted LOGIN IN ROLE discreet_trusted")
        roles["mls_trusted"] = "S:NATO"
        self.admin.execute(CLEARED.format(roles=", ".join(roles)))
        for role, label in roles.items():
            self.admin.execute("SELECT discreet.mls_clear(%s, %s)", [role, label])

    def drop_roles(self) -> None:
        self.admin.execute("DROP OWNED BY mls_low, mls_middle, mls_high, mls_nato, mls_trusted CASCADE")
        self.admin.execute("DROP ROLE mls_low, mls_middle, mls_high, mls_nato, mls_trusted")

    def reset(self) -> None:
        """Smith and Brown, as a trusted session has loaded them; nothing is asked yet."""
        self.admin.execute("DELETE FROM employee_mls; DELETE FROM discreet._label_spent; DELETE FROM discreet._charge")
        self.admin.execute("DELETE FROM discreet._refusal; DELETE FROM discreet._answer")
        with psycopg.connect(self.database.dsn("mls_trusted"), autocommit=True) as trusted:
            trusted.execute(LOAD)

    def at(self, name: str) -> Connection:
        """A fresh session."""
        return self.database.connect(f"mls_{name}")

    def tell_nothing(self, secret: list[str], probes: list[str], who: str = "low", by: str = "high") -> list[Row]:
        """What the probes tell, which must be the same whether or not a higher session did what is secret."""
        told = []
        for happens in (False, True):
            self.reset()
            session, higher = self.at(who), self.at(by)
            if happens:
                for statement in secret:
                    higher.execute(statement)
            told.append([outcome(session, probe) for probe in probes])
        assert told[0] == told[1]
        return told[0]


def outcome(session: Connection, statement: str) -> Row:
    """All that the client of a session is told, apart from random ids."""
    try:
        cursor = session.execute(statement)
    except psycopg.Error as error:
        told = error.diag
        return (
            told.sqlstate, told.message_primary, told.message_detail, told.message_hint, told.context,
            told.table_name, told.constraint_name,
        )  # fmt: skip
    rows: list[Any] = []
    if cursor.description is not None:
        kept = [place for place, column in enumerate(cursor.description) if column.name != "row_id"]
        rows = sorted((tuple(row[place] for place in kept) for row in cursor.fetchall()), key=repr)
    return cursor.statusmessage, rows


def refusal(session: Connection, statement: str) -> tuple[str | None, str]:
    """SQLSTATE and message of the error that a statement ends in."""
    try:
        session.execute(statement)
    except psycopg.Error as error:
        return error.sqlstate, error.diag.message_primary or ""
    raise AssertionError(f"not refused: {statement}")
