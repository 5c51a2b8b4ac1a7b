"""A trigger of a low user on a multilevel table: a trusted session runs it, and it declassifies a secret there."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from tests.attacks.mls.levels import Levels, outcome, refusal
from tests.databases import Connection, Database, restore

DECLASSIFY = """SELECT discreet.mls_declassify('{table}', '{{"name": "Smith"}}', ARRAY['perf'], 'U', 'was asked to')"""
FUNCTION = """
    CREATE OR REPLACE FUNCTION low.spy() RETURNS trigger LANGUAGE plpgsql SECURITY {security} AS $$
    BEGIN
        INSERT INTO low.seen VALUES (session_user);
        IF session_user = 'mls_trusted' THEN PERFORM {declassify}; END IF;
        RETURN coalesce(NEW, OLD);
    END $$;
    CREATE OR REPLACE FUNCTION low.look() RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO low.seen VALUES (session_user); RETURN false; END $$;
    GRANT EXECUTE ON FUNCTION low.spy(), low.look() TO PUBLIC;
"""
SETUP = """
    CREATE SCHEMA low AUTHORIZATION mls_low;
    GRANT USAGE ON SCHEMA low TO PUBLIC;
    CREATE TABLE low.seen (who text);
    GRANT INSERT, SELECT ON low.seen TO PUBLIC;
    ALTER TABLE low.seen OWNER TO mls_low;
    CREATE TABLE spied (name text PRIMARY KEY, salary int, perf text);
    SELECT discreet.mls_table('spied', ARRAY['name']);
    SELECT discreet.add_rule('spied', 'pay', 'NEW.salary > 0');
    SELECT discreet.add_limit('spied', 'rich', 'salary > 1000', 5);
    GRANT ALL ON spied TO mls_low, mls_middle, mls_high, mls_trusted;
    GRANT TRIGGER ON spied_mls TO mls_low;
"""
SECRET = """
    INSERT INTO spied (name, name_label, salary, salary_label, perf, perf_label)
    VALUES ('Smith', 'U', 1, 'U', 'Fair', 'S')
"""
ON_THE_VIEW = [
    *(f"{when} FOR EACH ROW" for when in ("INSTEAD OF UPDATE", "INSTEAD OF INSERT", "INSTEAD OF DELETE")),
    *(f"{when} {act} FOR EACH STATEMENT" for when in ("BEFORE", "AFTER") for act in ("UPDATE", "INSERT", "DELETE")),
]
ON_THE_TABLE = [
    *(f"{when} {act} FOR EACH {each}"
      for when in ("BEFORE", "AFTER") for act in ("UPDATE", "INSERT") for each in ("ROW", "STATEMENT")),
]  # fmt: skip


@pytest.fixture(autouse=True)
def spied(levels: Levels) -> Iterator[None]:
    """A multilevel table on which mls_low holds all privileges, and Smith with a perf of label S."""
    levels.admin.execute(SETUP)
    levels.at("low").execute(FUNCTION.format(security="INVOKER", declassify=DECLASSIFY.format(table="spied")[7:]))
    trusted = levels.at("trusted")
    trusted.execute("SET discreet.level = 'S'")
    trusted.execute(SECRET)
    yield
    levels.admin.execute("SELECT discreet.mls_drop('spied')")
    levels.admin.execute("DROP SCHEMA low CASCADE")


def work_of_the_trusted(levels: Levels) -> None:
    """All kinds of writes, at S."""
    trusted = levels.at("trusted")
    trusted.execute("SET discreet.level = 'S'")
    trusted.execute("INSERT INTO spied (name, salary) VALUES ('Rossi', 1), ('Weiss', 2)")
    trusted.execute("UPDATE spied SET salary = 3 WHERE name = 'Smith'")
    trusted.execute("UPDATE spied SET salary = 4 WHERE name = 'Rossi'")
    trusted.execute("DELETE FROM spied WHERE name = 'Weiss'")
    trusted.execute("WITH changed AS (UPDATE spied SET salary = 5 RETURNING *) SELECT count(*) FROM changed")
    seen = trusted.execute("SELECT name, salary FROM spied WHERE salary_label = 'S' ORDER BY name").fetchall()
    assert seen == [("Rossi", 5), ("Smith", 5)]
    trusted.close()


ON_A_VIEW = [
    "INSTEAD OF UPDATE ON around FOR EACH ROW EXECUTE FUNCTION low.spy()",
    "INSTEAD OF INSERT ON around FOR EACH ROW EXECUTE FUNCTION low.spy()",
    # beside an INSTEAD OF trigger of the owner; the function is PostgreSQL's, the condition is not
    "BEFORE UPDATE ON around FOR EACH STATEMENT EXECUTE FUNCTION low.spy()",
    "BEFORE UPDATE ON around FOR EACH STATEMENT WHEN (low.look()) EXECUTE FUNCTION own()",
]
AROUND = """
    CREATE VIEW between AS SELECT name, salary, perf FROM spied;
    CREATE VIEW around AS SELECT * FROM between;
    GRANT ALL ON around TO mls_low, mls_trusted;
    CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
        UPDATE spied SET salary = NEW.salary WHERE name = NEW.name; RETURN NEW; END$$;
