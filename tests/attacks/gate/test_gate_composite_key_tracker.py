"""Trackers by columns that are unique only together (Schlörer 1975; Denning, Denning and Schwartz 1979).

The person sought is number 7 of region 1. The attacker knows how many vote, and what other groups earn.
"""

from __future__ import annotations

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

PERSON = "region = 'region 1' AND roll_no = 7"
# name: sets of people whose sums, with these signs, give what the person earns
TRACKERS = {
    "direct": [(1, PERSON)],
    "difference": [(1, "true"), (-1, f"NOT ({PERSON})")],
    "difference within a region": [(1, "region = 'region 1'"), (-1, "region = 'region 1' AND roll_no <> 7")],
    "individual": [(1, f"({PERSON}) OR voted"), (1, f"({PERSON}) OR NOT voted"), (-1, "true")],
    "general": [(1, f"({PERSON}) OR voted"), (1, f"({PERSON}) OR NOT voted"), (-1, "voted"), (-1, "NOT voted")],
    "double": [(1, f"({PERSON}) OR salary < 1050"), (1, f"({PERSON}) OR NOT salary < 1050"), (-1, "true")],
    "union": [
        (1, f"({PERSON}) OR (gender = 'F' AND zip = 'zip 1') OR voted"),
        (1, f"({PERSON}) OR NOT (gender = 'F' AND zip = 'zip 1' OR voted)"),
        (-1, "true"),
    ],
    "inclusion and exclusion": [
        (1, "region = 'region 1'"),
        (1, "roll_no = 7"),
        (-1, "region = 'region 1' OR roll_no = 7"),
    ],
}
SPELLINGS = [
    PERSON,
    "NOT (region <> 'region 1' OR roll_no <> 7)",
    "NOT NOT (region = 'region 1' AND NOT roll_no <> 7)",
    "region BETWEEN 'region 1' AND 'region 1' AND roll_no BETWEEN 7 AND 7",
    "region IN ('region 1') AND roll_no = ANY (ARRAY[7])",
    "(region, roll_no) = ('region 1', 7)",
    "region LIKE 'region 1' AND roll_no > 6 AND roll_no < 8",
    "region IS NOT DISTINCT FROM 'region 1' AND abs(roll_no - 7) < 1",
    "lower(region) = 'region 1' AND roll_no + 0 = 7",
    "region || ':' || roll_no::text = 'region 1:7'",
    "region || ':' || roll_no::text || ':' LIKE 'region 1:7:%'",
    "region = 'region 1' AND 2 * roll_no - 4 = 10",
    "region = 'region 1' AND roll_no / 5 = 1 AND roll_no % 5 = 2",
    "region = 'region 1' AND (roll_no - 6) * (8 - roll_no) > 0",
    "region = 'region 1' AND NULLIF(roll_no, 7) IS NULL",
    "CASE WHEN region = 'region 1' THEN roll_no = 7 ELSE false END",
    "(region = 'region 1')::int + (roll_no = 7)::int = 2",
    "dob >= '1950-01-05' AND dob < '1950-01-06' AND zip = 'zip 0' AND gender = 'M'",
    "extract(year FROM dob) = 1950 AND extract(doy FROM dob) = 5 AND zip = 'zip 0' AND gender = 'M'",
]
SHAPES = [
    "SELECT sum(salary) FROM extra.voter WHERE {}",
    "SELECT sum(salary) FILTER (WHERE {}) FROM extra.voter",
    "SELECT sum(CASE WHEN {} THEN salary ELSE 0 END) FROM extra.voter",
    "SELECT sum(salary) FROM (SELECT * FROM extra.voter WHERE {}) v",
    "WITH w AS (SELECT {} AS hit, salary AS pay FROM extra.voter) SELECT sum(pay) FROM w WHERE hit",
    "SELECT sum(a.salary) FROM extra.voter a JOIN (SELECT id FROM extra.voter WHERE {}) b ON a.id = b.id",
]


def salary_of_the_person(target: Target) -> object:
    return target.value(f"SELECT salary FROM extra.voter WHERE {PERSON}")


@pytest.mark.parametrize("name", TRACKERS)
def test_exact_answers_tell_the_salary_of_one(voters: Target, name: str) -> None:
    answers = [
        (sign, voters.value(f"SELECT sum(salary) FROM extra.voter WHERE {where}")) for sign, where in TRACKERS[name]
    ]
    assert sum(sign * int(str(answer)) for sign, answer in answers) == salary_of_the_person(voters)


def test_every_spelling_means_one_person(voters: Target) -> None:
    for spelling in SPELLINGS:
        assert voters.value(f"SELECT count(*) FROM extra.voter WHERE {spelling}") == 1, spelling


@pytest.mark.parametrize("name", TRACKERS)
def test_one_of_the_questions_is_refused_and_costs_nothing(voters: Target, blind: Connection, name: str) -> None:
    singling = [where for _, where in TRACKERS[name] if "region" in where and "roll_no" in where]
    assert singling
    with voters.free():
        for where in singling:
            for shape in SHAPES:
                assert how_it_ends(blind, shape.format(where)) == "DP002"


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_is_answered(voters: Target, blind: Connection, spelling: str) -> None:
    with voters.free():
        for padded in (spelling, f"({spelling}) OR voted", f"voted AND NOT ({spelling})"):
            assert how_it_ends(blind, f"SELECT sum(salary) FROM extra.voter WHERE {padded}") == "DP002"


def test_groups_of_one_are_not_answered(voters: Target, blind: Connection) -> None:
    for question in (
        "SELECT region, roll_no, sum(salary) FROM extra.voter GROUP BY region, roll_no",
        "SELECT region, sum(salary) FROM extra.voter WHERE roll_no = 7 GROUP BY region",
        "SELECT region = 'region 1', roll_no = 7, sum(salary) FROM extra.voter GROUP BY 1, 2",
        "SELECT region, sum(salary) FILTER (WHERE roll_no = 7) FROM extra.voter GROUP BY region",
    ):
        assert how_it_ends(blind, question) == "DP002"


def test_questions_about_part_of_the_key_are_answered(voters: Target, blind: Connection) -> None:
    for where in ("region = 'region 1'", "roll_no = 7", "region = 'region 1' AND roll_no BETWEEN 5 AND 50"):
        assert how_it_ends(blind, f"SELECT sum(salary) FROM extra.voter WHERE {where}") == "answer"


def test_the_key_of_one_partition_counts(voters: Target, blind: Connection) -> None:
    voters.admin.execute(
        "CREATE TABLE extra.part (id int NOT NULL, region text, seat int) PARTITION BY LIST (region);"
        "CREATE TABLE extra.part_1 (seat int, id int NOT NULL, region text);"
        "ALTER TABLE extra.part ATTACH PARTITION extra.part_1 FOR VALUES IN ('region 1');"
        "CREATE TABLE extra.part_2 PARTITION OF extra.part DEFAULT;"
        "CREATE UNIQUE INDEX ON extra.part_1 (region, seat);"
        "SELECT discreet.protect('extra.part', 'id', dataset => 'people', max_rows => 1)"
    )
    assert how_it_ends(blind, "SELECT count(*) FROM extra.part WHERE region = 'region 1' AND seat = 7") == "DP002"
    assert how_it_ends(blind, "SELECT count(*) FROM extra.part WHERE region = 'region 1'") == "answer"
