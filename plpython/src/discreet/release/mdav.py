"""Microaggregation: records in groups of at least k that are alike, each to be replaced by the mean of its group.

MDAV, the maximum distance to average vector (Domingo-Ferrer and Torra 2005): around the record that is farthest from
the mean, and around the one farthest from that, groups of k nearest records are taken off, until less than 2k are
left.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Groups = NDArray[np.int64]


def standardised(columns: Numbers) -> Numbers:
    """Each column with mean 0 and deviation 1, so that units do not matter; constant columns become 0."""
    scale = np.abs(columns).max(axis=0, initial=0)
    scaled = columns / np.where(scale > 0, scale, 1)
    centred = scaled - scaled.mean(axis=0)
    deviation = centred.std(axis=0)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1))


def mdav(columns: Numbers, k: int, pulse: Callable[[int, int], None] = lambda done, of: None) -> Groups:
    """The group of each record; every group has from k to 2k - 1 records. There must be at least k records."""
    points = standardised(columns)
    groups = np.empty(len(points), dtype=np.int64)
    left = np.arange(len(points))
    # distances to a mean are compared as |x|^2 - 2 x m, so that one product of a matrix does the work
    squares = np.einsum("ij,ij->i", points, points)
    total = points.sum(axis=0)
    number = 0

    def distances(to: Numbers) -> Numbers:
        return np.asarray(squares - 2 * (points @ to))

    while len(left) >= 2 * k:
        pulse(len(groups) - len(left), len(groups))
        rounds = 2 if len(left) >= 3 * k else 1
        seed = points[distances(total / len(left)).argmax()]
        for _ in range(rounds):
            far = distances(seed)
            nearest = np.argpartition(far, k - 1)[:k]
            farthest = points[far.argmax()]
            groups[left[nearest]] = number
            number += 1
            total = total - points[nearest].sum(axis=0)
            kept = np.ones(len(left), dtype=np.bool_)
            kept[nearest] = False
            left, points, squares = left[kept], points[kept], squares[kept]
            seed = farthest
    groups[left] = number
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
