"""Microaggregation: records in groups of at least k that are alike, each to be replaced by the mean of its group.

MDAV, the maximum distance to average vector (Domingo-Ferrer and Torra 2005): around the record that is farthest from
the mean, and around the one farthest from that, groups of k nearest records are taken off, until less than 2k are
left.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Groups = NDArray[np.int64]

BLOCK = 10_000


def standardised(columns: Numbers) -> Numbers:
    """Each column with mean 0 and deviation 1, so that units do not matter; constant columns become 0."""
    scale = np.abs(columns).max(axis=0, initial=0)
    scaled = columns / np.where(scale > 0, scale, 1)
    centred = scaled - scaled.mean(axis=0)
    deviation = centred.std(axis=0)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1))


def mdav(columns: Numbers, k: int, pulse: Callable[[int, int], None] = lambda done, of: None) -> Groups:
    """The group of each record; every group has from k to 2k - 1 records. There must be at least k records.

    Work grows with the square of the records: more than BLOCK are halved at the median of their widest column first.
    """
    points = standardised(columns)
    groups = np.empty(len(points), dtype=np.int64)
    parts, done, number = [np.arange(len(points))], 0, 0
    while parts:
        part = parts.pop()
        if len(part) > max(BLOCK, 4 * k):
            widest = int(points[part].std(axis=0).argmax())
            order = np.argpartition(points[part, widest], len(part) // 2)
            parts += [part[order[: len(part) // 2]], part[order[len(part) // 2 :]]]
            continue
        groups[part] = grouped(points[part], k, partial(pulse, done, len(groups))) + number
        number = int(groups[part].max()) + 1
        done += len(part)
    return groups


def grouped(points: Numbers, k: int, pulse: Callable[[], None]) -> Groups:
    """MDAV itself. Records that are left stand first in `table`, so that taking off k moves no more than k others."""
    groups = np.empty(len(points), dtype=np.int64)
    # distances to a point are compared as |x|^2 - 2 x p, so that one product of a matrix does the work
    table = np.vstack([points.T, np.einsum("ij,ij->i", points, points)])
    records = np.arange(len(points))
    total = points.sum(axis=0)
    left, number = len(points), 0

    def distances(to: Numbers) -> Numbers:
        return np.asarray(np.append(-2 * to, 1.0) @ table[:, :left])

    while left >= 2 * k:
        pulse()
        rounds = 2 if left >= 3 * k else 1
        seed = table[:-1, distances(total / left).argmax()].copy()
        for _ in range(rounds):
            far = distances(seed)
            seed = table[:-1, far.argmax()].copy()
            nearest = np.argpartition(far, k - 1)[:k]
            groups[records[nearest]] = number
            total -= table[:-1, nearest].sum(axis=1)
            number, left = number + 1, left - k
            holes = nearest[nearest < left]
            last = np.setdiff1d(np.arange(left, left + k), nearest)
            table[:, holes], records[holes] = table[:, last], records[last]
    groups[records[:left]] = number
    return groups


def information_loss(columns: Numbers, groups: Groups) -> float:
    """The share of the standardised variance that lies within groups, and so is lost."""
    points = standardised(columns)
    total = float((points**2).sum())
    if total == 0:
        return 0.0
    sizes = np.bincount(groups)
    within = total
    for column in points.T:
        sums = np.bincount(groups, weights=column)
        within -= float((sums**2 / sizes).sum())
    return max(within / total, 0.0)
