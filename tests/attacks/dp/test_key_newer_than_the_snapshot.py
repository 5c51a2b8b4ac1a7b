"""In READ COMMITTED, too, a statement may be read with an old snapshot: one in which a person has thousands of rows.

A STABLE function keeps the snapshot of the statement around it, and a cursor that of its opening. A key that was made
meanwhile says nothing about the rows that such a snapshot holds.
"""

import pytest
from tests.attacks.target import PRICE, Target, in_thread
from tests.databases import Connection
from tests.messages import refused

FUNCTIONS = """
    CREATE FUNCTION extra.exact() RETURNS bigint STABLE LANGUAGE plpgsql AS
    $$BEGIN RETURN (SELECT count(*) FROM extra.once); END$$;
    CREATE FUNCTION extra.noisy() RETURNS bigint STABLE LANGUAGE plpgsql AS
    $$BEGIN RETURN (SELECT discreet.dp_count(*) FROM extra.once); END$$;
    CREATE FUNCTION extra.in_sql() RETURNS bigint STABLE LANGUAGE sql SET work_mem = '4MB' AS
    $$SELECT discreet.dp_count(*) FROM extra.once$$;
    CREATE FUNCTION extra.within() RETURNS bigint STABLE LANGUAGE plpgsql AS $$BEGIN RETURN extra.noisy(); END$$;
    CREATE FUNCTION extra.dynamic() RETURNS bigint STABLE LANGUAGE plpgsql AS
    $$DECLARE n bigint; BEGIN EXECUTE 'SELECT discreet.dp_count(*) FROM extra.once' INTO n; RETURN n; END$$;
    CREATE FUNCTION extra.looping() RETURNS bigint STABLE LANGUAGE plpgsql AS
    $$DECLARE n bigint; BEGIN FOR n IN SELECT discreet.dp_count(*) FROM extra.once LOOP RETURN n; END LOOP; END$$;
    CREATE FUNCTION extra.caught() RETURNS bigint STABLE LANGUAGE plpgsql AS
    $$BEGIN RETURN (SELECT discreet.dp_count(*) FROM extra.once); EXCEPTION WHEN division_by_zero THEN RETURN 0; END$$;
"""
# person 1 has 4000 rows, of which all but one are gone when the table gets its key
TABLES = {
    "key": (
        """CREATE TABLE extra.once (id int NOT NULL);
        INSERT INTO extra.once SELECT 1 FROM generate_series(1, 4000)""",
        """DELETE FROM extra.once WHERE ctid > (SELECT min(ctid) FROM extra.once);
        ALTER TABLE extra.once ADD PRIMARY KEY (id)""",
    ),
    "unique index": (
        """CREATE TABLE extra.once (id int NOT NULL);
        INSERT INTO extra.once SELECT 1 FROM generate_series(1, 4000)""",
        """DELETE FROM extra.once WHERE ctid > (SELECT min(ctid) FROM extra.once);
        CREATE UNIQUE INDEX ON extra.once (id)""",
    ),
    # who is NULL is in no row of a unique index twice
    "not null": (
        """CREATE TABLE extra.once (id int UNIQUE);
        INSERT INTO extra.once SELECT NULL FROM generate_series(1, 4000)""",
        """DELETE FROM extra.once; INSERT INTO extra.once VALUES (1);
        ALTER TABLE extra.once ALTER id SET NOT NULL""",
    ),
    "partition": (
        """CREATE TABLE extra.once (id int PRIMARY KEY) PARTITION BY LIST (id);
        CREATE TABLE extra.part (id int NOT NULL);
        INSERT INTO extra.part SELECT 1 FROM generate_series(1, 4000)""",
        """DELETE FROM extra.part WHERE ctid > (SELECT min(ctid) FROM extra.part);
        ALTER TABLE extra.once ATTACH PARTITION extra.part FOR VALUES IN (1)""",
    ),
}
WAYS = ["noisy", "in_sql", "within", "dynamic", "looping", "caught"]
GATE = "SELECT (discreet.query_json('SELECT count(*) AS n FROM extra.once'))->>'n'"
REFUSED = ("DP001", "when the snapshot of this statement was taken", "outside of STABLE")


def make(target: Target, mallory: Connection, before: str) -> None:
    target.admin.execute(f"{before}; GRANT SELECT ON extra.once TO PUBLIC")
    target.admin.execute("SELECT discreet.protect('extra.once', 'id', dataset => 'people', max_rows => 1)")
    mallory.execute(FUNCTIONS)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("way", WAYS)
def test_a_cursor_over_a_stable_function_keeps_the_old_rows(
    target: Target, mallory: Connection, kind: str, way: str
) -> None:
    before, after = TABLES[kind]
    make(target, mallory, before)
    mallory.execute(f"BEGIN; DECLARE old CURSOR FOR SELECT extra.exact(); DECLARE c CURSOR FOR SELECT extra.{way}()")
    target.admin.execute(after)
    assert mallory.execute("FETCH old").fetchone() == (4000,)
    with target.free(), refused(*REFUSED):
        mallory.execute("FETCH c")
    mallory.execute("ROLLBACK")
    with target.costs(PRICE):
        mallory.execute(f"SELECT extra.{way}()")


