"""Native SQL means the tree that it was printed from: whatever is printed is parsed again and compared.

The printer joins texts. So an operand that would need parentheses, and has none, would become the operand of another
operator. Two conditions exclude that, for each expression that is printed. It *holds together*: no operator binds its
operand more tightly than ::, so `printed::text` is a cast of the whole expression. And what is printed of an operand
is, where it stands within another expression, an operand of it: one node of the tree that PostgreSQL's parser makes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import fields, replace
from functools import cache
from itertools import product
from typing import Any

import pytest
from pglast import ast, parse_sql
from tests.corpus.lab import SCHEMA as LAB
from tests.corpus.sample import SCHEMA, planned, questions

from discreet.core.printing import meaning, means, selected_as_text
from discreet.gate import tree
from discreet.gate.plan import Plan
from discreet.gate.printer import PRINTERS, printed
from discreet.gate.run import statements
from discreet.gate.schema import Family
from discreet.gate.tree import Constant, Expression, every_node, expressions_of

# what is written of types of nodes that no question of the corpora needs
MORE = [
    "SELECT count(*) FROM hr.employee WHERE -(salary::float8) > -5",
    "SELECT count(*) FROM (SELECT patient_id, percentile_disc(0.5) WITHIN GROUP (ORDER BY cost) AS m"
    " FROM clinic.visit GROUP BY patient_id) v WHERE m > 10",
]
VERSION = tree.SystemColumn(1, "xmin", "visit", type=tree.Type(Family.OTHER, "xid"))
ADDED = [VERSION, tree.Own("_person", (VERSION, VERSION), type=tree.TEXT)]
CORPORA = {"accepted.sql": SCHEMA, "values.sql": LAB}


def plans(name: str) -> Iterator[Plan]:
    for question in questions(name):
        if question.code is None:
            yield planned(question.sql, question.parameters, CORPORA[name])


def nodes_of(plan: Plan) -> list[Expression]:
    """Every node of a question that has SQL, those of subqueries included."""
    arguments = (part for one in plan.measurements for part in (one.subject.argument, one.subject.condition))
    waiting = [
        *plan.conditions, *(key.value for key in plan.grouping.keys), *(one for one in arguments if one is not None),
        *expressions_of(plan.source.rows),
    ]  # fmt: skip
    return [node for node in every_node(waiting) if type(node) in PRINTERS]


@cache
def parsed(sql: str) -> Hashable:
    return meaning(expression(sql))


def expression(sql: str) -> ast.Node:
    (statement,) = parse_sql(f"SELECT {sql}")
    (target,) = statement.stmt.targetList
    return target.val


def is_within(part: Hashable, whole: Hashable) -> bool:
    return part == whole or (isinstance(whole, tuple) and any(is_within(part, one) for one in whole))


def holds_together(sql: str) -> bool:
    return means(f"SELECT {sql}::pg_catalog.text", selected_as_text(expression(sql)))


def strays(node: Expression) -> list[Expression]:
    """Operands whose text stands in that of the node without being an operand there.

    The digits of a constant also stand in other constants, which hold together anyway.
    """
    whole = printed(node)
    texts = {printed(part): part for part in node.parts if type(part) in PRINTERS and type(part) is not Constant}
    return [part for text, part in texts.items() if text in whole and not is_within(parsed(text), parsed(whole))]


@pytest.fixture(scope="module")
def corpus() -> list[Plan]:
    return [*(plan for name in CORPORA for plan in plans(name)), *map(planned, MORE)]


def test_every_native_statement_is_one_select(corpus: list[Plan]) -> None:
    tried = 0
    for plan in corpus:
        for sql in {way for keys in plan.grouping.sets for one in statements(plan, keys, 1) for way in one.ways}:
            (statement,) = parse_sql(sql)
            assert isinstance(statement.stmt, ast.SelectStmt), sql
            tried += 1
    assert tried > 250


def test_every_expression_of_the_corpus_keeps_its_operands(corpus: list[Plan]) -> None:
    printed_texts: dict[str, Expression] = {}
    for plan in corpus:
        printed_texts |= {printed(node): node for node in nodes_of(plan)}
    for sql, node in printed_texts.items():
        assert holds_together(sql), sql
        assert strays(node) == [], sql
    assert len(printed_texts) > 1000


def samples(corpus: list[Plan]) -> dict[type[Expression], Expression]:
    """One expression of each type, the shortest that the corpus has."""
    found: dict[type[Expression], Expression] = {}
    for node in [*ADDED, *(node for plan in corpus for node in nodes_of(plan))]:
        known = found.get(type(node))
        if known is None or len(printed(node)) < len(printed(known)):
            found[type(node)] = node
    return found


def operands(node: Expression) -> list[str]:
    """The slots of a node that hold one expression, or several; arrays are always columns."""
    found = []
    for name, held in ((each.name, getattr(node, each.name)) for each in fields(node) if each.compare):
        first = held[0] if isinstance(held, tuple) and held else held
        if isinstance(first, Expression) and first.type.element is None:
            found.append(name)
    return found


def put_into(node: Expression, slot: str, operand: Expression) -> Expression:
    held = getattr(node, slot)
    new: Any = (operand, *held[1:]) if isinstance(held, tuple) else operand
    return replace(node, **{slot: new})


def test_every_type_of_node_keeps_its_operands_whatever_these_are(corpus: list[Plan]) -> None:
    every = samples(corpus)
    assert every.keys() == PRINTERS.keys()
    tried = 0
    for node in every.values():
        for slot, operand in product(operands(node), every.values()):
            nested = put_into(node, slot, operand)
            assert holds_together(printed(nested)), printed(nested)
            assert strays(nested) == [], printed(nested)
            tried += 1
    assert tried > 1000
