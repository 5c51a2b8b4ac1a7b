"""An audited table, two analysts who may ask about it, and beside it what one would build without an audit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import psycopg
from dev.cluster import Cluster
from tests.databases import Connection, Database, created

PEOPLE, LEAST = 200, 10
ANALYSTS = ("ana", "bob")

TABLES = f"""
    CREATE SCHEMA hr;
    CREATE TABLE hr.employee (
        id int PRIMARY KEY, name text NOT NULL, dept text NOT NULL, gender text NOT NULL, age int, zip text NOT NULL,
        born date, salary numeric(12,2) NOT NULL, bonus int NOT NULL, weight float8 NOT NULL, children int NOT NULL,
        smoker boolean NOT NULL, pension numeric);
    CREATE TABLE hr.site (dept text PRIMARY KEY, city text NOT NULL);
    INSERT INTO hr.site
    SELECT 'dept ' || n, CASE WHEN n < 2 THEN 'Boston' ELSE 'Salem' END FROM generate_series(0, 4) n;
    CREATE VIEW hr.woman AS SELECT * FROM hr.employee WHERE gender = 'F';
    CREATE VIEW hr.rich AS SELECT * FROM hr.employee WHERE salary > 5000;
    SELECT discreet.protect('hr.employee', unit => 'id', policy => 'audited', min_group => {LEAST}),
           discreet.protect('hr.site', NULL, policy => 'public');
    SELECT discreet.describe_column('hr.employee', c, visibility => 'public')
    FROM unnest('{{id,name,dept,gender,age,zip,born}}'::name[]) c;
    SELECT discreet.describe_column('hr.employee', 'children', 0, 20),
           discreet.describe_column('hr.employee', 'id', 0, 10000, visibility => 'public'),
           discreet.describe_column('hr.employee', 'age', 0, 120, visibility => 'public');
    CREATE SCHEMA plain;
    -- sums and nothing else; with the size rule, or without
    CREATE FUNCTION plain.total(condition text, sized boolean) RETURNS numeric LANGUAGE plpgsql SECURITY DEFINER AS $$
    DECLARE people int; total numeric; everybody int;
    BEGIN
        EXECUTE 'SELECT count(*), sum(salary) FROM hr.employee WHERE ' || condition INTO people, total;
        SELECT count(*) INTO everybody FROM hr.employee;
        IF sized AND (people < {LEAST} OR everybody - {LEAST} < people AND people < everybody) THEN
            RAISE EXCEPTION 'too small or too large';
        END IF;
        RETURN total;
    END $$;
    GRANT USAGE ON SCHEMA hr, plain TO PUBLIC;
    GRANT SELECT ON hr.site TO PUBLIC;
    GRANT SELECT ON hr.woman, hr.rich TO {", ".join(ANALYSTS)};
"""
GRANTS = "SELECT discreet.grant_budget('hr.employee', '{}', 1)"

PEOPLE_AGAIN = f"""
    SET client_min_messages = warning;
    TRUNCATE hr.employee;
    INSERT INTO hr.employee
    SELECT n, 'name ' || n, 'dept ' || n % 5, CASE WHEN n % 2 = 0 THEN 'F' ELSE 'M' END, 20 + n % 40, 'zip ' || n % 11,
           date '1960-01-01' + n, 1000 + n * 7919 % 9973, n * 31 % 1009, 50 + n % 50 / 3.0, n % 4, n % 3 = 0, NULL
    FROM generate_series(1, {PEOPLE}) n;
    SELECT discreet.audit_reset('hr.employee', 'another test');
    TRUNCATE discreet._refusal;
"""


class Payroll:
    """The database, seen by its analysts and by a superuser."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.admin = database.connect()
        self.analysts = {name: database.connect(name) for name in ANALYSTS}

    def again(self) -> None:
        """The same people, about whom nothing was asked."""
        for connection in self.analysts.values():
            if connection.closed:
                raise AssertionError("a test closed a shared connection")
        self.admin.execute(PEOPLE_AGAIN)

    def ask(self, question: str, analyst: str = "ana") -> list[tuple[Any, ...]]:
        """The rows of a question in plain SQL."""
        return self.analysts[analyst].execute(question.encode()).fetchall()

    def ending(self, question: str, analyst: str = "ana") -> str:
        """ "answer", or the SQLSTATE of the error."""
        try:
            self.ask(question, analyst)
        except psycopg.Error as error:
            return str(error.sqlstate)
        return "answer"

    def explain(self, question: str, analyst: str = "ana") -> dict[str, Any]:
        ((told,),) = self.analysts[analyst].execute("SELECT discreet.explain(%s)", [question]).fetchall()
        return told

    def truth(self, query: str) -> list[tuple[Any, ...]]:
        return self.admin.execute(query.encode()).fetchall()

    def salary(self, person: int) -> Decimal:
        ((found,),) = self.truth(f"SELECT salary FROM hr.employee WHERE id = {person}")
        return Decimal(found)


class Door:
    """A way to ask for the sum of salaries of those whom a condition chooses; None: refused."""

    def __init__(self, payroll: Payroll) -> None:
        self.payroll = payroll
        self.asked = 0

    def total(self, condition: str) -> Decimal | None:
        self.asked += 1
        try:
            return self.sum(condition)
        except psycopg.Error:
            return None

    def sum(self, condition: str) -> Decimal | None:
        raise NotImplementedError

    def combined(self, *terms: tuple[int, str]) -> Decimal | None:
        """A sum of sums with their signs, if all of them are answered."""
        found = [(sign, self.total(condition)) for sign, condition in terms]
        if any(total is None for _, total in found):
            return None
        return sum((sign * total for sign, total in found if total is not None), Decimal(0))


class PlainDoor(Door):
    """Aggregates only, without an audit."""

    def __init__(self, payroll: Payroll, sized: bool = True) -> None:
        super().__init__(payroll)
        self.sized = sized

    def sum(self, condition: str) -> Decimal | None:
        connection = self.payroll.analysts["ana"]
        return connection.execute("SELECT plain.total(%s, %s)", [condition, self.sized]).fetchone()[0]  # type: ignore[index]


class AuditedDoor(Door):
    """The analysts take turns."""

    def sum(self, condition: str) -> Decimal | None:
        analyst = ANALYSTS[self.asked % len(ANALYSTS)]
        ((total,),) = self.payroll.ask(f"SELECT sum(salary) FROM hr.employee WHERE {condition}", analyst)
        return total


@contextmanager
def opened(cluster: Cluster, template: str) -> Iterator[Payroll]:
    for name in ANALYSTS:
        cluster.sql(f"CREATE ROLE {name} LOGIN IN ROLE discreet_analyst")
    with created(cluster, "payroll", template) as database:
        cluster.sql("SET client_min_messages = warning;" + TABLES, database.name)
        for name in ANALYSTS:
            cluster.sql(GRANTS.format(name), database.name)
        yield Payroll(database)
    cluster.sql(f"DROP ROLE {', '.join(ANALYSTS)}")


def connected(payroll: Payroll, analyst: str = "ana") -> Connection:
    """A session of the test's own."""
    return payroll.database.connect(analyst)
