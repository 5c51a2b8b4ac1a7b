"""Somebody who has the ciphertext looks for equal values, and for nonces that were used twice."""

from __future__ import annotations

from tests.sealed import Shop, one


def test_equal_values_of_a_randomised_column_look_different(shop: Shop) -> None:
    app = shop.connect(shop.app)
    app.execute(
        "INSERT INTO shop.customer (name, salary, ssn) SELECT 'same', 5, n::text FROM generate_series(1, 5000) n"
    )
    app.execute("UPDATE shop.customer SET salary = salary")
    admin = shop.database.connect()
    assert one(admin, "SELECT count(DISTINCT salary), count(DISTINCT substr(salary, 3, 12)), count(DISTINCT _row_id)"
                      " FROM shop.customer_sealed") == (5020, 5020, 5020)  # fmt: skip


def test_sessions_that_begin_alike_use_other_nonces(shop: Shop) -> None:
    for _ in range(3):
        session = shop.connect(shop.app)
        session.execute("INSERT INTO shop.customer (name, salary) VALUES ('same', 5)")
        session.close()
    admin = shop.database.connect()
    assert one(admin, "SELECT count(DISTINCT substr(salary, 3, 12)) FROM shop.customer_sealed WHERE name = 'same'") == 3


def test_a_searchable_column_shows_equality_under_its_own_key_only(shop: Shop) -> None:
    carol = shop.connect(shop.curator)
    carol.execute("SELECT discreet.create_key('l'), discreet.open_key('l', 'other')")
    carol.execute("CREATE TABLE shop.a (s text); INSERT INTO shop.a VALUES ('ssn-3')")
    carol.execute("CREATE TABLE shop.b (s text); INSERT INTO shop.b VALUES ('ssn-3')")
    carol.execute(
        "SELECT discreet.seal_column('shop.a', 's', 'k', true), discreet.seal_column('shop.b', 's', 'l', true)"
    )
    admin = shop.database.connect()
    shared = "SELECT count(*) FROM shop.customer_sealed c JOIN shop.{}_sealed x ON x.s = c.ssn"
    assert one(admin, shared.format("a")) == 1, "that is what searchable means"
    assert one(admin, shared.format("b")) == 0
