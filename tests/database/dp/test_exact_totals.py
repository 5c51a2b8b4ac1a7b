"""What the C module computes exactly, before noise: against arithmetic of fractions, and for neighbours."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.database.dp.aggregating import Exact, Handed, call

from discreet.dp.estimate import Kind, exact_parts, sensitivities
from discreet.dp.price import Price
from discreet.dp.quantile import QuantileChoice
from discreet.dp.sensitivity import Neighbours

BITS = 40

bounds = st.floats(min_value=-1e12, max_value=1e12, allow_subnormal=False).map(lambda x: 0.0 if abs(x) < 1e-100 else x)
values = st.lists(st.none() | st.floats(width=64) | st.integers(-10, 10).map(float), max_size=12)
database_examples = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def fitted(lower: float, upper: float) -> tuple[int, int, int]:
    """Exponent, lower and upper of the grid: 40 bits for the larger bound, and bounds moved inwards."""
    largest = max(abs(lower), abs(upper))
    exponent = math.frexp(largest)[1] - BITS if largest else 0
    step = Fraction(2) ** exponent
    return exponent, math.ceil(Fraction(lower) / step), math.floor(Fraction(upper) / step)


def placed(value: Fraction, exponent: int, lower: int, upper: int) -> int:
    """Nearest point of the grid, ties to even, then clamped."""
    return min(max(round(value / Fraction(2) ** exponent), lower), upper)


def finite(listed: list[float | None]) -> list[float]:
    return [value for value in listed if value is not None and math.isfinite(value)]


@database_examples
@given(listed=values, one=bounds, other=bounds)
def test_sums_are_those_of_fractions(exact: Exact, listed: list[float | None], one: float, other: float) -> None:
    lower, upper = sorted((one, other))
    exponent, low, high = fitted(lower, upper)
    assume(low <= high)
    handed = exact.one(
        "SELECT discreet.dp_variance(x, %s::float8, %s::float8) FROM unnest(%s::float8[]) x", lower, upper, listed
    )
    places = [placed(Fraction(value), exponent, low, high) for value in finite(listed)]
    assert tuple(map(int, handed.totals)) == (
        len(places), sum(places), sum(place**2 for place in places), exponent, low, high,
    )  # fmt: skip


@database_examples
@given(listed=values, one=bounds, other=bounds, fraction=st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]))
def test_bins_hold_every_value_once(
    exact: Exact, listed: list[float | None], one: float, other: float, fraction: float
) -> None:
    lower, upper = sorted((one, other))
    handed = exact.one(
        "SELECT discreet.dp_quantile(x, %s, %s::float8, %s::float8) FROM unnest(%s::float8[]) x",
        fraction, lower, upper, listed,
    )  # fmt: skip
    histogram = handed.histogram
    assert (histogram.lower, histogram.upper) == (Fraction(lower), Fraction(upper))
    assert len(histogram.counts) == (1 if lower == upper else 4096)
    assert sum(histogram.counts) == len(finite(listed))
    for place, count in enumerate(histogram.counts):
        if count and lower < upper:
            # a value may fall beside its bin by the rounding of a double, never further
            left = histogram.lower + (place - Fraction(1, 1000)) * histogram.bin_width
            right = histogram.lower + (place + 1 + Fraction(1, 1000)) * histogram.bin_width
            near = [
                v for v in finite(listed) if left <= min(max(Fraction(v), histogram.lower), histogram.upper) <= right
            ]
            assert len(near) >= count


@database_examples
@given(
    listed=values, extra=st.floats(width=64), one=bounds, other=bounds,
    function=st.sampled_from(["dp_sum", "dp_avg", "dp_variance", "dp_stddev"]),
)  # fmt: skip
def test_one_person_more_changes_the_exact_parts_by_no_more_than_planned(
    exact: Exact, listed: list[float | None], extra: float, one: float, other: float, function: str
) -> None:
    lower, upper = sorted((one, other))
    question = f"SELECT {call(function, 'x', '%s::float8', '%s::float8')} FROM unnest(%s::float8[]) x"
    without = exact.one(question, lower, upper, listed).sums
    added = exact.one(question, lower, upper, [*listed, extra]).sums
    kind = Kind(function.removeprefix("dp_"))
    assert added.grid == without.grid
    planned = sensitivities(kind, added.grid, Neighbours.UNBOUNDED, True)
    for a, b, most in zip(exact_parts(kind, without), exact_parts(kind, added), planned, strict=True):
        assert abs(a - b) <= most


@database_examples
@given(
    listed=values, before=st.none() | st.floats(width=64), after=st.none() | st.floats(width=64), one=bounds,
    other=bounds, function=st.sampled_from(["dp_sum", "dp_avg", "dp_variance"]),
)  # fmt: skip
def test_one_person_changed_changes_the_exact_parts_by_no_more_than_planned(
    exact: Exact,
    listed: list[float | None],
    before: float | None,
    after: float | None,
    one: float,
    other: float,
    function: str,
) -> None:
    lower, upper = sorted((one, other))
    question = f"SELECT {call(function, 'x', '%s::float8', '%s::float8')} FROM unnest(%s::float8[]) x"
    old = exact.one(question, lower, upper, [*listed, before]).sums
    new = exact.one(question, lower, upper, [*listed, after]).sums
    kind = Kind(function.removeprefix("dp_"))
    planned = sensitivities(kind, new.grid, Neighbours.BOUNDED, False)
    for a, b, most in zip(exact_parts(kind, old), exact_parts(kind, new), planned, strict=True):
        assert abs(a - b) <= most


@database_examples
@given(
    listed=values, extra=st.floats(width=64), fraction=st.sampled_from([0.0, 0.1, 0.5, 0.75, 1.0]),
    lower=st.integers(-50, 50), width=st.integers(0, 9000),
)  # fmt: skip
def test_one_person_more_changes_every_loss_by_no_more_than_planned(
    exact: Exact, listed: list[float | None], extra: float, fraction: float, lower: int, width: int
) -> None:
    question = "SELECT discreet.dp_quantile(x, %s, %s::float8, %s::float8) FROM unnest(%s::float8[]) x"
    without = exact.one(question, fraction, lower, lower + width, listed)
    added = exact.one(question, fraction, lower, lower + width, [*listed, extra])
    wanted = Fraction(without.totals[0]).limit_denominator(10**6)
    choice = QuantileChoice.of(wanted, Price.of(1))
    losses = zip(choice.losses(without.histogram.counts), choice.losses(added.histogram.counts), strict=True)
    assert max(abs(a - b) for a, b in losses) <= choice.choice.sensitivity


@database_examples
@given(
    listed=st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=10),
    one=st.integers(-(2**63), 2**63 - 1), other=st.integers(-(2**63), 2**63 - 1),
)  # fmt: skip
def test_bigints_up_to_the_last_are_summed(exact: Exact, listed: list[int | None], one: int, other: int) -> None:
    lower, upper = sorted((one, other))
    exponent, low, high = fitted(float(lower), float(upper))
    assume(low <= high)
    handed = exact.one(
        "SELECT discreet.dp_sum(x, %s::bigint, %s::bigint) FROM unnest(%s::bigint[]) x", lower, upper, listed
    )
    places = [placed(Fraction(float(value)), exponent, low, high) for value in listed if value is not None]
    assert tuple(map(int, handed.totals))[:2] == (len(places), sum(places))


decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=20)


@database_examples
@given(
    listed=st.lists(decimals, min_size=1, max_size=10), upper=st.sampled_from(["1", "0.3", "1000", "12345.678", "1e25"])
)
def test_numerics_are_summed_to_the_grid(exact: Exact, listed: list[Decimal], upper: str) -> None:
    """Only a value within some last bits of a double of the middle between two points may go to either."""
    handed = exact.one(
        f"SELECT discreet.dp_sum(x, -{upper}::numeric, {upper}::numeric) FROM unnest(%s::numeric[]) x", listed
    ).sums
    grid = handed.grid
    assert grid is not None
    scaled = [Fraction(value) / grid.step for value in listed]
    places = [placed(Fraction(value), grid.exponent, grid.lower, grid.upper) for value in listed]
    undecided = sum(1 for s in scaled if abs(abs(s - math.floor(s)) - Fraction(1, 2)) < Fraction(1, 1000))
    assert handed.count == len(listed)
    assert abs(handed.total - sum(places)) <= undecided


SPECIAL = {
    "NULL and NaN and infinities of float8": ("float8", ["NULL", "'NaN'", "'Infinity'", "'-Infinity'"], []),
    "NULL and NaN and infinities of real": ("real", ["NULL", "'NaN'", "'Infinity'", "'-Infinity'"], []),
    "NULL and NaN and infinities of numeric": ("numeric", ["NULL", "'NaN'", "'Infinity'", "'-Infinity'"], []),
    "largest float8": ("float8", ["1.7976931348623157e308", "-1.7976931348623157e308"], [8, -8]),
    "smallest float8": ("float8", ["4.9e-324", "-4.9e-324", "2.2e-308"], [0, 0, 0]),
    "largest real": ("real", ["3.4e38", "-3.4e38", "1e-45"], [8, -8, 0]),
    "numerics beyond a double": ("numeric", ["1e400", "-1e400", "1e131071", "repeat('9', 131072)"], [8, -8, 8, 8]),
    "numerics below a double": ("numeric", ["1e-400", "-1e-400", "1e-16383"], [0, 0, 0]),
    "numerics of many digits": ("numeric", ["repeat('9', 300)", "'-' || repeat('7', 200)", "'0.' || repeat('3', 16383)",
                                            "'5.' || repeat('0', 16000)"],
                                [8, -8, Fraction(1, 3), 5]),
    "zeros": ("numeric", ["0", "-0.0", "0e100", "0.0000"], [0, 0, 0, 0]),
    "ends of smallint": ("smallint", ["32767", "-32768"], [8, -8]),
    "ends of int": ("int", ["2147483647", "-2147483648"], [8, -8]),
    "ends of bigint": ("bigint", ["9223372036854775807", "-9223372036854775808"], [8, -8]),
}  # fmt: skip


@pytest.mark.parametrize("case", SPECIAL)
def test_special_values_have_their_places(exact: Exact, case: str) -> None:
    """Between -8 and 8: NULL, NaN and the infinities take no part, all else is clamped."""
    type_name, listed, expected = SPECIAL[case]
    rows = ", ".join(f"(({value})::text::{type_name})" for value in listed)
    bounds_of = {"smallint": "(-8)::smallint, 8::smallint", "real": "(-8)::real, 8::real"}.get(type_name, "-8, 8")
    handed = exact.one(f"SELECT discreet.dp_sum(x, {bounds_of}) FROM (VALUES {rows}) s(x)").sums
    grid = handed.grid
    assert grid is not None
    places = [placed(Fraction(value), grid.exponent, grid.lower, grid.upper) for value in expected]  # type: ignore[attr-defined]
    assert (handed.count, handed.total) == (len(expected), sum(places))  # type: ignore[arg-type]
    binned = exact.one(f"SELECT discreet.dp_median(x, {bounds_of}) FROM (VALUES {rows}) s(x)").histogram
    assert sum(binned.counts) == len(expected)  # type: ignore[arg-type]


@pytest.mark.parametrize("type_name", ["date", "timestamp", "timestamptz"])
def test_infinite_dates_take_no_part(exact: Exact, type_name: str) -> None:
    texts = ["'infinity'", "'-infinity'", "NULL", "'4713-01-01 BC'", "'294276-01-01'", "'2000-01-01'"]
    question = f"FROM (VALUES {', '.join(f'({text}::{type_name})' for text in texts)}) s(x)"
    handed = exact.one(f"SELECT discreet.dp_sum(x, '1990-01-01', '2010-01-01') {question}").sums
    grid = handed.grid
    assert grid is not None
    origin = 10957 if type_name == "date" else 946684800
    middle = placed(Fraction(origin), grid.exponent, grid.lower, grid.upper)
    assert (handed.count, handed.total) == (3, grid.lower + grid.upper + middle)
    assert sum(exact.one(f"SELECT discreet.dp_median(x, '1990-01-01', '2010-01-01') {question}").histogram.counts) == 3


def test_timestamps_are_exact_to_the_grid(exact: Exact) -> None:
    handed = exact.one(
        "SELECT discreet.dp_sum(x, '1970-01-01 00:00', '2024-01-01 00:00')"
        " FROM (VALUES (timestamp '1999-12-31 23:59:59.999999'), ('1970-01-01 00:00:00.5'), ('2023-06-01 12:34:56'))"
        " s(x)"
    ).sums
    grid = handed.grid
    assert grid is not None
    seconds = [Fraction(946684800) - Fraction(1, 10**6), Fraction(1, 2), Fraction(1685622896)]
    assert handed.total == sum(placed(value, grid.exponent, grid.lower, grid.upper) for value in seconds)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [("0", "0"), ("5", "5"), ("-1e200", "1e200"), ("1e-200", "2e-200"), ("-1e-200", "1"), ("0", "1e-200"),
     ("1e12", "1e12 + 1"), ("-3", "-2")],
)  # fmt: skip
def test_grid_of_extreme_bounds_holds_its_values(exact: Exact, lower: str, upper: str) -> None:
    handed = exact.one(
        f"SELECT discreet.dp_sum(x, {lower}::float8, {upper}::float8)"
        f" FROM (VALUES ({lower}::float8), ({upper}::float8), (0), (1e300), (-1e300)) s(x)"
    ).sums
    grid = handed.grid
    assert grid is not None
    assert grid.lower <= grid.upper
    assert max(abs(grid.lower), abs(grid.upper)) <= 2**BITS
    assert handed.count == 5
    assert 5 * grid.lower <= handed.total <= 5 * grid.upper


def test_ten_to_the_twelve_rows_of_squares_fit(exact: Exact) -> None:
    """The largest grid integer is 2**40; 10**12 squares of it are below 2**120."""
    handed = exact.one("SELECT discreet.dp_variance(x, -1023.999, 1023.999) FROM (VALUES (5000), (-5000)) s(x)").sums
    assert handed.squares <= 2 * 2**80
    assert 10**12 * (handed.squares // 2) < 2**120


@pytest.mark.parametrize(
    ("bounds_of", "bins", "lower", "upper"),
    [
        ("0, 10", 11, Fraction(-1, 2), Fraction(21, 2)),
        ("5, 5", 1, Fraction(5), Fraction(5)),
        ("-4, 4091", 4096, Fraction(-9, 2), Fraction(8183, 2)),
        ("0, 4096", 4096, Fraction(0), Fraction(4096)),
        ("0, 2147483647", 4096, Fraction(0), Fraction(2147483647)),
        ("-9223372036854775807, 9223372036854775807", 4096, -Fraction(2**63), Fraction(2**63)),
    ],
)
def test_whole_numbers_are_the_middles_of_their_bins(
    exact: Exact, bounds_of: str, bins: int, lower: Fraction, upper: Fraction
) -> None:
    histogram = exact.one(f"SELECT discreet.dp_median(x, {bounds_of}) FROM (VALUES (3), (7)) s(x)").histogram
    assert (len(histogram.counts), histogram.lower, histogram.upper) == (bins, lower, upper)


@pytest.mark.parametrize(
    "bounds_of",
    [
        "9223372036854775807, 9223372036854775807",
        "1152921504606846976, 1152921504606846977",
        "9007199254740993, 9007199254740993",
    ],
)
def test_whole_numbers_beyond_a_double_still_have_a_bin(exact: Exact, bounds_of: str) -> None:
    histogram = exact.one(f"SELECT discreet.dp_median(x, {bounds_of}) FROM (VALUES (3::bigint), (7)) s(x)").histogram
    assert len(histogram.counts) >= 1
    assert sum(histogram.counts) == 2


@pytest.mark.parametrize("rows", [0, 1, 255, 256, 257, 1000])
def test_list_of_bins_becomes_counts_without_loss(exact: Exact, rows: int) -> None:
    histogram = exact.one(f"SELECT discreet.dp_median(n % 100, 0, 99) FROM generate_series(1, {rows}) n").histogram
    assert list(histogram.counts) == [sum(1 for n in range(1, rows + 1) if n % 100 == bin_) for bin_ in range(100)]


@pytest.mark.parametrize("digits", [-15, 0, 3])
def test_settings_of_the_session_do_not_change_what_is_handed_over(exact: Exact, digits: int) -> None:
    exact.connection.execute(f"SET extra_float_digits = {digits}")
    handed = exact.one(
        "SELECT discreet.dp_quantile(x, 0.875, 18.5::float8, 19.4375, 0.1234567) FROM (VALUES (19.0::float8)) s(x)"
    )
    assert [Fraction(text) for text in handed.totals[:3]] == [Fraction(7, 8), Fraction(37, 2), Fraction(311, 16)]


PLANS = """
    SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
    SET max_parallel_workers_per_gather = {workers}; SET enable_hashagg = {hash};
