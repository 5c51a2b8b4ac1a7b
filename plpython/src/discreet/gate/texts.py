"""Functions of texts: parts, replacements, patterns, values of JSON. Each sees the beginning of a text only."""

from __future__ import annotations

import re
from collections.abc import Callable

from discreet.gate.calls import (
    INTEGER,
    FunctionRule,
    constant_text,
    constant_whole,
    constant_words,
    text_of,
    with_blanks,
)
from discreet.gate.intervals import Interval
from discreet.gate.patterns import LONGEST_MATCHED, LONGEST_SEARCHED, refuse_slow
from discreet.gate.refusal import refuse
from discreet.gate.schema import NUMBERS, Family
from discreet.gate.tree import (
    BOOLEAN,
    TEXT,
    AnyElement,
    Call,
    Cast,
    Constant,
    Conversion,
    Expression,
    Matches,
)
from discreet.gate.values import (
    LONGEST_KEY,
    LONGEST_TEXT,
    as_family,
    beginning,
    boolean_constant,
    content,
    is_untyped,
)

LONGEST_WORDS = 100
LONGEST_PADDED = 1000
MOST_JOINED = 50
TRUE_OR_FALSE = (boolean_constant(True), boolean_constant(False))
JSON = frozenset(["json", "jsonb"])
# flags of regexp_replace() and the like; others change how a pattern is read
FLAGS = ("", "g", "i", "gi", "ig", "c")
# functions whose result is an array, of which an element can be taken
ELEMENTS_OF_PATTERNS = ("regexp_match", "regexp_split_to_array")
ELEMENTS = {
    "text[]": Family.TEXT, "character varying[]": Family.TEXT, "smallint[]": Family.INT, "integer[]": Family.INT,
    "bigint[]": Family.INT, "numeric[]": Family.NUMERIC, "boolean[]": Family.BOOL, "date[]": Family.DATE,
}  # fmt: skip


def text_function(native: str) -> Callable[[list[Expression], object], Expression]:
    def build(arguments: list[Expression], node: object) -> Expression:
        return Call(native, (text_of(arguments[0], node),), type=TEXT)

    return build


def trimmed(native: str) -> Callable[[list[Expression], object], Expression]:
    """btrim() and its like, of blanks or of constant characters."""

    def build(arguments: list[Expression], node: object) -> Expression:
        words = [constant_words(each, LONGEST_WORDS, node) for each in arguments[1:]]
        return Call(native, (text_of(arguments[0], node), *words), type=TEXT)

    return build


def overlaid(arguments: list[Expression], node: object) -> Expression:
    """overlay(text PLACING 'new' FROM n [FOR m])."""
    words = constant_words(arguments[1], LONGEST_WORDS, node)
    start = constant_whole(arguments[2], 1, node)
    length = [constant_whole(each, 0, node) for each in arguments[3:]]
    return Call("overlay", (text_of(arguments[0], node), words, start, *length), type=TEXT)


def text_length(arguments: list[Expression], node: object) -> Expression:
    return Call("length", (text_of(arguments[0], node),), type=INTEGER, interval=Interval.of(0, LONGEST_TEXT))


def bytes_of_text(arguments: list[Expression], node: object) -> Expression:
    text_of(arguments[0], node)
    text = with_blanks(arguments[0], LONGEST_TEXT)
    return Call("octet_length", (text,), type=INTEGER, interval=Interval.of(0, LONGEST_TEXT))


def text_end(native: str) -> Callable[[list[Expression], object], Expression]:
    def build(arguments: list[Expression], node: object) -> Expression:
        return Call(native, (text_of(arguments[0], node), constant_whole(arguments[1], 0, node)), type=TEXT)

    return build


def text_part(arguments: list[Expression], node: object) -> Expression:
    if len(arguments) == 2 and content(arguments[1]) is not None:
        return searched("substring")(arguments, node)
    start = constant_whole(arguments[1], 1, node)
    length = [constant_whole(each, 0, node) for each in arguments[2:]]
    return Call("substr", (text_of(arguments[0], node), start, *length), type=TEXT)


