"""What the final function of an aggregate sends: texts, to keep integers of any size exact."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from discreet.dp.estimate import QUANTILES, Kind
from discreet.dp.grid import Grid
from discreet.dp.price import Accounting, Price
from discreet.dp.release import release
from discreet.dp.totals import Histogram, Totals


def released(function: str, texts: Sequence[str]) -> str:
    """The noisy number of `function` (dp_sum …) for [amount, accounting, neighbours, filtered, totals …].

    Totals are the count; for sums also total, squares, exponent, lower and upper of the grid; for quantiles
    fraction, lower, upper, number of bins and the filled ones as "bin:count,…".
    """
    kind = Kind(function.removeprefix("dp_"))
    amount, accounting, neighbours, filtered, *totals = texts
    price = _price(accounting, amount)
    data, fraction = _histogram(totals) if kind in QUANTILES else (_totals(totals), None)
    return str(release(kind, data, price, neighbours, filtered == "true", fraction))


@lru_cache(maxsize=64)
def _price(accounting: str, amount: str) -> Price:
    return Price(Accounting(accounting), Fraction(amount))


def _totals(texts: Sequence[str]) -> Totals:
    count, *sums = map(int, texts)
    if not sums:
        return Totals(count)
    total, squares, exponent, lower, upper = sums
    return Totals(count, total, squares, Grid(exponent, lower, upper))


def _histogram(texts: Sequence[str]) -> tuple[Histogram, str]:
    fraction, lower, upper, bins, filled = texts
    counts = [0] * int(bins)
    for entry in filled.split(",")[:-1]:
        at, count = entry.split(":")
        counts[int(at)] += int(count)
    return Histogram.of(tuple(counts), lower, upper), fraction
