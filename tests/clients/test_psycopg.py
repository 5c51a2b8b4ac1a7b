"""psycopg 3: parameters of many types, binary results, cursors of the server, pipelines, prepared statements, COPY."""

from __future__ import annotations

import asyncio
import datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from tests.office import CANARY, NOISE, Office

COUNT = "SELECT count(*) FROM hr.person"
BY_DEPT = "SELECT dept, count(*) FROM hr.person GROUP BY dept ORDER BY dept"
UTC = datetime.UTC
EAST = datetime.timezone(datetime.timedelta(hours=5))

# a condition, and what psycopg sends for it: each Python type as another type of PostgreSQL, as text or in binary form
CONDITIONS: list[tuple[str, tuple[Any, ...]]] = [
    ("age > %s", (30,)),
    ("age > %b", (30,)),
    ("badge > %s", (10_000_000_500,)),
    ("badge > %b", (10_000_000_500,)),
    ("salary > %s", (Decimal("1500.50"),)),
    ("salary > %b", (Decimal("1500.50"),)),
    ("salary * %s > 3000", (2.0,)),
    ("height > %s", (1.7,)),
    ("height > %b", (1.7,)),
    ("weight > %b", (60.5,)),
    ("smoker = %s", (True,)),
    ("smoker = %b", (True,)),
    ("born > %s", (datetime.date(1952, 1, 1),)),
    ("born > %b", (datetime.date(1952, 1, 1),)),
    ("born - %s > 100", (datetime.date(1952, 1, 1),)),
    ("hired > %s", (datetime.datetime(2003, 1, 1, 12, 30),)),
    ("hired > %b", (datetime.datetime(2003, 1, 1, 12, 30),)),
    ("seen > %s", (datetime.datetime(2021, 2, 1, tzinfo=UTC),)),
    ("seen > %s", (datetime.datetime(2021, 2, 1, tzinfo=EAST),)),
    ("seen > %b", (datetime.datetime(2021, 2, 1, tzinfo=EAST),)),
    ("dept = %s", ("dept 1",)),
    ("dept = %b", ("dept 1",)),
    ("dept = %s", (None,)),
    ("dept = %s OR dept = %s", ("dept 1", 'it\'s \\ "quoted" $1 %')),
    ("dept IN (%s, %s)", ("dept 1", "dept 3")),
    ("age BETWEEN %s AND %s", (20, 30)),
    ("age + %s > 30", (2,)),
    ("length(dept) = %s", (6,)),
    ("extract(year FROM born) = %s", (1952,)),
    ("CASE WHEN age > %s THEN dept ELSE 'none' END = %s", (30, "dept 1")),
]


@pytest.mark.parametrize(("condition", "parameters"), CONDITIONS)
@pytest.mark.parametrize("prepare", [False, True])
def test_a_parameter_keeps_its_type(
    office: Office, nora: psycopg.Connection[Any], condition: str, parameters: tuple[Any, ...], prepare: bool
) -> None:
    query = f"{COUNT} WHERE {condition}"
    ((truth,),) = office.truth(query, parameters)
    nora.execute("SET DateStyle = 'German, DMY'; SET TimeZone = 'Asia/Kolkata'; SET extra_float_digits = -10")
    ((answer,),) = nora.execute(query, parameters, prepare=prepare).fetchall()
    assert type(answer) is int
    assert abs(answer - truth) <= NOISE


@pytest.mark.parametrize("binary", [False, True])
def test_results_have_the_types_that_the_select_has(
    office: Office, nora: psycopg.Connection[Any], binary: bool
) -> None:
    query = (
        "SELECT dept, smoker, count(*), sum(age), avg(salary), avg(height), min(age), max(height), stddev(salary),"
        " count(*) > 10, count(*)::int, round(avg(age), 2), count(*) * 100.0 / 2, 'x' || dept"
        " FROM hr.person GROUP BY dept, smoker ORDER BY dept, smoker"
    )
    truth = office.admin.execute(query, binary=binary)
    answer = nora.execute(query, binary=binary)
    shape = [(column.name, column.type_code) for column in answer.description or ()]
    assert shape == [(column.name, column.type_code) for column in truth.description or ()]
    for row in answer.fetchall():
        assert len(row) == len(shape)
        assert not CANARY.search(repr(row))
        dept, smoker, count, total, average, height, least, most, spread, many, small, rounded, share, label = row
        assert (label, type(smoker), type(count)) == (f"x{dept}", bool, int)
        kinds = (int, Decimal, float, int, float, Decimal)
        assert all(
            value is None or type(value) is kind
            for value, kind in zip((total, average, height, least, most, spread), kinds, strict=True)
        )
        assert (type(many), small, type(rounded), share) == (bool, count, Decimal, count * Decimal(50))


def test_columns_may_share_a_name(nora: psycopg.Connection[Any]) -> None:
    answer = nora.execute("SELECT count(*), count(*), avg(age), avg(height) FROM hr.person")
    assert [column.name for column in answer.description or ()] == ["count", "count", "avg", "avg"]


