"""Two servers: a standby gives no free answers, and a charge outlives the primary."""

from __future__ import annotations

import os
import pwd
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg
import pytest
from dev.cluster import Cluster, throw_away_folder
from tests.database.waiting import waited_for
from tests.databases import FAST_AND_FORGETFUL, Connection
from tests.messages import refused

# commits must be on disk here: the primary is killed
SETTINGS = FAST_AND_FORGETFUL | {"fsync": "on", "wal_level": "replica", "max_wal_senders": "4", "hot_standby": "on"}
PEOPLE = """
    SET client_min_messages = warning;
    CREATE EXTENSION discreet CASCADE;
    CREATE TABLE person (id int PRIMARY KEY, age int);
    INSERT INTO person SELECT n, n % 90 FROM generate_series(1, 1000) n;
    SELECT discreet.protect('person', 'id', epsilon => 100);
    SELECT discreet.describe_column('person', 'age', 0, 100);
    CREATE ROLE alice LOGIN;
    SELECT discreet.grant_budget('public.person', 'alice', epsilon => 100);
    CREATE ROLE rita LOGIN;
    GRANT SELECT ON person TO rita;
    SELECT discreet.grant_budget('public.person', 'rita', epsilon => 10);
"""
OTHER_PEOPLE = """
    SET client_min_messages = warning;
    CREATE EXTENSION discreet CASCADE;
    CREATE TABLE person (id int PRIMARY KEY);
    SELECT discreet.protect('person', 'id', epsilon => 1);
    SELECT discreet.grant_budget('public.person', 'alice', epsilon => 1);
"""
AGENTS = """
    SET client_min_messages = warning;
    CREATE ROLE uma LOGIN;
    CREATE ROLE sam LOGIN;
    CREATE TABLE agent (name text PRIMARY KEY, cover text);
    INSERT INTO agent VALUES ('Bond', 'trader');
    GRANT SELECT, UPDATE ON agent TO uma, sam;
    SELECT discreet.mls_define(ARRAY['U', 'S']);
    SELECT discreet.mls_clear('uma', 'U'), discreet.mls_clear('sam', 'S');
    SELECT discreet.mls_table('agent', key => ARRAY['name']);
    SET SESSION AUTHORIZATION sam;
    UPDATE agent SET cover = 'spy';
"""
SPENT = "SELECT epsilon_spent FROM discreet.budget_status WHERE role IS NULL"


def connected(cluster: Cluster, user: str = "postgres") -> Connection:
    return psycopg.connect(cluster.dsn(user=user), autocommit=True)


@contextmanager
def pair(synchronous: bool) -> Iterator[tuple[Cluster, Cluster]]:
    """A primary with protected people, and a standby that follows it."""
    with throw_away_folder() as folder:
        primary = Cluster(folder / "primary", settings=SETTINGS)
        standby = Cluster(folder / "standby", settings=SETTINGS)
        try:
            primary.start()
            primary.sql(PEOPLE)
            standby.folder.mkdir()
            account = pwd.getpwnam(standby.user)
            os.chown(standby.folder, account.pw_uid, account.pw_gid)
            source = ["-h", str(primary.socket), "-p", str(primary.port), "-U", "postgres"]
            standby.run("pg_basebackup", *source, "-D", str(standby.data), "-R", "-c", "fast")
            (standby.folder / "complete").touch()
            standby.start()
            waited_for(lambda: primary.sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == "1")
            if synchronous:
                primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
                primary.sql("SELECT pg_reload_conf()")
                waited_for(lambda: primary.sql("SELECT sync_state FROM pg_stat_replication") == "sync")
            yield primary, standby
        finally:
            standby.remove()
            primary.remove()


def caught_up(primary: Cluster, standby: Cluster) -> None:
    written = primary.sql("SELECT pg_current_wal_lsn()")
    waited_for(lambda: standby.sql(f"SELECT pg_last_wal_replay_lsn() >= '{written}'") == "t")


@pytest.fixture(scope="module")
def asynchronous() -> Iterator[tuple[Cluster, Cluster]]:
    with pair(synchronous=False) as clusters:
        yield clusters


@pytest.mark.parametrize(
    ("role", "question"),
    [
        ("alice", "SELECT count(*) FROM person"),
        ("alice", "SELECT * FROM discreet.query('SELECT avg(age) FROM person') AS t(avg numeric)"),
        ("rita", "SELECT discreet.dp_count(id) FROM person"),
    ],
)
def test_a_standby_refuses_questions(asynchronous: tuple[Cluster, Cluster], role: str, question: str) -> None:
    _, standby = asynchronous
    with (
        connected(standby, role) as asker,
        refused("DP007", "the ledger is not reachable: no charge, no answer", "Try"),
    ):
        asker.execute(question)


