"""A count that is rounded at random is asked for again and again, in many words, until the mean tells it."""

from __future__ import annotations

import pytest
from tests.databases import Connection

PEOPLE = 13
TIMES = 400


@pytest.fixture
def people(admin: Connection) -> Connection:
    admin.execute("CREATE TABLE people AS SELECT n AS id FROM generate_series(1, 40) n")
    admin.execute("SELECT discreet.create_secret('rounding')")
    return admin


def mean(connection: Connection, rounded: str) -> float:
    query = f"SELECT {rounded} FROM people WHERE id + 0 * %s <= {PEOPLE}"
    answers = [float(str(connection.execute(query, [time]).fetchall()[0][0])) for time in range(TIMES)]
    return sum(answers) / len(answers)


def test_random_rounding_by_chance_averages_out(people: Connection) -> None:
    # 400 draws of up or down by at most 10: the mean is off by 3 with probability below 2 exp(-2 400 9 / 100), 1e-31
    found = mean(people, "10 * floor(count(*) / 10.0 + random())")
    assert abs(found - PEOPLE) < 3


def test_rounding_by_cell_keys_is_always_the_same(people: Connection) -> None:
    found = mean(people, "discreet.random_round(count(*), 10, discreet.cell_key(discreet.record_key(id, 'rounding')))")
    assert found in (10, 20)


def test_a_rounded_table_is_the_same_however_a_session_writes_dates(people: Connection) -> None:
    people.execute("CREATE TABLE visit AS SELECT date '2020-01-01' + id % 12 AS day FROM people WHERE id <= 37")
    found = set()
    for number, style in enumerate(("ISO", "German", "SQL, DMY", "SQL, MDY", "Postgres")):
        people.execute(f"SET datestyle = '{style}'")
        people.execute(f"SELECT discreet.controlled_round('visit', '{{day}}', NULL, 5, 'rounded{number}', 'rounding')")
        rows = people.execute(f"SELECT day, count FROM rounded{number} ORDER BY 1").fetchall()
        found.add(tuple(rows))
    assert len(found) == 1
