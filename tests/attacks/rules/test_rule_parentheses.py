"""Parentheses that are lost when a rule is stored: rows that it forbids are let in."""

from collections.abc import Iterator
from itertools import product

import psycopg
import pytest
from tests.attacks.target import Target
from tests.databases import Connection, Row

RULES = [
    "({}a OR {}b) IS NULL",
    "NOT ({}a AND {}b) IS NULL",
    "({}a AND {}b) IS NOT TRUE",
    "({}a IS NULL) = {}b",
    "({}a = {}b) IS DISTINCT FROM ({}b IS NULL)",
    "({}a OR {}b) AND {}b",
    "({}n BETWEEN 0 AND 5) IS NOT FALSE",
    "8 - ({}n - 3) > -(-2)",
    "({}n + 1) * -1 < (-3)::int",
    "(CASE WHEN {}a THEN {}n > 3 END) IS NULL",
    "({}n || '5') LIKE ('_' || '\\5' || '') ESCAPE ''",
    "({}a, {}b) IS DISTINCT FROM ({}b, {}a)",
    "({}n IN (1, 9)) = ANY (ARRAY[{}a, NOT {}b])",
    "NOT ({}n::text SIMILAR TO ('1' || '|3'))",
]
ROWS = [*product([True, False, None], [True, False, None], [1, 9])]
MADE = "CREATE TABLE extra.ruled (a boolean, b boolean, n int)"


@pytest.fixture
def admin(target: Target) -> Iterator[Connection]:
    target.admin.execute(f"{MADE}; GRANT INSERT ON extra.ruled TO mallory; GRANT USAGE ON SCHEMA extra TO mallory")
    yield target.admin
    target.admin.execute("DROP TABLE extra.ruled")


def meant(admin: Connection, rule: str) -> list[bool]:
    """Which rows PostgreSQL lets in where the text itself is a CHECK."""
    admin.execute(f"CREATE TABLE extra.checked (LIKE extra.ruled, CHECK ({rule.replace('{}', '')}))")
    try:
        return [let_in(admin, "extra.checked", row) for row in ROWS]
    finally:
        admin.execute("DROP TABLE extra.checked")


def let_in(connection: Connection, table: str, row: Row) -> bool:
    text = ", ".join("NULL" if value is None else str(value) for value in row)
    try:
        connection.execute(f"INSERT INTO {table} VALUES ({text})".encode())
    except psycopg.errors.CheckViolation:
        return False
    return True


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_lets_in_what_a_check_of_its_text_does(admin: Connection, target: Target, rule: str) -> None:
    expected = meant(admin, rule)
    assert not all(expected)
    admin.execute("SELECT discreet.add_rule('extra.ruled', 'r', %s)", [rule.replace("{}", "NEW.")])
    mallory = target.connect("mallory")
    assert [let_in(mallory, "extra.ruled", row) for row in ROWS] == expected


@pytest.mark.parametrize("rule", RULES)
def test_a_limit_counts_the_rows_for_which_its_text_is_true(admin: Connection, target: Target, rule: str) -> None:
    predicate = rule.replace("{}", "")
    admin.execute("SELECT discreet.add_limit('extra.ruled', 'none', %s, 0)", [predicate])
    mallory = target.connect("mallory")
    for row in ROWS:
        counted = admin.execute(
            f"SELECT ({predicate}) IS TRUE FROM (VALUES (%s::boolean, %s::boolean, %s::int)) AS v(a, b, n)", row
        ).fetchall()
        assert [(not let_in(mallory, "extra.ruled", row),)] == counted
