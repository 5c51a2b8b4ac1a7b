"""A cast that fails prints the value of the row into the error."""

import psycopg
import pytest
from tests.attacks.gate.asking import NAIVE_GATE, assert_no_oracle, naive_oracle
from tests.attacks.target import Target
from tests.databases import Connection

# each fails, or would, on the row of the secret alone
EXPRESSIONS = [
    "(CASE WHEN {} THEN name ELSE '1' END)::int",
    "(CASE WHEN {} THEN name ELSE '1' END)::numeric",
    "(CASE WHEN {} THEN name ELSE 'true' END)::boolean::int",
    "CAST(CASE WHEN {} THEN name ELSE '1' END AS float8)",
    "(CASE WHEN {} THEN name ELSE 'int' END)::regtype::oid::int",
    "length((CASE WHEN {} THEN name ELSE '<a/>' END)::xml::text)",
    "to_number(CASE WHEN {} THEN name ELSE '1' END, '9')",
    "length(CASE WHEN {} THEN chr(0) ELSE 'a' END)",
    "length(convert_from(CASE WHEN {} THEN '\\xff'::bytea ELSE 'a'::bytea END, 'UTF8'))",
    "length(repeat(name, CASE WHEN {} THEN 2000000000 ELSE 1 END))",
    "substr(name, CASE WHEN {} THEN -1 ELSE 1 END, CASE WHEN {} THEN -5 ELSE 1 END)",
    "length(left(name, CASE WHEN {} THEN -2147483648 ELSE 1 END))",
]


def test_a_naive_design_fails_on_the_row(target: Target) -> None:
    assert naive_oracle(target, EXPRESSIONS[0]) == ["22P02", "answer"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_no_cast_fails_on_a_row(blind: Connection, expression: str) -> None:
    assert_no_oracle(blind, expression)


def test_a_naive_design_prints_the_name(target: Target) -> None:
    target.admin.execute(NAIVE_GATE)
    question = "SELECT sum((CASE WHEN salary = 1007 AND dept = 'dept 2' THEN name ELSE '1' END)::int) FROM hr.person"
    with pytest.raises(psycopg.errors.InvalidTextRepresentation, match="name 7"):
        target.connect("blind").execute("SELECT extra.noisy(%s)", [question])
