"""Names for columns of an answer, where no two may share one. Imports nothing: servers use it without the parser."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST_NAME = 63  # bytes


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, of which no two are the same: the first column keeps its name, others get one that no column has."""
    taken, seen = set(names), set[str]()
    unique = []
    for name in names:
        unique.append(free_name(name, taken) if name in seen else name)
        seen.add(name)
    return unique


def free_name(wanted: str, taken: set[str]) -> str:
    """The name, with a number where it is taken, as short as PostgreSQL wants names; it is taken from now on."""
    numbered = (shortened(wanted, f"_{number}") for number in range(2, len(taken) + 3))
    name = next(name for name in (shortened(wanted), *numbered) if name not in taken)
    taken.add(name)
    return name


def shortened(name: str, end: str = "") -> str:
    """As much of a name as PostgreSQL keeps, in whole characters, and its end."""
    return name.encode()[: LONGEST_NAME - len(end)].decode(errors="ignore") + end
