"""Login roles with clearances, and what their sessions see."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql
from tests.databases import Connection, Database, MakeRole

Row = tuple[Any, ...]


class Subjects:
    """One login role for each label, and one trusted one; sessions are kept."""

    def __init__(self, database: Database, admin: Connection, make_role: MakeRole) -> None:
        self.database = database
        self.admin = admin
        self._make_role = make_role
        self._roles: dict[tuple[str, bool], str] = {}
        self._sessions: dict[tuple[str, bool], Connection] = {}
        self._tables: list[str] = []

    def role(self, label: str, trusted: bool = False) -> str:
        """The login role that is cleared up to a label; it may do anything with the tables made here."""
        if (label, trusted) not in self._roles:
            letters = "".join(each if each.isalnum() else "_" for each in label.lower())
            role = self._make_role(letters, *(["discreet_trusted"] if trusted else []))
            self.admin.execute("SELECT discreet.mls_clear(%s, %s)", [role, label])
            self._roles[label, trusted] = role
            for table in self._tables:
                self.grant(table, role)
        return self._roles[label, trusted]

    def grant(self, table: str, role: str) -> None:
        statement = sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE ON {} TO {}")
        self.admin.execute(statement.format(sql.SQL(table), sql.Identifier(role)))

    def at(self, label: str) -> Connection:
        """The session of the role of a label."""
        return self._session(label, False)

    def trusted(self, label: str) -> Connection:
        return self._session(label, True)

    def _session(self, label: str, trusted: bool) -> Connection:
        if (label, trusted) not in self._sessions:
            self._sessions[label, trusted] = self.database.connect(self.role(label, trusted))
        return self._sessions[label, trusted]

    def another(self, label: str) -> Connection:
        """A fresh session of the role of a label."""
        return self.database.connect(self.role(label))

    def make_table(self, definition: str, name: str, key: list[str]) -> None:
        self.admin.execute(definition)
        self.admin.execute("SELECT discreet.mls_table(%s, %s)", [name, key])
        self._tables.append(name)
        for role in self._roles.values():
            self.grant(name, role)

    def seen(self, label: str, table: str = "employee", columns: str = "*") -> list[Row]:
        """The rows that a label shows, without their ids."""
        cursor = self.at(label).execute(f"SELECT {columns} FROM {table}")
        assert cursor.description is not None
        kept = [place for place, column in enumerate(cursor.description) if column.name != "row_id"]
        return sorted((tuple(row[place] for place in kept) for row in cursor.fetchall()), key=repr)


def refused(session: Connection, statement: str, *parameters: Any) -> psycopg.Error:
    """The error that a statement ends in."""
    try:
        session.execute(statement, parameters or None)
    except psycopg.Error as error:
        return error
    raise AssertionError(f"not refused: {statement}")
