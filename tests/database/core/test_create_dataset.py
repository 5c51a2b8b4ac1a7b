"""discreet.create_dataset: people whose budget is kept together."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from tests.database.waiting import wait_for_lock
from tests.databases import Connection, Database
from tests.messages import refused


def test_a_curator_creates_a_dataset_with_its_limits(carol: Connection) -> None:
    carol.execute("SELECT discreet.create_dataset('people', 1.5, 1e-6, 'pure', 'bounded', '2 seconds')")
    row = carol.execute(
        "SELECT dataset, epsilon_limit, delta_limit, accounting, neighbours, response_quantum::text"
        " FROM discreet.datasets"
    ).fetchall()
    assert row == [("people", Decimal("1.5"), Decimal("0.000001"), "pure", "bounded", "00:00:02")]


def test_a_new_dataset_has_spent_nothing(carol: Connection) -> None:
    carol.execute("SELECT discreet.create_dataset('people', 1.5)")
    status = carol.execute("SELECT * FROM discreet.budget_status").fetchall()
    spent, kept = (Decimal(0), Decimal("1.5"), Decimal(0), Decimal(0), None, None), (Decimal(0), None)
    assert status == [("people", None, Decimal("1.5"), *spent, *kept)]


def test_under_zcdp_the_limit_is_kept_in_rho_and_shown_as_epsilon(admin: Connection) -> None:
    admin.execute("SELECT discreet.create_dataset('people', 1, 1e-6, accounting => 'zcdp')")
    ((rho,),) = admin.execute("SELECT amount_limit FROM discreet._budget").fetchall()
    assert 0 < rho < 1
    admin.execute("UPDATE discreet._budget SET amount_spent = amount_limit")
    ((limit, spent),) = admin.execute("SELECT epsilon_limit, epsilon_spent FROM discreet.budget_status").fetchall()
    assert limit == 1
    assert Decimal("0.999") < spent <= 1


@pytest.mark.parametrize("name", ["", " \t"])
def test_a_dataset_without_a_name_is_refused(carol: Connection, name: str) -> None:
    with refused("22023", "a dataset needs a name", "Name the people"):
        carol.execute("SELECT discreet.create_dataset(%s, 1)", [name])


@pytest.mark.parametrize("name", ["Zoë's people", 'with "quotes"', "%I; DROP TABLE x; --", "人々"])
def test_a_dataset_can_have_any_name(carol: Connection, name: str) -> None:
    carol.execute("SELECT discreet.create_dataset(%s, 1)", [name])
    assert carol.execute("SELECT dataset FROM discreet.datasets").fetchall() == [(name,)]


@pytest.mark.parametrize("epsilon", ["NaN", "Infinity", "-Infinity", "-1", "0", "1e-10", "1001"])
def test_a_total_that_is_no_budget_is_refused(carol: Connection, epsilon: str) -> None:
    with refused("22023", "which is not a budget", "usual totals are 0.1 to 10"):
        carol.execute("SELECT discreet.create_dataset('people', %s::numeric)", [epsilon])


@pytest.mark.parametrize("delta", ["NaN", "-0.1", "1", "Infinity"])
def test_a_delta_that_is_no_probability_is_refused(carol: Connection, delta: str) -> None:
    with refused("22023", "which is not a probability below 1", "such as 1e-6"):
        carol.execute("SELECT discreet.create_dataset('people', 1, %s::numeric)", [delta])


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ("NULL, 1", "name must not be NULL", "Give a value for name."),
        ("'people', NULL", "epsilon must not be NULL", "Give a value for epsilon."),
        ("'people', 1, NULL", "delta must not be NULL", "Give a value for delta."),
        ("'people', 1, accounting => 'renyi'", "accounting is 'renyi', which is not known", "'pure', 'zcdp'"),
        ("'people', 1, accounting => NULL", "accounting is NULL, which is not known", "'pure', 'zcdp'"),
        (
            "'people', 1, neighbours => 'odd'",
            "neighbours is 'odd', which is not known",
            "'unbounded', 'bounded'",
        ),
        ("'people', 1, accounting => 'zcdp'", "'zcdp' needs a delta above 0", "delta => 1e-6"),
        (
            "'people', 1, response_quantum => '0'",
            "response_quantum is 00:00:00, but must be above zero",
            "multiples",
        ),
        (
            "'people', 1, response_quantum => '-1 s'",
            "response_quantum is -00:00:01, but must be above",
            "multiples",
        ),
        (
            "'people', 1, answer_lifetime => '-1 s'",
            "answer_lifetime is -00:00:01, but must not be below zero",
            "asked with fresh => true",
        ),
    ],
)
def test_a_dataset_of_no_known_meaning_is_refused(carol: Connection, arguments: str, message: str, hint: str) -> None:
    with refused("22023", message, hint):
        carol.execute(f"SELECT discreet.create_dataset({arguments})")


def test_a_second_dataset_of_the_same_name_is_refused(carol: Connection) -> None:
    carol.execute("SELECT discreet.create_dataset('people', 1)")
    with refused("42710", 'dataset "people" exists already', "its limits and what was spent stay as they are"):
        carol.execute("SELECT discreet.create_dataset('people', 100)")


def test_of_two_sessions_that_create_the_same_dataset_the_second_is_told_so(database: Database, curator: str) -> None:
    first, second = database.connect(curator, autocommit=False), database.connect(curator)
    first.execute("SELECT discreet.create_dataset('people', 1)")
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(second.execute, "SELECT discreet.create_dataset('people', 2)")
        wait_for_lock(database, second)
        first.commit()
        with refused("42710", 'dataset "people" exists already', "its limits"):
            waiting.result(timeout=10)


def test_a_rolled_back_dataset_leaves_nothing(database: Database, curator: str) -> None:
    connection = database.connect(curator, autocommit=False)
    connection.execute("SELECT discreet.create_dataset('kept', 1)")
    connection.execute("SAVEPOINT here")
    connection.execute("SELECT discreet.create_dataset('people', 1)")
    connection.execute("ROLLBACK TO here")
    connection.commit()
    assert connection.execute("SELECT dataset, role FROM discreet.budget_status").fetchall() == [("kept", None)]
