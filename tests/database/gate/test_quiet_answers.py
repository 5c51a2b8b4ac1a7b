"""The notice of an answer follows client_min_messages; what the gate does inside is never shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.database.gate.conftest import Asker
from tests.messages import notices

COUNT = "SELECT count(*) FROM hr.employee"
WAYS = {
    "plain": COUNT,
    "query": f"SELECT * FROM discreet.query('{COUNT}') AS t(n bigint)",
    "query_json": f"SELECT discreet.query_json('{COUNT}', fresh => true)",
    "ask": f"BEGIN; SELECT discreet.ask('{COUNT}'); COMMIT",
}
LOW = ["debug5", "debug4", "debug3", "debug2", "debug1", "log"]


@pytest.fixture
def quiet(asker: Asker) -> Iterator[Asker]:
    yield asker
    asker.connection.execute("ROLLBACK; RESET ALL")


def heard_by(asker: Asker, *statements: str) -> list[str]:
    """What was told about answers."""
    heard = notices(asker.connection)
    for statement in statements:
        asker.connection.execute(statement.encode())
    told = [str(message) for _, message, _ in heard if "epsilon left" in str(message)]
    heard.clear()
    return told


@pytest.mark.parametrize("level", ["warning", "error"])
@pytest.mark.parametrize("way", WAYS)
def test_a_session_that_wants_no_notices_gets_none(quiet: Asker, way: str, level: str) -> None:
    quiet.connection.execute(f"SET client_min_messages = {level}")
    assert heard_by(quiet, WAYS[way]) == []
    assert len(quiet.charges()) == 1
    quiet.reset()
    quiet.connection.execute("RESET client_min_messages")
    assert len(heard_by(quiet, WAYS[way])) == 1


@pytest.mark.parametrize("level", LOW)
@pytest.mark.parametrize("way", ["query_json", "plain"])
def test_a_lower_setting_shows_the_notice_and_nothing_more(quiet: Asker, way: str, level: str) -> None:
    quiet.connection.execute(WAYS[way].encode())  # Python and the ledger are there
    quiet.reset()
    heard = notices(quiet.connection)
    quiet.connection.execute(f"SET client_min_messages = {level}")
    heard.clear()
    quiet.connection.execute("SELECT 1")
    usual = {message.partition("(")[0] for _, message, _ in heard if message is not None}
    heard.clear()
    quiet.connection.execute(WAYS[way].encode())
    told = [str(message) for _, message, _ in heard]
    assert len([message for message in told if "epsilon left" in message]) == 1
    inside = [message for message in told if "epsilon left" not in message and message.partition("(")[0] not in usual]
    assert inside == []
    assert quiet.connection.execute("SHOW client_min_messages").fetchall() == [(level,)]


def test_set_local_holds_for_its_transaction(quiet: Asker) -> None:
    local = "BEGIN; SET LOCAL client_min_messages = warning"
    assert heard_by(quiet, local, WAYS["query_json"], "COMMIT") == []
    assert len(heard_by(quiet, WAYS["query_json"])) == 1
    assert (
        heard_by(quiet, local, "SAVEPOINT s", WAYS["query_json"], "ROLLBACK TO s", WAYS["query_json"], "COMMIT") == []
    )


def test_the_setting_of_a_function_holds_within_it(quiet: Asker) -> None:
    quiet.admin.execute(
        f"""
        CREATE FUNCTION public.silently() RETURNS jsonb LANGUAGE sql SET client_min_messages = warning AS
        $$SELECT discreet.query_json('{COUNT}', fresh => true)$$;
        CREATE FUNCTION public.loudly() RETURNS jsonb LANGUAGE sql SET client_min_messages = notice AS
        $$SELECT discreet.query_json('{COUNT}', fresh => true)$$
        """
    )
    try:
        assert heard_by(quiet, "SELECT public.silently()") == []
        quiet.connection.execute("SET client_min_messages = error")
        assert len(heard_by(quiet, "SELECT public.loudly()")) == 1
        assert heard_by(quiet, "SELECT public.silently()", WAYS["query_json"]) == []
    finally:
        quiet.admin.execute("DROP FUNCTION public.silently(), public.loudly()")


def test_an_error_gives_the_setting_back(quiet: Asker) -> None:
    quiet.connection.execute("SET client_min_messages = debug1")
    quiet.connection.execute(
        "DO $$BEGIN PERFORM discreet.query_json('SELECT nothing'); EXCEPTION WHEN OTHERS THEN NULL; END$$"
    )
    assert quiet.connection.execute("SHOW client_min_messages").fetchall() == [("debug1",)]
