"""Sealing and unsealing: what stays, what is refused and why, which types."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest
from tests.database.waiting import waited_for
from tests.databases import Connection, Database, MakeRole
from tests.sealed import SECRET, Shop, one, opened

ROW = "SELECT * FROM shop.customer ORDER BY id"

VALUES = {
    "smallint": "-5", "int": "70000", "bigint": "-9000000000", "real": "1.5", "double precision": "'-Infinity'",
    "numeric": "12345678901234567890.123450", "numeric(12, 3)": "-1.5", "boolean": "true", "text": "'žluťoučký'",
    "varchar(5)": "'abc'", "char(6)": "'ab'", "bytea": "'\\x00ff'", "date": "'2020-02-29'", "time": "'12:34:56.789'",
    "timetz": "'12:34:56+02'", "timestamp": "'-infinity'", "timestamptz": "'2020-02-29 12:00+00'",
    "interval": "'1 month 2 days'", "uuid": "'123e4567-e89b-12d3-a456-426614174000'", "inet": "'10.0.0.1/8'",
    "json": "'{\"a\": 1}'", "jsonb": "'{\"b\": [1, null]}'", "int[]": "'{1,NULL,3}'", "text[]": "'{a,\"b c\"}'",
    "int4range": "'[1,5)'", "point": "'(1,2)'", "bit varying(5)": "B'101'", "money": "'12.50'", "tsvector": "'a:1 b:2'",
    "shop.mood": "'glad'", "shop.code": "'abc'",
}  # fmt: skip
SEARCHABLE = [
    "smallint", "int", "bigint", "numeric(12, 3)", "boolean", "text", "varchar(5)", "bytea", "date", "time",
    "timestamp", "timestamptz", "uuid", "shop.mood", "shop.code",
]  # fmt: skip


@pytest.fixture
def plain(database: Database, make_role: MakeRole) -> Shop:
    return opened(database, make_role, seal=False)


@pytest.fixture
def carol(plain: Shop) -> Connection:
    connection = plain.connect(plain.curator)
    connection.execute("CREATE TYPE shop.mood AS ENUM ('sad', 'glad')")
    connection.execute("CREATE DOMAIN shop.code AS text CHECK (length(value) < 9)")
    return connection


def catalog(connection: Connection) -> Any:
    """Columns, constraints, indexes and grants of the table."""
    return connection.execute(
        "SELECT array_agg(format('%s %s %s %s', attname, format_type(atttypid, atttypmod), attnotnull,"
        " pg_get_expr(adbin, adrelid)) ORDER BY attnum),"
        " ARRAY(SELECT conname || pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = a.attrelid ORDER BY 1),"
        " ARRAY(SELECT indexdef FROM pg_indexes WHERE schemaname = 'shop' AND tablename = 'customer' ORDER BY 1),"
        " (SELECT array_agg(acl::text ORDER BY acl::text) FROM pg_class, unnest(relacl) acl WHERE oid = a.attrelid)"
        " FROM pg_attribute a LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum"
        " WHERE attrelid = 'shop.customer'::regclass AND attnum > 0 AND NOT attisdropped GROUP BY attrelid"
    ).fetchall()


def test_unsealing_gives_the_table_back(carol: Connection) -> None:
    rows, before = carol.execute(ROW).fetchall(), catalog(carol)
    for name, searchable in (("salary", False), ("ssn", True), ("note", False)):
        carol.execute("SELECT discreet.seal_column('shop.customer', %s, 'k', %s)", [name, searchable])
        assert carol.execute(ROW).fetchall() == rows
    assert one(carol, "SELECT count(*) FROM discreet.sealed_columns WHERE relation = 'shop.customer'::regclass") == 3
    for name in ("ssn", "salary", "note"):
        carol.execute("SELECT discreet.unseal_column('shop.customer', %s)", [name])
        assert carol.execute(ROW).fetchall() == rows
    assert catalog(carol) == before
    assert one(carol, "SELECT count(*) FROM discreet.sealed_columns") == 0


def test_unsealing_needs_the_key(shop: Shop) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="not open"):
        shop.connect(shop.curator, key=False).execute("SELECT discreet.unseal_column('shop.customer', 'salary')")
    assert one(shop.connect(shop.app), "SELECT sum(salary) FROM shop.customer") == 21000


def test_sealing_needs_the_key_and_the_table(plain: Shop, carol: Connection, make_role: MakeRole) -> None:
    statement = "SELECT discreet.seal_column('shop.customer', 'salary', 'k')"
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="not open"):
        plain.connect(plain.curator, key=False).execute(statement)
    other = plain.database.connect(make_role("otto", "discreet_curator"))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        other.execute(statement)
    with pytest.raises(psycopg.errors.UndefinedObject):
        carol.execute("SELECT discreet.seal_column('shop.customer', 'salary', 'none')")
    with pytest.raises(psycopg.errors.UndefinedColumn):
        carol.execute("SELECT discreet.seal_column('shop.customer', 'none', 'k')")
    carol.execute(statement)
    with pytest.raises(psycopg.errors.DuplicateObject):
        carol.execute(statement)


@pytest.mark.parametrize("type_name", VALUES)
def test_values_of_every_type_come_back(carol: Connection, type_name: str) -> None:
    carol.execute(
        f"CREATE TABLE shop.t (id int, x {type_name}); INSERT INTO shop.t VALUES (1, {VALUES[type_name]}), (2, NULL)"
    )
    before = carol.execute("SELECT id, x::text, pg_typeof(x)::text FROM shop.t ORDER BY id").fetchall()
    carol.execute("SELECT discreet.seal_column('shop.t', 'x', 'k')")
    carol.execute(f"INSERT INTO shop.t VALUES (3, {VALUES[type_name]})")
    after = carol.execute("SELECT id, x::text, pg_typeof(x)::text FROM shop.t ORDER BY id").fetchall()
    assert after[:2] == before
    assert after[2][1:] == before[0][1:]
    assert one(carol, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'shop.t'::regclass"
                      " AND attname = 'x'") == one(
        carol, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = to_regclass('shop.t')"
               " AND attname = 'x'")  # fmt: skip
    assert one(carol, "SELECT pg_typeof(x)::text FROM shop.t_sealed WHERE id = 1") == "bytea"


@pytest.mark.parametrize("type_name", SEARCHABLE)
def test_searchable_values_are_found(carol: Connection, type_name: str) -> None:
    value = VALUES[type_name]
    carol.execute(
        f"CREATE TABLE shop.t (id int, x {type_name}); INSERT INTO shop.t VALUES (1, {value}), (2, NULL), (3, {value})"
    )
    carol.execute("CREATE INDEX ON shop.t (x)")
    carol.execute("SELECT discreet.seal_column('shop.t', 'x', 'k', searchable => true)")
    before = "SELECT id FROM shop.t WHERE x = {} ORDER BY id"
    assert carol.execute(before.format(f"{value}::{type_name}")).fetchall() == [(1,), (3,)]
    assert one(carol, "SELECT count(*) FROM shop.t a JOIN shop.t b ON a.x = b.x") == 4
    assert one(carol, f"SELECT x::text = ({value}::{type_name})::text FROM shop.t WHERE id = 1") is True
    assert one(carol, f"SELECT count(*) FROM shop.t WHERE x = ANY (ARRAY[{value}::{type_name}])") == 2


@pytest.mark.parametrize("type_name", ["numeric", "real", "double precision", "jsonb", "char(6)", "interval"])
def test_types_whose_equals_look_different_cannot_be_searchable(carol: Connection, type_name: str) -> None:
    carol.execute(f"CREATE TABLE shop.t (x {type_name})")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="cannot be searchable"):
        carol.execute("SELECT discreet.seal_column('shop.t', 'x', 'k', searchable => true)")


def test_equal_numbers_of_another_scale_are_found(carol: Connection) -> None:
    carol.execute("CREATE TABLE shop.t (x numeric(10, 2)); INSERT INTO shop.t VALUES (1.5), (2)")
    carol.execute("SELECT discreet.seal_column('shop.t', 'x', 'k', searchable => true)")
    assert carol.execute("SELECT x::text FROM shop.t WHERE x = 1.5000").fetchall() == [("1.50",)]
    assert carol.execute("SELECT x::text FROM shop.t WHERE x = 1.501").fetchall() == []
    assert carol.execute("SELECT x::text FROM shop.t WHERE x IN (2, 3.00)").fetchall() == [("2.00",)]


OBSTACLES = {
    "CREATE TABLE shop.child (c int REFERENCES shop.t (x))": "foreign key",
    "CREATE TABLE shop.p (p int PRIMARY KEY); ALTER TABLE shop.t ADD FOREIGN KEY (x) REFERENCES shop.p": "foreign key",
    "CREATE INDEX ON shop.t ((x + 1))": "index",
    "CREATE INDEX ON shop.t (y) WHERE x > 5": "index",
    "CREATE VIEW shop.v AS SELECT x FROM shop.t": "shop.v",
    "ALTER TABLE shop.t ADD COLUMN g int GENERATED ALWAYS AS (x + 1) STORED": "generated column",
    "ALTER TABLE shop.t ENABLE ROW LEVEL SECURITY": "row security",
    "CREATE TABLE shop.below () INHERITS (shop.t)": "inherit",
    "CREATE RULE r AS ON DELETE TO shop.t DO ALSO NOTHING": "rule",
    "CREATE STATISTICS shop.s ON x, y FROM shop.t": "statistics",
}


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_what_stands_in_the_way_is_named(carol: Connection, obstacle: str) -> None:
    carol.execute("CREATE TABLE shop.t (x int PRIMARY KEY, y int)")
    carol.execute(obstacle)
    with pytest.raises(psycopg.errors.WrongObjectType, match=OBSTACLES[obstacle]):
        carol.execute("SELECT discreet.seal_column('shop.t', 'x', 'k', searchable => true)")


def test_an_index_on_a_randomised_column_is_refused(carol: Connection) -> None:
    with pytest.raises(psycopg.errors.WrongObjectType, match="needs equal ciphertext"):
        carol.execute("SELECT discreet.seal_column('shop.customer', 'ssn', 'k')")


def test_protected_tables_are_not_sealed_and_sealed_ones_need_a_key_of_the_server(carol: Connection) -> None:
    carol.execute("SELECT discreet.protect('shop.customer', 'id', epsilon => 1)")
    with pytest.raises(psycopg.errors.WrongObjectType, match="is protected"):
        carol.execute("SELECT discreet.seal_column('shop.customer', 'salary', 'k')")
    carol.execute("SELECT discreet.unprotect('shop.customer')")
    carol.execute("SELECT discreet.seal_column('shop.customer', 'salary', 'k')")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="the server does not hold key"):
        carol.execute("SELECT discreet.protect('shop.customer', 'id', epsilon => 1)")
    with pytest.raises(psycopg.errors.WrongObjectType, match="holds ciphertext"):
        carol.execute("SELECT discreet.protect('shop.customer_sealed', 'id', epsilon => 1)")


def test_foreign_keys_of_other_columns_stay(carol: Connection) -> None:
    carol.execute("CREATE TABLE shop.orders (customer int REFERENCES shop.customer)")
    carol.execute("SELECT discreet.seal_column('shop.customer', 'salary', 'k')")
    carol.execute("INSERT INTO shop.orders VALUES (3)")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        carol.execute("INSERT INTO shop.orders VALUES (99)")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        carol.execute("DELETE FROM shop.customer WHERE id = 3")


def test_checks_over_several_columns_hold(carol: Connection) -> None:
    carol.execute(
        "CREATE TABLE shop.t (x int, y int, CONSTRAINT order_ CHECK (x < y OR x IS NULL), CHECK (y BETWEEN 0 AND 99))"
    )
    carol.execute("INSERT INTO shop.t VALUES (1, 2)")
    carol.execute("SELECT discreet.seal_column('shop.t', 'x', 'k'), discreet.seal_column('shop.t', 'y', 'k')")
    carol.execute("INSERT INTO shop.t VALUES (3, 4)")
    for values in ("(5, 4)", "(1, 100)"):
        with pytest.raises(psycopg.errors.CheckViolation):
            carol.execute(f"INSERT INTO shop.t VALUES {values}")
    carol.execute("SELECT discreet.unseal_column('shop.t', 'x')")
    with pytest.raises(psycopg.errors.CheckViolation):
        carol.execute("INSERT INTO shop.t VALUES (5, 4)")
    carol.execute("SELECT discreet.unseal_column('shop.t', 'y')")
    with pytest.raises(psycopg.errors.CheckViolation):
        carol.execute("INSERT INTO shop.t VALUES (5, 4)")


def test_code_of_the_owner_does_not_run_as_somebody_else(plain: Shop) -> None:
    """A CHECK of the table's owner runs while its column is sealed: as the owner, also for a superuser who calls."""
    carol = plain.connect(plain.curator)
    carol.execute("CREATE TABLE shop.seen (who name)")
    carol.execute("CREATE FUNCTION shop.spy(int) RETURNS boolean LANGUAGE plpgsql AS"
                  " $$ BEGIN INSERT INTO shop.seen VALUES (current_user); RETURN true; END $$")  # fmt: skip
    carol.execute("CREATE TABLE shop.t (x int CHECK (shop.spy(x))); INSERT INTO shop.t VALUES (1)")
    admin = plain.database.connect()
    admin.execute("SELECT discreet.open_key('k', %s)", [SECRET])
    admin.execute("SELECT discreet.seal_column('shop.t', 'x', 'k')")
    assert admin.execute("SELECT DISTINCT who FROM shop.seen").fetchall() == [(plain.curator,)]


