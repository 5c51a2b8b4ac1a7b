"""Hierarchies: what the values of a quasi-identifier become, level by level, until nothing is left of them.

Level 0 are the values as they are, the last level is one group for all. Each level joins groups of the one below, which
is what makes k-anonymity grow with the level. NULL is a group of its own until the last level.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameterError
from discreet.release.classes import Ints
from discreet.release.tree import Tree

EVERYTHING = "*"
INTEGERS = {"smallint", "integer", "bigint"}
NUMBERS = INTEGERS | {"numeric", "real", "double precision"}
TIMES = {"date", "timestamp without time zone", "timestamp with time zone"}
ISO_DATE = re.compile(r"(\d{4,})-(\d\d)-\d\d[^B]*\Z")
UNITS: dict[str, Callable[[str, str], str]] = {
    "month": lambda year, month: f"{year}-{month}",
    "year": lambda year, month: year,
    "decade": lambda year, month: f"{int(year) // 10}0s",
    "century": lambda year, month: f"{int(year) // 100}00-{int(year) // 100}99",
}
AUTOMATIC_LEVELS = 5
MOST_DIGITS = 100
USAGE = (
    'Give {"intervals": [5, 10, 20]}, {"ranges": [[20, 30, 40]]}, {"digits": 5}, {"truncate": ["month", "year"]}, '
    '{"tree": {…}}, "suppress" or "auto".'
)


@dataclass(frozen=True)
class Values:
    """A column: its name and type, and the texts of its values in order; whether some rows have NULL."""

    name: str
    type_name: str
    texts: Sequence[str]
    null: bool

    @property
    def size(self) -> int:
        """How many codes there are; NULL has the last."""
        return len(self.texts) + self.null


@dataclass(frozen=True)
class Level:
    """The group of each code, and the texts of the groups; None is NULL."""

    name: str
    group: Ints
    labels: tuple[str | None, ...]

    @property
    def loss(self) -> NDArray[np.float64]:
        """Of each code: other values that it can no longer be told from, as a share of all others (Iyengar 2002)."""
        members = np.bincount(self.group, minlength=len(self.labels))
        return (members[self.group] - 1) / max(1, len(self.group) - 1)


@dataclass(frozen=True)
class Hierarchy:
    """All levels of a column; for mondrian, the order of its codes in a tree, if there is one."""

    values: Values
    levels: tuple[Level, ...]
    wish: object
    tree: Tree | None = None

    @classmethod
    def of(cls, values: Values, wish: object) -> Hierarchy:
        tree = _tree(wish)
        if wish in (None, "auto", {}):
            wish = automatic(values)
        levels = [_level(values, "as it is", values.texts)]
        for name, labels in _named_levels(values, wish, tree):
            level = _level(values, name, labels)
            if len(level.labels) == len(levels[-1].labels):
                continue
            _require_nested(values.name, levels[-1], level)
            levels.append(level)
        if len(levels[-1].labels) > 1:
            levels.append(_suppressed(values))
        return cls(values, tuple(levels), wish, tree)

    @classmethod
    def level_of(cls, values: Values, wish: object, name: str) -> Level:
        """The level of this name, whatever the values are by now."""
        if name == "as it is":
            return _level(values, name, values.texts)
        if name == "suppressed":
            return _suppressed(values)
        return _level(values, name, dict(_named_levels(values, wish, _tree(wish)))[name])

    def looks(self, level: str) -> dict[str, list[str]]:
        """The texts that a level was made from: the same values may have others later, as after ALTER TYPE."""
        by_text = isinstance(self.wish, dict) and bool(self.wish.keys() & {"digits", "tree"})
        if not by_text or level in ("as it is", "suppressed"):
            return {}
        return {"looks": list(self.values.texts)}


def _tree(wish: object) -> Tree | None:
    """Beside the tree nothing else is said: what is, is not understood."""
    return Tree.of(wish["tree"]) if isinstance(wish, dict) and wish.keys() == {"tree"} else None


def _level(values: Values, name: str, labels: Sequence[str]) -> Level:
    known: list[str | None] = [*labels, *[None] * values.null]
    codes = {label: code for code, label in enumerate(dict.fromkeys(known))}
    return Level(name, np.array([codes[label] for label in known], dtype=np.int64), tuple(codes))


def _suppressed(values: Values) -> Level:
    return Level("suppressed", np.zeros(values.size, dtype=np.int64), (EVERYTHING,))


def _require_nested(column: str, finer: Level, coarser: Level) -> None:
    pairs = set(zip(finer.group.tolist(), coarser.group.tolist(), strict=True))
    if len(pairs) > len(finer.labels):
        raise InvalidParameterError(
            f"level '{coarser.name}' of {column} splits groups of level '{finer.name}'",
            "Each level joins whole groups of the one before: widths are multiples, cuts are some of the cuts before.",
        )


def _named_levels(values: Values, wish: object, tree: Tree | None) -> list[tuple[str, list[str]]]:
    if tree is not None:
        tree.check(values.name, values.texts)
        return [
            (f"height {height} of the tree", [tree.node(text, height) for text in values.texts])
            for height in range(1, tree.height + 1)
        ]
    if wish == "suppress":
        return []
    if isinstance(wish, dict) and len(wish) == 1:
        ((kind, argument),) = wish.items()
        if kind == "intervals":
            widths = _numbers(values, kind, argument)
            return [(f"intervals of {plain(width)}", _intervals(values, width)) for width in widths]
        if kind == "ranges" and isinstance(argument, list):
            return [
                ("cuts at " + ", ".join(map(plain, cuts)), _ranges(values, cuts))
                for cuts in (_numbers(values, kind, each) for each in argument)
            ]
        if kind == "digits" and isinstance(argument, int | Decimal) and 1 <= argument <= MOST_DIGITS:
            return _digits(values, int(argument))
        if kind == "truncate" and isinstance(argument, list) and argument and set(argument) <= set(UNITS):
            return [(f"by {unit}", _truncated(values, unit)) for unit in argument]
    raise InvalidParameterError(f"the hierarchy of {values.name} is not understood", USAGE)


def _numbers(values: Values, kind: str, argument: object) -> list[Decimal]:
    if values.type_name not in NUMBERS:
        raise InvalidParameterError(f"{values.name} is {values.type_name}, which has no {kind}", USAGE)
    try:
        numbers = [Decimal(str(each)) for each in argument] if isinstance(argument, list) else []
    except InvalidOperation:
        numbers = []
    if not numbers or not all(each.is_finite() for each in numbers) or numbers != sorted(set(numbers)):
        raise InvalidParameterError(f"{kind} of {values.name} are numbers that grow", USAGE)
    if kind == "intervals" and numbers[0] <= 0:
        raise InvalidParameterError(f"intervals of {values.name} must be wider than zero", USAGE)
    return numbers


def plain(number: Decimal) -> str:
    """The one text of a number, however it was written: without exponent, zeros at its end, or the sign of zero."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _number(text: str) -> Decimal | None:
    number = Decimal(text)
    return number if number.is_finite() else None


