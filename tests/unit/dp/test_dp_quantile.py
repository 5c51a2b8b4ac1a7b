"""Quantiles: which bins are good, and that minimum and maximum are found where they are."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.dp.price import Price
from discreet.dp.quantile import QuantileChoice, is_tail, quantile_losses, tail_losses

LOW, HIGH = Fraction(0), Fraction(1)
DRAWS = 200
histograms = st.lists(st.integers(0, 9), min_size=1, max_size=12)


def test_the_bin_of_the_quantile_has_no_loss() -> None:
    counts = [0, 3, 0, 4, 0, 0]
    assert quantile_losses(counts, Fraction(1, 2)) == [7, 1, 1, 0, 7, 7]
    assert quantile_losses(counts, LOW)[:2] == [0, 0]
    assert quantile_losses(counts, HIGH)[3:] == [0, 0, 0]


def test_all_bins_between_the_two_middle_values_have_no_loss() -> None:
    assert quantile_losses([0, 1, 0, 0, 1, 0], Fraction(1, 2)) == [2, 0, 0, 0, 0, 2]


def test_without_rows_no_bin_is_better_than_another() -> None:
    assert set(quantile_losses([0] * 9, Fraction(1, 3))) == {0}
    assert set(tail_losses([0] * 9, HIGH, 4)) == {0}


def test_of_a_maximum_the_bin_that_holds_the_rank_has_no_loss_and_bins_beyond_have() -> None:
    # from the top: 1 in the last but one, 5 below it, 20 below these; the third from the top is among the 5
    assert tail_losses([0, 20, 0, 5, 0, 1, 0], HIGH, 3) == [46, 6, 6, 0, 4, 4, 6]
    assert tail_losses([0, 1, 0, 5, 0, 20, 0], LOW, 3) == [6, 4, 4, 0, 6, 6, 46]


def test_many_equal_values_at_the_end_are_the_maximum() -> None:
    assert tail_losses([5, 0, 50, 0], HIGH, 20) == [60, 60, 0, 40]


def test_of_few_values_the_median_is_looked_for() -> None:
    assert tail_losses([0, 4, 4, 4, 0], HIGH, 100).index(0) == 2
    assert tail_losses([0, 4, 4, 4, 0], LOW, 100).index(0) == 2


def test_a_quantile_that_lies_farther_inside_than_the_least_rank_is_itself() -> None:
    counts = [10] * 100
    inside = tail_losses(counts, Fraction(1, 100), 3)
    assert [2 * loss for loss in quantile_losses(counts, Fraction(1, 100))] == inside


@given(histograms, st.integers(1, 20), st.sampled_from([LOW, HIGH, Fraction(1, 200), Fraction(199, 200)]))
def test_some_bin_has_no_loss_and_a_bin_beyond_all_values_has_that_of_the_rank(
    counts: list[int], least: int, fraction: Fraction
) -> None:
    losses = tail_losses([0, *counts, 0], fraction, least)
    assert min(losses) == 0
    if sum(counts) >= 2 * least:
        outside = losses[-1] if fraction > Fraction(1, 2) else losses[0]
        assert outside >= 2 * fraction.denominator * least


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
@pytest.mark.parametrize("epsilon", ["0.01", "1", "20"])
@pytest.mark.parametrize("fraction", [LOW, Fraction(1, 200), HIGH])
def test_the_least_rank_is_beyond_what_noise_reaches_with_95_percent(
    fraction: Fraction, epsilon: str, accounting: str
) -> None:
    found = QuantileChoice.of(fraction, Price.of(epsilon, accounting), rows=3)
    width, unit = found.choice.half_width(4096), 2 * fraction.denominator
    assert (found.least_rank(4096) - 1) * unit <= width < found.least_rank(4096) * unit
    assert found.half_width(4096) <= found.least_rank(4096)


def test_ranks_within_a_hundredth_of_an_end_are_tails() -> None:
    assert [is_tail(Fraction(n, 200)) for n in (0, 1, 2, 3, 100, 197, 198, 199, 200)] == (
        [True] * 3 + [False] * 3 + [True] * 3
    )


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
@pytest.mark.parametrize("fraction", [LOW, HIGH])
def test_an_extreme_of_many_values_is_near_where_they_end(fraction: Fraction, accounting: str) -> None:
    """10,000 values, ten in each of 1,000 bins in the middle of 3,000.

    A draw lies beyond the values, or has 2 k of them beyond it, with at most 5 %; of 200 draws more than 35 do with
    probability below 1e-8.
    """
    chance = sum(comb(DRAWS, n) * 0.05**n * 0.95 ** (DRAWS - n) for n in range(36, DRAWS + 1))
    assert chance < 1e-8
    counts = [0] * 1000 + [10] * 1000 + [0] * 1000
    found = QuantileChoice.of(fraction, Price.of(1, accounting))
    reach = 2 * found.least_rank(len(counts)) // 10 + 1
    first, last = (2000 - reach, 1999) if fraction == HIGH else (1000, 999 + reach)
    drawn = found.release_many([counts] * DRAWS)
    assert sum(not first <= place <= last for place in drawn) <= 35
