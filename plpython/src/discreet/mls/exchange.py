"""Labels in the syntax of others: Oracle Label Security, and visibility expressions of Accumulo.

A visibility is satisfied by a set of sessions, and a label by those that dominate it. An expression is read as the one
label that is satisfied by the same sessions, all of which have one group, or none: AND is the least upper bound. OR is
the lower of two comparable labels; of labels that differ in their groups alone it is a label that names the groups of
both. Every other OR is satisfied by sessions that have no lowest label in common, so it is refused. That an OR is exact
follows since a session of group g dominates what g may read: g reads a union when it reads a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from discreet.core.errors import InvalidParameterError
from discreet.core.quoting import element
from discreet.mls.labels import FIRST_COMPARTMENT, NO_GROUPS, Lattice, dominates

LONGEST = 4096
MOST_NESTED = 50
TOKEN = re.compile(r"""\s*(?:(?P<sign>[&|()])|(?P<name>[A-Za-z0-9_\-:./]+)|"(?P<quoted>(?:[^"\\]|\\["\\])*)")""")
PLAIN = re.compile(r"[A-Za-z0-9_\-:./]+")


def wrong(text: str, why: str) -> InvalidParameterError:
    return InvalidParameterError(
        f'"{text}" is no visibility expression: {why}', "It has the form S&NATO&(EU|US), with & and | in parentheses."
    )


@dataclass
class Reader:
    """Reads an expression from left to right, and gives the bits of its label."""

    known: Lattice
    text: str
    tokens: list[tuple[str, str]]
    labels: dict[str, list[str]]
    place: int = 0

    def next_is(self, kind: str, *values: str) -> bool:
        return (
            self.place < len(self.tokens)
            and self.tokens[self.place][0] == kind
            and (not values or self.tokens[self.place][1] in values)
        )

    def take(self) -> str:
        self.place += 1
        return self.tokens[self.place - 1][1]

    def whole(self, depth: int = 0) -> int:
        """Terms between signs of one kind."""
        if depth > MOST_NESTED:
            raise wrong(self.text, "it is nested too deeply")
        bits = self.term(depth)
        sign = ""
        while self.next_is("sign", "&", "|"):
            found = self.take()
            if sign not in ("", found):
                raise wrong(self.text, "it has & beside |")
            sign = found
            other = self.term(depth)
            bits = bits | other if sign == "&" else self.either(bits, other)
        return bits

    def term(self, depth: int) -> int:
        if self.next_is("name"):
            return self.named(self.take())
        if not self.next_is("sign", "("):
            raise wrong(self.text, "a name is missing")
        self.take()
        bits = self.whole(depth + 1)
        if not self.next_is("sign", ")"):
            raise wrong(self.text, "a parenthesis is not closed")
        self.take()
        return bits

    def named(self, name: str) -> int:
        for label in self.labels.get(name, ()):
            return self.known.bits(label)
        raise InvalidParameterError(
            f'"{name}" is no level, compartment or group', "Name it with discreet.mls_define() before you import."
        )

    def either(self, one: int, other: int) -> int:
        if dominates(one, other):
            return other
        if dominates(other, one):
            return one
        groups = self.known.every_reader
        if one & ~groups == other & ~groups and one & groups and other & groups:
            return one & other
        raise InvalidParameterError(
            f'"{self.text}" cannot be expressed as a label: {self.known.text(one)} or {self.known.text(other)}',
            "A label has all of its compartments, and any one of its groups: make groups of what stands beside |.",
        )


def labels_of(known: Lattice) -> dict[str, list[str]]:
    """Each name that stands in an expression, as a label of its own."""
    lowest = known.levels[0]
    found: dict[str, list[str]] = {}
    for names, label in (
        (known.levels, "{}"),
        (known.compartments, lowest + ":{}"),
        ([group.name for group in known.groups], lowest + "::{}"),
    ):
        for name in names:
            found.setdefault(name, []).append(label.format(name))
    for name, labels in found.items():
        if len(labels) > 1:
            raise InvalidParameterError(
                f'"{name}" is the name of several of: a level, a compartment, a group',
                "Visibility expressions do not tell them apart.",
            )
    return found


def tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while text[place:].strip():
        found = TOKEN.match(text, place)
        if found is None:
            raise wrong(text, f"it has {text[place:].strip()[0]!r} in it")
        place = found.end()
        if found["sign"]:
            yield "sign", found["sign"]
        else:
            quoted = found["quoted"]
            yield "name", found["name"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)


def from_accumulo(known: Lattice, text: str) -> int:
    reader = Reader(known, text, list(tokens(text)), labels_of(known))
    if not reader.tokens:
        return 0  # seen by all
    bits = reader.whole()
    if reader.place < len(reader.tokens):
        raise wrong(text, "a parenthesis is closed that was not opened")
    return bits


def to_accumulo(known: Lattice, bits: int) -> str:
    """The lowest level goes without saying; a reader holds the levels and groups below its own."""
    labels_of(known)
    height = (bits & ((1 << FIRST_COMPARTMENT) - 1)).bit_count()
    inside = [name for place, name in enumerate(known.compartments) if bits >> (FIRST_COMPARTMENT + place) & 1]
    groups = [known.groups[place].name for place in known.named_groups(bits) or ()]
    parts = [quoted(name) for name in ([known.levels[height]] if height else []) + inside]
    if groups:
        either = "|".join(map(quoted, groups))
        parts.append(f"({either})" if len(groups) > 1 and parts else either)
    return "&".join(parts)


def quoted(name: str) -> str:
    return name if PLAIN.fullmatch(name) else element(name)


def from_oracle(known: Lattice, text: str) -> int:
    """Oracle writes the same three parts, and may leave colons at the end."""
    if text.endswith(f":{NO_GROUPS}"):
        raise InvalidParameterError(f'there is no group "{NO_GROUPS}"', "No label of Oracle is above all groups.")
    return known.bits(text.rstrip(":"))


def to_oracle(known: Lattice, bits: int) -> str:
    return known.text(bits)


IMPORTS: dict[str, Callable[[Lattice, str], int]] = {"oracle": from_oracle, "accumulo": from_accumulo}
EXPORTS: dict[str, Callable[[Lattice, int], str]] = {"oracle": to_oracle, "accumulo": to_accumulo}


def known_format(name: str) -> str:
    if name not in IMPORTS:
        raise InvalidParameterError(f'there is no format "{name}"', f"Formats are: {', '.join(IMPORTS)}.")
    return name


def imported(known: Lattice, label: str, form: str) -> str:
    if len(label) > LONGEST:
        raise InvalidParameterError(f"the label is longer than {LONGEST} characters", "No label is that long.")
    return known.text(IMPORTS[known_format(form)](known, label))


def exported(known: Lattice, label: str, form: str) -> str:
    if len(label) > LONGEST:
        raise InvalidParameterError(f"the label is longer than {LONGEST} characters", "No label is that long.")
    bits = known.bits(label)
    if known.named_groups(bits) == ():
        raise InvalidParameterError(
            f"label {label} is above all groups, which has no counterpart elsewhere", "Give the rows a group."
        )
    return EXPORTS[known_format(form)](known, bits)
