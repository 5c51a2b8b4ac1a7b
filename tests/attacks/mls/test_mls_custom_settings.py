"""discreet.level as the attacker wishes it: too high, malformed, set in odd places, undone by a rollback."""

import psycopg
import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection

NAMES = "SELECT name FROM employee ORDER BY name"


@pytest.mark.parametrize(
    "wish", ["S", "C", "U:NATO", "TS", "u", " U", "U,S", "U:", "U:X", "U:NATO,NATO", "''", "0", "S\\"]
)
@pytest.mark.parametrize("way", ["SET discreet.level = '{}'", "SELECT set_config('discreet.level', '{}', false)"])
def test_a_wish_above_the_clearance_or_of_no_meaning_is_an_error(low: Connection, way: str, wish: str) -> None:
    assert refusal(low, way.format(wish))[0] in ("42501", "22023")
    assert low.execute(NAMES).fetchall() == [("Smith",)]


@pytest.mark.parametrize(
    "way",
    [
        "ALTER ROLE mls_low SET discreet.level = 'S'",
        "ALTER DATABASE attacked_levels SET discreet.level = 'S'",
    ],
)
def test_a_wish_made_before_the_session_is_no_better(levels: Levels, way: str) -> None:
    levels.admin.execute(way)
    try:
        assert refusal(levels.at("low"), NAMES)[0] == "42501"
    finally:
        levels.admin.execute(way.replace("SET discreet.level = 'S'", "RESET discreet.level"))


def test_nor_one_in_the_options_of_the_connection(levels: Levels) -> None:
    dsn = levels.database.dsn("mls_low")
    with psycopg.connect(dsn, options="-c discreet.level=S", autocommit=True) as session:
        assert refusal(session, NAMES)[0] == "42501"
        assert refusal(session, "INSERT INTO employee (name) VALUES ('x')")[0] == "42501"


@pytest.mark.parametrize(
    "undo", ["ROLLBACK", "ROLLBACK TO before", "COMMIT", "ROLLBACK; RESET discreet.level", "ROLLBACK; RESET ALL"]
)
def test_what_was_read_in_a_transaction_stays_read(levels: Levels, undo: str) -> None:
    session = levels.at("high")
    session.execute("BEGIN; SAVEPOINT before")
    session.execute(NAMES)
    session.execute(undo)
    assert refusal(session, "SET discreet.level = 'U'")[0] == "42501"


def test_discard_forgets_nothing(levels: Levels) -> None:
    session = levels.at("high")
    session.execute(NAMES)
    session.execute("DISCARD ALL")
    assert refusal(session, "SET discreet.level = 'U'")[0] == "42501"


def test_a_function_with_a_level_of_its_own_cannot_go_down(levels: Levels) -> None:
    session = levels.at("high")
    session.execute(
        """
        CREATE FUNCTION pg_temp.down(fact text) RETURNS void LANGUAGE sql SET discreet.level = 'U'
        AS 'INSERT INTO public.employee (name) VALUES (fact)'
        """
    )
    session.execute(NAMES)
    assert refusal(session, "SELECT pg_temp.down('Brown')")[0] == "42501"


def test_nor_can_a_write_down_hide_in_one_statement(levels: Levels) -> None:
    """The level is lowered before anything is read, and raised in the middle: what is written afterwards is high."""
    session = levels.at("high")
    session.execute("SET discreet.level = 'U'")
    statements = [
        "WITH up AS (SELECT set_config('discreet.level', 'S', false)), read AS (SELECT name FROM employee, up)"
        " INSERT INTO employee (name) SELECT name || '-leak' FROM read",
        "INSERT INTO employee (name) SELECT name || '-leak' FROM employee, set_config('discreet.level', 'S', false)",
    ]
    for statement in statements:
        try:
            session.execute(statement)
        except psycopg.Error:
            continue
    low = levels.at("low")
    assert not [name for (name,) in low.execute(NAMES) if "Brown" in str(name)]
