"""Long values: functions, jsonb and tuples of PostgreSQL have an end, and which row comes to it is an answer."""

from __future__ import annotations

import pytest
from tests.attacks.gate.asking import ask, how_it_ends, protect
from tests.attacks.target import Target
from tests.databases import Connection

# One person has all of them. A numeric of eight bytes is written with 131,072 digits.
COLUMNS = "note text, padded bpchar, picture bytea, bits varbit, numbers numeric[], doc jsonb, k int"
ORDINARY = "'note', 'padded', '\\xabcd', B'101', '{1}', '[1]', n % 100 FROM generate_series(1, 600) n"
LONG = """
    repeat('x', {length}), repeat('x', {length}), decode(repeat('00', {length}), 'hex'), repeat('1', {length})::varbit,
    array_fill(1e131071, ARRAY[3000]), to_jsonb(array_fill(1e131071, ARRAY[3000])), 437
"""
UNITS = {"one row each": "id int PRIMARY KEY", "many rows each": "id int"}
MANY = ",".join(f"%y{n}" for n in range(300))
KEYS = ", ".join(f"substr(x, {n})" for n in range(1, 33))
# {} stands for what tells the person
QUESTIONS = [
    *(f"SELECT count(*) FROM (SELECT CASE WHEN {{}} THEN {text} END AS x FROM extra.long) t GROUP BY {KEYS}"
      for text in ("note", "padded", "picture::text", "bits::text", "numbers::text", "doc::text")),
    *(f"SELECT {column}, count(*) FROM extra.long WHERE {{}} OR k < 100 GROUP BY 1"
      for column in ("note", "padded", "picture", "bits", "numbers", "doc")),
    *(f"SELECT count(DISTINCT {column}) FROM extra.long WHERE {{}} OR k < 50" for column in ("note", "picture", "doc")),
    *(f"SELECT count(*) FROM extra.long WHERE {{}} AND {condition}"
      for condition in ("lower(note) <> upper(note)", "trim(note) <> ''", "length(note) + length(padded) > 5",
                        "note ILIKE '%y%'", f"note LIKE ANY ('{{{MANY}}}')",
                        "picture::text = 'y'", "numbers::text <> 'y'", "doc IS DISTINCT FROM '[1]'")),
]  # fmt: skip


def long_values(target: Target, unit: str, length: int) -> None:
    rows = f"SELECT n, {ORDINARY} UNION ALL SELECT 700, {LONG.format(length=length)}"
    protect(target, "long", f"{unit}, {COLUMNS}", rows)


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_no_value_is_too_long(gated: Target, blind: Connection, delta: None, unit: str) -> None:
    long_values(gated, unit, 3_000_000)
    for question in QUESTIONS:
        ends = [how_it_ends(blind, question.replace("{}", who)) for who in ("k >= 437", "k >= 438")]
        assert (question, ends) == (question, ["answer", "answer"])


def test_no_text_is_too_long_for_upper_or_trim(gated: Target, blind: Connection) -> None:
    """PostgreSQL's own end at 256 and at 128 MB."""
    protect(gated, "long", "id int, note text, k int", "SELECT 1, repeat('x', 270000000), 437")
    naive = "SELECT FROM extra.long WHERE upper(note) = 'x'"
    with pytest.raises(Exception, match=r"invalid memory alloc|out of memory"):
        gated.admin.execute(naive)
    for condition in ("upper(note) = 'x'", "trim(note) = 'x'", "note ILIKE '%y'", "substr(note, 1) < substr(note, 2)"):
        assert how_it_ends(blind, f"SELECT count(*) FROM extra.long WHERE {condition}") == "answer"


def test_a_pattern_has_not_more_wildcards_than_the_stack_can_take(gated: Target, blind: Connection) -> None:
    """Each that matches is a call inside a call: only a row that is long enough would end in an error."""
    protect(gated, "noted", "id int, note text", "SELECT 1, repeat('e', 100000)")
    with pytest.raises(Exception, match="stack depth"):
        gated.admin.execute("SELECT FROM extra.noted WHERE note LIKE repeat('%e', 45000)")
    for pattern, end in (("%e" * 45_000, "DP001"), ("%e" * 100, "answer"), ("\\%" * 300, "answer")):
        question = f"SELECT count(*) FROM extra.noted WHERE note LIKE '{pattern[:15_000]}'"
        assert how_it_ends(blind, question) == end
    question = "SELECT count(*) FROM extra.noted WHERE note LIKE $1"
    with pytest.raises(Exception, match="more than 100 wildcards"):
        blind.execute("SELECT discreet.query_json(%s, params => %s)", [question, ["%e" * 45_000]])


def test_there_are_not_more_keys_than_an_answer_can_hold(gated: Target, blind: Connection, delta: None) -> None:
    keys = ", ".join(f"substr(name, {n})" for n in range(1, 98))
    assert how_it_ends(blind, f"SELECT count(*) FROM hr.person GROUP BY {keys}") == "DP001"


def test_texts_that_begin_alike_are_one_group_in_which_a_person_is_once(
    gated: Target, blind: Connection, delta: None
) -> None:
    """Noise at epsilon 0.9 is beyond 40 with a probability below 1e-10."""
    rows = "SELECT p, repeat('ä', 6000) || n FROM generate_series(1, 300) p, generate_series(1, 5) n"
    protect(gated, "alike", "id int, note text", rows)
    ((answer),) = ask(blind, "SELECT note, count(DISTINCT id) AS people FROM extra.alike GROUP BY 1", "0.9")
    assert answer["note"] == "ä" * 5000
    assert abs(int(str(answer["people"])) - 300) < 40
