"""What is printed means the tree it was printed from: for every construct in every place of every other one."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from pglast import ast
from pglast.parser import parse_sql_json
from tests.unit.core.sql_shapes import (
    EXPRESSIONS,
    LEAVES,
    QUERIES,
    SELECT_LEAVES,
    SELECTS,
    SHAPES,
    at_random,
    parsed,
    parsed_expression,
    put_into,
)

from discreet.core import spelling
from discreet.core.errors import DiscreetError, InvalidRuleError, RefusedShapeError
from discreet.core.printing import PLACES, meaning, printed


def postgresql_reads(statement: str) -> Any:
    """The tree of PostgreSQL's parser, before pglast makes objects of it; without what `meaning` leaves out."""
    return stripped(json.loads(parse_sql_json(statement))["stmts"][0]["stmt"])


def stripped(tree: Any) -> Any:
    if isinstance(tree, list):
        return [stripped(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    kept = {slot: stripped(held) for slot, held in tree.items() if slot not in PLACES}
    name = [part["String"]["sval"] for part in tree.get("funcname", ())]
    if name[:-1] == ["pg_catalog"]:
        kept.pop("funcformat", None)
    return kept


def same_to_postgresql(text: str, again: str) -> bool:
    return bool(postgresql_reads(text) == postgresql_reads(again))


@pytest.mark.parametrize("text", [*LEAVES, *EXPRESSIONS])
def test_each_expression_is_printed_with_its_meaning(text: str) -> None:
    assert same_to_postgresql(f"SELECT {text}", f"SELECT {printed(parsed_expression(text))}")


@pytest.mark.parametrize("text", [*SELECT_LEAVES, *QUERIES])
def test_each_select_is_printed_with_its_meaning(text: str) -> None:
    assert same_to_postgresql(text, printed(parsed(text)))


@pytest.mark.parametrize("shape", SHAPES)
def test_each_expression_in_each_place_of_another_is_printed(shape: str) -> None:
    for text in put_into(shape):
        tree = parsed_expression(text)
        assert tree is None or printed(tree)


@pytest.mark.parametrize("shape", SELECTS)
def test_each_select_and_expression_in_each_place_of_a_select_is_printed(shape: str) -> None:
    for text in put_into(shape):
        tree = parsed(text)
        assert tree is None or printed(tree)


def test_expressions_of_depth_three_are_printed_with_their_meaning() -> None:
    random, seen = Random(18), 0
    while seen < 2000:
        text = at_random(random, 3)
        tree = parsed_expression(text)
        if tree is not None:
            assert same_to_postgresql(f"SELECT {text}", f"SELECT {printed(tree)}"), text
            seen += 1


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_printed_expression_needs_no_parentheses_beside_an_operator(text: str) -> None:
    again = printed(parsed_expression(text))
    assert postgresql_reads(f"SELECT - {again}::int ^ {again} IS NULL") == postgresql_reads(
        f"SELECT - ({again})::int ^ ({again}) IS NULL"
    )


def test_the_same_string_is_meant_whatever_standard_conforming_strings_is() -> None:
    assert printed(parsed_expression(r"'a\'")) == r"E'a\\'"
    assert printed(parsed_expression("'it''s'")) == "'it''s'"


WRONG_SPELLINGS = {
    "no parentheses": (ast.BoolExpr, "(a OR b) IS NULL", lambda node: " OR ".join(map(spelling.spelled, node.args))),
    "another operator": (ast.A_Expr, "a < b", lambda node: "(a > b)"),
    "no ELSE": (ast.CaseExpr, "CASE WHEN a THEN b ELSE c END", lambda node: "CASE WHEN a THEN b END"),
    "no DISTINCT": (ast.FuncCall, "count(DISTINCT a)", lambda node: "count(a)"),
    "another clause": (ast.ColumnRef, "a", lambda node: "a FROM t"),
    "another column": (ast.ColumnRef, "a", lambda node: "a, a"),
    "another statement": (ast.ColumnRef, "a", lambda node: "a; SELECT a"),
    "a comment": (ast.A_Const, "1", lambda node: "1 --"),
    "no SQL": (ast.A_Const, "1", lambda node: "1 +"),
}


@pytest.mark.parametrize(("node", "text", "wrong"), WRONG_SPELLINGS.values(), ids=WRONG_SPELLINGS)
def test_a_wrong_spelling_is_refused(monkeypatch: pytest.MonkeyPatch, node: type, text: str, wrong: Any) -> None:
    """The printer of pglast dropped parentheses like this."""
    assert printed(parsed_expression(text))
    monkeypatch.setitem(spelling.SPELLINGS, node, wrong)
    with pytest.raises(RefusedShapeError, match="without changing its meaning") as refusal:
        printed(parsed_expression(text))
    assert refusal.value.hint


def negated(number: int) -> ast.A_Expr:
    """The parser makes a constant of it."""
    return ast.A_Expr(kind=0, name=(ast.String(sval="-"),), rexpr=ast.A_Const(val=ast.Integer(ival=number)))


def compared_by(operator: str) -> ast.A_Expr:
    side = ast.ColumnRef(fields=(ast.String(sval="a"),))
    return ast.A_Expr(kind=0, name=(ast.String(sval=operator),), lexpr=side, rexpr=side)


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (negated(1), "without changing its meaning"),
        (compared_by("= 1 OR a ="), "without changing its meaning"),
        (compared_by("; DROP TABLE t --"), "without changing its meaning"),
        (ast.XmlExpr(op=0), "XmlExpr cannot be written as SQL"),
        (ast.SetToDefault(), "SetToDefault cannot be written as SQL"),
    ],
)
def test_a_tree_that_no_text_is_parsed_to_is_refused(tree: Any, words: str) -> None:
    with pytest.raises(InvalidRuleError, match=words):
        printed(tree, InvalidRuleError)


@pytest.mark.parametrize(
    "text", ["SELECT a INTO t", "SELECT 1 FROM t FOR UPDATE", "SELECT 1 FROM t TABLESAMPLE system (1)",
             "WITH RECURSIVE q AS (SELECT 1) CYCLE a SET b USING c SELECT 1",
             "WITH d AS (DELETE FROM t RETURNING 1) SELECT 1", "SELECT xmlelement(name x)",
             "SELECT 1 FROM ROWS FROM (f(), g())"],
)  # fmt: skip
def test_what_the_printer_leaves_out_or_does_not_know_is_refused(text: str) -> None:
    with pytest.raises(DiscreetError, match="as SQL"):
        printed(parsed(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a - (b - c)", "a - b - c"),
        ("(a OR b) IS NULL", "a OR b IS NULL"),
        ("(-1)::int", "-1::int"),
        ("''", "NULL"),
        ("0", "NULL"),
        ("false", "NULL"),
        ("ARRAY[]", "ARRAY[NULL]"),
        ("date(a)", "pg_catalog.date(a)"),
        ("count(a)", "count(DISTINCT a)"),
        ("a.b", "(a).b"),
        ("'a'", "a"),
        ("0", "0.0"),
    ],
)
def test_trees_of_another_meaning_are_told_apart(one: str, other: str) -> None:
    assert meaning(parsed_expression(one)) == meaning(parsed_expression(f"({one})"))
    assert meaning(parsed_expression(one)) != meaning(parsed_expression(other))
