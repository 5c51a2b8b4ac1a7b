"""Targeted record swapping: records at risk exchange some of their values with others that are alike otherwise.

Records that few share their quasi-identifiers with are swapped first, then others at random until the wanted share is
reached. A partner has the same values in the columns to match on, and differs in what is exchanged; so counts over
the matched columns, and over the exchanged ones, stay exactly as they were.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Swapping:
    """partner[i] is the record from which record i gets its values; most records keep their own."""

    partner: Numbers
    at_risk: int
    without_partner: int

    @property
    def swapped(self) -> int:
        return int((self.partner != np.arange(len(self.partner))).sum())


def random_order(size: int) -> Numbers:
    """A secret permutation: 64 bits for each place from the operating system."""
    return np.argsort(np.frombuffer(secrets.token_bytes(8 * size), dtype=np.uint64), kind="stable")


def swap(match: Numbers, exchanged: Numbers, class_sizes: Numbers, k: int, rate: float) -> Swapping:
    """Numbers stand for values: equal numbers, equal values. Records whose class has fewer than k are at risk.

    At least the records at risk are swapped wherever a partner exists, and beyond them about the share `rate` of all.
    """
    size = len(match)
    partner = np.arange(size)
    risky = class_sizes < k
    order = random_order(size)
    order = order[np.argsort(~risky[order], kind="stable")]
    wanted = max(int(risky.sum()), round(rate * size))
    free = np.ones(size, dtype=np.bool_)
    places: dict[int, dict[int, list[int]]] = {}
    for record in order[::-1].tolist():  # so that those at risk are met first from the end of each list
        places.setdefault(int(match[record]), {}).setdefault(int(exchanged[record]), []).append(record)
    done = alone = 0
    for record in order.tolist():
        if not free[record]:
            continue
        if done >= wanted and not risky[record]:
            break
        other = taken(places[int(match[record])], int(exchanged[record]), free)
        if other is None:
            alone += int(risky[record])
            continue
        free[record] = free[other] = False
        partner[record], partner[other] = other, record
        done += 2
    return Swapping(partner, int(risky.sum()), alone)


def taken(places: dict[int, list[int]], own: int, free: NDArray[np.bool_]) -> int | None:
    """A free record of another place than the own one; from the place with most, so that few are left without."""
    while True:
        others = [place for place in places if place != own and places[place]]
        if not others:
            return None
        place = max(others, key=lambda each: len(places[each]))
        record = places[place].pop()
        if free[record]:
            return record
