"""Perturbation tables for the cell key method: with which probability a count is changed by how much.

For each count the distribution has the largest entropy among those with mean 0 and the wanted variance that change it
by no more than the largest noise, make nothing negative, and leave no count between 1 and the least that may be
published (Giessing 2016; the method: Fraser and Wooton 2005). A count of 0 stays. Probabilities are given as
thresholds of a key from 0 to 2^32 - 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameterError

KEYS = 2**32
LARGEST_NOISE = 100


@dataclass(frozen=True)
class Ptable:
    deviation: float
    max_noise: int
    min_count: int

    def __post_init__(self) -> None:
        if not 1 <= self.max_noise <= LARGEST_NOISE:
            raise InvalidParameterError(
                f"max_noise is {self.max_noise}", f"Give the most that a count may change, from 1 to {LARGEST_NOISE}."
            )
        if not 0 < self.deviation < self.max_noise:
            raise InvalidParameterError(
                f"deviation is {self.deviation:g}, which noise up to {self.max_noise} cannot have",
                "Give a standard deviation above 0 and below max_noise, best not above half of it.",
            )
        if not 1 <= self.min_count <= self.max_noise:
            raise InvalidParameterError(
                f"min_count is {self.min_count}", "Give the least count that may be published, from 1 to max_noise."
            )

    def rows(self) -> list[list[list[int]]]:
        """For each count, the last one standing for all above: pairs of a change and the first key beyond it."""
        return [self.row(count) for count in range(self.max_noise + self.min_count + 1)]

    def row(self, count: int) -> list[list[int]]:
        changes = self.changes(count)
        bounds = np.rint(np.cumsum(distribution(changes, self.deviation**2)) * KEYS).astype(np.int64)
        bounds[-1] = KEYS
        return [[int(change), int(bound)] for change, bound in zip(changes, bounds, strict=True)]

    def changes(self, count: int) -> NDArray[np.int64]:
        if count == 0:
            return np.zeros(1, dtype=np.int64)
        changes = np.arange(-min(count, self.max_noise), self.max_noise + 1)
        result = count + changes
        return np.asarray(changes[(result == 0) | (result >= self.min_count)])


def distribution(changes: NDArray[np.int64], variance: float) -> NDArray[np.float64]:
    """The distribution of largest entropy with mean 0 and this variance, or the nearest variance that there is."""
    if changes.size == 1:
        return np.ones(1)
    below, above = changes[changes < 0], changes[changes > 0]
    if not below.size:  # nothing to balance it
        return np.asarray((changes == 0).astype(np.float64))
    nearest = 0 if 0 in changes else int(-below.max() * above.min())
    widest = int(-below.min() * above.max())
    if variance <= nearest * (1 + 1e-9) or variance >= widest * (1 - 1e-9):
        low, high = (below.max(), above.min()) if variance <= nearest * (1 + 1e-9) else (below.min(), above.max())
        return np.asarray(np.where(changes == low, high, np.where(changes == high, -low, 0)) / (high - low))
    features = np.stack([changes, changes**2 - variance]).astype(np.float64)
    weights = np.zeros(2)
    for _ in range(200):
        exponents = weights @ features
        shares = np.exp(exponents - exponents.max())
        shares /= shares.sum()
        gradient = features @ shares
        if np.abs(gradient).max() < 1e-12:
            break
        spread = (features * shares) @ features.T - np.outer(gradient, gradient)
        step = np.linalg.solve(spread + 1e-12 * np.eye(2), gradient)
        weights = weights - step * least_that_helps(weights, step, features)
    return np.asarray(shares)


def least_that_helps(weights: NDArray[np.float64], step: NDArray[np.float64], features: NDArray[np.float64]) -> float:
    """Newton's step, halved until the dual, which is convex, falls."""

    def dual(at: NDArray[np.float64]) -> float:
        exponents = at @ features
        return float(exponents.max() + np.log(np.exp(exponents - exponents.max()).sum()))

    size, start = 1.0, dual(weights)
    while size > 1e-9 and dual(weights - size * step) > start + 1e-15:
        size /= 2
    return size
