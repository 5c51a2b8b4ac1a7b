"""Constant intervals, dates that move, and the moment of a question."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from pglast import ast
from tests.corpus.sample import planned

from discreet.core.errors import DiscreetError
from discreet.core.printing import printed
from discreet.gate.parse import parse
from discreet.gate.printer import printed as sql_of
from discreet.gate.times import duration, with_moment


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("1 year", "12 months 0 days 0:0:0.000000"),
        ("1 year 2 mons -3 days", "14 months -3 days 0:0:0.000000"),
        ("-1 days +02:03:00", "0 months -1 days 2:3:0.000000"),
        ("-00:00:01.5", "0 months 0 days -0:0:1.500000"),
        ("2 WEEKS", "0 months 14 days 0:0:0.000000"),
        ("1.5 hours 10 minutes", "0 months 0 days 1:40:0.000000"),
        ("3 centuries 1 decade", "3720 months 0 days 0:0:0.000000"),
        ("100:00:00", "0 months 0 days 100:0:0.000000"),
    ],
)
def test_an_interval_is_read_as_postgresql_writes_it(text: str, sql: str) -> None:
    assert sql_of(duration(text, None)) == f"'{sql}'::pg_catalog.interval"


@pytest.mark.parametrize(
    "text", ["", " ", "1", "year", "1 mon ago", "@ 1 day", "1.5 years", "P1Y", "infinity", "1 day'"]
)
def test_what_means_no_plain_interval_is_refused(text: str) -> None:
    with pytest.raises(DiscreetError, match="is no interval"):
        duration(text, None)


@pytest.mark.parametrize("text", ["1001 years", "-400000 days", "99999999:00:00", "999999999 seconds 9000000:00:00"])
def test_what_reaches_farther_than_dates_do_is_refused(text: str) -> None:
    with pytest.raises(DiscreetError, match="more than 1000 years"):
        duration(text, None)


def test_a_moved_date_outside_the_known_years_is_no_value() -> None:
    (condition,) = planned(
        "SELECT count(*) FROM hr.employee WHERE hired + interval '1 month' > '2024-01-01'"
    ).conditions
    assert "::pg_catalog.interval) OPERATOR(pg_catalog.>=) '0001-01-01'::pg_catalog.date" in sql_of(condition)


IN_INDIA = datetime(2024, 5, 6, 1, tzinfo=timezone(timedelta(hours=5, minutes=30)))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("CURRENT_DATE", "CAST('2024-05-05' AS pg_catalog.date)"),
        ("CURRENT_TIMESTAMP", "CAST('2024-05-05 19:30:00+00:00' AS pg_catalog.timestamptz)"),
        ("pg_catalog.now()", "CAST('2024-05-05 19:30:00+00:00' AS pg_catalog.timestamptz)"),
        ("LOCALTIMESTAMP", "CAST('2024-05-05 19:30:00' AS pg_catalog.\"timestamp\")"),
        ("CURRENT_USER", "CURRENT_USER"),
        ("mine.now()", "mine.now()"),
        ("now(1)", "now(1)"),
        ("clock_timestamp()", "clock_timestamp()"),
    ],
)
def test_the_moment_of_a_question_is_a_constant_in_utc(written: str, meant: str) -> None:
    tree: Any = with_moment(parse(f"SELECT {written}"), lambda: IN_INDIA)
    assert isinstance(tree, ast.SelectStmt)
    assert printed(tree) == f"SELECT {meant}"
