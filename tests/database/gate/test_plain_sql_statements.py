"""Statements of every kind that reach a protected table: answered, or refused as PostgreSQL or the gate refuses."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from tests.databases import Database, MakeRole, throw_away_cluster
from tests.messages import notices
from tests.office import ANALYST, CANARY, NOISE, READER, Office

Analyst = psycopg.Connection[Any]

COUNT = "SELECT count(*) FROM hr.person"
BY_DEPT = "SELECT dept, count(*) AS n FROM hr.person GROUP BY dept"
OWN = """
    CREATE TABLE nora.own (dept text PRIMARY KEY, n bigint);
    INSERT INTO nora.own VALUES ('dept 1', 0), ('dept 7', 0);
"""


def outcome(analyst: Analyst, statement: str) -> str:
    """The tag of the command, or the SQLSTATE of the refusal."""
    try:
        return str(analyst.execute(statement).statusmessage)
    except psycopg.Error as error:
        return f"told {found[0]}" if (found := CANARY.search(str(error))) else str(error.sqlstate)


@pytest.mark.parametrize(
    ("statement", "tag"),
    [
        (f"INSERT INTO nora.own {BY_DEPT} ON CONFLICT (dept) DO UPDATE SET n = excluded.n RETURNING *", "INSERT 0 4"),
        (f"UPDATE nora.own SET n = ({COUNT})", "UPDATE 2"),
        (f"UPDATE nora.own SET n = s.n FROM ({BY_DEPT}) s WHERE s.dept = own.dept RETURNING own.n", "UPDATE 1"),
        (f"DELETE FROM nora.own USING ({BY_DEPT}) s WHERE s.dept = own.dept", "DELETE 1"),
        (f"MERGE INTO nora.own o USING ({BY_DEPT}) s ON o.dept = s.dept WHEN MATCHED THEN UPDATE SET n = s.n"
         " WHEN NOT MATCHED THEN INSERT VALUES (s.dept, s.n)", "MERGE 4"),
        (f"WITH gone AS (DELETE FROM nora.own RETURNING *) SELECT dept, s.n FROM gone JOIN ({BY_DEPT}) s USING (dept)",
         "SELECT 1"),
        (f"WITH gone AS (DELETE FROM nora.own RETURNING *) {COUNT}", "SELECT 1"),
        (f"CREATE TABLE nora.kept AS {BY_DEPT}", "SELECT 4"),
        (f"CREATE TEMP TABLE kept AS {COUNT}", "SELECT 1"),
        ("SELECT count(*) INTO nora.kept FROM hr.person", "SELECT 1"),
        (f"CREATE VIEW nora.kept AS {BY_DEPT}", "CREATE VIEW"),
        (f"{BY_DEPT} UNION ALL SELECT 'all', count(*) FROM hr.person", "SELECT 5"),
        (f"{COUNT} INTERSECT {COUNT}", "SELECT 1"),
        (f"WITH RECURSIVE r AS ({COUNT} UNION ALL SELECT count - 1000 FROM r WHERE count > 500) TABLE r", "SELECT 3"),
        (f"SELECT o.dept, s.n FROM nora.own o LEFT JOIN ({BY_DEPT}) s USING (dept)", "SELECT 2"),
        (f"SELECT g, ({COUNT}) FROM generate_series(1, 3) g", "SELECT 3"),
        (f"SELECT s.*, x.a FROM ({COUNT}) s,"
         " xmltable('/r' PASSING xmlparse(DOCUMENT '<r>1</r>') COLUMNS a int PATH '.') x", "SELECT 1"),
        (f"SELECT s.*, j.a FROM ({COUNT}) s, json_to_record('{{\"a\": 1}}') AS j(a int)", "SELECT 1"),
        (f"SELECT dept FROM nora.own WHERE n < ({COUNT}) FOR UPDATE", "SELECT 2"),
        ("SELECT dept, count(*) FROM hr.person GROUP BY GROUPING SETS ((dept), ())", "SELECT 5"),
        ("SELECT dept, count(*) FROM hr.person GROUP BY ROLLUP (dept)", "SELECT 5"),
        ("SELECT count(*) FROM ONLY hr.person", "SELECT 1"),
        ("SELECT count(*) FROM (TABLE hr.person) t", "SELECT 1"),
        (f"VALUES (({COUNT})), (0)", "SELECT 2"),
        (f"DECLARE c SCROLL CURSOR WITH HOLD FOR {BY_DEPT}", "DECLARE CURSOR"),
        (f"PREPARE p AS {COUNT} WHERE age > $1", "PREPARE"),
        (f"EXPLAIN (VERBOSE) {COUNT}", "EXPLAIN"),
        (f"DO $$ DECLARE r record; BEGIN FOR r IN {BY_DEPT} LOOP PERFORM r.n; END LOOP; END $$", "DO"),
        (f"DO $$ DECLARE d text := 'dept 1'; n bigint; BEGIN n := ({COUNT} p WHERE p.dept = d);"
         " IF n IS NULL THEN RAISE 'no answer'; END IF; END $$", "DO"),
    ],
)  # fmt: skip
def test_it_is_answered(nora: Analyst, statement: str, tag: str) -> None:
    nora.execute(OWN)
    assert outcome(nora, statement) == tag


@pytest.mark.parametrize(
    ("statement", "sqlstate"),
    [
        # rows of people, on whatever way
        ("SELECT * FROM hr.person", "DP002"),
        ("SELECT p FROM hr.person p", "DP001"),
        ("SELECT name FROM hr.person LIMIT 1", "DP001"),
        ("SELECT ctid FROM hr.person", "DP001"),
        ("SELECT count(xmin) FROM hr.person", "DP001"),
        ("SELECT count(tableoid) FROM hr.person", "DP001"),
        ("SELECT FROM hr.person", "DP001"),
        ("SELECT dept FROM hr.person FOR UPDATE", "DP001"),
        ("SELECT count(*) FROM hr.person TABLESAMPLE BERNOULLI (50)", "DP001"),
        ("INSERT INTO nora.own SELECT name, id FROM hr.person", "DP001"),
        ("CREATE TABLE nora.kept AS TABLE hr.person", "DP002"),
        ("CREATE MATERIALIZED VIEW nora.kept AS TABLE hr.person", "DP002"),
        # own tables, functions and rows beside those of people
        ("SELECT count(*) FROM hr.person JOIN nora.own USING (dept)", "DP001"),
        ("SELECT o.dept, (SELECT count(*) FROM hr.person p WHERE p.dept = o.dept) FROM nora.own o", "DP001"),
        ("SELECT count(*) FROM nora.own WHERE EXISTS (SELECT FROM hr.person p WHERE p.dept = own.dept)", "DP001"),
        ("UPDATE nora.own SET n = p.id FROM hr.person p", "DP001"),
        ("DELETE FROM nora.own USING hr.person", "DP001"),
        ("MERGE INTO nora.own o USING hr.person p ON o.dept = p.dept WHEN MATCHED THEN DELETE", "DP001"),
        ("SELECT count(*) FROM hr.person, LATERAL (SELECT hr.person.name) l", "DP001"),
        ("SELECT count(*) FROM hr.person, xmltable('/' PASSING xmlparse(DOCUMENT name) COLUMNS a int)", "DP001"),
        ("SELECT count(*) FROM hr.person WHERE dept IN (SELECT dept FROM nora.own)", "DP001"),
        # what is written to belongs to PostgreSQL
        ("INSERT INTO hr.visit VALUES (1, 1, 1)", "42501"),
        ("UPDATE hr.person SET salary = 0", "42501"),
        ("UPDATE hr.person SET salary = 0 WHERE id = 1 RETURNING *", "42501"),
        ("DELETE FROM hr.person WHERE name = 'x'", "42501"),
        ("WITH gone AS (DELETE FROM hr.person RETURNING *) SELECT count(*) FROM gone", "42501"),
        ("MERGE INTO hr.person p USING nora.own o ON p.dept = o.dept WHEN MATCHED THEN DELETE", "42501"),
        ("COPY hr.person TO STDOUT", "42501"),
        ("CREATE TABLE nora.kept (LIKE hr.person)", "42501"),
        ("EXPLAIN ANALYZE SELECT count(*) FROM hr.person", "DP001"),
        ("EXPLAIN (ANALYZE, TIMING OFF) SELECT dept, count(*) FROM hr.person GROUP BY dept", "DP001"),
    ],
)
def test_it_is_refused_and_nothing_is_spent(office: Office, nora: Analyst, statement: str, sqlstate: str) -> None:
    nora.execute(OWN)
    assert outcome(nora, statement) == sqlstate
    assert office.spent() == 0


def test_explain_analyze_is_refused_for_a_stored_answer_too(nora: Analyst) -> None:
    nora.execute(COUNT)
    assert outcome(nora, f"EXPLAIN ANALYZE {COUNT}") == "DP001"


def test_a_held_cursor_keeps_its_answer(office: Office, nora: Analyst) -> None:
    with nora.transaction():
        nora.execute(f"DECLARE c SCROLL CURSOR WITH HOLD FOR {BY_DEPT} ORDER BY dept")
    office.admin.execute("UPDATE discreet._budget SET amount_limit = 0 WHERE false")
    first = nora.execute("FETCH ALL FROM c").fetchall()
    nora.execute("MOVE ABSOLUTE 0 FROM c")
    assert nora.execute("FETCH ALL FROM c").fetchall() == first
    assert len(first) == 4


def test_a_view_over_a_question_asks_when_it_is_read(office: Office, nora: Analyst) -> None:
    nora.execute(f"CREATE VIEW nora.staff AS {BY_DEPT}")
    assert office.questions() == 0
    assert len(nora.execute("SELECT * FROM nora.staff WHERE n > 0").fetchall()) == 4
    assert office.questions() == 1


def test_functions_of_the_analyst_ask_for_their_caller(nora: Analyst) -> None:
    nora.execute(f"""
        CREATE FUNCTION nora.by_sql(d text) RETURNS bigint LANGUAGE sql AS '{COUNT} WHERE dept = d';
        CREATE FUNCTION nora.rows_by_sql() RETURNS SETOF bigint LANGUAGE sql STABLE AS '{COUNT}';
        CREATE FUNCTION nora.by_plpgsql(d text) RETURNS bigint LANGUAGE plpgsql AS
        'BEGIN RETURN (SELECT count(*) FROM hr.person WHERE dept = d); END';
        CREATE FUNCTION nora.by_text(q text) RETURNS SETOF bigint LANGUAGE plpgsql AS
        'BEGIN RETURN QUERY EXECUTE q USING 30; END';
    """)
    for call in (
        "SELECT nora.by_sql('dept 1')",
        "SELECT * FROM nora.rows_by_sql()",
        "SELECT nora.by_plpgsql('dept 1')",
        f"SELECT * FROM nora.by_text('{COUNT} WHERE age > $1')",
    ):
        ((answer,),) = nora.execute(call).fetchall()
        assert 450 < answer < 2000 + NOISE


def test_a_body_that_is_kept_analysed_is_denied(nora: Analyst) -> None:
    nora.execute(f"CREATE FUNCTION nora.kept() RETURNS bigint LANGUAGE sql BEGIN ATOMIC {COUNT}; END")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        nora.execute("SELECT nora.kept()")


@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ", "REPEATABLE READ READ ONLY"])
def test_questions_are_prepared_and_asked_below_serializable(nora: Analyst, level: str) -> None:
    nora.execute(f"BEGIN ISOLATION LEVEL {level}")
    nora.execute(f"PREPARE p AS {COUNT} WHERE age > $1")
    ((answer,),) = nora.execute("EXECUTE p (0)").fetchall()
    nora.execute("COMMIT")
    assert abs(answer - 2000) <= NOISE


def test_a_statement_prepared_before_the_budget_or_the_table_changed(office: Office, nora: Analyst) -> None:
    nora.execute(f"PREPARE p AS {COUNT}; PREPARE q AS {BY_DEPT}")
    nora.execute("EXECUTE p")
    office.admin.execute("SELECT discreet.revoke_budget('people', 'nora')")
    assert outcome(nora, "EXECUTE q") == "DP004"
    office.admin.execute("SELECT discreet.grant_budget('people', 'nora', 1000, 1e-3)")
    office.admin.execute("ALTER TABLE hr.person RENAME COLUMN dept TO unit")
    renamed = outcome(nora, "EXECUTE q")
    office.admin.execute("ALTER TABLE hr.person RENAME COLUMN unit TO dept")
    assert (renamed, outcome(nora, "EXECUTE q")) == ("DP001", "SELECT 4")


def test_a_superuser_who_prepared_as_an_analyst_gets_no_rows_by_it(office: Office) -> None:
    with office.database.connect() as session:
        session.execute(f"SET SESSION AUTHORIZATION {ANALYST}; SET discreet.epsilon = 10; PREPARE p AS {COUNT}")
        ((answer,),) = session.execute("EXECUTE p").fetchall()
        assert abs(int(str(answer)) - 2000) <= NOISE
        session.execute("RESET SESSION AUTHORIZATION")
        assert session.execute(COUNT).fetchall() == [(2000,)]


def test_columns_that_were_granted_are_read_and_the_others_asked(office: Office, nora: Analyst) -> None:
    office.admin.execute("GRANT SELECT (dept, age) ON hr.person TO nora")
    assert len(nora.execute("SELECT dept FROM hr.person").fetchall()) == 2000
    assert nora.execute("SELECT count(*) FROM hr.person").fetchall() == [(2000,)]
    assert office.spent() == 0
    ((answer,),) = nora.execute("SELECT count(salary) FROM hr.person").fetchall()
    assert office.spent() == 10
    for statement in ("SELECT p FROM hr.person p", "SELECT * FROM hr.person", "SELECT dept, name FROM hr.person"):
        assert outcome(nora, statement).startswith("DP")
    assert abs(answer - 2000) <= NOISE


def test_row_security_is_no_way_round(office: Office, nora: Analyst) -> None:
    office.admin.execute("ALTER TABLE hr.person ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON hr.person USING (true)")
    assert outcome(nora, "SELECT name FROM hr.person").startswith("DP")
    office.admin.execute("DROP POLICY p ON hr.person; ALTER TABLE hr.person DISABLE ROW LEVEL SECURITY")


def test_constants_mean_what_the_session_says(office: Office, nora: Analyst) -> None:
    ((truth,),) = office.truth(f"{COUNT} WHERE born < date '1952-03-02' AND seen > '2021-02-03 04:00+05:30'")
    nora.execute("SET DateStyle = 'SQL, DMY'; SET TimeZone = 'Asia/Kolkata'; SET IntervalStyle = 'sql_standard'")
    ((answer,),) = nora.execute(f"{COUNT} WHERE born < '02/03/1952' AND seen > '03/02/2021 04:00'").fetchall()
    assert abs(answer - truth) <= NOISE


def test_an_own_schema_before_pg_catalog_changes_nothing(office: Office, nora: Analyst) -> None:
    nora.execute("""
        CREATE FUNCTION nora.count(text) RETURNS bigint LANGUAGE sql AS 'SELECT 7::bigint';
        CREATE FUNCTION nora.eq(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
        CREATE OPERATOR nora.= (leftarg = text, rightarg = text, function = nora.eq);
        CREATE TEMP TABLE person (dept text, age int);
        SET search_path = nora, pg_temp, pg_catalog, hr;
    """)
    assert outcome(nora, "SELECT count(dept) FROM hr.person") == "DP001"
    assert outcome(nora, "SELECT count(*) FROM hr.person WHERE dept = 'dept 1'") == "DP001"
    assert nora.execute("SELECT count(*) FROM person").fetchall() == [(0,)]
    nora.execute("SET search_path = pg_catalog, hr, nora")
    assert abs(nora.execute("SELECT count(*) FROM hr.person WHERE dept = 'dept 1'").fetchall()[0][0] - 500) <= NOISE
    assert office.questions() == 1


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM hr.person WHERE " + " OR ".join(f"age = {n}" for n in range(3000)),
        "SELECT count(*) FROM hr.person WHERE age IN (" + ", ".join(map(str, range(20000))) + ")",
        "SELECT " + ", ".join(["count(*)"] * 1600) + " FROM hr.person",
        "SELECT count(*) FROM hr.person WHERE dept = '" + "x" * 1_000_000 + "'",
        "SELECT " + "(" * 900 + "SELECT count(*) FROM hr.person" + ")" * 900,
        "SELECT count(*) FROM " + "(SELECT * FROM " * 300 + "hr.person" + ") s" * 300,
        "SELECT " + "(SELECT " * 3000 + "count(*) FROM hr.person" + ")" * 3000,
        "SELECT count(*) FROM " + "(SELECT * FROM " * 1000 + f"({COUNT}) x" + ") s" * 1000,
        "SELECT count(*) FROM hr.person WHERE " + "NOT (" * 5000 + "true" + ")" * 5000,
        "SELECT count(*) " + "+ 1" * 5000 + " FROM hr.person",
        " UNION ALL ".join([COUNT] * 60),
        "WITH " + ", ".join(f"w{n} AS ({COUNT})" for n in range(300)) + " SELECT * FROM w1",
    ],
    ids=lambda text: text[:40],
)
def test_long_and_deep_statements_do_no_harm(office: Office, nora: Analyst, statement: str) -> None:
    state = outcome(nora, statement)
    assert state.startswith(("SELECT", "DP", "54", "22", "42601"))
    assert nora.execute("SELECT 1").fetchall() == [(1,)]
    assert office.admin.execute("SELECT 1").fetchall() == [(1,)]


# -- everybody else


@pytest.mark.parametrize("role", ["postgres", READER])
def test_who_may_read_the_table_sees_rows_and_pays_nothing(office: Office, role: str) -> None:
    with psycopg.connect(office.database.dsn(role), autocommit=True) as connection:
        heard = notices(connection)
        assert connection.execute("SELECT name FROM hr.person WHERE id = 7").fetchall() == [("canary 7",)]
        assert connection.execute(COUNT).fetchall() == [(2000,)]
        plan = connection.execute(f"EXPLAIN (COSTS OFF) {COUNT}").fetchall()
        assert plan == [("Aggregate",), ("  ->  Seq Scan on person",)]
        assert heard == []
    assert office.spent() == 0


def test_the_owner_of_a_table_sees_its_rows(office: Office, make_role: MakeRole) -> None:
    owner = make_role("otto", "discreet_analyst")
    office.admin.execute(f"ALTER TABLE hr.person OWNER TO {owner}")
    try:
        with psycopg.connect(office.database.dsn(owner)) as connection:
            assert connection.execute("SELECT name FROM hr.person WHERE id = 7").fetchall() == [("canary 7",)]
            assert connection.execute(COUNT).fetchall() == [(2000,)]
    finally:
        office.admin.execute("ALTER TABLE hr.person OWNER TO postgres")
    assert office.spent() == 0


def test_an_analyst_who_is_granted_the_table_sees_its_rows(office: Office, nora: Analyst) -> None:
    office.admin.execute("GRANT SELECT ON hr.person TO nora")
    assert nora.execute(COUNT).fetchall() == [(2000,)]
    office.admin.execute("REVOKE SELECT ON hr.person FROM nora")
    assert office.spent() == 0


def test_who_writes_without_reading_goes_on_writing(office: Office, nora: Analyst) -> None:
    """Whoever enters data may hold a budget too."""
    office.admin.execute("GRANT INSERT, DELETE ON hr.visit TO nora")
    assert outcome(nora, "INSERT INTO hr.visit VALUES (-1, 1, 1)") == "INSERT 0 1"
    assert outcome(nora, "INSERT INTO hr.visit VALUES (-1, 1, 1) RETURNING id") == "42501"
    office.admin.execute("DELETE FROM hr.visit WHERE id < 0; REVOKE INSERT, DELETE ON hr.visit FROM nora")


@pytest.mark.parametrize("groups", [(), ("discreet_analyst",), ("discreet_auditor",)])
def test_who_holds_no_budget_is_denied_in_the_words_of_postgresql(
    office: Office, make_role: MakeRole, groups: tuple[str, ...]
) -> None:
    with (
        psycopg.connect(office.database.dsn(make_role("bob", *groups)), autocommit=True) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege) as caught,
    ):
        connection.execute(COUNT)
    assert caught.value.diag.message_primary == "permission denied for table person"


def test_a_database_without_the_extension_is_as_it_was(empty_database: Database, make_role: MakeRole) -> None:
    """Also where somebody made a schema of its name, with functions that would run as whoever is denied a table."""
    admin = empty_database.connect()
    admin.execute("""
        CREATE TABLE secret (a int);
        CREATE SCHEMA discreet; GRANT USAGE ON SCHEMA discreet TO PUBLIC;
        CREATE FUNCTION discreet._guards(oid, oid, oid) RETURNS boolean LANGUAGE plpgsql AS
        $$BEGIN RAISE WARNING 'runs as %', current_user; RETURN true; END$$;
    """)
    analyst = empty_database.connect(make_role("ann", "discreet_analyst"))
    heard = notices(analyst)
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for table secret"):
        analyst.execute("SELECT count(*) FROM secret")
    assert analyst.execute("SELECT count(*) > 0 FROM pg_class").fetchall() == [(True,)]
    assert heard == []


def test_a_session_outlives_the_extension(database: Database, make_role: MakeRole) -> None:
    admin = database.connect()
    admin.execute("""
        CREATE TABLE person (id int PRIMARY KEY);
        SELECT discreet.create_dataset('people', 10), discreet.protect('person', 'id', 'people');
    """)
    role = make_role("ann", "discreet_analyst")
    admin.execute("SELECT discreet.grant_budget('people', %s, 10)", [role])
    analyst: Analyst = database.connect(role)
    analyst.execute("PREPARE p AS SELECT count(*) FROM person")
    assert outcome(analyst, "EXECUTE p") == "SELECT 1"
    admin.execute("DROP EXTENSION discreet CASCADE")
    assert outcome(analyst, "EXECUTE p") in ("42883", "3F000", "XX000", "42501")
    assert outcome(analyst, "SELECT count(*) FROM person") == "42501"
    admin.execute("CREATE EXTENSION discreet")
    assert outcome(analyst, "SELECT count(*) FROM person") == "42501"


def test_replication_connections_and_autovacuum_run() -> None:
    settings = {"wal_level": "logical", "max_wal_senders": "4", "autovacuum": "on", "autovacuum_naptime": "1s"}
    with throw_away_cluster(**settings) as running:
        running.sql("CREATE ROLE copier LOGIN REPLICATION; CREATE TABLE t AS SELECT generate_series(1, 1000) AS a")
        with psycopg.connect(f"{running.dsn('postgres', 'copier')} replication=database", autocommit=True) as walsender:
            walsender.pgconn.exec_(b"IDENTIFY_SYSTEM")
            result = walsender.pgconn.exec_(b"SELECT count(*) > 0 FROM pg_class")
            assert result.get_value(0, 0) == b"t"
            denied = walsender.pgconn.exec_(b"SELECT count(*) FROM t")
            assert b"permission denied for table t" in denied.error_message
        running.sql("""
            DO $$ BEGIN
                WHILE NOT EXISTS (SELECT FROM pg_stat_all_tables WHERE relname = 't' AND autoanalyze_count > 0) LOOP
                    PERFORM pg_sleep(0.1);
                    COMMIT;
                END LOOP;
            END $$""")
