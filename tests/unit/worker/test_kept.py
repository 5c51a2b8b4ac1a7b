"""What a gate worker keeps is bounded by the memory it needs, whatever is asked."""

from __future__ import annotations

import gc
import tracemalloc

import pytest
from tests.corpus.sample import planned

from discreet.worker.kept import Kept, weight_of

# few characters, many groupings; many columns; a plain one
QUESTIONS = [
    "SELECT count(*) FROM hr.employee",
    "SELECT " + ", ".join(f"sum(salary + {n}) AS s{n}" for n in range(12)) + " FROM hr.employee",
    "SELECT dept, gender, zip, count(*) FROM hr.employee GROUP BY CUBE (dept, gender, zip)",
]


@pytest.mark.parametrize("sql", QUESTIONS)
def test_a_plan_weighs_what_it_takes(sql: str) -> None:
    planned(sql)  # what is loaded or kept for all questions is there
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        plans = [planned(sql) for _ in range(20)]
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    taken = (after - before) / len(plans)
    assert weight_of(plans[0], 10**9) > 0.7 * taken > 10 * len(sql)


def test_values_are_forgotten_before_they_need_more_memory_than_allowed() -> None:
    most = 1_000_000
    kept: Kept[list[str]] = Kept(most)
    held: list[int] = []
    for n in range(1000):
        kept.put(("key", n), [f"{n} {m}" for m in range(100)])
        held.append(weight_of(kept._values, 10**9))
    assert max(held) < 1.1 * most
    assert max(held) > 0.5 * most
    assert kept.get(("key", 999)) is not None
    assert kept.get(("key", 0)) is None


def test_a_value_that_is_too_heavy_is_given_and_not_kept() -> None:
    kept: Kept[list[str]] = Kept(1000)
    assert kept.found("heavy", lambda: ["x" * 2000]) == ["x" * 2000]
    assert kept.get("heavy") is None
    kept.put("light", ["x"])
    assert kept.found("light", lambda: ["other"]) == ["x"]