def text_position(arguments: list[Expression], node: object) -> Expression:
    inside, wanted = (text_of(argument, node) for argument in arguments)
    return Call("strpos", (inside, wanted), type=INTEGER, interval=Interval.of(0, LONGEST_TEXT))


def replaced(native: str) -> Callable[[list[Expression], object], Expression]:
    """replace() and translate(), with constants; a text grows at most as many times as the constant has characters."""

    def build(arguments: list[Expression], node: object) -> Expression:
        words = [constant_words(each, LONGEST_WORDS, node) for each in arguments[1:]]
        return Call(native, (text_of(arguments[0], node), *words), type=TEXT)

    return build


def split_part(arguments: list[Expression], node: object) -> Expression:
    place = constant_whole(arguments[2], -(10**6), node)
    assert place.interval is not None
    if place.interval.lower == 0:
        refuse("split_part() with place 0", node)
    words = constant_words(arguments[1], LONGEST_WORDS, node)
    return Call("split_part", (text_of(arguments[0], node), words, place), type=TEXT)


def padded(native: str) -> Callable[[list[Expression], object], Expression]:
    def build(arguments: list[Expression], node: object) -> Expression:
        length = constant_whole(arguments[1], 0, node, LONGEST_PADDED)
        fill = [constant_words(each, LONGEST_WORDS, node) for each in arguments[2:]]
        return Call(native, (text_of(arguments[0], node), length, *fill), type=TEXT)

    return build


def joined(arguments: list[Expression], node: object) -> Expression:
    """concat(): NULL is nothing."""
    return Call("concat", tuple(written(each, node) for each in arguments), type=TEXT, nullable=False)


def joined_with(arguments: list[Expression], node: object) -> Expression:
    """concat_ws(): NULL is left out."""
    between = constant_words(arguments[0], LONGEST_WORDS, node)
    return Call("concat_ws", (between, *(written(each, node) for each in arguments[1:])), type=TEXT, nullable=False)


def written(value: Expression, node: object) -> Expression:
    """The beginning of what a value is written as, where no setting has a part in that."""
    if value.is_null:
        return beginning(Constant(None, type=TEXT), LONGEST_KEY)
    value = as_family(value, Family.TEXT, node)
    if value.family is Family.BOOL:  # functions write t, a cast true
        return beginning(Conversion(value, "text", type=TEXT), LONGEST_KEY)
    if value.family in NUMBERS:
        value = Cast(value, "text", type=TEXT)
    if value.family is not Family.TEXT:
        refuse(f"concat() of {value.kind_name}", node, "Write it as text first, for example with to_char().")
    return with_blanks(value, LONGEST_KEY)


# -- patterns


def matched(name: str, value: Expression, pattern: Expression, node: object, padded: bool = True) -> Expression:
    """value ~ 'pattern', with name one of ~ !~ ~* !~*; `padded`: it sees the blanks of a character(n)."""
    text = content(pattern)
    if value.family is not Family.TEXT or text is None:
        refuse("a regular expression other than of text with a constant pattern", node)
    refuse_slow(text, node)
    seen = with_blanks(value, LONGEST_MATCHED) if padded else beginning(value, LONGEST_MATCHED)
    return Matches(name, seen, text, type=BOOLEAN, domain=TRUE_OR_FALSE)


def pattern_of(value: Expression, node: object) -> Constant:
    words = constant_words(value, 10**6, node)
    refuse_slow(words.content or "", node)
    return words


def searched(native: str) -> Callable[[list[Expression], object], Expression]:
    """The part of a text that a pattern means."""

    def build(arguments: list[Expression], node: object) -> Expression:
        text = text_of(arguments[0], node, LONGEST_SEARCHED)
        return Call(native, (text, pattern_of(arguments[1], node)), type=TEXT)

    return build


