"""Subtracting releases: the graph against linear algebra, and examples that can be followed by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.release.differencing import Isolated, bridges, isolated


def ints(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def found(old: list[int], new: list[int], k: int) -> list[Isolated]:
    """Both releases show the rows as they are."""
    first, second = ints(*old), ints(*new)
    sizes = [np.bincount(side[side >= 0], minlength=1).astype(np.int64) for side in (first, second)]
    return isolated(first, second, np.ones(len(old), dtype=np.int64), sizes[0], sizes[1], k)


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 4)), min_size=1, max_size=14, unique=True))
def test_an_atom_follows_from_the_sums_exactly_when_its_edge_is_in_no_cycle(edges: list[tuple[int, int]]) -> None:
    first, second = ints(*(a for a, _ in edges)), ints(*(b for _, b in edges))
    sums = np.array(
        [[float(a == name) for a, _ in edges] for name in range(-1, 5)]
        + [[float(b == name) for _, b in edges] for name in range(-1, 5)]
    )
    rank = np.linalg.matrix_rank(sums)
    determined = [
        place
        for place in range(len(edges))
        if np.linalg.matrix_rank(np.vstack([sums, np.eye(len(edges))[place]])) == rank
    ]
    assert sorted(bridges(first, second)) == determined


def test_the_same_release_again_tells_nothing_new() -> None:
    assert found([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], 3) == []


def test_a_finer_release_tells_nothing_beyond_itself() -> None:
    assert found([0] * 6, [0, 0, 0, 1, 1, 1], 3) == []


def test_one_who_is_left_out_of_the_finer_release_is_what_is_left_of_the_coarser() -> None:
    assert found([0] * 7, [0, 0, 0, 1, 1, 1, -1], 3) == [Isolated(0, -1, 1)]


def test_ranges_that_are_shifted_by_one_person_tell_that_person() -> None:
    # ages up to 29 and from 30 on; up to 28 and from 29 on
    assert found([0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1], 3) == [Isolated(0, 1, 1)]


def test_classes_that_cross_twice_hide_who_is_where() -> None:
    assert found([0, 0, 1, 1], [0, 1, 0, 1], 2) == []


def test_two_who_are_left_of_two_classes_together_are_told_by_each() -> None:
    assert found([0] * 4 + [1] * 4, [0, 0, 0, -1, 1, 1, 1, -1], 3) == [Isolated(0, -1, 1), Isolated(1, -1, 1)]


def test_several_pieces_outside_the_classes_inside_are_counted_together() -> None:
    # class 0 holds new class 0; what is left, 2 rows, goes to new classes 1 and 2, which cross with old class 1 twice
    old = [0, 0, 0, 0, 0, 1, 1, 1, 1]
    new = [0, 0, 0, 1, 2, 1, 1, 2, 2]
    assert found(old, new, 3) == [Isolated(0, -1, 2, "old")]


def test_who_came_since_shows_in_the_size_of_the_class() -> None:
    old = new = ints(0, 0, 0, 0, 1, 1, 1)
    count = np.ones(7, dtype=np.int64)
    assert isolated(old, new, count, ints(3, 3), ints(4, 3), 3) == [
        Isolated(-1, 0, 1, "new"), Isolated(0, -1, 1, "old"),
    ]  # fmt: skip
    assert isolated(old, new, count, ints(4, 3), ints(4, 3), 3) == []
