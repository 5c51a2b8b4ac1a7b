"""A cross table of incomes, in which one cell is the income of one person: far above any threshold of people."""

from __future__ import annotations

import psycopg
import pytest
from tests.databases import Connection

INCOMES = """
    CREATE TABLE person (town text, job text, income int);
    INSERT INTO person SELECT t, j, 30000 + n FROM unnest('{A,B,C}'::text[]) t, unnest('{cook,clerk}'::text[]) j,
        generate_series(1, 9) n;
    INSERT INTO person SELECT t, 'mayor', 50000 + n FROM unnest('{A,B}'::text[]) t, generate_series(1, 4) n;
    INSERT INTO person VALUES ('C', 'mayor', 87654);
"""
NAIVE = """
    SELECT sum(income) FROM (SELECT town, job, sum(income) AS income FROM person GROUP BY 1, 2) cells
    WHERE income >= 3 AND (town, job) = ('C', 'mayor')
"""


def test_a_threshold_on_the_sum_publishes_the_mayors_income(admin: Connection) -> None:
    admin.execute(INCOMES)
    assert admin.execute(NAIVE).fetchall() == [(87654,)]


def test_sums_that_were_made_before_are_not_taken_for_counts(admin: Connection) -> None:
    admin.execute(INCOMES)
    admin.execute("CREATE TABLE sums AS SELECT town, job, sum(income)::int AS income FROM person GROUP BY 1, 2")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="may hold counts or sums"):
        admin.execute("SELECT discreet.suppress('sums', '{town,job}', 'income', 3, 'published')")


def test_the_mayors_income_is_hidden_and_cannot_be_computed(admin: Connection) -> None:
    admin.execute(INCOMES)
    admin.execute("SELECT discreet.suppress('person', '{town,job}', 'income', 3, 'published')")
    shown = "SELECT income FROM published WHERE (town, job) = ('C', 'mayor')"
    assert admin.execute(shown).fetchall() == [(None,)]
    told = """SELECT disclosed FROM discreet.audit_cells('published', '{town,job}', 'income')
              WHERE cell = '{"town": "C", "job": "mayor"}'"""
    assert admin.execute(told).fetchall() == [(False,)]
