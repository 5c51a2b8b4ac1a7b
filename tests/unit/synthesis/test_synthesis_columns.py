"""What columns become, and how codes are written."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import DiscreetError, InvalidParameterError, MissingBoundsError
from discreet.synthesis.columns import (
    Category,
    Column,
    Dependent,
    Empty,
    Filler,
    Generated,
    Key,
    Number,
    as_json,
    coarse,
    kind,
    kinds,
    parsed_dependencies,
)
from discreet.synthesis.rows import column as writer


def bounded(base: str, lower: int, upper: int, **more: object) -> Column:
    return Column("x", base, base, bounds=(Fraction(lower), Fraction(upper)), **more)  # type: ignore[arg-type]


def test_each_column_becomes_what_is_known_of_it() -> None:
    becomes = {
        Column("id", "integer", "integer", identifies=True): Key(person=True),
        Column("badge", "integer", "integer", identifies=True): Key(),
        Column("a", "boolean", "boolean"): Category(("false", "true"), True),
        Column("a", "boolean", "boolean", not_null=True): Category(("false", "true"), False),
        Column("m", "mood", "mood", labels=("x", "y")): Category(("x", "y"), True),
        Column("t", "text", "text", categories=("p", "q")): Category(("p", "q"), True),
        Column("name", "text", "text"): Filler("name ", "", None),
        Column("e_mail", "character varying(9)", "character varying", length=9): Filler("person", "@example.org", 9),
        Column("name", "text", "text", categories=("p",), hidden=True): Filler("name ", "", None),
        Column("j", "jsonb", "jsonb"): Empty(),
        Column("g", "integer", "integer", generated="1"): Generated(),
        bounded("integer", 0, 9): Number(-0.5, 9.5, 10, True, True),
    }
    for column, expected in becomes.items():
        assert kind("t", column, "id") == expected


@pytest.mark.parametrize("base", ["integer", "numeric", "double precision", "date", "timestamp with time zone"])
def test_numbers_without_bounds_are_refused(base: str) -> None:
    with pytest.raises(MissingBoundsError):
        kind("t", Column("x", base, base), "id")


def test_what_cannot_be_null_must_be_declared() -> None:
    with pytest.raises(MissingBoundsError):
        kind("t", Column("j", "jsonb", "jsonb", not_null=True), "id")


@pytest.mark.parametrize("written", [["zip"], ["zip ->"], ["a -> b -> c"], ["a -> c", "b -> c"]])
def test_a_dependency_is_two_columns(written: list[str]) -> None:
    with pytest.raises(InvalidParameterError):
        parsed_dependencies(written)


def test_a_column_follows_from_one_with_categories() -> None:
    columns = [Column("zip", "text", "text", categories=("1", "2")), Column("city", "text", "text", categories=("a",))]
    found = kinds("t", columns, "id", None, parsed_dependencies(["zip -> city"]))
    assert found["city"] == Dependent(("a",), True, "zip")
    for wrong in ({"city": "city"}, {"city": "zip", "zip": "city"}, {"nothing": "zip"}):
        with pytest.raises(DiscreetError):
            kinds("t", columns, "id", None, wrong)


def test_coarse_bins_hold_about_as_much_each_and_lie_in_order() -> None:
    random = np.random.default_rng(1)
    for _ in range(100):
        noisy = (random.exponential(10, 256) * (random.random(256) < 0.3) - 1).tolist()
        found = coarse(noisy)
        assert found.bins[0] == 0
        assert all(after - before in (0, 1) for before, after in zip(found.bins, found.bins[1:], strict=False))
        assert found.number <= 24
        assert min(found.weights) > 0
    assert coarse([0.0] * 256).number >= 1
    assert coarse([1.0] * 256).number == 24


@pytest.mark.parametrize(
    ("column", "lowest", "highest"),
    [
        (bounded("integer", -3, 900), "-3", "900"),
        (bounded("smallint", 5, 5), "5", "5"),
        (bounded("date", 0, 1000), "1970-01-01", "1972-09-27"),
        (bounded("numeric", 0, 1, scale=2), "0.00", "1.00"),
        (bounded("double precision", 1, 2), "1", "2"),
        (bounded("timestamp without time zone", 0, 86400), '"1970-01-01T00:00:00"', '"1970-01-02T00:00:00"'),
    ],
    ids=lambda value: value.base if isinstance(value, Column) else "",
)  # fmt: skip
def test_values_lie_between_the_bounds(column: Column, lowest: str, highest: str) -> None:
    random = np.random.default_rng(2)
    made = kind("t", column, "id")
    assert isinstance(made, Number)
    spread = coarse([1.0] * made.fine)
    write = writer(as_json(made, column, spread), random)
    codes = random.integers(0, spread.number + 1, 5000).astype(np.int32)
    texts = write(codes, np.arange(5000))
    assert [text == "NULL" for text in texts] == (codes == spread.number).tolist()
    values = [text for text in texts if text != "NULL"]
    if column.family in ("int", "numeric", "float"):
        assert float(lowest) <= min(map(float, values))
        assert max(map(float, values)) <= float(highest)
    else:
        assert lowest <= min(values)
        assert max(values) <= highest


def test_fillers_and_keys_are_different_for_every_row() -> None:
    random = np.random.default_rng(3)
    numbers = np.arange(1, 2000)
    for base in ("integer", "smallint", "text", "uuid"):
        texts = writer(as_json(Key(), Column("k", base, base), None), random)(None, numbers)
        assert len(set(texts)) == len(numbers)
    for length in (None, 40, 4):
        told = as_json(Filler("name ", "", length), Column("n", "text", "text"), None)
        texts = writer(told, random)(None, numbers)
        assert len(set(texts)) == len(numbers)
        assert length is None or max(map(len, texts)) <= length + 2


def test_texts_are_quoted_for_an_array() -> None:
    told = as_json(Category(('a"b', "c\\d", "NULL"), True), Column("t", "text", "text"), None)
    written = writer(told, np.random.default_rng(4))(np.array([0, 1, 2, 3], np.int32), np.arange(4))
    assert written == ['"a\\"b"', '"c\\\\d"', '"NULL"', "NULL"]
