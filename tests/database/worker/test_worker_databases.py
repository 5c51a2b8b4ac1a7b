"""A database that was asked a moment ago can be dropped, copied and renamed, and its extension made anew."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest
from dev.cluster import Cluster
from dev.postgresql import pg_config
from tests.database.waiting import waited_for
from tests.database.worker.asking import WAYS, Asking, Town, ask, is_blocked
from tests.databases import Connection, Database, MakeRole, created
from tests.messages import refused

numbers = count(1)
LEDGERS = """
    SELECT pid FROM pg_stat_activity WHERE backend_type = 'discreet ledger' AND datname = current_database()
"""


@pytest.fixture
def outside(cluster: Cluster) -> Iterator[Connection]:
    """The superuser, in another database."""
    with psycopg.connect(cluster.dsn(), autocommit=True) as connection:
        yield connection


@pytest.fixture
def asked(cluster: Cluster, template: str, make_role: MakeRole) -> Iterator[Town]:
    """A town that was asked in each way; no session is left in its database."""
    with created(cluster, f"asked_{next(numbers)}", template) as database:
        town = Town(database, make_role("ann", "discreet_analyst"), make_role("rita"))
        town.build()
        town.each_way_is_answered_and_charged()
        yield town


def exists(outside: Connection, name: str) -> bool:
    return outside.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone() is not None


def test_a_database_is_dropped_after_it_was_asked(asked: Town, outside: Connection) -> None:
    outside.execute(f"DROP DATABASE {asked.database.name}")
    assert not exists(outside, asked.database.name)


def test_an_owner_who_is_no_superuser_drops_a_database_after_it_was_asked(
    asked: Town, outside: Connection, make_role: MakeRole
) -> None:
    owner = make_role("olga")
    outside.execute(f"ALTER DATABASE {asked.database.name} OWNER TO {owner}")
    with psycopg.connect(asked.database.cluster.dsn(user=owner), autocommit=True) as olga:
        olga.execute(f"DROP DATABASE {asked.database.name}")
    assert not exists(outside, asked.database.name)


def test_a_database_is_dropped_by_force_while_sessions_have_asked(asked: Town, outside: Connection) -> None:
    sessions = {way: asked.asker(way) for way in WAYS}
    for way, session in sessions.items():
        ask(session, way)
    outside.execute(f"DROP DATABASE {asked.database.name} WITH (FORCE)")
    assert not exists(outside, asked.database.name)


def test_a_database_with_sessions_is_not_dropped_and_they_ask_on(asked: Town, outside: Connection) -> None:
    before = asked.charged()
    sessions = {way: asked.asker(way) for way in WAYS}
    for way, session in sessions.items():
        ask(session, way)
    with pytest.raises(psycopg.errors.ObjectInUse):
        outside.execute(f"DROP DATABASE {asked.database.name}")
    for way, session in sessions.items():
        ask(session, way)
    assert asked.charged() == before + 2 * len(sessions)


def test_a_database_of_the_name_of_a_dropped_one_has_a_ledger_of_its_own(
    asked: Town, outside: Connection, template: str
) -> None:
    name = asked.database.name
    outside.execute(f"DROP DATABASE {name}")
    outside.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    asked.build()
    assert asked.charged() == 0
    asked.each_way_is_answered_and_charged()


def test_a_copy_begins_with_the_charges_of_its_original_and_goes_its_own_way(
    asked: Town, cluster: Cluster, outside: Connection
) -> None:
    before = asked.charged()
    name = f"{asked.database.name}_copy"
    outside.execute(f"CREATE DATABASE {name} TEMPLATE {asked.database.name}")
    copy = Town(Database(cluster, name), asked.analyst, asked.reader)
    try:
        assert copy.charged() == before
        copy.each_way_is_answered_and_charged()
        assert (asked.charged(), copy.charged()) == (before, before + len(WAYS))
        asked.each_way_is_answered_and_charged()
        asked.each_way_is_answered_and_charged()
        assert (asked.charged(), copy.charged()) == (before + 2 * len(WAYS), before + len(WAYS))
    finally:
        copy.database.close()
        outside.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_renamed_database_goes_on_with_its_charges(asked: Town, cluster: Cluster, outside: Connection) -> None:
    before = asked.charged()
    name = f"{asked.database.name}_renamed"
    outside.execute(f"ALTER DATABASE {asked.database.name} RENAME TO {name}")
    renamed = Town(Database(cluster, name), asked.analyst, asked.reader)
    try:
        assert renamed.charged() == before
        renamed.each_way_is_answered_and_charged()
    finally:
        renamed.database.close()
        outside.execute(f"ALTER DATABASE {name} RENAME TO {asked.database.name}")
    asked.each_way_is_answered_and_charged()
    assert asked.charged() == before + 2 * len(WAYS)


def test_the_extension_is_dropped_and_made_anew_while_sessions_are_connected(town: Town, admin: Connection) -> None:
    sessions = {way: town.asker(way) for way in WAYS}
    for way, session in sessions.items():
        ask(session, way)
    admin.execute("SET client_min_messages = warning; DROP EXTENSION discreet")
    with pytest.raises(psycopg.Error):
        ask(sessions["query()"], "query()")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ask(sessions["plain SQL"], "plain SQL")
    admin.execute("DROP SCHEMA town CASCADE; CREATE EXTENSION discreet")
    town.build()
    assert town.charged() == 0
    for way, session in sessions.items():
        ask(session, way)
    assert town.charged() == len(WAYS)
    town.each_way_is_answered_and_charged()


def test_two_databases_are_asked_at_once_and_each_charges_its_own(asked: Town, town: Town) -> None:
    towns, before = (asked, town), (asked.charged(), town.charged())
    sessions = [(way, each.asker(way)) for way in WAYS for each in towns]
    for _ in range(3):
        for way, session in sessions:
            ask(session, way)
    assert tuple(each.charged() for each in towns) == tuple(then + 3 * len(WAYS) for then in before)


def test_an_owner_drops_a_database_by_force_while_sessions_ask_on(
    asked: Town, outside: Connection, make_role: MakeRole
) -> None:
    """Workers that sessions start again are no processes that an owner may not end."""
    owner = make_role("olga")
    outside.execute(f"GRANT {asked.analyst}, {asked.reader} TO {owner}")
    outside.execute(f"ALTER DATABASE {asked.database.name} OWNER TO {owner}")
    sessions = [asked.asker("query()") for _ in range(4)]
    questions = [Asking(lambda one=one: [ask(one, "query()") for _ in range(10_000)]) for one in sessions]  # type: ignore[misc]
    with psycopg.connect(asked.database.cluster.dsn(user=owner), autocommit=True) as olga:
        waited_for(lambda: dropped(olga, asked.database.name), seconds=300)
    assert all(question.end() in {"57P01", None} for question in questions)
    assert not exists(outside, asked.database.name)


def dropped(session: Connection, name: str) -> bool:
    try:
        session.execute(f"DROP DATABASE {name} WITH (FORCE)")
    except (psycopg.errors.ObjectInUse, psycopg.errors.InsufficientPrivilege):
        return False
    return True


def test_a_charge_that_waits_for_a_line_is_left_to_the_next_ledger_worker(asked: Town, outside: Connection) -> None:
    """A copy that fails, since sessions are connected, dismisses the workers while the charge waits.

    A charge waits for at most five seconds. On a busy machine the next worker may begin later, so several tries are
    allowed.
    """
    assert any(charged_by_the_next_ledger_worker(asked, outside) for _ in range(5))
    asked.charged()


def charged_by_the_next_ledger_worker(asked: Town, outside: Connection) -> bool:
    session, locker, number = asked.asker("an aggregate"), asked.database.connect(autocommit=False), next(numbers)
    ask(session, "an aggregate")
    locker.execute("SELECT FROM discreet._budget WHERE dataset = 'citizens' FOR UPDATE")
    question = Asking(lambda: ask(session, "an aggregate", number=900_000_000 + number))
    with asked.database.connect() as admin:
        waited_for(lambda: is_blocked(admin, locker) or not question.is_alive())
        before = set(admin.execute(LEDGERS).fetchall())
        copy = Asking(
            lambda: outside.execute(f"CREATE DATABASE {asked.database.name}_copy TEMPLATE {asked.database.name}")
        )
        waited_for(lambda: bool(set(admin.execute(LEDGERS).fetchall()) - before))
        locker.rollback()
        outcome = question.end()
        assert copy.end() == "55006"
    locker.close()
    session.close()
    assert outcome in {"answered", "DP007"}
    assert asked.charges_of(900_000_000 + number) == (outcome == "answered")
    return outcome == "answered"


# a question that no step of the new version takes
NEW = """
    if b"777777777" in message:
        raise NotImplementedError
    return watched_step"""


@pytest.fixture
def upgrade(admin: Connection) -> Iterator[str]:
    """A version after the installed one, whose script replaces the step of a gate worker, as each upgrade does."""
    ((version, step),) = admin.execute(
        "SELECT extversion, pg_get_functiondef(p.oid) FROM pg_extension, pg_proc p"
        " WHERE extname = 'discreet' AND p.proname = '_worker_step'"
    ).fetchall()
    script = Path(pg_config("--sharedir")) / "extension" / f"discreet--{version}--{version}.next.sql"
    script.write_text(step.replace("\n    return watched_step", NEW) + ";\n")
    yield f"{version}.next"
    script.unlink()


def test_sessions_ask_the_new_version_once_the_extension_was_updated(
    town: Town, admin: Connection, upgrade: str
) -> None:
    """Modules of the old version are loaded in the gate workers: these leave, and others begin with the new ones."""
    sessions = {way: town.asker(way) for way in WAYS}
    for way, session in sessions.items():
        ask(session, way)
    admin.execute(f"ALTER EXTENSION discreet UPDATE TO '{upgrade}'")
    for _ in range(3):
        with refused("DP007", "the gate failed", "Try again"):
            ask(sessions["query()"], "query()", number=777_777_777)
        for way, session in sessions.items():
            ask(session, way)
    assert town.charged() == 4 * len(WAYS)
