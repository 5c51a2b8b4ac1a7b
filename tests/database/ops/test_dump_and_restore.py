"""A dump brings protections and budgets, with what was spent, to another database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from tests.databases import Connection, Database, MakeRole, Row, program, restore, throw_away_cluster
from tests.messages import refused

# what must be the same afterwards
STATE = {
    "datasets": "SELECT * FROM discreet._dataset ORDER BY 1",
    "protections": "SELECT relation::regclass::text, dataset, unit, policy, max_groups, max_rows, max_total_rows,"
    " max_epsilon, max_delta, unit_epsilon, min_group, fallback,"
    " protected_at FROM discreet._protected_table ORDER BY 1",
    "columns": "SELECT relation::regclass::text, column_name, lower, upper, categories, visibility"
    " FROM discreet._protected_column ORDER BY 1, 2",
    "exempt views": "SELECT view::text FROM discreet._exempt_view ORDER BY 1",
    "past": "SELECT relation::regclass::text, dataset, unit FROM discreet._past_protection ORDER BY 1",
    "budgets": "SELECT dataset, role::text, granted, epsilon_limit, delta_limit, amount_limit, amount_spent,"
    " delta_spent FROM discreet._budget ORDER BY 1, 2",
    "status": "SELECT * FROM discreet.budget_status ORDER BY 1, 2",
    "charges": "SELECT * FROM discreet._charge ORDER BY dataset, id",
    "secrets": "SELECT * FROM discreet._secret ORDER BY 1",
    "keys": "SELECT * FROM discreet._secret_key ORDER BY 1, 2",
    "holders": "SELECT secret, role::text FROM discreet._secret_holder ORDER BY 1, 2",
    "pseudonyms": "SELECT discreet.pseudonym('Alice', 'ζ secret'), discreet.pseudonym('Alice', 'ζ secret', 1)",
    "refusals": "SELECT * FROM discreet._refusal ORDER BY at",
}


def by_script(source: Database, target: Database, folder: Path) -> None:
    restore(source, target)


def by_archive(source: Database, target: Database, folder: Path) -> None:
    program("pg_dump", "-Fc", "-f", str(folder / "dump"), source.dsn())
    program("pg_restore", "-j", "2", "-e", "-d", target.dsn(), str(folder / "dump"))


Move = Callable[[Database, Database, Path], None]
each_way = pytest.mark.parametrize("move", [by_script, by_archive])


def state(connection: Connection) -> dict[str, list[Row]]:
    return {name: connection.execute(query).fetchall() for name, query in STATE.items()}


@pytest.fixture
def filled(admin: Connection, person: str, make_role: MakeRole) -> Connection:
    """Protected tables whose column numbers a dump will change, with budgets, charges and refusals."""
    alice, bob = make_role("alice"), make_role("Bob the 2nd")
    admin.execute(
        """
        ALTER TABLE hr.person DROP name, DROP seen;
        SELECT discreet.describe_column('hr.person', 'salary', 0, 9999.5, visibility => 'hidden');
        SELECT discreet.describe_column('hr.person', 'dept', categories => ARRAY['a', 'b, "c"', E'd\\n\te']);
        CREATE TABLE hr."Odd ""table" ("The Unit" int, gone int, x int) PARTITION BY LIST ("The Unit");
        CREATE TABLE hr.part PARTITION OF hr."Odd ""table" FOR VALUES IN (1);
        ALTER TABLE hr."Odd ""table" DROP gone;
        SELECT discreet.protect('hr."Odd ""table"', 'The Unit', epsilon => 3,
                                policy => 'personal', unit_epsilon => 1, max_rows => 1);
        CREATE VIEW hr."Seen by ""all" AS SELECT dept FROM hr.person;
        SELECT discreet.exempt_view('hr."Seen by ""all"');
        CREATE TABLE hr.dept (name text);
        SELECT discreet.protect('hr.dept', NULL, policy => 'public');
        UPDATE discreet._protected_table SET max_total_rows = 7 WHERE relation = 'hr.person'::regclass;
        SELECT discreet.create_dataset('ζ people', 1, 1e-6, 'zcdp', 'bounded', '2.5 seconds');
        """
    )
    admin.execute("SELECT discreet.grant_budget('people', %s, 1, 1e-7)", [alice])
    admin.execute("SELECT discreet.create_secret('ζ secret'), discreet.rotate_secret('ζ secret')")
    admin.execute("SELECT discreet.grant_secret('ζ secret', %s)", [alice])
    admin.execute("SELECT discreet.grant_budget('ζ people', quote_ident(%s)::regrole, 0.5)", [bob])
    admin.execute("UPDATE discreet._budget SET amount_spent = amount_limit / 3, delta_spent = 1e-8")
    admin.execute("SELECT discreet.revoke_budget('people', %s)", [alice])
    admin.execute(
        """
        INSERT INTO discreet._charge (dataset, id, at, role, epsilon, amount, delta, question, details, hash)
        VALUES ('people', 1, now(), %s, 0.1, 0.1, 0, E'SELECT ''it''\n\t', '{"a": [1, null]}', '\\x00ff')
        """,
        [alice],
    )
    admin.execute(
        "INSERT INTO discreet._refusal (role, code, message, question) VALUES (%s, 'DP001', 'no', 'q')", [bob]
    )
    return admin


@pytest.fixture
def target(empty_database: Database) -> Database:
    return empty_database


@each_way
def test_a_restored_dump_knows_all_that_was_declared_and_spent(
    filled: Connection, database: Database, target: Database, tmp_path: Path, move: Move
) -> None:
    move(database, target, tmp_path)
    restored = state(target.connect())
    assert restored == state(filled)
    assert len(restored["budgets"]) == 5
    assert all(restored.values())


@each_way
def test_after_a_restore_declarations_hold_the_columns_they_held_before(
    filled: Connection, database: Database, target: Database, tmp_path: Path, move: Move
) -> None:
    # dropped columns leave gaps in the numbers, which a dump closes: an old number would mean another column
    move(database, target, tmp_path)
    connection = target.connect()
    connection.execute("ALTER TABLE hr.person RENAME salary TO wage; ALTER TABLE hr.person RENAME id TO number")
    names = connection.execute("SELECT column_name FROM discreet.protected_columns ORDER BY 1").fetchall()
    assert names == [("dept",), ("wage",)]
    units = connection.execute("SELECT unit FROM discreet.protected_tables WHERE policy = 'noisy'").fetchall()
    assert units == [("number",)]
    connection.execute("ALTER TABLE hr.person DROP wage")
    assert connection.execute("SELECT column_name FROM discreet.protected_columns").fetchall() == [("dept",)]


@each_way
def test_the_budget_of_a_dropped_role_does_not_reappear(
    filled: Connection, database: Database, target: Database, tmp_path: Path, move: Move, make_role: MakeRole
) -> None:
    # in the dump it would be a bare number, which may be another role where it is restored
    leaver = make_role("leaver")
    filled.execute("SELECT discreet.grant_budget('people', %s, 1)", [leaver])
    filled.execute(f"DROP ROLE {leaver}")
    before = state(filled)
    before["budgets"] = [row for row in before["budgets"] if not str(row[1]).isdigit()]
    move(database, target, tmp_path)
    assert state(target.connect()) == before


@each_way
def test_a_partition_that_is_detached_right_after_a_restore_stays_protected(
    admin: Connection, database: Database, target: Database, tmp_path: Path, move: Move
) -> None:
    # nothing but the tables comes after the data here: no other command tells the catalog of the partition
    admin.execute(
        """
        CREATE TABLE visit (person int) PARTITION BY LIST (person);
        CREATE TABLE visit_1 PARTITION OF visit FOR VALUES IN (1);
        SELECT discreet.protect('visit', 'person', epsilon => 1, max_rows => 1);
        """
    )
    move(database, target, tmp_path)
    connection = target.connect()
    connection.execute("ALTER TABLE visit DETACH PARTITION visit_1")
    protected = connection.execute("SELECT relation::text FROM discreet.protected_tables ORDER BY 1").fetchall()
    assert protected == [("visit",), ("visit_1",)]


def test_the_log_of_charges_survives_a_restore_unbroken(
    database: Database, target: Database, tmp_path: Path, filled: Connection
) -> None:
    question = "SELECT * FROM discreet.verify_log()"
    before = filled.execute(question).fetchall()
    by_script(database, target, tmp_path)
    assert target.connect().execute(question).fetchall() == before


def test_stored_answers_are_left_out_and_what_was_paid_is_not(
    admin: Connection, person: str, database: Database, target: Database, make_role: MakeRole
) -> None:
    alice = make_role("alice", "discreet_analyst")
    admin.execute("SELECT discreet.grant_budget('people', %s, 1)", [alice])
    database.connect(alice).execute("SELECT * FROM discreet.query('SELECT count(*) FROM hr.person') AS t(n bigint)")
    restore(database, target)
    counted = "SELECT (SELECT count(*) FROM discreet._answer), (SELECT count(*) FROM discreet._charge)"
    assert admin.execute(counted).fetchall() == [(1, 1)]
    assert target.connect().execute(counted).fetchall() == [(0, 1)]


def test_without_its_roles_a_restored_database_refuses_and_says_so(
    filled: Connection, database: Database, target: Database, make_role: MakeRole
) -> None:
    asker, leaver = make_role("asker", "discreet_analyst"), make_role("leaver")
    for role in (asker, leaver):
        filled.execute("SELECT discreet.grant_budget('people', %s, 1)", [role])
    script = program("pg_dump", database.dsn())
    filled.execute(f"DROP ROLE {leaver}")
    with pytest.raises(AssertionError, match=f'role "{leaver}" does not exist'):
        program("psql", "-Xq", target.dsn(), text=script)
    question = "SELECT * FROM discreet.query('SELECT count(*) FROM hr.person') AS t(n bigint)"
    with refused("DP004", "budget", ""):
        target.connect(asker).execute(question)
    database.connect(asker).execute(question)
    found = (
        target.connect()
        .execute(
            "SELECT DISTINCT status FROM discreet.check_installation() WHERE item = 'missing limits'"
            " AND finding LIKE '%pg_dumpall --roles-only%'"
        )
        .fetchall()
    )
    assert found == [("problem",)]


POLL = """
    CREATE TABLE hr.poll (id int PRIMARY KEY, smoker boolean);
    SELECT discreet.rr_column('hr.poll', 'smoker', epsilon => 0.1);
    INSERT INTO hr.poll SELECT n, true FROM generate_series(1, 500) n;
