"""The application's statements on a table with sealed columns are those that it had before."""

from __future__ import annotations

from decimal import Decimal

import psycopg
import pytest
from tests.databases import Connection
from tests.sealed import SECRET, Shop, one
from tests.versions import since


def test_values_are_read_with_their_types(app: Connection) -> None:
    row = app.execute("SELECT * FROM shop.customer WHERE id = 3").fetchone()
    assert row is not None
    assert row[:4] == (3, "name 3", "ssn-3", Decimal("300.00"))
    described = app.execute("SELECT * FROM shop.customer LIMIT 0").description
    assert described is not None
    assert [column.name for column in described] == ["id", "name", "ssn", "salary", "born", "note"]
    salary, note = described[3], described[5]
    assert (salary.type_display, salary.precision, salary.scale) == ("numeric(10,2)", 10, 2)
    assert note.type_display == "varchar(40)"


def test_a_session_without_the_key_reads_null(outsider: Connection) -> None:
    assert one(outsider, "SELECT count(*), count(ssn), count(salary), count(note), count(name) FROM shop.customer") == (
        20, 0, 0, 0, 20,
    )  # fmt: skip
    assert one(outsider, "SELECT count(*) FROM shop.customer WHERE ssn = 'ssn-3'") == 0
    assert one(outsider, "SELECT count(*) FROM shop.customer a JOIN shop.customer b USING (ssn)") == 0


def test_a_session_without_the_key_cannot_write_the_column(outsider: Connection) -> None:
    for statement in (
        "INSERT INTO shop.customer (name, salary) VALUES ('x', 5)",
        "INSERT INTO shop.customer (name, salary) VALUES ('x', NULL)",
        "INSERT INTO shop.customer (name) VALUES ('x')",  # salary has a default
        "UPDATE shop.customer SET salary = salary WHERE id = 3",
        "UPDATE shop.customer SET note = 'y'",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="which is not open"):
            outsider.execute(statement)


def test_a_session_without_the_key_writes_other_columns(outsider: Connection, app: Connection) -> None:
    outsider.execute("UPDATE shop.customer SET name = 'other' WHERE id = 3")
    outsider.execute("DELETE FROM shop.customer WHERE id = 4")
    assert one(app, "SELECT name, salary, ssn FROM shop.customer WHERE id = 3") == ("other", Decimal("300.00"), "ssn-3")
    assert one(app, "SELECT count(*) FROM shop.customer") == 19


def test_insert_with_returning_gives_what_was_written(app: Connection) -> None:
    row = one(app, "INSERT INTO shop.customer (name, ssn, salary, note) VALUES ('new', 's', 12.5, 'hello')"
                   " RETURNING id, salary, ssn, note")  # fmt: skip
    assert row == (21, Decimal("12.50"), "s", "hello")
    assert one(app, "SELECT salary, ssn, note FROM shop.customer WHERE id = 21") == (Decimal("12.50"), "s", "hello")


def test_defaults_are_written_where_columns_are_not_named(app: Connection) -> None:
    assert one(app, "INSERT INTO shop.customer (name) VALUES ('d') RETURNING salary, note, ssn") == (
        Decimal("1000.00"), "none", None,
    )  # fmt: skip
    app.execute("INSERT INTO shop.customer (name, salary, note) VALUES ('e', DEFAULT, DEFAULT), ('f', 7, DEFAULT)")
    assert app.execute("SELECT salary, note FROM shop.customer WHERE name IN ('e', 'f') ORDER BY name").fetchall() == [
        (Decimal("1000.00"), "none"), (Decimal("7.00"), "none"),
    ]  # fmt: skip
    app.execute("UPDATE shop.customer SET salary = DEFAULT, ssn = DEFAULT WHERE name = 'f'")
    assert one(app, "SELECT salary, ssn FROM shop.customer WHERE name = 'f'") == (Decimal("1000.00"), None)
    app.execute("INSERT INTO shop.customer (name) SELECT 'many' FROM generate_series(1, 5)")
    assert one(app, "SELECT sum(salary) FROM shop.customer WHERE name = 'many'") == 5000


def test_insert_from_select_and_with(app: Connection) -> None:
    app.execute(
        "INSERT INTO shop.customer (name, ssn, salary) SELECT 'copy', ssn || '!', salary + 1 FROM shop.customer"
    )
    assert one(app, "SELECT sum(salary), count(DISTINCT ssn) FROM shop.customer WHERE name = 'copy'") == (21020, 20)
    app.execute("INSERT INTO shop.customer (name, salary) SELECT 'u', 1 UNION ALL SELECT 'u', 2")
    assert one(app, "SELECT sum(salary) FROM shop.customer WHERE name = 'u'") == 3
    moved = app.execute("WITH gone AS (DELETE FROM shop.customer WHERE name = 'u' RETURNING salary),"
                        " made AS (INSERT INTO shop.customer (name, salary)"
                        " SELECT 'v', salary * 2 FROM gone RETURNING salary)"
                        " SELECT salary FROM made ORDER BY 1").fetchall()  # fmt: skip
    assert moved == [(Decimal("2.00"),), (Decimal("4.00"),)]
    app.execute(
        "INSERT INTO shop.customer (name, salary) SELECT 'l', n FROM generate_series(1, 9) n ORDER BY n DESC LIMIT 2"
    )
    assert one(app, "SELECT sum(salary) FROM shop.customer WHERE name = 'l'") == 17


