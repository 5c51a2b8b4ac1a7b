"""Whatever a rule may hold is printed, for every construct in every place of every other one."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest
from tests.unit.core.sql_shapes import products

from discreet.core import spelling
from discreet.core.errors import InvalidRuleError
from discreet.rules.expressions import Text, checked, over, predicate, text_of


def let_through(text: str) -> Any:
    """The tree of an expression, if a rule may hold it."""
    try:
        return checked(Text("rule", text, (), lambda function: True))
    except InvalidRuleError:
        return None


def test_what_a_rule_may_hold_can_be_printed_also_over_one_of_its_rows() -> None:
    """Of all products of depth two, which are printed in test_printing.py as they are, a part."""
    texts = islice(products(lambda text: let_through(text) is not None), 0, None, 20)
    trees = [tree for tree in map(let_through, texts) if tree is not None]
    assert len(trees) > 1000
    for tree in trees:
        assert text_of(tree)
        assert text_of(over("new", tree))


def test_a_predicate_keeps_its_parentheses_over_both_rows() -> None:
    made = predicate("limit", "(a OR b) IS NULL", ("a", "b"), lambda function: True)
    assert made.sql == "((a OR b) IS NULL)"
    assert made.new_sql == "((new.a OR new.b) IS NULL)"
    assert made.old_sql == "((old.a OR old.b) IS NULL)"


def test_an_expression_that_cannot_be_printed_is_no_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spelling, "SPELLINGS", {})
    with pytest.raises(InvalidRuleError, match="cannot be written as SQL"):
        predicate("limit", "a > 1", ("a",), lambda function: True)
