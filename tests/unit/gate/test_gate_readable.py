"""explain_text(): what is measured has words."""

from __future__ import annotations

import pytest
from tests.corpus.sample import planned

from discreet.gate.measurements import Quantity
from discreet.gate.readable import MEASURES, measured


def test_every_quantity_has_words_of_its_own() -> None:
    assert set(MEASURES) == set(Quantity)
    assert len(set(MEASURES.values())) == len(MEASURES)


@pytest.mark.parametrize(
    ("aggregate", "words"),
    [
        ("sum(DISTINCT salary)", "sum of different values of salary"),
        ("count(*)", "number of rows"),
        ("max(salary)", "largest value of salary"),
    ],
)
def test_a_measurement_is_told_in_words(aggregate: str, words: str) -> None:
    plan = planned(f"SELECT {aggregate} FROM hr.employee")
    assert words in [measured(measurement, plan) for measurement in plan.measurements]
