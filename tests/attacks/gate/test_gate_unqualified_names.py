"""A name without its schema is looked up again by the server, in whatever search_path then holds.

Names are resolved once, on the ledger; what is sent afterwards has every schema written out. The search_path is pinned
to pg_catalog besides: that alone is tested in test_gate_own_operators.py.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from pglast import ast, enums, parse_sql
from pglast.visitors import Visitor
from tests.corpus.sample import planned, questions

from discreet.gate.post import MEASURED
from discreet.gate.run import statements

# IN, BETWEEN, LIKE, IS DISTINCT FROM and NULLIF have no place for a schema
WITH_PLACE = (enums.A_Expr_Kind.AEXPR_OP, enums.A_Expr_Kind.AEXPR_OP_ANY, enums.A_Expr_Kind.AEXPR_OP_ALL)


class Unqualified(Visitor):  # type: ignore[misc]
    """Collects names that have no schema, by kind."""

    def __init__(self) -> None:
        self.found: dict[str, set[str]] = {"relation": set(), "function": set(), "type": set(), "operator": set()}

    def visit_RangeVar(self, ancestors: Any, node: ast.RangeVar) -> None:  # noqa: N802
        if not node.schemaname and node.relname != MEASURED:
            self.found["relation"].add(node.relname)

    def visit_FuncCall(self, ancestors: Any, node: ast.FuncCall) -> None:  # noqa: N802
        if len(node.funcname) < 2:
            self.found["function"].add(node.funcname[0].sval)

    def visit_TypeName(self, ancestors: Any, node: ast.TypeName) -> None:  # noqa: N802
        if len(node.names) < 2:
            self.found["type"].add(node.names[0].sval)

    def visit_A_Expr(self, ancestors: Any, node: ast.A_Expr) -> None:  # noqa: N802
        if node.kind in WITH_PLACE and len(node.name) < 2:
            self.found["operator"].add(node.name[0].sval)


def printed() -> Iterator[str]:
    """All that is sent to the server for the accepted questions of the corpus."""
    for question in questions("accepted.sql"):
        plan = planned(question.sql, question.parameters)
        yield plan.answer_sql
        for keys in plan.grouping.sets:
            yield from (statement.sql for statement in statements(plan, keys, 1))


@pytest.fixture(scope="module")
def unqualified() -> dict[str, set[str]]:
    names = Unqualified()
    for sql in printed():
        names(parse_sql(sql))
    return names.found


@pytest.mark.parametrize("kind", ["relation", "function", "type", "operator"])
def test_every_name_is_written_with_its_schema(unqualified: dict[str, set[str]], kind: str) -> None:
    assert unqualified[kind] == set()
