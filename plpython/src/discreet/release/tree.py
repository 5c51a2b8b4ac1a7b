"""A tree over the values of a column: what a value becomes when it is generalised, and how far apart two values are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from discreet.core.errors import InvalidParameterError

EXAMPLE = '{"Any": {"Medical": ["nurse", "doctor"], "Technical": ["engineer"]}}'
SHOWN = 5


@dataclass(frozen=True)
class Tree:
    """`above` has for each leaf the nodes over it, the root last. Leaves keep the order in which they are written."""

    above: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, document: object) -> Tree:
        """From nested objects and arrays: keys are nodes, strings in arrays are leaves."""
        if not isinstance(document, dict) or not document:
            raise InvalidParameterError("a tree is an object", f"For example {EXAMPLE}.")
        if len(document) > 1:
            document = {"*": document}
        above: dict[str, tuple[str, ...]] = {}
        for leaf, nodes in _leaves(document, ()):
            if leaf in above:
                raise InvalidParameterError(f"'{leaf}' is in the tree twice", "Every value has one place in it.")
            above[leaf] = nodes
        if not above:
            raise InvalidParameterError("the tree has no leaves", f"For example {EXAMPLE}.")
        _require_one_place(above)
        return cls(above)

    @classmethod
    def balanced(cls, hierarchy: object) -> Tree:
        """That of {"tree": …}, or of the tree alone, whose leaves all have the same depth: distances are by height."""
        if isinstance(hierarchy, dict) and "tree" in hierarchy:
            if len(hierarchy) > 1:
                others = ", ".join(f"'{key}'" for key in sorted(hierarchy) if key != "tree")
                raise InvalidParameterError(
                    f"a hierarchy with 'tree' has no other keys, but there are {others}",
                    f'For example {{"tree": {EXAMPLE}}}.',
                )
            hierarchy = hierarchy["tree"]
        tree = cls.of(hierarchy)
        high = next((leaf for leaf, nodes in tree.above.items() if len(nodes) < tree.height), None)
        if high is not None:
            raise InvalidParameterError(
                f"'{high}' hangs higher in the tree than other values, which leaves its distance from them open",
                "Put it into a node of its own at each level that others have.",
            )
        return tree

    @cached_property
    def height(self) -> int:
        return max(map(len, self.above.values()))

    @property
    def common_height(self) -> int:
        """That of the lowest node over all leaves: nodes above it are in no path between two leaves."""
        shared = (len({self.node(leaf, height) for leaf in self.above}) == 1 for height in range(1, self.height + 1))
        return 1 + list(shared).index(True)

    def node(self, value: str, height: int) -> str:
        """The node of this height over a value; a leaf that hangs higher than others stays itself for longer."""
        nodes = self.above[value]
        step = height - (self.height - len(nodes))
        return value if step <= 0 else nodes[step - 1]

    def check(self, column: str, values: Sequence[str]) -> None:
        missing = [value for value in values if value not in self.above]
        if missing:
            listed = ", ".join(f"'{value}'" for value in missing[:SHOWN]) + (", …" if len(missing) > SHOWN else "")
            raise InvalidParameterError(
                f"the tree of {column} lacks {listed}", "Every value of the column is a leaf of its tree."
            )


def _leaves(node: object, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(node, str):
        yield node, above
    elif isinstance(node, list):
        for child in node:
            if isinstance(child, list):
                raise InvalidParameterError("a list in a list is no part of a tree", f"For example {EXAMPLE}.")
            yield from _leaves(child, above)
    elif isinstance(node, dict):
        for name, child in node.items():
            yield from _leaves(child, (name, *above))
    else:
        raise InvalidParameterError(f"{node} is no part of a tree", "Leaves are strings, nodes are objects.")


def _require_one_place(above: dict[str, tuple[str, ...]]) -> None:
    """Two nodes of one name would be one group; so would a leaf and a node that is elsewhere."""
    places: dict[str, tuple[str, ...]] = {}
    for leaf, nodes in above.items():
        for number, node in enumerate(nodes):
            over = nodes[number + 1 :]
            if places.setdefault(node, over) != over or (node in above and node not in above[node]):
                raise InvalidParameterError(f"'{node}' is in the tree twice", "Every node has one place in it.")
        if nodes.count(leaf) > 1:
            raise InvalidParameterError(f"'{leaf}' is in the tree twice", "Every node has one place in it.")
