"""What two releases of the same people tell together: groups that neither shows, found by subtracting classes.

Each release puts people into classes, or leaves them out. People who share both classes are an atom. Known are the sums
over classes; so the number of people in an atom, and which sensitive values they have, follow exactly when the edge
between its two classes is in no cycle of the graph whose nodes are the classes of both releases: the solutions of these
sums differ by cycles. The attacker is taken to know which atoms are not empty, and how many were left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.release.classes import Ints, People, numbered, summed

LEFT_OUT = -1


@dataclass(frozen=True)
class Isolated:
    """People who are told apart: in class `old` and in class `new`, or in `old` or `new` less all classes inside it."""

    old: int
    new: int
    rows: int
    inside: str = "both"


def isolated(
    old: Ints, new: Ints, count: Ints, old_sizes: Ints, new_sizes: Ints, k: int, people: People | None = None
) -> list[Isolated]:
    """Groups of fewer than k people that the two releases tell apart; smallest first.

    `old` and `new` are the classes of each combination by now, -1 where it is left out; the sizes are as published.
    `people` says who is in which combination, where a person may be in several.
    """
    seen = (old >= 0) | (new >= 0)
    edge, edges = numbered([old[seen], new[seen]])
    rows = summed(edge, count[seen], edges) if people is None else people.only(np.flatnonzero(seen)).within(edge, edges)
    first, second = np.zeros(edges, dtype=np.int64), np.zeros(edges, dtype=np.int64)
    first[edge], second[edge] = old[seen], new[seen]
    found = [
        Isolated(int(first[each]), int(second[each]), int(rows[each]))
        for each in bridges(first, second)
        if rows[each] < k
    ]
    old_known, new_known = {each.old for each in found}, {each.new for each in found}
    inside = np.flatnonzero(seen)
    here = None if people is None else people.only(inside)
    for each in (
        *_rests("old", first, second, edge, count[inside], old_sizes, new_sizes, k, here),
        *_rests("new", second, first, edge, count[inside], new_sizes, old_sizes, k, here),
    ):
        if each.old not in old_known if each.inside == "old" else each.new not in new_known:
            found.append(each)
    return sorted(found, key=lambda each: (each.rows, each.old, each.new))


def _rests(
    name: str, outer: Ints, inner: Ints, edge: Ints, count: Ints, outer_sizes: Ints, inner_sizes: Ints, k: int,
    people: People | None,
) -> Iterator[Isolated]:  # fmt: skip
    """Classes less all classes of the other release inside them; by published sizes, so that who came or left shows.

    What is left is what is there now, and what came or left: of those at least as many people as it takes for so many
    rows, when no person has more than the one with most.
    """
    parts = np.bincount(inner[inner >= 0], minlength=len(inner_sizes))
    whole = (inner >= 0) & (outer >= 0)
    whole[whole] = parts[inner[whole]] == 1
    held = np.zeros(len(outer_sizes), dtype=np.int64)
    np.add.at(held, outer[whole], inner_sizes[inner[whole]])
    rest = outer_sizes - held
    least = np.abs(rest)
    if people is not None:
        class_of = outer[edge]
        loose = np.flatnonzero(~whole[edge] & (class_of >= 0))
        there = summed(class_of[loose], count[loose], len(outer_sizes))
        known = people.only(loose).within(class_of[loose], len(outer_sizes))
        most = people.most_rows(class_of, count, len(outer_sizes))
        came = -(-np.abs(rest - there) // np.maximum(most, 1))
        least = np.where(rest >= there, known + came, np.where(rest > 0, known + rest - there, came))
    for place in np.flatnonzero((held > 0) & (rest != 0) & (least < k)).tolist():
        pair = (place, LEFT_OUT) if name == "old" else (LEFT_OUT, place)
        yield Isolated(*pair, abs(int(rest[place])), name)


def bridges(first: Ints, second: Ints) -> list[int]:
    """Edges that are in no cycle, of a graph without double edges between old and new classes (Tarjan 1974)."""
    left = int(first.max(initial=-1)) + 2
    ends = [(first + 1).tolist(), (second + 1 + left).tolist()]
    nodes = left + int(second.max(initial=-1)) + 2
    near: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for edge, (a, b) in enumerate(zip(*ends, strict=True)):
        near[a].append((b, edge))
        near[b].append((a, edge))
    order = [0] * nodes
    low = [0] * nodes
    found: list[int] = []
    clock = 0
    for root in range(nodes):
        if order[root] or not near[root]:
            continue
        clock += 1
        order[root] = low[root] = clock
        path = [(root, -1, iter(near[root]))]
        while path:
            node, came_by, rest = path[-1]
            step = next(rest, None)
            if step is None:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[node])
                    if low[node] > order[above]:
                        found.append(came_by)
            elif step[1] != came_by:
                to, edge = step
                if order[to]:
                    low[node] = min(low[node], order[to])
                else:
                    clock += 1
                    order[to] = low[to] = clock
                    path.append((to, edge, iter(near[to])))
    return found
