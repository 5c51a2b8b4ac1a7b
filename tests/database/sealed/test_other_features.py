"""Sealed columns beside the other features: each works on such a table, or is refused with the reason."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from tests.database.waiting import waited_for
from tests.databases import Connection
from tests.sealed import SECRET, Shop, one

BASE = "shop.customer_sealed"


@pytest.fixture
def carol(shop: Shop) -> Connection:
    """The curator, with the key open."""
    return shop.connect(shop.curator)


@pytest.fixture
def server_key(shop: Shop) -> Iterator[None]:
    """The server holds the key, too."""
    admin = shop.database.connect()

    def is_set() -> bool:
        return bool(one(shop.database.connect(), "SHOW discreet.key_command"))

    admin.execute(f"ALTER SYSTEM SET discreet.key_command = 'echo {SECRET.decode()}'".encode())
    admin.execute("SELECT pg_reload_conf()")
    try:
        waited_for(is_set)
        yield
    finally:
        admin.execute("ALTER SYSTEM RESET discreet.key_command")
        admin.execute("SELECT pg_reload_conf()")
        waited_for(lambda: not is_set())


def refused(session: Connection, statement: str, why: str) -> None:
    with pytest.raises(psycopg.Error, match=why):
        session.execute(statement.encode())


@pytest.mark.parametrize("table", ["shop.customer", BASE])
def test_a_table_with_sealed_columns_does_not_become_multilevel(shop: Shop, table: str) -> None:
    admin = shop.connect("postgres")
    admin.execute("SELECT discreet.mls_define(ARRAY['U', 'S'])")
    refused(
        admin,
        f"SELECT discreet.mls_table('{table}', ARRAY['id'])",
        "shop.customer has sealed columns, which a multilevel table cannot have",
    )


@pytest.mark.parametrize("table", ["shop.person", "shop.person_mls"])
def test_columns_of_a_multilevel_table_are_not_sealed(shop: Shop, table: str) -> None:
    admin = shop.connect("postgres")
    admin.execute("SELECT discreet.mls_define(ARRAY['U', 'S'])")
    admin.execute("CREATE TABLE shop.person (name text PRIMARY KEY, pay int)")
    admin.execute("SELECT discreet.mls_table('shop.person', ARRAY['name'])")
    for column in ("pay", "name"):
        refused(
            admin,
            f"SELECT discreet.seal_column('{table}', '{column}', 'k')",
            "shop.person is a multilevel table, whose columns cannot be sealed",
        )


def test_a_multilevel_table_is_not_randomised(shop: Shop) -> None:
    admin = shop.connect("postgres")
    admin.execute("SELECT discreet.mls_define(ARRAY['U', 'S'])")
    admin.execute("CREATE TABLE shop.person (name text PRIMARY KEY, ok boolean)")
    admin.execute("SELECT discreet.mls_table('shop.person', ARRAY['name'])")
    refused(admin, "SELECT discreet.rr_column('shop.person', 'ok', 1)", "is a multilevel table")


def test_rules_judge_columns_in_the_clear_and_hold_for_what_the_application_writes(
    shop: Shop, carol: Connection
) -> None:
    refused(carol, "SELECT discreet.add_rule('shop.customer', 'r', 'NEW.id > 0')", f"base table, {BASE}")
    refused(carol, "SELECT discreet.add_limit('shop.customer', 'l', 'id > 0', 9)", f"base table, {BASE}")
    for text in ("NEW.salary IS NOT NULL", "OLD.ssn > ''", "NEW._row_id <> 0", "NEW.id > 0 AND NEW.note <> ''"):
        refused(carol, f"SELECT discreet.add_rule('{BASE}', 'r', $${text}$$)", "the rule would judge ciphertext")
    refused(carol, f"SELECT discreet.add_limit('{BASE}', 'l', 'salary IS NULL', 9)", "the rule would judge ciphertext")
    carol.execute(f"SELECT discreet.add_rule('{BASE}', 'named', 'NEW.name <> ''''')")
    carol.execute(f"SELECT discreet.add_limit('{BASE}', 'few', 'id > 18', 3)")
    app = shop.connect(shop.app)
    refused(app, "INSERT INTO shop.customer (name, salary) VALUES ('', 5)", "named")
    refused(app, "UPDATE shop.customer SET name = '', salary = 5 WHERE id = 1", "named")
    app.execute("INSERT INTO shop.customer (name, salary) VALUES ('new', 5)")
    refused(app, "INSERT INTO shop.customer (name, salary) VALUES ('one more', 5)", "few")
    assert one(app, "SELECT count(*), sum(salary) FROM shop.customer") == (21, 21005)


def test_a_rule_that_names_a_column_keeps_it_from_being_sealed(carol: Connection) -> None:
    carol.execute("CREATE TABLE shop.t (x int, y int, ok boolean, id int PRIMARY KEY)")
    carol.execute("SELECT discreet.add_rule('shop.t', 'positive', 'NEW.x > 0')")
    carol.execute("SELECT discreet.add_limit('shop.t', 'few', 'y > 5', 2)")
    carol.execute("SELECT discreet.rr_column('shop.t', 'ok', 1, unit => 'id')")
    for column, why in (
        ("x", 'named by trigger rule positive|named by trigger "rule positive"'),
        ("y", "is used by index|named by trigger"),
        ("ok", "named by trigger"),
    ):
        refused(carol, f"SELECT discreet.seal_column('shop.t', '{column}', 'k')", why)


def test_rules_limits_and_responses_stay_where_another_column_is_sealed(carol: Connection) -> None:
    carol.execute("CREATE TABLE shop.t (x int, y int, ok boolean, id int PRIMARY KEY, z text)")
    carol.execute("SELECT discreet.add_rule('shop.t', 'positive', 'NEW.x > 0')")
    carol.execute("SELECT discreet.add_limit('shop.t', 'few', 'y > 5', 2)")
    carol.execute("SELECT discreet.rr_column('shop.t', 'ok', 1, unit => 'id')")
    carol.execute("SELECT discreet.seal_column('shop.t', 'z', 'k')")
    carol.execute("INSERT INTO shop.t SELECT 1, n, true, n, 'text' || n FROM generate_series(1, 7) n")
    refused(carol, "UPDATE shop.t SET x = -1, z = 'a' WHERE id = 1", "positive")
    refused(carol, "INSERT INTO shop.t VALUES (1, 9, true, 9, 'a')", "few")
    assert one(carol, "SELECT count(z), string_agg(z, ',' ORDER BY id) FROM shop.t WHERE id < 3") == (2, "text1,text2")
    carol.execute("SELECT discreet.unseal_column('shop.t', 'z')")
    refused(carol, "UPDATE shop.t SET x = -1 WHERE id = 1", "positive")


def test_responses_are_randomised_beside_sealed_columns_and_stay_the_same(carol: Connection) -> None:
    """A response of 200 people at epsilon 0.1 is all true, or all false, with a probability below 2 * 0.53^200."""
    carol.execute("CREATE TABLE shop.t (id int PRIMARY KEY, who text UNIQUE, ok boolean, mood boolean)")
    carol.execute(
        "SELECT discreet.seal_column('shop.t', 'mood', 'k'), discreet.seal_column('shop.t', 'who', 'k', true)"
    )
    refused(carol, "SELECT discreet.rr_column('shop.t', 'ok', 0.1)", "has sealed columns")
    refused(carol, "SELECT discreet.rr_column('shop.t_sealed', 'mood', 0.1)", "type bytea")
    # a person that is known again by ciphertext would answer anew whenever it is written
    refused(carol, "SELECT discreet.rr_column('shop.t_sealed', 'ok', 0.1, unit => 'who')", "type bytea")
    carol.execute("SELECT discreet.rr_column('shop.t_sealed', 'ok', 0.1, unit => 'id')")
    carol.execute("INSERT INTO shop.t SELECT n, 'w' || n, true, true FROM generate_series(1, 200) n")
    answers = carol.execute("SELECT id, ok FROM shop.t ORDER BY id").fetchall()
    assert {answer for _, answer in answers} == {True, False}
    carol.execute("UPDATE shop.t SET ok = true, mood = false")
    assert carol.execute("SELECT id, ok FROM shop.t ORDER BY id").fetchall() == answers
    assert one(carol, "SELECT count(*) FROM shop.t WHERE NOT mood") == 200


def test_nothing_is_released_of_ciphertext_and_nothing_without_the_key(shop: Shop, carol: Connection) -> None:
    releases = (
        "k_anonymity('{}', ARRAY['salary'])",
        "l_diversity('{}', ARRAY['name'], 'salary')",
        "anonymize('{}', 'shop.released', '{{\"salary\": \"auto\"}}', 2)",
        "suppress('{}', ARRAY['name'], 'id', 3, 'shop.released')",
        "swap('{}', ARRAY['salary'], ARRAY['name'], ARRAY['name'], 'shop.released')",
    )
    for release in releases:
        refused(carol, f"SELECT discreet.{release.format(BASE)}", "holds ciphertext of shop.customer")
    without = shop.database.connect(shop.curator)
    for release in releases:
        refused(
            without, f"SELECT discreet.{release.format('shop.customer')}", 'sealed under key "k", which is not open'
        )
    assert one(carol, "SELECT discreet.k_anonymity('shop.customer', ARRAY['salary'])") == 1


def test_a_path_does_not_begin_or_end_at_a_table_with_sealed_columns(carol: Connection, server_key: None) -> None:
    carol.execute("CREATE TABLE shop.orders (id int PRIMARY KEY, buyer int REFERENCES shop.customer, total int)")
    carol.execute("CREATE TABLE shop.line (id int PRIMARY KEY, orders int REFERENCES shop.orders, price int)")
    carol.execute("SELECT discreet.create_dataset('d', 1)")
    for way in ("buyer -> shop.customer.id", f"buyer -> {BASE}.id"):
        refused(
            carol,
            f"SELECT discreet.protect('shop.orders', '{way}', dataset => 'd', max_rows => 2)",
            "cannot begin or end at shop.customer.*: it has sealed columns",
        )
    carol.execute("SELECT discreet.protect('shop.orders', 'buyer', dataset => 'd', max_rows => 2)")
    carol.execute("SELECT discreet.seal_column('shop.line', 'price', 'k')")
    refused(
        carol,
        "SELECT discreet.protect('shop.line', 'orders -> shop.orders.buyer', dataset => 'd', max_rows => 2)",
        "cannot begin or end at shop.line: it has sealed columns",
    )


def test_people_of_linked_tables_have_one_budget(carol: Connection, server_key: None) -> None:
    """The foreign key is that of the base table; the people are those of the table that users know."""
    carol.execute("CREATE TABLE shop.orders (id int PRIMARY KEY, buyer int REFERENCES shop.customer, total int)")
    carol.execute("SELECT discreet.create_dataset('d', 1), discreet.create_dataset('other', 1)")
    carol.execute("SELECT discreet.protect('shop.orders', 'buyer', dataset => 'd', max_rows => 2)")
    protect = "SELECT discreet.protect('shop.customer', 'id', dataset => '{}', max_rows => 1)"
    refused(carol, protect.format("other"), "the people of shop.customer are those of shop.orders")
    carol.execute(protect.format("d").encode())
