"""A vector of a space that touches few people: that there is none is shown, or one is found, or it stays undecided.

Columns come in blocks, the versions of one atom; a vector touches a block when it is not zero on it, and weighs as many
people as the blocks that it touches have. Modulo a prime an integer vector without common divisor is not zero, and
touches no more than over the rationals: so "there is none" is exact, whatever the prime.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audited.modular import Residues, product

# Products modulo the prime, some tenths of a second of them; then it stays undecided. A step costs as much as so many.
MOST_WORK = 10_000_000
STEP = 20_000


class TooMuchWorkError(Exception):
    """The bound is reached."""


def touches_few(
    space: Residues, atoms: NDArray[Any], people: NDArray[Any], least: int, prime: int, most_work: int = MOST_WORK
) -> bool | None:
    """Whether a vector that is not zero weighs less than `least`; None: not found out.

    `space` has independent rows; `atoms` says in ascending order which block a column is in, `people` its size.
    """
    search = Search(atoms, people, least, prime, most_work)
    try:
        verdict = search.by_information_sets(space)
        if verdict is None and search.leaves(len(space)) * STEP <= most_work:
            verdict = search.by_branches(space, 0, frozenset())
        return verdict
    except TooMuchWorkError:
        return None


class Search:
    def __init__(self, atoms: NDArray[Any], people: NDArray[Any], least: int, prime: int, most_work: int) -> None:
        used, self._starts, self._blocks = np.unique(atoms, return_index=True, return_inverse=True)
        self._sizes = people[used]
        self._least = least
        self._prime = prime
        self._left = most_work

    def work(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            raise TooMuchWorkError

    def touched(self, space: Residues) -> NDArray[np.bool_]:
        """Which blocks each row touches."""
        there: NDArray[np.bool_] = space != 0
        alone = len(self._starts) == space.shape[1]
        return there if alone else np.logical_or.reduceat(there, self._starts, axis=1)

    def clear(self, space: Residues, pivot: int, column: int) -> None:
        """Makes the rows zero in a column, but for one that is 1 there."""
        others = np.flatnonzero(space[:, column])
        others = others[others != pivot]
        self.work((len(others) + 1) * space.shape[1])
        inverse = pow(int(space[pivot, column]), -1, self._prime)
        space[pivot] = product(space[pivot], np.int64(inverse), self._prime)
        there = np.flatnonzero(space[pivot])
        changed = np.ix_(others, there)
        taken = product(space[others, column][:, None], space[pivot, there][None, :], self._prime)
        rest = space[changed] - taken
        rest += (rest >> 63) & self._prime
        space[changed] = rest

    def by_information_sets(self, space: Residues) -> bool | None:
        """After Brouwer and Zimmermann: blocks that determine a vector are touched by every vector that is not zero.

        Of such a set the space has an echelon form. Its rows are the vectors that touch the set once; all others touch
        it twice. If no row weighs less, a vector that does touches twice each of several disjoint sets.
        """
        if bool((self.touched(space) @ self._sizes < self._least).any()):
            return True
        space, free, reached = space.copy(), np.ones(len(self._sizes), dtype=bool), 0
        while reached < self._least:
            chosen: list[int] = []
            for row in range(len(space)):
                here = self.touched(space[row : row + 1])[0] & free
                if not here.any():
                    return None
                block = int(np.argmax(np.where(here, self._sizes, 0)))
                start = int(self._starts[block])
                self.clear(space, row, start + int(np.argmax(space[row, start:] != 0)))
                free[block] = False
                chosen.append(block)
            if bool((self.touched(space) @ self._sizes < self._least).any()):
                return True
            if len(space) == 1:
                return False
            reached += int(np.sort(self._sizes[chosen])[:2].sum())
        return False

    def leaves(self, dimension: int) -> int:
        """Branches at least: as many blocks as fit are touched, all but one dimension taken away, in any order."""
        fit = int((np.cumsum(np.sort(self._sizes)[::-1]) < self._least).sum())
        return math.comb(dimension - 1 + fit, fit)

    def by_branches(self, space: Residues, touched: int, decided: frozenset[int]) -> bool:
        """A block is either touched, which adds its people, or not, which makes the space smaller.

        The vector looked for is on the branch that agrees with it.
        """
        if not len(space):
            return False
        self.work(space.size + STEP)
        there = np.flatnonzero(self.touched(space).any(axis=0))
        if len(space) == 1:
            return bool(self._sizes[there].sum() < self._least)
        open_blocks = [block for block in there.tolist() if block not in decided]
        if not open_blocks:
            return True
        block = max(open_blocks, key=lambda one: int(self._sizes[one]))
        size = int(self._sizes[block])
        if self.by_branches(self.without(space, block), touched, decided):
            return True
        return touched + size < self._least and self.by_branches(space, touched + size, decided | {block})

    def without(self, space: Residues, block: int) -> Residues:
        """The vectors that are zero on a block."""
        space = space.copy()
        for column in np.flatnonzero(self._blocks == block):
            (there,) = space[:, column].nonzero()
            if len(there):
                self.clear(space, int(there[0]), int(column))
                space = np.delete(space, there[0], axis=0)
        return space