def pattern_number(native: str) -> Callable[[list[Expression], object], Expression]:
    """How often a pattern is found, or where first."""

    def build(arguments: list[Expression], node: object) -> Expression:
        text = text_of(arguments[0], node, LONGEST_SEARCHED)
        interval = Interval.of(0, LONGEST_SEARCHED + 1)
        return Call(native, (text, pattern_of(arguments[1], node)), type=INTEGER, interval=interval)

    return build


def found_element(name: str, arguments: list[Expression], place: Expression, node: object) -> Expression:
    """(regexp_match(text, 'pattern' [, 'i']))[n] and (regexp_split_to_array(text, 'pattern' [, 'i']))[n].

    An array has no element at a place that it lacks: the value is NULL. Other flags change how a pattern is read.
    """
    if name not in ELEMENTS_OF_PATTERNS or not 2 <= len(arguments) <= 3:
        refuse(f"an element of {name}()", node)
    flags = [constant_text(each, ("", "i", "c"), node) for each in arguments[2:]]
    number = constant_whole(place, 1, node, LONGEST_SEARCHED)
    text = text_of(arguments[0], node, LONGEST_SEARCHED)
    return Call(name, (text, pattern_of(arguments[1], node), *flags, number), type=TEXT)


def pattern_replaced(arguments: list[Expression], node: object) -> Expression:
    words = constant_words(arguments[2], LONGEST_WORDS, node)
    if re.search(r"\\[0-9&]", words.content or ""):
        refuse("regexp_replace() with a part of what was found", node, "substring(text FROM 'pattern') gives a part.")
    flags = [constant_text(each, FLAGS, node) for each in arguments[3:]]
    text = text_of(arguments[0], node, LONGEST_SEARCHED)
    return Call("regexp_replace", (text, pattern_of(arguments[1], node), words, *flags), type=TEXT)


def pattern_found(arguments: list[Expression], node: object) -> Expression:
    flags = content(constant_text(arguments[2], ("", "i", "c"), node)) if len(arguments) > 2 else ""
    return matched("~*" if flags == "i" else "~", arguments[0], arguments[1], node, padded=False)


def starts_with(arguments: list[Expression], node: object) -> Expression:
    words = constant_words(arguments[1], LONGEST_WORDS, node)
    return Call("starts_with", (text_of(arguments[0], node), words), type=BOOLEAN, domain=TRUE_OR_FALSE)


# -- values that hold others


def member(name: str, value: Expression, key: Expression, node: object) -> Expression:
    """value -> key or value ->> key: of a JSON object by name, of an array by number; NULL where there is none."""
    if value.family is not Family.OTHER or value.type.name not in JSON:
        refuse(f"operator {name} on something that is not JSON", node)
    if not key.constant or key.is_null:
        refuse(f"operator {name} with a key that is no constant", node)
    if is_untyped(key) or key.family is Family.TEXT:
        place: Constant = constant_words(as_family(key, Family.TEXT, node), LONGEST_WORDS, node)
    else:
        place = constant_whole(key, -(10**6), node)
    return Call(name, (value, place), type=value.type if name == "->" else TEXT)


def at_path(name: str, value: Expression, keys: list[Expression], node: object) -> Expression:
    """value #> '{a,b}' or value #>> '{a,b}'; NULL where there is none."""
    if value.family is not Family.OTHER or value.type.name not in JSON:
        refuse(f"operator {name} on something that is not JSON", node)
    if any(key.is_null for key in keys):
        refuse(f"operator {name} with NULL in its path", node)
    path = [constant_words(as_family(key, Family.TEXT, node), LONGEST_WORDS, node) for key in keys]
    return Call(name, (value, *path), type=value.type if name == "#>" else TEXT)


def counted_elements(native: str) -> Callable[[list[Expression], object], Expression]:
    """cardinality() and array_length() of an array of the row; nobody declares how many elements it may have."""

    def build(arguments: list[Expression], node: object) -> Expression:
        if not is_array(arguments[0]):
            refuse(f"{native}() of something other than an array of the row", node)
        dimension = [constant_whole(each, 1, node, 6) for each in arguments[1:]]
        return Call(native, (arguments[0], *dimension), type=INTEGER, raw=f"{native}(…)")

    return build


