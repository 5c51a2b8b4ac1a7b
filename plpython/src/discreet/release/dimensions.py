"""The columns that span a cross table, each with the tree of its values: leaves are values, the root is the total."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameterError, LimitExceededError
from discreet.core.syntax import Json

Path = tuple[str, ...]
MISSING = "(none)"
# of a dimension: which node is in which other is kept in a matrix
MOST_NODES = 4000
KINDS = 'Give {"tree": …}, {"columns": ["county", "state"]} or {"prefixes": [1, 3]}.'


@dataclass(frozen=True)
class Dimension:
    """Nodes are numbered: leaves first, then groups, the total last. Each but the total has one parent."""

    name: str
    labels: tuple[str, ...]
    parents: tuple[int, ...]
    leaves: int

    @classmethod
    def of(cls, name: str, paths: Mapping[str, Path], total: str) -> Dimension:
        """From the groups above each leaf, the nearest first; all of them are below the total."""
        if not paths:
            raise InvalidParameterError(f"there is nothing in dimension {name}", "Give a relation that has rows.")
        parents: dict[str, str] = {}
        for leaf, path in paths.items():
            for child, parent in zip((leaf, *path), (*path, total), strict=True):
                known = parents.setdefault(child, parent)
                if known != parent or child == total or (child in paths and child != leaf):
                    raise InvalidParameterError(
                        f"{child} has two places in dimension {name}: below {known}, and below {parent}"
                        if known != parent
                        else f"{child} is both a value and a group of dimension {name}",
                        "Every value and every group needs a name of its own, and one group above it.",
                    )
        if len(parents) >= MOST_NODES:
            raise LimitExceededError(
                f"dimension {name} has more than {MOST_NODES} values and groups",
                "Merge values, in a view over the cells.",
            )
        labels = (*paths, *(node for node in parents if node not in paths), total)
        number = {label: index for index, label in enumerate(labels)}
        return cls(name, labels, (*(number[parents[label]] for label in labels[:-1]), -1), len(paths))

    @property
    def root(self) -> int:
        return len(self.labels) - 1

    @cached_property
    def sums(self) -> NDArray[np.int64]:
        """For each leaf, ones at the nodes that it is counted in: itself, its groups, the total."""
        matrix = np.zeros((self.leaves, len(self.labels)), dtype=np.int64)
        for leaf in range(self.leaves):
            node = leaf
            while node >= 0:
                matrix[leaf, node] = 1
                node = self.parents[node]
        return matrix

    @cached_property
    def within(self) -> NDArray[np.bool_]:
        """Whether all leaves of the one node (row) are leaves of the other (column)."""
        # of floats, which hold counts up to MOST_NODES exactly: libraries multiply these fast
        sums = self.sums.astype(np.float32)
        shared = sums.T @ sums
        return np.asarray(shared == np.diag(shared)[:, None])

    @cached_property
    def children(self) -> dict[int, list[int]]:
        below: dict[int, list[int]] = {}
        for child, parent in enumerate(self.parents[:-1]):
            below.setdefault(parent, []).append(child)
        return below


def all_cells(dimensions: tuple[Dimension, ...], leaves: NDArray[np.int64]) -> NDArray[np.int64]:
    """The whole table with its margins, from the cells of the leaves."""
    table = leaves
    for dimension in dimensions:
        table = np.tensordot(table, dimension.sums, axes=(0, 0))
    return table


def tree_paths(name: str, tree: Json) -> dict[str, Path]:
    """The groups above each leaf of a tree in JSON: {"North": ["a", "b"], "South": {"S1": ["c"]}}."""
    paths: dict[str, Path] = {}

    def walk(below: Json, above: Path) -> None:
        if isinstance(below, dict):
            for label, rest in below.items():
                walk(rest, (label, *above))
        elif isinstance(below, list):
            for leaf in below:
                if not isinstance(leaf, str | int | float) or isinstance(leaf, bool):
                    raise InvalidParameterError(f"the tree of {name} has a leaf that is no text", KINDS)
                if str(leaf) in paths:
                    raise InvalidParameterError(f"{leaf} stands twice in the tree of {name}", "Name each value once.")
                paths[str(leaf)] = above
        else:
            raise InvalidParameterError(f"the tree of {name} is not made of objects and lists", KINDS)

    walk(tree, ())
    return paths


def prefix_path(value: str, lengths: Iterable[int]) -> Path:
    return tuple(f"{value[:length]}*" for length in sorted(lengths, reverse=True) if length < len(value))


@dataclass(frozen=True)
class Hierarchy:
    """What was said about the groups of a dimension."""

    name: str
    kind: str = "flat"
    groups: Json = ()

    @classmethod
    def of(cls, name: str, given: Json) -> Hierarchy:
        if given is None:
            return cls(name)
        if isinstance(given, dict) and len(given) == 1:
            ((kind, groups),) = given.items()
            if kind == "tree":
                return cls(name, kind, tree_paths(name, groups))
            if kind == "columns" and isinstance(groups, list) and all(isinstance(each, str) for each in groups):
                return cls(name, kind, tuple(groups))
            if (
                kind == "prefixes"
                and isinstance(groups, list)
                and all(isinstance(each, int) and not isinstance(each, bool) and each > 0 for each in groups)
            ):
                return cls(name, kind, tuple(sorted(set(groups))))
        raise InvalidParameterError(f"the hierarchy of {name} is none", KINDS)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the relation that name the groups of a row, the nearest first."""
        return self.groups if self.kind == "columns" else ()

    def dimension(self, rows: Iterable[Path], total: str) -> Dimension:
        """From the values that are there; with each come the groups that columns name."""
        paths: dict[str, Path] = {}
        for value, *groups in sorted(set(rows)):
            if self.kind == "tree":
                if value not in self.groups:
                    raise InvalidParameterError(
                        f"the tree of {self.name} has no {value}", "Name every value that is in the column."
                    )
                path = self.groups[value]
            else:
                path = prefix_path(value, self.groups) if self.kind == "prefixes" else tuple(groups)
            if paths.setdefault(value, path) != path:
                raise InvalidParameterError(
                    f"{value} of {self.name} belongs to several groups: {', '.join(paths[value])}; {', '.join(path)}",
                    "A value must be in one group of each level.",
                )
        return Dimension.of(self.name, paths, total)
