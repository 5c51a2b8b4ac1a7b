"""A question that is asked, and paid, only if a secret holds: what is left of the budget would tell the secret."""

import pytest
from tests.attacks.gate.asking import NOBODY, SECRET, ask, explain, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection


def test_a_naive_budget_tells_the_secret(target: Target, mallory: Connection) -> None:
    for who, spent in ((NOBODY, 0), (SECRET, 0.1)):
        mallory.execute(f"SELECT CASE WHEN EXISTS (SELECT FROM hr.person WHERE {who}) THEN naive.ask() END")
        assert float(str(target.naive_spent())) == spent


QUESTIONS = [
    "SELECT count(*) FROM hr.person WHERE {}",
    "SELECT smoker, sum(salary), avg(salary) FROM hr.person WHERE {} GROUP BY ROLLUP (smoker)",
    "SELECT count(*) FILTER (WHERE {}), count(DISTINCT dept) FROM hr.person",
    "SELECT sum(CASE WHEN {} THEN salary ELSE 0 END) FROM hr.person HAVING count(*) > 500",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_price_is_the_same_whether_the_secret_holds(gated: Target, blind: Connection, question: str) -> None:
    prices = [{**explain(blind, question.format(who)), "native_sql": None} for who in (SECRET, NOBODY)]
    assert prices[0] == prices[1]
    spent = []
    for who in (SECRET, NOBODY):
        before = gated.spent()
        ask(blind, question.format(who))
        spent.append(gated.spent() - before)
    assert spent[0] == spent[1] > 0


def test_no_question_asks_another(gated: Target, blind: Connection) -> None:
    nested = f"SELECT count(*), CASE WHEN {SECRET} THEN discreet.query_json('SELECT 1') END FROM hr.person"
    with gated.free():
        assert how_it_ends(blind, nested) == "DP001"
