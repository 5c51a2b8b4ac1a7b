"""Labels: a level, compartments and groups, as one bitset."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from discreet.core.errors import InvalidParameterError
from discreet.core.syntax import Json

MOST_LEVELS = 16
# compartments have bits from FIRST_COMPARTMENT upwards, groups from LAST_GROUP downwards
MOST_COMPARTMENTS = 47
FIRST_COMPARTMENT = MOST_LEVELS - 1
WITHOUT_GROUP = FIRST_COMPARTMENT + MOST_COMPARTMENTS - 1
LAST_GROUP = WITHOUT_GROUP - 1
MOST_GROUPS = MOST_COMPARTMENTS - 1
NO_GROUPS = "-"
LONGEST_NAME = 63
MOST_JOINS = 1024


@dataclass(frozen=True)
class Group:
    """`parent`: its place among the groups, before its own; None for a root."""

    name: str
    parent: int | None = None


@dataclass(frozen=True)
class Lattice:
    """All labels there are: levels, lowest first, compartments, and a tree of groups.

    A label is a bitset: the level in thermometer code (level n has the n lowest bits), a bit for each compartment, and
    a bit for each group whose sessions may *not* read it. A session of a group may read what names a group of its
    subtree; so a label that names groups may be read by these and all above them. Sessions without a group are one
    reader more: they may read what names no groups.

    So `a` dominates `b` when b & ~a is 0: it has the level and the compartments, and readers of `a` may read `b`.
    The least upper bound of two labels is a | b (the readers of both), the greatest lower bound a & b. All of it stays
    true when levels are added at the top, or compartments. Groups cannot be added to labels in use: sessions of a new
    one would read what names others.
    """

    levels: tuple[str, ...]
    compartments: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()

    def __post_init__(self) -> None:
        if not self.levels:
            raise InvalidParameterError("there is no level", "Name the levels, the lowest first: ARRAY['U', 'C', 'S'].")
        for kind, names, most in (
            ("level", self.levels, MOST_LEVELS),
            ("compartment", self.compartments, MOST_COMPARTMENTS),
            ("group", tuple(group.name for group in self.groups), MOST_GROUPS),
        ):
            if len(names) > most:
                raise InvalidParameterError(f"{len(names)} {kind}s are too many", f"There can be {most}.")
            for name in names:
                check_name(kind, name)
            if len(set(names)) < len(names):
                raise InvalidParameterError(f"a {kind} is named twice", "Name each once.")
        if self.groups and len(self.compartments) + len(self.groups) > MOST_GROUPS:
            raise InvalidParameterError(
                f"{len(self.compartments)} compartments and {len(self.groups)} groups do not fit into a label",
                f"Together there can be {MOST_GROUPS}.",
            )

    def bits(self, label: str) -> int:
        """The bitset of a label that is written as S, S:CRYPTO,NATO, S:NATO:EU,US or S::EU."""
        level, *rest = label.split(":")
        if len(rest) > 2:
            raise InvalidParameterError(
                f'label "{label}" has more than three parts', "It is a level, compartments and groups: S:NATO:EU,US."
            )
        if level not in self.levels:
            raise InvalidParameterError(f'there is no level "{level}"', f"Levels are: {', '.join(self.levels)}.")
        bits = (1 << self.levels.index(level)) - 1
        for name in rest[0].split(",") if rest and (rest[0] or len(rest) == 1) else ():
            if name not in self.compartments:
                raise InvalidParameterError(
                    f'there is no compartment "{name}"',
                    f"Compartments are: {', '.join(self.compartments)}." if self.compartments else "There are none.",
                )
            bits |= 1 << (FIRST_COMPARTMENT + self.compartments.index(name))
        return bits | (self._denied(rest[1]) if len(rest) == 2 else 0)

    def _denied(self, listed: str) -> int:
        """The readers that a list of groups leaves out."""
        names = [group.name for group in self.groups]
        may_read = 0
        for name in listed.split(",") if listed != NO_GROUPS or not self.groups else ():
            if name not in names:
                raise InvalidParameterError(
                    f'there is no group "{name}"', f"Groups are: {', '.join(names)}." if names else "There are none."
                )
            may_read |= self._readers[names.index(name)]
        return self.every_reader & ~may_read

    @cached_property
    def _readers(self) -> tuple[int, ...]:
        """Of what names a group: its own sessions, and those of all groups above it."""
        found: list[int] = []
        for place, group in enumerate(self.groups):
            found.append(1 << (LAST_GROUP - place) | (0 if group.parent is None else found[group.parent]))
        return tuple(found)

    @cached_property
    def every_reader(self) -> int:
        return sum(1 << (LAST_GROUP - place) for place in range(len(self.groups))) | (
            1 << WITHOUT_GROUP if self.groups else 0
        )

    @property
    def top(self) -> int:
        """The label that dominates all others."""
        compartments = ((1 << len(self.compartments)) - 1) << FIRST_COMPARTMENT
        return (1 << (len(self.levels) - 1)) - 1 | compartments | self.every_reader

    def named_groups(self, bits: int) -> tuple[int, ...] | None:
        """The places of the groups that a label names; none at all is above all groups, and None is below them."""
        if not bits & self.every_reader:
            return None
        may_read = [place for place in range(len(self.groups)) if not bits >> (LAST_GROUP - place) & 1]
        implied = {self.groups[place].parent for place in may_read}
        return tuple(place for place in may_read if place not in implied)

    def text(self, bits: int) -> str:
        """The label as it is written; compartments and groups in the order in which they were defined."""
        height = (bits & ((1 << FIRST_COMPARTMENT) - 1)).bit_count()
        inside = [name for place, name in enumerate(self.compartments) if bits >> (FIRST_COMPARTMENT + place) & 1]
        named = self.named_groups(bits)
        if named is None:
            return self.levels[height] + (":" + ",".join(inside) if inside else "")
        groups = ",".join(self.groups[place].name for place in named) or NO_GROUPS
        return f"{self.levels[height]}:{','.join(inside)}:{groups}"

    def extends(self, old: Lattice) -> bool:
        """Whether all labels of an older lattice keep their bits and their names."""
        return (
            self.levels[: len(old.levels)] == old.levels
            and self.compartments[: len(old.compartments)] == old.compartments
            and old.groups in ((), self.groups)
        )

    def one_group(self, label: str, bits: int) -> None:
        """Refuses a label of a session that names several groups."""
        named = self.named_groups(bits)
        if named is not None and len(named) > 1:
            raise InvalidParameterError(
                f"label {label} names several groups, and a session has one",
                "Name one group, which has all that are below it; a group above both reads what either may.",
            )


def tree(groups: Json) -> tuple[Group, ...]:
    """Groups from a tree in JSON: an object with a subtree for each group, or an array of groups without subtrees."""
    found: list[Group] = []

    def add(level: Json, parent: int | None, depth: int) -> None:
        if depth > MOST_GROUPS:
            raise InvalidParameterError("the tree of groups is too deep", f"There can be {MOST_GROUPS} groups.")
        if isinstance(level, list):
            level = dict.fromkeys(map(named, level)) if len(set(map(str, level))) == len(level) else twice()
        if level is not None and not isinstance(level, dict):
            raise InvalidParameterError(
                "the groups are not given as a tree", """Write them as {"EU": {"FR": {}, "DE": {}}, "US": {}}."""
            )
        for name, below in (level or {}).items():
            found.append(Group(name, parent))
            if len(found) > MOST_GROUPS:
                raise InvalidParameterError("the groups are too many", f"There can be {MOST_GROUPS}.")
            add(below, len(found) - 1, depth + 1)

    add(groups, None, 0)
    return tuple(found)


def named(group: Json) -> str:
    if not isinstance(group, str):
        raise InvalidParameterError("a group in an array is not a name", """Write ["EU", "US"].""")
    return group


def twice() -> Json:
    raise InvalidParameterError("a group is named twice", "Name each once.")


def check_name(kind: str, name: str) -> None:
    # an array of arrays has lists
    if not isinstance(name, str) or not name or name != name.strip() or len(name.encode()) > LONGEST_NAME:
        raise InvalidParameterError(f'"{name}" is no name for a {kind}', "Give it a short name of its own.")
    if kind == "group" and name == NO_GROUPS:
        raise InvalidParameterError(f'"{name}" is no name for a group', "It stands for the label above all groups.")
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