def test_ranges_and_patterns_say_that_they_cannot_be_searched_for(app: Connection) -> None:
    for condition in (
        "salary > 300",
        "salary BETWEEN 1 AND 5",
        "ssn < 'x'",
        "note LIKE 'n%'",
        "note ~ 'x'",
        "5 >= salary",
    ):
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="ranges and patterns cannot be searched"):
            app.execute(f"SELECT count(*) FROM shop.customer WHERE {condition}")
    app.execute("SET discreet.sealed_scan = on")
    assert one(app, "SELECT count(*) FROM shop.customer WHERE salary > 300 AND note LIKE 'note 1%'") == 10


def test_equality_and_joins_use_an_index(app: Connection) -> None:
    app.execute("SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off")
    for query in (
        "SELECT * FROM shop.customer WHERE ssn = 'ssn-3'",
        "SELECT * FROM shop.customer WHERE ssn IN ('ssn-3', 'ssn-4')",
        "UPDATE shop.customer SET name = 'x' WHERE ssn = 'ssn-3'",
        "DELETE FROM shop.customer WHERE ssn = 'ssn-3'",
        "SELECT * FROM shop.customer a JOIN shop.customer b ON a.ssn = b.ssn WHERE a.id = 3",
        "SELECT * FROM shop.customer c JOIN (VALUES ('ssn-3')) v(s) ON c.ssn = v.s",
    ):
        plan = "\n".join(str(row[0]) for row in app.execute("EXPLAIN " + query))
        assert "customer_ssn_key" in plan, plan
    assert one(app, "SELECT count(*) FROM shop.customer a JOIN shop.customer b ON a.ssn = b.ssn WHERE a.id = 3") == 1
    assert one(app, "SELECT name FROM shop.customer WHERE ssn IN ('ssn-3', NULL)") == "name 3"


