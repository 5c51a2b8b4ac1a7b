"""The corpus on a server: what the planner accepts PostgreSQL understands too, and refusals are the same."""

from __future__ import annotations

import pytest
from tests.corpus.sample import HARMLESS, questions
from tests.database.gate.conftest import Asker


def test_every_accepted_question_is_answered(asker: Asker) -> None:
    failed = []
    for question in questions("accepted.sql"):
        try:
            asker.json(question.sql, 1, params=list(question.parameters) or None)
        except Exception as error:
            failed.append((question.sql, str(error)))
    assert failed == []


# what the planner alone does not know, and the server computes
COMPUTED = [
    "SELECT count(*) FROM hr.employee WHERE dept = ANY (string_to_array('a,b', ','))",
    "SELECT count(*) FROM hr.employee WHERE hired > DATE '2024-01-01' - 2 * INTERVAL '1 year'",
    "SELECT count(*) FROM hr.employee WHERE hired > DATE '2024-01-01' - INTERVAL 'a while'",  # in PostgreSQL's words
]


def test_every_refused_question_is_refused_alike(asker: Asker) -> None:
    differ = []
    for question in questions("refused.sql"):
        if question.parameters or question.sql in COMPUTED:
            continue
        refusal = asker.explain(question.sql).get("refused", {})
        if (refusal.get("code"), question.words in str(refusal.get("message"))) != (question.code, True):
            differ.append((question.sql, question.code, question.words, refusal))
    assert differ == []


@pytest.mark.parametrize("name", sorted(HARMLESS))
def test_the_functions_that_the_corpus_takes_for_harmless_are_so(asker: Asker, name: str) -> None:
    built_in = f"pronamespace = 'pg_catalog'::regnamespace AND proname = '{name}'"
    overloads = asker.truth(f"SELECT provolatile, proretset FROM pg_proc WHERE {built_in}")
    assert set(overloads) == {("i", False)}