"""
EVERYTHING = ", ".join(
    call(aggregate, column, lower, upper, "1")
    for column, lower, upper in (("i4", "0", "50"), ("n", "0.5", "77.125"), ("f8", "-3", "99.9"),
                                 ("d", "'2000-01-01'", "'2000-03-01'"), ("ts", "'2000-01-02'", "'2000-01-03'"))
    for aggregate in ("dp_count", "dp_count_distinct", "dp_sum", "dp_variance", "dp_median", "dp_quantile")
)  # fmt: skip


@pytest.mark.parametrize("hashed", ["on", "off"])
@pytest.mark.parametrize("group", ["", "GROUP BY g"])
def test_parallel_plan_hands_over_what_the_serial_plan_does(exact: Exact, group: str, hashed: str) -> None:
    question = f"SELECT {EVERYTHING} FROM data.t {group} {'ORDER BY g' if group else ''}"
    exact.connection.execute(PLANS.format(workers=0, hash=hashed))
    serial = exact.handed(question)
    exact.connection.execute(PLANS.format(workers=3, hash=hashed))
    plan = "\n".join(str(row[0]) for row in exact.connection.execute(f"EXPLAIN (COSTS OFF) {question}").fetchall())
    assert "Finalize" in plan
    assert "Partial" in plan
    assert "Workers Planned: " in plan
    parallel = exact.handed(question)
    assert len(serial) == (30 if not group else 210)

    assert sorted(map(comparable, parallel)) == sorted(map(comparable, serial))


def comparable(handed: Handed) -> str:
    """All that is handed over; the bins of a quantile come in the order of the rows."""
    quantile = handed.function in ("dp_median", "dp_quantile")
    return repr((handed.function, handed.amount, handed.filtered, handed.histogram if quantile else handed.totals))
