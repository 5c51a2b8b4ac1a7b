"""Between which ends the value of an expression lies because its SQL keeps it there, and not by a curator's wish.

An interval of a `raw` expression is a wish. What is shown here holds of every row: a count is not below 0, the least of
a value and 20 is not above 20. One end may be known without the other: GREATEST(x, 0) around LEAST(x, 20) gives both,
whatever x is, NaN and the infinities included, since PostgreSQL orders NaN above all numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Literal

from discreet.gate.intervals import Interval
from discreet.gate.tree import Choice, Constant, Duration, Expression, Output, Placed, Within

Ends = tuple[Fraction | None, Fraction | None]
RANKS = frozenset(["row_number", "rank", "dense_rank"])


def ends(value: Expression) -> Ends:
    """The least and the greatest value, where they are known; of an interval, in seconds."""
    if isinstance(value, Constant) and isinstance(value.value, Duration):
        return value.value.length, value.value.length
    if value.raw is None and value.interval is not None:
        return value.interval.lower, value.interval.upper
    if isinstance(value, Output):
        return ends(value.origin)
    if isinstance(value, Within) and value.name == "count":
        return Fraction(0), None
    if isinstance(value, Placed) and value.name in RANKS:
        return Fraction(1), None
    if isinstance(value, Choice) and value.word != "COALESCE":
        return of_choice(value.word, value.values)
    return None, None


def of_choice(word: Literal["GREATEST", "LEAST"], among: Iterable[Expression]) -> Ends:
    """LEAST is not above any of its values that is never NULL; NULLs among the others do not count."""
    values = [value for value in among if not value.is_null]
    found = [ends(value) for value in values]
    lowers, uppers = ([pair[side] for pair in found] for side in (0, 1))
    never_null = [pair for pair, value in zip(found, values, strict=True) if not value.nullable]
    if word == "LEAST":
        below = [upper for _, upper in never_null if upper is not None]
        return least(lowers), min(below) if below else greatest(uppers)
    above = [lower for lower, _ in never_null if lower is not None]
    return max(above) if above else least(lowers), greatest(uppers)


def least(numbers: Sequence[Fraction | None]) -> Fraction | None:
    known = [number for number in numbers if number is not None]
    return min(known) if known and len(known) == len(numbers) else None


def greatest(numbers: Sequence[Fraction | None]) -> Fraction | None:
    known = [number for number in numbers if number is not None]
    return max(known) if known and len(known) == len(numbers) else None


def interval_of(word: Literal["GREATEST", "LEAST"], values: Sequence[Expression]) -> Interval | None:
    lower, upper = of_choice(word, values)
    return None if lower is None or upper is None else Interval.of(lower, upper)
