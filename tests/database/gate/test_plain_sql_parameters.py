"""Parameters of every type keep their types and values: from PREPARE, from PL/pgSQL, from the extended protocol."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest
from dev.cluster import Cluster
from tests.database.gate.conftest import Asker
from tests.database.gate.everything import HARDLY_NOISY, asker_of_everything

COUNT = "SELECT count(*) FROM kinds.person WHERE "
UUIDS = "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a10,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"
IN_NEW_YORK = """
    SET LOCAL TimeZone = 'America/New_York'; SET LOCAL DateStyle = 'SQL, DMY'; SET LOCAL IntervalStyle = sql_standard
"""


@pytest.fixture(scope="module")
def everything(cluster: Cluster, template: str) -> Iterator[Asker]:
    with asker_of_everything(cluster, template, "plain_parameters") as asker:
        yield asker


@pytest.fixture
def people(everything: Asker) -> Iterator[Asker]:
    everything.reset()
    everything.connection.execute(f"SET discreet.epsilon = {HARDLY_NOISY}")
    yield everything
    everything.connection.execute("DEALLOCATE ALL")


# condition, type of $1, its value as SQL
GIVEN = [
    ("i2 = $1", "smallint", "5"),
    ("i4 = $1", "int", "5"),
    ("i4 < $1", "bigint", "10000000000"),
    ("n > $1", "numeric", "33.335"),
    ("n > $1", "numeric", "-1e-20"),
    ("f4 = $1", "real", "0.5"),
    ("f8 = $1", "double precision", "2.25"),
    ("f8 > $1", "double precision", "1e-30"),
    ("t = $1", "text", "'a1'"),
    ("t <> $1", "text", "'it''s \\ \"odd\" {x,y}'"),
    ("v = $1", "varchar", "'v1'"),
    ("c = $1", "char(4)", "'c1'"),
    ("b = $1", "boolean", "true"),
    ("$1 AND i4 < 10", "boolean", "false"),
    ("d = $1", "date", "'20240102'"),
    ("ts >= $1", "timestamp", "'20240102T100000'"),
    ("tz >= $1", "timestamptz", "'20240101T230000Z'"),
    ("d + $1 > '20240104'::date", "int", "2"),
    ("ts + $1 > '20240103T120000'", "interval", "'1 day 2:00:00'"),
    ("u = $1", "uuid", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'"),
    ("m = $1", "kinds.mood", "'sad'"),
    ("s = $1", "kinds.shoe", "41"),
    ("tm = $1", "time", "'10:00'"),
    ("i4 = ANY ($1)", "int[]", "'{1,2,3,NULL}'"),
    ("i8 = ANY ($1)", "bigint[]", "'{}'"),
    ("n <> ALL ($1)", "numeric[]", "'{1.00,2.67}'"),
    ("t = ANY ($1)", "text[]", "ARRAY['a1', 'a,2', 'it\"s', '', 'NULL']"),
    ("v = ANY ($1)", "varchar[]", "'{v1,v2}'"),
    ("d = ANY ($1)", "date[]", "'{20240101,20240102}'"),
    ("tz = ANY ($1)", "timestamptz[]", "'{20240101T230000Z}'"),
    ("u = ANY ($1)", "uuid[]", f"'{UUIDS}'"),
    ("m = ANY ($1)", "kinds.mood[]", "ARRAY['sad', 'Très \"odd\"']::kinds.mood[]"),
    ("t LIKE $1", "text", "'%1'"),
    ("i4 = $1", "int", "NULL"),
    ("m IS DISTINCT FROM $1", "kinds.mood", "NULL"),
    ("i4 = ANY ($1)", "int[]", "NULL"),
    ("coalesce($1, i4) > 5", "int", "NULL"),
    ("coalesce($1, i4) > 5", "int", "7"),
]  # fmt: skip


@pytest.mark.parametrize(("condition", "kind", "value"), GIVEN)
def test_a_parameter_of_a_prepared_statement(people: Asker, condition: str, kind: str, value: str) -> None:
    answers = []
    for session in (people.connection, people.admin):
        with session.transaction():
            session.execute(IN_NEW_YORK)
            session.execute(f"PREPARE asked({kind}) AS {COUNT}{condition}".encode())
            answers.append(session.execute(f"EXECUTE asked({value})".encode()).fetchall())
            session.execute("DEALLOCATE asked")
    assert answers[0] == answers[1]


@pytest.mark.parametrize(("condition", "kind", "value"), GIVEN)
def test_a_variable_of_plpgsql(people: Asker, condition: str, kind: str, value: str) -> None:
    body = f"""DO $do$
        DECLARE wanted {kind} := {value}; found bigint;
        BEGIN
            SELECT count(*) INTO found FROM kinds.person WHERE {condition.replace("$1", "wanted")};
            PERFORM set_config('own.found', found::text, false);
        END $do$"""
    answers = []
    for session in (people.connection, people.admin):
        session.execute(body.encode())
        answers.append(session.execute("SELECT current_setting('own.found')").fetchone())
    assert answers[0] == answers[1]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("i4 = %s", 5),
        ("i8 > %s", 2**40),
        ("n > %s", Decimal("33.335")),
        ("f8 > %s", 2.25),
        ("t = %s", "a1"),
        ("b = %s", True),
        ("d = %s", date(2024, 1, 2)),
        ("ts >= %s", datetime(2024, 1, 2, 10)),
        ("tz >= %s", datetime(2024, 1, 2, 4, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))),
        ("ts + %s > '20240103T120000'", timedelta(days=1, hours=2)),
        ("u = %s", UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")),
        ("i4 = ANY (%s)", [1, 2, 3]),
        ("t = ANY (%s)", ["a1", "it's \\"]),
        ("i4 = %s", None),
    ],
)
def test_a_parameter_of_the_extended_protocol(people: Asker, condition: str, value: object, binary: bool) -> None:
    statement = f"{COUNT}{condition}".encode()
    answers = [
        session.execute(statement, [value], binary=binary, prepare=True).fetchall()
        for session in (people.connection, people.admin)
    ]
    assert answers[0] == answers[1]


def test_parameters_of_the_select_list_and_of_limit(people: Asker) -> None:
    people.plain(
        "PREPARE asked(text, numeric, bigint) AS SELECT $1 AS word, count(*) * $2 AS n"
        " FROM kinds.person WHERE b IS NOT NULL GROUP BY b ORDER BY b LIMIT $3"
    )
    assert people.plain("EXECUTE asked('it''s', 1.50, 1)") == [("it's", Decimal("225.00"))]


def test_one_parameter_used_twice_and_one_not_at_all(people: Asker) -> None:
    people.plain(f"PREPARE asked(int, text, int) AS {COUNT} i4 < $3 AND i8 < $3")
    assert people.plain("EXECUTE asked(1, 'x', 11)") == [(10,)]


def test_every_execution_is_a_question_with_its_own_values(people: Asker) -> None:
    people.plain(f"PREPARE asked(int) AS {COUNT} i4 <= $1")
    # beyond five executions PostgreSQL keeps one plan for all
    assert [people.plain(f"EXECUTE asked({n})") for n in range(1, 8)] == [[(n,)] for n in range(1, 8)]
    assert len(people.charges()) == 7
    assert people.plain("EXECUTE asked(3)") == [(3,)]
    assert len(people.charges()) == 7


def test_a_value_is_never_read_as_sql(people: Asker) -> None:
    people.plain(f"PREPARE asked(text) AS {COUNT} t = $1")
    assert people.plain("EXECUTE asked('a1'' OR true --')") == [(0,)]
    assert people.plain("EXECUTE asked('$1')") == [(0,)]
