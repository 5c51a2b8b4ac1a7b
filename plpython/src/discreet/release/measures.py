"""k-anonymity, l-diversity and t-closeness of a table, from how its classes are composed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np

from discreet.core.declarations import given, one_of
from discreet.core.errors import InvalidParameterError, LimitExceededError
from discreet.release import closeness, diversity
from discreet.release.classes import Composition, Ints, People, numbered, summed
from discreet.release.tree import Tree

KINDS = ("distinct", "entropy", "recursive")
DISTANCES = ("equal", "ordered", "hierarchical")
NULLS = ("own", "wildcard", "conservative")

# rows of one class times rows that may belong to it, when NULL may be anything
MOST_PAIRS = 50_000_000


@dataclass(frozen=True)
class Diversity:
    """Which l is meant; c is that of recursive (c, l)-diversity."""

    kind: str = "distinct"
    c: Fraction = Fraction(1)

    @classmethod
    def of(cls, kind: str | None, c: Decimal | None) -> Diversity:
        number = given("c", c)
        if not number.is_finite() or number <= 0:
            raise InvalidParameterError(f"c is {number}, but must be above zero", "Usual values are 1 to 3.")
        return cls(one_of("kind", kind, KINDS), Fraction(number))

    def measured(self, composition: Composition) -> float:
        if self.kind == "distinct":
            return diversity.distinct(composition)
        if self.kind == "entropy":
            return diversity.entropy(composition)
        return diversity.recursive(composition, self.c)


@dataclass(frozen=True)
class Closeness:
    """Which t is meant; the tree is that of the hierarchical distance."""

    distance: str = "equal"
    tree: Tree | None = None

    @classmethod
    def of(cls, distance: str | None, hierarchy: object) -> Closeness:
        chosen = one_of("distance", distance, DISTANCES)
        if (chosen == "hierarchical") != (hierarchy is not None):
            raise InvalidParameterError(
                "a hierarchy is for distance 'hierarchical', which needs one",
                """Give hierarchy => '{"tree": {"any": {"cold": ["flu", "cough"], "heart": ["attack"]}}}' or so.""",
            )
        return cls(chosen, None if hierarchy is None else Tree.balanced(hierarchy))

    def measured(self, composition: Composition, column: str, values: list[str]) -> Fraction:
        if self.tree is None:
            return (closeness.equal if self.distance == "equal" else closeness.ordered)(composition).largest()
        self.tree.check(column, values)
        return closeness.hierarchical(composition, node_levels(self.tree, values, composition.values))


def node_levels(tree: Tree, values: list[str], coded: int) -> list[tuple[Ints, int]]:
    """For each height below the node over all, that of every value; NULL, when it is there, is a node of its own."""
    levels = []
    for height in range(tree.common_height):
        nodes = [tree.node(value, height) for value in values] + [None] * (coded - len(values))
        codes = {node: code for code, node in enumerate(dict.fromkeys(nodes))}
        levels.append((np.array([codes[node] for node in nodes], dtype=np.int64), len(codes)))
    return levels


def wildcard_classes(quasi_identifiers: list[Ints], count: Ints) -> tuple[Ints, Ints, Ints]:
    """Classes when NULL may be anything: the class of a row is all rows that agree wherever neither has a NULL.

    Gives the class of each combination, and pairs (class, combination that may belong to it). Classes overlap then.
    """
    class_of, classes = numbered(quasi_identifiers)
    first = np.full(classes, len(count), dtype=np.int64)
    np.minimum.at(first, class_of, np.arange(len(count), dtype=np.int64))
    empty = np.stack([column < 0 for column in quasi_identifiers])
    pattern_of, patterns = numbered([part.astype(np.int64) for part in empty])
    members_of = [np.flatnonzero(pattern_of == pattern) for pattern in range(patterns)]
    targets, sources = [], []
    pairs = 0
    for mine in members_of:
        ours = mine[first[class_of[mine]] == mine]
        for theirs in members_of:
            known = np.flatnonzero(~(empty[:, mine[0]] | empty[:, theirs[0]]))
            both = np.concatenate([ours, theirs])
            key = numbered([quasi_identifiers[place][both] for place in known])[0] if len(known) else 0 * both
            order = np.argsort(key[len(ours) :], kind="stable")
            their_keys = key[len(ours) :][order]
            low = np.searchsorted(their_keys, key[: len(ours)], side="left")
            high = np.searchsorted(their_keys, key[: len(ours)], side="right")
            pairs += int((high - low).sum())
            if pairs > MOST_PAIRS:
                raise LimitExceededError(
                    "there are too many rows with NULL to try what each could be",
                    "Measure with nulls => 'own' or 'conservative'.",
                )
            lengths = high - low
            offsets = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            targets.append(np.repeat(class_of[ours], lengths))
            sources.append(theirs[order[np.repeat(low, lengths) + offsets]])
    return class_of, np.concatenate(targets), np.concatenate(sources)


def wildcard_composition(
    quasi_identifiers: list[Ints], sensitive: Ints, count: Ints, values: int, person: Ints | None = None
) -> Composition:
    """What each class may be made of. Classes overlap, so the totals are those of the table, not of the classes.

    `person` says whose each row is, where a person may have several.
    """
    class_of, target, source = wildcard_classes(quasi_identifiers, count)
    classes = int(class_of.max()) + 1
    people = None if person is None else People.of(len(source), np.arange(len(source)), person[source])
    overlapping = Composition.of(target, classes, sensitive[source], count[source], values, people)
    return replace(overlapping, totals=summed(sensitive, count, values))


def all_measures(sensitive: list[str], compositions: list[Composition]) -> Iterator[tuple[str, str | None, float]]:
    """k, and every l and t that needs no further choice."""
    yield "k", None, int(compositions[0].people.min())
    for name, composition in zip(sensitive, compositions, strict=True):
        yield "distinct l", name, diversity.distinct(composition)
        yield "entropy l", name, diversity.entropy(composition)
        yield "recursive l, c = 1", name, diversity.recursive(composition, Fraction(1))
        yield "equal t", name, float(closeness.equal(composition).largest())
        yield "ordered t", name, float(closeness.ordered(composition).largest())