def test_a_standby_still_guards_the_table(asynchronous: tuple[Cluster, Cluster]) -> None:
    _, standby = asynchronous
    with connected(standby, "alice") as alice:
        for statement in ("COPY person TO STDOUT", "SELECT id FROM person"):
            with pytest.raises(psycopg.Error):
                alice.execute(statement)
    # whoever was granted SELECT reads there as on the primary
    with connected(standby, "rita") as rita:
        assert rita.execute("SELECT count(*) FROM person").fetchall() == [(1000,)]


def test_a_standby_whose_ledger_is_the_primary_answers_and_the_primary_charges(
    asynchronous: tuple[Cluster, Cluster],
) -> None:
    primary, standby = asynchronous
    before = float(primary.sql(SPENT))
    standby.sql(f"ALTER SYSTEM SET discreet.ledger = '{primary.dsn()}'")
    standby.sql("SELECT pg_reload_conf()")
    with connected(standby, "alice") as alice:
        alice.execute("SET discreet.epsilon = 3")
        ((count,),) = alice.execute("SELECT count(*) FROM person").fetchall()
    # noise of scale 1/3: off by more than 10 with less than 1e-12
    assert abs(int(str(count)) - 1000) <= 10
    assert float(primary.sql(SPENT)) == before + 3
    caught_up(primary, standby)
    assert float(standby.sql(SPENT)) == before + 3
    standby.sql("ALTER SYSTEM RESET discreet.ledger")
    standby.sql("SELECT pg_reload_conf()")


def test_a_ledger_elsewhere_serves_the_database_that_it_names(asynchronous: tuple[Cluster, Cluster]) -> None:
    primary, standby = asynchronous
    primary.sql("CREATE DATABASE other")
    primary.sql(OTHER_PEOPLE, "other")
    caught_up(primary, standby)
    standby.sql(f"ALTER SYSTEM SET discreet.ledger = '{primary.dsn()}'")
    standby.sql("SELECT pg_reload_conf()")
    with (
        closing(psycopg.connect(standby.dsn("other", "alice"), autocommit=True)) as alice,
        refused("DP007", "the ledger is not reachable: no charge, no answer", "Try"),
    ):
        alice.execute("SELECT count(*) FROM person")
    standby.sql("ALTER SYSTEM RESET discreet.ledger")
    standby.sql("SELECT pg_reload_conf()")


def test_a_standby_shows_a_multilevel_table_as_the_primary_does(asynchronous: tuple[Cluster, Cluster]) -> None:
    primary, standby = asynchronous
    primary.sql(AGENTS)
    caught_up(primary, standby)
    for role, covers in (("uma", ["trader"]), ("sam", ["spy", "trader"])):
        for server in (primary, standby):
            with connected(server, role) as reader:
                rows = reader.execute("SELECT cover FROM agent ORDER BY cover").fetchall()
            assert [cover for (cover,) in rows] == covers
    with connected(standby, "uma") as uma, pytest.raises(psycopg.errors.InsufficientPrivilege):
        uma.execute("SELECT * FROM agent_mls")


def test_without_its_synchronous_standby_a_primary_refuses_and_the_charge_counts() -> None:
    with pair(synchronous=True) as (primary, standby):
        with connected(primary, "alice") as alice:
            alice.execute("SET discreet.epsilon = 1")
            alice.execute("SELECT count(*) FROM person")
            standby.stop("immediate")
            began = time.monotonic()
            with refused("DP007", "no worker has answered in time, and the question may have been charged", "Try"):
                alice.execute("SELECT count(*) FROM person WHERE age > 50")
            assert 9 < time.monotonic() - began < 60
        primary.sql("ALTER SYSTEM RESET synchronous_standby_names")
        primary.sql("SELECT pg_reload_conf()")
        waited_for(lambda: primary.sql(SPENT) == "2")


def test_with_a_synchronous_standby_no_charge_is_lost_when_the_primary_dies() -> None:
    with pair(synchronous=True) as (primary, standby):
        answers = [0] * 4
        dead = threading.Event()

        def ask(number: int) -> None:
            with connected(primary, "alice") as alice:
                alice.execute("SET discreet.epsilon = 0.01")
                while not dead.is_set():
                    try:
                        # every condition is another question, so nothing is answered from the store
                        alice.execute(f"SELECT count(*) FROM person WHERE age < {number}.{answers[number]}1").fetchall()
                    except psycopg.OperationalError:
                        return
                    answers[number] += 1

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(answers))]
        for thread in threads:
            thread.start()
        waited_for(lambda: min(answers) >= 5)
        primary.stop("immediate")
        dead.set()
        for thread in threads:
            thread.join()
        standby.run("pg_ctl", "promote", "-w", "-D", str(standby.data))
        charged = int(standby.sql("SELECT count(*) FROM discreet._charge"))
        assert charged >= sum(answers)
        assert float(standby.sql(SPENT)) == pytest.approx(charged * 0.01)
        assert standby.sql("SELECT intact FROM discreet.verify_log()") == "t"
        # and goes on from there
        with connected(standby, "alice") as alice:
            alice.execute("SELECT count(*) FROM person WHERE age > 50")
        assert int(standby.sql("SELECT count(*) FROM discreet._charge")) == charged + 1
