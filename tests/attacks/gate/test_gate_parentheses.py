"""Parentheses that are lost when the answer is printed: what was checked is not what is run."""

import pytest
from tests.attacks.gate.asking import ask
from tests.attacks.target import Target
from tests.databases import Connection

# {} stands for the number of people, which is the same number throughout one answer
AROUND = [
    "({} < 10 AND {} > 5) IS NOT NULL",
    "({} > 10 OR NULL) IS NULL",
    "(NOT {} > 5) IS NULL",
    "({} IS NULL) = ({} > 5)",
    "({} > 5) IS DISTINCT FROM ({} > 5 AND NULL)",
    "({} BETWEEN 1 AND 5) IS NOT TRUE",
    "NOT ({} > 5 AND {} < 7)",
    "({} > 5 OR {} > 6) AND NULL",
    "{} - ({} - 3)",
    "-(-{}) - -1",
    "({} - 1)::text || (-1)::text || (-1::int)::text",
    "2 ^ (2 ^ ({} * 0 + 3))",
    "({} > 5) = ANY (ARRAY[({} IS NULL), NOT ({} IS NULL)])",
    "({}::text || 'x') LIKE ('%' || 'x')",
    "({} IN (1, 2)) IN (false, NULL)",
    "CASE ({} > 5) IS NULL WHEN true THEN 'lost' ELSE 'kept' END",
]


@pytest.mark.parametrize("expression", AROUND)
def test_a_value_is_that_of_the_expression_as_it_was_written(gated: Target, blind: Connection, expression: str) -> None:
    ((row),) = ask(blind, f"SELECT count(*) AS n, {expression.replace('{}', 'count(*)')} AS value FROM hr.person")
    on_a_plain_table = f"SELECT to_jsonb({expression.replace('{}', 'n')}) FROM (VALUES ({row['n']}::bigint)) AS v(n)"
    assert gated.value(on_a_plain_table) == row["value"]


@pytest.mark.parametrize(
    "question",
    [
        "SELECT count(*) FROM hr.person HAVING (count(*) < 10 AND count(*) > 5) IS NOT NULL",
        "SELECT n FROM (SELECT count(*) AS n FROM hr.person) AS t WHERE (n < 10 AND n > 5) IS NOT NULL",
        "WITH t AS (SELECT count(*) AS n FROM hr.person) SELECT n FROM t ORDER BY (n < 10 AND n > 5) IS NOT NULL",
    ],
)
def test_a_row_that_a_condition_keeps_is_in_the_answer(blind: Connection, question: str) -> None:
    assert len(ask(blind, question)) == 1
    assert len(blind.execute(question.encode()).fetchall()) == 1


def test_an_analyst_sees_it_in_plain_sql(blind: Connection) -> None:
    found = blind.execute("SELECT (count(*) < 10 AND count(*) > 5) IS NOT NULL FROM hr.person").fetchall()
    assert found == [(True,)]
