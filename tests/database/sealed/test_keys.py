"""Keys: who may open them, what a wrong secret does, and when a session loses them."""

from __future__ import annotations

import psycopg
import pytest
from tests.databases import Connection, MakeRole
from tests.sealed import SECRET, Shop, one

COUNT = "SELECT count(salary) FROM shop.customer"


def test_a_wrong_secret_is_a_clear_error_and_changes_nothing(shop: Shop) -> None:
    outsider = shop.connect(shop.app, key=False)
    with pytest.raises(psycopg.errors.InvalidPassword, match='does not open key "k"'):
        outsider.execute("SELECT discreet.open_key('k', 'wrong')")
    assert one(outsider, COUNT) == 0
    assert one(shop.connect(shop.app), COUNT) == 20


def test_a_lost_key_leaves_other_columns_readable(shop: Shop) -> None:
    assert one(shop.connect(shop.app, key=False), "SELECT count(name), count(born) FROM shop.customer") == (20, 20)


def test_only_holders_open_a_key(shop: Shop, make_role: MakeRole) -> None:
    stranger = shop.database.connect(make_role("mallory"))
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="may not open key"):
        stranger.execute("SELECT discreet.open_key('k', %s)", [SECRET])
    with pytest.raises(psycopg.errors.UndefinedObject):
        stranger.execute("SELECT discreet.open_key('none', %s)", [SECRET])


def test_a_role_that_loses_a_key_loses_it_in_open_sessions(shop: Shop) -> None:
    app = shop.connect(shop.app)
    assert one(app, COUNT) == 20
    carol = shop.database.connect(shop.curator)
    carol.execute("SELECT discreet.revoke_key('k', %s)", [shop.app])
    assert one(app, COUNT) == 0
    carol.execute("SELECT discreet.grant_key('k', %s)", [shop.app])
    assert one(app, COUNT) == 0, "it has to be opened again"


def test_a_member_that_leaves_the_group_loses_the_key(shop: Shop, make_role: MakeRole) -> None:
    member = make_role("mia", shop.app)
    session = shop.connect(member)
    assert one(session, COUNT) == 20
    shop.database.connect().execute(f"REVOKE {shop.app} FROM {member}; GRANT SELECT ON shop.customer TO {member}")
    assert one(session, COUNT) == 0


def test_sessions_lose_their_keys(shop: Shop, make_role: MakeRole) -> None:
    other = make_role("other", shop.app)
    admin = shop.database.connect()
    for lose in (
        "SELECT discreet.close_key('k')",
        "DISCARD ALL",
        f"SET ROLE {other}",
        f"SET SESSION AUTHORIZATION {other}",
        f"SELECT set_config('role', '{other}', false)",
    ):
        admin.execute("SELECT discreet.open_key('k', %s)", [SECRET])
        assert one(admin, COUNT) == 20
        admin.execute(lose)
        assert one(admin, COUNT) == 0, lose
        admin.execute("RESET ROLE; RESET SESSION AUTHORIZATION")
        assert one(admin, COUNT) == 0, lose


def test_a_rolled_back_transaction_keeps_what_was_opened(shop: Shop) -> None:
    app = shop.connect(shop.app, key=False)
    app.execute("BEGIN")
    app.execute("SELECT discreet.open_key('k', %s)", [SECRET])
    app.execute("ROLLBACK")
    assert one(app, COUNT) == 20


def test_rotation_gives_another_secret_and_rewrites_no_column(shop: Shop) -> None:
    app = shop.connect(shop.app)
    carol = shop.database.connect(shop.curator)
    before = carol.execute("SELECT ctid, salary FROM shop.customer_sealed ORDER BY id").fetchall()
    with pytest.raises(psycopg.errors.InvalidPassword):
        carol.execute("SELECT discreet.rotate_key('k', 'wrong', 'new secret')")
    carol.execute("SELECT discreet.rotate_key('k', %s, 'new secret')", [SECRET])
    assert carol.execute("SELECT ctid, salary FROM shop.customer_sealed ORDER BY id").fetchall() == before
    fresh = shop.connect(shop.app, key=False)
    with pytest.raises(psycopg.errors.InvalidPassword):
        fresh.execute("SELECT discreet.open_key('k', %s)", [SECRET])
    fresh.execute("SELECT discreet.open_key('k', 'new secret')")
    assert one(fresh, COUNT) == 20
    # a session that has the key open is told to open it again; it never reads NULL instead of a value
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="has changed"):
        app.execute(COUNT)


