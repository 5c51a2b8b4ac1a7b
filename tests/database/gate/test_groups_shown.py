"""Which groups an answer has: NULL wherever it can occur, one for all other values, none that the conditions exclude.

At epsilon 100 a count has noise of scale 0.01: another number than the exact one has probability below 1e-43.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.database.gate.conftest import Asker

GUESTS = """
    CREATE TYPE hr.rank AS ENUM ('low', 'middle', 'high');
    CREATE TABLE hr.guest (
        id int PRIMARY KEY, region text, vip boolean, age int NOT NULL, level int, rank hr.rank, arrived date NOT NULL);
    INSERT INTO hr.guest SELECT n, (ARRAY['EMEA', 'LATAM', 'APAC', 'Moon', NULL])[1 + n % 5],
        CASE n % 3 WHEN 0 THEN true WHEN 1 THEN false END, n % 80, n % 4,
        (ARRAY['low', 'middle', 'high', NULL])[1 + n % 4]::hr.rank,
        date '2024-01-01' + n % 300
    FROM generate_series(1, 600) n;
    SELECT discreet.protect('hr.guest', 'id', dataset => 'staff'),
           discreet.describe_column('hr.guest', 'region', categories => '{EMEA,LATAM,APAC,NA}'),
           discreet.describe_column('hr.guest', 'age', 0, 120),
           discreet.describe_column('hr.guest', 'level', categories => '{0,1}', others => '-1'),
           discreet.describe_column('hr.guest', 'rank', categories => '{low}', others => 'Other');
"""
AWAY = "SELECT discreet.unprotect('hr.guest'); DROP TABLE hr.guest; DROP TYPE hr.rank"


@pytest.fixture(scope="module")
def guests(gate_database: Asker) -> Iterator[Asker]:
    gate_database.admin.execute(GUESTS)
    yield gate_database
    gate_database.admin.execute(AWAY)


def counted(asker: Asker, question: str) -> dict[object, int]:
    asker.reset()
    return dict(asker.rows(question, 100))


@pytest.mark.parametrize(
    ("key", "where", "expected"),
    [
        ("region", "", {"EMEA": 120, "LATAM": 120, "APAC": 120, "NA": 0, None: 120}),
        ("region", "WHERE region IN ('LATAM', 'EMEA')", {"EMEA": 120, "LATAM": 120}),
        ("region", "WHERE region IS NOT NULL", {"EMEA": 120, "LATAM": 120, "APAC": 120, "NA": 0}),
        ("region", "WHERE region IS NULL", {None: 120}),
        ("region", "WHERE region <> 'EMEA' AND age >= 0", {"LATAM": 120, "APAC": 120, "NA": 0}),
        ("region", "WHERE region LIKE '%A' OR region IS NULL", {"EMEA": 120, "NA": 0, None: 120}),
        ("region", "WHERE upper(region) = 'APAC'", {"APAC": 120}),
        ("region", "WHERE region = 'EMEA' OR vip", {"EMEA": 120, "LATAM": 40, "APAC": 40, "NA": 0, None: 40}),
        ("vip", "", {True: 200, False: 200, None: 200}),
        ("vip", "WHERE vip IS NOT TRUE", {False: 200, None: 200}),
        ("age >= 40", "", {True: 281, False: 319}),
        ("age >= 40", "WHERE age >= 40", {True: 281}),
        ("coalesce(region, 'none')", "WHERE region IS NULL", {"none": 120}),
        ("CASE WHEN age < 40 THEN 'young' END", "", {"young": 319, None: 281}),
        ("CASE WHEN age < 40 THEN 'young' ELSE 'old' END", "", {"young": 319, "old": 281}),
        ("level", "", {0: 150, 1: 150, -1: 300, None: 0}),
        ("level", "WHERE level = 1", {1: 150}),
        ("level", "WHERE level IN (1, 2)", {1: 150, -1: 150}),
        ("level", "WHERE level > 1", {-1: 300}),
        ("rank", "", {"low": 150, "Other": 300, None: 150}),
        ("extract(month FROM arrived)", "WHERE extract(month FROM arrived) < 2", {1: 62}),
        ("region IS NULL", "", {True: 120, False: 480}),
    ],
)
def test_groups_are_those_that_there_can_be(guests: Asker, key: str, where: str, expected: dict[object, int]) -> None:
    assert counted(guests, f"SELECT {key}, count(*) FROM hr.guest {where} GROUP BY 1") == expected


def test_conditions_of_a_subquery_exclude_groups_too(guests: Asker) -> None:
    inner = "SELECT region AS r, age FROM hr.guest WHERE region IN ('EMEA', 'Moon')"
    assert counted(guests, f"SELECT r, count(*) FROM ({inner}) AS s WHERE age < 40 GROUP BY r") == {"EMEA": 63}


def test_groups_of_several_keys_are_all_that_there_can_be(guests: Asker) -> None:
    guests.reset()
    rows = guests.rows("SELECT region, vip, count(*) FROM hr.guest WHERE region = 'APAC' GROUP BY 1, 2", 100)
    assert sorted(rows, key=str) == [("APAC", False, 40), ("APAC", None, 40), ("APAC", True, 40)]


def test_the_same_holds_in_plain_sql(guests: Asker) -> None:
    guests.reset()
    guests.plain("SET discreet.epsilon = 100")
    wanted = "WHERE region IN ('LATAM', 'NA')"
    rows = guests.plain(f"SELECT region, count(*) FROM hr.guest {wanted} GROUP BY region ORDER BY 1")
    assert rows == [("LATAM", 120), ("NA", 0)]
    guests.plain("RESET discreet.epsilon")
