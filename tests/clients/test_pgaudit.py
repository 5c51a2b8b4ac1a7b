"""pgaudit beside discreet: it logs who asked what; neither disturbs the other."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from dev.cluster import Cluster
from tests.databases import throw_away_cluster

PEOPLE = """
    SET client_min_messages = warning;
    CREATE EXTENSION pgaudit;
    CREATE EXTENSION discreet CASCADE;
    CREATE TABLE person (id int PRIMARY KEY, age int);
    INSERT INTO person SELECT n, n % 90 FROM generate_series(1, 1000) n;
    SELECT discreet.protect('person', 'id', epsilon => 10);
    CREATE ROLE alice LOGIN;
    SELECT discreet.grant_budget('public.person', 'alice', epsilon => 5);
"""


@pytest.fixture(params=["discreet,pgaudit", "pgaudit,discreet"])
def audited(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[Cluster]:
    if cluster.sql("SELECT count(*) FROM pg_available_extensions WHERE name = 'pgaudit'") == "0":
        pytest.skip("pgaudit is not installed (Debian: postgresql-15-pgaudit)")
    settings = {"shared_preload_libraries": request.param, "pgaudit.log": "read, write"}
    with throw_away_cluster(**settings) as running:
        running.sql(PEOPLE)
        yield running


def test_questions_are_answered_and_logged(audited: Cluster) -> None:
    with psycopg.connect(audited.dsn(user="alice"), autocommit=True) as alice:
        alice.execute("SET discreet.epsilon = 3")
        ((count,),) = alice.execute("SELECT count(*) FROM person").fetchall()
        # noise of scale 1/3: off by more than 10 with less than 1e-12
        assert abs(int(str(count)) - 1000) <= 10
        with pytest.raises(psycopg.Error):
            alice.execute("SELECT * FROM person")
    log = (audited.folder / "log").read_text()
    assert "AUDIT: SESSION" in log
    assert "SELECT count(*) FROM person" in log
    assert audited.sql("SELECT epsilon_spent FROM discreet.budget_status WHERE role IS NULL") == "3"