def test_only_the_owner_rotates_and_grants(shop: Shop, make_role: MakeRole) -> None:
    other = shop.database.connect(make_role("otto", "discreet_curator"))
    for statement in (
        "SELECT discreet.rotate_key('k', 'a', 'b')",
        f"SELECT discreet.grant_key('k', '{shop.app}')",
        f"SELECT discreet.revoke_key('k', '{shop.app}')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            other.execute(statement)


def test_a_key_given_whole_has_32_bytes(shop: Shop) -> None:
    carol = shop.database.connect(shop.curator)
    carol.execute("SELECT discreet.create_key('kms', whole => true)")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="not 32"):
        carol.execute("SELECT discreet.open_key('kms', 'short')")
    carol.execute("SELECT discreet.open_key('kms', %s)", [bytes(range(32))])
    carol.execute("CREATE TABLE shop.t (x int); INSERT INTO shop.t VALUES (5)")
    carol.execute("SELECT discreet.seal_column('shop.t', 'x', 'kms')")
    assert one(carol, "SELECT x FROM shop.t") == 5
    with pytest.raises(psycopg.errors.InvalidPassword):
        shop.database.connect(shop.curator).execute("SELECT discreet.open_key('kms', %s)", [bytes(32)])


def test_a_key_that_has_a_name_already(shop: Shop) -> None:
    with pytest.raises(psycopg.errors.DuplicateObject):
        shop.database.connect(shop.curator).execute("SELECT discreet.create_key('k')")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        shop.database.connect(shop.app).execute("SELECT discreet.create_key('mine')")


def test_the_first_secret_is_given_by_the_owner(shop: Shop) -> None:
    carol = shop.database.connect(shop.curator)
    carol.execute("SELECT discreet.create_key('fresh')")
    carol.execute("SELECT discreet.grant_key('fresh', %s)", [shop.app])
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="does not own"):
        shop.connect(shop.app, key=False).execute("SELECT discreet.open_key('fresh', 'mine')")
    carol.execute("SELECT discreet.open_key('fresh', 'ours')")
    shop.connect(shop.app, key=False).execute("SELECT discreet.open_key('fresh', 'ours')")


def test_the_data_key_of_a_column_is_renewed_in_batches(shop: Shop) -> None:
    carol = shop.connect(shop.curator)
    carol.execute("SELECT discreet.renew_column_key('shop.customer', 'salary')")
    carol.execute("INSERT INTO shop.customer (name, salary) VALUES ('new', 5)")
    versions = "SELECT discreet._sealed_version(salary), count(*) FROM shop.customer_sealed GROUP BY 1 ORDER BY 1"
    admin = shop.database.connect()
    assert admin.execute(versions).fetchall() == [(1, 20), (2, 1)]
    assert one(carol, "SELECT discreet.reseal_column('shop.customer', 'salary', 15)") == 15
    assert admin.execute(versions).fetchall() == [(1, 5), (2, 16)]
    assert one(carol, "SELECT sum(salary) FROM shop.customer") == 21005
    assert one(carol, "SELECT discreet.reseal_column('shop.customer', 'salary', 15)") == 5
    assert one(carol, "SELECT discreet.reseal_column('shop.customer', 'salary', 15)") == 0
    assert one(carol, "SELECT sum(salary) FROM shop.customer") == 21005
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="shares its data key"):
        carol.execute("SELECT discreet.renew_column_key('shop.customer', 'ssn')")


def test_keys_are_listed_without_secrets(shop: Shop, app: Connection) -> None:
    carol = shop.database.connect(shop.curator)
    row = carol.execute("SELECT name, owner, whole, has_secret, sealed_columns FROM discreet.keys").fetchall()
    assert row == [("k", shop.curator, False, True, 3)]
    for table in ("keys", "sealed_columns", "_key", "_data_key", "_sealed_column"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute(f"SELECT * FROM discreet.{table}")
