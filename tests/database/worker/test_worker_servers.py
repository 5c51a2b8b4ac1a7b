"""Servers that were asked a moment ago are stopped, started and promoted; and what is said where no worker can run."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from bench.crash import read_ledger, unbalanced
from dev.cluster import Cluster
from tests.database.ops.test_replication import connected, pair
from tests.database.waiting import waited_for
from tests.database.worker.asking import WAYS, Asking, Town, ask, is_blocked
from tests.databases import Database, throw_away_cluster
from tests.messages import refused

EXTENSION = "SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE"
ROLES = "CREATE ROLE ann LOGIN IN ROLE discreet_analyst; CREATE ROLE rita LOGIN"


def built(cluster: Cluster) -> Town:
    cluster.sql(EXTENSION)
    cluster.sql(ROLES)
    town = Town(Database(cluster, "postgres"), "ann", "rita")
    town.build()
    return town


@pytest.fixture(scope="module")
def lonely() -> Iterator[Town]:
    """A town on a server of its own."""
    with throw_away_cluster(fsync="on", full_page_writes="on") as cluster:
        town = built(cluster)
        yield town
        town.database.close()


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_server_is_stopped_while_sessions_have_asked(lonely: Town, mode: str) -> None:
    lonely.each_way_is_answered_and_charged()
    before = lonely.charged()
    sessions = {way: lonely.asker(way) for way in WAYS}
    for way, session in sessions.items():
        ask(session, way)
    lonely.database.cluster.stop(mode)
    assert not lonely.database.cluster.running
    lonely.database.close()
    lonely.database.cluster.start()
    assert lonely.charged() == before + len(WAYS)
    lonely.each_way_is_answered_and_charged()


def test_a_server_without_sessions_is_stopped_smart_after_it_was_asked(lonely: Town) -> None:
    lonely.each_way_is_answered_and_charged()
    before = lonely.charged()
    lonely.database.close()
    lonely.database.cluster.stop("smart")
    assert not lonely.database.cluster.running
    lonely.database.cluster.start()
    assert lonely.charged() == before
    lonely.each_way_is_answered_and_charged()


def test_a_server_is_stopped_while_a_question_waits_for_its_charge(lonely: Town) -> None:
    before = lonely.charged()
    locker, session = lonely.database.connect(autocommit=False), lonely.asker("query()")
    ask(session, "query()")
    locker.execute("SELECT FROM discreet._budget WHERE dataset = 'citizens' FOR UPDATE")
    question = Asking(lambda: ask(session, "query()"))
    with lonely.database.connect() as admin:
        waited_for(lambda: is_blocked(admin, locker) or not question.is_alive())
    lonely.database.cluster.stop("fast")
    assert question.end() in {"57P01", None, "DP007"}
    lonely.database.close()
    lonely.database.cluster.start()
    assert before + 1 <= lonely.charged() <= before + 2
    lonely.each_way_is_answered_and_charged()


def test_a_standby_that_refused_questions_answers_them_once_it_is_promoted() -> None:
    count = "SELECT count(*) FROM person WHERE age < {}"
    with pair(synchronous=False) as (primary, standby):
        with connected(primary, "alice") as alice:
            alice.execute(count.format(10))
        waited_for(lambda: standby.sql("SELECT count(*) FROM discreet.charges") == "1")
        with connected(standby, "alice") as early:
            with pytest.raises(psycopg.Error) as caught:
                early.execute(count.format(20))
            assert caught.value.sqlstate == "DP007"
            primary.stop("immediate")
            assert standby.sql("SELECT pg_promote()") == "t"
            # a session that began before the promotion, and one that begins after it
            early.execute(count.format(30))
            with connected(standby, "alice") as late:
                late.execute(count.format(40))
        with connected(standby) as admin:
            ledger = read_ledger(admin)
        assert len(ledger.charges) == 3
        assert unbalanced(ledger) == []


# -- where workers are built


def test_without_a_free_slot_for_a_worker_questions_are_refused_at_once() -> None:
    with throw_away_cluster(max_worker_processes="0", max_logical_replication_workers="0") as cluster:
        town = built(cluster)
        for way in WAYS:
            with refused("DP007", "worker", "max_worker_processes"):
                ask(town.asker(way), way)
        assert town.charged() == 0
        town.database.close()


def test_a_library_that_only_sessions_load_says_where_it_must_be_loaded() -> None:
    def ask_each_way(cluster: Cluster) -> None:
        town = built(cluster)
        for way in WAYS:
            ask(town.asker(way), way)

    settings = {"shared_preload_libraries": "", "session_preload_libraries": "discreet"}
    with (
        throw_away_cluster(**settings) as cluster,
        pytest.raises((psycopg.Error, RuntimeError), match="shared_preload_libraries"),
    ):
        ask_each_way(cluster)
