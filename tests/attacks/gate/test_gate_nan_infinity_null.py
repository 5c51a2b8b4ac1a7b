"""NaN, infinities and NULL: least(greatest(x, lo), hi) turns NULL into lo and NaN into hi."""

import pytest
from tests.attacks.gate.asking import how_it_ends, number, protect
from tests.attacks.target import Target
from tests.databases import Connection

SPECIAL = ["'NaN'", "'Infinity'", "'-Infinity'", "NULL"]
QUESTIONS = [
    "sum(x)", "avg(x)", "stddev(x)", "sum(x + 1)", "sum(abs(x))", "sum(x * x)", "count(DISTINCT x)", "max(x)",
    "min(-x)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)", "sum(round(x, 1))", "sum(x / 7)", "sum(x::int)",
    "sum(x::numeric)", "sum(GREATEST(x, 3))", "sum(bucket(x, 10))", "sum(sqrt(x))", "sum(CASE WHEN x > 1 THEN x END)",
]  # fmt: skip


def test_a_naive_clamp_gives_them_a_value(target: Target) -> None:
    values = [target.value(f"SELECT least(greatest({x}::float8, 10), 100)") for x in SPECIAL]
    assert values == [100, 100, 10, 10]


@pytest.mark.parametrize("special", SPECIAL)
def test_they_add_nothing_here(gated: Target, blind: Connection, special: str) -> None:
    """Of 2000 people half have no number; noise of scale 111 is beyond 3000 with probability below 1e-11."""
    rows = f"SELECT n, CASE WHEN n % 2 = 0 THEN 50 ELSE {special}::float8 END FROM generate_series(1, 2000) n"
    protect(gated, "reading", "id int PRIMARY KEY, x float8", rows, x=(10, 100))
    assert abs(number(blind, "SELECT sum(x) FROM extra.reading", "0.9") - 50_000) < 3000


@pytest.mark.parametrize("kind", ["float8", "float4", "numeric"])
def test_no_function_of_them_fails(gated: Target, blind: Connection, kind: str) -> None:
    rows = " UNION ALL ".join(f"SELECT {n}, {x}::{kind}" for n, x in enumerate([*SPECIAL, "'-0'", "'7'"]))
    protect(gated, "reading", f"id int PRIMARY KEY, x {kind}", rows, x=(-10, 100))
    ends = {asked: how_it_ends(blind, f"SELECT {asked} FROM extra.reading") for asked in QUESTIONS}
    assert ends == dict.fromkeys(QUESTIONS, "answer")
