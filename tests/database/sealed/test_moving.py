"""Sealed columns outlive dump and restore, and cloning: the ciphertext moves, the secret does not."""

from __future__ import annotations

import psycopg
import pytest
from tests.databases import Database, created, restore
from tests.sealed import SECRET, Shop, one

ROWS = "SELECT id, name, ssn, salary, born, note FROM shop.customer ORDER BY id"


@pytest.fixture
def target(shop: Shop, empty_database: Database) -> Database:
    """Another database, into which the shop was restored, by somebody who has no key."""
    restore(shop.database, empty_database)
    return empty_database


def test_a_restored_dump_opens_with_the_same_secret(shop: Shop, target: Database) -> None:
    expected = shop.connect(shop.app).execute(ROWS).fetchall()
    app = target.connect(shop.app)
    assert one(app, "SELECT count(*), count(salary) FROM shop.customer") == (20, 0)
    with pytest.raises(psycopg.errors.InvalidPassword):
        app.execute("SELECT discreet.open_key('k', 'wrong')")
    app.execute("SELECT discreet.open_key('k', %s)", [SECRET])
    assert app.execute(ROWS).fetchall() == expected
    app.execute("INSERT INTO shop.customer (name, ssn, salary) VALUES ('new', 'n', 5)")
    assert one(app, "SELECT salary FROM shop.customer WHERE ssn = 'n'") == 5
    with pytest.raises(psycopg.errors.CheckViolation):
        app.execute("UPDATE shop.customer SET salary = -1")
    carol = target.connect(shop.curator)
    carol.execute("SELECT discreet.open_key('k', %s)", [SECRET])
    carol.execute("SELECT discreet.unseal_column('shop.customer', 'ssn')")
    assert carol.execute(ROWS + " LIMIT 20").fetchall() == expected


def test_a_cloned_database_has_them_too(shop: Shop) -> None:
    shop.database.close()
    with created(shop.database.cluster, "clone_of_shop", shop.database.name) as clone:
        app = clone.connect(shop.app)
        app.execute("SELECT discreet.open_key('k', %s)", [SECRET])
        assert one(app, "SELECT sum(salary) FROM shop.customer WHERE ssn IS NOT NULL") == 21000


def test_a_dump_without_the_tables_of_keys_says_what_is_missing(shop: Shop, target: Database) -> None:
    admin = target.connect()
    admin.execute("DELETE FROM discreet._data_key WHERE owner IN (SELECT id FROM discreet._sealed_column)")
    admin.execute("SELECT discreet.open_key('k', %s)", [SECRET])
    with pytest.raises(psycopg.errors.DataCorrupted, match="is missing"):
        admin.execute("SELECT salary FROM shop.customer")
    assert one(admin, "SELECT count(name) FROM shop.customer") == 20
    admin.execute("DELETE FROM discreet._sealed_column")
    with pytest.raises(psycopg.errors.UndefinedObject, match="no such sealed column"):
        admin.execute("SELECT salary FROM shop.customer")
