"""Whatever the finish step keeps of a question is printed, for every construct in every place of every other one."""

from __future__ import annotations

from typing import Any

from pglast import ast, parse_sql
from tests.corpus.sample import HARMLESS, planned
from tests.unit.core.sql_shapes import parsed_expression, products

from discreet.core.errors import DiscreetError
from discreet.core.printing import meaning, printed
from discreet.gate.post import PostProcessing


def kept(text: str) -> Any:
    """The tree of an expression around the answer, if it is let through."""
    post = PostProcessing(HARMLESS, ("it's",), lambda node: node if isinstance(node, ast.ColumnRef) else None)
    tree = parsed_expression(text)
    try:
        return post.rewrite(tree)
    except DiscreetError:
        return None


def test_everything_of_depth_two_that_is_kept_can_be_printed() -> None:
    trees = [tree for tree in map(kept, products(lambda text: kept(text) is not None)) if tree is not None]
    assert len(trees) > 3000
    for tree in trees:
        assert printed(tree)


def test_parentheses_around_aggregates_keep_their_meaning() -> None:
    sql = planned("SELECT (count(*) < 10 AND count(*) > 5) IS NOT NULL FROM hr.employee").answer_sql
    (target,) = parse_sql(sql)[0].stmt.targetList
    assert isinstance(target.val, ast.NullTest)
    (above, below) = target.val.arg.args
    assert meaning(above) != meaning(below)
