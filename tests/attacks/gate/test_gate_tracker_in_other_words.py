"""A tracker in other words: De Morgan, arithmetic, lists, rows, arrays, casts, CASE, parameters."""

import psycopg
import pytest
from tests.attacks.gate.asking import assert_tracker_refused
from tests.attacks.target import Target
from tests.databases import Connection

WORDS = {
    "De Morgan": "NOT (id <> 7 AND NOT smoker)",
    "arithmetic": "id + 0 = 7 OR smoker",
    "list": "id IN (7) OR smoker",
    "row": "(id, dept) = (7, 'dept 2') OR smoker",
    "array": "id = ANY (ARRAY[7]) OR smoker",
    "cast": "id::text = '7' OR smoker",
    "between": "id BETWEEN 7 AND 7 OR smoker",
    "case": "CASE WHEN id = 7 THEN true ELSE smoker END",
    "nullif": "NULLIF(id, 7) IS NULL OR smoker",
    "coalesce": "COALESCE(id, 0) = 7 OR smoker",
    "greatest": "GREATEST(id, 7) = 7 AND LEAST(id, 7) = 7 OR smoker",
    "another column": "salary - 1000 = id OR smoker",
}


@pytest.mark.parametrize("name", WORDS)
def test_other_words_are_refused_too(gated: Target, blind: Connection, name: str) -> None:
    assert_tracker_refused(gated, blind, WORDS[name])


def test_so_is_a_parameter(gated: Target, blind: Connection) -> None:
    asked = "SELECT discreet.query_json('SELECT count(*) FROM hr.person WHERE id = $1 OR smoker', 0.1, '{7}')"
    with gated.free(), pytest.raises(psycopg.Error) as caught:
        blind.execute(asked)
    assert caught.value.sqlstate == "DP002"


def test_lint_names_the_tracker(gated: Target, blind: Connection) -> None:
    found = blind.execute("SELECT code FROM discreet.lint('SELECT count(*) FROM hr.person WHERE id = 7 OR smoker')")
    assert ("DP002",) in found.fetchall()