def test_columns_under_one_key_join_and_others_do_too_by_their_values(shop: Shop) -> None:
    carol = shop.connect(shop.curator)
    carol.execute("SELECT discreet.create_key('l'), discreet.open_key('l', 'other')")
    carol.execute("CREATE TABLE shop.a (s varchar(20)); CREATE TABLE shop.b (s text);"
                  " INSERT INTO shop.a VALUES ('ssn-3'); INSERT INTO shop.b VALUES ('ssn-3')")  # fmt: skip
    carol.execute(
        "SELECT discreet.seal_column('shop.a', 's', 'k', true), discreet.seal_column('shop.b', 's', 'l', true)"
    )
    assert one(carol, "SELECT count(*) FROM shop.customer c JOIN shop.a ON a.s = c.ssn") == 1
    assert one(carol, "SELECT count(*) FROM shop.customer c JOIN shop.b ON b.s = c.ssn") == 1
    carol.execute("SELECT discreet.close_key('l')")
    assert one(carol, "SELECT count(*) FROM shop.customer c JOIN shop.b ON b.s = c.ssn") == 0
    assert one(carol, "SELECT count(*) FROM shop.customer c LEFT JOIN shop.a ON a.s = c.ssn") == 20


def test_parallel_plans_have_the_keys(shop: Shop) -> None:
    carol = shop.connect(shop.curator)
    carol.execute("INSERT INTO shop.customer (name, salary) SELECT 'x', 1 FROM generate_series(1, 20000)")
    carol.execute("SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
                  " SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off")  # fmt: skip
    plan = "\n".join(
        str(row[0]) for row in carol.execute("EXPLAIN (ANALYZE, COSTS OFF) SELECT sum(salary) FROM shop.customer")
    )
    assert "Workers Launched: 2" in plan, plan
    assert one(carol, "SELECT sum(salary) FROM shop.customer") == 41000
    carol.execute("SELECT discreet.close_key('k')")
    assert one(carol, "SELECT sum(salary) FROM shop.customer") is None


