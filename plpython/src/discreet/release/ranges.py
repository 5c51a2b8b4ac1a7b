"""Ranges of a number that make the smallest class as large as possible."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import numpy as np

from discreet.core.declarations import at_least
from discreet.core.errors import InvalidParameterError, LimitExceededError
from discreet.release.classes import Ints, numbered
from discreet.release.hierarchy import INTEGERS, NUMBERS

# of the search: pairs of values, times groups of the other columns and ranges
MOST_STEPS = 20_000_000_000
# numbers that are kept: rows of each value in each group, and the best start of each range up to each value
MOST_NUMBERS = 20_000_000


def best_cuts(
    value: Ints, group: Ints, count: Ints, values: int, groups: int, ranges: int
) -> tuple[list[int], list[int]]:
    """The first codes of the ranges after the first, and the size of the smallest class in each range.

    Of all ways to cut the values into so many ranges, one whose smallest class, over all groups, is largest. By dynamic
    programming: best[r][j] is the most that r ranges over the first j values can reach. Of the sizes of classes only
    those of ranges that end at j are needed at a time.
    """
    if values < ranges:
        raise InvalidParameterError(
            f"{values} values cannot make {ranges} ranges", "Give a number of ranges up to that of the values."
        )
    if values * values * (groups + ranges) > MOST_STEPS or (values + 1) * (groups + ranges) > MOST_NUMBERS:
        raise LimitExceededError(
            f"{values} values in {groups} groups are too many to search for {ranges} ranges",
            "Round the values first, name fewer columns, or ask for fewer ranges.",
        )
    cumulated = np.zeros((values + 1, groups), dtype=np.int64)
    np.add.at(cumulated, (value + 1, group), count)
    np.cumsum(cumulated, axis=0, out=cumulated)

    def smallest(lows: Ints, high: int) -> Ints:
        """The smallest class of each range from one of these codes to below `high`."""
        rows = cumulated[high] - cumulated[lows]
        return np.asarray(np.where(rows > 0, rows, np.iinfo(np.int64).max).min(axis=1))

    best = np.zeros((ranges + 1, values + 1), dtype=np.int64)
    start = np.zeros((ranges + 1, values + 1), dtype=np.int64)
    best[0, 0] = np.iinfo(np.int64).max
    codes = np.arange(values, dtype=np.int64)
    for high in range(1, values + 1):
        sizes = smallest(codes[:high], high)
        for used in range(1, min(ranges, high) + 1):
            reached = np.minimum(best[used - 1, used - 1 : high], sizes[used - 1 :])
            start[used, high] = used - 1 + int(np.argmax(reached))
            best[used, high] = reached.max()
    cuts = [values]
    for used in range(ranges, 0, -1):
        cuts.insert(0, int(start[used, cuts[0]]))
    return cuts[1:-1], [int(smallest(codes[low : low + 1], high)[0]) for low, high in pairwise(cuts)]


def found_ranges(
    type_name: str,
    name: str,
    texts: list[str],
    codes: list[Ints],
    count: Ints,
    ranges: int | None,
    lower: Decimal | None,
    upper: Decimal | None,
) -> list[tuple[Decimal, Decimal, int]]:
    """The best ranges of the first column within the others: both ends, and the smallest class. NULL aside.

    Ranges of whole numbers follow each other without a gap; those of others begin and end with values that are there.
    """
    if type_name not in NUMBERS:
        raise InvalidParameterError(f"{name} is {type_name}, not a number", "Ranges are made of numbers.")
    wanted = at_least("ranges", ranges, 1)
    numbers = [Decimal(text) for text in texts]
    if not all(number.is_finite() for number in numbers):
        raise InvalidParameterError(f"{name} has values that are no numbers", "Leave NaN and infinities out by a view.")
    if numbers and ((lower is not None and lower > numbers[0]) or (upper is not None and upper < numbers[-1])):
        raise InvalidParameterError(
            f"values of {name} go from {numbers[0]} to {numbers[-1]}", "Give limits that hold them all, or none."
        )
    there = codes[0] >= 0
    group, groups = numbered([column[there] for column in codes[1:]]) if codes[1:] else (0 * codes[0][there], 1)
    cuts, smallest = best_cuts(codes[0][there], group, count[there], len(numbers), groups, wanted)
    firsts = [numbers[cut] for cut in cuts]
    lasts = [numbers[cut - 1] for cut in cuts]
    if type_name in INTEGERS:
        firsts = [last + 1 for last in lasts]
    starts = [numbers[0] if lower is None else lower, *firsts]
    ends = [*lasts, numbers[-1] if upper is None else upper]
    return list(zip(starts, ends, smallest, strict=True))
