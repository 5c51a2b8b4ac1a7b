"""Constants as PostgreSQL prints them: with types, in arrays, of types that the gate knows by name only."""

from __future__ import annotations

from typing import Any

import pytest
from tests.corpus.sample import SCHEMA, planned

from discreet.core.errors import DiscreetError
from discreet.gate.expressions import array_elements
from discreet.gate.printer import printed as sql
from discreet.gate.schema import Column, Relation, Schema

KINDS = Relation(
    "hr", "kinds",
    {
        name: Column(name, type_name)
        for name, type_name in {
            "id": "integer", "mood": "hr.mood", "odd": '"My ""Schema"."The.Mood"', "u": "uuid", "q": '"char"',
            "t": "time without time zone", "bits": "bit", "c": "character",
        }.items()
    },
    SCHEMA.relations["hr", "employee"].protection,
)  # fmt: skip
WITH_KINDS = Schema({("hr", "kinds"): KINDS}, SCHEMA.datasets)


def conditions(text: str) -> tuple[str, ...]:
    found = planned(f"SELECT count(*) FROM hr.kinds WHERE {text}", schema=WITH_KINDS).conditions
    return tuple(map(sql, found))


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("{}", []),
        (" { } ", []),
        ("{1,2}", ["1", "2"]),
        ("{ a b , c }", ["a b", "c"]),
        ('{"a,b","c\\"d","e\\\\f",""}', ["a,b", 'c"d', "e\\f", ""]),
        ('{NULL,null,"NULL"}', [None, None, "NULL"]),
    ],
)
def test_an_array_is_read_as_postgresql_writes_it(text: str, elements: list[Any]) -> None:
    assert array_elements(text, None) == elements


@pytest.mark.parametrize(
    "text", ["", "1,2", "{1,2", "{1,}", "{,1}", "{{1},{2}}", '{"a}', '{a"b"}', "[0:1]={1,2}", "{1}x"]
)
def test_what_is_no_plain_array_is_refused(text: str) -> None:
    with pytest.raises(DiscreetError, match="is no list"):
        array_elements(text, None)


@pytest.mark.parametrize(
    "text",
    [
        "mood = 'sad'", "mood = 'sad'::hr.mood", "mood <> 'sad'::hr.mood", "mood IS DISTINCT FROM 'sad'::hr.mood",
        "mood = ANY ('{sad,glad}'::hr.mood[])", "mood = ANY (ARRAY['sad'::hr.mood, 'glad'::hr.mood])",
        "mood::hr.mood = 'sad'::hr.mood", "mood::text = 'sad'", "odd = 'x'::\"My \"\"Schema\".\"The.Mood\"",
        "u = 'a'::uuid", "q = 'x'::\"char\"", "t = '10:00:00'::time without time zone", "c = 'ab  '::bpchar",
    ],
)  # fmt: skip
def test_a_constant_of_another_type_is_compared_by_its_text(text: str) -> None:
    (condition,) = conditions(text)
    for kind in ("hr.mood", "The.Mood", "uuid", "::time", '"char"'):
        assert kind not in condition  # nobody's input function is run


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("u = '{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("t = '10:00'", "10:00:00"),
        ("t = '10:00:00.500'::time", "10:00:00.5"),
    ],
)
def test_such_a_constant_is_written_as_postgresql_writes_it(text: str, written: str) -> None:
    (condition,) = conditions(text)
    assert f"'{written}'" in condition


@pytest.mark.parametrize(
    "text",
    [
        "mood = 'sad'::hr.other", "mood = 'sad'::mood", "u = 'a'::hr.mood", "mood = u", "mood < 'sad'::hr.mood",
        "mood = 'a'::text", "c::hr.evil = 'a'", "mood::hr.evil = 'a'", "u::bytea = 'x'",
        "mood = ANY ('{sad}'::hr.other[])", "u > 'a'::uuid",
    ],
)  # fmt: skip
def test_types_that_are_not_the_column_s_own_are_refused(text: str) -> None:
    with pytest.raises(DiscreetError):
        conditions(text)


@pytest.mark.parametrize(
    ("plain", "printed"),
    [
        ("salary > 5", "salary > (5)::numeric"),
        ("salary > 0.5", "salary > '0.5'::numeric"),
        ("dept LIKE 'S%'", "dept ~~ 'S%'::text"),
        ("dept NOT ILIKE 's%'", "dept !~~* 's%'::text"),
        ("dept IN ('a', 'b')", "dept = ANY (ARRAY['a'::text, 'b'::text])"),
        ("dept NOT IN ('a', 'b')", "dept <> ALL ('{a,b}'::text[])"),
        ("dept IN ('a', 'b')", "dept::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[])"),
        ("extract(year FROM hired) = 2020", "EXTRACT(year FROM hired) = (2020)::numeric"),
    ],
)
def test_what_postgresql_prints_means_the_same(plain: str, printed: str) -> None:
    question = "SELECT count(*) FROM hr.employee WHERE {}"
    assert planned(question.format(plain)) == planned(question.format(printed))


def test_a_cast_constant_stays_a_constant() -> None:
    plain = "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY salary), round(avg(salary), 2) FROM hr.employee"
    printed = plain.replace("(0.5)", "((0.5)::double precision)")
    assert planned(plain) == planned(printed)


def test_null_of_a_type_is_null() -> None:
    plain = "SELECT avg(CASE WHEN gender = 'F' THEN salary END) FROM hr.employee"
    printed = "SELECT avg(CASE WHEN gender = 'F'::text THEN salary ELSE NULL::numeric END) FROM hr.employee"
    assert planned(plain).measurements[0].subject.grid == planned(printed).measurements[0].subject.grid
