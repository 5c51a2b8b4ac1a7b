"""Names of rules, of their triggers and of the indexes of limits."""

from __future__ import annotations

import pytest

from discreet.core.errors import InvalidParameterError
from discreet.rules.expressions import Predicate
from discreet.rules.statements import index_name, limit_index, limit_triggers, literal, rule_name


@pytest.mark.parametrize("name", [None, "", "  ", "x" * 51, "é" * 26])
def test_a_name_must_fit_into_an_identifier(name: str | None) -> None:
    with pytest.raises(InvalidParameterError):
        rule_name(name)
    assert rule_name("x" * 50) == "x" * 50


def test_an_index_gets_a_name_of_its_own() -> None:
    assert index_name("t", "x", frozenset()) == "t_x_limit"
    assert index_name("t", "x", frozenset({"t_x_limit", "t_x_limit1"})) == "t_x_limit2"
    long = index_name("é" * 30, "é" * 30, frozenset())
    assert len(long.encode()) <= 63
    assert long.endswith("_limit")


def test_names_and_texts_are_quoted() -> None:
    wanted = Predicate("a", "new.a", "old.a")
    made = limit_triggers('it"s', "hr.t", "t'\\_limit", wanted, 3)
    assert made
    assert all('limit it""s"' in statement and "_keep_limit('3', E't''\\\\_limit')" in statement for statement in made)
    assert limit_index('x"', "hr.t", wanted) == 'CREATE INDEX "x""" ON hr.t ((true)) WHERE a'
    assert literal("a\\'") == "E'a\\\\'''"
