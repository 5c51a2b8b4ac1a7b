"""Rows of one person that tie in ORDER BY: which of them comes first must not depend on where they lie."""

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection
from tests.exactly import described, totals

from discreet.gate.parse import parse
from discreet.gate.plan import plan

# each person has a visit that counts and one that does not, on one day
TIED = """
    CREATE TABLE extra.dose (person int, day date, amount int);
    INSERT INTO extra.dose SELECT p, '2024-01-01', a FROM generate_series(1, 200) p, unnest('{0, 1}'::int[]) a;
    SELECT discreet.protect('extra.dose', 'person', dataset => 'people', max_rows => 2);
    SELECT discreet.describe_column('extra.dose', 'amount', 0, 1);
"""
ELSEWHERE = """
    CREATE TEMP TABLE kept AS SELECT * FROM extra.dose; DELETE FROM extra.dose;
    INSERT INTO extra.dose SELECT * FROM kept ORDER BY amount DESC; DROP TABLE kept
"""
FIRST = [
    "SELECT sum(amount) FROM (SELECT DISTINCT ON (person) person, amount FROM extra.dose ORDER BY person, day) d",
    "SELECT sum(amount) FROM (SELECT amount, row_number() OVER (PARTITION BY person ORDER BY day) AS n"
    " FROM extra.dose) d WHERE n = 1",
    "SELECT sum(x.amount) FROM (SELECT DISTINCT person FROM extra.dose) p, LATERAL (SELECT d.amount FROM extra.dose d"
    " WHERE d.person = p.person ORDER BY d.day LIMIT 1) x",
    "SELECT sum(a) FROM (SELECT first_value(amount) OVER (PARTITION BY person ORDER BY day) AS a FROM extra.dose) d",
]


def natively(target: Target, question: str) -> object:
    """What the statements of the gate find, before any noise."""
    schema, harmless = described(target.admin, question, "blind")
    return totals(target.admin, plan(parse(question), schema, harmless), ())


def test_rows_elsewhere_change_every_answer_of_postgresql(gated: Target) -> None:
    gated.admin.execute(TIED)
    before = [gated.value(question) for question in FIRST]
    gated.admin.execute(ELSEWHERE)
    assert [gated.value(question) for question in FIRST] != before


def test_and_none_of_the_gate(gated: Target) -> None:
    gated.admin.execute(TIED)
    before = [natively(gated, question) for question in FIRST]
    gated.admin.execute(ELSEWHERE)
    assert [natively(gated, question) for question in FIRST] == before


NUMBERED = [
    "(SELECT DISTINCT ON (person) person, row_number() OVER (PARTITION BY person ORDER BY day) AS n"
    " FROM extra.dose ORDER BY person, amount) d",
    "(SELECT DISTINCT person FROM extra.dose) p, LATERAL (SELECT row_number() OVER () AS n FROM extra.dose d"
    " WHERE d.person = p.person ORDER BY d.amount LIMIT 1) x",
]


@pytest.mark.parametrize("source", NUMBERED)
def test_rows_are_numbered_and_then_picked_by_what_they_hold(gated: Target, source: str) -> None:
    """PostgreSQL numbers rows that agree by place, and so picks them; the gate picks by their columns and numbers."""
    gated.admin.execute(TIED)
    question = f"SELECT sum(least(n, 2)) FROM {source}"
    before = natively(gated, question)
    gated.admin.execute(ELSEWHERE)
    assert natively(gated, question) == before


IN_ORDER = [
    "string_agg(amount::text, ',' ORDER BY day) AS r FROM extra.dose GROUP BY person) d WHERE r = '1,0'",
    "mode() WITHIN GROUP (ORDER BY amount) AS r FROM extra.dose GROUP BY person) d WHERE r = 1",
    "max(n) AS r FROM (SELECT person, amount, row_number() OVER (PARTITION BY person ORDER BY min(day)) AS n"
    " FROM extra.dose GROUP BY person, amount) x WHERE amount = 1 GROUP BY person) d WHERE r = 1",
]