def test_update_reads_and_writes_sealed_values(app: Connection) -> None:
    app.execute("UPDATE shop.customer SET salary = salary * 2, ssn = upper(ssn), note = note || '!' WHERE salary = 300")
    assert one(app, "SELECT salary, ssn, note FROM shop.customer WHERE id = 3") == (
        Decimal("600.00"),
        "SSN-3",
        "note 3!",
    )
    returned = one(app, "UPDATE shop.customer c SET salary = o.salary FROM shop.customer o WHERE c.id = 5 AND o.id = 6"
                        " RETURNING c.salary, o.ssn")  # fmt: skip
    assert returned == (Decimal("600.00"), "ssn-6")


@since(18)
def test_returning_gives_the_row_as_it_was_and_as_it_is(app: Connection) -> None:
    update = (
        "UPDATE shop.customer SET salary = salary + 1 WHERE id = 5 RETURNING old.salary, new.salary, old.ssn, new.name"
    )
    assert one(app, update) == (Decimal("500.00"), Decimal("501.00"), "ssn-5", "name 5")
    insert = "INSERT INTO shop.customer (id, name, ssn) VALUES (30, 'n', 's') RETURNING old.ssn, new.ssn, old.name"
    assert one(app, insert) == (None, "s", None)
    again = (
        "INSERT INTO shop.customer (id, name, ssn) VALUES (30, 'n', 'x') ON CONFLICT (id) DO UPDATE"
        " SET ssn = excluded.ssn RETURNING old.ssn, new.ssn"
    )
    assert one(app, again) == ("s", "x")
    delete = "DELETE FROM shop.customer WHERE id = 30 RETURNING old.ssn, new.ssn, ssn"
    assert one(app, delete) == ("x", None, "x")


@since(18)
def test_a_session_without_the_key_gets_no_value_as_it_was(outsider: Connection) -> None:
    update = "UPDATE shop.customer SET name = 'other' WHERE id = 5 RETURNING old.ssn, new.ssn, old.name"
    assert one(outsider, update) == (None, None, "name 5")


def test_on_conflict_on_other_columns(app: Connection) -> None:
    statement = (
        "INSERT INTO shop.customer (id, name, salary, ssn) VALUES (3, 'again', 77, 'x') ON CONFLICT (id) DO UPDATE"
        " SET salary = excluded.salary + customer.salary, ssn = excluded.ssn, name = excluded.name"
        " WHERE customer.salary = 300 RETURNING salary, ssn, name"
    )
    assert one(app, statement) == (Decimal("377.00"), "x", "again")
    app.execute("INSERT INTO shop.customer (id, name, salary) VALUES (3, 'not', 1) ON CONFLICT DO NOTHING")
    assert one(app, "SELECT name, salary FROM shop.customer WHERE id = 3") == ("again", Decimal("377.00"))


def test_a_unique_searchable_column_stays_unique(app: Connection) -> None:
    with pytest.raises(psycopg.errors.UniqueViolation):
        app.execute("INSERT INTO shop.customer (name, ssn) VALUES ('x', 'ssn-3')")
    app.execute(
        "INSERT INTO shop.customer (name, ssn) VALUES ('x', 'ssn-3') ON CONFLICT (ssn) DO UPDATE SET name = 'met'"
    )
    assert one(app, "SELECT name FROM shop.customer WHERE id = 3") == "met"


def test_on_conflict_on_a_randomised_column_says_why_not(app: Connection) -> None:
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="not searchable"):
        app.execute("INSERT INTO shop.customer (name) VALUES ('x') ON CONFLICT (note) DO NOTHING")


def test_constraints_hold_on_what_is_written(app: Connection) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        app.execute("INSERT INTO shop.customer (name, salary) VALUES ('x', -5)")
    with pytest.raises(psycopg.errors.CheckViolation):
        app.execute("UPDATE shop.customer SET salary = -salary")
    with pytest.raises(psycopg.errors.NotNullViolation):
        app.execute("UPDATE shop.customer SET note = NULL WHERE id = 3")
    with pytest.raises(psycopg.errors.StringDataRightTruncation):
        app.execute("UPDATE shop.customer SET note = repeat('x', 41)")
    with pytest.raises(psycopg.errors.NumericValueOutOfRange):
        app.execute("UPDATE shop.customer SET salary = 1e9")


