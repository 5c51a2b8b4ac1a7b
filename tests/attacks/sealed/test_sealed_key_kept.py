"""A session goes on with a key that its role has lost, or that another role has opened."""

from __future__ import annotations

import psycopg
import pytest
from tests.databases import MakeRole
from tests.sealed import Shop, one

READ = "SELECT count(salary) FROM shop.customer"


@pytest.fixture
def other(shop: Shop, make_role: MakeRole) -> str:
    role = make_role("other")
    shop.database.connect().execute(f"GRANT {role} TO {shop.app}; GRANT SELECT, INSERT ON shop.customer TO {role}")
    return role


@pytest.mark.parametrize("change", ["SET ROLE {}", "SELECT set_config('role', '{}', false)"])
def test_an_open_cursor_after_the_role_has_changed(shop: Shop, other: str, change: str) -> None:
    app = shop.connect(shop.app)
    app.execute("BEGIN")
    app.execute("DECLARE c CURSOR FOR SELECT salary FROM shop.customer ORDER BY id")
    assert one(app, "FETCH 1 FROM c") == 100
    app.execute(change.format(other).encode())
    assert app.execute("FETCH ALL FROM c").fetchall() == [(None,)] * 19


def test_a_statement_that_changes_the_role_writes_no_more(shop: Shop, other: str) -> None:
    app = shop.connect(shop.app)
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="not open"):
        app.execute(
            "INSERT INTO shop.customer (name, salary, ssn, note)"
            " SELECT CASE n WHEN 1 THEN 'a' ELSE set_config('role', %s, false) END,"
            " CASE n WHEN 1 THEN NULL ELSE 5 END, NULL, 'x' FROM generate_series(1, 3) n",
            [other],
        )
    assert one(app, "SELECT 1") == 1


@pytest.mark.parametrize("read", [READ, "FETCH 5 FROM c"])
def test_a_transaction_that_has_its_locks_hears_of_it(shop: Shop, read: str) -> None:
    app, carol = shop.connect(shop.app), shop.database.connect(shop.curator)
    app.execute("BEGIN")
    assert one(app, READ) == 20
    app.execute("DECLARE c CURSOR FOR SELECT salary FROM shop.customer WHERE salary IS NOT NULL")
    app.execute("FETCH 1 FROM c")
    carol.execute("SELECT discreet.revoke_key('k', %s)", [shop.app])
    assert app.execute(read.encode()).fetchall() in ([], [(0,)])


def test_a_key_that_is_dropped_while_a_statement_runs(shop: Shop) -> None:
    app = shop.connect(shop.app)
    rows = app.execute("SELECT id, salary, CASE id WHEN 10 THEN discreet.close_key('k')::text END FROM shop.customer")
    assert [id for id, salary, _ in rows.fetchall() if salary is None] == list(range(11, 21))
