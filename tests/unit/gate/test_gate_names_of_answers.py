"""Names of the columns of an answer: where they have to differ, they do, whatever the question calls them."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from tests.corpus.sample import planned

from discreet.gate.answer import answer_with_errors
from discreet.gate.column_names import LONGEST_NAME, unique_names
from discreet.gate.finish import json_sql

# few letters and the ends that are given, so that names meet; long ones, which PostgreSQL would cut
PARTS = st.sampled_from(["a", "b", "_2", "_3", "_error", "_error_2", "é", "x" * 59, "日" * 20])
NAMES = st.lists(PARTS, min_size=1, max_size=3).map(lambda parts: "".join(parts).encode()[:63].decode(errors="ignore"))


@given(st.lists(NAMES, max_size=12))
@example(["a", "a_3", "a"])
@example(["a", "a", "a_2"])
@example(["a_2", "a", "a", "a_2"])
@example(["x" * 63, "x" * 63, "x" * 61 + "_2"])
def test_no_two_names_are_the_same(names: list[str]) -> None:
    unique = unique_names(names)
    assert len(set(unique)) == len(names)
    assert all(len(name.encode()) <= LONGEST_NAME for name in unique)


@given(st.lists(NAMES, max_size=12))
def test_a_name_stays_where_it_stands_first(names: list[str]) -> None:
    unique = unique_names(names)
    assert all(unique[names.index(name)] == name for name in names)


@given(st.lists(NAMES, max_size=12))
@example(["a", "a_3", "a"])
def test_json_loses_no_column(names: list[str]) -> None:
    plan: Any = SimpleNamespace(answer_columns=[], answer_sql="SELECT 1", output=tuple(names))
    pairs = re.findall(r"E?'((?:[^']|'')*)', c(\d+)\b", json_sql(plan))
    assert [int(place) for _, place in pairs] == list(range(len(names)))
    assert len({name for name, _ in pairs}) == len(names)


@given(st.lists(NAMES, min_size=1, max_size=6))
@example(["a", "a_error", "a", "a_error_2"])
@example(["x" * 60, "x" * 60])
def test_columns_of_errors_have_names_of_their_own(names: list[str]) -> None:
    asked = ", ".join(f'count(*) AS "{name}"' for name in names)
    _, output, _ = answer_with_errors(planned(f"SELECT {asked} FROM hr.employee").levels)
    assert list(output[::2]) == names
    assert len({*output[1::2], *names}) == len(names) + len(set(names))
    assert all(len(name.encode()) <= LONGEST_NAME for name in output)
