"""What an answer says it does not cover: in the notice, in last_answer, and beforehand in explain()."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal

import pytest
from tests.database.gate.conftest import Asker
from tests.databases import MakeRole
from tests.messages import notices, refused

STAYS = """
    CREATE TABLE hr.stay (
        guest int, town text, room text NOT NULL, nights int, began date, left_at timestamptz, paid numeric NOT NULL);
    INSERT INTO hr.stay SELECT n % 200, 'town ' || n % 3, 'r' || n % 2, n % 30, date '2024-01-01' + n % 90,
        timestamptz '2024-01-01 22:00+00' + n * interval '1 hour', n FROM generate_series(1, 1000) n;
    SELECT discreet.protect('hr.stay', 'guest', 'staff', max_rows => 4, max_groups => 3, max_total_rows => 9),
           discreet.describe_column('hr.stay', 'town', categories => '{town 0,town 1}'),
           discreet.describe_column('hr.stay', 'nights', 0, 20),
           discreet.describe_column('hr.stay', 'began', date '2024-01-01', date '2024-12-31'),
           discreet.describe_column('hr.stay', 'paid', '0.5', '100');
"""
AWAY = "SELECT discreet.unprotect('hr.stay'); DROP TABLE hr.stay"
ROWS = "rows per person limited to 4"
GROUPS = "rows per person limited to 4 in a group, to 3 groups of an answer, to 9 in all"
NOBODY = "rows without a person left out"
SALARY = "values of salary clamped to 0..200000 (NaN and infinity left out)"
NIGHTS = "values of nights clamped to 0..20"
OUTSIDE = "values of town outside its categories left out"


@pytest.fixture(scope="module")
def stays(gate_database: Asker) -> Iterator[Asker]:
    gate_database.admin.execute(STAYS)
    yield gate_database
    gate_database.admin.execute(AWAY)


def last(asker: Asker) -> tuple[object, ...]:
    row = asker.connection.execute("SELECT * FROM discreet.last_answer").fetchone()
    assert row is not None
    return row


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("SELECT count(*) FROM hr.employee", []),
        ("SELECT gender, count(*) FROM hr.employee GROUP BY 1", ["values of gender outside its categories left out"]),
        ("SELECT gender, count(*) FROM hr.employee WHERE gender IN ('F', 'X') GROUP BY 1", []),
        ("SELECT avg(salary) FROM hr.employee", [SALARY]),
        ("SELECT avg(salary / 12) FROM hr.employee", [SALARY]),
        ("SELECT count(*) FROM hr.employee WHERE salary > 10", []),
        ("SELECT dp_sum(salary, 0, 10) FROM hr.employee", []),
        ("SELECT count(*) FROM hr.stay", [ROWS, NOBODY]),
        ("SELECT count(DISTINCT guest) FROM hr.stay", [NOBODY]),
        ("SELECT town, count(*) FROM hr.stay GROUP BY town", [GROUPS, NOBODY, OUTSIDE]),
        ("SELECT town, sum(nights) FROM hr.stay WHERE town = 'town 1' GROUP BY 1", [GROUPS, NOBODY, NIGHTS]),
        ("SELECT town, sum(nights) FROM hr.stay WHERE town = 'x' GROUP BY 1", [GROUPS, NOBODY, OUTSIDE, NIGHTS]),
        (
            "SELECT max(began) FROM hr.stay",
            [ROWS, NOBODY, "values of began clamped to 2024-01-01..2024-12-31 (infinity left out)"],
        ),
        (
            "SELECT sum(paid) FROM (SELECT paid FROM hr.stay) AS s",
            [ROWS, NOBODY, "values of paid clamped to 0.5..100 (NaN and infinity left out)"],
        ),
        (
            "SELECT extract(hour FROM left_at), count(*) FROM hr.stay GROUP BY 1",
            [
                GROUPS,
                NOBODY,
                "dates of left_at outside the years 1 to 9999 taken as NULL",
                "days and hours counted in UTC",
            ],
        ),
        ("SELECT sum(n) FROM (SELECT nights + 1 AS n FROM hr.stay) AS s", [ROWS, NOBODY, NIGHTS]),
    ],
)
def test_caveats_are_told_before_and_after(stays: Asker, question: str, expected: list[str]) -> None:
    stays.reset()
    assert stays.explain(question, 1)["caveats"] == expected
    told = notices(stays.connection)
    stays.json(question, 1)
    assert last(stays)[-1] == expected
    assert str(told[-1][1]).endswith("".join(f"; {caveat}" for caveat in expected))


def test_a_threshold_is_named_also_when_nothing_is_left(stays: Asker) -> None:
    stays.reset()
    question = "SELECT zip, count(*) FROM hr.employee GROUP BY zip"
    (caveat,) = stays.explain(question, "0.1")["caveats"]
    least = caveat.removeprefix("groups with fewer than about ").removesuffix(" people not shown")
    assert int(least) > 100
    told = notices(stays.connection)
    assert stays.json(question, "0.1") == []
    assert str(told[-1][1]).endswith(f"; {caveat}; no group has as many as about {least} people")


def test_the_last_answer_is_there_for_tools_that_hide_notices(stays: Asker) -> None:
    stays.reset()
    stays.plain("SET client_min_messages = error; SET discreet.epsilon = 0.5")
    told = notices(stays.connection)
    stays.plain("SELECT zip, count(*) AS n FROM hr.employee GROUP BY zip")
    asked_at, epsilon, delta, epsilon_left, delta_left, from_store, columns, caveats = last(stays)
    assert asked_at is not None
    assert told == []
    assert (epsilon, delta, from_store) == (Decimal("0.5"), Decimal("1e-6"), False)
    assert (epsilon_left, delta_left) == (Decimal("999.5"), Decimal("9.9e-5"))
    assert [column["column"] for column in json.loads(json.dumps(columns))] == ["zip", "n"]
    assert caveats == stays.explain("SELECT zip, count(*) FROM hr.employee GROUP BY zip", "0.5")["caveats"]
    stays.plain("SELECT zip, count(*) AS n FROM hr.employee GROUP BY zip")
    _, epsilon, delta, epsilon_left, _, from_store, _, _ = last(stays)
    assert (epsilon, delta, epsilon_left, from_store) == (0, 0, Decimal("999.5"), True)
    stays.plain("RESET client_min_messages; RESET discreet.epsilon")


def test_a_quiet_session_gets_no_notices(stays: Asker) -> None:
    stays.reset()
    told = notices(stays.connection)
    stays.plain("SET discreet.quiet = on")
    stays.json("SELECT count(*) FROM hr.employee", 1)
    assert told == []
    assert last(stays)[1] == 1
    stays.plain("RESET discreet.quiet")
    stays.json("SELECT count(*) FROM hr.employee", 2)
    assert len(told) == 1


def test_whoever_has_asked_nothing_has_no_last_answer(stays: Asker, make_role: MakeRole) -> None:
    stays.reset()
    stays.json("SELECT count(*) FROM hr.employee", 1)
    other = make_role("other", "discreet_analyst")
    fresh = stays.database.connect(other)
    assert fresh.execute("SELECT * FROM discreet.last_answer").fetchall() == []
    with refused("42501", "permission denied", None):
        stays.database.connect(make_role("nobody")).execute("SELECT * FROM discreet.last_answer")


def test_caveats_are_the_same_on_neighbouring_data(stays: Asker) -> None:
    """Also where a person is the only one with many rows, a value outside, NULLs, or in a group."""
    questions = [
        "SELECT town, sum(nights), count(*) FROM hr.stay GROUP BY town",
        "SELECT room, count(*) FROM hr.stay GROUP BY room",
        "SELECT began, avg(paid) FROM hr.stay GROUP BY began",
    ]

    def told() -> list[list[str]]:
        stays.reset()
        found = []
        for question in questions:
            before = stays.explain(question, 1)["caveats"]
            stays.json(question, 1)
            assert last(stays)[-1] == before
            found.append(before)
        return found

    first = told()
    stays.admin.execute(
        "INSERT INTO hr.stay SELECT 777, CASE n % 3 WHEN 0 THEN 'elsewhere' WHEN 1 THEN 'town 0' END, 'attic',"
        " 1000 * n, date '1900-01-01' + n, now(), -n FROM generate_series(1, 500) n"
    )
    assert told() == first
    stays.admin.execute("DELETE FROM hr.stay WHERE guest = 777")
