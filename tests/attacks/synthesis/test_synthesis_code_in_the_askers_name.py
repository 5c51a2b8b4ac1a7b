"""The owner of a table has it call a function wherever rows are written, and waits until a superuser synthesises it."""

from __future__ import annotations

import psycopg
import pytest
from tests.attacks.target import Target

TRAP = """
    CREATE TABLE extra.seen (who name);
    GRANT INSERT ON extra.seen TO PUBLIC;
    CREATE FUNCTION extra.trap(value int) RETURNS boolean LANGUAGE plpgsql
        AS $$BEGIN INSERT INTO extra.seen VALUES (current_user); RETURN true; END$$;
    CREATE DOMAIN extra.trapped AS int CHECK (extra.trap(VALUE));
    CREATE DOMAIN extra.twice AS extra.trapped;
"""
COLUMNS = ["x extra.trapped", "x extra.twice", "x jsonb, y extra.trapped"]
EXPRESSIONS = [
    "x int, CHECK (extra.trap(x))",
    "x int, CHECK (x::extra.trapped < 5)",
    "x int, y boolean GENERATED ALWAYS AS (x::extra.trapped < 5) STORED",
]


def prepared(target: Target, columns: str) -> None:
    target.admin.execute(TRAP)
    target.admin.execute(f"CREATE TABLE extra.bait (id int PRIMARY KEY, b boolean, {columns})")
    target.admin.execute("INSERT INTO extra.bait (id, b) SELECT n, n % 2 = 0 FROM generate_series(1, 50) n")
    target.admin.execute("""
        SELECT discreet.protect('extra.bait', 'id', dataset => 'default');
        SELECT discreet.grant_budget('default', current_user::regrole, 10);
        DELETE FROM extra.seen
    """)


@pytest.mark.parametrize("columns", COLUMNS)
def test_a_domain_that_calls_a_function_is_refused(target: Target, columns: str) -> None:
    prepared(target, columns)
    with pytest.raises(psycopg.Error) as error:
        target.admin.execute("SELECT discreet.synthesize('extra.bait', 'extra.copy', 5)")
    assert error.value.sqlstate == "DP001"
    assert "would run in your name" in str(error.value)
    assert target.value("SELECT count(*) FROM extra.seen") == 0


@pytest.mark.parametrize("columns", EXPRESSIONS)
def test_expressions_that_reach_a_function_are_not_kept(target: Target, columns: str) -> None:
    prepared(target, columns)
    if "x int" in columns:
        target.admin.execute("SELECT discreet.describe_column('extra.bait', 'x', 0, 9)")
    target.admin.execute("SELECT discreet.synthesize('extra.bait', 'extra.copy', 5, rows => 20)")
    assert target.value("SELECT count(*) FROM extra.copy") == 20
    assert target.value("SELECT count(*) FROM extra.seen") == 0
