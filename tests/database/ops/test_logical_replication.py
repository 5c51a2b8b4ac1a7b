"""A publisher and a subscriber: rows arrive and their protection does not; randomised responses arrive as they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from dev.cluster import Cluster
from tests.database.waiting import waited_for
from tests.databases import throw_away_cluster

TABLES = """
    SET client_min_messages = warning;
    CREATE EXTENSION discreet CASCADE;
    CREATE TABLE person (id int PRIMARY KEY, age int);
    CREATE TABLE poll (id int PRIMARY KEY, smoker boolean);
    SELECT discreet.rr_column('poll', 'smoker', epsilon => 0.1);
    CREATE ROLE alice LOGIN;
"""
PROTECTED = """
    SET client_min_messages = warning;
    SELECT discreet.protect('person', 'id', epsilon => 10);
    SELECT discreet.grant_budget('public.person', 'alice', epsilon => 10);
"""
ROWS = """
    INSERT INTO person SELECT n, n % 90 FROM generate_series(1, 1000) n;
    INSERT INTO poll SELECT n, true FROM generate_series(1, 1000) n;
    CREATE PUBLICATION people FOR TABLE person, poll;
"""
RESPONSES = "SELECT string_agg(smoker::int::text, '' ORDER BY id) FROM poll"
SPENT = "SELECT epsilon_spent FROM discreet.budget_status WHERE role IS NULL"


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Cluster, Cluster]]:
    """The publisher protects its people; the subscriber has the same tables, and what was there at the beginning."""
    with (
        throw_away_cluster(wal_level="logical", max_wal_senders="4") as publisher,
        throw_away_cluster() as subscriber,
    ):
        publisher.sql(TABLES + PROTECTED + ROWS)
        subscriber.sql(TABLES)
        subscriber.sql(
            f"SET client_min_messages = warning;"
            f" CREATE SUBSCRIPTION copy CONNECTION '{publisher.dsn()}' PUBLICATION people"
        )
        ready = "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate = 'r'"
        waited_for(lambda: subscriber.sql(ready) == "2")
        yield publisher, subscriber
        subscriber.sql("DROP SUBSCRIPTION copy")


def arrived(servers: tuple[Cluster, Cluster], query: str) -> str:
    """What both servers say, once the subscriber has the rows of now."""
    publisher, subscriber = servers
    written = publisher.sql("SELECT pg_current_wal_lsn()")
    replayed = f"SELECT bool_and(replay_lsn >= '{written}') FROM pg_stat_replication"
    waited_for(lambda: publisher.sql(replayed) == "t")
    assert subscriber.sql(query) == publisher.sql(query)
    return subscriber.sql(query)


def count(cluster: Cluster) -> int:
    with closing(psycopg.connect(cluster.dsn(user="alice"), autocommit=True)) as alice:
        alice.execute("SET discreet.epsilon = 3")
        ((people,),) = alice.execute("SELECT count(*) FROM person").fetchall()
    return int(people)


def test_rows_arrive_without_their_protection(servers: tuple[Cluster, Cluster]) -> None:
    publisher, subscriber = servers
    assert arrived(servers, "SELECT count(*), sum(age) FROM person").startswith("1000|")
    assert publisher.sql("SELECT relation FROM discreet.protected_tables") == "person"
    assert subscriber.sql("SELECT relation FROM discreet.protected_tables") == ""
    # an ordinary table: shut for her until somebody grants it, and then open
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        count(subscriber)
    subscriber.sql("GRANT SELECT ON person TO alice")
    assert count(subscriber) == 1000
    subscriber.sql("REVOKE SELECT ON person FROM alice")


def test_who_checks_the_publisher_is_warned(servers: tuple[Cluster, Cluster]) -> None:
    found = [
        server.sql("SELECT status, finding FROM discreet.check_installation() WHERE item = 'published tables'")
        for server in servers
    ]
    assert found[0].startswith("warning|public.person is sent to subscribers by publication people")
    assert found[1] == ""


def test_a_table_that_is_protected_on_both_has_two_budgets(servers: tuple[Cluster, Cluster]) -> None:
    publisher, subscriber = servers
    subscriber.sql(PROTECTED)
    for asked, other in ((subscriber, publisher), (publisher, subscriber)):
        before = other.sql(SPENT)
        # noise of scale 1/3: off by more than 10 with less than 1e-12
        assert abs(count(asked) - 1000) <= 10
        assert (asked.sql(SPENT), other.sql(SPENT)) == ("3", before)
    # and rows go on arriving
    publisher.sql("INSERT INTO person VALUES (1001, 30)")
    assert arrived(servers, "SELECT count(*) FROM person") == "1001"
    publisher.sql("DELETE FROM person WHERE id > 1000")
    assert arrived(servers, "SELECT count(*) FROM person") == "1000"


def test_responses_arrive_as_they_were_drawn(servers: tuple[Cluster, Cluster]) -> None:
    """Drawn again, each would differ with probability 0.475: all are the same with less than 1e-200 by chance."""
    publisher, subscriber = servers
    enabled = "SELECT DISTINCT tgenabled FROM pg_trigger WHERE tgrelid = 'poll'::regclass AND NOT tgisinternal"
    assert subscriber.sql(enabled) == "O"
    copied = arrived(servers, RESPONSES)
    publisher.sql("INSERT INTO poll SELECT n, true FROM generate_series(1001, 2000) n")
    streamed = arrived(servers, RESPONSES)
    publisher.sql("UPDATE poll SET smoker = false")
    assert arrived(servers, RESPONSES) == streamed
    assert (len(copied), len(streamed), streamed[:1000]) == (1000, 2000, copied)
    # at epsilon 0.1 a response is true with probability 0.525: less than 900 or more than 1200 of 2000 below 1e-10
    assert 900 <= streamed.count("1") <= 1200


def test_a_trigger_that_always_ran_would_draw_them_again(servers: tuple[Cluster, Cluster]) -> None:
    publisher, subscriber = servers
    name = subscriber.sql("SELECT tgname FROM pg_trigger WHERE tgrelid = 'poll'::regclass AND NOT tgisinternal")
    subscriber.sql(f'ALTER TABLE poll ENABLE ALWAYS TRIGGER "{name}"')
    publisher.sql("INSERT INTO poll SELECT n, true FROM generate_series(2001, 2500) n")
    with pytest.raises(AssertionError):
        arrived(servers, RESPONSES)
    assert subscriber.sql("SELECT count(*) FROM poll") == "2500"
