"""dp_ aggregates in a question to the gate: what they answer, what they cost, and that no value makes them fail."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from tests.database.gate.conftest import Asker
from tests.messages import refused

MOST = 100
CAPPED = "(SELECT avg(least(cost, 500)), count(cost) AS n FROM clinic.visit GROUP BY patient_id) p"

# question, truth, scale of the noise at epsilon 100: off by 17 of them with probability below 5e-8
CLOSE = [
    ("dp_count(*)", "count(*)", 0.01),
    ("dp_count(zip)", "count(zip)", 0.01),
    ("dp_count_distinct(zip)", "count(DISTINCT zip)", 0.01),
    ("dp_sum(salary, 0, 50000)", "sum(least(salary, 50000))", 500),
    ("dp_sum(salary, 60000, 80000)", "sum(greatest(60000, least(salary, 80000)))", 800),
    ("dp_avg(salary, 0, 50000)", "avg(least(salary, 50000))", 2 * 500 / 200),
    ("dp_stddev(salary, 0, 50000)", "stddev(least(salary, 50000))", 100),
    ("dp_variance(salary / 1000, 0, 50)", "variance(least(salary / 1000, 50))", 1),
    ("dp_avg(hired, '2000-01-01', '2025-01-01')",
     "avg(greatest(DATE '2000-01-01', least(hired, DATE '2025-01-01')) - DATE '1970-01-01')", 2 * 92 / 200),
    ("dp_median(salary, 0, 200000)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY salary)", 100),
    ("dp_quantile(salary, 0.25, 0, 200000)", "percentile_cont(0.25) WITHIN GROUP (ORDER BY salary)", 100),
]  # fmt: skip

# column, type: the answer is that of the aggregate outside
TYPES = [
    "dp_count(*)", "dp_count(age, 0.5)", "dp_count_distinct(age)", "dp_sum(age, 0, 9)", "dp_avg(income, 0, 9, 0.5)",
    "dp_variance(age, 0, 9)", "dp_stddev(income, 0, 9)", "dp_median(age, 0, 9)", "dp_median(age, 0, 9.5)",
    "dp_median(age, 0, 3000000000)", "dp_median(age, 0::float8, '9')", "dp_quantile(age, 0.5, 0::real, 9.5)",
    "dp_quantile(income, 0.5, 0, 9, 0.5)", "dp_median(age, 0::int8, 9::int2)",
]  # fmt: skip


@pytest.mark.parametrize(("call", "truth", "scale"), CLOSE, ids=[call for call, _, _ in CLOSE])
@pytest.mark.parametrize("prefix", ["", "discreet."])
def test_an_answer_is_close(asker: Asker, prefix: str, call: str, truth: str, scale: float) -> None:
    ((exact,),) = asker.truth(f"SELECT {truth} FROM hr.employee")
    assert abs(asker.number(f"SELECT {prefix}{call} FROM hr.employee", MOST) - float(exact)) <= 17 * scale


def test_an_answer_is_close_at_its_own_price(asker: Asker) -> None:
    """The question's own epsilon of 0.001 would be no help."""
    ((exact,),) = asker.truth("SELECT sum(least(salary, 50000)) FROM hr.employee")
    assert abs(asker.number("SELECT dp_sum(salary, 0, 50000, 100) FROM hr.employee", "0.001") - float(exact)) <= 8500


def test_people_with_many_rows_count_as_the_policy_says(asker: Asker) -> None:
    ((exact,),) = asker.truth(f"SELECT sum(avg * least(n, 5)) FROM {CAPPED}")
    assert abs(asker.number("SELECT dp_sum(cost, 0, 500) FROM clinic.visit", MOST) - float(exact)) <= 17 * 25


@pytest.mark.parametrize("call", TYPES)
def test_an_answer_has_the_type_that_it_has_outside(asker: Asker, call: str) -> None:
    asker.reset()  # what reads the table directly pays, too
    question = f"SELECT discreet.{call} AS it FROM census.person"
    ((inside,),) = asker.connection.execute("SELECT discreet._answer_columns(%s)", [question]).fetchall()
    ((outside,),) = asker.truth(f"SELECT pg_typeof(discreet.{call}) FROM census.person")
    assert inside == f'"it" {outside}'


def test_a_median_of_dates_is_a_date(asker: Asker) -> None:
    ((median,),) = asker.rows("SELECT dp_median(hired, '2000-01-01', '2025-01-01') FROM hr.employee", MOST)
    ((exact,),) = asker.truth("SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY hired) FROM hr.employee")
    assert abs((median - exact).days) <= 100


def test_every_call_with_an_epsilon_is_paid_beside_the_question(asker: Asker) -> None:
    asker.json("SELECT count(*), dp_count(zip, 0.25), dp_avg(salary, 0, 9, 0.5) FROM hr.employee", 1)
    assert asker.spent("staff") == Decimal("1.75")


def test_where_all_have_their_own_epsilon_only_these_are_paid(asker: Asker) -> None:
    asker.json("SELECT dp_count(zip, 0.25), dp_avg(salary, 0, 9, 0.5) FROM hr.employee", 1)
    assert asker.spent("staff") == Decimal("0.75")
    charged = asker.truth("SELECT epsilon, amount, delta FROM discreet._charge")
    assert charged == [(Decimal("0.75"), Decimal("0.75"), 0)]


def test_unknown_keys_are_paid_by_the_question(asker: Asker) -> None:
    asker.json("SELECT zip, dp_count(salary, 0.25) FROM hr.employee GROUP BY zip", 1)
    assert asker.spent("staff") == Decimal("1.25")