def test_commands_on_the_table_are_for_what_holds_its_rows(shop: Shop) -> None:
    carol = shop.connect(shop.curator)
    carol.execute("CREATE INDEX by_name ON shop.customer (name, ssn)")
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="not searchable"):
        carol.execute("CREATE INDEX ON shop.customer (salary)")
    carol.execute("ANALYZE shop.customer")
    carol.execute("VACUUM shop.customer")
    carol.execute("ALTER TABLE shop.customer ADD CONSTRAINT named CHECK (name <> '')")
    with pytest.raises(psycopg.errors.CheckViolation):
        carol.execute("INSERT INTO shop.customer (name) VALUES ('')")
    carol.execute("ALTER TABLE shop.customer DROP CONSTRAINT named")
    carol.execute("TRUNCATE shop.customer")
    assert one(carol, "SELECT count(*) FROM shop.customer") == 0


def test_new_foreign_keys_can_name_other_columns_and_no_sealed_one(shop: Shop) -> None:
    carol = shop.connect(shop.curator)
    carol.execute("CREATE TABLE shop.orders (customer int REFERENCES shop.customer, other int)")
    carol.execute("ALTER TABLE shop.orders ADD FOREIGN KEY (other) REFERENCES shop.customer (id)")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        carol.execute("INSERT INTO shop.orders VALUES (3, 99)")
    carol.execute("INSERT INTO shop.orders VALUES (3, 4)")
    for statement in (
        "CREATE TABLE shop.bad (s text REFERENCES shop.customer (ssn))",
        "CREATE TABLE shop.bad (s text, FOREIGN KEY (s) REFERENCES shop.customer (ssn))",
        "ALTER TABLE shop.customer ADD FOREIGN KEY (ssn) REFERENCES shop.customer (ssn)",
        "ALTER TABLE shop.customer ADD FOREIGN KEY (salary) REFERENCES shop.customer (id)",
    ):
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="no foreign key can use it"):
            carol.execute(statement)


