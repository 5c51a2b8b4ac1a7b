"""A child, a partition or a schema of the old name comes in after the question was planned, while its charge waits."""

import pytest
from tests.attacks.gate.asking import ending
from tests.attacks.target import A_LEDGER_WAITS, Target, in_thread
from tests.databases import Connection

ASKED = "SELECT discreet.query_json('SELECT count(*) AS n FROM {}', 0.1, fresh => true)"
MANY = "SELECT 1 FROM generate_series(1, 100000)"

# table, how it is made, and what joins it
WAYS = {
    "a child": (
        "extra.once",
        "CREATE TABLE extra.once (id int PRIMARY KEY); INSERT INTO extra.once VALUES (1)",
        f"CREATE TABLE extra.child () INHERITS (extra.once); INSERT INTO extra.child {MANY}",
    ),
    "a table that inherits later": (
        "extra.once",
        "CREATE TABLE extra.once (id int PRIMARY KEY); INSERT INTO extra.once VALUES (1);"
        f"CREATE TABLE extra.other (id int NOT NULL); INSERT INTO extra.other {MANY}",
        "ALTER TABLE extra.other INHERIT extra.once",
    ),
    "a partition of a partition": (
        "extra.once",
        "CREATE TABLE extra.once (id int, v int) PARTITION BY LIST (v);"
        "CREATE TABLE extra.one PARTITION OF extra.once FOR VALUES IN (1) PARTITION BY LIST (id);"
        "CREATE TABLE extra.two PARTITION OF extra.one FOR VALUES IN (1); CREATE TABLE extra.three (id int, v int)",
        "ALTER TABLE extra.one ATTACH PARTITION extra.three FOR VALUES IN (2)",
    ),
    "a partition": (
        "extra.once",
        "CREATE TABLE extra.once (id int, v int, PRIMARY KEY (id, v)) PARTITION BY LIST (v);"
        "CREATE TABLE extra.one PARTITION OF extra.once FOR VALUES IN (1);"
        "CREATE TABLE extra.two (id int NOT NULL, v int NOT NULL); INSERT INTO extra.two SELECT n, 2 FROM"
        " generate_series(1, 1000) n",
        "ALTER TABLE extra.once ATTACH PARTITION extra.two FOR VALUES IN (2)",
    ),
    "another schema of the name": (
        "sa.once",
        "DROP SCHEMA IF EXISTS sa, sb, sc CASCADE; CREATE SCHEMA sa; CREATE SCHEMA sb;"
        "CREATE TABLE sa.once (id int PRIMARY KEY); CREATE TABLE sb.once (id int PRIMARY KEY);"
        "INSERT INTO sb.once SELECT generate_series(1, 1000)",
        "ALTER SCHEMA sa RENAME TO sc; ALTER SCHEMA sb RENAME TO sa",
    ),
}


def asked_meanwhile(target: Target, blind: Connection, table: str, joins: str) -> str:
    """How a question ends whose charge waits until something has joined."""
    admin = target.database.connect()
    admin.execute("BEGIN; SELECT FROM discreet._budget WHERE dataset = 'people' FOR UPDATE")
    endings: list[str] = []
    thread = in_thread(lambda: endings.append(ending(lambda: blind.execute(ASKED.format(table)).fetchall())))
    target.wait_for(A_LEDGER_WAITS)
    target.admin.execute(joins)
    admin.execute("COMMIT")
    admin.close()
    thread.join(60)
    (how,) = endings
    return how


@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ"])
@pytest.mark.parametrize("way", WAYS)
def test_what_joins_is_not_counted(gated: Target, blind: Connection, way: str, isolation: str) -> None:
    table, made, joins = WAYS[way]
    gated.admin.execute(made)
    gated.admin.execute("SELECT discreet.protect(%s, 'id', dataset => 'people', max_rows => 1)", [table])
    blind.execute(f"BEGIN ISOLATION LEVEL {isolation}; SELECT FROM pg_class LIMIT 1")
    with gated.costs("0.1"):
        assert asked_meanwhile(gated, blind, table, joins) == "DP000"
    blind.execute("ROLLBACK")
    gated.admin.execute("DROP SCHEMA IF EXISTS sa, sb, sc CASCADE")


def test_a_schema_that_has_its_name_back_is_noticed(gated: Target, blind: Connection) -> None:
    """Renaming a schema takes no lock on its tables, so it can be renamed back before the last look."""
    table, made, joins = WAYS["another schema of the name"]
    gated.admin.execute(made)
    gated.admin.execute("SELECT discreet.protect('sa.once', 'id', dataset => 'people', max_rows => 1)")
    back = "; ALTER SCHEMA sa RENAME TO sb; ALTER SCHEMA sc RENAME TO sa"
    assert asked_meanwhile(gated, blind, table, joins + back) == "DP000"
    gated.admin.execute("DROP SCHEMA sa, sb CASCADE")


def test_a_question_that_nothing_joins_is_answered(gated: Target, blind: Connection) -> None:
    gated.admin.execute(WAYS["a child"][1] + "; CREATE TABLE extra.old () INHERITS (extra.once)")
    gated.admin.execute("SELECT discreet.protect('extra.once', 'id', dataset => 'people', max_rows => 1)")
    assert asked_meanwhile(gated, blind, "extra.once", "CREATE TABLE extra.apart (id int)") == "answer"
