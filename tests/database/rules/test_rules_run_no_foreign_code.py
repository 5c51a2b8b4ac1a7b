"""A rule runs in the name of whoever writes: nothing in it is anybody's code, and nothing is done in another's name."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused

PLANTED = """
    CREATE SCHEMA trap;
    CREATE FUNCTION trap.spring(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
        'BEGIN RAISE EXCEPTION ''sprung''; END';
    CREATE FUNCTION trap.lower(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE EXCEPTION ''sprung''; END';
    CREATE OPERATOR trap.= (FUNCTION = trap.spring, LEFTARG = text, RIGHTARG = text);
    CREATE DOMAIN trap.word AS text CHECK (trap.spring(VALUE, VALUE));
    CREATE TYPE trap.pair AS (a text, b text);
    CREATE FUNCTION trap.flat(trap.pair) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT ''x''';
    CREATE CAST (trap.pair AS text) WITH FUNCTION trap.flat(trap.pair) AS IMPLICIT;
    CREATE TYPE trap.color AS ENUM ('red', 'blue');
    GRANT USAGE ON SCHEMA trap TO PUBLIC;
    CREATE TABLE hr.odd (a text, pair trap.pair, color trap.color, code hr.code);
"""


@pytest.fixture
def odd(admin: Connection, carol: Connection, curator: str) -> Connection:
    admin.execute(f"CREATE DOMAIN hr.code AS text; {PLANTED} ALTER TABLE hr.odd OWNER TO {curator}")
    carol.execute("SET search_path = trap, public, pg_catalog")
    return carol


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("trap.spring(NEW.a, 'x')", "calls trap.spring"),
        ("NEW.a OPERATOR(trap.=) 'x'", "uses operator trap.="),
        ("NEW.a::trap.word <> ''", "type trap.word, which is not PostgreSQL's own"),
        ("(ARRAY[NEW.a]::trap.word[])[1] <> ''", "which is not PostgreSQL's own"),
        ("length(NEW.pair) > 0", "function trap.flat(trap.pair), which is not PostgreSQL's own"),
        ("query_to_xml(NEW.a, true, true, '') IS NOT NULL", "calls query_to_xml"),
        ("table_to_xml('hr.odd', true, true, NEW.a) IS NOT NULL", "calls table_to_xml"),
        ("set_config('discreet.epsilon', NEW.a, false) = ''", "calls set_config"),
        ("current_setting(NEW.a) = ''", "calls current_setting"),
        ("pg_read_file(NEW.a) = ''", "calls pg_read_file"),
        ("nextval(NEW.a) > 0", "calls nextval"),
        ("generate_series(1, length(NEW.a)) > 0", "calls generate_series"),
        ("NEW.a = (SELECT rolname FROM pg_authid)", "holds a subquery"),
    ],
)
def test_a_rule_with_code_of_others_is_refused(odd: Connection, rule: str, message: str) -> None:
    with refused("42P17", message, ""):
        odd.execute("SELECT discreet.add_rule('hr.odd', 'x', %s)", [rule])
    with refused("42P17", message, ""):
        odd.execute("SELECT discreet.add_limit('hr.odd', 'x', %s, 1)", [rule.replace("NEW.", "")])
    assert odd.execute("SELECT * FROM discreet.rules").fetchall() == []


def test_names_without_a_schema_are_those_of_postgresql(odd: Connection) -> None:
    odd.execute("SELECT discreet.add_rule('hr.odd', 'plain', $$lower(NEW.a) = 'x'$$)")
    odd.execute("SELECT discreet.add_limit('hr.odd', 'reds', $$color = 'red'::trap.color AND code <> ''$$, 1)")
    odd.execute("INSERT INTO hr.odd VALUES ('X', NULL, 'red', 'c')")
    with refused("23514", 'breaks rule "plain"', "lower(new.a) = 'x'::text"):
        odd.execute("INSERT INTO hr.odd VALUES ('y')")
    with refused("23514", 'limit "reds" of hr.odd is reached', "color = 'red'::trap.color"):
        odd.execute("INSERT INTO hr.odd VALUES ('x', NULL, 'red', 'c')")


def test_only_a_curator_who_owns_the_table_adds_and_drops_rules(
    database: Database, carol: Connection, staff: str, curator: str, make_role: MakeRole
) -> None:
    other = make_role("mallory", "discreet_curator")
    carol.execute("SELECT discreet.add_rule('hr.staff', 'ages', 'NEW.age < 150')")
    carol.execute(f"GRANT USAGE ON SCHEMA hr TO {other}; GRANT ALL ON hr.staff TO {other}")
    mallory = database.connect(other)
    for call in (
        "add_rule('hr.staff', 'x', 'NEW.age < 150')",
        "add_limit('hr.staff', 'x', 'age > 150', 1)",
        "drop_rule('hr.staff', 'ages')",
    ):
        with refused("42501", f"{other} does not own hr.staff", "Its owner, being a curator"):
            mallory.execute(f"SELECT discreet.{call}")
    owner = make_role("owner")
    carol.execute("CREATE TABLE hr.mine (a int)")
    database.connect().execute(f"ALTER TABLE hr.mine OWNER TO {owner}; GRANT USAGE ON SCHEMA hr TO {owner}")
    with refused("42501", "permission denied for function add_rule", None):
        database.connect(owner).execute("SELECT discreet.add_rule('hr.mine', 'x', 'NEW.a < 150')")


def test_a_limit_counts_in_the_name_of_the_owner(
    carol: Connection, staff: str, curator: str, writer: Connection
) -> None:
    """Planning the count runs code of who owns the table: not as a superuser."""
    carol.execute("SELECT discreet.add_limit('hr.staff', 'one chief', $$position = 'CEO'$$, 2)")
    carol.execute(
        """
        CREATE FUNCTION hr.peek(numeric) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SECURITY INVOKER AS
            $$ BEGIN PERFORM pg_notify('peek', current_user); RETURN true; END $$;
        CREATE INDEX ON hr.staff (id) WHERE hr.peek(1);
        """
    )
    seen: list[str] = []
    writer.add_notify_handler(lambda notify: seen.append(notify.payload))
    writer.execute("LISTEN peek")
    writer.execute("INSERT INTO hr.staff VALUES (9, 1, 1, 'CEO')")
    assert seen == [writer.info.user, curator]
