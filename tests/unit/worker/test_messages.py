"""Messages between sessions and workers come out as they went in."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.worker.messages import Reader, Writer, parameter

TEXTS = st.one_of(st.none(), st.text(st.characters(codec="utf-8")))


@given(st.lists(TEXTS), st.integers(-(2**31), 2**31 - 1))
def test_what_is_written_is_read(texts: list[str | None], number: int) -> None:
    message = Writer().letter("X").texts(texts).number(number).message()
    reader = Reader(message)
    assert reader.letter() == "X"
    assert [reader.text() for _ in range(reader.number())] == texts
    assert reader.number() == number
    assert reader.rest() == b""


def test_null_is_not_the_empty_text() -> None:
    reader = Reader(Writer().text(None).text("").message())
    assert reader.text() is None
    assert reader.text() == ""


@pytest.mark.parametrize(
    ("type_number", "text", "value"),
    [
        (16, "t", True),
        (16, "f", False),
        (17, "abc", b"abc"),
        (20, "-9223372036854775808", -(2**63)),
        (23, "7", 7),
        (26, "4294967295", 2**32 - 1),
        (701, "NaN", pytest.approx(float("nan"), nan_ok=True)),
        (1700, "1.50", Decimal("1.50")),
        (25, "ü", "ü"),
        (3802, '{"a": 1}', '{"a": 1}'),
    ],
)
def test_values_are_what_python_has_for_them(type_number: int, text: str, value: Any) -> None:
    assert Reader(Writer().text(text).message()).value(type_number) == value
    assert Reader(Writer().text(None).message()).value(type_number) is None


def test_an_array_is_a_list_of_values() -> None:
    elements = Writer().number(3).text("1").text(None).text("3").message()
    reader = Reader(len(elements).to_bytes(4, "big") + elements)
    assert reader.value(1007) == [1, None, 3]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        ("x", "x"),
        (True, "t"),
        (b"\x00\xff", "\\x00ff"),
        (0.1, "0.1"),
        (Decimal("1E+3"), "1E+3"),
        ([1, None, 'a"b\\c', [True]], '{"1",NULL,"a\\"b\\\\c",{"t"}}'),
        ([], "{}"),
    ],
)
def test_parameters_are_what_input_functions_read(value: Any, text: str | None) -> None:
    assert parameter(value) == text
