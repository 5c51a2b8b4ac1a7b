"""What a sample proves, with a stated probability of a false alarm.

Every bound here holds for finite samples: Clopper and Pearson's interval for a proportion and the
inequality of Dvoretzky, Kiefer, Wolfowitz and Massart for a distribution function. Nothing is asymptotic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

Sample = NDArray[np.float64]


def proportion_bounds(hits: NDArray[np.int64], draws: int, false_alarm: float) -> tuple[Sample, Sample]:
    """Lower and upper bounds that hold for all the proportions at once but for *false_alarm*."""
    level = false_alarm / (2 * len(hits))
    lower = np.where(hits > 0, beta.ppf(level, hits, draws - hits + 1), 0.0)
    upper = np.where(hits < draws, beta.isf(level, hits + 1, draws - hits), 1.0)
    return np.nan_to_num(lower, nan=0.0), np.nan_to_num(upper, nan=1.0)


def distribution_distance(draws: int, false_alarm: float) -> float:
    """The distance that an empirical distribution function exceeds with at most this probability."""
    return math.sqrt(math.log(2 / false_alarm) / (2 * draws))


def _events(sample: Sample, edges: Sample) -> NDArray[np.int64]:
    """How often each event happened: below an edge, not below it, exactly at it, between two edges."""
    cells = np.bincount(np.searchsorted(edges, sample, side="right"), minlength=len(edges) + 1)
    below = np.cumsum(cells)[:-1]
    at = np.array([np.count_nonzero(sample == edge) for edge in edges])
    return np.concatenate([below, len(sample) - below, at, cells])


def measured_epsilon(here: Sample, there: Sample, false_alarm: float, delta: float = 0.0) -> float:
    """A lower bound of the epsilon that the two samples show, true but for *false_alarm*.

    Both ways: P(event here) <= e**epsilon * P(event there) + delta. Events are chosen by looking at the
    first tenth of the samples, which then takes no part in the measurement.
    """
    pilot = len(here) // 10
    seen = np.concatenate([here[:pilot], there[:pilot]])
    edges = np.unique(np.quantile(seen, np.linspace(0.002, 0.998, 25), method="nearest"))
    here, there = here[pilot:], there[pilot:]
    # Two samples share the false alarm.
    lower_here, upper_here = proportion_bounds(_events(here, edges), len(here), false_alarm / 2)
    lower_there, upper_there = proportion_bounds(_events(there, edges), len(there), false_alarm / 2)
    ratios = np.concatenate([(lower_here - delta) / upper_there, (lower_there - delta) / upper_here])
    return math.log(max(ratios.max(), 1e-300))


def drawn_side_by_side(
    draw: Callable[..., Sample], left: Sequence[object], right: Sequence[object]
) -> tuple[Sample, Sample]:
    """Two samples, each drawn by a process of its own."""
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        first, second = (pool.submit(draw, *arguments) for arguments in (left, right))
        return first.result(), second.result()
