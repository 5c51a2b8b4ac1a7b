"""Errors cross from Python to SQL as SQLSTATE, message and hint; a traceback goes to the log at most."""

from __future__ import annotations

from random import Random

import psycopg
import pytest
from tests.databases import Connection, Database
from tests.messages import refused

REFUSED = "discreet.create_dataset('people', -1)"


def test_a_refusal_has_no_context_of_its_own(admin: Connection) -> None:
    with pytest.raises(psycopg.Error) as caught:
        admin.execute(f"SELECT {REFUSED}")
    assert caught.value.diag.context is None
    assert caught.value.diag.message_detail is None


def test_a_refusal_inside_plpgsql_shows_where_it_was_called(admin: Connection) -> None:
    with pytest.raises(psycopg.Error) as caught:
        admin.execute(f"DO $$ BEGIN PERFORM {REFUSED}; END $$")
    context = caught.value.diag.context or ""
    assert "PL/pgSQL function inline_code_block line 1 at PERFORM" in context
    assert "Python" not in context


def test_a_refusal_can_be_caught_in_plpgsql_by_its_sqlstate(admin: Connection) -> None:
    admin.execute(
        f"""
        CREATE TABLE heard (state text, message text, hint text);
        DO $$
        DECLARE hint text;
        BEGIN
            PERFORM {REFUSED};
        EXCEPTION WHEN invalid_parameter_value THEN
            GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
            INSERT INTO heard VALUES (SQLSTATE, SQLERRM, hint);
        END $$
        """
    )
    assert admin.execute("SELECT * FROM heard").fetchall() == [
        (
            "22023",
            "epsilon is -1, which is not a budget",
            "Give a number from 1E-9 to 1000; usual totals are 0.1 to 10.",
        )
    ]


def test_the_session_goes_on_after_a_refusal(admin: Connection) -> None:
    for _ in range(50):
        with refused("22023", "epsilon is -1", "Give a number"):
            admin.execute(f"SELECT {REFUSED}")
    admin.execute("SELECT discreet.create_dataset('people', 1)")


def test_an_error_after_a_call_that_went_well_still_shows_its_context(admin: Connection) -> None:
    with pytest.raises(psycopg.Error) as caught:
        admin.execute("DO $$ BEGIN PERFORM discreet.create_dataset('people', 1); PERFORM 1 / 0; END $$")
    assert caught.value.sqlstate == "22012"
    assert "PL/pgSQL function inline_code_block line 1 at PERFORM" in (caught.value.diag.context or "")


def test_what_nobody_foresaw_is_told_in_constant_words_and_its_traceback_goes_to_the_log(
    admin: Connection, database: Database
) -> None:
    admin.execute(
        "CREATE FUNCTION public.broken() RETURNS int LANGUAGE discreet_python AS $$ raise ValueError('salary 4711') $$"
    )
    with refused("XX000", "discreet met an error it did not foresee", "The server's log says where; please report it."):
        admin.execute("SELECT public.broken()")
    log = (database.cluster.folder / "log").read_text()
    assert "discreet: ValueError: salary 4711" in log
    assert "Traceback (most recent call last)" in log


@pytest.mark.parametrize(
    "body",
    [
        "plpy.execute('SELECT 1/0')",
        "plpy.execute('SELECT nonsense')",
        "plpy.error('x', sqlstate='DP001', hint='y')",
    ],
)
def test_errors_of_sql_inside_come_without_a_traceback(admin: Connection, body: str) -> None:
    admin.execute(f"CREATE FUNCTION public.inner() RETURNS void LANGUAGE discreet_python AS $$ {body} $$")
    with pytest.raises(psycopg.Error) as caught:
        admin.execute("SELECT public.inner()")
    texts = (caught.value.diag.message_primary, caught.value.diag.context)
    assert not [text for text in texts if text and ("Traceback" in text or "plpy" in text or "spiexc" in text)]


def test_a_cancelled_call_is_cancelled_as_any_other(admin: Connection) -> None:
    admin.execute(
        "CREATE FUNCTION public.slow() RETURNS void LANGUAGE discreet_python"
        " AS $$ plpy.execute('SELECT pg_sleep(9)') $$"
    )
    admin.execute("SET statement_timeout = '200ms'")
    with refused("57014", "canceling statement due to statement timeout", None):
        admin.execute("SELECT public.slow()")


LONG_MESSAGE = "SELECT discreet.mls_clear('discreet_analyst', repeat('->', 2000000))"


def test_a_cancel_while_an_error_is_raised_ends_the_function_and_not_the_server(
    admin: Connection, database: Database
) -> None:
    """PL/Python takes a while to make an exception of a long message; what comes then must not meet it."""
    admin.execute("SELECT discreet.mls_define(ARRAY['l1'])")
    session, chance, ended = database.connect(), Random(7), set[str]()
    # 1 ms is too short for 4 MB on any machine; most of the others meet the exception while it is made
    for timeout in [1, 1, *(chance.randint(1, 160) for _ in range(120))]:
        session.execute(f"SET statement_timeout = {timeout}")
        with pytest.raises((psycopg.errors.QueryCanceled, psycopg.errors.InvalidParameterValue)) as caught:
            session.execute(LONG_MESSAGE)
        ended.add(str(caught.value.sqlstate))
        session.execute("SET statement_timeout = 0")
    assert "57014" in ended
    assert session.execute("SELECT 1").fetchall() == [(1,)]
