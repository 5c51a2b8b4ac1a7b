"""l-diversity: how many values of a sensitive column each class is spread over.

Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-Diversity, Privacy Beyond k-Anonymity (TKDD 2007).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.release.classes import Composition


def distinct(composition: Composition) -> int:
    """The least number of different values in a class; 1 where all in it have the same one."""
    return int(np.where(composition.shared, 1, composition.cells_per_class).min())


def entropy(composition: Composition) -> float:
    """The largest l with entropy(class) >= log l for every class: e to the least entropy."""
    holders = composition.holders
    share = holders / np.repeat(np.add.reduceat(holders, composition.starts), composition.cells_per_class)
    entropies = -np.add.reduceat(share * np.log(share), composition.starts)
    return math.exp(max(float(entropies.min()), 0.0))


def recursive(composition: Composition, c: Fraction) -> int:
    """The largest l for which every class is recursively (c, l)-diverse: r1 < c * (r_l + … + r_m), r sorted downwards.

    At least 1, which says nothing: in a class where not even l = 1 holds, one value is most of it.
    """
    order = np.lexsort((-composition.holders, composition.class_of_cell))
    counts = composition.holders[order]
    total = np.append(0, np.cumsum(counts))
    ends = np.append(composition.starts[1:], len(counts))
    tail = np.repeat(total[ends], composition.cells_per_class) - total[:-1]
    most = np.repeat(counts[composition.starts], composition.cells_per_class)
    holds = most * c.denominator < tail * c.numerator
    # tails shrink, so those that hold come first
    return max(1, int(np.add.reduceat(holds.astype(np.int64), composition.starts).min()))
