"""Every function, operator and cast that the gate lets in gives what PostgreSQL gives, on edge values, row by row.

The expressions are generated from the gate's own tables, and what is added to these without being tried here fails. The
inner value expression of a question runs beside the analyst's expression over the same rows. What may differ is stated
here: where PostgreSQL raises an error the gate has a value (`instead`), whole numbers are of any whole type, numbers
outside their bounds are clamped and moments outside the years 1 to 9999 are none (edge.plain holds these).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from dev.cluster import Cluster
from pglast import ast, enums, parse_sql
from pglast.stream import RawStream
from psycopg import Error
from psycopg.errors import DivisionByZero, InvalidTextRepresentation, NumericValueOutOfRange
from tests.database.gate import edges
from tests.databases import Connection, created

from discreet.core.errors import DiscreetError
from discreet.gate.arithmetic import CAST_TARGETS
from discreet.gate.expressions import (
    ARITHMETIC,
    COMPARISONS,
    HANDLERS,
    LIKES,
    MATCHES,
    MEMBERS,
    OPERATIONS,
    PATHS,
    Expressions,
)
from discreet.gate.finish import finished_sql
from discreet.gate.functions import FUNCTIONS
from discreet.gate.moments import DATE_FIELDS, INTERVAL_FIELDS, TRUNCATIONS
from discreet.gate.names import Names
from discreet.gate.parse import nodes
from discreet.gate.post import PostProcessing
from discreet.gate.printer import constant, printed
from discreet.gate.printer import listed as entry
from discreet.gate.schema import NUMBERS as FAMILIES_OF_NUMBERS
from discreet.gate.schema import Family
from discreet.gate.sources import Sources
from discreet.gate.times import UNITS
from discreet.gate.totality import is_total
from discreet.gate.tree import Column, Expression
from discreet.gate.values import known_values, number_constant

NUMBERS = ("i2", "i4", "i8", "n", "f4", "f8")
MOMENTS = ("d", "ts", "tz")
TEXTS = ("t", "v", "c")
WHOLE = {"smallint", "integer", "bigint"}
SHORT_NAMES = {
    "int8": "bigint", "float8": "double precision", "bool": "boolean", "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone", "pg_catalog.bpchar": "character",
}  # fmt: skip
NUMBER_CONSTANTS = (
    "2", "0", "-3", "2.5", "1.50", "3.000000000000000000000000000000", "0.1", "2147483648", "9223372036854775807",
    "-9223372036854775808", "'2'", "'0.1'::float8", "'0.1'::real", "2.5::float8", "1e-30", "NULL",
)  # fmt: skip
PINNED = """
    SET TimeZone = 'UTC'; SET DateStyle = 'ISO, MDY'; SET IntervalStyle = 'postgres'; SET extra_float_digits = 1;
    SET search_path = pg_catalog, pg_temp; SET jit = off
