"""Two transactions never take the same last place, whatever isolation they ask for."""

from __future__ import annotations

from threading import Thread

import psycopg
import pytest
from tests.database.waiting import wait_for_lock
from tests.databases import Connection, Database

LEVELS = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]
TAKE = "INSERT INTO hr.staff VALUES (%s, 1, 1, 'CEO')"


@pytest.fixture
def free(carol: Connection, staff: str) -> Connection:
    """One place, which is free."""
    carol.execute("UPDATE hr.staff SET position = 'clerk'")
    carol.execute("SELECT discreet.add_limit('hr.staff', 'one chief', $$position = 'CEO'$$, 1)")
    return carol


@pytest.fixture(params=["INSERT", "UPDATE"])
def ways(request: pytest.FixtureRequest) -> list[str]:
    if request.param == "INSERT":
        return [TAKE % 8, TAKE % 9]
    return [f"UPDATE hr.staff SET position = 'CEO' WHERE id = {number}" for number in (1, 2)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("outcome", ["COMMIT", "ROLLBACK"])
def test_who_comes_second_waits_and_is_judged_by_what_the_first_did(
    database: Database, free: Connection, curator: str, ways: list[str], level: str, outcome: str
) -> None:
    first, second = database.connect(curator), database.connect(curator)
    for connection in (first, second):
        connection.execute(f"BEGIN ISOLATION LEVEL {level}")
        connection.execute("SELECT count(*) FROM hr.staff")
    first.execute(ways[0])
    errors: list[str | None] = []

    def take() -> None:
        try:
            second.execute(ways[1])
            second.execute("COMMIT")
        except psycopg.Error as error:
            errors.append(error.sqlstate)

    thread = Thread(target=take)
    thread.start()
    wait_for_lock(database, second)
    first.execute(outcome)
    thread.join()
    assert free.execute("SELECT count(*) FROM hr.staff WHERE position = 'CEO'").fetchone() == (1,)
    if outcome == "ROLLBACK":
        assert errors == []
    else:
        assert errors == (["23514"] if level == "READ COMMITTED" else ["40001"])


@pytest.mark.parametrize("level", LEVELS)
def test_an_old_snapshot_does_not_hide_who_took_the_place(
    database: Database, free: Connection, curator: str, level: str
) -> None:
    late = database.connect(curator)
    late.execute(f"BEGIN ISOLATION LEVEL {level}")
    late.execute("SELECT count(*) FROM hr.staff")
    free.execute(TAKE, [8])
    with pytest.raises(psycopg.Error) as caught:
        late.execute(TAKE, [9])
    assert caught.value.sqlstate == ("23514" if level == "READ COMMITTED" else "40001")


def test_rows_of_other_kinds_wait_for_nobody(database: Database, free: Connection, curator: str) -> None:
    first = database.connect(curator)
    first.execute("BEGIN")
    first.execute(TAKE, [8])
    free.execute("SET lock_timeout = '1ms'")
    free.execute("INSERT INTO hr.staff VALUES (9, 1, 1, 'clerk'); UPDATE hr.staff SET salary = 5 WHERE id < 4")
    first.execute("ROLLBACK")


def test_many_at_once_take_no_more_places_than_there_are(database: Database, carol: Connection, curator: str) -> None:
    carol.execute("CREATE TABLE hr.seat (id int)")
    carol.execute("SELECT discreet.add_limit('hr.seat', 'seats', 'id > 0', 7)")
    refusals: list[str | None] = []

    def take(start: int) -> None:
        with psycopg.connect(database.dsn(curator), autocommit=True) as connection:
            for number in range(5):
                try:
                    connection.execute("INSERT INTO hr.seat VALUES (%s)", [start + number])
                except psycopg.Error as error:
                    refusals.append(error.sqlstate)

    threads = [Thread(target=take, args=[100 * number]) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert carol.execute("SELECT count(*) FROM hr.seat").fetchone() == (7,)
    assert refusals == ["23514"] * 23
