"""The questions about values are planned without a server: accepted, and the same each time."""

from __future__ import annotations

import pytest
from tests.corpus.lab import SCHEMA
from tests.corpus.sample import HARMLESS, Question, questions

from discreet.gate.parse import parse
from discreet.gate.plan import plan


@pytest.mark.parametrize("question", questions("values.sql"), ids=lambda question: question.sql)
def test_it_is_accepted(question: Question) -> None:
    first, second = (plan(parse(question.sql), SCHEMA, HARMLESS) for _ in range(2))
    assert first == second
    assert first.measurements
