"""Moving windows: now() of a question goes in steps, so that questions of one step are paid once. No test depends on
time: steps of a hundred years begin in 2000.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.database.gate.conftest import Asker
from tests.messages import notices, refused

STEPS = [
    ("2024-05-17 17:14:12.5+00", "1 hour", "UTC", "2024-05-17 17:00:00+00"),
    ("2024-05-17 17:14:12+00", "15 minutes", "UTC", "2024-05-17 17:00:00+00"),
    ("2024-05-17 17:14:12+00", "90 minutes", "UTC", "2024-05-17 16:30:00+00"),
    ("2024-05-17 17:14:12+00", "1 hour", "Asia/Kolkata", "2024-05-17 16:30:00+00"),
    ("2024-05-17 23:14:12+00", "1 day", "Asia/Kolkata", "2024-05-17 18:30:00+00"),
    ("2024-05-17 17:14:12+00", "1 week", "UTC", "2024-05-13 00:00:00+00"),
    ("2024-05-17 17:14:12+00", "1 month", "UTC", "2024-05-01 00:00:00+00"),
    ("2024-05-17 17:14:12+00", "3 months", "UTC", "2024-04-01 00:00:00+00"),
    ("1999-12-31 23:59:59+00", "1 week", "UTC", "1999-12-27 00:00:00+00"),
    # the night in which an hour comes twice
    ("2024-10-27 01:30:00+00", "1 day", "Europe/Berlin", "2024-10-26 22:00:00+00"),
    ("2024-10-27 00:30:00+00", "1 hour", "Europe/Berlin", "2024-10-27 00:00:00+00"),
    ("2024-10-27 01:30:00+00", "1 hour", "Europe/Berlin", "2024-10-27 01:00:00+00"),
    ("infinity", "1 day", "UTC", "infinity"),
]
NO_STEPS = [
    "0",
    "-1 hour",
    "1 day 2 hours",
    "1 month 1 day",
    "0.5 seconds",
    "1001 years",
    "366000 days",
    "9000000 hours",
]
LONGEST_STEPS = ["1000 years", "365000 days", "8760000 hours"]
CENTURY = "100 years"
WINDOW = "hired >= now() - interval '1 year' AND hired < now()"
TOLD = "now() taken as 2000-01-01 00:00:00 UTC"


@pytest.fixture
def by_centuries(asker: Asker) -> Iterator[Asker]:
    asker.plain(f"SET discreet.round_time = '{CENTURY}'")
    asker.plain("SET timezone = 'UTC'")
    yield asker
    asker.plain("RESET discreet.round_time; RESET timezone")


@pytest.mark.parametrize(("moment", "every", "zone", "step"), STEPS)
def test_the_last_step_not_after_a_moment(asker: Asker, moment: str, every: str, zone: str, step: str) -> None:
    asker.admin.execute("SELECT set_config('timezone', %s, false)", [zone])
    same = "SELECT discreet.round_time(%s, %s) = %s::timestamptz"
    assert asker.admin.execute(same, [moment, every, step]).fetchone() == (True,)
    asker.admin.execute("RESET timezone")


@pytest.mark.parametrize("every", NO_STEPS)
def test_what_is_no_step_is_refused(asker: Asker, every: str) -> None:
    with refused("22023", "discreet.round_time", "Give months, days, or hours"):
        asker.plain(f"SET discreet.round_time = '{every}'")
    with refused("22023", "every is no step", "Give months, days, or hours"):
        asker.plain(f"SELECT discreet.create_view('pg_temp.w', 'SELECT count(*) FROM hr.employee', every => '{every}')")


@pytest.mark.parametrize("every", LONGEST_STEPS)
def test_the_longest_steps_begin_in_a_year_that_python_knows(asker: Asker, every: str) -> None:
    asker.plain(f"SET discreet.round_time = '{every}'")
    told = notices(asker.connection)
    asker.plain("SELECT count(*) FROM hr.employee WHERE hired < now()")
    assert "now() taken as 200" in str(told[-1][1])
    asker.plain("RESET discreet.round_time")


@pytest.mark.parametrize(
    "condition",
    [
        WINDOW,
        "hired > CURRENT_DATE - 365",
        "hired > CURRENT_TIMESTAMP(2) - interval '1 year'",
        "hired::timestamp > LOCALTIMESTAMP - interval '1 year'",
        "hired > statement_timestamp() - interval '1 year'",
        "hired > date_trunc('month', transaction_timestamp())",
        "age(hired) < interval '1 year'",
        "extract(epoch FROM now()) - extract(epoch FROM hired) < 1e7",
    ],
)
def test_a_window_that_moves_is_paid_once_in_a_step(by_centuries: Asker, condition: str) -> None:
    """Each statement is a transaction of its own, with a now() of its own."""
    question = f"SELECT dept, count(*) FROM hr.employee WHERE {condition} GROUP BY dept"
    told = notices(by_centuries.connection)
    first = sorted(by_centuries.plain(question))
    assert TOLD in str(told[-1][1])
    by_centuries.plain("SELECT pg_sleep(0.002)")
    assert sorted(by_centuries.plain(question)) == first
    assert "answered again from the store, free of charge" in str(told[-1][1])
    assert len(by_centuries.charges()) == 1
    by_centuries.plain("RESET discreet.round_time")
    by_centuries.plain(question)
    assert "now() taken" not in str(told[-1][1])


def test_the_function_goes_by_the_same_clock(by_centuries: Asker) -> None:
    told = notices(by_centuries.connection)
    question = f"SELECT count(*) FROM hr.employee WHERE {WINDOW}"
    plain = by_centuries.plain(question)
    assert by_centuries.json(question, None) == [{"count": plain[0][0]}]
    assert len(by_centuries.charges()) == 1
    span = "hired from 1999-01-01"
    assert all(f"{TOLD}: {span}" in str(text) for _, text, *_ in told), told
    ((caveats,),) = by_centuries.plain("SELECT caveats FROM discreet.last_answer")
    assert any(span in caveat for caveat in caveats)
    assert any(span in caveat for caveat in by_centuries.explain(question)["caveats"])
    explained = "\n".join(line for (line,) in by_centuries.plain(f"EXPLAIN {question}"))
    assert span in explained
    assert "Price: nothing" in explained


def test_the_answer_is_that_of_the_step(by_centuries: Asker) -> None:
    by_centuries.plain("SET discreet.epsilon = 50")
    ((answer,),) = by_centuries.plain("SELECT count(*) FROM hr.employee WHERE hired < now()")
    ((truth,),) = by_centuries.truth("SELECT count(*) FROM hr.employee WHERE hired < '2000-01-01'")
    ((everybody,),) = by_centuries.truth("SELECT count(*) FROM hr.employee WHERE hired < now()")
    by_centuries.plain("RESET discreet.epsilon")
    assert abs(answer - truth) <= 3  # 1e-64 beyond it
    assert everybody > truth + 10


def test_nothing_is_told_where_no_clock_is_read(by_centuries: Asker) -> None:
    told = notices(by_centuries.connection)
    by_centuries.plain("SELECT count(*) FROM hr.employee WHERE hired > '2001-01-01'")
    by_centuries.json("SELECT count(*) FROM hr.employee WHERE hired > '2001-02-01'")
    assert not any("now()" in str(text) for _, text, *_ in told)


def test_what_stands_around_an_answer_has_the_clock_of_the_session(by_centuries: Asker) -> None:
    answer = "(SELECT count(*) AS n FROM hr.employee) AS c"
    ((moment,),) = by_centuries.plain(f"SELECT t.at FROM {answer}, (SELECT now() AS at) AS t")
    assert moment.year > 2000


def test_a_view_is_paid_once_in_a_step(asker: Asker) -> None:
    told = notices(asker.connection)
    asker.plain(
        "SELECT discreet.create_view('pg_temp.lately', $$SELECT dept, count(*) AS n FROM hr.employee"
        f" WHERE {WINDOW} GROUP BY dept$$, 1, every => '{CENTURY}')"
    )
    assert asker.charges() == []
    first = sorted(asker.plain("SELECT * FROM pg_temp.lately"))
    assert TOLD in str(told[-1][1])
    asker.plain("SELECT pg_sleep(0.002)")
    assert sorted(asker.plain("SELECT * FROM pg_temp.lately")) == first
    assert len(asker.charges()) == 1
    asker.plain("DROP VIEW pg_temp.lately")


def test_several_questions_are_checked_by_the_same_clock(by_centuries: Asker) -> None:
    question = f"(SELECT count(*) FROM hr.employee WHERE {WINDOW})"
    by_centuries.plain(f"SELECT {question} + {question}")
    by_centuries.plain(f"SELECT {question} * {question}")
    assert len(by_centuries.charges()) == 1


def test_explain_knows_parameters(asker: Asker) -> None:
    """Constants that are known when the statement runs are parameters of the question."""
    question = "SELECT count(*) FROM hr.employee WHERE hired < CURRENT_DATE"
    told = "\n".join(line for (line,) in asker.plain(f"EXPLAIN {question}"))
    assert "Price: epsilon 0.1" in told
    assert asker.charges() == []
