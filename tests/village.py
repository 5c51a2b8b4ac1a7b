"""People with budgets of their own, an analyst who asks about them, and a superuser who sees what they have left."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from tests.databases import Connection, Database, MakeRole

# At epsilon 40 a count is wrong with a probability of 2 exp(-40) < 1e-16: it is as good as exact.
EXACT = 40

PERSON = """
    CREATE TABLE person (name text PRIMARY KEY, age int, blood text);
    INSERT INTO person VALUES ('ann', 20, 'A'), ('bob', 30, '0'), ('cid', 10, 'A');
    SELECT discreet.protect('person', 'name', 'people', policy => 'personal', unit_epsilon => {unit_epsilon}),
           discreet.describe_column('person', 'age', 0, 100),
           discreet.describe_column('person', 'blood', categories => ARRAY['A', 'B', '0']);
"""


class Village:
    """Table person, of ann (20, A), bob (30, 0) and cid (10, A), who have `unit_epsilon` each."""

    def __init__(self, database: Database, make_role: MakeRole, unit_epsilon: object = 1) -> None:
        self.database = database
        self.admin = database.connect()
        self.analyst = make_role("nora")
        self.admin.execute("SELECT discreet.create_dataset('people', 1)")
        self.admin.execute(PERSON.format(unit_epsilon=unit_epsilon))
        self.admin.execute("SELECT discreet.grant_budget('people', %s, 1000)", [self.analyst])
        self.nora = self.connect()

    def connect(self) -> Connection:
        return self.database.connect(self.analyst)

    def ask(self, sql: str, epsilon: object = "0.1", connection: Connection | None = None, **options: object) -> Any:
        """The rows of a fresh answer as objects."""
        given = {"epsilon": Decimal(str(epsilon)), "fresh": True} | options
        named = "".join(f", {name} => %({name})s" for name in given)
        asked = (connection or self.nora).execute(f"SELECT discreet.query_json(%(sql)s{named})", {"sql": sql} | given)
        return [row for (row,) in asked.fetchall()]

    def exact(self, sql: str) -> Any:
        """The rows of an answer that is as good as exact, about people whose budgets allow it."""
        return self.ask(sql, EXACT)

    def left(self, table: str = "person") -> dict[str, Decimal]:
        """What everybody has left who was met by a question."""
        rows = self.admin.execute("SELECT unit, epsilon_left FROM discreet._personal_left(%s)", [table])
        return {str(unit): Decimal(str(left)) for unit, left in rows.fetchall()}

    def protect(self, table: str, columns: str, rows: str, unit: str = "id", **options: object) -> None:
        """Makes a table of people with budgets of 100, and protects it in a dataset of its own name."""
        given = {"policy": "personal", "unit_epsilon": 100, "max_rows": 1} | options
        named = "".join(f", {name} => %({name})s" for name in given)
        self.admin.execute(f"CREATE TABLE {table} ({columns}); INSERT INTO {table} {rows}")
        self.admin.execute(f"SELECT discreet.protect('{table}', '{unit}'{named})", given)
        self.admin.execute(f"SELECT discreet.grant_budget('public.{table}', %s, 1000)", [self.analyst])