def test_copy_to_and_from(app: Connection, outsider: Connection) -> None:
    with app.cursor() as cursor:
        with cursor.copy("COPY shop.customer (name, ssn, salary) FROM STDIN") as copy:
            for n in range(100):
                copy.write_row((f"copied {n}", f"c-{n}", n + 1))
        assert cursor.rowcount == 100
    assert one(app, "SELECT sum(salary), count(DISTINCT note) FROM shop.customer WHERE name LIKE 'copied%'") == (
        5050,
        1,
    )
    with app.cursor() as cursor, cursor.copy("COPY shop.customer (id, salary) TO STDOUT") as copy:
        assert b"3\t300.00\n" in b"".join(bytes(block) for block in copy)
    with outsider.cursor() as cursor, cursor.copy("COPY shop.customer TO STDOUT") as copy:
        assert b"3\tname 3\t\\N\t\\N\t1970-01-04\t\\N\n" in b"".join(bytes(block) for block in copy)


def test_prepared_statements_and_parameters(shop: Shop, app: Connection) -> None:
    for n in range(8):
        app.execute(
            "INSERT INTO shop.customer (name, ssn, salary) VALUES (%s, %s, %s)", ("p", f"p{n}", n + 1), prepare=True
        )
        found = app.execute("SELECT salary FROM shop.customer WHERE ssn = %s", (f"p{n}",), prepare=True).fetchall()
        assert found == [(Decimal(n + 1),)]
    app.execute("PREPARE look AS SELECT salary FROM shop.customer WHERE ssn = $1")
    assert one(app, "EXECUTE look('p3')") == 4
    app.execute("SELECT discreet.close_key('k')")
    assert app.execute("EXECUTE look('p3')").fetchall() == []
    app.execute("SELECT discreet.open_key('k', %s)", [SECRET])
    assert one(app, "EXECUTE look('p3')") == 4


def test_cursors_whole_rows_and_subqueries(app: Connection) -> None:
    with app.transaction():
        app.execute("DECLARE c CURSOR FOR SELECT salary FROM shop.customer ORDER BY salary DESC")
        assert one(app, "FETCH 1 FROM c") == 2000
    assert one(app, "SELECT (customer).salary FROM shop.customer WHERE id = 7") == 700
    assert (
        one(app, "SELECT max(salary) FROM shop.customer WHERE ssn IN (SELECT ssn FROM shop.customer WHERE id < 5)")
        == 400
    )
    assert one(app, "SELECT salary FROM shop.customer WHERE id = 3 FOR UPDATE") == 300
    assert one(app, "SELECT to_jsonb(c) ->> 'ssn' FROM shop.customer c WHERE id = 3") == "ssn-3"


def test_functions_in_other_languages_write_it(shop: Shop, app: Connection) -> None:
    admin = shop.database.connect()
    admin.execute(
        "CREATE FUNCTION shop.hire(who text, pay numeric) RETURNS int LANGUAGE plpgsql AS $$ DECLARE made int; BEGIN"
        " INSERT INTO shop.customer (name, salary) VALUES (who, pay) RETURNING id INTO made; RETURN made; END $$"
    )
    admin.execute("CREATE FUNCTION shop.raised(which int) RETURNS numeric LANGUAGE sql AS"
                  " 'UPDATE shop.customer SET salary = salary + 1 WHERE id = which RETURNING salary'")  # fmt: skip
    made = one(app, "SELECT shop.hire('h', 5)")
    assert one(app, "SELECT shop.raised(%s)", [made]) == 6
    assert one(app, "SELECT shop.raised(%s)", [made]) == 7


def test_triggers_on_other_columns_stay(shop: Shop, app: Connection) -> None:
    carol = shop.database.connect(shop.curator)
    carol.execute("CREATE FUNCTION shop.shout() RETURNS trigger LANGUAGE plpgsql AS"
                  " $$ BEGIN NEW.name := upper(NEW.name); RETURN NEW; END $$")  # fmt: skip
    carol.execute(
        "CREATE TRIGGER shout BEFORE INSERT ON shop.customer_sealed FOR EACH ROW EXECUTE FUNCTION shop.shout()"
    )
    assert one(app, "INSERT INTO shop.customer (name, salary) VALUES ('loud', 3) RETURNING name, salary") == ("LOUD", 3)


def test_the_owner_of_grants_decides_as_before(shop: Shop) -> None:
    admin = shop.database.connect()
    admin.execute(f"REVOKE INSERT ON shop.customer FROM {shop.app}")
    app = shop.connect(shop.app)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        app.execute("INSERT INTO shop.customer (name) VALUES ('x')")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        app.execute("SELECT * FROM shop.customer_sealed")
