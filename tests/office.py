"""A database as an analyst meets it: tables she may not read, a budget for the people in them, and her own schema."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dev.cluster import Cluster
from dev.postgresql import pg_config
from tests.databases import Database, created

PEOPLE = 2000
ANALYST, READER = "nora", "rita"

# Names, and the salary of person 1000, are canaries: in no answer, whatever the client, may one be seen.
CANARY = re.compile(r"canary|31415926\.5")

TABLES = f"""
    CREATE SCHEMA hr;
    CREATE TYPE hr.mood AS ENUM ('sad', 'glad');
    CREATE TABLE hr.person (
        id int PRIMARY KEY, name varchar(40) NOT NULL, dept text NOT NULL, grade char(2) NOT NULL,
        age smallint NOT NULL, salary numeric(12,2) NOT NULL, height double precision NOT NULL, weight real NOT NULL,
        badge bigint NOT NULL, smoker boolean NOT NULL, born date NOT NULL, hired timestamp NOT NULL,
        seen timestamptz NOT NULL, mood hr.mood NOT NULL);
    INSERT INTO hr.person
    SELECT n, 'canary ' || n, 'dept ' || n % 4, 'g' || n % 3, 18 + n % 60, 1000 + n, 1.5 + n % 50 / 100.0, 50 + n % 60,
           10000000000 + n, n % 4 = 0, date '1950-01-01' + n, timestamp '2001-01-01 08:00' + n * interval '1 day',
           timestamptz '2021-01-01 08:00+00' + n * interval '1 hour', (ARRAY['sad', 'glad'])[1 + n % 2]::hr.mood
    FROM generate_series(1, {PEOPLE}) n;
    UPDATE hr.person SET salary = 31415926.5 WHERE id = 1000;
    CREATE TABLE hr.visit (
        id bigint PRIMARY KEY, person_id int NOT NULL REFERENCES hr.person, cost numeric(8,2) NOT NULL);
    INSERT INTO hr.visit SELECT n, 1 + n % {PEOPLE}, n % 100 FROM generate_series(1, 3000) n;
    CREATE TABLE hr.department (dept text PRIMARY KEY, city text NOT NULL);
    INSERT INTO hr.department SELECT 'dept ' || n, CASE WHEN n < 2 THEN 'Boston' ELSE 'Salem' END
    FROM generate_series(0, 3) n;
    COMMENT ON TABLE hr.person IS 'Everybody who works here.';
    ANALYZE;
    GRANT USAGE ON SCHEMA hr TO PUBLIC;
    GRANT SELECT ON hr.department TO PUBLIC;
    GRANT SELECT ON hr.person, hr.visit TO {READER};
    CREATE SCHEMA {ANALYST} AUTHORIZATION {ANALYST};
    SELECT discreet.create_dataset('people', 1000, 1e-3);
    SELECT discreet.protect('hr.person', 'id', 'people'),
           discreet.protect('hr.visit', 'person_id', 'people', max_rows => 2),
           discreet.protect('hr.department', NULL, policy => 'public');
    SELECT discreet.describe_column('hr.person', 'dept', categories => ARRAY['dept 0', 'dept 1', 'dept 2', 'dept 3']),
           discreet.describe_column('hr.person', 'smoker', categories => ARRAY['true', 'false']),
           discreet.describe_column('hr.person', 'salary', 0, 5000),
           discreet.describe_column('hr.person', 'age', 0, 120),
           discreet.describe_column('hr.person', 'height', 0, 3),
           discreet.describe_column('hr.visit', 'cost', 0, 100);
    SELECT discreet.grant_budget('people', '{ANALYST}', 1000, 1e-3);
    ALTER ROLE {ANALYST} IN DATABASE office SET discreet.epsilon = 10;
"""

# At epsilon 10 the noise of a count of single people is beyond this with a probability of 2 exp(-40) < 1e-17.
NOISE = 4


RESET = """
    UPDATE discreet._budget SET amount_spent = 0, delta_spent = 0;
    TRUNCATE discreet._charge, discreet._refusal, discreet._answer;
"""


class Office:
    """The database, seen by the analyst and by a superuser."""

    def __init__(self, database: Database, analyst: str = ANALYST) -> None:
        self.database, self.analyst = database, analyst
        self.admin = database.connect()

    def reset(self) -> None:
        """Nothing asked, nothing spent, nothing of the analyst's own."""
        own = f"DROP OWNED BY {self.analyst} CASCADE; CREATE SCHEMA {self.analyst} AUTHORIZATION {self.analyst};"
        self.admin.execute(f"SET client_min_messages = warning; {own} {RESET}".encode())

    @property
    def dsn(self) -> str:
        return self.database.dsn(self.analyst)

    def truth(self, query: str, parameters: Sequence[object] | None = None) -> list[tuple[Any, ...]]:
        return self.admin.execute(query, parameters).fetchall()

    def spent(self) -> Any:
        return self.truth("SELECT amount_spent FROM discreet._budget WHERE role = 0")[0][0]

    def questions(self) -> int:
        """How often the analyst was charged."""
        return int(self.truth("SELECT count(*) FROM discreet._charge")[0][0])

    def run(self, program: str, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """A client program of PostgreSQL; what it shows holds no canary."""
        command = [os.path.join(pg_config("--bindir"), program), *arguments]
        environment = {"PATH": os.environ["PATH"], "PSQLRC": os.devnull, "HOME": "/nonexistent", "PAGER": "cat"}
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, env=environment)
        assert not CANARY.search(done.stdout + done.stderr)
        return done

    def psql(self, text: str, *options: str) -> subprocess.CompletedProcess[str]:
        return self.run("psql", "-X", "-v", "VERBOSITY=verbose", *options, self.dsn, text=text)


@contextmanager
def opened(cluster: Cluster, template: str) -> Iterator[Office]:
    cluster.sql(f"CREATE ROLE {ANALYST} LOGIN IN ROLE discreet_analyst; CREATE ROLE {READER} LOGIN")
    with created(cluster, "office", template) as database:
        cluster.sql(TABLES, database.name)
        yield Office(database)
    cluster.sql(f"DROP ROLE {ANALYST}, {READER}")
