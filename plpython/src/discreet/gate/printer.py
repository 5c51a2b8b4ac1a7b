"""SQL from the tree: the one place where native SQL of expressions and relations is made, and nothing reads it back.

What comes out cannot raise an error on any row of a tree that is total (totality.py): numbers are clamped by tests that
NaN fails, divisors are tested, texts are cut. All names are written with their schema, constants in one spelling that
no setting gives another meaning, and every expression so that it needs no parentheses around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

from discreet.core.quoting import identifier, literal
from discreet.dp.grid import Grid
from discreet.gate import tree
from discreet.gate.nullness import may_be_null
from discreet.gate.numbers import is_double, is_real
from discreet.gate.schema import TIMES, Family
from discreet.gate.tree import (
    BLANK_PADDED,
    NATIVE_TYPE,
    REAL,
    UNIT,
    Constant,
    Duration,
    Expression,
    Rules,
    Type,
    is_wide,
    kept,
    rule,
    rules,
)
from discreet.gate.values import LONGEST_KEY, decimal, number_constant

LAST_REAL = Fraction(2**24 - 1) * 2**104
TYPES_OF_THE_GRAMMAR = {"smallint", "integer", "bigint", "real", "boolean"}
# Written without a length, these would mean a length of 1.
UNLIMITED = {"character": BLANK_PADDED, "bit": 'pg_catalog."bit"'}


@kept
def printed(node: Expression) -> str:
    """The expression as SQL."""
    return PRINTERS[type(node)](node)


# -- words of SQL


def operator(name: str, left: str, right: str) -> str:
    return f"({left} OPERATOR(pg_catalog.{name}) {right})"


def both(conditions: Iterable[str]) -> str:
    return " AND ".join(conditions)


def schema_qualified(type_name: str) -> str:
    """A type as format_type() writes it, which leaves the schema out for those of pg_catalog; some are words of SQL."""
    if type_name in UNLIMITED:
        return UNLIMITED[type_name]
    plain = re.fullmatch(r"[a-z][a-z0-9_]*", type_name) and type_name not in TYPES_OF_THE_GRAMMAR
    return f"pg_catalog.{type_name}" if plain else type_name


def type_name(named: Type) -> str:
    """The type of a constant."""
    if named.name is not None and named.family is not Family.FLOAT:
        return schema_qualified(named.name)
    return f"pg_catalog.{'float4' if named.name == REAL else NATIVE_TYPE[named.family]}"


def number(value: Decimal) -> str:
    return format(value, "f")


def output_text(sql: str) -> str:
    """The text of a value of any type, up to LONGEST_KEY bytes, without a cast, which could be any user's code."""
    return f"discreet._text({sql})"


def cut(sql: str, most: int) -> str:
    return f"discreet._cut({sql}, {most})"


# -- leaves


def column(node: tree.Column) -> str:
    """Texts of two collations cannot be compared, which PostgreSQL tells when it comes to the first row."""
    sql = f"{identifier(node.alias)}.{identifier(node.name)}"
    return sql if node.is_unit or node.family is not Family.TEXT else f'({sql} COLLATE pg_catalog."default")'


def output(node: tree.Output) -> str:
    return f"{identifier(node.alias)}.{identifier(node.name)}"


def constant(node: Constant) -> str:
    value = node.value
    if value is None:
        return "NULL" if node.family is Family.OTHER else f"NULL::{type_name(node.type)}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        if node.family is Family.FLOAT:
            return f"{literal(number(value))}::{type_name(node.type)}"
        return f"({number(value)})" if value < 0 else number(value)
    if isinstance(value, Duration):
        return duration(value)
    if isinstance(value, date):
        text = value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()
        return f"{literal(text)}::{type_name(node.type)}"
    if node.declared:
        return f"{literal(value)}::{type_name(node.type)}"
    # the input function of a type is never called on what a question says: it might be any user's
    return f"{literal(value)}::{BLANK_PADDED if node.type.name == BLANK_PADDED else 'pg_catalog.text'}"


def duration(value: Duration) -> str:
    minutes, rest = divmod(abs(value.microseconds), 60_000_000)
    clock = f"{minutes // 60}:{minutes % 60}:{rest // 10**6}.{rest % 10**6:06}"
    sign = "-" if value.microseconds < 0 else ""
    return f"'{value.months} months {value.days} days {sign}{clock}'::pg_catalog.interval"


def listed(entry: Constant) -> str:
    """A value of a domain: a text takes the type of what it is compared with, a number has its own."""
    if isinstance(entry.value, str) and not entry.declared:
        return literal(entry.value)
    if isinstance(entry.value, Decimal) and entry.family is not Family.FLOAT:
        return f"{constant(entry)}::{type_name(entry.type)}"
    return constant(entry)


# -- conditions


