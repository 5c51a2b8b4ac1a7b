"""Junction trees: which attributes a graphical model has to look at together.

Attributes are numbers, and a clique is an ascending tuple of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Clique = tuple[int, ...]
CELL_BYTES = 8


@dataclass(frozen=True)
class Step:
    """One attribute of an elimination order, and its neighbours that are eliminated after it."""

    attribute: int
    later: Clique

    @property
    def clique(self) -> Clique:
        return tuple(sorted((self.attribute, *self.later)))


@dataclass(frozen=True)
class Link:
    """An edge of the tree, from a clique to its parent; -1: the clique is the root of a tree."""

    clique: int
    parent: int
    separator: Clique


@dataclass(frozen=True)
class JunctionTree:
    """Maximal cliques of a triangulated graph; `links` name every clique after its parent.

    The distribution of a model is the product over `steps` of p(attribute | later): what was eliminated last is drawn
    first. Attributes of `first` are eliminated before all others, so the others' values can be given beforehand, and
    the rest is drawn from the exact conditional distribution.
    """

    steps: tuple[Step, ...]
    cliques: tuple[Clique, ...]
    links: tuple[Link, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], measured: Iterable[Clique], first: frozenset[int] = frozenset()) -> JunctionTree:
        steps = eliminated(sizes, measured, first)
        assert steps is not None
        cliques = _maximal([step.clique for step in steps])
        return cls(steps, cliques, _links(cliques))

    def holder(self, clique: Clique) -> int | None:
        """The number of a clique that holds this one."""
        wanted = set(clique)
        return next((n for n, each in enumerate(self.cliques) if wanted.issubset(each)), None)


def cells(sizes: Sequence[int], clique: Iterable[int]) -> int:
    return math.prod(sizes[attribute] for attribute in clique)


def eliminated(
    sizes: Sequence[int], measured: Iterable[Clique], first: frozenset[int], most_bytes: float = math.inf
) -> tuple[Step, ...] | None:
    """A greedy elimination order, by the least clique; None where its cliques would take more than `most_bytes`."""
    neighbours = [0] * len(sizes)
    for clique in measured:
        mask = sum(1 << attribute for attribute in clique)
        for attribute in clique:
            neighbours[attribute] |= mask & ~(1 << attribute)
    weights = [cells(sizes, _bits(mask)) * sizes[a] for a, mask in enumerate(neighbours)]
    early = set(first)
    left = set(range(len(sizes)))
    steps: list[Step] = []
    total = 0
    while left:
        chosen = min(early or left, key=lambda a: (weights[a], a))
        mask = neighbours[chosen]
        if not _is_within(chosen, mask, steps):
            total += weights[chosen] * CELL_BYTES
        if total > most_bytes:
            return None
        later = tuple(_bits(mask))
        steps.append(Step(chosen, later))
        left.discard(chosen)
        early.discard(chosen)
        for other in later:
            neighbours[other] = (neighbours[other] | mask) & ~(1 << other) & ~(1 << chosen)
        for other in later:
            weights[other] = cells(sizes, _bits(neighbours[other])) * sizes[other]
    return tuple(steps)


def fits(sizes: Sequence[int], measured: Iterable[Clique], first: frozenset[int], most_bytes: float) -> bool:
    """Whether a model of these cliques stays below a size. Decided by what was released, never by data."""
    return eliminated(sizes, measured, first, most_bytes) is not None


def _is_within(chosen: int, mask: int, steps: Sequence[Step]) -> bool:
    """Whether the clique of this elimination is part of an earlier one, and so takes no room."""
    wanted = {chosen, *_bits(mask)}
    return any(wanted <= set(step.clique) for step in steps)


def _bits(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _maximal(cliques: Sequence[Clique]) -> tuple[Clique, ...]:
    kept: list[Clique] = []
    for clique in sorted(set(cliques), key=lambda c: (-len(c), c)):
        if not any(set(clique) <= set(other) for other in kept):
            kept.append(clique)
    return tuple(kept)


def _links(cliques: Sequence[Clique]) -> tuple[Link, ...]:
    """A spanning tree with the largest separators, which is a junction tree (Jensen and Jensen 1994)."""
    left = set(range(1, len(cliques)))
    links = [Link(0, -1, ())] if cliques else []
    best = {n: (len(set(cliques[n]) & set(cliques[0])), 0) for n in left}
    while left:
        chosen = max(left, key=lambda n: (best[n][0], -n))
        shared, parent = best[chosen]
        separator = tuple(sorted(set(cliques[chosen]) & set(cliques[parent])))
        links.append(Link(chosen, parent if shared else -1, separator))
        left.discard(chosen)
        for other in left:
            common = len(set(cliques[other]) & set(cliques[chosen]))
            if common > best[other][0]:
                best[other] = (common, chosen)
    return tuple(links)