"""


@dataclass(frozen=True)
class Case:
    """An expression of the analyst's.

    `raw`: it compares or shows values as they are, and is not given clamped ones. `instead`: what the gate gives in
    the rows in which PostgreSQL raises an error. `postgresql`: how it is written where PostgreSQL has no such function
    without a cast. `type`: the gate's, where it is another.
    """

    text: str
    raw: bool = False
    instead: str = "NULL"
    postgresql: str | None = None
    type: str | None = None


def is_floating(*shorts: str) -> bool:
    return any(re.search("^f|_f|float|real", short) for short in shorts)


def numeric(text: str) -> str:
    return f"({text})::numeric"


def nearest(text: str) -> str:
    """A numeric that is nearer to 0 than any double is 0."""
    return re.sub(r"\b[xy]_n\b", lambda name: f"(CASE WHEN abs({name[0]}) < 1e-350 THEN 0 ELSE {name[0]} END)", text)


def within_years(text: str) -> str:
    """A moment outside the years 1 to 9999 is no value."""
    return f"CASE WHEN ({text}) >= '{edges.FIRST_DAY}' AND ({text}) < '{edges.LAST_DAY}' THEN {text} END"


# -- what is generated


def arithmetic_cases() -> Iterator[Case]:
    sides = [f"x_{short}" for short in NUMBERS], [f"y_{short}" for short in NUMBERS]
    pairs = [*product(*sides), *product(sides[0], NUMBER_CONSTANTS), *product(NUMBER_CONSTANTS, sides[0])]
    for name, (left, right) in product(sorted(ARITHMETIC), pairs):
        kinds = [each.split("_")[-1] for each in (left, right)]
        text = f"{left} {name} {right}"
        if is_floating(*kinds):
            if name == "%":  # PostgreSQL has none
                yield Case(text, postgresql=f"{numeric(left)} % {numeric(right)}")
            else:  # overflow and a divisor of 0 have no value, underflow is 0
                yield Case(text, instead="NULL or 0")
            continue
        if name == "^":
            yield Case(text, instead="NULL or 0")
            continue
        # whole numbers that PostgreSQL's types do not hold
        wide = f"div({numeric(left)}, {numeric(right)})" if name == "/" else f"{numeric(left)} {name} {numeric(right)}"
        yield Case(text, instead=wide)
    for name, short in product(("+", "-"), NUMBERS):
        yield Case(f"{name} x_{short}", instead=f"{name} {numeric(f'x_{short}')}")
    yield Case("(x_i8 + x_i8) / 3 * 2 - y_i4 % 5", instead="NULL or wider")
    yield Case("x_f8 * 3 + y_f4 / 7 - x_n", instead="NULL or 0")


def moment_cases() -> Iterator[Case]:
    yield from (Case(f"x_{a} - y_{b}") for a, b in product(MOMENTS, MOMENTS))
    for name, right in product(
        sorted(COMPARISONS), ("interval '1 day'", "'30 days'", "interval '1 mon'", "x_ts - y_ts")
    ):
        yield Case(f"y_ts - x_ts {name} {right}")
        yield Case(f"x_iv {name} {right}")
    for field, value in product(INTERVAL_FIELDS, ("(x_ts - y_ts)", "(x_tz - y_d)", "age(x_ts, y_ts)", "age(x_d, y_d)")):
        yield Case(f"extract({field} FROM {value})")
        yield Case(f"date_part('{field}', {value})")
    yield Case("extract(epoch FROM x_ts - y_ts) / 86400")
    lengths = [*(f"1 {unit}" for unit in UNITS), "-1 year 2 mons -3 days 04:05:06.789", "1.5 hours", "13 months -1 day"]
    moved = [f"x_{short} {sign} interval '{length}'" for short, sign, length in product(MOMENTS, "+-", lengths)]
    days = [text for n in (1, -1, 366, 0) for text in (f"x_d + {n}", f"x_d - {n}", f"{n} + x_d")]
    for text in (*moved, "interval '1 month' + x_ts", *days):
        yield Case(text, postgresql=within_years(text))


def comparison_cases() -> Iterator[Case]:
    numbers = [f"y_{short}" for short in NUMBERS]
    for name in sorted(COMPARISONS):
        for short, right in product(NUMBERS, [*numbers, *NUMBER_CONSTANTS]):
            for text in (f"x_{short} {name} {right}", f"{right} {name} x_{short}"):
                yield Case(text, raw=True, instead=nearest(text))
        moments = ["'2024-02-29'", "'2024-02-29 23:59:59.999999'", "timestamp '2024-01-31'", "date '9999-12-31'"]
        for short, right in product(MOMENTS, [*(f"y_{other}" for other in MOMENTS), *moments]):
            yield Case(f"x_{short} {name} {right}", raw=True)
        texts = ["'a'", "'a  '", "'B'", "'e\u0301'", "''", "'ab'::text", "'ab '::bpchar"]
        for short, right in product(TEXTS, [*(f"y_{other}" for other in TEXTS), *texts]):
            yield Case(f"x_{short} {name} {right}", raw=True)
        yield Case(f"x_b {name} y_b", raw=True)
        yield Case(f"x_b {name} 'yes'", raw=True)
        yield Case(f"x_i4 {name} ANY ('{{1,2,NULL}}')", raw=True)
        yield Case(f"x_f4 {name} ANY ('{{0.1,2.5}}')", raw=True)
        yield Case(f"x_f4 {name} ANY (ARRAY[0.1, 2.5])", raw=True)
        yield Case(f"x_f4 {name} ALL (ARRAY[0.1::real, 2.5])", raw=True)
        yield Case(f"x_f8 {name} ALL (ARRAY[0.1, 2])", raw=True)
    for name, right in product(
        ("=", "<>"), ("'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "'{00000000-0000-0000-0000-000000000000}'")
    ):
        yield Case(f"x_u {name} {right}", raw=True)
        yield Case(f"{right} {name} x_u", raw=True)
    for name, right in product(("=", "<>"), ("'10:00:00.500'", "'24:00'", "time '00:00:00'", "'00:00'")):
        yield Case(f"x_tm {name} {right}", raw=True)
    for name, right in product(("=", "<>"), ("'24 hours'", "interval '1 day'", "'P1M'", "interval '720 hours'")):
        yield Case(f"x_iv {name} {right}", raw=True)
    for name in ("=", "<>"):
        yield Case(f"x_e {name} 'sad'", raw=True)
        yield Case(f"x_e {name} 'sad'::edge.mood", raw=True)


def list_cases() -> Iterator[Case]:
    for negation in ("", "NOT "):
        for short, listed in product(
            NUMBERS, ("1", "0.1", "1, 2.5", "0.1, 0.5", "1, NULL", "y_i4, 2, 0.1", "'1', '2'")
        ):
            yield Case(f"x_{short} {negation}IN ({listed})", raw=True)
        yield Case(f"x_i8 {negation}IN (9007199254740992, 1.5::float8)", raw=True)
        yield Case(f"x_d {negation}IN ('2024-02-29', '2020-12-31')", raw=True)
        yield Case(f"x_d {negation}IN ('2024-02-29 12:00', timestamp '2020-12-31 00:00')", raw=True)
        yield Case(f"x_c {negation}IN ('a', 'ab  ')", raw=True)
        for short in NUMBERS:
            yield Case(f"x_{short} {negation}BETWEEN 0.1 AND y_{short}", raw=True)
        yield Case(f"x_t {negation}BETWEEN 'A' AND 'b'", raw=True)
    for short in (*NUMBERS, *MOMENTS, *TEXTS, "b"):
        yield Case(f"x_{short} IS DISTINCT FROM y_{short}", raw=True)
        yield Case(f"x_{short} IS NOT DISTINCT FROM NULL", raw=True)
        yield Case(f"x_{short} IS NULL", raw=True)
        yield Case(f"x_{short} IS NOT NULL", raw=True)
    yield Case("x_f4 IS DISTINCT FROM 0.1", raw=True)
    yield Case("x_u IS DISTINCT FROM 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", raw=True)
    yield Case("(x_i4, x_t) = (y_i8, y_t)", raw=True)


def logic_cases() -> Iterator[Case]:
    yield from (Case(f"x_b {word} y_b", raw=True) for word in ("AND", "OR"))
    yield Case("NOT x_b", raw=True)
    yield Case("x_b AND NULL", raw=True)
    yield Case("x_b OR 'true'", raw=True)
    for test in enums.BoolTestType:
        yield Case(f"x_b {test.name.replace('_', ' ')}", raw=True)


def like_cases() -> Iterator[Case]:
    words = {"~~": "LIKE", "!~~": "NOT LIKE", "~~*": "ILIKE", "!~~*": "NOT ILIKE"}
    assert set(words) == LIKES
    patterns = [
        "a%",
        "%b",
        "A",
        "a_b",
        r"a\_b",
        r"100\%",
        "%",
        "",
        "_",
        "é",
        "É%",
        "ab   ",
        "ab",
        "%ß%",
        "日%",
        r"a\\b",
        "i%",
    ]
    for word, short, pattern in product(words.values(), TEXTS, patterns):
        yield Case(f"x_{short} {word} '{pattern}'", raw=True)
        yield Case(f"x_{short}::text {word} '{pattern}'", raw=True)
    for name, which in product(LIKES, ("ANY", "ALL")):
        yield Case(f"x_t {name} {which} (ARRAY['a%', '%b'])", raw=True)


def choice_cases() -> Iterator[Case]:
    for left, right in product([*NUMBERS], [*(f"y_{short}" for short in NUMBERS), "0", "0.5", "'0.5'", "NULL"]):
        if right == "'0.5'" and left.startswith("i"):
            continue
        chosen = f"COALESCE(x_{left}, {right})", f"CASE WHEN x_b THEN x_{left} ELSE {right} END"
        extreme = f"GREATEST(x_{left}, {right})", f"LEAST({right}, x_{left})"
        for text in (*chosen, *extreme):  # of numbers that are no real another one is chosen
            of_reals = {left, right[2:]} == {"n", "f4"}
            yield Case(text, instead="NULL or wider" if of_reals else nearest(text))
        yield Case(f"NULLIF(x_{left}, {right}) / 2", instead="NULL or wider")
        text = f"NULLIF(x_{left}, {right})"
        yield Case(text, raw=True, instead=nearest(text))
    for short in MOMENTS:
        yield Case(f"COALESCE(x_{short}, y_{short})")
        yield Case(f"GREATEST(x_{short}, y_{short})")
        yield Case(f"CASE WHEN x_b THEN x_d ELSE y_{short} END")
        yield Case(f"NULLIF(x_{short}, '2024-02-29')", raw=True)
    for short in TEXTS:
        yield Case(f"COALESCE(x_{short}, 'none  ') || '|'", raw=True)
        yield Case(f"COALESCE(x_{short}, y_{short}) LIKE 'a%b'", raw=True)
        yield Case(f"GREATEST(x_{short}, y_{short})", raw=True)
        yield Case(f"NULLIF(x_{short}, 'a  ')", raw=True)
        yield Case(f"length(COALESCE(x_{short}, 'x  '))", raw=True)
    yield Case("CASE x_i4 WHEN 1 THEN 'one' WHEN 2 THEN 'two' END", raw=True)
    yield Case("CASE x_f4 WHEN 0.1 THEN 1 ELSE 2.5 END", raw=True)
    yield Case("CASE WHEN x_f8 > 1 THEN 1 WHEN x_f8 <= 1 THEN 0 END", raw=True)
    yield Case("CASE WHEN x_b THEN 1 ELSE 2.5 END / 2", raw=True)
    yield Case("NULLIF('5', y_i4)", raw=True)


def cast_cases() -> Iterator[Case]:
    # PostgreSQL casts integer alone to boolean, and boolean to integer alone
    other = {
        ("i2", "bool"): "x_i2 <> 0",
        ("i8", "bool"): "x_i8 <> 0",
        ("b", "int2"): "x_b::int4",
        ("b", "int8"): "x_b::int4",
    }
    for short, target in product((*NUMBERS, *TEXTS, *MOMENTS, "b", "u", "iv", "e"), CAST_TARGETS):
        family, wanted = edges.FAMILY_OF_TYPE.get(edges.TYPES[short], Family.OTHER), CAST_TARGETS[target]  # type: ignore[attr-defined]
        raw = family is wanted and {short, target} not in ({"f4", "float8"}, {"f8", "float4"})
        raw = raw or (short not in MOMENTS and wanted not in edges.NUMBERS)  # type: ignore[attr-defined]
        wide = f"round({numeric(f'x_{short}')})" if wanted is Family.INT else "NULL or 0"
        yield Case(f"x_{short}::{target}", raw, wide, other.get((short, target)))
    for number, target in product(NUMBER_CONSTANTS, ("int4", "int8", "numeric", "float8", "float4", "text")):
        yield Case(f"({number})::{target}", raw=True, instead="NULL or wider")
    yield Case("x_c::text LIKE 'ab'", raw=True)
    yield Case("x_f8::real::text", raw=False, instead="NULL or 0")
    yield Case("x_f4::float8::text", raw=False)


PATTERNS = (
    "a",
    "^a",
    "b$",
    "^[ab]+$",
    "(a|b)_?",
    r"\\d+",
    "",
    "[[:space:]]",
    "é|ß",
    "x{3,5}",
    "(?:日本)+.",
    "a.?b",
    r"\\mpad\\M",
)
OVERLAYS = list(product(TEXTS, ("'é'", "''", "'xyz'"), (1, 3, 1000)))
# how each function is called: every way that its rule lets in, over columns and constants
ONE_NUMBER = ("x_i2", "x_i4", "x_i8", "x_n", "x_f4", "x_f8", "2.5", "-0.5", "'2.5'", "2.5::float8", "x_f8 / 2", "-x_f4")
AMBIGUOUS = {"round": None, "trunc": "'2.5'"}  # there is a trunc() of addresses
CALLS: dict[str, list[Case]] = {
    **{
        name: [Case(f"{name}({number})", instead="NULL or wider") for number in ONE_NUMBER]
        for name in ("abs", "sign", "ceil", "ceiling", "floor", "sqrt")
    },
    **{
        name: [
            *(Case(f"{name}({number})", instead="NULL or wider") for number in ONE_NUMBER if number != AMBIGUOUS[name]),
            *(
                Case(f"{name}({number}, {digits})", postgresql=f"{name}({numeric(number)}, {digits})")
                for number in ("x_i4", "x_n", "x_f8", "x_f4")
                for digits in (0, 1, 5)
            ),
        ]
        for name in ("round", "trunc")
    },
    "mod": [
        Case(
            f"mod({left}, {right})",
            postgresql=f"mod({numeric(left)}, {numeric(right)})" if is_floating(left, right) else None,
        )
        for left, right in product(("x_i2", "x_i4", "x_i8", "x_n", "x_f8"), ("y_i4", "y_n", "3", "-2.5"))
    ],
    "bucket": [
        Case(f"discreet.bucket({number}, {width})", postgresql=f"discreet.bucket({numeric(number)}, {width})")
        for number in ("x_i4", "x_n", "x_f8")
        for width in ("10", "0.25", "7")
    ],
    **{
        name: [Case(f"{name}(x_{short})", raw=True) for short in TEXTS]
        for name in ("lower", "upper", "length", "char_length")
    },
    **{
        name: [
            *(Case(f"{name}(x_{short})", raw=True) for short in TEXTS),
            *(Case(f"{name}(x_{short}, {some})", raw=True) for short in TEXTS for some in ("'a '", "''", "'日x'")),
        ]
        for name in ("btrim", "ltrim", "rtrim")
    },
    "overlay": [
        *(Case(f"overlay(x_{short} PLACING {new} FROM {n})", raw=True) for short, new, n in OVERLAYS),
        *(Case(f"overlay(x_{short} PLACING {new} FROM {n} FOR 2)", raw=True) for short, new, n in OVERLAYS),
        *(Case(f"overlay(x_{short} PLACING {new} FROM {n} FOR 0)", raw=True) for short, new, n in OVERLAYS),
    ],
    "cardinality": [Case(f"cardinality(x_{short})", raw=True) for short in ("at", "ai")],
    "array_length": [Case(f"array_length(x_{short}, {n})", raw=True) for short in ("at", "ai") for n in (1, 2)],
    "cbrt": [Case(f"cbrt({number})", instead="NULL or 0") for number in ONE_NUMBER],
    **{
        name: [Case(f'"{name}"(x_{short}, {n})', raw=True) for short in TEXTS for n in (0, 1, 2, 1000)]
        for name in ("left", "right")
    },
    **{
        name: [
            *(Case(f"{name}(x_{short}, {n})", raw=True) for short in TEXTS for n in (1, 2, 1000)),
            *(Case(f"{name}(x_{short}, {n}, {m})", raw=True) for short in TEXTS for n in (1, 2) for m in (0, 1, 1000)),
            *(Case(f"substring(x_{short} FROM '{pattern}')", raw=True) for short in TEXTS for pattern in PATTERNS),
        ]
        for name in ("substr", "substring")
    },
    "strpos": [
        Case(f"strpos(x_{short}, {part})", raw=True) for short in TEXTS for part in ("y_t", "y_c", "''", "'b'", "'本'")
    ],
    "position": [Case(f"position({part} IN x_{short})", raw=True) for short in TEXTS for part in ("y_t", "''", "'b'")],
    "extract": [Case(f"extract({field} FROM x_{short})") for short in MOMENTS for field in DATE_FIELDS],
    "date_part": [Case(f"date_part('{field}', x_{short})") for short in MOMENTS for field in DATE_FIELDS],
    "age": [Case(f"age(x_{a}, {b})") for a, b in product(MOMENTS, ("y_d", "y_ts", "y_tz", "date '2024-02-29'"))],
    "date": [Case(f"date(x_{short})", raw=short == "d") for short in MOMENTS],
    "make_date": [
        Case(f"make_date({y}, {m}, {d})") for y, m, d in product(("x_i2", "2024"), ("y_i4", "2"), ("29", "x_i4"))
    ],
    "to_char": [
        Case(f"to_char(x_{short}, '{form}')")
        for short, form in product(
            MOMENTS,
            ("YYYY-MM", "YYYY-MM-DD", "Day, DD Mon YYYY", "IYYY-IW", "HH24:MI:SS.US", "Q", '"week" WW', "DDth", ""),
        )
    ],
    "date_bin": [
        Case(
            f"date_bin({stride}, x_{short}, {origin})",
            postgresql=within_years(f"date_bin({stride}, x_{short}, {origin})"),
        )
        for short, stride, origin in product(
            ("ts", "tz", "d"),
            ("interval '15 minutes'", "'7 days'", "interval '1 day 01:00'"),
            ("timestamp '2001-01-01'", "'2024-02-29 12:00'"),
        )
    ],
    "timezone": [
        Case(f"x_{short} AT TIME ZONE '{zone}'", postgresql=within_years(f"x_{short} AT TIME ZONE '{zone}'"))
        for short, zone in product(MOMENTS, ("UTC", "America/New_York", "Asia/Kolkata", "europe/berlin"))
    ],
    **{name: [Case(f"{name}({number})") for number in ONE_NUMBER] for name in ("ln", "log10")},
    "log": [
        *(Case(f"log({number})") for number in ONE_NUMBER),
        *(Case(f"log({base}, x_n)") for base in ("2", "10.5", "0.5")),
        Case("log(2, x_i4)"),
    ],
    "exp": [
        Case(f"exp({number})", instead="NULL or 0")
        for number in ("x_i4 % 100", "x_i2 / 1000", "least(x_f8, 100)", "greatest(least(x_n, 50), -50)", "1.5", "'2'")
    ],
    **{
        name: [
            Case(f"{name}({base}, {to})", instead="NULL or 0")
            for base, to in product(
                ("x_i2", "x_n % 1000", "least(x_f4, 100)", "least(x_f8, 1000)", "-2.5", "greatest(x_i4, 1)"),
                ("2", "0", "1", "3.0", "0.5", "-1", "-1.5", "'2'", "2::float8"),
            )
        ]
        for name in ("power", "pow")
    },
    "width_bucket": [
        Case(f"width_bucket({number}, {low}, {high}, {count})", instead="NULL or wider")
        for number, (low, high), count in product(
            ("x_i4", "x_n", "x_f8", "x_f4"),
            (("0", "10"), ("-2.5", "7.25"), ("10", "0"), ("0::float8", "5::float8")),
            (1, 4),
        )
    ],
    **{
        name: [Case(f"{name}(x_{short})", raw=True) for short in TEXTS]
        for name in ("initcap", "reverse", "md5", "octet_length")
    },
    **{
        name: [
            *(Case(f"{name}(x_{short}, {n})", raw=True) for short in TEXTS for n in (0, 3, 12)),
            *(Case(f"{name}(x_{short}, 7, {fill})", raw=True) for short in TEXTS for fill in ("'0'", "'日x'", "''")),
        ]
        for name in ("lpad", "rpad")
    },
    "starts_with": [
        Case(f"starts_with(x_{short}, {part})", raw=True) for short in TEXTS for part in ("'a'", "''", "'日'")
    ],
    "split_part": [
        Case(f"split_part(x_{short}, {between}, {n})", raw=True)
        for short, between, n in product(TEXTS, ("' '", "''", "'_'", "'b'"), (1, 2, -1))
    ],
    **{
        name: [
            Case(f"{name}(x_{short}, {old}, {new})", raw=True)
            for short, (old, new) in product(
                TEXTS, (("'a'", "'xyz'"), ("'ab'", "''"), ("''", "'q'"), ("'日é'", "'12'"))
            )
        ]
        for name in ("replace", "translate")
    },
    "concat": [
        *(
            Case(f"concat(x_{a}, {b})", raw=True)
            for a, b in product((*TEXTS, "i4", "n", "b"), ("y_t", "'!'", "NULL", "y_b"))
        ),
        *(Case(f"concat({', '.join(['x_t'] * n)})", raw=True) for n in range(1, 51)),
    ],
    "concat_ws": [
        *(Case(f"concat_ws('-', x_{a}, {b})", raw=True) for a, b in product((*TEXTS, "i4", "f8"), ("y_t", "NULL"))),
        *(Case(f"concat_ws(', ', {', '.join(['y_t'] * n)})", raw=True) for n in range(1, 50)),
    ],
    "regexp_replace": [
        Case(f"regexp_replace(x_{short}, '{pattern}', '{new}'{flags})", raw=True)
        for short, pattern, new, flags in product(
            TEXTS, ("[a-c]+", r"\s", "^a|b$", "[^[:alnum:]]"), ("", "<x>"), ("", ", 'g'", ", 'gi'")
        )
    ],
    "regexp_substr": [
        Case(f"regexp_substr(x_{short}, '{pattern}')", raw=True) for short in TEXTS for pattern in PATTERNS
    ],
    "regexp_count": [
        Case(f"regexp_count(x_{short}, '{pattern}')", raw=True) for short in TEXTS for pattern in PATTERNS
    ],
    "regexp_instr": [
        Case(f"regexp_instr(x_{short}, '{pattern}')", raw=True) for short in TEXTS for pattern in PATTERNS
    ],
    "regexp_like": [
        *(Case(f"regexp_like(x_{short}, '{pattern}')", raw=True) for short in TEXTS for pattern in PATTERNS),
        *(Case(f"regexp_like(x_{short}, '{pattern}', 'i')", raw=True) for short in TEXTS for pattern in PATTERNS),
    ],
    # of a date PostgreSQL makes the midnight of the session's zone; the gate the same, without a zone, for the session
    "date_trunc": [
        Case(f"date_trunc('{field}', x_{short})", type="timestamp" if short == "d" else None)
        for short in MOMENTS
        for field in TRUNCATIONS
    ]
    + [
        Case(
            f"date_trunc('{field}', x_tz, 'Asia/Tokyo')",
            postgresql=within_years(f"date_trunc('{field}', x_tz, 'Asia/Tokyo')"),
        )
        for field in TRUNCATIONS
    ],
}


def match_cases() -> Iterator[Case]:
    for name, short, pattern in product(sorted(MATCHES), TEXTS, PATTERNS):
        yield Case(f"x_{short} {name} '{pattern}'", raw=True)
    yield Case("x_t SIMILAR TO '(a|b)%'", raw=True)


def member_cases() -> Iterator[Case]:
    for name, key in product(sorted(MEMBERS), ("'a'", "'b'", "'it''s'", "0", "-1", "5")):
        shown = "text" if name == "->" else None  # as a key of a group, which may be cut
        yield Case(f"x_j {name} {key}", raw=True, type=shown)
        yield Case(f"x_j -> 'b' {name} {key}", raw=True, type=shown)
    yield Case("length(x_j ->> 'a')", raw=True)
    yield Case("(x_j ->> 'a') = 'x'", raw=True)
    for name, which, value in product(("=", "<>"), ("ANY", "ALL"), ("'a'", "''", "NULL")):
        yield Case(f"{value} {name} {which} (x_at)", raw=True)
    for name, which, value in product(("=", "<>"), ("ANY", "ALL"), ("1", "'2'", "3::bigint")):
        yield Case(f"{value} {name} {which} (x_ai)", raw=True)


def element_cases() -> Iterator[Case]:
    patterns = (*PATTERNS, "(a)(b)?", "([^_]*)_(.*)", "(x)|(a)", " ")
    for name, short, pattern, n in product(("regexp_match", "regexp_split_to_array"), TEXTS, patterns, (1, 2, 5)):
        yield Case(f"({name}(x_{short}, '{pattern}'))[{n}]", raw=True)
        yield Case(f"({name}(x_{short}, '{pattern}', 'i'))[{n}]", raw=True)
    for name, path in product(sorted(PATHS), ("{a}", "{b,0}", "{b,-1}", "{0}", "{}", "{b,a}", "{\"it''s\"}")):
        yield Case(f"x_j {name} '{path}'", raw=True, type="text" if name == "#>" else None)
    for path in ("ARRAY['b', '1']", "'{b,1}'::text[]"):
        yield Case(f"x_j #>> {path}", raw=True)
    for word, other in product(
        ("GREATEST", "LEAST"), ("interval '2 days'", "'30 days'", "y_ts - x_ts", "age(x_ts, y_ts)")
    ):
        yield Case(f"{word}(x_ts - y_ts, {other})")
        yield Case(f"{word}(x_iv, {other})")
        yield Case(f"extract(epoch FROM {word}(x_iv, {other}))")


def concatenation_cases() -> Iterator[Case]:
    yield from (Case(f"x_{a} || y_{b}", raw=True) for a, b in product(TEXTS, TEXTS))
    yield Case("x_c || '|' || x_t", raw=True)


def call_cases() -> Iterator[Case]:
    for cases in CALLS.values():
        yield from cases


GENERATORS = {
    "arithmetic": arithmetic_cases, "moments": moment_cases, "comparisons": comparison_cases, "lists": list_cases,
    "logic": logic_cases, "likes": like_cases, "choices": choice_cases, "casts": cast_cases, "calls": call_cases,
    "concatenations": concatenation_cases, "matches": match_cases, "members": member_cases,
    "elements": element_cases,
}  # fmt: skip


# -- how it is compared


def scope() -> Expressions:
    (node,) = parse_sql("SELECT FROM edge.person AS p")[0].stmt.fromClause
    return Expressions(Names(Sources(edges.schema(), ()).table(node).names, ()))


def native(case: Case) -> Expression | None:
    """What the gate makes of the expression, with the SQL that it would run; None where it refuses it."""
    node = parse_sql(f"SELECT {case.text}")[0].stmt.targetList[0].val
    try:
        return scope().value(node)
    except DiscreetError:
        return None


def gate_values(connection: Connection, expressions: list[str]) -> list[list[str | None]]:
    """The text of the gate's expressions in every row: none of them may fail."""
    shown = ", ".join(f"({sql})::text" for sql in expressions)
    rows = connection.execute(f"SELECT {shown} FROM edge.person p ORDER BY p.id".encode()).fetchall()
    return [list(column) for column in zip(*rows, strict=True)]


