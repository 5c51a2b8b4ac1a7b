"""Controlled rounding and perturbation tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.release.dimensions import Dimension, all_cells
from discreet.release.ptable import KEYS, Ptable, distribution
from discreet.release.rounding import adds_up, controlled_round


def flat(name: str, size: int) -> Dimension:
    return Dimension.of(name, {f"{name}{n}": () for n in range(size)}, "Total")


REGION = Dimension.of("region", {"a": ("N",), "b": ("N",), "c": ("S",)}, "Total")
SHAPES = [(flat("a", 4),), (REGION, flat("b", 3)), (REGION, REGION), (REGION, flat("b", 2), flat("c", 2))]


@settings(max_examples=30)
@given(st.sampled_from(SHAPES), st.sampled_from([3, 5, 10]), st.integers(0, 2**32 - 1))
def test_a_rounded_table_adds_up_and_every_cell_is_a_multiple(
    dimensions: tuple[Dimension, ...], base: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    values = all_cells(dimensions, random.integers(0, 30, [each.leaves for each in dimensions]))
    keys = random.integers(0, KEYS, values.size).tolist()
    rounded = controlled_round(dimensions, values, base, keys, 20)
    assert not (rounded.values % base).any()
    assert adds_up(dimensions, rounded.values)
    assert (rounded.values >= 0).all()
    if len(dimensions) < 3:
        assert rounded.zero_restricted
    if rounded.zero_restricted:
        assert rounded.largest_change(values) < base
        assert (rounded.values[values % base == 0] == values[values % base == 0]).all()
    again = controlled_round(dimensions, values, base, keys, 20)
    assert (again.values == rounded.values).all()


def test_a_table_without_an_additive_rounding_to_neighbours_goes_further() -> None:
    # Kelly, Golden and Assad 1990: three dimensions may leave no zero-restricted rounding
    dimensions = (flat("a", 2), flat("b", 2), flat("c", 2))
    leaves = np.array([[[1, 1], [1, 0]], [[1, 0], [0, 1]]])
    rounded = controlled_round(dimensions, all_cells(dimensions, leaves), 2, [0] * 27, 20)
    assert adds_up(dimensions, rounded.values)
    assert not (rounded.values % 2).any()


def test_a_table_of_one_cell_goes_up_as_often_as_its_remainder_says() -> None:
    dimensions = (flat("a", 1),)
    values = np.array([7, 7])
    ups = sum(
        int(controlled_round(dimensions, values, 5, [key, key], 20).values[0] == 10)
        for key in range(KEYS // 100, KEYS, KEYS // 50)
    )
    assert ups == 20  # 2 of 5


@pytest.mark.parametrize("ptable", [Ptable(1.5, 4, 1), Ptable(1.0, 5, 3), Ptable(2.0, 3, 2), Ptable(3.0, 10, 1)])
def test_perturbation_has_mean_zero_and_its_variance_and_shows_no_small_count(ptable: Ptable) -> None:
    for count, row in enumerate(ptable.rows()):
        changes = np.array([change for change, _ in row])
        bounds = np.array([0, *(bound for _, bound in row)])
        shares = np.diff(bounds) / KEYS
        assert (np.diff(bounds) >= 0).all()
        assert bounds[-1] == KEYS
        assert abs(shares @ changes) < 1e-8
        assert np.abs(changes).max() <= ptable.max_noise
        result = count + changes
        assert ((result == 0) | (result >= ptable.min_count)).all()
        if count == 0:
            assert row == [[0, KEYS]]
        if count >= ptable.max_noise + ptable.min_count:
            assert shares @ changes**2 == pytest.approx(ptable.deviation**2, rel=1e-6)


def test_the_distribution_of_largest_entropy_is_known_for_three_changes() -> None:
    assert distribution(np.array([-1, 0, 1]), 0.5) == pytest.approx([0.25, 0.5, 0.25])


def test_a_variance_that_cannot_be_is_replaced_by_the_nearest() -> None:
    # from 1 to 0 or to 3 and more: mean 0 needs a variance of at least 2
    assert distribution(np.array([-1, 2, 3]), 1.0) == pytest.approx([2 / 3, 1 / 3, 0])
    assert distribution(np.array([-1, 0, 1]), 9.0) == pytest.approx([0.5, 0, 0.5])


@pytest.mark.parametrize("arguments", [(0.0, 3, 1), (5.0, 3, 1), (1.0, 0, 1), (1.0, 101, 1), (1.0, 3, 0), (1.0, 3, 4)])
def test_ptables_that_make_no_sense_are_refused(arguments: tuple[float, int, int]) -> None:
    with pytest.raises(InvalidParameterError):
        Ptable(*arguments)
