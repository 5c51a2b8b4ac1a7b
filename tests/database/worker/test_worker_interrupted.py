"""A session that is interrupted in the middle of a question leaves no lock and no half charge; others are answered."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.database.waiting import waited_for
from tests.database.worker.asking import WAYS, Asking, Town, ask, is_blocked, numbers
from tests.databases import Connection

# what another session has locked while the question waits
PLACES = {
    "the table": "LOCK TABLE town.citizen",
    "a partition": "LOCK TABLE town.citizen_2",
    "the budget": "SELECT FROM discreet._budget WHERE dataset = 'citizens' FOR UPDATE",
}
Interrupt = Callable[[Connection, Connection], object]


def cancelled(admin: Connection, session: Connection) -> None:
    admin.execute("SELECT pg_cancel_backend(%s)", [session.info.backend_pid])


def terminated(admin: Connection, session: Connection) -> None:
    admin.execute("SELECT pg_terminate_backend(%s)", [session.info.backend_pid])


# The gate may also give up by itself, when it waits for a lock too long: DP007.
INTERRUPTS: list[tuple[Interrupt, set[str | None]]] = [
    (cancelled, {"57014", "DP007"}),
    (terminated, {"57P01", None, "DP007"}),
]


def locks_are_free(admin: Connection) -> None:
    with admin.transaction():
        admin.execute("SET LOCAL lock_timeout = '60s'")
        for statement in PLACES.values():
            admin.execute(statement)


@pytest.mark.parametrize(("interrupt", "endings"), INTERRUPTS, ids=["cancelled", "terminated"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", WAYS)
def test_an_interrupted_question_leaves_nothing_behind(
    town: Town, admin: Connection, way: str, place: str, interrupt: Interrupt, endings: set[str | None]
) -> None:
    session, other, locker = town.asker(way), town.asker(way), town.database.connect(autocommit=False)
    ask(session, way)
    ask(other, way, "hermit")
    number = next(numbers)
    locker.execute(PLACES[place])
    question = Asking(lambda: ask(session, way, number=number))
    waited_for(lambda: is_blocked(admin, locker) or not question.is_alive())
    ask(other, way, "hermit")
    interrupt(admin, session)
    assert question.end() in endings
    ask(other, way, "hermit")
    locker.rollback()
    locks_are_free(admin)
    ask(town.asker(way) if session.closed else session, way)
    assert town.charges_of(number) <= 1
    town.charged()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", WAYS)
def test_a_question_that_runs_into_a_statement_timeout_leaves_nothing_behind(
    town: Town, admin: Connection, way: str, place: str
) -> None:
    session, locker = town.asker(way), town.database.connect(autocommit=False)
    ask(session, way)
    number = next(numbers)
    locker.execute(PLACES[place])
    session.execute("SET statement_timeout = '300ms'")
    assert Asking(lambda: ask(session, way, number=number)).end() in {"57014", "DP007"}
    locker.rollback()
    locks_are_free(admin)
    session.execute("RESET statement_timeout")
    ask(session, way)
    assert town.charges_of(number) <= 1
    town.charged()


VISITS = """
    SET client_min_messages = warning;
    CREATE TABLE town.visit (person int NOT NULL, badge bigint NOT NULL);
    INSERT INTO town.visit SELECT n % 100000, n FROM generate_series(1, 400000) n;
    SELECT discreet.protect('town.visit', 'person', 'citizens', max_rows => 5);
    SELECT discreet.describe_column('town.visit', 'badge', 0, 1000000000);
"""


@pytest.mark.parametrize(("interrupt", "endings"), INTERRUPTS, ids=["cancelled", "terminated"])
def test_a_question_that_is_interrupted_after_its_charge_is_charged_once(
    town: Town, admin: Connection, interrupt: Interrupt, endings: set[str | None]
) -> None:
    """Its rows are read when its charge can be seen; it may also be answered before the interrupt arrives."""
    admin.execute(VISITS)
    session, number = town.asker("query()"), next(numbers)
    question = Asking(lambda: ask(session, "query()", "visit", number))
    waited_for(lambda: town.charges_of(number) == 1)
    interrupt(admin, session)
    assert question.end() in endings | {"answered"}
    assert town.charges_of(number) == 1
    before = town.charged()
    ask(town.asker("query()"), "query()", "visit")
    assert town.charged() == before + 1


RANKED = """
    SET client_min_messages = warning;
    CREATE TABLE town.ranked (id int PRIMARY KEY, ward text, income int);
    INSERT INTO town.ranked SELECT n, n % 800, n FROM generate_series(1, 2400) n;
    SELECT discreet.protect('town.ranked', 'id', 'citizens');
    SELECT discreet.describe_column('town.ranked', 'ward',
                                    categories => (SELECT array_agg(n::text) FROM generate_series(0, 799) n));
    SELECT discreet.describe_column('town.ranked', 'income', 0, 5000);
"""
# Python chooses from nearly as many bins as a question may have
RANKS = """
    SELECT discreet.query_json('SELECT ward, percentile_disc(0.5) WITHIN GROUP (ORDER BY income) FROM town.ranked
                                GROUP BY ward', 0.01)
"""


def test_a_worker_that_is_told_to_stop_does_not_go_on_with_its_question(town: Town, admin: Connection) -> None:
    """As the watchdog of a step tells it to: the same signal ends whatever Python does."""
    admin.execute(RANKED)
    session = town.asker("query()")
    before = town.charged()
    question = Asking(lambda: session.execute(RANKS))
    waited_for(lambda: town.charged() == before + 1 or not question.is_alive())
    while question.is_alive():
        admin.execute(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND backend_type = 'discreet gate'"
        )
        question.join(0.05)
    assert question.end() == "DP007"
    ask(session, "query()")


@pytest.mark.parametrize("way", WAYS)
def test_a_question_that_is_rolled_back_stays_charged(town: Town, way: str) -> None:
    session, number = town.asker(way), next(numbers)
    with session.transaction(force_rollback=True):
        ask(session, way, number=number)
    assert town.charges_of(number) == 1
    town.charged()


FLOODS = 3
FLOOD = """
    SELECT discreet.query_json(format('SELECT count(*) FROM town.citizen WHERE badge < %s', n), 0.00001)
    FROM generate_series(1, 1000000) n
"""


def test_sessions_that_flood_the_gate_do_not_keep_another_from_its_answers(town: Town, admin: Connection) -> None:
    flooding = [town.database.connect(town.analyst) for _ in range(FLOODS)]
    floods = [Asking(lambda session=session: session.execute(FLOOD)) for session in flooding]  # type: ignore[misc]
    waited_for(lambda: len(town.ledger().charges) > FLOODS)
    for way in WAYS:
        session = town.asker(way)
        for _ in range(5):
            ask(session, way)
    assert [flood.ending for flood in floods] == ["asking"] * FLOODS
    for session in flooding:
        cancelled(admin, session)
    assert [flood.end() for flood in floods] == ["57014"] * FLOODS
    town.charged()