def interval(values: Values, low: Decimal | None, high: Decimal | None) -> str:
    """The text of low <= value < high; of whole numbers from low to high - 1."""
    if low is None or high is None:
        return f">={plain(low)}" if low is not None else f"<{plain(high)}" if high is not None else EVERYTHING
    if values.type_name in INTEGERS and low == int(low) and high == int(high):
        return span(values, f"{int(low)}", f"{int(high) - 1}")
    return f"[{plain(low)},{plain(high)})"


def span(values: Values, low: str, high: str) -> str:
    """The text of all values from low to high, both included."""
    if low == high:
        return low
    if values.type_name in INTEGERS:
        return f"{low} to {high}" if low.startswith("-") else f"{low}-{high}"
    return f"{low} to {high}" if values.type_name in TIMES else f"[{low},{high}]"


def _intervals(values: Values, width: Decimal) -> list[str]:
    labels = []
    for text in values.texts:
        number = _number(text)
        if number is None:
            labels.append(text)
            continue
        low = (number / width).to_integral_value("ROUND_FLOOR") * width
        labels.append(interval(values, low, low + width))
    return labels


def _ranges(values: Values, cuts: list[Decimal]) -> list[str]:
    labels = []
    for text in values.texts:
        number = _number(text)
        if number is None:
            labels.append(text)
            continue
        place = bisect_right(cuts, number)
        labels.append(interval(values, cuts[place - 1] if place else None, cuts[place] if place < len(cuts) else None))
    return labels


def _digits(values: Values, digits: int) -> list[tuple[str, list[str]]]:
    padded = [text.rjust(digits, "0") if values.type_name in INTEGERS else text for text in values.texts]
    return [
        (f"{kept} digits", [text[:kept] + EVERYTHING * (digits - kept) for text in padded])
        for kept in range(digits - 1, 0, -1)
    ]


def _truncated(values: Values, unit: str) -> list[str]:
    if values.type_name not in TIMES:
        raise InvalidParameterError(f"{values.name} is {values.type_name}, which cannot be truncated", USAGE)
    found = [(text, ISO_DATE.match(text)) for text in values.texts]
    return [text if match is None else UNITS[unit](match[1], match[2]) for text, match in found]


def automatic(values: Values) -> object:
    """Numbers: widths that double, the widest about the whole range; times: month to century; digits; else none."""
    if values.type_name in TIMES:
        return {"truncate": list(UNITS)}
    if values.type_name in NUMBERS:
        numbers = [number for text in values.texts if (number := _number(text)) is not None]
        widest = numbers[-1] - numbers[0] if numbers else Decimal(0)
        if not widest:
            return "suppress"
        # five times a power of ten, doubled: 5, 10, 20, 40 for ages
        unit = Decimal(5).scaleb((widest / (5 * 2**AUTOMATIC_LEVELS)).adjusted() + 1)
        if values.type_name in INTEGERS:
            unit = max(unit, Decimal(5) if widest >= 20 else Decimal(2))
        widths = [unit * 2**step for step in range(AUTOMATIC_LEVELS) if unit * 2**step <= widest]
        return {"intervals": widths} if widths else "suppress"
    lengths = {len(text) for text in values.texts}
    if len(lengths) == 1 and all(text.isdigit() for text in values.texts) and 1 < min(lengths) <= MOST_DIGITS:
        return {"digits": lengths.pop()}
    return "suppress"
