"""create_dataset(…, diagnose => share): an answer tells about how many people have more rows than count."""

# at epsilon 100 and a share of 0.5 the number has noise of scale 0.02: another than the exact one has
# a probability below 1e-21

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from tests.database.gate.conftest import Asker
from tests.messages import notices, refused

TABLES = """
    SELECT discreet.create_dataset('cut', 1000, diagnose => 0.5);
    CREATE TABLE hr.ride (who int NOT NULL, town text NOT NULL, km int);
    -- of 300 people 40 have 9 rows in one town, 60 a row in each of three
    INSERT INTO hr.ride SELECT p, 'a', 1 FROM generate_series(1, 200) p;
    INSERT INTO hr.ride SELECT p, 'b', 1 FROM generate_series(201, 240) p, generate_series(1, 9);
    INSERT INTO hr.ride SELECT p, t, 1 FROM generate_series(241, 300) p, unnest(ARRAY['a', 'b', 'c']) t;
    SELECT discreet.protect('hr.ride', 'who', 'cut', max_rows => 4, max_groups => 2),
           discreet.describe_column('hr.ride', 'town', categories => '{a,b,c}'),
           discreet.describe_column('hr.ride', 'km', 0, 9);
    CREATE TABLE hr.rider (id int PRIMARY KEY);
    SELECT discreet.protect('hr.rider', 'id', 'cut');
"""
AWAY = "SELECT discreet.unprotect('hr.ride'), discreet.unprotect('hr.rider'); DROP TABLE hr.ride, hr.rider"


@pytest.fixture(scope="module")
def rides(gate_database: Asker) -> Iterator[Asker]:
    gate_database.admin.execute(TABLES)
    gate_database.admin.execute("SELECT discreet.grant_budget('cut', %s, 1000)", [gate_database.role])
    yield gate_database
    gate_database.admin.execute(AWAY)


@pytest.mark.parametrize(
    ("question", "cut"),
    [
        ("SELECT count(*) FROM hr.ride", 40),
        ("SELECT town, count(*) FROM hr.ride GROUP BY town", 100),
        ("SELECT town, sum(km) FROM hr.ride WHERE town <> 'c' GROUP BY ROLLUP (town)", 40),
        ("SELECT count(*) FROM hr.ride WHERE town = 'a'", 0),
    ],
)
def test_about_how_many_people_were_cut_is_told(rides: Asker, question: str, cut: int) -> None:
    rides.reset()
    told = notices(rides.connection)
    rides.json(question, 100)
    assert f"about {cut} people (±0) have more rows than count" in str(told[-1][1])
    row = rides.connection.execute("SELECT caveats[array_length(caveats, 1)] FROM discreet.last_answer").fetchone()
    assert row == (f"about {cut} people (±0) have more rows than count",)
    sets = 2 if "ROLLUP" in question else 1
    assert [epsilon for epsilon, _ in rides.charges()] == [Decimal(100 * sets)]


def test_the_rest_of_the_price_is_for_the_answer(rides: Asker) -> None:
    rides.reset()
    half = rides.explain("SELECT count(*) FROM hr.ride", 1)["outputs"][0]["scale"]
    assert half == "8"


def test_nobody_is_cut_who_has_one_row(rides: Asker) -> None:
    rides.reset()
    told = notices(rides.connection)
    rides.json("SELECT count(*) FROM hr.rider", 100)
    assert "more rows than count" not in str(told[-1][1])
    assert rides.explain("SELECT count(*) FROM hr.rider", 1)["outputs"][0]["scale"] == "0.01"


@pytest.mark.parametrize("share", ["-0.1", "1", "'NaN'"])
def test_a_share_is_below_one(rides: Asker, share: str) -> None:
    with refused("22023", "which is not a share of a price", "such as 0.05"):
        rides.admin.execute(f"SELECT discreet.create_dataset('other', 1, diagnose => {share})")