def test_a_named_cursor_brings_an_answer_in_pieces(office: Office, nora: psycopg.Connection[Any]) -> None:
    with nora.transaction(), nora.cursor("pieces", row_factory=dict_row) as cursor:
        cursor.execute(
            "SELECT dept, count(*) AS n FROM hr.person WHERE age > %s GROUP BY dept ORDER BY dept", [30], binary=True
        )
        first = cursor.fetchmany(1)
        rest = cursor.fetchall()
    assert [row["dept"] for row in first + rest] == ["dept 0", "dept 1", "dept 2", "dept 3"]
    assert office.questions() == 1


def test_a_cursor_that_scrolls_and_outlives_its_transaction(nora: psycopg.Connection[Any]) -> None:
    cursor = nora.cursor("kept", scrollable=True, withhold=True)
    with nora.transaction():
        cursor.execute(BY_DEPT)
    rows = cursor.fetchall()
    cursor.scroll(0, mode="absolute")
    assert cursor.fetchall() == rows
    assert len(rows) == 4
    cursor.close()


def test_a_pipeline_of_questions(office: Office, nora: psycopg.Connection[Any]) -> None:
    with nora.pipeline():
        cursors = [nora.execute(f"{COUNT} WHERE dept = %s", [f"dept {n}"]) for n in range(4)]
        own = nora.execute("SELECT 42")
    assert all(abs(cursor.fetchall()[0][0] - 500) <= NOISE for cursor in cursors)
    assert own.fetchall() == [(42,)]
    assert office.questions() == 4


def test_a_refusal_ends_a_pipeline_as_any_error_does(nora: psycopg.Connection[Any]) -> None:
    def refused_and_asked() -> None:
        with nora.pipeline():
            nora.execute("SELECT name FROM hr.person")
            nora.execute(COUNT)

    with pytest.raises(psycopg.DatabaseError) as caught:
        refused_and_asked()
    assert caught.value.sqlstate == "DP001"
    assert nora.execute(COUNT).fetchall()


def test_executemany_asks_for_each_set_of_parameters(office: Office, nora: psycopg.Connection[Any]) -> None:
    cursor = nora.cursor()
    cursor.executemany(f"{COUNT} WHERE dept = %s", [["dept 0"], ["dept 1"], ["dept 1"]], returning=True)
    answers = [cursor.fetchall()]
    while cursor.nextset():
        answers.append(cursor.fetchall())
    assert len(answers) == 3
    assert answers[1] == answers[2]
    assert office.questions() == 2


def test_a_prepared_statement_asks_anew_for_other_parameters(office: Office, nora: psycopg.Connection[Any]) -> None:
    query = f"{COUNT} WHERE age > %s"
    answers = [nora.execute(query, [age], prepare=True).fetchall()[0][0] for age in (20, 30, 40, 50, 60, 70, 20)]
    ((prepared,),) = nora.execute("SELECT count(*) FROM pg_prepared_statements").fetchall()
    assert prepared == 1
    assert answers[0] == answers[-1]
    assert answers[0] > answers[2] > answers[5]
    assert office.questions() == 6


def test_answers_stream_row_by_row(nora: psycopg.Connection[Any]) -> None:
    assert [row[0] for row in nora.cursor().stream(BY_DEPT)] == ["dept 0", "dept 1", "dept 2", "dept 3"]


@pytest.mark.parametrize("form", ["text", "binary"])
def test_copy_of_a_question(nora: psycopg.Connection[Any], form: str) -> None:
    with nora.cursor().copy(f"COPY ({BY_DEPT}) TO STDOUT (FORMAT {form})") as copy:
        copy.set_types(["text", "int8"])
        rows = list(copy.rows())
    assert [row[0] for row in rows] == ["dept 0", "dept 1", "dept 2", "dept 3"]
    assert all(abs(row[1] - 500) <= NOISE for row in rows)


def test_several_questions_in_one_string(office: Office, nora: psycopg.Connection[Any]) -> None:
    cursor = nora.execute(f"{COUNT}; {BY_DEPT}; SELECT 1")
    assert abs(cursor.fetchall()[0][0] - 2000) <= NOISE
    assert cursor.nextset()
    assert len(cursor.fetchall()) == 4
    assert cursor.nextset()
    assert cursor.fetchall() == [(1,)]
    assert office.questions() == 2


def test_a_question_in_a_failed_transaction_is_an_error_like_any(nora: psycopg.Connection[Any]) -> None:
    nora.autocommit = False
    with pytest.raises(psycopg.errors.DivisionByZero):
        nora.execute("SELECT 1 / 0")
    for statement in (COUNT, "SELECT 1"):
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            nora.execute(statement)
    nora.rollback()
    assert nora.execute(COUNT).fetchall()


def test_asynchronous_connections_ask_side_by_side(office: Office) -> None:
    async def ask(condition: str) -> int:
        async with await psycopg.AsyncConnection.connect(office.dsn, autocommit=True) as connection:
            cursor = await connection.execute(f"{COUNT} WHERE {condition}")
            ((answer,),) = await cursor.fetchall()
            return int(answer)

    async def all_of_them() -> list[int]:
        return await asyncio.gather(*(ask(f"dept = 'dept {n}'") for n in range(4)))

    assert all(abs(answer - 500) <= NOISE for answer in asyncio.run(all_of_them()))