def own_values(connection: Connection, text: str, table: str) -> list[str | None]:
    """PostgreSQL's own value in every row, as text; 'raises …' where it raises an error."""
    try:
        rows = connection.execute(f"SELECT ({text})::text FROM {table} p ORDER BY p.id".encode()).fetchall()
    except Error:
        rows = connection.execute("SELECT value FROM edge.each(%s, %s) ORDER BY id", [text, table]).fetchall()
    return [row[0] for row in rows]


def own_type(connection: Connection, text: str, table: str) -> str | None:
    """None where PostgreSQL does not understand the expression; where a constant in it raises an error, any type."""
    try:
        described = connection.execute(f"SELECT ({text}) FROM {table} p LIMIT 0".encode()).description
    except Error as error:
        return None if str(error.sqlstate).startswith(("42", "22P02", "22007")) else "any"
    assert described is not None
    ((name,),) = connection.execute("SELECT format_type(%s, NULL)", [described[0].type_code]).fetchall()
    return str(name)


def same_type(own: str, gate: str, case: Case) -> bool:
    if case.type is not None:
        return gate == case.type
    own, gate = (SHORT_NAMES.get(name, name) for name in (own, gate))
    texts = {"text", "character varying"}
    return own in (gate, "any") or (own in WHOLE and gate in WHOLE | {"numeric"}) or {own, gate} <= texts


