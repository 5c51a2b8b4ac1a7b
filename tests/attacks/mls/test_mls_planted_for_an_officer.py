"""What others leave in the session of a trusted role, or hand to it: temporary tables, types, cursors, operators."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.attacks.mls.levels import Levels, outcome, refusal
from tests.databases import Connection

RELABEL = "SELECT discreet.mls_relabel('employee', {}, ARRAY['salary'], 'U', 'why')"
LABELLED = "INSERT INTO employee (name, name_label, salary) VALUES (''evil'', ''U'', 1) RETURNING name"
PURGED = "EXPLAIN ANALYZE SELECT discreet.mls_purge(''employee'', ''evil'')"
PLANTED = """
    CREATE SCHEMA low_side AUTHORIZATION mls_low;
    GRANT USAGE, CREATE ON SCHEMA low_side TO PUBLIC;
"""
OF_LOW = """
    CREATE FUNCTION low_side.who(bigint) RETURNS boolean LANGUAGE plpgsql AS
        'BEGIN IF current_user <> session_user THEN RAISE EXCEPTION ''as %'', current_user; END IF; RETURN true; END';
    CREATE FUNCTION low_side.of_text(text) RETURNS boolean LANGUAGE sql AS 'SELECT low_side.who(1)';
    CREATE DOMAIN low_side.dom AS text CHECK (low_side.of_text(VALUE));
    CREATE TYPE low_side.comp AS (a low_side.dom);
    CREATE FUNCTION low_side.open(q text) RETURNS refcursor LANGUAGE plpgsql AS
        $$DECLARE c refcursor := 'c'; BEGIN OPEN c FOR EXECUTE q; RETURN c; END$$;
    CREATE TABLE low_side.checked (a int CHECK (CASE WHEN pg_column_size(a) = 8
        THEN discreet.mls_purge('public.employee'::regclass, 'evil') >= 0 ELSE true END));
    GRANT ALL ON ALL TABLES IN SCHEMA low_side TO PUBLIC;
    CREATE FUNCTION low_side.plant() RETURNS int LANGUAGE plpgsql AS $$BEGIN
        EXECUTE 'CREATE OPERATOR low_side.|| (LEFTARG = regclass, RIGHTARG = text, FUNCTION = discreet.mls_purge)';
        RETURN 1; END$$;
"""


@pytest.fixture
def officer(levels: Levels) -> Iterator[Connection]:
    levels.admin.execute(PLANTED)
    levels.at("low").execute(OF_LOW)
    yield levels.at("trusted")
    levels.admin.execute("DROP SCHEMA low_side CASCADE")


@pytest.mark.parametrize("name", ["discreet_changed", "discreet_relabelled", "discreet_moved"])
def test_a_temporary_table_of_an_expected_name_is_not_written_to(officer: Connection, name: str) -> None:
    officer.execute(f"CREATE TEMPORARY TABLE {name} (_entity bigint CHECK (low_side.who(_entity)))")
    assert refusal(officer, RELABEL.format("'name = ''Smith'''"))[0] == "42P07"


@pytest.mark.parametrize(
    "predicate",
    [
        "'name::low_side.dom = ''Smith'''",
        "'''(x)''::low_side.comp IS NOT NULL AND name = ''Smith'''",
        "'name = ANY (ARRAY[''Smith'']::low_side.dom[])'",
    ],
)
def test_a_predicate_runs_no_code_of_types(officer: Connection, predicate: str) -> None:
    told = refusal(officer, RELABEL.format(predicate))
    assert (told[0], "names type low_side." in str(told)) == ("42P17", True)


@pytest.mark.parametrize("statement", [LABELLED, f"WITH x AS ({LABELLED}) SELECT * FROM x", PURGED])
def test_a_cursor_that_others_opened_has_no_trust(officer: Connection, levels: Levels, statement: str) -> None:
    officer.execute("BEGIN")
    officer.execute(f"SELECT low_side.open('{statement}')")
    told = outcome(officer, "FETCH ALL FROM c")
    officer.execute("ROLLBACK")
    assert told[0] == "42501"


def test_a_check_that_is_read_again_as_text_has_no_trust(officer: Connection, levels: Levels) -> None:
    officer.execute("CREATE TEMPORARY TABLE mine (LIKE low_side.checked INCLUDING ALL); INSERT INTO mine VALUES (1)")
    assert refusal(officer, "ALTER TABLE mine ALTER a TYPE bigint")[0] == "42501"


def test_an_operator_is_not_left_behind(officer: Connection) -> None:
    assert refusal(officer, "SELECT low_side.plant()")[0] == "42501"