def test_a_dropped_table_takes_its_data_keys_along(shop: Shop) -> None:
    admin = shop.database.connect()
    admin.execute("DROP TABLE shop.customer_sealed CASCADE")
    assert one(admin, "SELECT count(*) FROM discreet.sealed_columns") == 0
    assert one(admin, "SELECT count(*) FROM discreet._data_key") == 1, "that of the named key"
    carol = shop.connect(shop.curator)
    carol.execute("CREATE TABLE shop.customer (id int, salary int); INSERT INTO shop.customer VALUES (1, 5)")
    carol.execute("SELECT discreet.seal_column('shop.customer', 'salary', 'k')")
    assert one(carol, "SELECT salary FROM shop.customer") == 5


@pytest.mark.parametrize(
    "command",
    [
        "ALTER TABLE shop.customer ADD CHECK (note <> '')",
        "ALTER TABLE shop.customer ADD CHECK (customer IS NOT NULL)",
        "ALTER TABLE shop.customer ADD UNIQUE (name, salary)",
        "ALTER TABLE shop.customer ADD EXCLUDE (note WITH =)",
        "CREATE INDEX ON shop.customer (md5(note))",
        "CREATE UNIQUE INDEX ON shop.customer (id) WHERE note = 'x'",
        "CREATE INDEX ON shop.customer (salary)",
        "CREATE RULE r AS ON INSERT TO shop.customer DO ALSO NOTHING",
        "CREATE TRIGGER t INSTEAD OF UPDATE ON shop.customer FOR EACH ROW EXECUTE FUNCTION shop.nothing()",
        "ALTER TABLE shop.customer RENAME COLUMN salary TO pay",
        "ALTER TABLE shop.customer_sealed RENAME COLUMN name TO called",
    ],
)
def test_what_would_mean_ciphertext_is_refused(shop: Shop, command: str) -> None:
    carol = shop.connect(shop.curator)
    carol.execute("CREATE FUNCTION shop.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'")
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="sealed"):
        carol.execute(command.encode())


