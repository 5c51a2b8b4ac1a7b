"""An expression that fails on one row tells that the row is there."""

import psycopg
import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

NAIVE = """
    CREATE FUNCTION naive.noisy(question text) RETURNS float8 LANGUAGE plpgsql SECURITY DEFINER AS $$
    DECLARE exact float8;
    BEGIN EXECUTE question INTO exact; RETURN exact + 1000 * ln(random() + 1e-9); END $$
"""
SECRET = "dept = 'dept 2' AND salary = 1007 AND name = 'name 7'"

# each fails, or would, on the row of the secret alone; refused or answered, but the same whether it is there or not
EXPRESSIONS = [
    "1 / CASE WHEN {} THEN 0 ELSE 1 END",
    "1 % CASE WHEN {} THEN 0 ELSE 1 END",
    "1 / (salary - 1007)",
    "sqrt(CASE WHEN {} THEN -1 ELSE 1 END)",
    "ln(CASE WHEN {} THEN 0 ELSE 1 END)",
    "power(CASE WHEN {} THEN 0 ELSE 1 END, -1)",
    "CASE WHEN {} THEN name ELSE '1' END::int",
    "(CASE WHEN {} THEN 1e40 ELSE 1 END)::int",
    "(CASE WHEN {} THEN 99999999999999999999 ELSE 1 END)::int8",
    "CASE WHEN {} THEN 9223372036854775807 ELSE 0 END + 1",
    "CASE WHEN {} THEN 1e59 ELSE 1 END * 1e59",
    "(CASE WHEN {} THEN 300000 ELSE 1 END)::int2",
    "length(CASE WHEN {} THEN chr(0) ELSE 'a' END)",
    "(name ~ CASE WHEN {} THEN '(' ELSE 'a' END)::int",
    "(name LIKE CASE WHEN {} THEN 'a\\' ELSE 'a' END)::int",
    "(CASE WHEN {} THEN 'x' ELSE '2024-01-01' END)::date - DATE '2024-01-01'",
    "extract(year FROM CASE WHEN {} THEN 'infinity'::date ELSE '2024-01-01' END)::int",
    "substr(name, CASE WHEN {} THEN -1 ELSE 1 END, CASE WHEN {} THEN -5 ELSE 1 END)",
    "length(left(name, CASE WHEN {} THEN -2147483648 ELSE 1 END))",
    "round(salary, CASE WHEN {} THEN 2147483647 ELSE 1 END)",
    "bucket(salary, CASE WHEN {} THEN 0 ELSE 1 END)",
    "mod(salary, CASE WHEN {} THEN 0 ELSE 1 END)",
]


def test_a_failing_row_is_told_by_a_naive_design(target: Target) -> None:
    target.admin.execute(NAIVE)
    try:
        question = f"SELECT sum(1 / CASE WHEN {SECRET} THEN 0 ELSE 1 END) FROM hr.person"
        with pytest.raises(psycopg.errors.DivisionByZero):
            target.admin.execute("SELECT naive.noisy(%s)", [question])
        target.admin.execute("SELECT naive.noisy(%s)", [question.replace("name 7", "nobody")])
    finally:
        target.admin.execute("DROP FUNCTION naive.noisy")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_no_expression_fails_on_one_row(blind: Connection, expression: str) -> None:
    nobody = SECRET.replace("name 7", "nobody")
    for shape in ("SELECT sum({}) FROM hr.person", "SELECT count(*) FROM hr.person WHERE ({}) = 1"):
        ends = [how_it_ends(blind, shape.format(expression.replace("{}", secret))) for secret in (SECRET, nobody)]
        assert ends in (["answer"] * 2, ["DP001"] * 2, ["DP005"] * 2)


@pytest.mark.parametrize(("levels", "ends"), [(2, "answer"), (8, "DP001")])
def test_a_text_that_grows_without_end_is_no_oracle(blind: Connection, levels: int, ends: str) -> None:
    """Longer than a gigabyte after eight levels: an error, if it came so far."""
    grown = f"SELECT CASE WHEN {SECRET} THEN 'aaaaaaaaaa' ELSE '' END AS t FROM hr.person"
    for _ in range(levels):
        grown = f"SELECT {' || '.join('t' * 10)} AS t FROM ({grown}) s"
    assert how_it_ends(blind, f"SELECT count(*) FROM ({grown}) s WHERE length(t) > 0") == ends


@pytest.mark.parametrize("condition", ["a.k < b.k", "a.k = b.k", "lower(a.k || b.k) = 'x'", "strpos(a.k, b.k) = 1"])
def test_texts_of_two_collations_are_no_oracle(gated: Target, blind: Connection, condition: str) -> None:
    """PostgreSQL tells that it cannot compare them when it comes to the first row."""
    gated.admin.execute(
        'CREATE TABLE extra.a (k text COLLATE "C"); CREATE TABLE extra.b (k text COLLATE "POSIX");'
        "INSERT INTO extra.a VALUES ('a'); INSERT INTO extra.b VALUES ('b'); GRANT SELECT ON extra.a, extra.b TO PUBLIC"
    )
    question = f"SELECT count(*) FROM hr.person, extra.a, extra.b WHERE {SECRET} AND {condition}"
    ends = [how_it_ends(blind, text) for text in (question, question.replace("name 7", "nobody"))]
    assert ends == ["answer", "answer"]
