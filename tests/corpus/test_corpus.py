"""Every statement of the corpus is planned without a server: accepted, or refused for the reason it is listed with."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from pglast import parse_sql
from tests.corpus.sample import Question, planned, questions

from discreet.core.errors import DiscreetError
from discreet.core.printing import printed
from discreet.gate.refusal import VERB
from discreet.gate.run import statements

ACCEPTED, REFUSED = list(questions("accepted.sql")), list(questions("refused.sql"))


def by_sql(question: Question) -> str:
    return question.sql


def test_the_corpus_is_as_large_as_promised() -> None:
    assert min(len(ACCEPTED), len(REFUSED)) >= 150
    assert len({question.sql for question in ACCEPTED + REFUSED}) == len(ACCEPTED + REFUSED)


def test_questions_about_people_and_values_are_as_many_as_promised() -> None:
    names = ("people.sql", "shop.sql", "values.sql", "decision.sql")
    asked = {question.sql for name in names for question in questions(name)}
    assert len(asked - {question.sql for question in ACCEPTED}) >= 300


@pytest.mark.parametrize("question", ACCEPTED, ids=by_sql)
def test_it_is_accepted_and_what_is_printed_parses_to_the_same(question: Question) -> None:
    plan = planned(question.sql, question.parameters)
    # what is known of the groups is answered by the text alone
    assert plan.measurements or (not plan.aggregates and all(key.domain for key in plan.grouping.keys))
    assert printed(parse_sql(plan.answer_sql)[0].stmt) == plan.answer_sql
    for keys in plan.grouping.sets:
        for statement in statements(plan, keys, 1):
            assert len(parse_sql(statement.sql)) == 1


@pytest.mark.parametrize("question", ACCEPTED, ids=by_sql)
def test_the_same_text_has_the_same_plan(question: Question) -> None:
    assert planned(question.sql, question.parameters) == planned(question.sql, question.parameters)


def test_the_same_texts_have_the_same_keys_in_every_process() -> None:
    """A set has another order in each of them."""
    here = keys()
    program = "from tests.corpus.test_corpus import keys; print(*keys(), sep='\\n')"
    for seed in ("1", "2"):
        path = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", program], env=path, capture_output=True, text=True, check=True)
        assert done.stdout.split() == here


def keys() -> list[str]:
    return [planned(question.sql, question.parameters).key() for question in ACCEPTED]


@pytest.mark.parametrize("question", REFUSED, ids=by_sql)
def test_it_is_refused_with_its_code_its_reason_and_a_hint(question: Question) -> None:
    with pytest.raises(DiscreetError) as refusal:
        planned(question.sql, question.parameters)
    assert (refusal.value.sqlstate, question.words) == (question.code, question.words)
    assert question.words in refusal.value.message
    # a sentence, and a hint that says more than where to read
    assert VERB.search(refusal.value.message)
    assert refusal.value.hint
    assert not refusal.value.hint.startswith("docs/")