def logic(node: tree.Logic) -> str:
    parts = [printed(part) for part in node.conditions]
    return f"(NOT {parts[0]})" if node.word == "NOT" else "(" + f" {node.word} ".join(parts) + ")"


def null_test(node: tree.NullTest) -> str:
    return f"({printed(node.argument)} IS {'NOT ' if node.negated else ''}NULL)"


def truth_test(node: tree.TruthTest) -> str:
    return f"({printed(node.argument)} {node.words})"


def compare(node: tree.Compare) -> str:
    if node.left.is_null or node.right.is_null:
        return "NULL::pg_catalog.bool"
    return operator(node.name, printed(node.left), printed(node.right))


def same_person(node: tree.SamePerson | tree.SameParent) -> str:
    return same(node.left, node.right)


def same(left: Expression, right: Expression) -> str:
    return operator("=", bare(left), bare(right))


def bare(unit: Expression) -> str:
    """With one collation, which a column of another table might not have."""
    return f'({printed(unit)} COLLATE pg_catalog."default")' if unit.family is Family.TEXT else printed(unit)


def distinct(node: tree.Distinct) -> str:
    return f"({printed(node.left)} IS {'NOT ' if node.negated else ''}DISTINCT FROM {printed(node.right)})"


def like(node: tree.Like) -> str:
    return operator(node.name, printed(node.argument), f"{literal(node.pattern)}::pg_catalog.text")


def matches(node: tree.Matches) -> str:
    return operator(node.name, printed(node.argument), f"{literal(node.pattern)}::pg_catalog.text")


def any_element(node: tree.AnyElement) -> str:
    """The constant in the type of the elements; texts in one collation."""
    element = node.array.type.element
    assert element is not None
    text = node.value.family is Family.TEXT
    value = f"({printed(node.value)})::{schema_qualified(element)}"
    array = f'({printed(node.array)} COLLATE pg_catalog."default")' if text else printed(node.array)
    return f"({value} OPERATOR(pg_catalog.{node.name}) {'ANY' if node.any_one else 'ALL'} ({array}))"


# -- choices


def null_if(node: tree.NullIf) -> str:
    return f"(CASE WHEN {printed(node.condition)} THEN NULL ELSE {printed(node.result)} END)"


def case(node: tree.Case) -> str:
    *results, otherwise = map(printed, node.results)
    whens = (f"WHEN {printed(c)} THEN {r}" for c, r in zip(node.conditions, results, strict=True))
    return f"(CASE {' '.join(whens)} ELSE {otherwise} END)"


def choice(node: tree.Choice) -> str:
    return f"{node.word}({', '.join(map(printed, node.values))})"


# -- numbers and times


