"""Whether the samplers of this installation draw from the distributions that the guarantees rest on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from discreet.dp.noise import integer_noise
from discreet.dp.price import Accounting

DRAWS = 20_000
FALSE_ALARM = 1e-6
SCALES = (0.5, 3.0, 40.0)


def laplace_cumulative(scale: float, value: int) -> float:
    """P(noise <= value) of discrete Laplace noise."""
    p = math.exp(-1 / scale)
    return 1 - p ** (value + 1) / (1 + p) if value >= 0 else p**-value / (1 + p)


def gaussian_cumulative(scale: float, value: int) -> float:
    """P(noise <= value) of discrete Gaussian noise."""
    reach = math.ceil(12 * scale)
    weights = [math.exp(-((k / scale) ** 2) / 2) for k in range(-reach, reach + 1)]
    return math.fsum(weights[: max(value + reach + 1, 0)]) / math.fsum(weights)


CUMULATIVE = {Accounting.PURE: laplace_cumulative, Accounting.ZCDP: gaussian_cumulative}
CASES = [(accounting, scale) for accounting in CUMULATIVE for scale in SCALES]


def distance(sample: Sequence[int], accounting: Accounting, scale: float) -> float:
    """The largest distance between the sample's cumulative distribution and the one it should have."""
    below, furthest = 0, 0.0
    counts: dict[int, int] = {}
    for value in sample:
        counts[value] = counts.get(value, 0) + 1
    for value in sorted(counts):
        furthest = max(furthest, abs(below / len(sample) - CUMULATIVE[accounting](scale, value - 1)))
        below += counts[value]
        furthest = max(furthest, abs(below / len(sample) - CUMULATIVE[accounting](scale, value)))
    return furthest


def allowed_distance(draws: int, false_alarm: float) -> float:
    """The distance that a true sample exceeds with at most this probability (Dvoretzky, Kiefer, Wolfowitz, Massart)."""
    return math.sqrt(math.log(2 / false_alarm) / (2 * draws))


def distances() -> Iterator[float]:
    """Of each sampler in turn; one takes as long as many questions."""
    for accounting, scale in CASES:
        yield distance(integer_noise(accounting, scale).draw(DRAWS), accounting, scale)


# what one of them exceeds by chance with a probability of FALSE_ALARM
ALLOWED = allowed_distance(DRAWS, FALSE_ALARM / len(CASES))
