"""What rules of functions are made of: how one is called, and arguments that must be constants or short texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.gate.refusal import refuse
from discreet.gate.schema import Family
from discreet.gate.tree import BLANK_PADDED, TEXT, Constant, Expression, Type
from discreet.gate.values import LONGEST_TEXT, as_family, beginning, content, is_untyped, number_constant

WHOLE = Type(Family.INT)
INTEGER = Type(Family.INT, "integer")


@dataclass(frozen=True)
class FunctionRule:
    """A function that is let in: how it is written, and what it becomes."""

    usage: str
    arity: tuple[int, int]
    build: Callable[[list[Expression], object], Expression]

    def compile(self, arguments: list[Expression], node: object) -> Expression:
        if not self.arity[0] <= len(arguments) <= self.arity[1]:
            refuse(f"a call that is not {self.usage}", node)
        return self.build(arguments, node)


def constant_text(value: Expression, choices: tuple[str, ...], node: object) -> Constant:
    text = content(value)
    if text is None or text.lower() not in choices:
        refuse("a field that is not known", node, f"Known are: {', '.join(choices)}.")
    return Constant(text.lower(), type=TEXT, nullable=False)


def constant_words(value: Expression, most: int, node: object) -> Constant:
    """A constant text of at most so many characters."""
    text = content(value)
    if text is None or value.family is not Family.TEXT or len(text) > most:
        refuse(f"an argument that is not a constant text of at most {most} characters", node)
    return Constant(text, type=TEXT, nullable=False)


def constant_whole(value: Expression, least: int, node: object, most: int = 10**6) -> Constant:
    if is_untyped(value):
        value = as_family(value, Family.INT, node)
    if not value.constant or value.interval is None or value.family is not Family.INT:
        refuse("an argument that is not a constant whole number", node)
    number = value.interval.lower
    if not least <= number <= most:
        refuse(f"an argument that is not from {least} to {most}", node)
    return number_constant(number, Family.INT)


def constant_number(value: Expression, node: object) -> Fraction:
    if is_untyped(value):
        value = as_family(value, Family.NUMERIC, node)
    if not value.constant or value.interval is None:
        refuse("an argument that is not a constant number", node)
    return value.interval.lower


def text_of(value: Expression, node: object, most: int = LONGEST_TEXT) -> Expression:
    """The beginning of a text, which is all that a text function sees of it."""
    if value.family is not Family.TEXT:
        refuse(f"a text function on {value.kind_name}", node)
    return beginning(value, most)


def with_blanks(value: Expression, most: int) -> Expression:
    """The beginning of a text; of a character(n) with the blanks at its end, for functions that see them."""
    return beginning(value, most, padded=value.type.name == BLANK_PADDED)
