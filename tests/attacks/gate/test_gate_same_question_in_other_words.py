"""The same question in other words, for noise of its own: a+0=1, NOT a<>1."""

import pytest
from tests.attacks.gate.asking import COUNT, ask
from tests.attacks.target import Target
from tests.databases import Connection


@pytest.mark.parametrize(
    "way",
    [
        "SELECT count( * ) from hr.person",
        "(SELECT COUNT(*) AS count FROM hr.person)",
        "select count(*) from hr.person;",
    ],
)
def test_other_spelling_is_the_same_question(gated: Target, blind: Connection, way: str) -> None:
    first = ask(blind, COUNT)
    with gated.free():
        assert ask(blind, way) == first


@pytest.mark.parametrize(
    "where",
    ["salary + 0 >= 0", "NOT salary < 0", "smoker OR NOT smoker", "dept = dept", "true", "NOT smoker <> smoker"],
)
def test_padding_that_is_always_true_is_paid(gated: Target, blind: Connection, where: str) -> None:
    ask(blind, COUNT)
    with gated.costs("0.001"):
        ask(blind, f"{COUNT} WHERE {where}")


def test_other_words_for_the_same_parameter_are_paid_once(gated: Target, blind: Connection) -> None:
    question = "SELECT discreet.query_json('SELECT count(*) FROM hr.person WHERE salary > $1', 0.001, ARRAY[%s])"
    with gated.costs("0.002"):
        for parameter in ("1", "01", "+1", "2"):
            blind.execute(question, [parameter])
