"""An end of a quantile: how far one row moves its losses, and on which side of the quantile it lies."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.dp.price import Price
from discreet.dp.quantile import QuantileEnd, Side

counts = st.lists(st.integers(0, 40), min_size=1, max_size=12)
fractions = st.fractions(0, 1, max_denominator=50)
prices = st.sampled_from([Price.of("0.1"), Price.of("3"), Price.of("1", "zcdp")])
sides = st.sampled_from(list(Side))


@given(counts, fractions, prices, sides, st.integers(1, 4), st.data())
def test_a_person_moves_no_loss_by_more_than_the_sensitivity(
    rows: list[int], fraction: Fraction, price: Price, side: Side, most: int, data: st.DataObject
) -> None:
    end = QuantileEnd.of(fraction, side, price, most)
    places = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=most))
    more = [count + places.count(place) for place, count in enumerate(rows)]
    moved = [abs(a - b) for a, b in zip(end.losses(rows), end.losses(more), strict=True)]
    assert max(moved) <= end.choice.sensitivity


@given(counts, fractions, prices, sides)
def test_every_candidate_of_a_small_loss_lies_on_its_side(
    rows: list[int], fraction: Fraction, price: Price, side: Side
) -> None:
    """What is chosen, but for END_MISSED, has a loss of at most half_width rows more than the least, which is 0."""
    end = QuantileEnd.of(fraction, side, price)
    losses, n = end.losses(rows), sum(rows)
    assert min(losses) == 0
    values = [place for place, count in enumerate(rows) for _ in range(count)]
    if not values:
        return
    # percentile_cont lies between these two, percentile_disc is one of them or between
    exact = fraction * (n - 1)
    below, above = values[int(exact)], values[-int(-exact // 1)]
    for candidate, loss in enumerate(losses):
        if loss > end.half_width(len(rows)) * end.unit:
            continue
        if side is Side.LOWER:
            assert candidate == 0 or candidate - 1 <= below
        else:
            assert candidate == len(rows) or candidate >= above