def test_a_view_that_its_owner_has_replaced_is_not_written(shop: Shop) -> None:
    carol = shop.connect(shop.curator)
    columns = (
        "NULL::int AS id, NULL::text AS name, NULL::text AS ssn, NULL::numeric(10, 2) AS salary, NULL::date AS born,"
        " NULL::varchar(40) AS note"
    )
    for source in ("", " FROM shop.customer_sealed a JOIN shop.customer_sealed b USING (id)"):
        carol.execute(f"CREATE OR REPLACE VIEW shop.customer AS SELECT {columns}{source}".encode())
        for statement in ("INSERT INTO shop.customer (name) VALUES ('x')", "UPDATE shop.customer SET name = 'x'",
                          "DELETE FROM shop.customer"):  # fmt: skip
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="is not what"):
                carol.execute(statement.encode())


def test_default_privileges_give_nobody_the_table(plain: Shop, carol: Connection, make_role: MakeRole) -> None:
    stranger = make_role("stranger")
    carol.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA shop GRANT SELECT ON TABLES TO {stranger}".encode())
    carol.execute("SELECT discreet.seal_column('shop.customer', 'salary', 'k')")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        plain.database.connect(stranger).execute("SELECT name FROM shop.customer")


def test_a_check_that_was_dropped_does_not_hold_up_unsealing(shop: Shop) -> None:
    carol = shop.connect(shop.curator)
    carol.execute("ALTER TABLE shop.customer DROP CONSTRAINT customer_salary_check")
    carol.execute("SELECT discreet.unseal_column('shop.customer', 'salary')")
    carol.execute("INSERT INTO shop.customer (name, salary) VALUES ('x', -1)")


def test_a_table_whose_view_was_moved_is_not_mistaken(shop: Shop) -> None:
    carol = shop.connect(shop.curator)
    shop.database.connect().execute(f"CREATE SCHEMA elsewhere AUTHORIZATION {shop.curator}")
    carol.execute("ALTER VIEW shop.customer SET SCHEMA elsewhere")
    assert one(carol, "SELECT sum(salary) FROM elsewhere.customer") == 21000
    with pytest.raises(psycopg.errors.WrongObjectType, match="different schemas"):
        carol.execute("SELECT discreet.unseal_column('elsewhere.customer', 'salary')")


def test_a_table_with_dropped_columns_is_written(carol: Connection) -> None:
    carol.execute("ALTER TABLE shop.customer DROP COLUMN born")
    for _ in range(2):
        carol.execute("SELECT discreet.seal_column('shop.customer', 'salary', 'k')")
        carol.execute("INSERT INTO shop.customer (name, salary) VALUES ('after', 5)")
        carol.execute("SELECT discreet.unseal_column('shop.customer', 'salary')")
    assert one(carol, "SELECT sum(salary) FROM shop.customer WHERE name = 'after'") == 10


def test_writers_go_on_while_columns_are_sealed_and_unsealed(plain: Shop, carol: Connection) -> None:
    """Each statement of a writer is stored as a whole, before or after; none is lost, none in the clear."""
    carol.execute("INSERT INTO shop.customer (name, salary) SELECT 'many', n FROM generate_series(1, 20000) n")
    stop, written, errors = threading.Event(), [0, 0], []

    def write(number: int, prepare: bool) -> None:
        writer = plain.connect(plain.app)
        while not stop.is_set():
            try:
                writer.execute(
                    "INSERT INTO shop.customer (name, salary) VALUES (%s, 7)", [f"w{number}"], prepare=prepare
                )
                written[number] += 1
            except psycopg.Error as error:
                errors.append(str(error))

    def wait_for_writers() -> None:
        before = list(written)
        waited_for(lambda: all(now > then + 5 for now, then in zip(written, before, strict=True)))

    threads = [threading.Thread(target=write, args=(number, number == 1)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        carol.execute("SELECT discreet.seal_column('shop.customer', 'salary', 'k')")
        wait_for_writers()
        carol.execute("SELECT discreet.unseal_column('shop.customer', 'salary')")
        wait_for_writers()
    carol.execute("SELECT discreet.seal_column('shop.customer', 'salary', 'k')")
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
    counted = carol.execute("SELECT name, count(*) FROM shop.customer WHERE name ~ '^w' AND salary = 7 GROUP BY 1")
    assert dict(counted.fetchall()) == {"w0": written[0], "w1": written[1]}
