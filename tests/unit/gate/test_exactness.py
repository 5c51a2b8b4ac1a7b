"""How exact the columns of an answer are: half-widths of aggregates, and what arithmetic around them makes of these."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus.sample import SCHEMA, planned

from discreet.core.errors import RefusedShapeError
from discreet.dp.additive import DiscreteLaplace
from discreet.dp.price import Price
from discreet.gate.exactness import (
    Bound,
    Exactness,
    bound_of,
    errors_told,
    exactness,
    groups_told,
    ranks_off,
    sensitivities,
    widest_error,
)
from discreet.gate.measure import Terms, put_together
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.plan import Plan
from discreet.gate.pricing import worth_of_accuracy
from discreet.gate.ranges import range_of
from discreet.gate.schema import Dataset, Schema

STAFF = "SELECT {} FROM hr.employee"
BY_DEPT = "SELECT {} FROM hr.employee GROUP BY dept"
VISITS = "SELECT {} FROM clinic.visit"
WOMEN = "count(*) FILTER (WHERE gender = 'F')"
USUAL, EACH_OF_TWO, EACH_OF_THREE = Fraction(19, 20), Fraction(39, 40), Fraction(59, 60)


def asked(sql: str, accounting: str = "pure") -> tuple[Plan, list[Terms]]:
    """A question at price 1, with a delta for keys that are not known."""
    datasets = {name: Dataset(name, accounting, "unbounded", Fraction(1)) for name in SCHEMA.datasets}
    plan = planned(sql, schema=Schema(SCHEMA.relations, datasets))
    delta = Fraction(1, 10**6) if plan.thresholds else Fraction(0)
    return plan, [Terms.of(plan, Price.of(1, accounting), delta, keys) for keys in plan.grouping.sets]


def first(sql: str, accounting: str = "pure") -> Exactness:
    return exactness(*asked(sql, accounting))[0]


def width(sql: str, probability: Fraction = USUAL, measurement: int = 0, accounting: str = "pure") -> Fraction:
    """The half-width of the noise of one measurement, in its own steps."""
    plan, (terms, *_) = asked(sql, accounting)
    return Fraction(terms.noise(plan.measurements[measurement]).half_width(probability))


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
def test_a_count_is_within_the_half_width_of_its_noise(accounting: str) -> None:
    found = first(STAFF.format("count(*)"), accounting)
    name = {"pure": "discrete Laplace", "zcdp": "discrete Gaussian"}[accounting]
    assert (found.column, found.mechanism, found.why) == ("count", name, None)
    assert found.error == width(STAFF.format("count(*)"), accounting=accounting)
    assert found.scale == pytest.approx(1)


def test_scale_and_error_of_a_sum_are_in_the_unit_of_its_column() -> None:
    found = first(STAFF.format("sum(salary)"))
    assert found.scale == pytest.approx(200_000)
    assert found.error == pytest.approx(200_000 * 2.9957, rel=1e-3)


def test_half_widths_hold_for_the_digits_that_are_shown_too() -> None:
    """A sum of whole numbers is shown as one: up to a half more."""
    plan, (terms,) = asked("SELECT sum(age) FROM clinic.patient")
    noise = terms.noise(plan.measurements[0])
    grid = plan.aggregates[0].grid
    assert grid is not None
    error = exactness(plan, [terms])[0].error
    assert error == (noise.half_width() + noise.spread / 2000) * grid.step + Fraction(1, 2)


KEPT = [
    ("count(*) + 5", 1, 0),
    ("7 - count(*)", 1, 0),
    ("-count(*)", 1, 0),
    ("+count(*)", 1, 0),
    ("100 * count(*)", 100, 0),
    ("count(*) * -2.5", Fraction(5, 2), 0),
    ("count(*) * .5", Fraction(1, 2), 0),
    ("count(*) * 1e2", 100, 0),
    ("count(*) * (1 / 2.0 - 2)", Fraction(3, 2), 0),
    ("count(*) * (7 / 2)", 3, 0),
    ("0 * count(*) + count(*)", 1, 0),
    ("count(*) * 3000000000 / 1000000000", 3, 1),
    ("count(*) / 2", Fraction(1, 2), 1),
    ("count(*) / 2.0", Fraction(1, 2), 0),
    ("count(*) / '4'", Fraction(1, 4), 1),
    ("count(*)::numeric / 2", Fraction(1, 2), 0),
    ("count(*)::float8 / -2", Fraction(1, 2), 0),
    ("count(*) + count(*)", 2, 0),
    ("round(count(*))", 1, 0),
    ("round(count(*) / 3.0, 1)", Fraction(1, 3), Fraction(1, 10)),
    ("round(count(*), -2)", 1, 100),
    ("floor(count(*) / 3.0)", Fraction(1, 3), 1),
    ("2 * ceil(count(*) / 3.0)", Fraction(2, 3), 2),
    ("trunc(count(*) * 1.5, 2)", Fraction(3, 2), Fraction(1, 100)),
    ("count(*)::int", 1, 0),
    ("(count(*) / 3.0)::int4", Fraction(1, 3), 1),
    ("(count(*) / 3.0)::numeric(10, 2)", Fraction(1, 3), Fraction(1, 100)),
    ("(count(*) / 3.0)::numeric(10)", Fraction(1, 3), 1),
    ("count(*)::numeric(10, 2)", 1, 0),
    ("abs(count(*) - 50)", 1, 0),
    ("COALESCE(count(*), 0)", 1, 0),
    ("COALESCE(NULL, count(*), 0)", 1, 0),
    ("GREATEST(count(*), 10)", 1, 0),
    ("LEAST(count(*), 3 * count(*), 10.5)", 3, 0),
    ("CASE WHEN dept = 'Sales' THEN count(*) WHEN dept LIKE 'S%' THEN 2 * count(*) ELSE 0 END", 2, 0),
    ("CASE dept WHEN 'Sales' THEN count(*) / 2 END", Fraction(1, 2), 1),
]


@pytest.mark.parametrize(("column", "weight", "slack"), KEPT, ids=[column for column, _, _ in KEPT])
def test_arithmetic_with_constants_keeps_a_half_width(column: str, weight: Fraction, slack: Fraction) -> None:
    sql = BY_DEPT.format(column)
    assert first(sql).error == weight * width(sql) + slack


MADE_OF_MARGINS = "made of several noisy numbers: comes with the answer"
FROM_THE_ANSWER = "depends on the released numbers: comes with the answer"
WITH_THE_ANSWER = [
    (f"{WOMEN} / count(*)", MADE_OF_MARGINS),
    ("sum(salary) / NULLIF(count(*), 0)", MADE_OF_MARGINS),
    ("100 / count(*)", MADE_OF_MARGINS),
    (f"{WOMEN} * count(*)", MADE_OF_MARGINS),
    ("count(*) * bucket(salary, 50000)", MADE_OF_MARGINS),
    ("count(*) / bucket(salary, 50000)", MADE_OF_MARGINS),
    ("NULLIF(count(*), 0)", MADE_OF_MARGINS),
    ("CASE WHEN dept = 'Sales' THEN count(*) ELSE bucket(salary, 50000) / count(*) END", MADE_OF_MARGINS),
    ("CASE WHEN count(*) > 5 THEN count(*) ELSE 0 END", MADE_OF_MARGINS),
    ("GREATEST(1 / count(*), -abs(avg(salary) * avg(salary)))", MADE_OF_MARGINS),
    ("COALESCE(100.0 / count(*), 0)::numeric(10, 2)::int", MADE_OF_MARGINS),
    ("round(sqrt(count(*)), 2)", MADE_OF_MARGINS),
    ("rank() OVER (ORDER BY count(*))", MADE_OF_MARGINS),
    ("dense_rank() OVER (PARTITION BY dept ORDER BY avg(salary) DESC)", MADE_OF_MARGINS),
    ("percent_rank() OVER (ORDER BY 1.0 / count(*))", MADE_OF_MARGINS),
    ("count(*) % 2", MADE_OF_MARGINS),
    ("count(*) ^ 2", MADE_OF_MARGINS),
    ("exp(count(*) / 100.0)", MADE_OF_MARGINS),
    ("ntile(4) OVER (ORDER BY count(*))", MADE_OF_MARGINS),
    ("sum(count(*)) OVER ()", MADE_OF_MARGINS),
    ("avg(count(*)) OVER (ORDER BY bucket(salary, 50000) ROWS 2 PRECEDING)", MADE_OF_MARGINS),
    ("count(*) - lag(count(*)) OVER (ORDER BY dept, bucket(salary, 50000))", MADE_OF_MARGINS),
    ("count(*) * 100.0 / sum(count(*)) OVER (PARTITION BY dept)", MADE_OF_MARGINS),
    ("stddev(salary)", FROM_THE_ANSWER),
    ("2 * var_pop(salary)", FROM_THE_ANSWER),
    ("regr_slope(salary, salary)", FROM_THE_ANSWER),
]


@pytest.mark.parametrize(("column", "words"), WITH_THE_ANSWER, ids=[column for column, _ in WITH_THE_ANSWER])
def test_errors_that_depend_on_released_numbers_come_with_the_answer(column: str, words: str) -> None:
    sql = f"SELECT {column} AS x FROM hr.employee GROUP BY dept, bucket(salary, 50000)"
    found, shown = first(sql), planned(sql).with_errors()
    assert (found.error, found.why, shown.output) == (None, words, ("x", "x_error"))
    assert "CAST(NULL AS" not in shown.answer_sql


LOST = [
    ("count(*) + char_length(dept)", "not known to be a number"),
    ("count(*) % count(*)", "operator %"),
    ("2 ^ count(*)", "operator ^"),
    ("count(*) ^ 1000", "operator ^"),
    ("@ count(*)", "operator @"),
    ("count(*) > 100", "a comparison"),
    ("count(*) BETWEEN 1 AND 5", "a comparison"),
    ("count(*) IN (1, 2)", "a comparison"),
    ("NOT count(*) > 5", "a comparison"),
    ("(count(*) > 100) IS TRUE", "a comparison"),
    ("CASE WHEN count(*) > 100 THEN 'large' ELSE 'small' END", "a comparison"),
    ("CASE count(*) WHEN 1 THEN 'one' END", "a CASE that depends on"),
    ("CASE WHEN dept = 'Sales' THEN count(*)::text ELSE 'no' END", "a cast to text"),
    ("count(*)::text", "a cast to text"),
    ("count(*)::text || ' people'", "a cast to text"),
    ("count(*)::float4", "six digits"),
    ("round(count(*) / 3.0, count(*)::int)", "what round()"),
    ("max(hired) - DATE '2020-01-01'", "not known to be a number"),
    ("max(salary)", "chosen by rank"),
]


@pytest.mark.parametrize(("column", "words"), LOST, ids=[column for column, _ in LOST])
def test_what_cannot_be_followed_is_said_with_a_reason(column: str, words: str) -> None:
    found = first(f"SELECT {column} FROM hr.employee GROUP BY dept, bucket(salary, 50000)")
    assert (found.error, words in str(found.why)) == (None, True), found.why


@pytest.mark.parametrize(
    "column",
    ["dept", "upper(dept)", "dept || '/' || 1", "5", "'x'", "dept = 'Sales'", "dept IN ('Sales', 'Legal')",
     "CASE WHEN dept IS NULL THEN 1 END", "COALESCE(dept, '?')", "2 * 3 / 4", "ARRAY[dept]", "NULL",
     "dept::varchar", "-(3)", "0 * count(*)", "count(*) / 0", "round(2.5)", "1 - char_length(dept)"],
)  # fmt: skip
def test_keys_and_constants_are_exact(column: str) -> None:
    found = first(BY_DEPT.format(column))
    assert (found.mechanism, found.scale, found.error) == ("exact", 0, 0)


def test_two_noisy_numbers_are_each_held_for_half_of_the_misses() -> None:
    sql = STAFF.format(f"{WOMEN} + 3 * count(*)")
    expected = width(sql, EACH_OF_TWO, 0) + 3 * width(sql, EACH_OF_TWO, 1)
    found = first(sql)
    assert (found.error, found.scale, found.why) == (expected, None, "made of 2 noisy numbers")


def test_numbers_that_are_measured_once_count_once_in_the_union_bound() -> None:
    """count(salary), sum(salary) and avg(salary) are made of two measurements."""
    plan, (terms,) = asked(STAFF.format("sum(salary) + count(salary), avg(salary)"))
    count, centred = plan.measurements
    grid = centred.subject.grid
    assert grid is not None
    of_count, of_sum = (Fraction(terms.noise(m).half_width(EACH_OF_TWO)) for m in (count, centred))
    rounded = terms.noise(centred).spread / 2000
    middle = abs(grid.lower + grid.upper)
    expected = of_count + (of_sum + middle * of_count + rounded) * grid.step / 2
    assert exactness(plan, [terms])[0].error == expected


def test_an_average_depends_on_the_released_number_of_values() -> None:
    plan, (terms,) = asked(STAFF.format("avg(salary)"))
    assert exactness(plan, [terms])[0].error is None
    assert "at most" in str(exactness(plan, [terms])[0].why)
    bound = bound_of(plan.errors[0], plan.aggregates, terms)
    ((_, share, most),) = bound.averages
    assert most == pytest.approx(200_000)
    assert bound.after({0: 10**6}) == share / 10**6
    assert bound.after({0: 1}) == bound.after({0: -50}) == most


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_more_values_make_an_average_no_less_exact(few: int, many: int) -> None:
    plan, (terms,) = asked(STAFF.format("round(avg(salary) / 12, 2) + 1"))
    bound = bound_of(plan.errors[0], plan.aggregates, terms)
    less, more = (bound.after({0: count}) for count in sorted((few, many)))
    assert less is not None
    assert more is not None
    assert Fraction(1, 100) < more <= less


def test_the_formula_of_an_average_names_its_constant_part() -> None:
    assert " 0.01 + " in str(first(STAFF.format("round(avg(salary), 2)")).why)
    assert "several averages" in str(first(STAFF.format("avg(salary) - avg(salary / 2)")).why)


def test_of_several_grouping_sets_the_one_with_most_noise_counts() -> None:
    for sets in ("GROUPING SETS ((), (ward))", "GROUPING SETS ((ward), ())"):
        plan, terms = asked(VISITS.format("ward, count(*)") + f" GROUP BY {sets}")
        widths = [some.noise(plan.measurements[0]).half_width() for some in terms]
        assert exactness(plan, terms)[1].error == max(widths) > min(widths)


def test_a_quantile_is_within_a_number_of_ranks() -> None:
    """Of 4096 bins, at a third of epsilon 1 and losses of twice the rank: 3 * 2 ln(4096 / 0.05) / 2 ranks."""
    found = first(STAFF.format("percentile_disc(0.5) WITHIN GROUP (ORDER BY salary)"))
    assert (found.mechanism, found.error) == ("exponential choice", None)
    assert "no more than 34 ranks away" in str(found.why)


INNER = "(SELECT dept, count(*) AS n, avg(salary) AS pay FROM hr.employee GROUP BY dept) t"


def test_an_outer_select_hands_the_half_width_on() -> None:
    inner = width("SELECT dept, count(*) AS n, avg(salary) AS pay FROM hr.employee GROUP BY dept")
    plan, terms = asked(f"SELECT * FROM (SELECT dept AS d, 2 * n AS double, pay FROM {INNER} WHERE n > 3) u LIMIT 5")
    key, double, pay = exactness(plan, terms)
    assert (key.column, key.mechanism) == ("d", "exact")
    assert (double.column, double.error) == ("double", 2 * inner)
    assert "depends on the number of values" in str(pay.why)


@pytest.mark.parametrize(
    ("outer", "words"),
    [
        (f"SELECT stddev(n) FROM {INNER}", "stddev() over several rows"),
        (f"SELECT count(DISTINCT n) FROM {INNER}", "count() over several rows"),
        (f"SELECT string_agg(dept, ',') FROM {INNER}", "what string_agg()"),
        (f"SELECT n FROM {INNER} GROUP BY n", "grouped anew"),
        (f"SELECT n FROM (SELECT DISTINCT n, pay FROM {INNER}) u", "after DISTINCT"),
    ],
)
def test_what_is_not_followed_over_several_rows_is_said_with_a_reason(outer: str, words: str) -> None:
    found = first(outer)
    assert (found.error, words in str(found.why)) == (None, True), found.why


@pytest.mark.parametrize(
    "outer",
    [
        f"SELECT sum(n) FROM {INNER}",
        f"SELECT max(n) FROM {INNER}",
        f"SELECT avg(pay) FROM {INNER}",
        f"SELECT left(dept, 1) AS letter, sum(n) AS n FROM {INNER} GROUP BY 1",
        f"SELECT sum(n) / count(*) FROM {INNER}",
        f"SELECT sum(share) FROM (SELECT 1.0 * n / sum(n) OVER () AS share FROM {INNER}) u",
    ],
)
def test_sums_over_groups_have_an_error(outer: str) -> None:
    *_, found = exactness(*asked(outer))
    assert (found.error, found.why) == (None, MADE_OF_MARGINS)


def test_exact_columns_stay_exact_in_an_outer_select_that_groups() -> None:
    found = first(f"SELECT dept, max(n) FROM {INNER} GROUP BY dept")
    assert (found.mechanism, found.error) == ("exact", 0)


def test_the_wanted_accuracy_is_that_of_the_least_exact_column() -> None:
    plan, terms = asked(STAFF.format("count(*), 100 * count(*), avg(salary), sqrt(count(*))"))
    assert widest_error(plan, terms) == 100 * Fraction(terms[0].noise(plan.aggregates[0].measurements[0]).half_width())
    assert widest_error(*asked(STAFF.format("avg(salary)"))) is None
    assert widest_error(*asked(BY_DEPT.format("dept"))) is None


def test_the_wanted_accuracy_of_an_average_is_that_of_the_smallest_count() -> None:
    plan, terms = asked(STAFF.format("avg(salary)"))
    (bound,) = (bound_of(part, plan.aggregates, terms[0]) for _, part in plan.columns)
    for smallest in (1, 50, 1000):
        known = widest_error(plan, terms, smallest)
        assert known is not None
        assert known == bound.after({0: smallest})
        # an average of more values is more exact
        assert all((bound.after({0: more}) or 0) <= known for more in (smallest, smallest + 1, 10 * smallest))
    two = widest_error(*asked(STAFF.format("avg(salary), 3 * avg(salary) + count(*)")), 50)
    assert (two or 0) > (widest_error(plan, terms, 50) or 0) > 0


SPREADS = ["variance(salary)", "var_pop(salary)", "stddev(salary)", "stddev_pop(salary)"]
PAIRED = [
    "covar_pop(salary, abs(salary))",
    "covar_samp(salary, abs(salary))",
    "regr_avgx(salary, abs(salary))",
    "regr_avgy(salary, abs(salary))",
]


@pytest.mark.parametrize("aggregate", [*SPREADS, *PAIRED, "regr_count(salary, abs(salary))"])
@given(
    smallest=st.integers(1, 10_000), more=st.integers(0, 10_000),
    at=st.lists(st.fractions(-2, 2), min_size=5, max_size=5),
)  # fmt: skip
def test_the_wanted_accuracy_of_a_spread_holds_for_any_released_numbers(
    aggregate: str, smallest: int, more: int, at: list[Fraction]
) -> None:
    """Of so many values or more. Sums of spreads may be any, those of pairs as far off as the widths of their noise."""
    plan, terms = asked(STAFF.format(aggregate))
    (one,) = plan.aggregates
    known = widest_error(plan, terms, smallest)
    assert known is not None
    (bound,) = (bound_of(part, plan.aggregates, terms[0]) for _, part in plan.columns)
    count, widths = smallest + more, bound.widths
    assert one.grid is not None
    other = one.measurements[-1].subject.other_grid
    if other is None:
        sums = [int(at[0] * one.grid.width * count), int(at[1] * one.grid.width**2 * count)]
    else:  # two pairs of values, each of half of the rows, and noise within its width
        (y, v, x, u), noise = (part / 2 for part in at[:4]), at[4] / 2
        rows = max(count - int(noise * widths[one.measurements[0]]), 1)
        y, v, x, u = y * one.grid.width, v * one.grid.width, x * other.width, u * other.width
        exact = [y + v, x + u, y * y + v * v, x * x + u * u, y * x + v * u]
        sums = [
            int(rows * part / 2 + noise * widths[measurement])
            for part, measurement in zip(exact, one.measurements[1:], strict=True)
        ]
    parts = (count, *sums)[: len(one.measurements)]
    spreads = tuple(terms[0].stated_noise(measurement).spread for measurement in one.measurements)
    shown = put_together(one, parts, spreads)
    if shown is None:
        return
    found = range_of(one, parts, widths).off(Fraction(str(shown)))
    assert found is not None
    assert found <= known


def test_the_wanted_accuracy_of_a_spread_falls_with_the_price_and_the_count() -> None:
    for aggregate in (*SPREADS, *PAIRED):
        plan, terms = asked(STAFF.format(aggregate))
        errors = [widest_error(plan, terms, smallest) or Fraction(0) for smallest in (10**4, 10**6, 10**8)]
        assert errors[0] > errors[1] > errors[2] > 0


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        (STAFF.format("avg(salary)"), "avg: it depends on how many values there are; give smallest_count"),
        (STAFF.format("stddev(salary)"), "stddev: it depends on how many values there are; give smallest_count"),
        (STAFF.format("corr(salary, abs(salary))"), r"corr: corr\(\) divides by a variance"),
        (STAFF.format("regr_sxx(salary, abs(salary))"), "grows with the number of values"),
        (STAFF.format("sqrt(count(*)) AS root"), "root: "),
        ("SELECT sum(n) FROM (SELECT count(*) AS n FROM hr.employee GROUP BY dept) AS t", "several rows or numbers"),
    ],
)
def test_a_wanted_accuracy_that_is_not_known_says_why(sql: str, why: str) -> None:
    plan, _ = asked(sql)
    with pytest.raises(RefusedShapeError, match=why):
        worth_of_accuracy(plan, Decimal(5), None)


@pytest.mark.parametrize(
    "sql", ["corr(salary, abs(salary))", "regr_slope(salary, abs(salary))", "regr_syy(salary, abs(salary))"]
)
def test_no_smallest_count_bounds_a_quotient_by_a_variance(sql: str) -> None:
    assert widest_error(*asked(STAFF.format(sql)), 10**9) is None


@pytest.mark.parametrize(
    "aggregate", ["percentile_disc(0.5) WITHIN GROUP (ORDER BY salary)", "min(salary)", "max(salary)"]
)
def test_the_wanted_accuracy_of_what_is_chosen_by_rank_is_in_ranks(aggregate: str) -> None:
    plan, terms = asked(STAFF.format(aggregate))
    assert widest_error(plan, terms) == ranks_off(plan.aggregates[0].measurements[0], terms[0]) > 0


# -- columns of errors


def shown(sql: str) -> tuple[str, tuple[str, ...]]:
    plan = planned(sql).with_errors()
    return plan.answer_sql, plan.output


def test_every_noisy_column_has_its_error_beside_it() -> None:
    sql, names = shown(BY_DEPT.format("dept, count(*), avg(salary) AS pay, 2 * count(*) AS d, count(*) > 5 AS many"))
    assert names == ("dept", "count", "count_error", "pay", "pay_error", "d", "d_error", "many", "many_error")
    for part in ("measured.e0 AS count_error", "measured.e1 AS pay_error", "measured.e2 AS d_error"):
        assert part in sql
    assert 'CAST(NULL AS pg_catalog."numeric") AS many_error' in sql


def test_columns_of_the_same_error_share_it() -> None:
    assert len(planned(STAFF.format("count(*), count(*) + 1, 7 - count(*)")).errors) == 1
    assert planned(BY_DEPT.format("dept, sqrt(count(*))")).errors == ()


def test_a_name_that_is_taken_gets_a_number() -> None:
    columns = "count(*) AS n, count(*) AS n, count(*) + 1 AS n_error"
    assert shown(STAFF.format(columns))[1] == ("n", "n_error_2", "n", "n_error_3", "n_error", "n_error_error")


def test_errors_come_through_outer_selects_under_names_that_are_free() -> None:
    inner = 'SELECT dept, count(*) AS "error 0" FROM hr.employee GROUP BY dept'
    sql, names = shown(f'SELECT u."error 0" / 2 AS h FROM (SELECT * FROM ({inner}) t) u')
    assert names == ("h", "h_error")
    assert 'measured.e0 AS "error 0_2"' in sql
    assert 't."error 0_2" AS "error 0_2"' in sql
    assert 'u."error 0_2" AS h_error' in sql


def test_positions_in_order_by_and_group_by_mean_the_same_columns() -> None:
    sql, _ = shown(BY_DEPT.format("count(*), dept, avg(salary)") + " ORDER BY 2 DESC, 3, 1, dept")
    assert "ORDER BY 3 DESC, 4, 1, measured.k0" in sql
    sql, _ = shown(f"SELECT n > 5 AS many, dept, max(pay) FROM {INNER} GROUP BY 1, 2 ORDER BY 3")
    assert "GROUP BY 1, 3" in sql
    assert "ORDER BY 4" in sql


def test_the_question_is_the_same_with_and_without_errors() -> None:
    plan = planned(BY_DEPT.format("dept, count(*)"))
    assert plan.with_errors().answer_columns == plan.answer_columns
    assert plan.with_errors().columns == plan.columns


# -- what is told


def test_a_notice_names_the_columns_with_what_is_known_after_the_answer() -> None:
    plan, terms = asked(BY_DEPT.format("dept, count(*) AS n, avg(salary) AS pay, sqrt(count(*))"))
    rows = [["Sales", "5", "60000", "9", "700.5"], ["Legal", "900", "60000", "9", "71"]]
    assert errors_told(plan, terms, rows) == ["n ±9", "pay ±71 to ±701", "sqrt not known"]
    assert errors_told(plan, terms, []) == ["n ±5", "pay not known", "sqrt not known"]


def test_known_groups_are_all_shown_and_unknown_ones_from_a_threshold_on() -> None:
    plan, terms = asked("SELECT dept, zip, count(*) FROM hr.employee GROUP BY GROUPING SETS ((dept), (zip), ())")
    known, unknown, all_of_them = groups_told(plan, terms)
    assert (known["by"], unknown["by"], all_of_them["by"]) == (["dept"], ["zip"], [])
    assert "threshold" not in known
    threshold, needed = int(str(unknown["threshold"])), int(str(unknown["people_shown_95"]))
    noise = terms[1].noise(Measurement(Quantity.PEOPLE, Subject()))
    assert isinstance(noise, DiscreteLaplace)
    assert threshold == terms[1].threshold().threshold
    # a group is left out when its noise is at most threshold - people - 1
    assert noise.tail(needed - threshold + 1) <= Decimal("0.05") < noise.tail(needed - threshold)


def test_a_key_that_is_not_selected_is_named_by_its_place() -> None:
    plan, terms = asked("SELECT count(*) FROM hr.employee GROUP BY dept, zip")
    assert groups_told(plan, terms)[0]["by"] == ["key 1", "key 2"]


def test_sensitivities_are_in_the_unit_of_the_argument() -> None:
    told = sensitivities(*asked("SELECT ward, count(*), sum(cost), avg(cost) FROM clinic.visit GROUP BY ward"))
    assert [(one["measures"], one["groups"]) for one in told] == [("rows", 3), ("values", 3), ("centred", 3)]
    assert [float(str(one["per_group"])) for one in told] == pytest.approx([5, 5, 5 * 1000], rel=1e-5)
    assert [float(str(one["in_all"])) for one in told] == pytest.approx([15, 15, 15 * 1000], rel=1e-5)
    (total,) = sensitivities(*asked(STAFF.format("sum(salary)")))
    assert (total["measures"], total["per_group"]) == ("total", "200000")
    median, _, _ = sensitivities(*asked(STAFF.format("percentile_disc(0.5) WITHIN GROUP (ORDER BY salary)")))
    assert (median["measures"], median["per_group"]) == ("quantile", "0.5")


def test_a_bound_that_is_not_known_is_not_known_after_the_answer_either() -> None:
    assert Bound(unknown="no").after({}) is None
    assert Bound(unknown="no").before() is None


def test_a_list_has_an_error_within_which_all_its_elements_are() -> None:
    alone = [first(f"SELECT {one} FROM hr.employee").error for one in ("count(*)", "sum(salary)")]
    together = first("SELECT ARRAY[count(*), sum(salary)] FROM hr.employee").error
    assert together is not None
    assert None not in alone
    assert together >= sum(one for one in alone if one is not None)
    quantiles = "percentile_disc(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY age)"
    found = first(f"SELECT {quantiles} FROM census.person")
    assert found.why is not None
    assert "comes with the answer" in found.why


@pytest.mark.parametrize(
    ("argument", "half_width", "words"),
    [
        ("max(hired)", "2", "±2 days"),
        ("avg(age(hired, dob))", "90061.5", "±1 day 1:01:02"),
        ("avg(age(hired, dob))", "30", "±0:00:30"),
        ("avg(salary)", "90061.5", "±90100"),
        ("avg(salary)", "Infinity", "unlimited"),
    ],
)
def test_errors_of_dates_and_lengths_of_time_are_lengths_of_time(argument: str, half_width: str, words: str) -> None:
    found = first(f"SELECT {argument} FROM hr.employee")
    assert found.in_words(half_width) == words
    assert found.told().get("unit") == {"max(hired)": "days", "avg(salary)": None}.get(argument, "seconds")
