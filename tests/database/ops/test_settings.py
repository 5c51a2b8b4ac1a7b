"""Settings: what a user may wish, and what only a superuser decides."""

from __future__ import annotations

import psycopg
import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused


@pytest.fixture
def user(database: Database, make_role: MakeRole) -> Connection:
    return database.connect(make_role("user"))


def test_the_wish_is_a_tenth_unless_said_otherwise(user: Connection) -> None:
    assert user.execute("SHOW discreet.epsilon").fetchall() == [("0.1",)]


@pytest.mark.parametrize(("given", "shown"), [("0.5", "0.5"), ("1e-9", "1e-09"), ("100", "100")])
def test_anybody_may_wish_an_epsilon(user: Connection, given: str, shown: str) -> None:
    user.execute(f"SET discreet.epsilon = {given}")
    assert user.execute("SHOW discreet.epsilon").fetchall() == [(shown,)]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("'NaN'", 'invalid value for parameter "discreet.epsilon": "NaN"'),
        ("'Infinity'", "outside the valid range"),
        ("'inf'", "outside the valid range"),
        ("-1", "outside the valid range"),
        ("0", "outside the valid range"),
        ("1e-10", "outside the valid range"),
        ("100.1", "outside the valid range"),
        ("'much'", 'invalid value for parameter "discreet.epsilon": "much"'),
        ("''", 'invalid value for parameter "discreet.epsilon": ""'),
    ],
)
def test_a_wish_without_sense_is_refused(user: Connection, value: str, message: str) -> None:
    with refused("22023", message, None):
        user.execute(f"SET discreet.epsilon = {value}")


def test_a_wish_for_a_level_that_there_is_not_is_refused(user: Connection) -> None:
    with refused("42501", 'there is no level "secret"', "clearance"):
        user.execute("SET discreet.level = 'secret'")


@pytest.mark.parametrize("name", ["discreet.seed", "discreet.noise", "discreet.epsilom"])
def test_a_setting_that_does_not_exist_is_refused(user: Connection, name: str) -> None:
    # a misspelt wish would otherwise be taken silently, and a noise-off switch would look as if it worked
    with refused("42602", f'invalid configuration parameter name "{name}"', None):
        user.execute(f"SET {name} = '1'")


@pytest.mark.parametrize(
    ("statement", "state"), [("SET discreet.ledger = 'host=evil'", "55P02"), ("SHOW discreet.ledger", "42501")]
)
def test_where_the_ledger_is_concerns_superusers_only(user: Connection, statement: str, state: str) -> None:
    with refused(state, '"discreet.ledger"', None):
        user.execute(statement)


def test_a_user_cannot_give_the_ledger_in_the_connection_string(database: Database, make_role: MakeRole) -> None:
    with pytest.raises(psycopg.OperationalError, match="cannot be changed now"):
        psycopg.connect(database.dsn(make_role("user")) + " options='-c discreet.ledger=host=evil'")
