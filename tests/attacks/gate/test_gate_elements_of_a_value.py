"""Arrays and jsonb that make millions of rows, that fail, or whose elements single out a person."""

import pytest
from tests.attacks.gate.asking import how_it_ends, number
from tests.attacks.target import Target
from tests.databases import Connection

MANY = 300_000
TABLE = """
    CREATE TABLE extra.basket (
        id int PRIMARY KEY, nick text NOT NULL UNIQUE, tags text[], scores int[], info jsonb, aliases text[] UNIQUE);
    INSERT INTO extra.basket
    SELECT n, 'nick ' || n, ARRAY['a', 'b'], ARRAY[n % 7], jsonb_build_array(n % 3), ARRAY['nick ' || n]
    FROM generate_series(1, 400) n;
    SELECT discreet.protect('extra.basket', 'id', dataset => 'people', max_rows => 3);
"""
HOSTILE = [
    f"UPDATE extra.basket SET tags = array_fill('a'::text, ARRAY[{MANY}]) WHERE id = 7",
    "UPDATE extra.basket SET tags = ARRAY[ARRAY['a', 'b'], ARRAY['c', NULL]] WHERE id = 7",
    "UPDATE extra.basket SET info = '5' WHERE id = 7",
    "UPDATE extra.basket SET info = '{\"a\": 1}' WHERE id = 7",
    "UPDATE extra.basket SET info = 'null', tags = NULL, scores = '{}' WHERE id = 7",
]
QUESTIONS = [
    "SELECT count(*) FROM extra.basket, unnest(tags) AS tag",
    "SELECT count(*) FROM extra.basket, unnest(tags) AS tag WHERE tag = 'a'",
    "SELECT count(*) FROM extra.basket, jsonb_array_elements(info) AS e",
    "SELECT count(*) FROM extra.basket, jsonb_array_elements_text(info) AS e(v) WHERE v <> '1'",
    "SELECT count(*) FROM extra.basket, jsonb_object_keys(info) AS k",
    "SELECT count(*) FROM extra.basket b WHERE EXISTS (SELECT FROM jsonb_array_elements(b.info) AS e)",
    "SELECT sum(least(greatest(score, 0), 9)) FROM extra.basket, unnest(scores) AS score",
]
TRACKERS = [
    "SELECT count(*) FROM extra.basket, unnest(aliases) AS a WHERE a = 'nick 7'",
    "SELECT a, count(*) FROM extra.basket, unnest(aliases) AS a GROUP BY a",
    "SELECT count(*) FROM extra.basket b WHERE EXISTS (SELECT FROM unnest(b.aliases) AS a WHERE a = 'nick 7')",
    "SELECT count(*) FROM extra.basket b WHERE 'nick 7' IN (SELECT a FROM unnest(b.aliases) AS a)",
]


@pytest.fixture
def baskets(gated: Target) -> Target:
    gated.admin.execute(f"SET client_min_messages = warning; {TABLE}; RESET client_min_messages")
    return gated


def test_one_person_makes_many_rows_in_a_plain_join(baskets: Target) -> None:
    baskets.admin.execute(HOSTILE[0])
    assert int(str(baskets.value("SELECT count(*) FROM extra.basket, unnest(tags) AS tag"))) > MANY


def test_one_person_counts_as_the_limit_says(baskets: Target, blind: Connection) -> None:
    """At epsilon 5 the noise of a count of 3 rows a person is above 40 once in 10^28 answers."""
    baskets.admin.execute("UPDATE discreet._budget SET amount_limit = 100, epsilon_limit = 100")
    baskets.admin.execute(HOSTILE[0])
    assert abs(float(number(blind, QUESTIONS[0], "5")) - 801) < 40


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("change", HOSTILE)
def test_no_value_makes_a_question_fail(baskets: Target, blind: Connection, change: str, question: str) -> None:
    baskets.admin.execute(change)
    assert how_it_ends(blind, question) == "answer"


@pytest.mark.parametrize("question", TRACKERS)
def test_elements_of_a_unique_value_single_out_a_person(baskets: Target, blind: Connection, question: str) -> None:
    with baskets.free():
        assert how_it_ends(blind, question) in ("DP001", "DP002")