def test_own_epsilons_are_paid_for_every_grouping_set(asker: Asker) -> None:
    asker.json("SELECT dept, dp_count(salary, 0.25) FROM hr.employee GROUP BY ROLLUP (dept)", 1)
    assert asker.spent("staff") == Decimal("0.5")


def test_under_zcdp_own_epsilons_are_paid_in_rho(asker: Asker) -> None:
    asker.json("SELECT count(*), dp_avg(age, 0, 9, 2) FROM census.person", 1)
    assert asker.spent("inhabitants") == Decimal("2.5")


def test_the_same_call_twice_is_paid_once_and_its_answer_kept(asker: Asker) -> None:
    question = (
        "SELECT dp_count(zip, 0.25) AS a, dp_count(zip, 0.25) AS b FROM hr.employee HAVING dp_count(zip, 0.25) > -1"
    )
    (first,) = asker.json(question, 1)
    assert first["a"] == first["b"]
    assert asker.json(question, 7) == [first]
    assert asker.spent("staff") == Decimal("0.25")


@pytest.fixture
def capped(asker: Asker) -> Iterator[Asker]:
    """At most 0.5 for a question about the staff."""
    asker.admin.execute("UPDATE discreet._protected_table SET max_epsilon = 0.5 WHERE dataset = 'staff'")
    yield asker
    asker.connection.execute("RESET discreet.epsilon")
    asker.admin.execute("UPDATE discreet._protected_table SET max_epsilon = NULL")


def test_the_cap_holds_for_all_epsilons_together(capped: Asker) -> None:
    with refused("DP001", "epsilon 0.6 is more than the 0.5 that one question may cost", "Give less."):
        capped.json("SELECT count(*), dp_count(zip, 0.3) FROM hr.employee", "0.3")
    with refused("DP001", "epsilon 0.6 is more than the 0.5 that one question may cost", "Give less."):
        capped.json("SELECT dp_count(zip, 0.3), dp_count(salary, 0.3) FROM hr.employee", None)
    with refused("DP001", "no epsilon is left for what names none, of the 0.5", "Give less."):
        capped.json("SELECT count(*), dp_count(zip, 0.5) FROM hr.employee", None)
    assert capped.spent("staff") == 0


def test_the_wish_of_the_session_is_lowered_to_what_own_epsilons_leave(capped: Asker) -> None:
    capped.connection.execute("SET discreet.epsilon = 5")
    capped.json("SELECT count(*), dp_count(zip, 0.3) FROM hr.employee", None)
    assert capped.spent("staff") == Decimal("0.5")


def test_accuracy_together_with_own_epsilons_is_refused(asker: Asker) -> None:
    asked = "SELECT * FROM discreet.query(%s, accuracy => 5) AS t(a bigint, b bigint)"
    with refused("DP001", "accuracy is asked for, and an aggregate names its own epsilon", "give one"):
        asker.connection.execute(asked, ["SELECT count(*), dp_count(zip, 0.3) FROM hr.employee"])
    asker.connection.execute(asked, ["SELECT count(*), dp_count(zip) FROM hr.employee"])


def test_explaining_tells_the_whole_price_and_the_error_at_the_own_one(asker: Asker) -> None:
    told = asker.explain("SELECT count(*), dp_count(zip, 10), dp_median(salary, 0, 9, 0.5) FROM hr.employee", 1)
    assert told["epsilon"] == "11.5"
    assert [(output["column"], output["error_95"]) for output in told["outputs"]] == [
        ("count", "3"), ("dp_count", "0"), ("dp_median", None),
    ]  # fmt: skip


def test_columns_without_declared_bounds_are_clamped_before_anything_can_overflow(asker: Asker) -> None:
    """Four people have 5; of the others NaN and infinities take no part, and the rest is clamped."""
    asker.admin.execute(
        "CREATE TABLE hr.wild (id int PRIMARY KEY, n numeric, f float8, b bigint, d date, t timestamptz);"
        "INSERT INTO hr.wild SELECT i, 5, 5, 5, '2020-01-06', '2020-01-06' FROM generate_series(1, 4) i;"
        "INSERT INTO hr.wild VALUES"
        " (11, 'NaN', 'NaN', NULL, 'infinity', 'infinity'), (12, 'Infinity', '-Infinity', NULL, NULL, NULL),"
        " (13, 1e400, 1.7e308, 9223372036854775807, '5874897-12-31', '294276-12-31'),"
        " (14, -1e400, -1.7e308, -9223372036854775808, '4713-01-01 BC', '4713-01-01 BC'),"
        " (15, NULL, 5e-324, 0, NULL, NULL);"
        "SELECT discreet.protect('hr.wild', 'id', dataset => 'staff')"
    )
    days = "'2020-01-01', '2020-01-11'"
    try:
        ((n, f, b, median, d, t),) = asker.rows(
            "SELECT dp_sum(n, 0, 10, 100), dp_sum(f, -10, 10, 100), dp_sum(b, 0, 10, 100), dp_median(n, 0, 10, 100),"
            f" dp_avg(d, {days}, 100) - 18262, dp_median(t, {days}, 100) FROM hr.wild"
        )
        # the scale of a sum is 0.1, that of the centred sum of six days 0.2
        assert [abs(float(x) - exact) <= 1.7 for x, exact in ((n, 30), (f, 20), (b, 30))] == [True] * 3
        assert abs(float(d) - 5) <= 0.5
        assert 0 <= median <= 10
        assert t.year == 2020
    finally:
        asker.admin.execute("SELECT discreet.unprotect('hr.wild'); DROP TABLE hr.wild")
