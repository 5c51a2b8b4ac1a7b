"""fallback => 'noisy': what is not answered exactly is answered with noise, and paid."""

from __future__ import annotations

import pytest
from tests.databases import Connection, Database, MakeRole


@pytest.fixture
def asker(database: Database, make_role: MakeRole) -> tuple[Connection, Connection]:
    admin, role = database.connect(), make_role("asker", "discreet_analyst")
    admin.execute("CREATE TABLE t (id int PRIMARY KEY, grp int NOT NULL, x int NOT NULL, y int NOT NULL)")
    admin.execute("INSERT INTO t SELECT n, n % 2, n, n FROM generate_series(1, 100) n")
    admin.execute("SELECT discreet.protect('t', 'id', epsilon => 100, policy => 'audited', fallback => 'noisy')")
    admin.execute(
        "SELECT discreet.describe_column('t', 'grp', 0, 1, visibility => 'public'),"
        " discreet.describe_column('t', 'x', 0, 1000)"
    )
    admin.execute("SELECT discreet.grant_budget('public.t', %s, 100)", [role])
    return admin, database.connect(role)


def spent(admin: Connection) -> object:
    return admin.execute("SELECT epsilon_spent FROM discreet.budget_status WHERE role IS NULL").fetchone()[0]  # type: ignore[index]


def test_an_exact_answer_costs_nothing(asker: tuple[Connection, Connection]) -> None:
    admin, session = asker
    assert session.execute("SELECT sum(x) FROM t").fetchall() == [(5050,)]
    assert spent(admin) == 0


def test_a_denied_question_is_paid_and_noisy(asker: tuple[Connection, Connection]) -> None:
    admin, session = asker
    session.execute("SET discreet.epsilon = 1")
    session.execute("SELECT sum(x) FROM t WHERE grp = 1")
    assert session.execute("SELECT sum(x) FROM t WHERE grp > 5").fetchall() != []
    assert spent(admin) == 1
    told = session.execute("SELECT discreet.explain('SELECT sum(x) FROM t WHERE grp > 5')").fetchone()[0]  # type: ignore[index]
    assert not told["answered"]
    assert told["fallback"]["epsilon"] == "0"  # it is stored now


def test_a_shape_that_has_no_exact_answer_is_noisy(asker: tuple[Connection, Connection]) -> None:
    admin, session = asker
    session.execute("SET discreet.epsilon = 1")
    assert len(session.execute("SELECT sum(x) FROM t WHERE x > 10").fetchall()) == 1
    assert spent(admin) == 1


def test_what_has_no_noisy_answer_either_keeps_its_refusal(asker: tuple[Connection, Connection]) -> None:
    _, session = asker
    with pytest.raises(Exception, match="fewer than 10 people") as caught:
        session.execute("SELECT sum(y) FROM t WHERE grp > 5")
    assert caught.value.sqlstate == "DP006"  # type: ignore[attr-defined]