"""


@pytest.mark.parametrize("trigger", ON_A_VIEW)
def test_a_view_over_a_multilevel_table_with_a_trigger_of_others_is_not_written_to(
    levels: Levels, trigger: str
) -> None:
    levels.admin.execute(AROUND)
    if "STATEMENT" in trigger:
        levels.admin.execute("CREATE TRIGGER own INSTEAD OF UPDATE ON around FOR EACH ROW EXECUTE FUNCTION own()")
    update = "UPDATE around SET salary = 3 WHERE name = 'Smith'"
    writes = ["INSERT INTO around VALUES ('Rossi', 1)" if "INSERT" in trigger else update, "COPY around FROM STDIN"]
    trusted = levels.at("trusted")
    trusted.execute("SET discreet.level = 'S'")
    assert outcome(trusted, update) == outcome(trusted, "UPDATE spied SET salary = 3 WHERE name = 'Smith'")
    levels.at("low").execute(f"CREATE TRIGGER theirs {trigger}")
    for statement in writes:
        assert refusal(trusted, statement)[0] == "55000"
    holders = "SELECT count(*) FROM discreet.check_installation() WHERE item = 'trigger holders' AND finding ~ 'around'"
    assert levels.admin.execute(holders).fetchall() == [(1,)]
    assert_nothing_ran(levels)
    levels.admin.execute("DROP VIEW between CASCADE; DROP FUNCTION own CASCADE")


def assert_nothing_ran(levels: Levels) -> None:
    assert levels.admin.execute("SELECT who FROM low.seen").fetchall() == []
    assert levels.at("low").execute("SELECT name, perf FROM spied").fetchall() == [("Smith", None)]


def test_a_trigger_of_a_plain_table_does_not_declassify(levels: Levels, low: Connection) -> None:
    """PostgreSQL runs it in the trusted session that writes to the table."""
    levels.admin.execute("CREATE TABLE plain (n int); GRANT ALL ON plain TO mls_low, mls_trusted")
    low.execute("CREATE TRIGGER spy BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION low.spy()")
    trusted = levels.at("trusted")
    trusted.execute("SET discreet.level = 'S'")
    try:
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="code of others calls it"):
            trusted.execute("INSERT INTO plain VALUES (1)")
        assert low.execute("SELECT perf FROM spied WHERE name = 'Smith'").fetchall() == [(None,)]
    finally:
        trusted.close()
        levels.admin.execute("DROP TABLE plain")


def test_a_plain_table_runs_it(levels: Levels, low: Connection, high: Connection) -> None:
    levels.admin.execute("CREATE TABLE plain (name text); GRANT ALL ON plain TO mls_low, mls_high")
    low.execute("CREATE TRIGGER spy BEFORE INSERT ON plain FOR EACH ROW EXECUTE FUNCTION low.spy()")
    high.execute("INSERT INTO plain VALUES ('x')")
    levels.admin.execute("DROP TABLE plain")
    assert levels.admin.execute("SELECT who FROM low.seen").fetchall() == [("mls_high",)]


@pytest.mark.parametrize("security", ["INVOKER", "DEFINER"])
@pytest.mark.parametrize("kind", ON_THE_VIEW)
def test_a_trigger_on_the_view_does_not_run(levels: Levels, low: Connection, kind: str, security: str) -> None:
    low.execute(FUNCTION.format(security=security, declassify=DECLASSIFY.format(table="spied")[7:]))
    event, _, each = kind.partition(" FOR ")
    for name in ("a_first", "discreet_mls_uzz", "zz", "rule zz"):
        low.execute(f'CREATE TRIGGER "{name}" {event} ON spied FOR {each} EXECUTE FUNCTION low.spy()')
    work_of_the_trusted(levels)
    assert_nothing_ran(levels)


@pytest.mark.parametrize("enabled", ["", "ENABLE ALWAYS", "ENABLE REPLICA"])
@pytest.mark.parametrize("kind", ON_THE_TABLE)
def test_a_trigger_on_the_hidden_table_does_not_run(levels: Levels, low: Connection, kind: str, enabled: str) -> None:
    event, _, each = kind.partition(" FOR ")
    low.execute(f"CREATE TRIGGER spy {event} ON spied_mls FOR {each} EXECUTE FUNCTION low.spy()")
    if enabled:
        levels.admin.execute(f"ALTER TABLE spied_mls DISABLE TRIGGER spy; ALTER TABLE spied_mls {enabled} TRIGGER spy")
    work_of_the_trusted(levels)
    assert_nothing_ran(levels)


def test_nor_does_a_deferred_constraint_trigger_or_a_condition(levels: Levels, low: Connection) -> None:
    low.execute("""
        CREATE CONSTRAINT TRIGGER spy AFTER INSERT OR UPDATE ON spied_mls DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION low.spy();
        CREATE TRIGGER looking BEFORE UPDATE ON spied FOR EACH STATEMENT WHEN (low.look()) EXECUTE FUNCTION low.spy();
        CREATE TRIGGER looking BEFORE UPDATE ON spied_mls FOR EACH ROW WHEN (low.look()) EXECUTE FUNCTION low.spy();
    """)
    work_of_the_trusted(levels)
    assert_nothing_ran(levels)


def test_a_condition_on_a_trigger_of_discreets_own_function_is_not_evaluated(levels: Levels, low: Connection) -> None:
    """By somebody who may execute all functions of the schema."""
    levels.admin.execute("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO mls_low")
    low.execute(
        "CREATE TRIGGER mine BEFORE UPDATE ON spied FOR EACH STATEMENT WHEN (low.look())"
        " EXECUTE FUNCTION spied_mls_update()"
    )
    work_of_the_trusted(levels)
    assert_nothing_ran(levels)


@pytest.mark.parametrize("name", ["discreet_mls_update", "rule pay", "limit rich", "update limit rich"])
def test_triggers_of_discreet_are_not_replaced(levels: Levels, low: Connection, name: str) -> None:
    each = (
        "AFTER UPDATE ON spied FOR EACH STATEMENT"
        if name.startswith("up")
        else "INSTEAD OF UPDATE ON spied FOR EACH ROW"
    )
    replace = f'CREATE OR REPLACE TRIGGER "{name}" {each} EXECUTE FUNCTION low.spy()'
    assert refusal(low, replace)[0] == "42501"
    work_of_the_trusted(levels)
    assert_nothing_ran(levels)


def test_a_lost_trigger_is_an_error_and_not_a_write_that_vanishes(levels: Levels, low: Connection) -> None:
    levels.admin.execute("DROP TRIGGER discreet_mls_update ON spied")
    low.execute("CREATE TRIGGER spy INSTEAD OF UPDATE ON spied FOR EACH ROW EXECUTE FUNCTION low.spy()")
    assert refusal(levels.at("low"), "UPDATE spied SET salary = 2")[0] == "55000"
    levels.admin.execute(
        "CREATE TRIGGER discreet_mls_update INSTEAD OF UPDATE ON spied FOR EACH ROW EXECUTE FUNCTION spied_mls_update()"
    )
    work_of_the_trusted(levels)
    assert_nothing_ran(levels)


def test_a_session_that_replicates_runs_what_discreet_made_and_nothing_else(levels: Levels, low: Connection) -> None:
    low.execute("CREATE TRIGGER spy BEFORE UPDATE ON spied_mls FOR EACH ROW EXECUTE FUNCTION low.spy()")
    levels.admin.execute("ALTER TABLE spied_mls ENABLE REPLICA TRIGGER spy")
    levels.admin.execute("GRANT SET ON PARAMETER session_replication_role TO mls_trusted")
    levels.admin.execute("ALTER ROLE mls_trusted SET session_replication_role = replica")
    try:
        work_of_the_trusted(levels)
    finally:
        levels.admin.execute("ALTER ROLE mls_trusted RESET session_replication_role")
        levels.admin.execute("REVOKE SET ON PARAMETER session_replication_role FROM mls_trusted")
    assert_nothing_ran(levels)


@pytest.mark.parametrize("action", ["DO ALSO SELECT low.look()", "DO INSTEAD SELECT low.look()"])
def test_a_table_with_a_rule_is_not_used(levels: Levels, low: Connection, action: str) -> None:
    levels.admin.execute(f"CREATE RULE spy AS ON UPDATE TO spied {action}")
    trusted = levels.at("trusted")
    trusted.execute("CREATE TEMPORARY VIEW around AS SELECT * FROM spied")
    for target in ("spied", "around"):
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="has a rule"):
            trusted.execute(f"UPDATE {target} SET salary = 3")
    trusted.close()
    levels.admin.execute("DROP RULE spy ON spied")
    assert_nothing_ran(levels)


@pytest.mark.parametrize("event", ["INSERT", "UPDATE", "DELETE"])
@pytest.mark.parametrize(
    "action", ["ALSO SELECT low.look()", "INSTEAD SELECT low.look()", "INSTEAD NOTIFY heard", "INSTEAD NOTHING"]
)
def test_nor_is_one_whose_hidden_table_has_a_rule(levels: Levels, low: Connection, event: str, action: str) -> None:
    levels.admin.execute(f"CREATE RULE spy AS ON {event} TO spied_mls DO {action}")
    low.execute("LISTEN heard")
    trusted = levels.at("trusted")
    trusted.execute("SET discreet.level = 'S'")
    for statement in (
        "INSERT INTO spied (name, salary) VALUES ('Rossi', 1)",
        "UPDATE spied SET salary = 3",
        "DELETE FROM spied",
        DECLASSIFY.format(table="spied"),
    ):
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="spied_mls has a rule"):
            trusted.execute(statement)
    with (
        pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="spied_mls has a rule"),
        trusted.cursor().copy("COPY spied (name) FROM STDIN") as rows,
    ):
        rows.write_row(["Copied"])
    trusted.close()
    assert list(low.notifies(timeout=0)) == []
    levels.admin.execute("DROP RULE spy ON spied_mls")
    assert_nothing_ran(levels)
    work_of_the_trusted(levels)


@pytest.mark.parametrize("target", ["spied", "spied_mls"])
def test_copy_and_truncate_are_refused_where_a_trigger_stands(levels: Levels, low: Connection, target: str) -> None:
    low.execute(f"CREATE TRIGGER spy BEFORE INSERT ON {target} FOR EACH STATEMENT EXECUTE FUNCTION low.spy()")
    if target == "spied_mls":
        low.execute("CREATE TRIGGER empty BEFORE TRUNCATE ON spied_mls EXECUTE FUNCTION low.spy()")
        assert refusal(levels.admin, "TRUNCATE spied_mls")[0] == "55000"
        assert refusal(levels.admin, "SELECT discreet.mls_plain('spied')")[0] == "55000"
    connection = levels.at("trusted") if target == "spied" else levels.admin
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="is not discreet's"):
        connection.cursor().copy(f"COPY {target} (name) FROM STDIN").__enter__()
    assert_nothing_ran(levels)
    levels.admin.execute(f"DROP TRIGGER spy ON {target}")
    with levels.at("trusted").cursor().copy("COPY spied (name) FROM STDIN") as rows:
        rows.write_row(["Copied"])


def test_the_installation_is_checked_for_grants_triggers_and_rules(levels: Levels, low: Connection) -> None:
    low.execute("CREATE TRIGGER spy INSTEAD OF UPDATE ON spied FOR EACH ROW EXECUTE FUNCTION low.spy()")
    low.execute("CREATE TRIGGER base_spy BEFORE UPDATE ON spied_mls FOR EACH ROW EXECUTE FUNCTION low.spy()")
    levels.admin.execute("CREATE RULE also AS ON UPDATE TO spied DO ALSO SELECT 1")
    levels.admin.execute("CREATE RULE base_also AS ON UPDATE TO spied_mls DO ALSO SELECT 1")
    findings = levels.admin.execute("SELECT * FROM discreet.check_installation()").fetchall()
    holders = {text for check, _, text in findings if check == "trigger holders"}
    foreign = {text for check, _, text in findings if check == "foreign triggers"}
    assert {text.split()[2] for text in holders} == {"public.spied", "public.spied_mls"}
    assert all("mls_low" in text for text in holders)
    assert {text.rpartition(": ")[2] for text in foreign} == {
        "DROP TRIGGER spy ON public.spied", "DROP TRIGGER base_spy ON public.spied_mls",
        "DROP RULE also ON public.spied", "DROP RULE base_also ON public.spied_mls",
    }  # fmt: skip
    for text in foreign:
        levels.admin.execute(text.rpartition(": ")[2])
    levels.admin.execute("REVOKE TRIGGER ON spied FROM mls_low, mls_middle, mls_high, mls_trusted")
    levels.admin.execute("REVOKE TRIGGER ON spied_mls FROM mls_low")
    after = levels.admin.execute("SELECT * FROM discreet.check_installation()").fetchall()
    assert [row for row in after if row[0] in ("trigger holders", "foreign triggers")] == []


def test_a_restored_trigger_does_not_run_either(levels: Levels, low: Connection, empty_database: Database) -> None:
    low.execute("CREATE TRIGGER spy INSTEAD OF UPDATE ON spied FOR EACH ROW EXECUTE FUNCTION low.spy()")
    with pytest.raises(AssertionError, match='WARNING:  trigger "spy" will not run'):  # no more than the warning
        restore(levels.database, empty_database)
    admin = empty_database.connect()
    named = "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'spied'::regclass AND tgname = 'spy'"
    assert admin.execute(named).fetchall() == [(1,)]
    trusted = empty_database.connect("mls_trusted")
    trusted.execute("SET discreet.level = 'S'; UPDATE spied SET salary = 3")
    assert trusted.execute("SELECT salary FROM spied WHERE salary_label = 'S'").fetchall() == [(3,)]
    assert admin.execute("SELECT who FROM low.seen").fetchall() == []
    assert outcome(trusted, "UPDATE spied SET salary = 0")[0] == "23514"
