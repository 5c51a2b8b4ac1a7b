"""Linear algebra modulo a prime of 61 bits, on numpy arrays.

What is independent modulo a prime is so over the rationals. What is dependent need not be; but then the prime divides
one of finitely many minors, and a random one does so with a chance of about 2⁻⁵⁰. A caller that relies on a dependence
checks it in exact integers (`Echelon.explained`).
"""

from __future__ import annotations

import secrets
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Residues = NDArray[np.int64]
BITS = 61
# bases for which the test of Miller and Rabin errs on no number below 2⁶⁴ (Sorenson and Webster 2015)
WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
# numerators and denominators that are told apart: 2 · 2⁵⁸ is below the prime
LARGEST_RATIONAL = 2**29


def random_prime() -> int:
    """A prime from 2⁶⁰ to 2⁶¹ that cannot be predicted."""
    while True:
        candidate = secrets.randbits(BITS - 1) | 1 << BITS - 1 | 1
        if is_prime(candidate):
            return candidate


def is_prime(number: int) -> bool:
    if number < 2 or any(number % small == 0 for small in WITNESSES):
        return number in WITNESSES
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for witness in WITNESSES:
        power = pow(witness, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def product(a: NDArray[Any], b: NDArray[Any] | np.int64, prime: int) -> Residues:
    """Elementwise a · b mod prime of residues.

    The quotient is estimated in long doubles, of 64 bits or more, and is off by one at most; the rest is computed
    modulo 2⁶⁴, where only the last digits count.
    """
    a, b = np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64)
    quotient = (a * (np.longdouble(1) / prime) * b).astype(np.int64)
    quotient *= prime
    with np.errstate(over="ignore"):
        rest: Residues = a * b - quotient
    rest += (rest >> 63) & prime
    rest -= prime
    rest += (rest >> 63) & prime
    return rest


def combined(weights: Residues, rows: Residues, prime: int) -> Residues:
    """weights · rows, of residues."""
    used = np.flatnonzero(weights)
    if not len(used):
        return np.zeros(rows.shape[1], dtype=np.int64)
    products = product(weights[used, None], rows[used], prime)
    low = (products & 0x7FFFFFFF).sum(axis=0)
    high = (products >> 31).sum(axis=0) % prime
    whole: Residues = (product(high, np.int64(2**31), prime) + low % prime) % prime
    return whole


class Echelon:
    """The span of integer rows: `rows` has a 1 in each of its `pivots`, where all other rows have 0.

    `sources @ given = rows`, where `given` are the independent rows among those that were added.
    """

    def __init__(self, width: int, prime: int | None = None) -> None:
        self.prime = prime or random_prime()
        self.rows: Residues = np.zeros((0, width), dtype=np.int64)
        self.pivots: list[int] = []
        self.sources: Residues = np.zeros((0, 0), dtype=np.int64)
        self.given: Residues = np.zeros((0, width), dtype=np.int64)

    @property
    def rank(self) -> int:
        return len(self.pivots)

    def rest(self, row: NDArray[Any]) -> tuple[Residues, Residues]:
        """What is left of a row when the span is taken away, and how much of each row was."""
        residues = np.asarray(row, dtype=np.int64) % self.prime
        weights = residues[self.pivots]
        taken = combined(weights, self.rows, self.prime)
        return (residues - taken) % self.prime, weights

    def add(self, row: NDArray[Any], preferred: NDArray[np.bool_]) -> bool | None:
        """Adds a row, with a pivot in a preferred column where there is one.

        True: the row is independent. False: it is in the span over the rationals. None: undecided.
        """
        left, weights = self.rest(row)
        if not left.any():
            return False if self.explained(row, weights) else None
        source = (-combined(weights, self.sources, self.prime)) % self.prime if self.rank else np.zeros(0, np.int64)
        self.sources = np.pad(self.sources, ((0, 1), (0, 1)))
        self.sources[-1, :-1], self.sources[-1, -1] = source, 1
        self.given = np.vstack([self.given, np.asarray(row, dtype=np.int64)])
        self.rows = np.vstack([self.rows, left])
        self.pivots.append(-1)
        self.turn(self.rank - 1, choice(left, preferred))
        return True

    def turn(self, at: int, column: int) -> None:
        """Makes a column, in which this row is not 0, its pivot."""
        inverse = pow(int(self.rows[at, column]), -1, self.prime)
        self.rows[at] = product(self.rows[at], np.int64(inverse), self.prime)
        self.sources[at] = product(self.sources[at], np.int64(inverse), self.prime)
        others = np.flatnonzero(self.rows[:, column])
        others = others[others != at]
        factors = self.rows[others, column][:, None]
        for matrix in (self.rows, self.sources):
            matrix[others] = (matrix[others] - product(factors, matrix[at][None, :], self.prime)) % self.prime
        self.pivots[at] = column

    def prefer(self, preferred: NDArray[np.bool_]) -> None:
        """Moves pivots into preferred columns; a row whose pivot stays outside is 0 in all of them."""
        for at, pivot in enumerate(self.pivots):
            if not preferred[pivot]:
                column = choice(self.rows[at], preferred)
                if preferred[column]:
                    self.turn(at, column)

    def spread(self, parents: NDArray[np.int64]) -> None:
        """Columns are divided: each new one is as `parents` says, or 0 where that is -1."""
        absent = parents < 0
        firsts: dict[int, int] = {}
        for new, old in enumerate(parents.tolist()):
            if old >= 0:
                firsts.setdefault(old, new)
        self.rows, self.given = self.rows[:, parents], self.given[:, parents]
        self.rows[:, absent], self.given[:, absent] = 0, 0
        self.pivots = [firsts[pivot] for pivot in self.pivots]

    def explained(self, row: NDArray[Any], weights: Residues) -> bool:
        """Whether the row is, in exact numbers, the combination of given rows that it is modulo the prime."""
        exact = [rational(int(part), self.prime) for part in combined(weights, self.sources, self.prime)]
        if any(part is None for part in exact):
            return False
        parts = [Fraction(part) for part in exact if part is not None]
        scale = 1
        for part in parts:
            scale = scale * part.denominator // int(np.gcd(scale, part.denominator))
            if scale > LARGEST_RATIONAL:
                return False
        numbers = [int(part * scale) for part in parts]
        # rows have small entries: sums of that many products below 2⁵⁸ could overflow only beyond these
        if sum(map(abs, numbers)) * max(int(np.abs(self.given).max(initial=0)), 1) >= 2**62:
            return False
        return bool((np.array(numbers, dtype=np.int64) @ self.given == scale * np.asarray(row, dtype=np.int64)).all())


def choice(row: Residues, preferred: NDArray[np.bool_]) -> int:
    """A column in which the row is not 0, a preferred one if there is one."""
    there = row != 0
    best = there & preferred
    return int(np.argmax(best if best.any() else there))


def rational(residue: int, prime: int) -> Fraction | None:
    """The fraction of small numbers that is this residue (Wang 1981), if there is one."""
    before, now, left, right = prime, residue, 0, 1
    while now > LARGEST_RATIONAL:
        quotient = before // now
        before, now = now, before - quotient * now
        left, right = right, left - quotient * right
    return Fraction(now, right) if right and abs(right) <= LARGEST_RATIONAL else None
