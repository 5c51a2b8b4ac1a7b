"""The only door to randomness: OpenDP's samplers, exact on integers, and uniform integers, fed by the system's entropy.

OpenDP takes a tenth of a second to import, so it is imported when the first noise is drawn. A measurement
is kept for each scale: the final function of an aggregate runs once for every group. A call of OpenDP costs as
much as many draws, so a few are drawn at once and kept. Draws are independent of each other and of all data,
and each is given out once: whose number it is added to changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from discreet.core.syntax import Array, Mechanism
from discreet.dp.exact import float_above
from discreet.dp.price import Accounting

# draws of one call of OpenDP, which no cancel ends
AT_ONCE = 1000
# scales for which a measurement is kept
KEPT = 64
# draws of each scale that are drawn at once where fewer are wanted: at first, and where they are wanted often
RESERVE, MOST_RESERVED = 32, 256
# bytes of entropy
READ_AT_ONCE = 4096


@dataclass(frozen=True)
class IntegerNoise:
    """Independent integer noise: discrete Laplace (``pure``) or discrete Gaussian (``zcdp``)."""

    measurement: Mechanism
    _reserves: dict[int, list[int]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _refills: dict[int, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def loss(self, sensitivity: Fraction) -> Fraction:
        """OpenDP's own privacy map: epsilon at this L1, or rho at this L2 sensitivity; rounded up."""
        return Fraction(self.measurement.map(float_above(sensitivity)))

    def draw(self, how_many: int) -> list[int]:
        """So many independent draws, around zero."""
        if how_many < RESERVE:
            process = os.getpid()  # a forked process has a reserve of its own
            reserve = self._reserves.setdefault(process, [])
            if len(reserve) < how_many:
                more = self._refills[process] = min(2 * self._refills.get(process, RESERVE // 2), MOST_RESERVED)
                reserve.extend(self.measurement([0] * more))
            return [reserve.pop() for _ in range(how_many)]
        parts = (min(AT_ONCE, how_many - start) for start in range(0, how_many, AT_ONCE))
        return [noise for part in parts for noise in self.measurement([0] * part)]


@dataclass(frozen=True)
class NoisyChoice:
    """Private choice of the candidate with the least integer loss."""

    measurement: Mechanism

    def loss(self, sensitivity: int) -> Fraction:
        """OpenDP's own privacy map at this sensitivity of every single loss; rounded up."""
        return Fraction(self.measurement.map(sensitivity))

    def draw(self, losses: Sequence[int]) -> int:
        """The index chosen."""
        return int(self.measurement(list(losses)))


class Entropy:
    """Bytes of the system's entropy, read some thousand at once, each of which is given out once."""

    def __init__(self) -> None:
        self._bytes, self._next = b"", 0

    def take(self, how_many: int) -> bytes:
        first, self._next = self._next, self._next + how_many
        if self._next > len(self._bytes):
            self._bytes = os.urandom(max(how_many, READ_AT_ONCE))
            first, self._next = 0, how_many
        return self._bytes[first : self._next]

    def forget(self) -> None:
        """A forked process has bytes of its own."""
        self._bytes, self._next = b"", 0


ENTROPY = Entropy()
os.register_at_fork(after_in_child=ENTROPY.forget)


def whole_below(limit: int) -> int:
    """A whole number from 0 to limit - 1, each as likely: those of so many bits are drawn until one is below."""
    bits = (limit - 1).bit_length()
    size = (bits + 7) // 8
    while True:
        found = int.from_bytes(ENTROPY.take(size)) >> (8 * size - bits)
        if found < limit:
            return found


def wholes_below(limits: Array) -> Array:
    """For each limit a whole number from 0 to limit - 1, as by whole_below().

    An array of 64 bits is drawn at once. Its `bits` are those of the float next to limit - 1: as many as that number
    has, or one more, which only turns down more draws.
    """
    import numpy as np

    if limits.dtype == object:
        return np.array([whole_below(limit) for limit in limits], dtype=object)
    bits = np.frexp((limits - 1).astype(np.float64))[1]
    found = np.zeros(len(limits), dtype=np.int64)
    missing = np.flatnonzero(limits > 1)
    while len(missing):
        words = np.frombuffer(ENTROPY.take(8 * len(missing)), dtype=np.uint64)
        drawn = (words >> (64 - bits[missing]).astype(np.uint64)).astype(np.int64)
        fits = drawn < limits[missing]
        found[missing[fits]] = drawn[fits]
        missing = missing[~fits]
    return found


@lru_cache(maxsize=KEPT)
def integer_noise(accounting: Accounting, scale: float) -> IntegerNoise:
    """Noise on vectors of integers, with the scale taken exactly as the double it is."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_noise
    from opendp.metrics import l1_distance, l2_distance

    metric = l1_distance if accounting is Accounting.PURE else l2_distance
    measure = _measure(accounting)
    return IntegerNoise(make_noise(vector_domain(atom_domain(T="i64")), metric(T="f64"), measure, scale))


@lru_cache(maxsize=KEPT)
def noisy_choice(accounting: Accounting, scale: float) -> NoisyChoice:
    """Permute-and-flip (``pure``) or the exponential mechanism (``zcdp``) with weights e**(-loss / scale)."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_noisy_max
    from opendp.metrics import linf_distance

    domain = vector_domain(atom_domain(T="i64"))
    return NoisyChoice(make_noisy_max(domain, linf_distance(T="i64"), _measure(accounting), scale, negate=True))


@lru_cache(maxsize=2)
def _measure(accounting: Accounting) -> Mechanism:
    from opendp.measures import max_divergence, zero_concentrated_divergence
    from opendp.mod import enable_features

    # OpenDP asks for consent to constructors whose proofs are public but not all vetted by its committee.
    enable_features("contrib")
    return max_divergence() if accounting is Accounting.PURE else zero_concentrated_divergence()
