"""A session whose first statement loads the library: it would not be watched from its beginning."""

from __future__ import annotations

import psycopg
import pytest
from tests.databases import throw_away_cluster
from tests.versions import FORCE_WORKERS

BUILD = """
    SET client_min_messages = warning;
    CREATE EXTENSION discreet CASCADE;
    CREATE ROLE mls_late LOGIN;
    CREATE TABLE employee (name text PRIMARY KEY, salary int);
    INSERT INTO employee VALUES ('Smith', 1);
    GRANT SELECT, INSERT ON employee TO mls_late;
    SELECT discreet.mls_define(ARRAY['U', 'C']);
    SELECT discreet.mls_clear('mls_late', 'U');
    SELECT discreet.mls_table('employee', ARRAY['name']);
"""
READ, WRITE = "SELECT name, salary FROM employee", "INSERT INTO employee (name) VALUES ('Brown')"


def test_no_statement_of_such_a_session_reaches_a_multilevel_table() -> None:
    with throw_away_cluster() as cluster:
        cluster.sql(BUILD)
        cluster.stop()
        cluster.settings["shared_preload_libraries"] = ""
        cluster.start()
        with psycopg.connect(cluster.dsn(user="mls_late"), autocommit=True) as session:
            for statement in (READ, READ, f"EXPLAIN ANALYZE {READ}", WRITE):
                with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="shared_preload_libraries"):
                    session.execute(statement)
        cluster.sql("ALTER DATABASE postgres SET session_preload_libraries = 'discreet'")
        with (
            psycopg.connect(cluster.dsn(user="mls_late"), autocommit=True) as session,
            pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="shared_preload_libraries"),
        ):
            session.execute(READ)
        cluster.stop()
        cluster.settings["shared_preload_libraries"] = "discreet"
        cluster.start()
        with psycopg.connect(cluster.dsn(user="mls_late"), autocommit=True) as session:
            session.execute(WRITE)
            session.execute(f"SET max_parallel_workers_per_gather = 2; {FORCE_WORKERS}")
            assert sorted(session.execute(READ).fetchall()) == [("Brown", None), ("Smith", 1)]
