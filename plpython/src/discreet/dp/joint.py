"""Noise for several numbers of the same people at once: a K-norm mechanism on the integers, under pure accounting.

Where one person can change each of d numbers, noise of its own for each of them costs d prices. The K-norm mechanism
(Hardt and Talwar 2010) draws the d numbers together, from the shape of what one person can change, which is a box: its
error is about 1/sqrt(6) of theirs for large d, and 0.48 of theirs for d = 8.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self

from discreet.core.errors import InvalidParameterError
from discreet.core.syntax import Array
from discreet.dp.additive import USUAL_PROBABILITY, checked_probability
from discreet.dp.exact import sqrt_above
from discreet.dp.noise import wholes_below
from discreet.dp.price import Accounting, Price

# L of the theorem
STEPS = 2**20
# Beyond it noise of its own is less than a number, and nearly all proposals would be turned down.
LARGEST_LOSS = 2
MOST_NUMBERS = 100
# points of an integral over the radius, and what it may be off
POINTS = 2**15
INTEGRAL_MARGIN = 0.999
# geometric numbers that are drawn at once, which no cancel ends
AT_ONCE = 2**15
# noises of which vectors are kept, and how many of each are drawn where fewer are wanted: at first, and where they are
# wanted often
KEPT, RESERVE, MOST_RESERVED = 64, 32, 256
# numbers below it are computed with in 64 bits, larger ones as Python's integers
LARGEST_WORD = 2**62


@dataclass(frozen=True)
class JointNoise:
    """Integer noise for vectors of d numbers: one vector of noise for each group.

    Let w = `widths`, L = STEPS, s = `scale`, and M(z) = max_i ceil(|z_i| L / w_i).

    Distribution: P(noise = z) proportional to e**(-M(z) / s) on the integers Z^d, independent between groups.

    Precondition: the values are integers. One person changes at most *cells* groups, the numbers of a group g by
    delta_g with x_g = max_i |delta_gi| / w_i <= 1, and the sum of all x_g is at most *touched*.

    Guarantee: pure differential privacy with epsilon = S / s, S = min(L cells, floor(L touched) + cells). Proof: M is
    subadditive, since ceil(a + b) <= ceil(a) + ceil(b), and M(-z) = M(z); hence P(z - delta) / P(z - delta') <=
    e**(M(delta - delta') / s) in each group. There M(delta) = ceil(L x_g) <= min(L, L x_g + 1). Over all groups these
    add up to no more than S. Numbers that are not released take nothing away from it.

    Sampler: let f_i(r) = floor(r w_i / L). Then M(z) <= r says the same as |z_i| <= f_i(r) for all i, so that the box
    of radius r holds prod_i (2 f_i(r) + 1) vectors. Draw r with P(r) proportional to prod_i (2 f_i(r) + 1) q**r, with
    q = e**(-1/s), and z uniformly in the box: then P(z) is proportional to the sum of q**r over r >= M(z), which is
    proportional to q**M(z). To draw r, propose R - A, with A = ceil(L / 2 min w) and R a sum of d + 1 geometric numbers
    with ratio q, that is P(R) proportional to (R + 1) … (R + d) q**R. Accept r >= 0 with the probability
    prod_i (2 f_i(r) + 1) L / (2 w_i (r + A + i)), one factor after the other. No factor is above 1, since
    (2 f_i(r) + 1) L <= 2 w_i r + L and L <= 2 w_i A; and proposal times acceptance is proportional to P(r). Every step
    compares an integer with a uniform one, in 64 bits where they are enough, so no rounding and no overflow comes in.

    Source: Hardt and Talwar 2010, section 4; Steinke and Ullman 2016 for the box; Awan and Slavkovic 2021.
    """

    widths: tuple[int, ...]
    scale: int

    accounting: ClassVar[Accounting] = Accounting.PURE

    def __post_init__(self) -> None:
        if not 1 <= len(self.widths) <= MOST_NUMBERS or min(self.widths) < 1:
            raise InvalidParameterError("joint noise is for numbers that one person can change")
        if self.scale < 1:
            raise InvalidParameterError("noise scale is out of range")

    @classmethod
    def for_price(cls, widths: Sequence[int], touched: Fraction, cells: int, price: Price) -> Self | None:
        """The least noise that keeps *price*; None where numbers do better with noise of their own.

        That is as good for a single number, and better where nearly no noise is needed.
        """
        if price.accounting is not cls.accounting or not 2 <= len(widths) <= MOST_NUMBERS:
            return None
        if price.amount > LARGEST_LOSS * touched * min(widths):
            return None
        return cls(tuple(widths), math.ceil(changed(touched, cells) / price.amount))

    def epsilon_at(self, touched: Fraction, cells: int) -> Fraction:
        """The epsilon where one person changes no more than that."""
        return changed(touched, cells) / self.scale

    @property
    def numbers(self) -> int:
        """d, the numbers of a group."""
        return len(self.widths)

    @property
    def at_once(self) -> int:
        """How many vectors are drawn at once."""
        return AT_ONCE // (self.numbers + 1)

    def draw(self, how_many: int) -> list[tuple[int, ...]]:
        """So many independent vectors. They do not depend on the values, and each is given out once."""
        if how_many >= RESERVE:
            return self._drawn(how_many)
        reserve = reserve_of(self)
        if len(reserve.vectors) < how_many:
            reserve.refill = min(2 * reserve.refill, MOST_RESERVED)
            reserve.vectors += self._drawn(reserve.refill)
        return [reserve.vectors.pop() for _ in range(how_many)]

    def _drawn(self, how_many: int) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = []
        while len(found) < how_many:
            missing = how_many - len(found)
            # some are not accepted
            radii = self.radii(min(missing + missing // 4 + 16, self.at_once))
            ends = [end_of(radii, width) for width in self.widths]
            found += zip(*((wholes_below(2 * end + 1) - end).tolist() for end in ends), strict=True)
        return found[:how_many]

    def radii(self, how_many: int) -> Array:
        """Independent radii of boxes: those of so many proposals that are accepted."""
        below = -(-STEPS // (2 * min(self.widths)))
        added = self.numbers + 1
        proposed = geometric(self.scale, added * how_many).reshape(added, how_many).sum(axis=0) - below
        radii = proposed[proposed >= 0]
        if 2 * max(self.widths) * (int(radii.max(initial=0)) // STEPS + 1) >= LARGEST_WORD:
            radii = radii.astype(object)
        for place, width in enumerate(self.widths, start=1):
            radii = radii[accepted(radii, width, below + place)]
        return radii

    def of_number(self, place: int, copies: int = 1) -> JointPart:
        """The noise of one of the numbers, which stands at so many places from this one on."""
        return JointPart(self, place, copies)


@dataclass
class Reserve:
    """Vectors that were drawn and not given out yet: drawing a few takes nearly as long as drawing many."""

    vectors: list[tuple[int, ...]]
    refill: int = RESERVE // 2


@lru_cache(maxsize=KEPT)
def reserve_of(_: JointNoise) -> Reserve:
    return Reserve([])


# a forked process has vectors of its own
os.register_at_fork(after_in_child=reserve_of.cache_clear)


def changed(touched: Fraction, cells: int) -> Fraction:
    """S of the theorem."""
    return Fraction(min(STEPS * cells, math.floor(STEPS * touched) + cells))


def end_of(radii: Array, width: int) -> Array:
    """f(r) = floor(r w / L) for each radius, without products that are larger than they need to be."""
    part = width % STEPS
    return radii * (width // STEPS) + radii // STEPS * part + radii % STEPS * part // STEPS


def chance(radii: Array, width: int) -> tuple[Array, Array]:
    """c and m with (2 f(r) + 1) L = 2 w c + m and 0 <= m < 2 w, for each radius.

    Proof: with p = r w mod L, 2 f(r) L = 2 r w - 2 p, so what is beyond 2 w r is L - 2 p, a small number.
    """
    beyond = STEPS - 2 * (radii % STEPS * (width % STEPS) % STEPS)
    return radii + beyond // (2 * width), beyond % (2 * width)


def accepted(radii: Array, width: int, more: int) -> Array:
    """True with probability (2 f(r) + 1) L / (2 w (r + more)) for each radius r.

    Proof: let q be uniform below r + more, and u uniform below 2 w. Then 2 w q + u is uniform below 2 w (r + more), and
    it is below 2 w c + m if q < c, or if q = c and u < m.
    """
    import numpy as np

    whole, rest = chance(radii, width)
    drawn = wholes_below(radii + more)
    found = drawn < whole
    close = np.flatnonzero(drawn == whole)
    found[close] = wholes_below(filled(len(close), 2 * width)) < rest[close]
    return found


def geometric(scale: int, how_many: int) -> Array:
    """Geometric numbers with ratio e**(-1/scale): P(x) proportional to e**(-x/scale), x >= 0.

    Proof: x = u + scale v with 0 <= u < scale, and e**(-x/scale) = e**(-u/scale) e**-v: so u and v are independent; u
    is uniform, kept with probability e**(-u/scale), and v counts what happens with probability 1/e before it does not.
    Source: Canonne, Kamath and Steinke 2020, Algorithm 2.
    """
    import numpy as np

    parts = filled(how_many, scale)
    missing = np.arange(how_many)
    while len(missing):
        parts[missing] = wholes_below(filled(len(missing), scale))
        missing = missing[~happens(parts[missing], scale)]
    wholes = np.zeros(how_many, dtype=np.int64)
    going = np.arange(how_many)
    while len(going):
        going = going[happens(filled(len(going), 1), 1)]
        wholes[going] += 1
    if scale * (int(wholes.max(initial=0)) + 1) * MOST_NUMBERS >= LARGEST_WORD:
        parts, wholes = parts.astype(object), wholes.astype(object)
    return parts + scale * wholes


def happens(numerators: Array, denominator: int) -> Array:
    """True with probability e**-x for each x = numerator / denominator, which is between 0 and 1.

    Proof: the k-th of a sequence of events, each with probability x / k, is the first that fails, and it is later than
    the k-th with probability x**k / k!; that k is odd has probability 1 - x + x**2/2! - x**3/3! … = e**-x.
    Source: Canonne, Kamath and Steinke 2020, Algorithm 1.
    """
    import numpy as np

    found = np.zeros(len(numerators), dtype=bool)
    going = np.arange(len(numerators))
    first = 0
    while len(going):
        first += 1
        later = wholes_below(filled(len(going), denominator * first)) < numerators[going]
        found[going[~later]] = first % 2 == 1
        going = going[later]
    return found


def filled(how_many: int, number: int) -> Array:
    """So many times this number, in 64 bits where they are enough."""
    import numpy as np

    return np.full(how_many, number, dtype=np.int64 if number < LARGEST_WORD else object)


@dataclass(frozen=True)
class JointPart:
    """The noise of one of the numbers of a group, by itself; the price is that of all of them.

    Let Y = G U with G of the Gamma distribution with shape d + 1 and U uniform between -1 and 1. The noise is about
    w s / L times Y; beside numbers that one person changes by little, whole numbers make a difference, which
    half_width() counts. E exp(tY) = ((1 - t)**-d - (1 + t)**-d) / (2 t d) = sum_k c_k t**2k with c_k = (d + 1) …
    (d + 2k) / (2k + 1)!. As c_k / c_(k-1) falls in k, c_k <= c_1**k, hence E exp(tY) <= 1 / (1 - t² b²) with b² = c_1 =
    (d + 1) (d + 2) / 6: what holds for sums of Laplace noise of scale b (gate/margins.py), holds for sums of Y.

    Copies: a number may stand at several places of the vector, with the same width, from `place` on. Its noise is then
    the mean of theirs, which is post-processing of the vector: given the radius they are independent, so the variance
    is that of Y divided by the copies. As exp is convex, E exp(t mean) <= E exp(tY), so the bound on sums holds, too.
    """

    joint: JointNoise
    place: int
    copies: int = 1

    accounting: ClassVar[Accounting] = Accounting.PURE
    shift: ClassVar[int] = 0

    @property
    def width(self) -> int:
        return self.joint.widths[self.place]

    @property
    def spread(self) -> Fraction:
        """The scale of Laplace noise with the same variance."""
        return self._scale(self.copies)

    @property
    def scale_of_sums(self) -> Fraction:
        """b of the theorem, for sums of such noise."""
        return self.spread if self.copies == 1 else self._scale(1)

    def _scale(self, copies: int) -> Fraction:
        d = self.joint.numbers
        return sqrt_above(Fraction((d + 1) * (d + 2), 6 * copies)) * self.width * Fraction(self.joint.scale, STEPS)

    def of_vector(self, drawn: Sequence[int]) -> int:
        """The noise of this number in a vector; a half is rounded to the even number, so that there is no bias."""
        if self.copies == 1:
            return drawn[self.place]
        return round(Fraction(sum(drawn[self.place : self.place + self.copies]), self.copies))

    def added(self, values: Sequence[int], noise: Sequence[int]) -> list[int]:
        """The values with these draws, of which each is used once."""
        return [value + drawn for value, drawn in zip(values, noise, strict=True)]

    def half_width(self, probability: Fraction = USUAL_PROBABILITY) -> int:
        """The smallest integer w with P(|noise| <= w) >= *probability*, or very little above it."""
        missed = float(1 - checked_probability(probability)) * INTEGRAL_MARGIN
        high = 1
        while self.beyond(high) > missed:
            high *= 2
        low = -1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.beyond(middle) <= missed else (middle, high)
        return high

    def beyond(self, least: int) -> float:
        """P(|noise| > least), by an integral over the radius in place of the sum.

        Of copies it is P(mean > least) of continuous numbers, which are off by up to a half beside whole ones, as is
        rounding: noise above `least` is a mean of at least `least` and a half.
        """
        import numpy as np

        radii, weights = _radii(self.joint)
        ends = np.floor(radii * self.width)
        if self.copies > 1:
            return float(np.sum(weights * beyond_mean(least / (ends + 0.5), self.copies)))
        return float(np.sum(weights * np.maximum(ends - least, 0) / (ends + 0.5)))


def beyond_mean(least: Array, copies: int) -> Array:
    """P(|mean of numbers that are uniform between -1 and 1| > least): the law of Irwin and Hall."""
    import numpy as np

    # by symmetry, twice the chance that the sum of numbers between 0 and 1 is at most x
    x = np.clip((1 - np.clip(least, 0, 1)) * copies / 2, 0, None)
    parts = ((-1) ** j * math.comb(copies, j) * np.maximum(x - j, 0) ** copies for j in range(copies + 1))
    return np.where(least < 0, 1.0, np.clip(2 * sum(parts) / math.factorial(copies), 0, 1))


@lru_cache(maxsize=64)
def _radii(noise: JointNoise) -> tuple[Array, Array]:
    """Radii in units of L, as far as any are likely, and the probability of each."""
    import numpy as np

    unit = noise.scale / STEPS
    shape = noise.numbers + 1
    last = unit * (shape + 12 * math.sqrt(shape) + 60)
    radii = (np.arange(POINTS) + 0.5) * (last / POINTS)
    logs = -radii / unit
    for width in noise.widths:
        logs += np.log(2 * np.floor(radii * width) + 1)
    weights = np.exp(logs - logs.max())
    return radii, weights / weights.sum()
