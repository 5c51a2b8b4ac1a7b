"""How far moments without declared bounds are apart is no bound of a sum, and enough for a key."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.corpus.sample import SCHEMA, planned

from discreet.core.errors import MissingBoundsError

FIRST = "SELECT patient_id, min(day) AS first FROM clinic.visit GROUP BY patient_id"
VISITS = f"clinic.visit v JOIN ({FIRST}) f USING (patient_id)"
APART = "v.day - f.first"
AGE = "age(v.day, f.first)"
UNDECLARED = replace(
    SCHEMA,
    relations={
        name: replace(
            relation,
            columns={
                column: replace(one, bounds=None) if one.type_name == "date" else one
                for column, one in relation.columns.items()
            },
        )
        for name, relation in SCHEMA.relations.items()
    },
)
KEYS = [
    f"({APART}) / 30",
    f"extract(year FROM {AGE}) * 12 + extract(month FROM {AGE})",
    f"bucket({APART}, 7)",
    f"floor(extract(epoch FROM {AGE}) / 86400)",
    f"width_bucket({APART}, 0, 360, 4)",
    f"v.day - ({APART}) % 7",
]


@pytest.mark.parametrize("key", KEYS)
def test_it_is_a_key(key: str) -> None:
    assert planned(f"SELECT {key} AS k, count(*) FROM {VISITS} GROUP BY 1", schema=UNDECLARED)


LOOSE = [
    f"avg({APART})",
    f"sum(({APART}) / 30)",
    f"sum(least({APART}, 365))",
    f"sum(-greatest({APART}, 0))",
    f"avg(abs({APART}))",
    f"avg(CASE WHEN v.day > '2024-01-01' THEN {APART} ELSE 0 END)",
    f"avg(COALESCE({APART}, 0))",
    f"stddev(extract(year FROM {AGE}))",
    f"avg({AGE})",
    f"percentile_cont(0.5) WITHIN GROUP (ORDER BY {APART})",
    f"corr({APART}, v.cost)",
    f"max({APART})",
    f"sum(({APART})::numeric * 2)",
]


@pytest.mark.parametrize("aggregate", LOOSE)
def test_it_is_no_bound_of_a_sum(aggregate: str) -> None:
    with pytest.raises(MissingBoundsError):
        planned(f"SELECT {aggregate} FROM {VISITS}", schema=UNDECLARED)


@pytest.mark.parametrize(
    "inside", ["max(d)", "sum(d)", "avg(d)", "percentile_disc(0.5) WITHIN GROUP (ORDER BY d)", "sum(d) + 1"]
)
def test_nor_of_what_a_person_makes_of_it(inside: str) -> None:
    each = f"SELECT patient_id, v.day - f.first AS d FROM {VISITS}"
    rows = f"(SELECT patient_id, {inside} AS n FROM ({each}) x GROUP BY patient_id) y"
    with pytest.raises(MissingBoundsError):
        planned(f"SELECT avg(n) FROM {rows}", schema=UNDECLARED)
    assert planned(f"SELECT avg(least(greatest(n, 0), 9)) FROM {rows}", schema=UNDECLARED)


@pytest.mark.parametrize(
    "written",
    [
        f"least(greatest({APART}, 0), 365)",
        f"greatest(least(({APART}) / 7, 50), -50)",
        f"sign({APART})",
        f"({APART}) % 7",
    ],
)
def test_written_bounds_are_enough(written: str) -> None:
    assert planned(f"SELECT avg({written}) FROM {VISITS}", schema=UNDECLARED)