def differences(connection: Connection, case: Case, kind: str, values: list[str | None]) -> Iterator[str]:
    """What the gate gives otherwise than PostgreSQL, besides what the case states."""
    table = "edge.person" if case.raw else "edge.plain"
    text = case.postgresql or case.text
    own = own_type(connection, text, table)
    if own is None:
        yield f"{case.text}: the gate accepts what PostgreSQL does not understand"
        return
    if not same_type(own, kind, case):
        yield f"{case.text}: {kind}, PostgreSQL has {own}"
    expected = own_values(connection, text, table)
    instead: list[str | None] | None = None
    for row, (wanted, given) in enumerate(zip(expected, values, strict=True)):
        if wanted is None or not wanted.startswith("raises "):
            without_zone = wanted is not None and case.type is not None and wanted.replace("+00", "") == given
            if wanted != given and not without_zone:
                yield f"{case.text}: row {row} is {given}, PostgreSQL has {wanted}"
            continue
        if case.instead == "NULL or 0":
            fits = given in (None, "0", "-0")
        elif case.instead == "NULL or wider":
            fits = given is None or re.fullmatch(r"-?[0-9.]+(e[+-]?\d+)?", given) is not None
        else:
            instead = instead or own_values(connection, case.instead, table)
            stated = instead[row]
            fits = given == (None if stated is None or stated.startswith("raises ") else stated)
        if not fits:
            yield f"{case.text}: row {row} is {given} where PostgreSQL {wanted}, not {case.instead}"


