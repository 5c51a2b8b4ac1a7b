"""Constants are computed in the session, as the asker: the gate knows a question by their values."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from tests.database.gate.conftest import Asker
from tests.messages import refused

COUNT = "SELECT count(*) FROM hr.employee WHERE "
# what is written, and the value that it is
FOLDED = [
    ("hired > date '2020-01-01' - interval '90' day", "hired > timestamp '2019-10-03'"),
    ("hired > date '2020-01-01' - interval '90' day * 2", "hired > timestamp '2019-07-05'"),
    ("hired > make_date(2015, 5, 5)", "hired > date '2015-05-05'"),
    ("hired > make_date(2015, 5, 5) + make_interval(days => 10)", "hired > timestamp '2015-05-15'"),
    ("salary > power(10, 4) * 5", "salary > 50000::float8"),
    ("salary > 10 ^ 4 + 1.5::numeric(3,1)", "salary > 10001.5::float8"),
    ("dept = initcap('sales')", "dept = 'Sales'"),
    ("dept = ANY (string_to_array('Sales,Legal', ','))", "dept IN ('Sales', 'Legal')"),
    ("dept IN (initcap('sales'), 'Le' || 'gal')", "dept IN ('Sales', 'Legal')"),
    ("(salary > 5000) = (2 > 1)", "(salary > 5000) = true"),
    ("CASE lower('A') WHEN 'a' THEN salary > 5 END", "CASE 'a'::text WHEN 'a' THEN salary > 5 END"),
    ("CASE dept WHEN initcap('sales') THEN true END", "CASE dept WHEN 'Sales' THEN true END"),
]
# what PostgreSQL knows when the statement runs
STABLE = [
    "hired > to_date('01 Feb 2020', 'DD Mon YYYY')",
    "hired > current_date - 3000",
    "hired > date_trunc('day', now()) - interval '9 years'",
    "hired > to_timestamp('2015-05-05', 'YYYY-MM-DD')",
    "hired > to_timestamp(1500000000)",
    "hired > (timestamptz '2015-05-05 23:30:00+00')::date",
    "hired > timestamptz '2015-05-05' AT TIME ZONE 'Asia/Tokyo'",
    "age(now(), now()) = interval '0' AND salary > 5000",
    "extract(year FROM hired) > extract(year FROM now()) - 5",
    "dept = coalesce(current_setting('own.dept', true), 'Sales')",
    "dept <> current_user",
]


@pytest.fixture
def exact(asker: Asker) -> Iterator[Asker]:
    asker.connection.execute("SET discreet.epsilon = 100")
    yield asker
    asker.connection.execute("RESET ALL; DEALLOCATE ALL")


@pytest.mark.parametrize(("written", "value"), FOLDED)
def test_a_question_is_known_by_the_values_of_its_constants(exact: Asker, written: str, value: str) -> None:
    first = exact.plain(COUNT + written)
    assert abs(first[0][0] - exact.truth(COUNT + written)[0][0]) <= 3
    assert exact.plain(COUNT + value) == first
    assert len(exact.charges()) == 1


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize("condition", STABLE)
def test_what_depends_on_the_session_is_what_the_session_says(exact: Asker, condition: str, zone: str) -> None:
    for session in (exact.connection, exact.admin):
        session.execute(f"SET TimeZone = '{zone}'; SET DateStyle = 'SQL, DMY'".encode())
    answer = exact.plain(COUNT + condition)
    truth = exact.truth(COUNT + condition.replace("current_user", f"'{exact.role}'"))
    exact.admin.execute("RESET ALL")
    assert abs(answer[0][0] - truth[0][0]) <= 3


def test_a_prepared_statement_computes_its_constants_anew(exact: Asker) -> None:
    exact.plain(f"PREPARE asked(int) AS {COUNT} salary > power(10, $1) AND dept <> current_setting('own.word')")
    for _ in range(2):
        exact.plain("SET own.word = 'Sales'")
        exact.plain("EXECUTE asked(4)")
    assert len(exact.charges()) == 1
    exact.plain("SET own.word = 'Legal'")
    exact.plain("EXECUTE asked(4)")
    exact.plain("EXECUTE asked(3)")
    assert len(exact.charges()) == 3


def test_functions_of_the_asker_run_with_the_rights_of_the_asker(exact: Asker) -> None:
    exact.admin.execute(f"CREATE SCHEMA own_functions AUTHORIZATION {exact.role}")
    try:
        exact.plain(
            "CREATE FUNCTION own_functions.least_pay() RETURNS numeric STABLE LANGUAGE sql"
            " AS $$ SELECT 5000::numeric WHERE current_user = session_user $$"
        )
        assert abs(exact.plain(COUNT + "salary > own_functions.least_pay()")[0][0] - 200) <= 3
        exact.plain(
            "CREATE FUNCTION own_functions.peek() RETURNS numeric STABLE LANGUAGE plpgsql"
            " AS $$ BEGIN RETURN (SELECT max(salary) FROM ONLY hr.secret_pay); END $$"
        )
        exact.admin.execute("CREATE TABLE hr.secret_pay (salary numeric)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            exact.plain(COUNT + "salary > own_functions.peek()")
    finally:
        exact.admin.execute("DROP SCHEMA own_functions CASCADE; DROP TABLE IF EXISTS hr.secret_pay")


@pytest.mark.parametrize(
    ("condition", "state"),
    [("salary > 1 / 0", "22012"), ("hired > to_date('x', 'YYYY')", "22007"), ("salary > $a$x$a$::numeric", "22P02")],
)
def test_an_error_in_a_constant_is_the_askers_own_and_costs_nothing(exact: Asker, condition: str, state: str) -> None:
    with pytest.raises(psycopg.Error) as error:
        exact.plain(COUNT + condition)
    assert error.value.sqlstate == state
    assert exact.charges() == []


def test_volatile_functions_are_no_constants(exact: Asker) -> None:
    for condition in ("salary > random()", "hired > clock_timestamp()"):
        with refused("DP001", "function", "Write a constant"):
            exact.plain(COUNT + condition)
    assert exact.charges() == []


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_ages_are_those_of_the_calendar_of_the_session(exact: Asker, zone: str) -> None:
    conditions = [
        "extract(year FROM age(dob)) >= 40",
        "age(dob) > interval '40 years'",
        "age(date '2025-01-01', dob) >= interval '40 years 1 day'",
        "date_part('month', age(hired, dob)) = 3",
        "hired - dob > 10000",
    ]
    for session in (exact.connection, exact.admin):
        session.execute(f"SET TimeZone = '{zone}'".encode())
    truths = [exact.truth(COUNT + condition)[0][0] for condition in conditions]
    answers = [exact.plain(COUNT + condition)[0][0] for condition in conditions]
    exact.admin.execute("RESET ALL")
    assert all(abs(answer - truth) <= 3 for answer, truth in zip(answers, truths, strict=True)), (answers, truths)


@pytest.mark.parametrize(
    "condition", ["zip ~ '*a'", "zip ~ '[z-a]'", "regexp_count(zip, '[[:nothing:]]') > 0", "zip !~* '\\xzz'"]
)
def test_a_pattern_that_postgresql_does_not_understand_costs_nothing(exact: Asker, condition: str) -> None:
    with refused("DP001", "PostgreSQL does not understand the question", "types and names"):
        exact.plain(COUNT + condition)
    assert exact.charges() == []
