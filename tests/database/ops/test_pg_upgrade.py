"""pg_upgrade carries protections, budgets and the chain of charges over to the new cluster."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import psycopg
import pytest
from dev.cluster import Cluster, throw_away_folder
from dev.postgresql import pg_config
from tests.databases import FAST_AND_FORGETFUL

PEOPLE = """
    SET client_min_messages = warning;
    CREATE EXTENSION discreet CASCADE;
    CREATE ROLE gone; DROP ROLE gone;
    CREATE TABLE dropped (); DROP TABLE dropped;
    CREATE TABLE person (first int, id int PRIMARY KEY, age int, smoker boolean);
    ALTER TABLE person DROP first;
    SELECT discreet.rr_column('person', 'smoker', 1);
    INSERT INTO person SELECT n, n % 90, true FROM generate_series(1, 1000) n;
    SELECT discreet.protect('person', 'id', epsilon => 10);
    SELECT discreet.describe_column('person', 'age', 0, 100);
    CREATE ROLE alice LOGIN;
    SELECT discreet.grant_budget('public.person', 'alice', epsilon => 5);
    CREATE TABLE patient (id int PRIMARY KEY, illness text, insurance text UNIQUE);
    INSERT INTO patient SELECT n, 'flu ' || n, 'i-' || n FROM generate_series(1, 2000) n;
    SELECT discreet.create_key('ward', 'secret'), discreet.open_key('ward', 'secret');
    SELECT discreet.seal_column('patient', 'illness', 'ward');
    SELECT discreet.seal_column('patient', 'insurance', 'ward', searchable => true);
    ANALYZE patient;
"""
OPEN = "SELECT discreet.open_key('ward', 'secret'); "
FOUND = "SELECT illness FROM patient WHERE insurance = 'i-7'"
RESPONSES = "SELECT string_agg(smoker::text, '' ORDER BY id) FROM person"


TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'discreet'::regnamespace AND relkind = 'r' ORDER BY 1"


def state(cluster: Cluster) -> dict[str, str]:
    """All rows of all tables of the extension."""
    return {
        table: cluster.sql(f"SELECT string_agg(t::text, E'\\n' ORDER BY t::text) FROM discreet.{table} t")
        for table in cluster.sql(TABLES).splitlines()
    }


def ask(cluster: Cluster, question: str) -> None:
    with psycopg.connect(cluster.dsn(user="alice"), autocommit=True) as alice:
        alice.execute(question)


def upgrade(old: Cluster, new: Cluster, folder: Path) -> None:
    programs = pg_config("--bindir")
    command = [f"{programs}/pg_upgrade", "-b", programs, "-B", programs, "-d", str(old.data), "-D", str(new.data)]
    if os.getuid() == 0:
        command = ["runuser", "-u", old.user, "--", *command]
    done = subprocess.run([*command, "-U", "postgres"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_after_an_upgrade_all_is_known_that_was_declared_and_spent() -> None:
    with throw_away_folder() as folder:
        old, new = (Cluster(folder / name, settings=FAST_AND_FORGETFUL) for name in ("old", "new"))
        try:
            for cluster in (old, new):
                cluster.start()
            old.sql(PEOPLE)
            ask(old, "SELECT count(*), avg(age) FROM person")
            before = state(old)
            responses = old.sql(RESPONSES)
            for cluster in (old, new):
                cluster.stop()
            working = new.folder / "working"
            working.mkdir()
            working.chmod(0o777)
            upgrade(old, new, working)
            new.start()
            assert state(new) == before
            assert before["_charge"]
            assert new.sql("SELECT intact FROM discreet.verify_log()") == "t"
            # the declarations hold the columns they held, and the ledger goes on where it was
            ask(new, "SELECT avg(age) FROM person WHERE age < 50")
            assert new.sql("SELECT max(id), bool_and(intact) FROM discreet._charge, discreet.verify_log()") == "2|t"
            new.sql("UPDATE person SET smoker = true")
            assert new.sql(RESPONSES) == responses
            assert new.sql("SELECT count(*), count(illness), count(insurance) FROM patient") == "2000|0|0"
            new.sql("ANALYZE patient")
            assert new.sql(OPEN + FOUND).strip() == "flu 7"
            assert "Index Scan using patient_insurance_key" in new.sql(OPEN + "EXPLAIN " + FOUND)
            with pytest.raises(RuntimeError, match="patient_insurance_key"):
                new.sql(OPEN + "INSERT INTO patient VALUES (2001, 'flu', 'i-7')")
        finally:
            for cluster in (old, new):
                cluster.remove()
