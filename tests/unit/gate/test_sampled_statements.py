"""A sample in native SQL: a hash of each row's person, and a list of people where an index leads to their rows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.corpus.sample import SCHEMA, planned

from discreet.dp.sampling import PoissonSample
from discreet.gate.pricing import sampled
from discreet.gate.run import statements
from discreet.gate.schema import Schema

INDEXED = Schema(
    {
        name: replace(table, protection=table.protection and replace(table.protection, indexed=True))
        for name, table in SCHEMA.relations.items()
    },
    SCHEMA.datasets,
)
LOOKED_UP = 'ANY (ARRAY(SELECT DISTINCT sampled."patient_id" FROM "clinic"."visit" AS "sampled" WHERE '


def native(sql: str, rate: Fraction, schema: Schema) -> str:
    plan = sampled(planned(sql, schema=schema), PoissonSample.of(rate))
    assert plan.sample is not None
    plan = replace(plan, sample=plan.sample.drawn())
    return " ".join(statement.sql for statement in statements(plan, (), 1))


@pytest.mark.parametrize(
    ("rate", "schema", "expected"),
    [(Fraction(1, 20), INDEXED, True), (Fraction(1, 10), INDEXED, False), (Fraction(1, 100), SCHEMA, False)],
)
def test_a_small_sample_is_looked_up_where_an_index_is(rate: Fraction, schema: Schema, expected: bool) -> None:
    found = native("SELECT count(*) FROM clinic.visit", rate, schema)
    assert (LOOKED_UP in found) is expected
    # the same key twice: the list holds everybody whose rows pass, so it leaves nobody out
    assert found.count("sha256") == (2 if expected else 1)


def test_rows_of_several_tables_are_read() -> None:
    joined = "SELECT count(*) FROM clinic.visit v JOIN clinic.patient p ON p.id = v.patient_id"
    assert "SELECT DISTINCT" not in native(joined, Fraction(1, 100), INDEXED)
