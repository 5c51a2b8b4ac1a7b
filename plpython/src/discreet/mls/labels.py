"""Labels: a level plus compartments, as one bitset."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.errors import InvalidParameterError

MOST_LEVELS = 16
MOST_COMPARTMENTS = 47
FIRST_COMPARTMENT = MOST_LEVELS - 1
LONGEST_NAME = 63
MOST_JOINS = 1024


@dataclass(frozen=True)
class Lattice:
    """All labels there are: levels, lowest first, and compartments.

    A label is a bitset: the level in thermometer code (level n has the n lowest bits), and a bit for each compartment.
    So `a` dominates `b` when b & ~a is 0, the least upper bound of two labels is a | b and the greatest lower bound
    a & b, and all of it stays true when levels are added at the top, or compartments.
    """

    levels: tuple[str, ...]
    compartments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.levels:
            raise InvalidParameterError("there is no level", "Name the levels, the lowest first: ARRAY['U', 'C', 'S'].")
        for kind, names, most in (
            ("level", self.levels, MOST_LEVELS),
            ("compartment", self.compartments, MOST_COMPARTMENTS),
        ):
            if len(names) > most:
                raise InvalidParameterError(f"{len(names)} {kind}s are too many", f"There can be {most}.")
            for name in names:
                check_name(kind, name)
            if len(set(names)) < len(names):
                raise InvalidParameterError(f"a {kind} is named twice", "Name each once.")

    def bits(self, label: str) -> int:
        """The bitset of a label that is written as S or S:CRYPTO,NATO."""
        level, colon, listed = label.partition(":")
        if level not in self.levels:
            raise InvalidParameterError(f'there is no level "{level}"', f"Levels are: {', '.join(self.levels)}.")
        bits = (1 << self.levels.index(level)) - 1
        for name in listed.split(",") if colon else ():
            if name not in self.compartments:
                raise InvalidParameterError(
                    f'there is no compartment "{name}"',
                    f"Compartments are: {', '.join(self.compartments)}." if self.compartments else "There are none.",
                )
            bits |= 1 << (FIRST_COMPARTMENT + self.compartments.index(name))
        return bits

    @property
    def top(self) -> int:
        """The label that dominates all others."""
        return (1 << (len(self.levels) - 1)) - 1 | ((1 << len(self.compartments)) - 1) << FIRST_COMPARTMENT

    def text(self, bits: int) -> str:
        """The label as it is written; compartments in the order in which they were defined."""
        height = (bits & ((1 << FIRST_COMPARTMENT) - 1)).bit_count()
        inside = [name for place, name in enumerate(self.compartments) if bits >> (FIRST_COMPARTMENT + place) & 1]
        return self.levels[height] + (":" + ",".join(inside) if inside else "")

    def extends(self, old: Lattice) -> bool:
        """Whether all labels of an older lattice keep their bits and their names."""
        return (
            self.levels[: len(old.levels)] == old.levels
            and self.compartments[: len(old.compartments)] == old.compartments
        )


def check_name(kind: str, name: str) -> None:
    # an array of arrays has lists
    if not isinstance(name, str) or not name or name != name.strip() or len(name.encode()) > LONGEST_NAME:
        raise InvalidParameterError(f'"{name}" is no name for a {kind}', "Give it a short name of its own.")
    if set(name) & set(":,{}\"'"):
        raise InvalidParameterError(
            f'"{name}" is no name for a {kind}', "Colons, commas, braces and quotes have a meaning in labels."
        )


def dominates(high: int, low: int) -> bool:
    return low & ~high == 0


def joins(label: int, others: list[int]) -> list[int]:
    """The least upper bounds of a label and any of the others."""
    found = {label}
    for other in others:
        found |= {each | other for each in found}
        if len(found) > MOST_JOINS:
            raise InvalidParameterError(
                "the entity has versions at too many labels", "Settle some of them with discreet.mls_uplevel()."
            )
    return sorted(found)
