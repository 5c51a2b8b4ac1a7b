"""The choice of the most frequent value: what one person moves, and what is chosen without noise to speak of."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from discreet.dp.mode import ModeChoice
from discreet.dp.price import Accounting, Price

GENEROUS = Price(Accounting.PURE, Fraction(100))


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_nobody_moves_a_loss_by_more_than_the_sensitivity(rows: int) -> None:
    """All ways in which a person of so many rows joins small counts; some move a loss by just that much."""
    choice = ModeChoice.of(GENEROUS, rows)
    assert choice.choice.sensitivity == rows
    moved = set()
    for counts in product(range(4), repeat=3):
        for added in product(range(rows + 1), repeat=3):
            if sum(added) <= rows:
                after = [count + more for count, more in zip(counts, added, strict=True)]
                pairs = zip(choice.losses(counts), choice.losses(after), strict=True)
                moved |= {abs(before - then) for before, then in pairs}
    assert max(moved) == rows


def test_the_most_frequent_value_is_chosen() -> None:
    """With epsilon 100 and a lead of ten rows another one has a probability below 1e-200."""
    assert ModeChoice.of(GENEROUS, 1).release_many([[3, 20, 10], [20, 3, 10], [0, 0, 10]]) == [1, 0, 2]


def test_a_choice_is_off_by_no_more_than_it_says() -> None:
    cheap = ModeChoice.of(Price(Accounting.PURE, Fraction(1)), 1)
    counts = [100, 100 - cheap.half_width(3) - 1, 0]
    drawn = cheap.release_many([counts] * 400)
    # each is off with at most 5 %: more than 80 of 400 have a probability below 1e-20
    assert sum(place != 0 for place in drawn) <= 80