def is_array(value: Expression) -> bool:
    return value.family is Family.OTHER and value.type.name in ELEMENTS


def among(name: str, value: Expression, array: Expression, any_one: bool, node: object) -> Expression:
    """value = ANY (array of the row)."""
    family = ELEMENTS[array.type.name or ""]
    value = as_family(value, family, node)
    if name not in ("=", "<>") or not value.constant or (value.family is not family and not value.is_null):
        refuse("ANY or ALL of an array of the row, other than = or <> with a constant of its type", node)
    return AnyElement(name, value, array, any_one, type=BOOLEAN, domain=TRUE_OR_FALSE)


TEXTS: dict[str, FunctionRule] = {
    "lower": FunctionRule("lower(text)", (1, 1), text_function("lower")),
    "upper": FunctionRule("upper(text)", (1, 1), text_function("upper")),
    "initcap": FunctionRule("initcap(text)", (1, 1), text_function("initcap")),
    "reverse": FunctionRule("reverse(text)", (1, 1), text_function("reverse")),
    "md5": FunctionRule("md5(text)", (1, 1), text_function("md5")),
    "btrim": FunctionRule("trim(text [, 'characters'])", (1, 2), trimmed("btrim")),
    "ltrim": FunctionRule("ltrim(text [, 'characters'])", (1, 2), trimmed("ltrim")),
    "rtrim": FunctionRule("rtrim(text [, 'characters'])", (1, 2), trimmed("rtrim")),
    "length": FunctionRule("length(text)", (1, 1), text_length),
    "char_length": FunctionRule("char_length(text)", (1, 1), text_length),
    "octet_length": FunctionRule("octet_length(text)", (1, 1), bytes_of_text),
    "left": FunctionRule("left(text, n)", (2, 2), text_end("left")),
    "right": FunctionRule("right(text, n)", (2, 2), text_end("right")),
    "lpad": FunctionRule("lpad(text, n [, 'fill'])", (2, 3), padded("lpad")),
    "rpad": FunctionRule("rpad(text, n [, 'fill'])", (2, 3), padded("rpad")),
    "substr": FunctionRule("substr(text, from [, length])", (2, 3), text_part),
    "substring": FunctionRule("substring(text, from [, length]), substring(text FROM 'pattern')", (2, 3), text_part),
    "strpos": FunctionRule("strpos(text, text)", (2, 2), text_position),
    "position": FunctionRule("position(text IN text)", (2, 2), text_position),
    "starts_with": FunctionRule("starts_with(text, 'begin')", (2, 2), starts_with),
    "split_part": FunctionRule("split_part(text, 'between', n)", (3, 3), split_part),
    "replace": FunctionRule("replace(text, 'from', 'to')", (3, 3), replaced("replace")),
    "translate": FunctionRule("translate(text, 'from', 'to')", (3, 3), replaced("translate")),
    "overlay": FunctionRule("overlay(text PLACING 'new' FROM n [FOR m])", (3, 4), overlaid),
    "cardinality": FunctionRule("cardinality(array)", (1, 1), counted_elements("cardinality")),
    "array_length": FunctionRule("array_length(array, dimension)", (2, 2), counted_elements("array_length")),
    "concat": FunctionRule("concat(value, …)", (1, MOST_JOINED), joined),
    "concat_ws": FunctionRule("concat_ws('between', value, …)", (2, MOST_JOINED), joined_with),
    "regexp_replace": FunctionRule("regexp_replace(text, 'pattern', 'to' [, 'gi'])", (3, 4), pattern_replaced),
    "regexp_substr": FunctionRule("regexp_substr(text, 'pattern')", (2, 2), searched("regexp_substr")),
    "regexp_count": FunctionRule("regexp_count(text, 'pattern')", (2, 2), pattern_number("regexp_count")),
    "regexp_instr": FunctionRule("regexp_instr(text, 'pattern')", (2, 2), pattern_number("regexp_instr")),
    "regexp_like": FunctionRule("regexp_like(text, 'pattern' [, 'i'])", (2, 3), pattern_found),
}
