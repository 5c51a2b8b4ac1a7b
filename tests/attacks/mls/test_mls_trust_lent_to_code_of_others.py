"""Code of a low user in a trusted session: it would declassify, give low labels, or go below what was read."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection

ACT = """discreet.mls_declassify('employee', '{"name": "Smith"}', ARRAY['perf'], 'U', 'was asked to')"""
LABELS = "INSERT INTO employee (name, name_label, perf, perf_label) VALUES ('Leak', 'U', 'Fair', 'U')"
SETUP = """
    CREATE SCHEMA low AUTHORIZATION mls_low;
    GRANT USAGE, CREATE ON SCHEMA low TO PUBLIC;
    CREATE SCHEMA officer AUTHORIZATION mls_trusted;
    GRANT USAGE ON SCHEMA officer TO PUBLIC;
"""
# what the low user makes, for everybody to use
CODE = f"""
    CREATE FUNCTION low.f() RETURNS int LANGUAGE plpgsql AS $$BEGIN PERFORM {ACT}; RETURN 1; END$$;
    CREATE FUNCTION low.definer() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN PERFORM {ACT}; RETURN 1; END$$;
    CREATE FUNCTION low.relabels() RETURNS int LANGUAGE plpgsql AS $$BEGIN
        PERFORM discreet.mls_relabel('employee', 'true', ARRAY['perf'], 'U', 'was asked to'); RETURN 1; END$$;
    CREATE FUNCTION low.labels() RETURNS int LANGUAGE plpgsql AS $$BEGIN {LABELS}; RETURN 1; END$$;
    CREATE FUNCTION low.inlined() RETURNS int LANGUAGE sql AS $$SELECT 1 FROM {ACT}$$;
    CREATE FUNCTION low.atomic() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1 FROM {ACT}; END;
    CREATE FUNCTION low.caught() RETURNS int LANGUAGE plpgsql AS $$BEGIN
        BEGIN PERFORM {ACT}; EXCEPTION WHEN OTHERS THEN PERFORM {ACT}; END; RETURN 1; END$$;
    CREATE FUNCTION low.down() RETURNS int LANGUAGE plpgsql AS $$DECLARE seen text; BEGIN
        SELECT perf INTO seen FROM employee WHERE perf_label = 'S'; SET discreet.level = 'U';
        INSERT INTO employee (name, perf) VALUES ('Leak', seen); RETURN 1; END$$;
    CREATE FUNCTION low.down_by_config(seen text) RETURNS int LANGUAGE plpgsql SET discreet.level = 'U' AS $$BEGIN
        INSERT INTO employee (name, perf) VALUES ('Leak', seen); RETURN 1; END$$;
    CREATE FUNCTION low.plus(int, int) RETURNS int LANGUAGE plpgsql AS $$BEGIN PERFORM {ACT}; RETURN 1; END$$;
    CREATE OPERATOR low.@+@ (FUNCTION = low.plus, LEFTARG = int, RIGHTARG = int);
    CREATE AGGREGATE low.total(int) (SFUNC = low.plus, STYPE = int, INITCOND = '0');
    CREATE FUNCTION low.compare(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM {ACT}; RETURN 1; END$$;
    CREATE PROCEDURE low.p() LANGUAGE plpgsql AS $$BEGIN PERFORM {ACT}; END$$;
    CREATE FUNCTION low.open() RETURNS refcursor LANGUAGE plpgsql AS $$DECLARE c refcursor := 'planted'; BEGIN
        OPEN c FOR SELECT {ACT}; RETURN c; END$$;
    CREATE FUNCTION low.fire() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM {ACT}; RETURN NEW; END$$;
    CREATE FUNCTION low.does(command text) RETURNS void LANGUAGE plpgsql AS $$BEGIN EXECUTE command; END$$;
    CREATE VIEW low.calls AS SELECT {ACT} IS NULL AS done;
    CREATE VIEW low.calls_officer AS SELECT officer.job() AS done;
    CREATE VIEW low.runs_text AS
        SELECT query_to_xml($$SELECT {ACT}$$, true, true, '') IS NULL AS done;
    CREATE VIEW low.statistics AS SELECT * FROM ts_stat($$SELECT ''::tsvector FROM {ACT}$$);
    CREATE VIEW low.goes_down AS SELECT set_config('discreet.level', 'U', false) AS done;
    CREATE TABLE low.ordinary (n int DEFAULT ({ACT} IS NULL)::int);
    CREATE TABLE low.copied (m text, n int DEFAULT ({ACT} IS NULL)::int);
    CREATE TABLE low.checked (n int CHECK (({ACT} IS NULL)));
    CREATE TABLE low.ruled (n int);
    CREATE RULE also AS ON INSERT TO low.ruled DO ALSO SELECT {ACT};
    CREATE TABLE low.labelling (n int);
    CREATE RULE also AS ON INSERT TO low.labelling DO ALSO {LABELS};
    CREATE VIEW low.instead AS SELECT 1 AS n;
    CREATE RULE instead AS ON INSERT TO low.instead DO INSTEAD {LABELS} RETURNING 1;
    CREATE TABLE low.fired (n int);
    CREATE TRIGGER fire AFTER INSERT ON low.fired FOR EACH ROW EXECUTE FUNCTION low.fire();
    CREATE TABLE low.deferred (n int);
    CREATE CONSTRAINT TRIGGER fire AFTER INSERT ON low.deferred DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION low.fire();
    CREATE TABLE low.conditional (n int);
    CREATE FUNCTION low.nothing() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$;
    CREATE TRIGGER fire BEFORE INSERT ON low.conditional FOR EACH ROW WHEN ({ACT} IS NULL)
        EXECUTE FUNCTION low.nothing();
    CREATE TABLE low.indexed (n int);
    CREATE INDEX ON low.indexed (low.compare(n));
    CREATE TABLE low.generated (n int, m int GENERATED ALWAYS AS (low.compare(n)) STORED);
    CREATE TABLE low.secured (n int);
    INSERT INTO low.secured VALUES (1);
    ALTER TABLE low.secured ENABLE ROW LEVEL SECURITY;
    CREATE POLICY act ON low.secured USING ({ACT} IS NULL);
    CREATE DOMAIN low.checking AS int CHECK (({ACT} IS NULL));
    CREATE DOMAIN low.running AS int CHECK (query_to_xml($$SELECT {ACT}$$, true, true, '') IS NOT NULL);
    CREATE TYPE low.pair AS (n int);
    CREATE FUNCTION low.to_int(low.pair) RETURNS int LANGUAGE plpgsql AS $$BEGIN PERFORM {ACT}; RETURN 1; END$$;
    CREATE CAST (low.pair AS int) WITH FUNCTION low.to_int(low.pair);
    CREATE VIEW low.written AS SELECT name, name_label, perf, perf_label FROM employee;
    ALTER VIEW low.written ALTER name_label SET DEFAULT 'U';
    ALTER VIEW low.written ALTER perf_label SET DEFAULT 'U';
    GRANT ALL ON ALL TABLES IN SCHEMA low TO PUBLIC;
"""
# what the trusted user does, without a thought of employees
WAYS = {
    "function": "SELECT low.f()",
    "definer's function": "SELECT low.definer()",
    "function that relabels": "SELECT low.relabels()",
    "function that gives labels": "SELECT low.labels()",
    "SQL function": "SELECT low.inlined()",
    "SQL function in FROM": "SELECT * FROM low.inlined()",
    "atomic function": "SELECT low.atomic()",
    "handler of an error": "SELECT low.caught()",
    "lower label": "SELECT low.down()",
    "operator": "SELECT 1 OPERATOR(low.@+@) 2",
    "aggregate": "SELECT low.total(n) FROM generate_series(1, 2) n",
    "window": "SELECT low.total(n) OVER () FROM generate_series(1, 2) n",
    "procedure": "CALL low.p()",
    "DO": "DO $$BEGIN PERFORM low.f(); END$$",
    "own function that calls it": "SELECT officer.calls_low()",
    "cursor": "BEGIN;; SELECT low.open();; FETCH ALL FROM planted;; COMMIT",
    "trigger": "INSERT INTO low.fired VALUES (1)",
    "deferred trigger": "INSERT INTO low.deferred VALUES (1)",
    "condition of a trigger": "INSERT INTO low.conditional VALUES (1)",
    "view": "SELECT * FROM low.calls",
    "view that calls a trusted function": "SELECT * FROM low.calls_officer",
    "text in a view": "SELECT * FROM low.runs_text",
    "statistics of a text": "SELECT * FROM low.statistics",
    "default": "INSERT INTO low.ordinary DEFAULT VALUES",
    "COPY with a default": "COPY low.copied (m) FROM PROGRAM 'echo'",
    "CHECK": "INSERT INTO low.checked VALUES (1)",
    "rule": "INSERT INTO low.ruled VALUES (1)",
    "rule that gives labels": "INSERT INTO low.labelling VALUES (1)",
    "rule of a view": "INSERT INTO low.instead VALUES (1)",
    "rule in WITH": "WITH w AS (INSERT INTO low.instead VALUES (1) RETURNING n) SELECT * FROM w",
    "index": "INSERT INTO low.indexed VALUES (1)",
    "generated column": "INSERT INTO low.generated VALUES (1)",
    "policy": "SELECT * FROM low.secured",
    "domain": "SELECT 1::low.checking",
    "text in a domain": "SELECT 1::low.running",
    "text in a domain of a variable": "DO $$DECLARE n low.running := 1; BEGIN END$$",
    "cast": "SELECT ROW(1)::low.pair::int",
    "labels by default of a view": "INSERT INTO low.written (name, perf) VALUES ('Leak', 'Fair')",
    "planted function": "SELECT low.does('CREATE FUNCTION low.job() RETURNS void LANGUAGE sql AS $$SELECT 1$$')",
    "replaced function":
        "SELECT low.does('CREATE OR REPLACE FUNCTION officer.job() RETURNS int LANGUAGE sql AS $$SELECT 1$$')",
    "planted statement": "SELECT low.does('PREPARE monthly AS SELECT 1')",
    "new trusted role": "SELECT low.does('GRANT discreet_trusted TO mls_low')",
    "text that stays": "SELECT * FROM low.runs_text LIMIT 0;; SELECT 1",
}  # fmt: skip


@pytest.fixture(autouse=True)
def planted(levels: Levels) -> Iterator[None]:
    levels.admin.execute(SETUP)
    levels.admin.execute("GRANT pg_execute_server_program TO mls_trusted")
    # the low user may be let call the acts: that it is not trusted must be enough
    levels.admin.execute("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA discreet TO mls_low")
    levels.admin.execute("GRANT USAGE ON SCHEMA discreet TO mls_low")
    officer = levels.at("trusted")
    officer.execute(f"""
        CREATE FUNCTION officer.job() RETURNS int LANGUAGE plpgsql AS $$BEGIN PERFORM {ACT}; RETURN 1; END$$;
        CREATE FUNCTION officer.sql_job() RETURNS int LANGUAGE sql AS $$SELECT 1 FROM {ACT}$$;
    """)
    levels.at("low").execute(CODE)
    officer.execute("CREATE FUNCTION officer.calls_low() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN low.f(); END'")
    yield
    levels.admin.execute("DROP SCHEMA low CASCADE; DROP SCHEMA officer CASCADE")
    levels.admin.execute("REVOKE pg_execute_server_program FROM mls_trusted; REVOKE discreet_trusted FROM mls_low")
    levels.admin.execute("REVOKE ALL ON ALL FUNCTIONS IN SCHEMA discreet FROM mls_low")
    levels.admin.execute("REVOKE ALL ON SCHEMA discreet FROM mls_low")


def officer_at_work(levels: Levels) -> Connection:
    """A trusted session that has read and written secrets of label S."""
    trusted = levels.at("trusted")
    trusted.execute("SET discreet.level = 'S'")
    assert trusted.execute("SELECT perf FROM employee WHERE name = 'Smith'").fetchall() == [("Fair",)]
    return trusted


def seen_below(levels: Levels) -> list[tuple[object, ...]]:
    return levels.at("low").execute("SELECT name, perf FROM employee").fetchall()


@pytest.mark.parametrize("way", WAYS)
def test_a_trusted_session_does_not_lend_its_trust(levels: Levels, way: str) -> None:
    trusted = officer_at_work(levels)
    for statement in WAYS[way].split(";; "):
        try:
            trusted.execute(statement)
        except psycopg.errors.InsufficientPrivilege:
            trusted.execute("ROLLBACK")
            break
    assert seen_below(levels) == [("Smith", None)]
    assert levels.admin.execute("SELECT pg_has_role('mls_low', 'discreet_trusted', 'MEMBER')").fetchall() == [(False,)]
    # the session is as trusted as before, unless a text was run
    if "text" not in way:
        trusted.execute(f"SELECT {ACT}")
        assert seen_below(levels) == [("Smith", "Fair")]


@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT {ACT}",
        f"DO $$BEGIN PERFORM {ACT}; END$$",
        "SELECT officer.job()",
        "SELECT officer.sql_job()",
        "SELECT * FROM officer.sql_job()",
        f"PREPARE own AS SELECT {ACT};; EXECUTE own",
        f"BEGIN;; DECLARE own CURSOR FOR SELECT {ACT};; FETCH ALL FROM own;; COMMIT",
        f"WITH done AS MATERIALIZED (SELECT {ACT}) SELECT count(*) FROM done",
        f"SELECT {ACT} FROM low.fired RIGHT JOIN generate_series(1, 1) n ON true",
    ],
)
def test_what_the_trusted_user_does_itself_still_works(levels: Levels, statement: str) -> None:
    trusted = officer_at_work(levels)
    for part in statement.split(";; "):
        trusted.execute(part)
    assert seen_below(levels) == [("Smith", "Fair")]


def test_nor_by_labels_and_levels(levels: Levels) -> None:
    trusted = officer_at_work(levels)
    trusted.execute("DO $$BEGIN SET discreet.level = 'U'; INSERT INTO employee (name) VALUES ('Own'); END$$")
    trusted.execute("SET discreet.level = 'S'")
    trusted.execute(LABELS)
    assert ("Leak", "Fair") in seen_below(levels)
    assert ("Own", None) in seen_below(levels)


def test_what_code_of_others_has_read_is_not_written_below(levels: Levels) -> None:
    """The session goes down by itself. What code of others has kept meanwhile stays where it is."""
    trusted = officer_at_work(levels)
    trusted.execute("SET discreet.level = 'U'")
    assert refusal(trusted, "SELECT low.down_by_config('Fair')")[0] == "42501"
    insert = "SELECT low.does($$INSERT INTO employee (name, perf) VALUES ('Leak', 'Fair')$$)"
    assert refusal(trusted, insert)[0] == "42501"
    trusted.execute("INSERT INTO employee (name) VALUES ('Own')")
    assert sorted(seen_below(levels)) == [("Own", None), ("Smith", None)]


@pytest.mark.parametrize("reads", [True, False])
def test_set_config_does_not_go_down(levels: Levels, reads: bool) -> None:
    """It may stand in a view."""
    trusted = officer_at_work(levels) if reads else levels.at("trusted")
    assert refusal(trusted, "SELECT * FROM low.goes_down")[0] == "42501"
    trusted.execute("INSERT INTO employee (name, perf) VALUES ('Secret', 'Poor')")
    assert seen_below(levels) == [("Smith", None)]


def test_a_view_that_code_of_others_has_made_for_the_session_gives_no_labels(levels: Levels) -> None:
    trusted = officer_at_work(levels)
    trusted.execute("SELECT low.does('CREATE TEMPORARY VIEW employee AS SELECT * FROM low.written')")
    trusted.execute("SELECT low.does($$ALTER VIEW employee ALTER name_label SET DEFAULT 'U'$$)")
    assert refusal(trusted, "INSERT INTO employee (name, perf) VALUES ('Leak', 'Fair')")[0] == "42501"


def test_a_role_that_becomes_trusted_connects_anew(levels: Levels) -> None:
    session = levels.at("high")
    session.execute("SELECT low.does('SELECT 1')")
    levels.admin.execute("GRANT discreet_trusted TO mls_high")
    try:
        assert refusal(session, LABELS)[0] == "42501"
        levels.at("high").execute(LABELS)
        assert ("Leak", "Fair") in seen_below(levels)
    finally:
        levels.admin.execute("REVOKE discreet_trusted FROM mls_high")


def test_nested_views_are_looked_at_once(levels: Levels) -> None:
    """Each names the one below twice: 2^40 ways lead to the last."""
    levels.admin.execute("CREATE VIEW deep_0 AS SELECT 1 AS n")
    for depth in range(40):
        levels.admin.execute(
            f"CREATE VIEW deep_{depth + 1} AS SELECT 1 AS n WHERE EXISTS (SELECT FROM deep_{depth}) "
            f"OR EXISTS (SELECT FROM deep_{depth} b)"
        )
    levels.admin.execute("CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'")
    levels.admin.execute("CREATE TRIGGER swallow INSTEAD OF INSERT ON deep_40 FOR EACH ROW EXECUTE FUNCTION swallow()")
    try:
        levels.admin.execute("SET statement_timeout = '60s'")
        with levels.admin.cursor().copy("COPY deep_40 FROM STDIN") as rows:
            rows.write_row([1])
    finally:
        levels.admin.execute("RESET statement_timeout; DROP VIEW deep_0 CASCADE; DROP FUNCTION swallow")
