"""Refusals and errors as the analyst sees them: code, what is wrong and where, what to do. Nothing of the data."""

from __future__ import annotations

import pytest
from tests.database.gate.conftest import Asker
from tests.databases import ledger_elsewhere
from tests.messages import refused

COUNT = "SELECT count(*) FROM hr.employee"


@pytest.mark.parametrize(
    ("code", "question", "message", "hint"),
    [
        ("DP001", "SELECT * FROM hr.employee", "* other than", "Write the columns one by one."),
        ("DP001", "SELECT count(*) FROM hr.employee LIMIT (SELECT 1)", "a subquery around the answer", "SELECT …"),
        ("DP001", COUNT + " WHERE zip::date > '2000-01-01'", "a cast from text to date is not supported in questions",
         "on a row"),
        ("DP001", "DELETE FROM hr.employee", "DELETE is no question", "Ask a SELECT."),
        ("DP001", "", "0 statements", "one SELECT at a time"),
        ("DP002", COUNT + " WHERE id = 7", "column id singles out a person (in: … FROM", "groups"),
        ("DP004", "SELECT count(*) FROM hr.secret", "you hold no budget", "discreet.grant_budget('others', role,"),
        ("DP005", "SELECT sum(household) FROM census.person", "column household has no bounds", "describe_column"),
        ("22023", COUNT + " WHERE zip = '" + "x" * 20_000 + "'", "longer than 20000 characters", None),
    ],
)  # fmt: skip
def test_a_refusal_says_what_and_what_to_do(
    asker: Asker, code: str, question: str, message: str, hint: str | None
) -> None:
    with refused(code, message, hint):
        asker.json(question, 1)
    assert asker.truth("SELECT sum(amount_spent) FROM discreet._budget") == [(0,)]


@pytest.mark.parametrize(
    "around",
    ["SELECT count(*) FROM hr.employee LIMIT -1", "SELECT count(*) FROM hr.employee OFFSET -1",
     "SELECT count(*), 'x'::int FROM hr.employee"],
)  # fmt: skip
def test_what_fails_around_every_answer_fails_before_it_is_paid(asker: Asker, around: str) -> None:
    with refused("DP001", "PostgreSQL does not understand the question", "Check types and names."):
        asker.json(around, 1)
    assert asker.charges() == []


def test_a_constant_that_cannot_be_computed_fails_before_it_is_paid(asker: Asker) -> None:
    with refused("DP001", "a constant of the question has no value: requested length too large", "another one"):
        asker.json("SELECT count(*), repeat('x', 2000000000) FROM hr.employee", 1)
    assert asker.charges() == []


def test_what_would_fail_only_without_rows_is_answered(asker: Asker) -> None:
    groups = "SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept"
    assert len(asker.json(f"SELECT ln(count(*)) AS log FROM ({groups}) d", 1)) == 1


def test_a_threshold_that_cannot_be_computed_is_refused_before_it_is_paid(asker: Asker) -> None:
    change = "UPDATE discreet._protected_table SET max_groups = {} WHERE relation = 'clinic.visit'::regclass"
    ((held,),) = asker.truth(
        "SELECT max_groups FROM discreet._protected_table WHERE relation = 'clinic.visit'::regclass"
    )
    asker.admin.execute(change.format(2_000_000))
    try:
        with refused("22023", "between one and a million keys", None):
            asker.json("SELECT upper(ward), count(*) FROM clinic.visit GROUP BY 1", 1)
        assert asker.charges() == []
    finally:
        asker.admin.execute(change.format(held))


def test_a_question_may_have_more_aggregates_than_a_function_has_arguments(asker: Asker) -> None:
    counts = ", ".join(f"count(*) FILTER (WHERE salary > {n}) AS c{n}" for n in range(101))
    (row,) = asker.json(f"SELECT {counts} FROM hr.employee", 1)
    assert len(row) == 101


def test_an_exhausted_budget_says_how_much_is_left(asker: Asker) -> None:
    asker.admin.execute("UPDATE discreet._budget SET amount_spent = amount_limit WHERE dataset = 'staff'")
    with refused("DP003", "", ""):
        asker.json(COUNT, 1)