@pytest.fixture(scope="module")
def edge_values(cluster: Cluster, template: str) -> Iterator[Connection]:
    with created(cluster, "edge_values", template) as database:
        connection = database.connect()
        connection.execute(PINNED)
        edges.create(connection)
        yield connection


@pytest.mark.parametrize("kind", GENERATORS)
def test_the_gate_computes_what_postgresql_computes(edge_values: Connection, kind: str) -> None:
    accepted = [(case, value) for case in GENERATORS[kind]() if (value := native(case)) is not None]
    found: list[str] = []
    for first in range(0, len(accepted), 40):
        part = accepted[first : first + 40]
        given = gate_values(edge_values, [printed(value) for _, value in part])
        for (case, value), texts in zip(part, given, strict=True):
            found += list(differences(edge_values, case, value.native_type, texts))[:3]
    assert found == [], "\n".join(found)


# -- what the tree says of an expression


def untrue(connection: Connection, value: Expression) -> Iterator[str]:
    """What of the facts that an expression carries is not so in a row that holds anything."""
    if not is_total(value):
        yield "is not known to be total"
    sql, wrong = printed(value), dict[str, str]()
    if not value.nullable:
        wrong["NULL"] = "v IS NULL"
    if value.raw is None and value.interval is not None and value.family in FAMILIES_OF_NUMBERS:
        # reals have six digits, quotients at least sixteen, of which the last is rounded; the grid clamps once more
        slack = value.interval.reach / 10 ** (5 if value.family is Family.FLOAT else 15)
        bounds = value.interval.widened(slack)
        ends = [constant(number_constant(end, Family.NUMERIC)) for end in (bounds.lower, bounds.upper)]
        wrong["outside its interval"] = f"v::numeric NOT BETWEEN {ends[0]} AND {ends[1]}"
    domain = known_values(value)
    if domain is not None and not isinstance(value, Column) and value.raw is None:
        wrong["outside its domain"] = f"v NOT IN ({', '.join(map(entry, domain))})"
    for what, condition in wrong.items():
        found = connection.execute(
            f"SELECT count(*) FROM (SELECT {sql} AS v FROM edge.person p OFFSET 0) t WHERE {condition}".encode()
        ).fetchone()
        if found != (0,):
            yield f"is {what} in {found} rows"


