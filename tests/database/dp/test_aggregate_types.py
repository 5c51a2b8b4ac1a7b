"""Every aggregate on every type that it takes.

At epsilon 100 hardly any noise is left: that of a count is not 0 with probability 2 e**-100; that of a sum of values
up to M is above 0.3 M with probability e**-30; a quantile falls into a bin that does not hold it with probability
below 4096 e**-50. An average and a variance get a half and a third of the epsilon for each of their parts: their
errors are above width/n and width**2/n with probability below 1e-14. So no test here fails by chance with probability
above 1e-12.
"""

from __future__ import annotations

import statistics
from datetime import UTC, date, datetime
from decimal import Decimal

import psycopg
import pytest
from tests.database.dp.aggregating import call
from tests.databases import Connection

# column: lower, upper, the numbers they stand for, the number of a value v from 0 to 100, type of a quantile
DAY0, SECOND0 = 10957, 946684800
TYPES: dict[str, tuple[str, str, float, float, tuple[float, float], str]] = {
    "i2": ("10::smallint", "90::smallint", 10, 90, (0, 1), "smallint"),
    "i4": ("10", "90", 10, 90, (0, 1), "integer"),
    "i8": ("10", "90", 10, 90, (0, 1), "bigint"),
    "n": ("10.5", "90.25", 10.5, 90.25, (0, 1), "numeric"),
    "f4": ("10::real", "90::real", 10, 90, (0, 1), "real"),
    "f8": ("10.5", "90", 10.5, 90, (0, 1), "double precision"),
    "d": ("'2000-01-11'", "'2000-03-31'", DAY0 + 10, DAY0 + 90, (DAY0, 1), "date"),
    "ts": (
        "'2000-01-01 10:00'", "'2000-01-04 18:00'", SECOND0 + 36000, SECOND0 + 90 * 3600, (SECOND0, 3600),
        "timestamp without time zone",
    ),
    "tz": (
        "'2000-01-01 10:00+00'", "'2000-01-04 18:00+00'", SECOND0 + 36000, SECOND0 + 90 * 3600, (SECOND0, 3600),
        "timestamp with time zone",
    ),
}  # fmt: skip
VALUES = [n * 37 % 101 for n in range(1, 1002) if n % 13 != 0]


def answer(connection: Connection, aggregate: str) -> object:
    row = connection.execute(f"SELECT {aggregate} FROM data.t").fetchone()
    assert row is not None
    return row[0]


def type_of(connection: Connection, aggregate: str) -> object:
    """The type as the client is told it."""
    description = connection.execute(f"SELECT {aggregate} FROM data.t").description
    assert description is not None
    (name,) = connection.execute("SELECT %s::regtype::text", [description[0].type_code]).fetchone() or (None,)
    return name


def clamped(column: str) -> list[float]:
    _, _, lower, upper, (origin, unit), _ = TYPES[column]
    return [min(max(origin + unit * value, lower), upper) for value in VALUES]


def as_number(value: object) -> float:
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return moment.timestamp()
    if isinstance(value, date):
        return (value - date(1970, 1, 1)).days
    assert isinstance(value, int | float | Decimal)
    return float(value)


@pytest.mark.parametrize("column", TYPES)
def test_count_of_values(dora: Connection, column: str) -> None:
    assert answer(dora, f"discreet.dp_count({column}, 100)") == len(VALUES)
    assert type_of(dora, f"discreet.dp_count({column}, 100)") == "bigint"


@pytest.mark.parametrize("column", TYPES)
def test_count_of_different_values(dora: Connection, column: str) -> None:
    assert answer(dora, f"discreet.dp_count_distinct({column}, 100)") == len(set(VALUES))
    assert type_of(dora, f"discreet.dp_count_distinct({column}, 100)") == "bigint"


@pytest.mark.parametrize("column", ["g", "id", "g = 'group 1'", "ARRAY[i4, id]", 'i4::text COLLATE "C"'])
def test_count_of_different_values_of_any_type_with_a_hash(dora: Connection, column: str) -> None:
    (expected,) = dora.execute(f"SELECT count(DISTINCT {column}) FROM data.t").fetchone() or (None,)
    assert answer(dora, f"discreet.dp_count_distinct({column}, 100)") == expected


@pytest.mark.parametrize("column", TYPES)
def test_sum_within_bounds(dora: Connection, column: str) -> None:
    lower, upper, low, high, _, _ = TYPES[column]
    noisy = answer(dora, call("dp_sum", column, lower, upper))
    assert isinstance(noisy, Decimal)
    assert abs(float(noisy) - sum(clamped(column))) <= 0.3 * max(abs(low), abs(high))
    assert type_of(dora, call("dp_sum", column, lower, upper)) == "numeric"