@pytest.mark.parametrize("each", IN_ORDER)
def test_texts_in_a_row_and_groups_go_by_what_they_hold(gated: Target, each: str) -> None:
    gated.admin.execute(TIED)
    question = f"SELECT count(*) FROM (SELECT person, {each}"
    before = natively(gated, question)
    gated.admin.execute(ELSEWHERE)
    assert natively(gated, question) == before


def test_a_quantile_of_equal_numbers_is_of_one_spelling(gated: Target) -> None:
    gated.admin.execute(SPELLED)
    question = (
        "SELECT count(*) FROM (SELECT person, percentile_disc(0.5) WITHIN GROUP (ORDER BY amount) AS m FROM extra.dose"
        " GROUP BY person) d WHERE length(m::text) > 3"
    )
    before, natural = natively(gated, question), gated.value(question)
    gated.admin.execute(OTHER_SPELLING)
    assert gated.value(question) != natural
    assert natively(gated, question) == before


TWICE = [
    "row_number() OVER (PARTITION BY person ORDER BY day) AS n,"
    " row_number() OVER (PARTITION BY person ORDER BY amount) AS m",
    "ntile(2) OVER (PARTITION BY person ORDER BY day) AS n, ntile(2) OVER (PARTITION BY person ORDER BY day DESC) AS m",
    "row_number() OVER (PARTITION BY person ORDER BY amount) AS n,"
    " count(*) OVER (PARTITION BY person ORDER BY amount DESC ROWS UNBOUNDED PRECEDING) AS m",
    "row_number() OVER (PARTITION BY person) AS n, row_number() OVER (PARTITION BY person, day) AS m",
]


@pytest.mark.parametrize("numbers", TWICE)
def test_two_orders_that_number_rows_which_agree_are_refused(gated: Target, blind: Connection, numbers: str) -> None:
    """Two sorts pair the numbers of rows that agree by where these lie, and other people's rows change that."""
    gated.admin.execute(TIED)
    with gated.free():
        assert how_it_ends(blind, f"SELECT count(*) FROM (SELECT {numbers} FROM extra.dose) d WHERE n = m") == "DP001"


def test_one_order_numbers_rows_twice_and_rank_goes_with_any(gated: Target, blind: Connection) -> None:
    gated.admin.execute(TIED)
    one = "row_number() OVER (PARTITION BY person ORDER BY day)"
    for other in (
        "lag(amount) OVER (PARTITION BY person ORDER BY day)",
        "rank() OVER (PARTITION BY person ORDER BY amount)",
        "count(*) OVER (PARTITION BY person)",
    ):
        question = f"SELECT count(*) FROM (SELECT {one} AS n, {other} AS m FROM extra.dose) d WHERE n = 1"
        assert how_it_ends(blind, question) == "answer"


SPELLED = """
    CREATE TABLE extra.dose (person int, amount numeric);
    INSERT INTO extra.dose
        SELECT p, a FROM generate_series(1, 200) p, unnest('{1.0, 1.0000000000000000000000000000}'::numeric[]) a;
    SELECT discreet.protect('extra.dose', 'person', dataset => 'people', max_rows => 2);
    SELECT discreet.describe_column('extra.dose', 'amount', 0, 1);
"""
OTHER_SPELLING = """
    CREATE TEMP TABLE kept AS SELECT * FROM extra.dose; DELETE FROM extra.dose;
    INSERT INTO extra.dose SELECT * FROM kept ORDER BY scale(amount) DESC; DROP TABLE kept
"""


def test_of_equal_numbers_distinct_keeps_one_spelling(gated: Target) -> None:
    """The digits of a quotient follow the spelling of the number that is divided."""
    gated.admin.execute(SPELLED)
    question = (
        "SELECT count(*) FROM (SELECT person, sum(DISTINCT amount) / 3 AS r FROM extra.dose GROUP BY person) d"
        " WHERE r > 0.33333333333333333333"
    )
    before, natural = natively(gated, question), gated.value(question)
    gated.admin.execute(OTHER_SPELLING)
    assert gated.value(question) != natural
    assert natively(gated, question) == before
