"""Census-style reconstruction: from its published tables, the inhabitants of a small block are computed one by one.

The attacker lists every block of people that fits the tables (Garfinkel, Abowd and Martindale 2019). Where a single one
fits, sex, age and origin of each inhabitant are known, though no table shows all three.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

SEXES, AGES, ORIGINS = ("f", "m"), ("child", "adult", "old"), ("here", "abroad")
LEAVES = tuple(product(SEXES, AGES, ORIGINS))
MOST = 99  # people in a cell of which nothing is known

Block = tuple[int, ...]
Known = list[tuple[frozenset[int], int, int]]


def members(cell: tuple[str, ...]) -> frozenset[int]:
    """The leaves that a cell counts; Total stands for all."""
    return frozenset(
        number
        for number, leaf in enumerate(LEAVES)
        if all(label in ("Total", value) for label, value in zip(cell, leaf, strict=True))
    )


def two_way_cells() -> Iterator[tuple[str, ...]]:
    """The cells of the three tables of two dimensions."""
    for at, kept in enumerate(((AGES, ORIGINS), (SEXES, ORIGINS), (SEXES, AGES))):
        for pair in product(*kept):
            yield (*pair[:at], "Total", *pair[at:])


def known_from(rows: list[tuple[str, str, str, int]], slack: int = 0) -> Known:
    """What cells tell whose numbers are within `slack` of the truth."""
    return [(members((sex, age, origin)), max(n - slack, 0), n + slack) for sex, age, origin, n in rows]


def empty_cells(known: Known) -> Known:
    """Cells that a GROUP BY does not show are known to be empty."""
    shown = {leaves for leaves, _, _ in known}
    return [(members(cell), 0, 0) for cell in two_way_cells() if members(cell) not in shown]


def blocks(known: Known, most: int = 3000) -> Iterator[Block]:
    """The first blocks of people in which each known set of leaves has from its lower to its upper number of them."""
    sizes = [0] * len(LEAVES)
    highest = [
        min((upper for leaves, _, upper in known if number in leaves), default=MOST) for number in range(len(LEAVES))
    ]

    def fits(number: int) -> bool:
        for leaves, lower, upper in known:
            so_far = sum(sizes[leaf] for leaf in leaves if leaf <= number)
            still = sum(highest[leaf] for leaf in leaves if leaf > number)
            if so_far > upper or so_far + still < lower:
                return False
        return True

    def fill(number: int) -> Iterator[Block]:
        if number == len(LEAVES):
            yield tuple(sizes)
            return
        for people in range(highest[number] + 1):
            sizes[number] = people
            if fits(number):
                yield from fill(number + 1)
        sizes[number] = 0

    for count, found in enumerate(fill(0)):
        if count == most:
            return
        yield found
