"""Types that a question names, or that columns have, bring code: checks of domains, and casts to text and json."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from tests.messages import notices
from tests.office import Office

SPY = """
    CREATE FUNCTION nora.tell(what text) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN RAISE NOTICE '% runs as %', what, current_user; RETURN true; END$$;
    CREATE DOMAIN nora.d AS text CHECK (nora.tell('domain'));
    CREATE TYPE nora.c AS (x nora.d);
    CREATE TYPE nora.e AS ENUM ('a', 'b');
    CREATE FUNCTION nora.as_json(nora.e) RETURNS json LANGUAGE plpgsql AS
    $$BEGIN PERFORM nora.tell('json'); RETURN '"a"'; END$$;
    CREATE FUNCTION nora.as_text(nora.e) RETURNS text LANGUAGE plpgsql AS
    $$BEGIN PERFORM nora.tell('text'); RETURN 'a'; END$$;
    CREATE CAST (nora.e AS json) WITH FUNCTION nora.as_json(nora.e);
    CREATE CAST (nora.e AS text) WITH FUNCTION nora.as_text(nora.e) AS IMPLICIT;
"""
QUESTIONS = [
    "SELECT NULLIF('5'::nora.d, 'x') AS k, count(*) FROM hr.person GROUP BY 1",
    "SELECT count(*) FROM hr.person GROUP BY NULLIF('(1)'::nora.c, '(2)'::nora.c)",
    "SELECT k, count(*) FROM (SELECT '9'::nora.d AS k FROM hr.person) s GROUP BY k",
    "SELECT NULLIF('a'::nora.e, 'b') AS k, count(*) FROM hr.person GROUP BY 1",
    "SELECT count(*) FROM hr.person WHERE mood::text = 'a'::nora.e::text",
    "SELECT CASE WHEN smoker THEN 'a'::nora.e END AS k, count(*) FROM hr.person GROUP BY 1",
    "SELECT max('a'::nora.e) FROM hr.person",
    "SELECT count(DISTINCT 'a'::nora.e) FROM hr.person",
]


def outcome(asker: psycopg.Connection[Any], statement: str) -> str:
    """A SQLSTATE, or nothing."""
    try:
        asker.execute(statement.encode())
    except psycopg.Error as error:
        return str(error.sqlstate)
    return ""


def ran_as(heard: list[tuple[str, str | None, str | None]]) -> set[str]:
    told = [str(message) for _, message, _ in heard if " runs as " in str(message)]
    return {message.rsplit(" ", 1)[1] for message in told}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("plain", [False, True])
def test_code_of_the_askers_types_runs_as_nobody_else(
    office: Office, nora: psycopg.Connection[Any], question: str, plain: bool
) -> None:
    nora.execute(SPY)
    heard = notices(nora)
    quoted = question.replace("'", "''")
    state = outcome(nora, question if plain else f"SELECT discreet.query_json('{quoted}')")
    assert state in ("", "DP001", "42725"), state
    assert ran_as(heard) <= {"nora"}


@pytest.mark.parametrize("column", ["kind rita.e", "kind rita.d[]", "kind rita.c"])
def test_code_of_the_types_of_columns_does_not_run(office: Office, nora: psycopg.Connection[Any], column: str) -> None:
    """The owner of a type is not trusted by who reads a table with such a column: here a superuser."""
    office.admin.execute("CREATE SCHEMA rita AUTHORIZATION rita; GRANT USAGE ON SCHEMA rita TO PUBLIC")
    try:
        office.admin.execute(f"SET ROLE rita; {SPY.replace('nora.', 'rita.')}; RESET ROLE")
        office.admin.execute(
            f"""
            CREATE TABLE hr.car (id int PRIMARY KEY, {column});
            INSERT INTO hr.car VALUES (1, NULL);
            SELECT discreet.protect('hr.car', 'id', 'people');
            """
        )
        if column.endswith(" rita.e"):
            office.admin.execute("INSERT INTO hr.car SELECT n, 'b' FROM generate_series(2, 300) n")
            naive = notices(office.admin)
            office.admin.execute("SET client_min_messages = notice; SELECT count(*) FROM hr.car WHERE kind::text = 'b'")
            assert ran_as(naive) == {"postgres"}, "the attack does not work against a plain reader"
        heard = notices(nora)
        for question in (
            "SELECT count(*) FROM hr.car WHERE kind = ''b''",
            "SELECT kind, count(*) FROM hr.car GROUP BY kind",
            "SELECT kind::text, count(*) FROM hr.car GROUP BY 1",
            "SELECT count(DISTINCT kind) FROM hr.car",
        ):
            assert outcome(nora, f"SELECT discreet.query_json('{question}', 10)") in ("", "DP001")
        assert ran_as(heard) == set()
        if column.endswith(" rita.e"):
            # the cast says that every value is a
            ((counted,),) = nora.execute(
                "SELECT (discreet.query_json('SELECT count(*) FROM hr.car WHERE kind = ''b''', 10)->>'count')::int"
            ).fetchall()
            assert abs(counted - 299) < 20
    finally:
        office.admin.execute("DROP TABLE IF EXISTS hr.car; DROP SCHEMA rita CASCADE")
