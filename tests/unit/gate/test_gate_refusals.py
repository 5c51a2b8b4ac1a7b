"""A refusal quotes the words around the place where it arose."""

from __future__ import annotations

import pytest
from tests.corpus.sample import SCHEMA

from discreet.core.errors import DiscreetError
from discreet.gate.parse import parse
from discreet.gate.plan import plan
from discreet.gate.refusal import excerpt, quoting, sentence
from discreet.gate.schema import Schema, View


def refusal(sql: str, schema: Schema = SCHEMA) -> str:
    with pytest.raises(DiscreetError) as refused, quoting(sql):
        plan(parse(sql), schema, frozenset())
    return refused.value.message


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        (
            "SELECT count(*) FROM hr.employee WHERE asind(salary) > 1",
            "(in: … FROM hr.employee WHERE asind(salary) > 1)",
        ),
        ("SELECT nowhere(count(*)) FROM hr.employee", "(in: SELECT nowhere(count(*)) FROM hr.employee)"),
        (
            "SELECT count(*) FROM hr.employee WHERE dept = 'ü 人 ö' AND name ~~~ 'x'",
            "(in: … dept = 'ü 人 ö' AND name ~~~ 'x')",
        ),
        ("SELECT count(*)\n  FROM\thr.nothing", "there is no table hr.nothing that can be asked about (in: SELECT"),
    ],
)
def test_the_words_around_the_place_are_quoted(sql: str, words: str) -> None:
    assert words in refusal(sql)


def test_a_long_text_is_cut_on_both_sides() -> None:
    sql = f"SELECT count(*) FROM hr.employee WHERE {'salary > 1 AND ' * 30} asind(salary) > 1 {'AND salary > 1 ' * 30}"
    told = refusal(sql)
    assert ["… " in told, " …)" in told, "asind(salary)" in told] == [True] * 3
    assert len(told) < 150


@pytest.mark.parametrize("location", [0, 1, 50, 99, 100])
def test_an_excerpt_of_a_text_without_blanks_is_short(location: int) -> None:
    assert 0 < len(excerpt("x" * 100 + "y", location)) < 80


def test_a_refusal_inside_a_view_quotes_the_view() -> None:
    definition = "SELECT asind(employee.salary) AS l FROM hr.employee"
    view = View("hr", "logs", definition, parse(definition))
    schema = Schema(SCHEMA.relations, SCHEMA.datasets, {("hr", "logs"): view})
    told = refusal("SELECT sum(l) FROM hr.logs", schema)
    assert told == (
        "view hr.logs: function asind() is not supported in questions about protected tables"
        " (in: SELECT asind(employee.salary) AS l FROM …)"
    )


@pytest.mark.parametrize(
    ("construct", "verb"),
    [
        ("operator ~", "is"),
        ("a call that is not sum(number)", "is"),
        ("more than 32 grouping sets", "are"),
        ("two tables of one name in FROM", "are"),
        ("'it is' in FROM", "is"),
    ],
)
def test_a_refusal_is_a_sentence(construct: str, verb: str) -> None:
    assert sentence(construct) == f"{construct} {verb} not supported in questions about protected tables"


@pytest.mark.parametrize("message", ["there is no column x", "parameter $1 has no value", "'x' is no interval"])
def test_a_sentence_stays_as_it_is(message: str) -> None:
    assert sentence(message) == message
