"""k, l and t against their definitions, on examples from the papers and on random tables."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.core.errors import InvalidParameterError
from discreet.release import closeness, diversity
from discreet.release.classes import Composition, numbered, summed, with_null
from discreet.release.measures import Closeness, node_levels, wildcard_composition
from discreet.release.tree import Tree

# Li et al. 2007, table 3: salaries in thousands, by class
SALARIES = [(0, 3), (0, 4), (0, 5), (1, 6), (1, 11), (1, 8), (2, 7), (2, 9), (2, 10)]


def composed(pairs: list[tuple[int, int]]) -> Composition:
    """Classes and values become codes in their order."""
    classes, values = sorted({a for a, _ in pairs}), sorted({b for _, b in pairs})
    class_of = np.array([classes.index(a) for a, _ in pairs], dtype=np.int64)
    value = np.array([values.index(b) for _, b in pairs], dtype=np.int64)
    return Composition.of(class_of, len(classes), value, np.ones(len(pairs), dtype=np.int64), len(values))


def distributions(pairs: list[tuple[int, int]]) -> tuple[list[dict[int, Fraction]], dict[int, Fraction]]:
    whole = Counter(value for _, value in pairs)
    parts = [Counter(value for each, value in pairs if each == name) for name in sorted({each for each, _ in pairs})]
    shares = [{value: Fraction(part[value], part.total()) for value in whole} for part in parts]
    return shares, {value: Fraction(whole[value], len(pairs)) for value in whole}


pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=60)


def test_the_example_of_the_paper_is_0_375_for_salaries_of_three_to_five() -> None:
    distances = closeness.ordered(composed(SALARIES))
    each = zip(distances.numerator.tolist(), distances.sizes.tolist(), strict=True)
    exact = [Fraction(above, below) / distances.denominator for above, below in each]
    assert exact == [Fraction(3, 8), Fraction(1, 6), Fraction(17, 72)]
    assert distances.largest() == Fraction(3, 8)


def test_the_virus_table_has_t_of_0_075() -> None:
    rows = [(0, 1)] * 15 + [(0, 0)] * 25 + [(1, 1)] * 15 + [(1, 0)] * 45
    assert closeness.equal(composed(rows)).largest() == Fraction(75, 1000)


@given(pairs)
def test_the_equal_distance_is_half_the_sum_of_differences(rows: list[tuple[int, int]]) -> None:
    shares, whole = distributions(rows)
    expected = max(sum(abs(part[value] - whole[value]) for value in whole) / 2 for part in shares)
    assert closeness.equal(composed(rows)).largest() == expected


@given(pairs)
def test_the_ordered_distance_is_the_mean_difference_of_cumulated_shares(rows: list[tuple[int, int]]) -> None:
    shares, whole = distributions(rows)
    values = sorted(whole)

    def distance(part: dict[int, Fraction]) -> Fraction:
        total = difference = Fraction(0)
        for value in values[:-1]:
            difference += part[value] - whole[value]
            total += abs(difference)
        return total / max(1, len(values) - 1)

    assert closeness.ordered(composed(rows)).largest() == max(map(distance, shares))


@given(pairs)
def test_a_flat_tree_has_the_equal_distance(rows: list[tuple[int, int]]) -> None:
    composition = composed(rows)
    texts = [str(value) for value in sorted({value for _, value in rows})]
    tree = Closeness.of("hierarchical", {"any": texts})
    assert tree.measured(composition, "c", texts) == closeness.equal(composition).largest()


def test_moving_between_branches_of_a_tree_costs_more_than_within() -> None:
    # two classes of two leaves each: of one branch, or of both
    tree = Tree.of({"any": {"x": ["0", "1"], "y": ["2", "3"]}})
    levels = node_levels(tree, ["0", "1", "2", "3"], 4)
    within = composed([(0, 0), (0, 1), (1, 2), (1, 3)])
    across = composed([(0, 0), (0, 2), (1, 1), (1, 3)])
    assert closeness.hierarchical(within, levels) == Fraction(1, 2)
    assert closeness.hierarchical(across, levels) == Fraction(1, 4)


# 0 to 6 in a tree of three heights; the same under nodes that all leaves share
BRANCHES = {"x": {"p": ["0", "1"], "q": ["2"]}, "y": {"r": ["3", "4", "5"], "s": ["6"]}}
FORMS = [
    {"tree": {"any": BRANCHES}},
    {"tree": BRANCHES},
    {"any": BRANCHES},
    {"tree": {"any": {"all": BRANCHES}}},
    {"tree": {"tree": BRANCHES}},
]


def ground_distance(one: int, two: int) -> float:
    """The height of the lowest node over both, over the height of the tree: Li et al. 2007, section 5.2."""
    paths = {
        leaf: (leaf, low, high) for high, lows in BRANCHES.items() for low, leaves in lows.items() for leaf in leaves
    }
    pairs = zip(paths[str(one)], paths[str(two)], strict=True)
    return next((height for height, (mine, theirs) in enumerate(pairs) if mine == theirs), 3) / 3


@settings(max_examples=40)
@given(pairs)
def test_the_hierarchical_distance_is_the_least_work_of_moving_earth(rows: list[tuple[int, int]]) -> None:
    """As a linear program over what is moved from where to where, which knows nothing of levels."""
    shares, whole = distributions(rows)
    values = sorted(whole)
    costs = [ground_distance(one, two) for one, two in product(values, values)]
    size = len(values)
    sums = np.zeros((2 * size, size * size))
    for place, (one, two) in enumerate(product(range(size), range(size))):
        sums[one, place] = sums[size + two, place] = 1
    expected = max(
        linprog(costs, A_eq=sums, b_eq=[float(each[value]) for each in (part, whole) for value in values]).fun
        for part in shares
    )
    texts = [str(value) for value in values]
    for form in FORMS:
        found = Closeness.of("hierarchical", form).measured(composed(rows), "c", texts)
        assert float(found) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("hierarchy", "message"),
    [
        ({"tree": {"any": ["a"]}, "intervals": [5]}, "no other keys, but there are 'intervals'"),
        ({"tree": {"any": ["a"]}, "more": {"b": ["c"]}}, "no other keys, but there are 'more'"),
        ({"tree": ["a", "b"]}, "a tree is an object"),
        ({"tree": "a"}, "a tree is an object"),
        ({"tree": {}}, "a tree is an object"),
        ({"tree": {"any": {"x": {"n": ["a"]}, "y": {"n": ["b"]}}}}, "'n' is in the tree twice"),
        ({"tree": {"any": {"x": ["a", "b"], "y": ["a"]}}}, "'a' is in the tree twice"),
        ({"tree": {"any": {"x": ["a"], "a": ["b"]}}}, "'a' is in the tree twice"),
        ({"tree": {"any": {"x": {"any": ["a"]}, "y": {"z": ["b"]}}}}, "'any' is in the tree twice"),
        ({"tree": {"any": {"x": ["a", "b"], "y": {"z": ["c"]}}}}, "'a' hangs higher in the tree"),
        ({"tree": {"any": ["a", {"x": ["b"]}]}}, "'a' hangs higher in the tree"),
        ({"tree": {"any": [["a"], ["b"]]}}, "a list in a list"),
        ({"tree": {"any": [1, 2]}}, "1 is no part of a tree"),
        ({"tree": {"any": None}}, "None is no part of a tree"),
    ],
)
def test_a_hierarchy_that_could_be_misread_is_refused(hierarchy: object, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        Closeness.of("hierarchical", hierarchy)


def test_products_beyond_64_bits_stay_exact() -> None:
    many = 2 * 10**9
    count = np.array([many, 1, many], dtype=np.int64)
    composition = Composition.of(np.array([0, 0, 1]), 2, np.array([0, 1, 0]), count, 2)
    assert closeness.equal(composition).largest() == Fraction(1, 2 * many + 1)
    assert closeness.ordered(composition).largest() == Fraction(1, 2 * many + 1)


@given(pairs)
def test_l_is_that_of_the_definitions(rows: list[tuple[int, int]]) -> None:
    composition = composed(rows)
    shares, _ = distributions(rows)
    assert diversity.distinct(composition) == min(sum(share > 0 for share in part.values()) for part in shares)
    least = min(-sum(float(share) * math.log(share) for share in part.values() if share) for part in shares)
    assert diversity.entropy(composition) == pytest.approx(math.exp(least))


@given(pairs, st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(3)]))
def test_recursive_l_is_the_largest_that_holds_in_every_class(rows: list[tuple[int, int]], c: Fraction) -> None:
    shares, _ = distributions(rows)

    def holds(l_wanted: int) -> bool:
        parts = (sorted(part.values(), reverse=True) for part in shares)
        return all(part[0] < c * sum(part[l_wanted - 1 :]) for part in parts)

    expected = max([1, *(wanted for wanted in range(1, 9) if holds(wanted))])
    assert diversity.recursive(composed(rows), c) == expected


def test_a_homogeneous_class_has_l_of_one_and_the_largest_distance() -> None:
    composition = composed([(0, 0), (0, 0), (1, 1), (1, 2)])
    assert (diversity.distinct(composition), diversity.entropy(composition)) == (1, 1.0)
    assert closeness.equal(composition).largest() == Fraction(1, 2)


@given(st.lists(st.tuples(*[st.integers(-1, 2)] * 3, st.integers(0, 3)), min_size=1, max_size=25))
def test_a_wildcard_matches_whatever_agrees_where_both_are_known(rows: list[tuple[int, int, int, int]]) -> None:
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    composition = wildcard_composition(columns[:3], columns[3], np.ones(len(rows), dtype=np.int64), 4)

    def matches(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
        return all(x == y or -1 in (x, y) for x, y in zip(a[:3], b[:3], strict=True))

    groups = {row[:3]: [other for other in rows if matches(row, other)] for row in rows}
    assert sorted(composition.sizes) == sorted(map(len, groups.values()))
    assert sorted(composition.cells_per_class) == sorted(len({row[3] for row in group}) for group in groups.values())
    assert list(composition.totals) == [sum(row[3] == value for row in rows) for value in range(4)]


@given(st.lists(st.tuples(*[st.integers(-1, 3)] * 4), min_size=1, max_size=40))
def test_rows_have_the_same_number_exactly_when_they_agree(rows: list[tuple[int, ...]]) -> None:
    number, classes = numbered([np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)])
    assert sorted(set(number.tolist())) == list(range(classes))
    for (one, first), (two, second) in product(zip(rows, number, strict=True), repeat=2):
        assert (one == two) == (first == second)


def test_numbers_are_right_where_keys_are_too_large_to_count() -> None:
    far = np.array([0, 2**40, 0, 2**40, 5], dtype=np.int64)
    number, classes = numbered([far, far, far])
    assert (classes, number[0] == number[2], number[1] == number[3], number[4] != number[0]) == (3, True, True, True)


def test_sums_beyond_what_a_float_holds_are_exact() -> None:
    counts = np.array([2**60, 1, 2**60], dtype=np.int64)
    assert summed(np.array([0, 0, 1]), counts, 2).tolist() == [2**60 + 1, 2**60]


def test_null_becomes_the_last_value() -> None:
    codes, values = with_null(np.array([1, -1, 0]), 2)
    assert (codes.tolist(), values) == ([1, 2, 0], 3)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ([], "a tree is an object"),
        ({}, "a tree is an object"),
        ({"a": ["x", "x"]}, "'x' is in the tree twice"),
        ({"a": 3}, "3 is no part of a tree"),
        ({"a": []}, "the tree has no leaves"),
    ],
)
def test_what_is_no_tree_is_refused(tree: object, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        Tree.of(tree)


def test_leaves_that_hang_higher_stay_themselves_for_longer() -> None:
    tree = Tree.of({"any": {"x": {"y": ["deep"]}, "z": ["high"]}})
    assert [tree.node("deep", height) for height in range(4)] == ["deep", "y", "x", "any"]
    assert [tree.node("high", height) for height in range(4)] == ["high", "high", "z", "any"]
    with pytest.raises(InvalidParameterError, match="the tree of c lacks 'other'"):
        tree.check("c", ["deep", "other"])
