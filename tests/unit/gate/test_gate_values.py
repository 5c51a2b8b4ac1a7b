"""Literals are read by the gate, never by the server; values that could make arithmetic fail are clamped before it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.core.errors import DiscreetError, MissingBoundsError, RefusedShapeError
from discreet.gate.intervals import Interval
from discreet.gate.printer import printed
from discreet.gate.schema import Family
from discreet.gate.tree import Column, Type
from discreet.gate.values import (
    NULL,
    clamped,
    guarded_time,
    identifier,
    literal,
    number_constant,
    same_family,
    typed_literal,
    untyped,
)


@pytest.mark.parametrize(
    ("text", "family", "sql"),
    [
        (" 12.50 ", Family.NUMERIC, "12.50"),
        ("-7", Family.INT, "(-7)"),
        (".5", Family.FLOAT, "'0.5'::pg_catalog.float8"),
        ("it's", Family.TEXT, "'it''s'::pg_catalog.text"),
        ("YES", Family.BOOL, "true"),
        ("off", Family.BOOL, "false"),
        ("2024-02-29", Family.DATE, "'2024-02-29'::pg_catalog.date"),
        ("2024-02-29 23:59", Family.DATE, "'2024-02-29'::pg_catalog.date"),
        ("2024-02-29T23:59:58", Family.TIMESTAMP, "'2024-02-29 23:59:58'::pg_catalog.timestamp"),
        ("2024-02-29 23:59+02:00", Family.TIMESTAMP, "'2024-02-29 23:59:00'::pg_catalog.timestamp"),
        ("2024-02-29 23:59+02:00", Family.TIMESTAMPTZ, "'2024-02-29 23:59:00+02:00'::pg_catalog.timestamptz"),
    ],
)
def test_a_literal_is_read_as_the_type_beside_it(text: str, family: Family, sql: str) -> None:
    value = typed_literal(text, family, None)
    assert (printed(value), value.family, value.constant) == (sql, family, True)


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("1.5", Family.INT), ("1e100", Family.NUMERIC), ("NaN", Family.FLOAT), ("Infinity", Family.NUMERIC),
        ("0x10", Family.INT), ("", Family.NUMERIC), ("1;2", Family.INT), ("9" * 90, Family.NUMERIC),
        ("maybe", Family.BOOL), ("now", Family.DATE), ("today", Family.TIMESTAMP), ("infinity", Family.DATE),
        ("2024-13-01", Family.DATE), ("epoch", Family.TIMESTAMPTZ), ("anything", Family.OTHER),
    ],
)  # fmt: skip
def test_a_literal_that_means_no_plain_value_is_refused(text: str, family: Family) -> None:
    with pytest.raises(RefusedShapeError, match=f"is no {family.value}"):
        typed_literal(text, family, None)


def test_names_and_texts_are_quoted() -> None:
    assert identifier('a"b;--') == '"a""b;--"'
    assert literal("a'b\\") == "E'a''b\\\\'"
    assert printed(number_constant(Fraction(1, 8), Family.NUMERIC)) == "0.125"
    assert "E" not in printed(number_constant(Fraction(1, 10**40), Family.NUMERIC)).upper()


def column(family: Family, *bounds: int) -> Column:
    return Column(0, "x", "t", type=Type(family), interval=Interval.of(*bounds) if bounds else None, raw="x")


@pytest.mark.parametrize("family", [Family.INT, Family.NUMERIC, Family.FLOAT])
def test_a_column_is_clamped_once(family: Family) -> None:
    once = clamped(column(family, 0, 10), None)
    assert once.raw is None
    assert "CASE WHEN" in printed(once)
    assert clamped(once, None) == once
    assert once.interval == Interval.of(0, 10)


def test_a_column_without_bounds_is_not_computed_with() -> None:
    with pytest.raises(MissingBoundsError, match="column x has no bounds"):
        clamped(column(Family.INT), None)
    with pytest.raises(RefusedShapeError, match="arithmetic on text"):
        clamped(column(Family.TEXT), None)
    with pytest.raises(RefusedShapeError, match="60 digits"):
        clamped(column(Family.NUMERIC, 0, 10**61), None)


def test_a_time_is_kept_within_the_years_that_functions_know() -> None:
    guarded = guarded_time(column(Family.DATE), None)
    assert "'0001-01-01'" in printed(guarded)
    assert "'10000-01-01'" in printed(guarded)
    assert guarded_time(guarded, None) == guarded
    with pytest.raises(RefusedShapeError, match="a date function on int"):
        guarded_time(column(Family.INT), None)


@pytest.mark.parametrize(
    ("families", "common"),
    [
        ("int int", "int"), ("int numeric", "numeric"), ("int float", "float"), ("numeric float", "float"),
        ("date timestamp", "timestamp"), ("date timestamptz", "timestamptz"), ("text text", "text"),
    ],
)  # fmt: skip
def test_values_meet_in_one_family(families: str, common: str) -> None:
    found, _ = same_family([column(Family(name)) for name in families.split()], None)
    assert found == common


@pytest.mark.parametrize("families", ["int text", "bool int", "date int", "text date", "other int"])
def test_values_of_different_kinds_do_not_meet(families: str) -> None:
    with pytest.raises(DiscreetError, match="together"):
        same_family([column(Family(name)) for name in families.split()], None)


def test_null_and_untyped_literals_take_the_family_of_the_others() -> None:
    bare = untyped("5")
    family, (_, five, _) = same_family([column(Family.INT), bare, NULL], None)
    assert (family, printed(five)) == (Family.INT, "5")
    assert same_family([bare, NULL], None)[0] is Family.TEXT
