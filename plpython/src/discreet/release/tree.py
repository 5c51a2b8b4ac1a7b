"""A tree over the values of a column: what a value becomes when it is generalised, and how far apart two values are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
        return cls(above)

    @property
    def height(self) -> int:
        return max(map(len, self.above.values()))

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
            yield from _leaves(child, above)
    elif isinstance(node, dict):
        for name, child in node.items():
            yield from _leaves(child, (name, *above))
    else:
        raise InvalidParameterError(f"{node} is no part of a tree", "Leaves are strings, nodes are objects.")