def test_a_statement_that_waits_keeps_the_old_rows(target: Target, mallory: Connection) -> None:
    before, after = TABLES["key"]
    make(target, mallory, before)
    target.admin.execute("SELECT pg_advisory_lock(18)")
    told: list[str | None] = []

    def ask() -> None:
        with refused(*REFUSED):
            mallory.execute("SELECT pg_advisory_lock_shared(18), extra.noisy()")
        told.append("refused")

    with target.free():
        thread = in_thread(ask)
        target.wait_for("EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)")
        target.admin.execute(after)
        target.admin.execute("SELECT pg_advisory_unlock(18)")
        thread.join(60)
    assert told == ["refused"]
    mallory.execute("SELECT pg_advisory_unlock_all()")


def test_a_loop_over_a_cursor_keeps_the_old_rows(target: Target, mallory: Connection) -> None:
    """The rows of a FOR loop come with the snapshot of its beginning, also those fetched later."""
    before, after = TABLES["key"]
    make(target, mallory, before)
    mallory.execute("BEGIN; DECLARE c CURSOR FOR SELECT extra.noisy() FROM generate_series(1, 3)")
    target.admin.execute(after)
    with target.free(), refused(*REFUSED):
        mallory.execute("MOVE 1 IN c")


@pytest.mark.parametrize("isolation", ["REPEATABLE READ", "SERIALIZABLE"])
def test_an_imported_snapshot_keeps_the_old_rows(target: Target, mallory: Connection, isolation: str) -> None:
    before, after = TABLES["key"]
    make(target, mallory, before)
    eve = target.connect("eve")
    eve.execute(f"BEGIN ISOLATION LEVEL {isolation}")
    ((snapshot,),) = eve.execute("SELECT pg_export_snapshot()").fetchall()
    target.admin.execute(after)
    mallory.execute(f"BEGIN ISOLATION LEVEL {isolation}; SET TRANSACTION SNAPSHOT '{snapshot}'; SAVEPOINT s")
    with target.free(), refused(*REFUSED):
        mallory.execute("SELECT discreet.dp_count(*) FROM extra.once")


def test_a_transaction_that_others_leave_open_costs_nobody_an_answer(target: Target, mallory: Connection) -> None:
    """It holds back the oldest transaction that a snapshot knows, not what the snapshot sees."""
    before, after = TABLES["key"]
    make(target, mallory, before)
    eve = target.connect("eve")
    eve.execute("BEGIN; CREATE TABLE extra.open ()")
    target.admin.execute(after)
    with target.costs(PRICE):
        mallory.execute("SELECT extra.noisy()")


def test_an_uncommitted_loss_of_the_key_is_seen(target: Target) -> None:
    """The ledger sees what is committed: the owner of a table may have dropped its key, and not committed that yet."""
    owner = target.database.connect()
    owner.execute("CREATE TABLE extra.once (id int PRIMARY KEY); INSERT INTO extra.once VALUES (1)")
    owner.execute("SELECT discreet.protect('extra.once', 'id', dataset => 'people', max_rows => 1)")
    with target.free(), refused(*REFUSED):
        owner.execute("BEGIN; ALTER TABLE extra.once DROP CONSTRAINT once_pkey")
        owner.execute("INSERT INTO extra.once SELECT 1 FROM generate_series(1, 4000)")
        owner.execute("SELECT discreet.dp_count(*) FROM extra.once")
    owner.close()


FROZEN = """
    BEGIN; ALTER TABLE extra.once DROP CONSTRAINT once_pkey; TRUNCATE extra.once;
"""
UNIQUE_AGAIN = """
    DELETE FROM extra.once a USING extra.once b WHERE a.ctid > b.ctid AND a.id = b.id;
    ALTER TABLE extra.once ADD PRIMARY KEY (id);
"""


@pytest.mark.parametrize("question", ["SELECT discreet.dp_count(*) FROM extra.once", GATE])
def test_frozen_rows_that_an_old_snapshot_sees_are_not_those_of_the_key(target: Target, question: str) -> None:
    """COPY FREEZE shows rows to older snapshots; the key was dropped before it, and is there again after it."""
    target.admin.execute(
        "CREATE TABLE extra.once (id int PRIMARY KEY); INSERT INTO extra.once VALUES (1), (2);"
        "GRANT SELECT ON extra.once TO PUBLIC;"
        "SELECT discreet.protect('extra.once', 'id', dataset => 'people', max_rows => 1)"
    )
    mallory = target.connect()
    mallory.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class LIMIT 1")
    target.admin.execute(FROZEN)
    with target.admin.cursor().copy("COPY extra.once FROM STDIN (FREEZE)") as copy:
        copy.write("1\n" * 2000)
    target.admin.execute("COMMIT")
    target.admin.execute(UNIQUE_AGAIN)
    assert mallory.execute("SELECT count(*), count(DISTINCT id) FROM extra.once").fetchone() == (2000, 1)
    if question == GATE:
        ((answer,),) = mallory.execute(question).fetchall()
        # each person counts once: noise of scale 10 is off by more than 300 with less than 1e-12
        assert int(str(answer)) < 400
    else:
        with target.free(), refused(*REFUSED):
            mallory.execute(question)