"""
RESPONSES = "SELECT id, smoker FROM hr.poll ORDER BY id"


@pytest.fixture
def prepared(filled: Connection, database: Database, target: Database, tmp_path: Path) -> tuple[str, str]:
    """Arguments of pg_restore: the target has all but the data of the dump, among which are random responses."""
    filled.execute(POLL)
    program("pg_dump", "-Fc", "-f", str(tmp_path / "dump"), database.dsn())
    program("pg_restore", "-e", "-s", "-d", target.dsn(), str(tmp_path / "dump"))
    return f"--dbname={target.dsn()}", str(tmp_path / "dump")


def test_data_alone_are_restored_with_triggers_for_discreet_and_without_for_the_others(
    filled: Connection, target: Database, prepared: tuple[str, str]
) -> None:
    program("pg_restore", "-e", "-a", "-n", "discreet", *prepared)
    program("pg_restore", "-e", "-a", "-N", "discreet", "--disable-triggers", *prepared)
    restored = target.connect()
    assert state(restored) == state(filled)
    # drawn again, a response would differ with probability 0.475: all 500 the same by chance with less than 1e-100
    assert restored.execute(RESPONSES).fetchall() == filled.execute(RESPONSES).fetchall()


@pytest.mark.xfail(strict=True, reason="a dump numbers columns anew, and only a trigger finds them by name")
def test_data_alone_are_restored_without_any_trigger(
    filled: Connection, target: Database, prepared: tuple[str, str]
) -> None:
    program("pg_restore", "-e", "-a", "--disable-triggers", *prepared)
    # whatever is altered next, what is declared follows the numbers
    restored = target.connect()
    restored.execute("ALTER TABLE hr.person ADD more int")
    assert state(restored) == state(filled)


def test_a_dump_of_a_schema_has_no_keys(filled: Connection, database: Database) -> None:
    whole, part = program("pg_dump", database.dsn()), program("pg_dump", "-n", "hr", database.dsn())
    ((key,),) = filled.execute("SELECT encode(key, 'hex') FROM discreet._secret_key LIMIT 1").fetchall()
    assert str(key) in whole
    assert "COPY hr.person" in part
    assert "discreet" not in part


WITH_SETTINGS = """
    SET client_min_messages = warning;
    CREATE EXTENSION discreet CASCADE;
    CREATE TABLE person (id int PRIMARY KEY);
    INSERT INTO person SELECT generate_series(1, 1000);
    SELECT discreet.protect('person', 'id', epsilon => 10);
    CREATE ROLE alice LOGIN;
    SELECT discreet.grant_budget('public.person', 'alice', epsilon => 10);
    ALTER DATABASE hr SET statement_timeout = '10min';
    ALTER ROLE alice IN DATABASE hr SET discreet.epsilon = 5;