def clamp(node: tree.Clamp) -> str:
    assert node.interval is not None
    lower, upper, x = node.interval.lower, node.interval.upper, printed(node.argument)
    if node.family is Family.INT:
        low, high = str(-(-lower // 1)), str(upper // 1)
    elif node.family is Family.FLOAT:
        low, high = (float_bound(end, node.type.name) for end in (lower, upper))
    else:
        low, high = number(decimal(lower)), number(decimal(upper))
    below, above = operator("<", x, low), operator(">", x, high)
    if node.family is not Family.INT:
        # of the value's own type: a numeric of 400 digits has no double to be compared as
        kind = NATIVE_TYPE[node.family]
        below = both([below, operator(">", x, f"'-Infinity'::pg_catalog.{kind}")])
        above = both([above, operator("<", x, f"'Infinity'::pg_catalog.{kind}")])
    inside = f"{operator('>=', x, low)} AND {operator('<=', x, high)}"
    return f"(CASE WHEN {inside} THEN {x} WHEN {below} THEN {low} WHEN {above} THEN {high} END)"


def float_bound(bound: Fraction, named: str | None) -> str:
    """A bound in the type of the value, which stays what it is; one that is beyond all reals is the last of them."""
    if named == REAL:
        bound = max(min(bound, LAST_REAL), -LAST_REAL)
    return constant(number_constant(bound, Family.FLOAT, named))


def known_years(node: tree.KnownYears) -> str:
    x = printed(node.argument)
    first, last = ("'0001-01-01'::pg_catalog.date", "'10000-01-01'::pg_catalog.date")
    return f"(CASE WHEN {operator('>=', x, first)} AND {operator('<', x, last)} THEN {x} END)"


def arithmetic(node: tree.Arithmetic) -> str:
    name, left, right = node.name, node.left, node.right
    if left.family in TIMES:
        return operator(name, printed(left), printed(right) if right.family in TIMES else length(right))
    if node.family is Family.FLOAT:
        # no value where the divisor is 0
        sql = f'discreet._floating({double(left)}, {literal(name)}::pg_catalog."char", {double(right)})'
        return f"discreet._real({sql})" if is_real(node) else sql
    whole = node.family is Family.INT
    wide = not whole or any(map(is_wide, (left, right, node)))
    a, b = (f"({printed(side)})::pg_catalog.{'numeric' if wide else 'int8'}" for side in (left, right))
    # whole numbers divide towards 0, however large they are
    sql = f"pg_catalog.div({a}, {b})" if name == "/" and whole and wide else operator(name, a, b)
    return f"(CASE WHEN {operator('<>', b, '0')} THEN {sql} END)" if name in ("/", "%") else sql


def length(by: Expression) -> str:
    """By how much a date or timestamp is moved."""
    if isinstance(by, Constant) and isinstance(by.value, Duration):
        return duration(by.value)
    return f"({printed(by)})::pg_catalog.int4"


def double(value: Expression) -> str:
    return printed(value) if is_double(value) else floating(value, real=False)


def floating(value: Expression, real: bool) -> str:
    """The number as a real or a double, without an error for one that is too large or too small."""
    if isinstance(value, Constant) and value.interval is not None and value.family is not Family.FLOAT:
        return constant(number_constant(value.interval.lower, Family.FLOAT, REAL if real else None))
    if value.family is Family.NUMERIC or is_wide(value):
        return f"discreet.{'_real' if real else '_double'}(({printed(value)})::pg_catalog.numeric)"
    if real and value.family is Family.FLOAT:
        return f"discreet._real({printed(value)})"
    return f"({printed(value)})::pg_catalog.{'float4' if real else 'float8'}"


def conversion(node: tree.Conversion) -> str:
    if node.to in ("double", "real"):
        return floating(node.argument, node.to == "real")
    if node.to == "text":
        # a text whose collation LIKE and functions fail on is a value of another kind, and its text must not be one
        text = output_text(printed(node.argument))
        return f'({text} COLLATE pg_catalog."default")' if node.argument.family is Family.OTHER else text
    return f"({printed(node.argument)})::pg_catalog.{node.to}"


def negative(node: tree.Negative) -> str:
    return f"(OPERATOR(pg_catalog.-) {printed(node.argument)})"


def cast(node: tree.Cast) -> str:
    value, sql = node.argument, printed(node.argument)
    if value.family is Family.TEXT and node.family is not Family.TEXT:
        return read(sql, node)
    if node.family is Family.FLOAT:
        return floating(value, is_real(node))
    if node.family is Family.INT:
        whole = f"({sql})::pg_catalog.int8"
        return whole if value.family is not Family.BOOL else f"(CASE WHEN {sql} THEN 1 WHEN NOT {sql} THEN 0 END)"
    if node.family is Family.BOOL:
        return operator("<>", sql, "0")
    if value.family is Family.OTHER:
        return f'({output_text(sql)} COLLATE pg_catalog."default")'
    return f"({sql})::pg_catalog.{node.target}"


def read(text: str, node: tree.Cast) -> str:
    """The number or truth value that a text says; none where PostgreSQL would fail."""
    if node.family is Family.BOOL:
        word = f"pg_catalog.lower(pg_catalog.btrim({text}, {BLANKS}))"
        whens = (f"WHEN {word} IN ({', '.join(map(literal, words))}) THEN {answer}" for answer, words in TRUTHS.items())
        return f"(CASE {' '.join(whens)} END)"
    whole = node.family is Family.INT
    pattern = f"{literal(WHOLE_NUMBER if whole else NUMBER)}::pg_catalog.text"
    fits = both([
        operator("<=", f"pg_catalog.octet_length({text})", str(LONGEST_NUMBER)),
        operator("~", f'({text} COLLATE pg_catalog."C")', pattern),
    ])  # fmt: skip
    sql = f"(CASE WHEN {fits} THEN ({text})::pg_catalog.{'int8' if whole else 'numeric'} END)"
    return f"discreet.{'_real' if is_real(node) else '_double'}({sql})" if node.family is Family.FLOAT else sql


# what PostgreSQL reads as a number or a truth value; beyond these lengths there is no value
LONGEST_NUMBER = 1000
SPACE = r"[ \t\n\v\f\r]*"
WHOLE_NUMBER = rf"^{SPACE}[+-]?[0-9]{{1,18}}{SPACE}$"
NUMBER = rf"^{SPACE}[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{{1,3}})?{SPACE}$"
BLANKS = r"E' \t\n\v\f\r'"
TRUTHS = {
    "true": ("t", "tr", "tru", "true", "y", "ye", "yes", "on", "1"),
    "false": ("f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0"),
}


# -- what is computed from the rows of one person


def within(node: tree.Within) -> str:
    """An aggregate that does not depend on the order of rows."""
    only = "" if node.condition is None else f" FILTER (WHERE {printed(node.condition)})"
    around = only + ("" if node.window is None else f" OVER {over(node.window)}")
    value = node.argument
    if value is None:
        return f"pg_catalog.count(*){around}"
    sql = printed(value)
    if node.name in ("min", "max"):
        return f"pg_catalog.{node.name}({of_one_spelling(value)}){around}"
    if node.name not in EXACT_SUMS:
        return f"pg_catalog.{node.name}({'DISTINCT ' if node.distinct else ''}{sql}){around}"
    only_one = "DISTINCT " if node.distinct else ""
    if value.family is not Family.FLOAT:
        whole = node.name == "sum" and node.family is Family.INT
        # of equal numbers in several spellings DISTINCT keeps one of them, by where the rows lie
        spelled = f"({sql})::pg_catalog.{'int8' if whole else 'numeric'}"
        spelled = f"pg_catalog.trim_scale({spelled})" if node.distinct and not whole else spelled
        held = f"pg_catalog.{node.name}({only_one}{spelled}){around}"
        return f"({held})::pg_catalog.int8" if whole else held
    grid = sum_grid(value)
    bounds = f"({grid.lower})::pg_catalog.int8, ({grid.upper})::pg_catalog.int8"
    on_grid = f"discreet._on_grid({sql}, {grid.exponent}, {bounds})::pg_catalog.numeric"
    step = Fraction(2) ** grid.exponent
    factor = constant(number_constant(step * step if node.name in VARIANCES else step, Family.FLOAT))
    total = f"(pg_catalog.{node.name}({only_one}{on_grid}){around})::pg_catalog.float8"
    scaled = operator("*", total, factor)
    return f"discreet._real({scaled})" if is_real(node) else scaled


VARIANCES = frozenset(["variance", "var_samp", "var_pop"])
EXACT_SUMS = VARIANCES | {"sum", "avg", "stddev", "stddev_samp", "stddev_pop"}
# squares of such numbers fit what numerics add up exactly
GRID_BITS = 40


def sum_grid(value: Expression) -> Grid:
    """The grid on which doubles are added up, so that their order does not count."""
    assert value.interval is not None
    return Grid.fit(value.interval.lower, value.interval.upper, GRID_BITS)


def of_one_spelling(value: Expression) -> str:
    """1.0 and 1.00 are equal, 0 and -0: which of them is the least must not depend on where rows lie."""
    sql = printed(value)
    if value.family is Family.NUMERIC:
        return f"pg_catalog.trim_scale({sql})"
    if value.family is Family.FLOAT:
        return operator("+", sql, f"0::pg_catalog.{'float4' if is_real(value) else 'float8'}")
    return sql


def ordered(node: tree.Ordered) -> str:
    """An aggregate of values that are equal only where they are written alike, in an order that they decide at last."""
    only = "" if node.condition is None else f" FILTER (WHERE {printed(node.condition)})"
    if node.name == "string_agg":
        order = ", ".join(sorting(node.order, () if node.distinct else (node.argument,)))
        called = f"{'DISTINCT ' if node.distinct else ''}{printed(node.argument)}, {literal(node.separator)}"
        return cut(f"discreet._joined({called}::pg_catalog.text ORDER BY {order}){only}", LONGEST_KEY)
    (key,) = node.order
    way = f"{'DESC' if key.descending else 'ASC'} NULLS {'FIRST' if key.nulls_first else 'LAST'}"
    fraction = "" if node.fraction is None else constant(number_constant(node.fraction, Family.FLOAT))
    return f"pg_catalog.{node.name}({fraction}) WITHIN GROUP (ORDER BY {of_one_spelling(node.argument)} {way}){only}"


def placed(node: tree.Placed) -> str:
    return f"pg_catalog.{node.name}({listing(node.arguments)}) OVER {over(node.window)}"


def over(window: tree.Window) -> str:
    parts = [f"PARTITION BY {listing(window.partition)}"] if window.partition else []
    order = sorting(window.order, window.ties)
    parts += [f"ORDER BY {', '.join(order)}"] if order else []
    parts += [] if window.frame is None else [frame(window.frame)]
    return f"({' '.join(parts)})"


def frame(rows: tree.Frame) -> str:
    return f"{rows.mode} BETWEEN {frame_end(rows.start)} AND {frame_end(rows.end)}"


def frame_end(end: tree.FrameEnd) -> str:
    return end.edge.value if end.distance is None else f"{printed(end.distance)} {end.edge.value}"


def sorting(order: Iterable[tree.SortKey], ties: Iterable[Expression]) -> list[str]:
    """Sort keys; behind them, what tells apart all rows that are not the same: spellings, too."""
    written = []
    for key in (each for each in order if not each.value.constant):  # which PostgreSQL would take for a position
        way = "DESC" if key.descending else "ASC"
        written.append(f"{printed(key.value)} {way} NULLS {'FIRST' if key.nulls_first else 'LAST'}")
    for value in ties:
        sql = printed(value)
        written.append(sql)
        if value.family is Family.NUMERIC:
            written.append(f"pg_catalog.scale({sql})")
        elif value.family is Family.FLOAT:
            written.append(f"pg_catalog.float8send(({sql})::pg_catalog.float8)")
        elif value.type.name == BLANK_PADDED:
            written.append(f"pg_catalog.octet_length({sql})")
    return written


# -- subqueries


def exists(node: tree.Exists) -> str:
    if isinstance(node.query, tree.Map):
        one = (("one", number_constant(1, Family.INT)),)
        return f"EXISTS ({query(replace(node.query, columns=one), with_unit=False)})"
    return f"EXISTS ({query(node.query, with_unit=False)})"


def quantified(node: tree.Quantified) -> str:
    of = "ALL" if node.every else "ANY"
    inside = query(node.query, with_unit=False)
    return f"({printed(node.value)} OPERATOR(pg_catalog.{node.name}) {of} ({inside}))"


def among(node: tree.Among) -> str:
    """Without NULL: what is not among others would not be known of any person because of one person's row."""
    inside = query(node.query, with_unit=False)
    if may_hold_null(node.query):
        inside = f"SELECT e FROM ({inside}) AS among(e) WHERE e IS NOT NULL"
    return f"({bare(node.value)} IN ({inside}))"


def may_hold_null(node: tree.Query) -> bool:
    """Whether a column of a query can be NULL; the unit of its rows is not."""
    if isinstance(node, tree.Union):
        return may_hold_null(node.left) or may_hold_null(node.right)
    return any(value != node.unit and may_be_null(value) for _, value in node.columns)


def scalar(node: tree.Scalar) -> str:
    return f"({query(node.query, with_unit=False)})"


def released(node: tree.Released) -> str:
    value = "NULL" if node.text is None else literal(node.text)
    return f"{value}::{type_name(node.type)}"


# -- texts and functions


def concatenation(node: tree.Concatenation) -> str:
    return operator("||", cut(printed(node.left), LONGEST_KEY), cut(printed(node.right), LONGEST_KEY))


def beginning(node: tree.Beginning) -> str:
    return f"discreet.{'_padded' if node.padded else '_cut'}({printed(node.argument)}, {node.most})"


def call(node: tree.Call) -> str:
    return CALLS[node.name](node)


def plain_call(node: tree.Call) -> str:
    return f"pg_catalog.{node.name}({', '.join(map(printed, node.arguments))})"


def of_moment(node: tree.Call) -> str:
    field, moment, *zones = node.arguments
    assert isinstance(field, Constant) and field.content is not None
    sql = printed(moment)
    if node.name == "date_trunc":
        sql = f"({sql})::pg_catalog.{NATIVE_TYPE[node.family]}"
    return f"pg_catalog.{node.name}({', '.join([literal(field.content), sql, *map(printed, zones)])})"


def age(node: tree.Call) -> str:
    """Of two moments of one type: dates and timestamps have no zone."""
    zoned = any(moment.family is Family.TIMESTAMPTZ for moment in node.arguments)
    kind = "timestamptz" if zoned else "timestamp"
    return f"pg_catalog.age({', '.join(f'({printed(moment)})::pg_catalog.{kind}' for moment in node.arguments)})"


def date_bin(node: tree.Call) -> str:
    stride, moment, origin = map(printed, node.arguments)
    kind = NATIVE_TYPE[node.family]
    return f"pg_catalog.date_bin({stride}, ({moment})::pg_catalog.{kind}, ({origin})::pg_catalog.{kind})"


def made_date(node: tree.Call) -> str:
    return f"discreet._date({', '.join(f'({printed(part)})::pg_catalog.int8' for part in node.arguments)})"


def written_moment(node: tree.Call) -> str:
    moment, form = node.arguments
    sql = printed(moment)
    sql = f"({sql})::pg_catalog.timestamp" if moment.family is Family.DATE else sql
    return f"pg_catalog.to_char({sql}, {printed(form)})"


def square_root(node: tree.Call) -> str:
    (x,) = map(printed, node.arguments)
    return f"(CASE WHEN {operator('>=', x, '0')} THEN pg_catalog.sqrt({x}) END)"


def logarithm(node: tree.Call) -> str:
    """Of numbers above 0."""
    arguments = list(map(printed, node.arguments))
    called = f"pg_catalog.{node.name}({', '.join(arguments)})"
    return f"(CASE WHEN {operator('>', arguments[-1], '0')} THEN {called} END)"


def exponential(node: tree.Call) -> str:
    (x,) = map(printed, node.arguments)
    if node.family is Family.FLOAT:
        return f"discreet._floating({x}, 'e'::pg_catalog.\"char\", '0'::pg_catalog.float8)"
    return f"pg_catalog.exp({x})"


def power(node: tree.Call) -> str:
    """No value where PostgreSQL has none: of a number below 0 for a fraction, of 0 for a number below 0."""
    base, to = node.arguments
    x, y = printed(base), printed(to)
    if node.family is Family.FLOAT:
        return f"discreet._floating({x}, '^'::pg_catalog.\"char\", {y})"
    assert to.interval is not None
    number, called = to.interval.lower, f"pg_catalog.power({x}, {y})"
    if number.denominator == 1 and number >= 0:
        return called
    test = operator("<>" if number.denominator == 1 else ">" if number < 0 else ">=", x, "0")
    return f"(CASE WHEN {test} THEN {called} END)"


def width_bucket(node: tree.Call) -> str:
    *sides, count = map(printed, node.arguments)
    kind = "float8" if node.arguments[0].family is Family.FLOAT else "numeric"
    typed = [f"({side})::pg_catalog.{kind}" for side in sides]
    return f"pg_catalog.width_bucket({', '.join([*typed, f'({count})::pg_catalog.int4'])})"


def member(node: tree.Call) -> str:
    value, key = node.arguments
    place = printed(key) if key.family is Family.TEXT else f"({printed(key)})::pg_catalog.int4"
    sql = operator(node.name, printed(value), place)
    return f'({sql} COLLATE pg_catalog."default")' if node.family is Family.TEXT else sql


def at_path(node: tree.Call) -> str:
    value, *keys = map(printed, node.arguments)
    sql = operator(node.name, value, f"ARRAY[{', '.join(keys)}]::pg_catalog.text[]")
    return f'({sql} COLLATE pg_catalog."default")' if node.family is Family.TEXT else sql


def element(node: tree.Call) -> str:
    """An element of the array that a function gives."""
    *arguments, place = map(printed, node.arguments)
    return f"(pg_catalog.{node.name}({', '.join(arguments)}))[{place}]"


def with_whole(node: tree.Call) -> str:
    """A call whose whole numbers are of type integer."""
    arguments = (
        f"({printed(each)})::pg_catalog.int4" if each.family is Family.INT else printed(each) for each in node.arguments
    )
    return f"pg_catalog.{node.name}({', '.join(arguments)})"


def bucket(node: tree.Call) -> str:
    x, width = map(printed, node.arguments)
    return operator("*", f"pg_catalog.floor({operator('/', x, width)})", width)


CALLS: dict[str, Callable[[tree.Call], str]] = {
    **dict.fromkeys(("abs", "sign", "ceil", "floor", "round", "trunc"), plain_call),
    **dict.fromkeys(("lower", "upper", "btrim", "ltrim", "rtrim", "length", "left", "right"), plain_call),
    **dict.fromkeys(("substr", "strpos"), plain_call),
    **dict.fromkeys(("initcap", "reverse", "md5", "octet_length", "starts_with"), plain_call),
    **dict.fromkeys(("replace", "translate", "concat", "concat_ws"), plain_call),
    **dict.fromkeys(("substring", "regexp_replace", "regexp_substr", "regexp_count", "timezone"), plain_call),
    **dict.fromkeys(("regexp_instr", "cbrt", "cardinality"), plain_call),
    **dict.fromkeys(("lpad", "rpad", "split_part", "overlay", "array_length"), with_whole),
    **dict.fromkeys(("regexp_match", "regexp_split_to_array"), element),
    **dict.fromkeys(("extract", "date_part", "date_trunc"), of_moment),
    **dict.fromkeys(("->", "->>"), member),
    **dict.fromkeys(("#>", "#>>"), at_path),
    **dict.fromkeys(("ln", "log"), logarithm),
    "exp": exponential,
    "power": power,
    "width_bucket": width_bucket,
    "age": age,
    "seconds": lambda node: f"discreet._seconds({printed(node.arguments[0])})",
    "date_bin": date_bin,
    "make_date": made_date,
    "to_char": written_moment,
    "sqrt": square_root,
    "bucket": bucket,
}


def canonical(node: tree.Canonical) -> str:
    return one_of_its_equals(printed(node.argument), node.argument.family)


def one_of_its_equals(sql: str, family: Family) -> str:
    """1.0 and 1.00 are equal, 0 and -0, '1 day' and '24 hours': which one is kept must not depend on other rows.

    Texts are cut here, and not where they are shown: a person has one cell in the group of all texts that begin alike.
    """
    if family is Family.TEXT:
        return cut(sql, LONGEST_KEY)
    if family is Family.NUMERIC:
        return f"pg_catalog.trim_scale({sql})"
    if family is Family.FLOAT:
        return f"({sql} OPERATOR(pg_catalog.+) 0::pg_catalog.float8)"
    return f'({output_text(sql)} COLLATE pg_catalog."C")' if family is Family.OTHER else sql


def together(node: tree.Together) -> str:
    """Each in an array of its own, since arguments of one function have one collation."""
    texts = (f"({one_of_its_equals(printed(value), value.family)})::pg_catalog.text" for value in node.values)
    arrays = " OPERATOR(pg_catalog.||) ".join(f"pg_catalog.jsonb_build_array({text})" for text in texts)
    return f'(({arrays})::pg_catalog.text COLLATE pg_catalog."C")'


def own(node: tree.Own) -> str:
    arguments = [printed(argument) for argument in node.arguments]
    if node.name == "_personal_key":
        return person_key(arguments[0], node.arguments[0].type.name or "")
    if node.name == "_since_1970":
        return since_1970(arguments[0], node.family)
    if node.name == "_person":
        arguments[-1] += "::pg_catalog.int8"  # the secret
    return f"discreet.{node.name}({', '.join(arguments)})"


def since_1970(sql: str, family: Family) -> str:
    """Days or seconds; no value for the infinities."""
    if family is Family.INT:
        number = operator("-", sql, "'1970-01-01'::pg_catalog.date")
    else:
        number = f"pg_catalog.extract('epoch', {sql})"
    return f"(CASE WHEN pg_catalog.isfinite({sql}) THEN {number} END)"


WHOLE_NUMBERS = frozenset(["smallint", "integer", "bigint"])


def person_key(unit: str, named: str) -> str:
    """What names a person who pays: a bigint, or a text that is the same for all that are equal."""
    if named in WHOLE_NUMBERS:
        return f"({unit})::pg_catalog.int8"
    return f"({f'pg_catalog.trim_scale({unit})' if named == 'numeric' else unit})::pg_catalog.text"


PRINTERS: Rules[str] = rules(
    rule(tree.Column, column),
    rule(tree.Output, output),
    rule(tree.SystemColumn, lambda node: f"{identifier(node.alias)}.{node.name}"),
    rule(tree.Constant, constant),
    rule(tree.Logic, logic),
    rule(tree.NullTest, null_test),
    rule(tree.TruthTest, truth_test),
    rule(tree.Compare, compare),
    rule(tree.SamePerson, same_person),
    rule(tree.SameParent, same_person),
    rule(tree.Within, within),
    rule(tree.Ordered, ordered),
    rule(tree.Placed, placed),
    rule(tree.Exists, exists),
    rule(tree.Quantified, quantified),
    rule(tree.Among, among),
    rule(tree.Scalar, scalar),
    rule(tree.Released, released),
    rule(tree.HasPerson, lambda node: f"({printed(node.unit)} IS NOT NULL)"),
    rule(tree.Distinct, distinct),
    rule(tree.Like, like),
    rule(tree.Matches, matches),
    rule(tree.AnyElement, any_element),
    rule(tree.NullIf, null_if),
    rule(tree.Case, case),
    rule(tree.Choice, choice),
    rule(tree.Arithmetic, arithmetic),
    rule(tree.Negative, negative),
    rule(tree.Concatenation, concatenation),
    rule(tree.Call, call),
    rule(tree.Cast, cast),
    rule(tree.Conversion, conversion),
    rule(tree.Clamp, clamp),
    rule(tree.KnownYears, known_years),
    rule(tree.Beginning, beginning),
    rule(tree.Canonical, canonical),
    rule(tree.Together, together),
    rule(tree.Own, own),
)


# -- relations


def rows(node: tree.Rows) -> str:
    """What stands in FROM."""
    if isinstance(node, tree.Table):
        return table(node)
    if isinstance(node, tree.Derived):
        return f"{'LATERAL ' if node.lateral else ''}({query(node.query)}) AS {identifier(node.alias)}"
    if isinstance(node, tree.Elements):
        return elements(node)
    if isinstance(node, tree.Listing):
        return listing_of(node)
    if isinstance(node, tree.Series):
        return series(node)
    left, right = rows(node.left), rows(node.right)
    if node.kind == "CROSS":
        return f"{left} CROSS JOIN {right}"
    return f"({left} {node.kind} JOIN {right} ON {both(map(printed, node.conditions)) or 'true'})"


def elements(node: tree.Elements) -> str:
    """In a select list unnest() ends with the last element that is wanted; jsonb of another kind has no elements."""
    value = printed(node.value)
    if node.function != "unnest":
        kind = "object" if node.function == "jsonb_object_keys" else "array"
        value = f"CASE WHEN {operator('=', f'pg_catalog.jsonb_typeof({value})', literal(kind))} THEN {value} END"
    one = '(e COLLATE pg_catalog."default")' if node.text else "e"
    inside = f"SELECT pg_catalog.{node.function}({value}) AS e"
    return (
        f"LATERAL (SELECT {one} AS {identifier(node.column)} FROM ({inside}) AS elements LIMIT {node.most})"
        f" AS {identifier(node.alias)}"
    )


def listing_of(node: tree.Listing) -> str:
    """VALUES; a column has the type of its first row."""
    lines = (
        f"({', '.join(f'{constant(one)}::{type_name(one.type)}' for one in row)})"
        for row in zip(*node.values, strict=True)
    )
    return f"(VALUES {', '.join(lines)}) AS {identifier(node.alias)}({', '.join(map(identifier, node.names))})"


def series(node: tree.Series) -> str:
    ends = ", ".join(f"{constant(end)}::{type_name(end.type)}" for end in node.ends)
    inside = f"SELECT g AS {identifier(node.column)} FROM pg_catalog.generate_series({ends}) AS g LIMIT {node.most}"
    return f"({inside}) AS {identifier(node.alias)}"


def table(node: tree.Table) -> str:
    """A table, and the parents over which its rows have their person; a row that has no parent has none."""
    sql = scan(node, "ONLY " if node.only else "")
    for step in () if node.led else node.path:
        parent = scan(step, "")
        sql = f"({sql} INNER JOIN {parent} ON {same(step.held, step.key)})"
    return sql


def scan(node: tree.Table | tree.Step, only: str) -> str:
    """The rows of a table, those of some periods where it is dated."""
    alias = identifier(node.alias)
    sql = f"{only}{identifier(node.schema)}.{identifier(node.name)} AS {alias}"
    return sql if node.dated is None else f"(SELECT * FROM {sql} WHERE {dated(node.dated)}) AS {alias}"


def dated(node: tree.Dated) -> str:
    time, of_type = printed(node.time), NATIVE_TYPE[node.time.family]
    parts = [
        both([operator(">=", time, beginning_of(low, of_type)), operator("<", time, beginning_of(high, of_type))])
        for low, high in node.spans
    ]
    if node.undated:
        first, end = (beginning_of(day, of_type) for day in (0, date.max.toordinal()))
        parts += [f"({time} IS NULL)", operator("<", time, first), operator(">=", time, end)]
    return f"({' OR '.join(parts)})" if parts else "false"


def beginning_of(day: int, of_type: str) -> str:
    """When a day begins in UTC; days are counted from 0001-01-01."""
    text = "10000-01-01" if day == date.max.toordinal() else date.fromordinal(day + 1).isoformat()
    clock = {"date": "", "timestamp": " 00:00:00", "timestamptz": " 00:00:00+00"}[of_type]
    return f"'{text}{clock}'::pg_catalog.{of_type}"


def query(node: tree.Query, with_unit: bool = True) -> str:
    if isinstance(node, tree.Union):
        left, right = (query(side, with_unit) for side in (node.left, node.right))
        plain = all(isinstance(side, tree.Map) and not places(side) for side in (node.left, node.right))
        return f"{left} {node.word} {right}" if plain else f"({left}) {node.word} ({right})"
    targets = [f"{printed(value)} AS {identifier(name)}" for name, value in node.columns]
    if node.unit is not None and with_unit:
        targets.append(f"{printed(node.unit)} AS {identifier(UNIT)}")
    first = f"DISTINCT ON ({listing(node.first)}) " if isinstance(node, tree.Map) and node.first else ""
    sql = f"SELECT {first}{', '.join(targets)} FROM {rows(node.rows)}{where(map(printed, node.conditions))}"
    return sql + (groups(node) if isinstance(node, tree.PerPerson) else places(node))


def groups(node: tree.PerPerson) -> str:
    by = [node.unit, *node.keys, *node.fixed] if node.unit is not None else [*node.keys, *node.fixed]
    grouped = f" GROUP BY {listing(value for value in by if value is not None)}" if by else ""
    having = both(map(printed, node.having))
    return grouped + (f" HAVING {having}" if having else "")


def places(node: tree.Map) -> str:
    """ORDER BY and LIMIT, where they decide which rows there are."""
    if not node.first and node.most is None and not node.skip:
        return ""
    order = [printed(value) for value in node.first]
    order += sorting([key for key in node.order if key.value not in node.first], node.ties)
    limit = "" if node.most is None else f" LIMIT {node.most}"
    skip = f" OFFSET {node.skip}" if node.skip else ""
    return (f" ORDER BY {', '.join(order)}" if order else "") + limit + skip


def listing(values: Iterable[Expression]) -> str:
    return ", ".join(map(printed, values))


def where(conditions: Iterable[str]) -> str:
    found = both(conditions)
    return f" WHERE {found}" if found else ""