@pytest.mark.parametrize("kind", GENERATORS)
def test_what_the_tree_says_of_an_expression_holds_in_every_row(edge_values: Connection, kind: str) -> None:
    accepted = [(case, value) for case in GENERATORS[kind]() if (value := native(case)) is not None]
    assert len(accepted) >= 10
    some = Random(kind).sample(accepted, min(len(accepted), 600))
    found = [f"{case.text} {what}" for case, value in some for what in untrue(edge_values, value)]
    assert found == [], "\n".join(found[:20])


# -- what is made of released numbers

HALVES = ["0.5", "1.5", "2.5", "-0.5", "-2.5", "0.49999999999999994", "9007199254740992", "-7", "1e30", "-1e30"]


@pytest.mark.parametrize("kind", ["real", "double precision", "numeric"])
@pytest.mark.parametrize("whole", ["smallint", "integer", "bigint"])
def test_released_numbers_are_rounded_as_postgresql_does(edge_values: Connection, kind: str, whole: str) -> None:
    """Beyond the last number of the type that is asked for, it is that one."""
    plan: Any = SimpleNamespace(
        answer_columns=[("a0", kind)], answer_sql="SELECT measured.a0 AS a FROM measured", output=("a",)
    )
    sql = finished_sql(plan, [whole]).replace("$1", "%s::jsonb", 1)
    given = edge_values.execute(sql.encode(), [json.dumps([[text] for text in HALVES])]).fetchall()
    for text, (value,) in zip(HALVES, given, strict=True):
        try:
            ((expected,),) = edge_values.execute(f"SELECT '{text}'::{kind}::{whole}::text".encode()).fetchall()
        except NumericValueOutOfRange:
            expected = str(
                (2 ** (8 * {"smallint": 2, "integer": 4, "bigint": 8}[whole] - 1) - 1) * (1 if text[0] != "-" else -1)
            )
        assert (text, str(value)) == (text, expected)


