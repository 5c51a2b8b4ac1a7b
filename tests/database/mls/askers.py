"""Analysts with clearances: login roles that may ask about a multilevel table, and read none of it."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.errors import Diagnostic
from tests.database.mls.subjects import Subjects
from tests.databases import Connection, Row

STAFF = "CREATE TABLE staff (name text PRIMARY KEY, dept text, pay int)"
LIMIT = 1000
# noise at this price moves a count with probability below 1e-40, a sum of values up to 100 by 50 with one below 1e-20
EXACT = 100

Told = Row


class Askers:
    """Table staff with rows at U, C, S and C:NATO, protected; one asker for each label."""

    def __init__(self, subjects: Subjects) -> None:
        self.subjects = subjects
        self.admin = subjects.admin
        self._roles: dict[str, str] = {}
        self._sessions: dict[str, Connection] = {}
        subjects.make_table(STAFF, "staff", ["name"])

    def load(self) -> None:
        """At U 40 people, of whom 10 have a second version at C, and 5 of these a third at S; and some at others."""
        for label, people, dept in (("U", 40, "a"), ("C", 20, "b"), ("S", 10, "b"), ("C:NATO", 7, "a")):
            self.subjects.at(label).execute(
                "INSERT INTO staff (name, dept, pay) SELECT %s || n, %s, 10 FROM generate_series(1, %s) n",
                [label, dept, people],
            )
        changed = "UPDATE staff SET pay = %s WHERE name IN (SELECT 'U' || n FROM generate_series(1, %s) n)"
        self.subjects.at("C").execute(changed, [30, 10])
        self.subjects.at("S").execute(changed, [80, 5])

    def protect(self, **options: int) -> None:
        named = ", ".join(
            f"{name} => {value}" for name, value in ({"epsilon": LIMIT, "delta": 1e-6, "max_rows": 1} | options).items()
        )
        self.admin.execute(f"SELECT discreet.protect('staff', 'name', {named})")
        self.admin.execute("SELECT discreet.describe_column('staff', 'pay', 0, 100)")
        self.admin.execute("SELECT discreet.describe_column('staff', 'dept', categories => ARRAY['a', 'b'])")

    def role(self, label: str) -> str:
        if label not in self._roles:
            letters = "".join(each if each.isalnum() else "_" for each in label.lower())
            role = self.subjects._make_role(f"asks_{letters}")
            self.admin.execute("SELECT discreet.mls_clear(%s, %s)", [role, label])
            self.admin.execute("SELECT discreet.grant_budget('public.staff', %s, %s::numeric, 1e-6)", [role, LIMIT])
            self._roles[label] = role
        return self._roles[label]

    def at(self, label: str) -> Connection:
        """The session of the asker of a label."""
        if label not in self._sessions:
            self._sessions[label] = self.another(label)
        return self._sessions[label]

    def another(self, label: str) -> Connection:
        return self.subjects.database.connect(self.role(label))

    def ask(self, label: str, sql: str, epsilon: float = EXACT) -> list[dict[str, Any]]:
        return answers(self.at(label), sql, epsilon)

    def number(self, label: str, what: str, where: str = "true") -> int:
        """One number, nearly exact."""
        (row,) = self.ask(label, f"SELECT {what} AS number FROM staff WHERE {where}")
        return int(row["number"])

    def truth(self, label: str, what: str, where: str = "true") -> int:
        """The same from what a reader of the label sees, everybody counted once, with the mean of all versions."""
        people = "SELECT name, dept, avg(pay)::int AS pay FROM staff GROUP BY name, dept"
        rows = self.subjects.at(label).execute(f"SELECT {what} FROM ({people}) staff WHERE {where}").fetchall()
        return int(str(rows[0][0]))

    def spent(self, label: str) -> list[Told]:
        """What the asker of a label sees of the budgets at it: role or dataset, and what is spent."""
        return (
            self.at(label)
            .execute(
                "SELECT role IS NULL, label, epsilon_spent FROM discreet.budget_status WHERE label = %s ORDER BY 1",
                [label],
            )
            .fetchall()
        )


def answers(session: Connection, sql: str, epsilon: float = EXACT) -> list[dict[str, Any]]:
    rows = session.execute("SELECT * FROM discreet.query_json(%s, %s::numeric)", [sql, epsilon]).fetchall()
    return [row for (row,) in rows]


def told(session: Connection, statement: str) -> list[Told]:
    """All that a session is told: rows, notices and errors."""
    heard: list[Told] = []

    def hear(notice: Diagnostic) -> None:
        heard.append((notice.message_primary, notice.message_hint))

    session.add_notice_handler(hear)
    try:
        cursor = session.execute(statement)
        return heard + (cursor.fetchall() if cursor.description else [])
    except psycopg.Error as error:
        return [*heard, (error.sqlstate, error.diag.message_primary, error.diag.message_hint, error.diag.context)]
    finally:
        session.remove_notice_handler(hear)