def test_without_a_ledger_there_is_no_answer(asker: Asker) -> None:
    with ledger_elsewhere(asker.database, "host=/nowhere"):
        session = asker.database.connect()
        for function in ("query_json", "explain"):
            with refused("DP007", "the ledger is not reachable", ""):
                session.execute(f"SELECT discreet.{function}(%s)", [COUNT])


@pytest.mark.parametrize("question", [None, COUNT])
def test_who_is_no_analyst_may_not_ask(asker: Asker, question: str | None) -> None:
    asker.admin.execute("DROP ROLE IF EXISTS nobody_here; CREATE ROLE nobody_here LOGIN")
    try:
        with refused("42501", "permission denied", None):
            asker.database.connect("nobody_here").execute("SELECT discreet.query_json(%s)", [question])
    finally:
        asker.admin.execute("DROP ROLE nobody_here")


@pytest.mark.parametrize("epsilon", ["0", "-1", "NaN", "Infinity", "101", "1e-10"])
def test_a_price_that_is_none_is_refused(asker: Asker, epsilon: str) -> None:
    with refused("22023", "", ""):
        asker.json(COUNT, epsilon)


@pytest.mark.parametrize(
    ("epsilon", "message"),
    [("NaN", "epsilon must be finite"), ("-1", "epsilon must be positive"), ("1000", "epsilon is too large")],
)
def test_a_view_at_a_price_that_is_none_is_not_created(asker: Asker, epsilon: str, message: str) -> None:
    with refused("22023", message, ""):
        asker.json(COUNT, epsilon)
    with refused("22023", message, ""):
        asker.plain("SELECT discreet.create_view('pg_temp.v', %s, %s)", [COUNT, epsilon])
    assert asker.truth("SELECT FROM pg_class WHERE relname = 'v' AND relkind = 'v'") == []


@pytest.mark.parametrize(
    ("code", "name", "message", "hint"),
    [
        ("22023", "", "cursor_name must not be empty", "answer"),
        ("22023", "é" * 32, "cursor_name is longer than 63 bytes", "shorter"),
        ("42P03", "k1", 'cursor "k1" already exists', "CLOSE"),
    ],
)
def test_a_cursor_that_cannot_be_opened_is_refused_before_it_is_paid(
    asker: Asker, code: str, name: str, message: str, hint: str
) -> None:
    with refused(code, message, hint), asker.connection.transaction():
        asker.plain("DECLARE k1 CURSOR FOR SELECT 1")
        asker.plain("SELECT discreet.ask(%s, 1, %s)", [COUNT, name])
    assert asker.charges() == []


def test_the_longest_name_of_a_cursor_is_taken(asker: Asker) -> None:
    with asker.connection.transaction():
        assert asker.plain("SELECT discreet.ask(%s, 1, %s)", [COUNT, "k" * 63]) == [("k" * 63,)]
        assert len(asker.plain(f"FETCH ALL FROM {'k' * 63}")) == 1


def test_an_error_after_the_data_was_touched_is_paid_and_says_nothing(asker: Asker) -> None:
    """A part of the table that cannot be read stands for whatever could go wrong."""
    asker.admin.execute(
        "CREATE TABLE clinic.stay (who int, day date) PARTITION BY RANGE (day);"
        "SELECT discreet.protect('clinic.stay', 'who', dataset => 'patients', max_rows => 1);"
        "CREATE FOREIGN DATA WRAPPER far; CREATE SERVER away FOREIGN DATA WRAPPER far;"
        "CREATE FOREIGN TABLE clinic.old_stay PARTITION OF clinic.stay DEFAULT SERVER away"
    )
    try:
        with refused("DP000", "the question could not be answered; what it costs is paid", "The reason is not told"):
            asker.json("SELECT count(*) FROM clinic.stay", 1)
        assert asker.spent("patients") == 1
        assert asker.truth("SELECT FROM discreet._answer") == []
    finally:
        asker.admin.execute("SELECT discreet.unprotect('clinic.stay'); DROP TABLE clinic.stay")
        asker.admin.execute("DROP FOREIGN DATA WRAPPER far CASCADE")