@pytest.mark.parametrize("divided", ["7::bigint", "7::numeric", "7::float8", "7::real"])
@pytest.mark.parametrize("divisor", ["2", "2.5", "'2'", "'2.5'", "0", "'0.0'", "NULL", "2::real", "'0'::float8"])
def test_released_numbers_are_divided_as_postgresql_does(edge_values: Connection, divided: str, divisor: str) -> None:
    """Where the divisor is 0 there is no value; a text that is no whole number divides none, which is refused."""
    node = parse_sql(f"SELECT {divided} / {divisor}")[0].stmt.targetList[0].val
    sql = RawStream()(PostProcessing(frozenset(), (), lambda _: None).rewrite(node))
    quotient = f"{divided} / {divisor}"
    try:
        expected = edge_values.execute(f"SELECT ({quotient})::text, pg_typeof({quotient})::text".encode())
    except DivisionByZero:
        assert edge_values.execute(f"SELECT {sql}".encode()).fetchone() == (None,)
    except InvalidTextRepresentation:
        with suppress(InvalidTextRepresentation):
            assert edge_values.execute(f"SELECT {sql}".encode()).fetchone() == (None,)
    else:
        given = edge_values.execute(f"SELECT ({sql})::text, pg_typeof({sql})::text".encode())
        assert given.fetchone() == expected.fetchone()


# -- that nothing is left out


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_way_to_call_a_function_is_tried(name: str) -> None:
    calls = [parse_sql(f"SELECT {case.text}")[0].stmt.targetList[0].val for case in CALLS[name] if native(case)]
    least, most = FUNCTIONS[name].arity
    assert {len(call.args) for call in calls} == set(range(least, most + 1))


def test_no_other_functions_are_tried() -> None:
    assert CALLS.keys() == FUNCTIONS.keys()


def test_every_construct_is_tried() -> None:
    trees = [parse_sql(f"SELECT {case.text}") for make in GENERATORS.values() for case in make() if native(case)]
    found = [node for tree in trees for node in nodes(tree)]
    assert HANDLERS.keys() - {type(node) for node in found} == {ast.ParamRef}  # read like a literal without a type
    assert OPERATIONS.keys() <= {node.kind for node in found if isinstance(node, ast.A_Expr)}
    casts = {node.typeName.names[-1].sval for node in found if isinstance(node, ast.TypeCast)}
    assert casts >= CAST_TARGETS.keys()
