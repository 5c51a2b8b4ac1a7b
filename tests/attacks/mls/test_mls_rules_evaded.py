"""Rules judge the row as it is written: an UPDATE that shows them another one, by a NULL for its key or a false tc."""

from collections.abc import Iterator

import pytest
from tests.attacks.mls.levels import Levels, outcome, refusal
from tests.databases import Connection, Row

PAY = """
    CREATE TABLE pay (name text PRIMARY KEY, least int, most int, CHECK (least <= most),
                      CHECK (most < 100 OR name LIKE 'boss%'));
    GRANT SELECT, INSERT, UPDATE, DELETE ON pay TO mls_low;
    SELECT discreet.mls_table('pay', ARRAY['name']);
    SELECT discreet.add_rule('pay', 'cap', 'NEW.most < 100 OR NEW.name LIKE ''boss%''');
    SELECT discreet.add_limit('pay', 'one rich', 'most > 50', 1);
"""


@pytest.fixture(autouse=True)
def pay(levels: Levels, low: Connection) -> Iterator[None]:
    levels.admin.execute(PAY)
    low.execute("INSERT INTO pay (name, least, most) VALUES ('ann', 10, 20), ('abe', 1, 2)")
    yield
    low.execute("DROP VIEW IF EXISTS around")
    levels.admin.execute("SELECT discreet.mls_drop('pay')")


def stored(levels: Levels) -> list[Row]:
    return levels.admin.execute("SELECT name, least, most FROM pay_mls ORDER BY name").fetchall()


@pytest.mark.parametrize(
    "key", ["name = NULL", "name_label = NULL", "row_id = NULL", "name = NULL, row_id = NULL", "most_label = NULL"]
)
def test_a_key_a_label_or_an_id_of_null(levels: Levels, low: Connection, key: str) -> None:
    before = stored(levels)
    assert refusal(low, f"UPDATE pay SET most = 5000, {key}")[0] == "0A000"
    assert stored(levels) == before


@pytest.mark.parametrize("named", ["{3}", "{5}", "{}", "{3,5}", "{99}", "S", "{x}", "{3,NULL}", "{NULL}"])
def test_a_tc_that_is_told_through_a_view_around_it(levels: Levels, low: Connection, named: str) -> None:
    """Judged is what is stored, whatever columns it says are set."""
    low.execute("CREATE TEMPORARY VIEW around AS SELECT * FROM pay")
    before = stored(levels)
    outcome(low, f"UPDATE around SET least = 500, most = 1000, tc = '{named}' WHERE name = 'ann'")
    assert stored(levels) == before


def test_a_tc_with_a_null_in_it(levels: Levels, low: Connection) -> None:
    """A pair that is allowed, of which only one is said to be set."""
    low.execute("CREATE TEMPORARY VIEW around AS SELECT * FROM pay")
    assert refusal(low, "UPDATE around SET least = 40, most = 45, tc = '{3,NULL}' WHERE name = 'ann'")[0] == "23514"
    assert ("ann", 10, 20) in stored(levels)


def test_a_view_around_it_is_judged_as_the_table_is(levels: Levels, low: Connection) -> None:
    low.execute("CREATE TEMPORARY VIEW around AS SELECT * FROM pay")
    assert refusal(low, "UPDATE around SET least = 500 WHERE name = 'ann'")[0] == "23514"
    low.execute("UPDATE around SET most = 30 WHERE name = 'ann'")
    assert ("ann", 10, 30) in stored(levels)


def test_parentheses_that_are_lost_when_a_rule_is_stored(levels: Levels, low: Connection) -> None:
    levels.admin.execute(
        "CREATE TABLE ruled (id int PRIMARY KEY, a boolean, b boolean); GRANT INSERT ON ruled TO mls_low;"
        "SELECT discreet.mls_table('ruled', ARRAY['id']);"
        "SELECT discreet.add_rule('ruled', 'r', '(NEW.a OR NEW.b) IS NULL')"
    )
    low.execute("INSERT INTO ruled (id, a, b) VALUES (1, NULL, false)")
    for row in ("(2, true, NULL)", "(3, true, true)", "(4, false, false)"):
        assert refusal(low, f"INSERT INTO ruled (id, a, b) VALUES {row}")[0] == "23514"
    levels.admin.execute("SELECT discreet.mls_drop('ruled')")
