"""dp_ aggregates inside a question: their bounds clamp, their epsilons are paid beside that of the question."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.corpus.sample import SCHEMA, planned

from discreet.core.errors import DiscreetError
from discreet.dp.price import Price
from discreet.gate.measure import Terms
from discreet.gate.plan import Plan
from discreet.gate.run import statements
from discreet.gate.schema import Schema

STAFF = "SELECT {} FROM hr.employee"
CENSUS = "SELECT {} FROM census.person"
VISITS = "SELECT {} FROM clinic.visit"


def native(sql: str) -> str:
    plan = planned(sql)
    return "; ".join(statement.sql for statement in statements(plan, plan.grouping.sets[0], 1))


@pytest.mark.parametrize(
    ("columns", "measured"),
    [
        ("dp_count(*)", "rows"),
        ("discreet.dp_count(zip)", "rows"),
        ("dp_count(id)", "rows"),
        ("dp_count_distinct(zip)", "distinct"),
        ("dp_count_distinct(id, 0.5)", "people"),
        ("dp_sum(salary, 0, 1000)", "total"),
        ("dp_avg(salary, 0, 1000)", "centred values"),
        ("dp_variance(salary, 0, 1000), dp_stddev(salary, 0, 1000)", "centred squares values"),
        ("dp_variance(salary, 0, 1000, 0.3), dp_stddev(salary, 0, 1000, 0.3)", "centred squares values"),
        ("dp_median(salary, 0, 1000), dp_quantile(salary, 0.5, 0, 1000)", "quantile quantile quantile"),
        ("dp_count(*), count(*)", "rows"),
        ("dp_count(zip), count(zip), dp_count(zip, 0.5)", "rows rows"),
        ("dp_count_distinct(zip), count(DISTINCT zip)", "distinct"),
        ("dp_avg(salary, 0, 1000), dp_count(salary)", "centred values"),
        ("dp_avg(salary, 0, 1000, 0.4), count(salary)", "centred rows values"),
        ("dp_avg(salary, 0, 1000, 0.4), dp_avg(salary, 0, 1000)", "centred centred values values"),
        ("dp_quantile(salary, 1, 0, 200000), max(salary)", "quantile quantile"),
    ],
)
def test_measurements_are_those_of_the_plain_aggregates(columns: str, measured: str) -> None:
    plan = planned(STAFF.format(columns))
    assert sorted(measurement.quantity for measurement in plan.measurements) == measured.split()


@pytest.mark.parametrize("bounds", ["0, 10", "'0', '10'", "0.0, 10::numeric", "'0'::float8, (1e1)"])
def test_bounds_are_the_constants_however_they_are_written(bounds: str) -> None:
    (aggregate,) = planned(STAFF.format(f"dp_sum(salary, {bounds})")).aggregates
    assert aggregate.grid is not None
    assert (aggregate.grid.lower * aggregate.grid.step, aggregate.grid.upper * aggregate.grid.step) == (0, 10)


def test_bounds_may_be_parameters() -> None:
    (aggregate,) = planned(STAFF.format("dp_sum(salary, $1, $2)"), ("-5", "5")).aggregates
    assert aggregate.grid is not None
    assert aggregate.grid.upper * aggregate.grid.step == 5


def test_bounds_of_dates_are_dates_and_count_in_days() -> None:
    (aggregate,) = planned(STAFF.format("dp_avg(dob, DATE '1970-01-11', '1980-01-01')")).aggregates
    assert aggregate.grid is not None
    assert aggregate.grid.lower * aggregate.grid.step == 10
    assert aggregate.result_type == "numeric"


@pytest.mark.parametrize("bound", ["DATE '1970-01-02'", "'1970-01-02'", "TIMESTAMP '1970-01-02 00:00:00'"])
def test_bounds_of_timestamps_are_dates_or_timestamps_and_count_in_seconds(bound: str) -> None:
    (aggregate,) = planned(STAFF.format(f"dp_avg(hired::timestamp, '1970-01-01', {bound})")).aggregates
    assert aggregate.grid is not None
    assert aggregate.grid.upper * aggregate.grid.step == 86_400


def test_the_bounds_of_the_asker_clamp_and_the_raw_column_goes_straight_there() -> None:
    """household has no declared bounds: nothing is computed from it before it is on the grid."""
    assert 'discreet._clamped("person"."household", 0, 9)' in native(CENSUS.format("dp_sum(household, 0, 9)"))
    assert 'discreet._on_grid("person"."household", ' in native(CENSUS.format("dp_variance(household, 0, 9)"))
    quantile = native(CENSUS.format("dp_median(household, 0, 9)"))
    assert '"person"."household" AS x' in quantile
    assert "discreet._bin(x, (-0.5)::pg_catalog.float8, (9.5)::pg_catalog.float8, 10)" in quantile


def test_an_expression_still_needs_declared_bounds() -> None:
    with pytest.raises(DiscreetError, match="column household has no bounds") as refusal:
        planned(CENSUS.format("dp_sum(household + 1, 0, 9)"))
    assert refusal.value.sqlstate == "DP005"
    assert planned(CENSUS.format("dp_sum(age + 1, 0, 9)")).measurements


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("dp_count(*)", "int8"),
        ("dp_count_distinct(age)", "int8"),
        ("dp_sum(age, 0, 9)", "numeric"),
        ("dp_avg(age, 0, 9)", "numeric"),
        ("dp_stddev(age, 0, 9)", "numeric"),
        ("dp_median(age, 0, 9)", "integer"),
        ("dp_median(age, 0, 99.5)", "numeric"),
        ("dp_median(age, 0, 3000000000)", "bigint"),
        ("dp_median(age, '0', '9')", "integer"),
        ("dp_median(age, 0::float8, 9)", "double precision"),
        ("dp_median(age, 0::int2, 9::real)", "real"),
        ("dp_quantile(income, 0.1, 0, 9)", "numeric"),
    ],
)
def test_results_have_the_type_that_the_aggregates_have_outside(call: str, result: str) -> None:
    (aggregate,) = planned(CENSUS.format(call)).aggregates
    assert aggregate.result_type == result


def test_a_median_of_dates_is_a_date() -> None:
    (aggregate,) = planned(STAFF.format("dp_median(hired, '2000-01-01', '2024-01-01')")).aggregates
    assert aggregate.result_type == "date"


@pytest.mark.parametrize("fraction", ["DATE '1970-01-01'", "NULL", "age", "2"])
def test_a_fraction_is_a_constant_number_from_0_to_1(fraction: str) -> None:
    for call in (f"dp_quantile(age, {fraction}, 0, 9)", f"percentile_cont({fraction}) WITHIN GROUP (ORDER BY age)"):
        with pytest.raises(DiscreetError, match="a fraction that is not"):
            planned(CENSUS.format(call))


def priced(sql: str, accounting: str = "pure") -> tuple[Plan, Terms]:
    datasets = {name: replace(held, accounting=accounting) for name, held in SCHEMA.datasets.items()}
    plan = planned(sql, schema=Schema(SCHEMA.relations, datasets))
    price = Price.of(1, accounting) if plan.sharing else None
    return plan, Terms.of(plan, price, Fraction(0), plan.grouping.sets[0])


def test_a_call_with_an_epsilon_pays_for_its_own_measurements() -> None:
    plan, terms = priced(STAFF.format("count(*), sum(salary), dp_avg(salary, 0, 9, 0.4)"))
    assert {m.quantity: terms.price_of(m).amount for m in plan.measurements} == {
        "rows": Fraction(1, 2), "total": Fraction(1, 2), "values": Fraction(1, 5), "centred": Fraction(1, 5),
    }  # fmt: skip
    assert (plan.sharing, plan.own_epsilon, plan.own_amount) == (2, Fraction(2, 5), Fraction(2, 5))


def test_under_zcdp_an_own_epsilon_is_paid_in_rho() -> None:
    plan, terms = priced(STAFF.format("count(*), dp_avg(salary, 0, 9, 0.4)"), "zcdp")
    assert [terms.price_of(m).amount for m in plan.measurements] == [Fraction(1, 2), Fraction(1, 25), Fraction(1, 25)]
    assert (plan.own_epsilon, plan.own_amount) == (Fraction(2, 5), Fraction(2, 25))


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
def test_the_prices_of_all_measurements_add_up_to_the_charge(accounting: str) -> None:
    for columns in ("dp_stddev(salary, 0, 9, 0.7), dp_variance(salary, 0, 9, 0.7), count(*)", "dp_count(zip, 0.1)"):
        plan, terms = priced(STAFF.format(columns), accounting)
        charge = plan.own_amount + (terms.price.amount if terms.price else 0)
        assert sum(terms.price_of(m).amount for m in plan.measurements) == charge


def test_a_measurement_asked_twice_at_one_price_is_paid_once() -> None:
    plan, _ = priced(STAFF.format("dp_stddev(salary, 0, 9, 0.6), dp_variance(salary, 0, 9, 0.6), dp_count(zip, 0.1)"))
    assert plan.own_epsilon == Fraction(7, 10)


def test_unknown_keys_are_paid_by_the_question_also_where_every_call_has_its_own_epsilon() -> None:
    plan, _ = priced(STAFF.format("zip, dp_count(zip, 0.5)") + " GROUP BY zip")
    assert plan.sharing == 1
    plan, _ = priced(STAFF.format("dept, dp_count(zip, 0.5)") + " GROUP BY dept")
    assert plan.sharing == 0


def test_noise_follows_the_own_epsilon_and_the_reach_of_a_person() -> None:
    """Scale = groups · rows / epsilon."""
    plan, terms = priced(VISITS.format("ward, dp_count(cost, 0.5)") + " GROUP BY ward")
    (measurement,) = plan.measurements
    assert 30 <= terms.noise(measurement).spread < Fraction(30 * (2**40 + 1), 2**40)


@pytest.mark.parametrize("name", ["discreet.count", "discreet.sum", "pg_catalog.dp_sum", "public.dp_sum", "a.b.dp_sum"])
def test_a_schema_is_that_of_the_function(name: str) -> None:
    arguments = "salary, 0, 9" if "dp_" in name else "salary"
    with pytest.raises(DiscreetError, match=f"function {name}"):
        planned(STAFF.format(f"{name}({arguments})"))
    assert planned(STAFF.format("pg_catalog.sum(salary), discreet.bucket(salary, 10000)") + " GROUP BY 2").measurements