"""
TIMEOUT = "SHOW statement_timeout"


@pytest.mark.parametrize("whole", [True, False], ids=["with --create", "without"])
def test_settings_of_the_database_come_with_create_and_not_without(tmp_path: Path, whole: bool) -> None:
    with throw_away_cluster() as cluster:
        cluster.sql("CREATE DATABASE hr")
        cluster.sql(WITH_SETTINGS, "hr")
        program("pg_dump", "-Fc", "-f", str(tmp_path / "dump"), cluster.dsn("hr"))
        cluster.sql("DROP DATABASE hr")
        if not whole:
            cluster.sql("CREATE DATABASE hr")
        arguments = ["-C", "-d", cluster.dsn()] if whole else ["-d", cluster.dsn("hr")]
        program("pg_restore", "-j", "2", "-e", *arguments, str(tmp_path / "dump"))
        assert cluster.sql(TIMEOUT, "hr") == ("10min" if whole else "0")
        with psycopg.connect(cluster.dsn("hr", "alice"), autocommit=True) as alice:
            alice.execute("SET discreet.epsilon = 5")
            ((count,),) = alice.execute("SELECT count(*) FROM person").fetchall()
        # noise of scale 1/5: off by more than 10 with less than 1e-20
        assert abs(count - 1000) <= 10
        assert cluster.sql("SELECT epsilon_spent FROM discreet.budget_status WHERE role IS NULL", "hr") == "5"