@pytest.mark.parametrize("column", TYPES)
def test_average_within_bounds(dora: Connection, column: str) -> None:
    lower, upper, low, high, _, _ = TYPES[column]
    noisy = answer(dora, call("dp_avg", column, lower, upper))
    assert isinstance(noisy, Decimal)
    assert low <= noisy <= high
    assert abs(float(noisy) - statistics.fmean(clamped(column))) <= (high - low) / len(VALUES)


@pytest.mark.parametrize("column", TYPES)
def test_variance_and_deviation_within_bounds(dora: Connection, column: str) -> None:
    lower, upper, low, high, _, _ = TYPES[column]
    expected = statistics.variance(clamped(column))
    noisy = answer(dora, call("dp_variance", column, lower, upper))
    deviation = answer(dora, call("dp_stddev", column, lower, upper))
    assert isinstance(noisy, Decimal)
    assert isinstance(deviation, Decimal)
    assert abs(float(noisy) - expected) <= (high - low) ** 2 / len(VALUES)
    assert abs(float(deviation) ** 2 - expected) <= (high - low) ** 2 / len(VALUES)


@pytest.mark.parametrize("aggregate", ["dp_median", "dp_quantile"])
@pytest.mark.parametrize("column", TYPES)
def test_quantile_is_a_value_of_the_columns_type(dora: Connection, column: str, aggregate: str) -> None:
    lower, upper, low, high, (_, unit), type_name = TYPES[column]
    noisy = answer(dora, call(aggregate, column, lower, upper))
    ordered = sorted(clamped(column))
    expected = ordered[int(len(ordered) * (0.5 if aggregate == "dp_median" else 0.75))]
    assert type_of(dora, call(aggregate, column, lower, upper)) == type_name
    assert low <= as_number(noisy) <= high
    assert abs(as_number(noisy) - expected) <= max((high - low) / 4096, unit * 0.51)


def test_whole_numbers_have_a_bin_each(dora: Connection) -> None:
    """The median of whole numbers in a small range is one of them, exactly."""
    expected = sorted(VALUES)[len(VALUES) // 2]
    assert answer(dora, "discreet.dp_median(i4, 0, 4000, 100)") == expected
    assert answer(dora, "discreet.dp_median(d, '2000-01-01', '2005-01-01', 100)") == date.fromordinal(
        date(2000, 1, 1).toordinal() + expected
    )


@pytest.mark.parametrize(
    ("value", "bounds", "type_name"),
    [
        ("i2", "0, 100", "integer"),
        ("i4", "0.5, 99.5", "numeric"),
        ("i8", "0, 100.5::float8", "double precision"),
        ("d", "'2000-01-01', '2001-01-01'", "date"),
        ("d", "timestamp '2000-01-01', timestamp '2001-01-01'", "timestamp without time zone"),
    ],
)
def test_value_and_bounds_meet_in_a_common_type(dora: Connection, value: str, bounds: str, type_name: str) -> None:
    assert type_of(dora, f"discreet.dp_median({value}, {bounds}, 100)") == type_name


def test_domains_are_what_they_stand_for(dp_admin: Connection, dora: Connection) -> None:
    dp_admin.execute(
        'CREATE DOMAIN data."per cent" AS numeric CHECK (VALUE >= 0); CREATE DOMAIN data.nested AS data."per cent";'
        'CREATE TABLE data.of_domains AS SELECT n::numeric::data.nested AS "per Cent" FROM generate_series(0, 100) n;'
        "GRANT SELECT ON data.of_domains TO PUBLIC"
    )
    row = dora.execute(
        'SELECT discreet.dp_count("per Cent", 100), discreet.dp_count_distinct("per Cent", 100),'
        ' discreet.dp_avg("per Cent", 0, 100, 100), discreet.dp_median("per Cent", 0, 100, 100) FROM data.of_domains'
    ).fetchone()
    assert row is not None
    assert row[:2] == (101, 101)
    assert abs(row[2] - 50) <= 1
    assert abs(row[3] - 50) <= 1


@pytest.mark.parametrize(
    "column", ["g", "g::bytea", "(g = 'group 1')", "ARRAY[i4]", "i4::text::json", "interval '1 day'"]
)
@pytest.mark.parametrize("aggregate", ["dp_sum", "dp_median"])
def test_what_has_no_numeric_bounds_is_refused(dora: Connection, column: str, aggregate: str) -> None:
    with pytest.raises(psycopg.Error, match="has no meaning for values of type"):
        dora.execute(f"SELECT discreet.{aggregate}({column}, {column}, {column}) FROM data.t")
