"""The sample data, protected as tests/corpus/sample.py describes them, and an analyst who may ask about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import pytest
from dev.cluster import Cluster
from psycopg import sql
from tests.corpus.sample import SCHEMA, TABLES
from tests.databases import Connection, Database, created

from discreet.gate.schema import Relation

PUBLIC = """
    CREATE TABLE hr.secret (id int PRIMARY KEY);
    CREATE TABLE census.voter (
        id int PRIMARY KEY, dob date, zip text, gender text, region text, roll_no int, voted boolean, party text,
        donation numeric, registered date, UNIQUE (dob, zip, gender), UNIQUE (region, roll_no));
    INSERT INTO census.voter
    SELECT id, date '1940-01-01' + id, (2000 + id % 7)::text, sex, region, id, id % 3 > 0,
           (ARRAY['Left', 'Centre', 'Right'])[id % 4], id % 11, date '2010-01-01' + id % 3000
    FROM census.person WHERE id <= 2000;
    CREATE TABLE club (member text, dob date, zip text, gender text, sport text);
    INSERT INTO club SELECT 'member ' || id, dob, zip, gender, 'chess' FROM census.voter WHERE id % 50 = 0;
    CREATE TABLE calendar (day date PRIMARY KEY, holiday text);
    INSERT INTO calendar
    SELECT date '1940-01-01' + n, CASE WHEN n % 99 = 0 THEN 'feast' END FROM generate_series(0, 2500) n;
    CREATE TABLE zip_area (zip text PRIMARY KEY, city text, population int);
    INSERT INTO zip_area
    SELECT zip, CASE WHEN zip < '02140' THEN 'Cambridge' ELSE 'Somerville' END, 1000 * row_number() OVER (ORDER BY zip)
    FROM (SELECT DISTINCT zip FROM clinic.patient WHERE zip <> '01742') z;
    CREATE TABLE ward_floor (ward text, floor int, beds int);
    INSERT INTO ward_floor
    SELECT DISTINCT ward, length(ward) % 4, ascii(ward) FROM clinic.visit UNION ALL SELECT 'Oncology', 9, 20;
    CREATE TABLE hr.visit (ward text PRIMARY KEY, minutes int);
    INSERT INTO hr.visit SELECT DISTINCT ward, 10 * length(ward) % 60 + 1 FROM clinic.visit;
    GRANT SELECT ON zip_area, ward_floor, club, calendar, hr.visit TO PUBLIC;
    GRANT USAGE ON SCHEMA hr, clinic, census TO PUBLIC;
"""

# of pure epsilons 1000, of those under zcdp 100
LARGEST = {name: 1000 if dataset.accounting == "pure" else 100 for name, dataset in SCHEMA.datasets.items()}


class Asker:
    """A role that asks, beside a superuser who looks at what that does."""

    def __init__(self, database: Database, role: str) -> None:
        self.database, self.role = database, role
        self.connection, self.admin = database.connect(role), database.connect()
        self.connection.prepare_threshold = None  # tests DEALLOCATE ALL

    def json(self, question: str, epsilon: object = 10, **options: object) -> list[dict[str, Any]]:
        """The rows of an answer as objects, whose keys are in no order of the question."""
        given = {"epsilon": None if epsilon is None else Decimal(str(epsilon))} | options
        named = "".join(f", {name} => %({name})s" for name in given)
        rows = self.connection.execute(f"SELECT discreet.query_json(%(sql)s{named})", {"sql": question} | given)
        return [row for (row,) in rows.fetchall()]

    def rows(self, question: str, epsilon: object = 10) -> list[tuple[Any, ...]]:
        """The rows of an answer, through a cursor."""
        with self.connection.transaction():
            self.connection.execute("SELECT discreet.ask(%s, %s, 'rows')", [question, Decimal(str(epsilon))])
            return self.connection.execute("FETCH ALL FROM rows").fetchall()

    def plain(self, statement: str, parameters: Sequence[object] | None = None) -> list[tuple[Any, ...]]:
        """The rows of a statement in plain SQL."""
        cursor = self.connection.execute(statement.encode(), parameters)
        return cursor.fetchall() if cursor.description else []

    def charges(self) -> list[tuple[Decimal, Decimal]]:
        """Epsilon and delta of what was paid, in its order."""
        return self.truth("SELECT epsilon, delta FROM discreet._charge ORDER BY id")

    def number(self, question: str, epsilon: object = 10) -> float:
        """The answer of one row and one column."""
        ((answer,),) = self.rows(question, epsilon)
        return float(answer)

    def explain(self, question: str, epsilon: object = None) -> dict[str, Any]:
        return self.connection.execute("SELECT discreet.explain(%s, %s)", [question, epsilon]).fetchone()[0]  # type: ignore[index]

    def truth(self, question: str) -> list[tuple[Any, ...]]:
        return self.admin.execute(question.encode()).fetchall()

    def spent(self, dataset: str) -> Decimal:
        ((amount,),) = self.truth(f"SELECT amount_spent FROM discreet._budget WHERE role = 0 AND dataset = '{dataset}'")
        return Decimal(amount)

    def reset(self) -> None:
        self.admin.execute(
            "UPDATE discreet._budget SET amount_spent = 0, delta_spent = 0;"
            "TRUNCATE discreet._charge, discreet._refusal, discreet._answer"
        )


def protect(connection: Connection, relation: Relation) -> None:
    name = sql.Identifier(relation.schema, relation.name).as_string(connection)
    kept = relation.protection
    if kept is None:
        connection.execute("SELECT discreet.protect(%s, NULL, policy => 'public')", [name])
    else:
        connection.execute(
            "SELECT discreet.protect(%s, %s, dataset => %s, max_groups => %s, max_rows => %s)",
            [name, kept.unit, kept.dataset, kept.max_groups, kept.max_rows],
        )
    for column in relation.columns.values():
        lower, upper = (
            (None, None) if column.bounds is None else (Decimal(float(end).__repr__()) for end in column.bounds)
        )
        categories = None if column.categories is None else list(column.categories)
        visibility = "hidden" if column.hidden else "sensitive"
        if column.bounds or categories or column.hidden:
            connection.execute(
                "SELECT discreet.describe_column(%s, %s, %s, %s, %s, %s)",
                [name, column.name, lower, upper, categories, visibility],
            )


@pytest.fixture(scope="session")
def gate_database(cluster: Cluster, sample_template: str) -> Iterator[Asker]:
    role = "gate_asker"
    cluster.sql(f"CREATE ROLE {role} LOGIN IN ROLE discreet_analyst")
    with created(cluster, "gate_sample", sample_template) as database:
        cluster.sql(PUBLIC, database.name)
        asker = Asker(database, role)
        for name, dataset in SCHEMA.datasets.items():
            asker.admin.execute(
                "SELECT discreet.create_dataset(%s, %s, 1e-4, %s)", [name, LARGEST[name], dataset.accounting]
            )
        for relation in TABLES:
            protect(asker.admin, relation)
            if relation.protection is not None and relation.protection.may_ask:
                asker.admin.execute(
                    "SELECT discreet.grant_budget(%s, %s, %s, 1e-4)",
                    [relation.protection.dataset, role, LARGEST[relation.protection.dataset]],
                )
        yield asker
    cluster.sql(f"DROP ROLE {role}")


@pytest.fixture
def asker(gate_database: Asker) -> Iterator[Asker]:
    """The analyst, with the largest budget for each dataset, nothing spent, nothing stored."""
    gate_database.reset()
    with gate_database.database.lent():
        yield gate_database
