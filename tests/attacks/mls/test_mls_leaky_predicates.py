"""Functions and operators of the attacker in conditions: whatever rows they are called with, they tell."""

from collections.abc import Iterator

import pytest
from tests.attacks.mls.levels import Levels
from tests.databases import Connection

LEAKS = """
    CREATE SCHEMA leaks;
    GRANT ALL ON SCHEMA leaks TO mls_low;
    SET SESSION AUTHORIZATION mls_low;
    CREATE FUNCTION leaks.tell(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0000001 AS
        $$ BEGIN RAISE NOTICE 'saw %', $1; RETURN true; END $$;
    CREATE FUNCTION leaks.tell(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE COST 0.0000001 AS
        $$ SELECT leaks.tell($1) $$;
    CREATE OPERATOR leaks.<-> (FUNCTION = leaks.tell, LEFTARG = text, RIGHTARG = text);
    RESET SESSION AUTHORIZATION;
"""
QUESTIONS = [
    "SELECT * FROM {} WHERE leaks.tell(name)",
    "SELECT * FROM {} WHERE name OPERATOR(leaks.<->) 'x'",
    "SELECT count(*) FROM {} WHERE leaks.tell(name) AND name = 'Brown'",
    "SELECT count(*) FROM {} a JOIN {} b ON leaks.tell(a.name || b.name)",
    "SELECT max(name) FILTER (WHERE leaks.tell(name)) FROM {}",
    "SELECT * FROM {} ORDER BY leaks.tell(name)",
    "UPDATE {} SET {column} = 'x' WHERE leaks.tell(name)",
    "DELETE FROM {} WHERE leaks.tell(name) AND name = 'nobody'",
]


@pytest.fixture
def told(levels: Levels, low: Connection) -> Iterator[list[str]]:
    levels.admin.execute(LEAKS)
    heard: list[str] = []
    low.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
    yield heard
    levels.admin.execute("DROP SCHEMA leaks CASCADE")


def test_a_leaky_function_sees_hidden_rows_of_a_plain_view(levels: Levels, low: Connection, told: list[str]) -> None:
    levels.admin.execute("CREATE TABLE stored AS SELECT * FROM (VALUES ('Brown', 'S')) v(name, label)")
    levels.admin.execute(
        "CREATE VIEW plain AS SELECT name FROM stored WHERE label = 'U'; GRANT SELECT ON plain TO mls_low"
    )
    low.execute(QUESTIONS[0].format("plain"))
    assert told == ["saw Brown"]
    levels.admin.execute("DROP TABLE stored CASCADE")


@pytest.mark.parametrize("question", QUESTIONS)
def test_it_sees_what_the_session_sees_of_a_multilevel_table(low: Connection, told: list[str], question: str) -> None:
    low.execute(question.replace("{column}", "perf").replace("{}", "employee"))
    assert not [text for text in told if "Brown" in text or "Fair" in text or "Good" in text]


def test_it_is_called_with_visible_rows(low: Connection, told: list[str]) -> None:
    low.execute(QUESTIONS[0].format("employee"))
    assert told == ["saw Smith"]


@pytest.mark.parametrize("failing", ["1 / (length(name) - 5) > 0", "CAST(perf AS int) > 0", "salary / 0 > 1"])
def test_an_expression_that_fails_on_higher_rows_does_not_fail(levels: Levels, failing: str) -> None:
    """Smith and Brown both have five letters: below, Smith is renamed away."""
    low = levels.at("low")
    low.execute("DELETE FROM employee")
    assert low.execute(f"SELECT * FROM employee WHERE {failing}").fetchall() == []
