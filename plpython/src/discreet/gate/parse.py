"""Stage parse: text to tree, by PostgreSQL's own grammar. One SELECT, nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.core.errors import InvalidParameterError, RefusedShapeError
from discreet.core.syntax import Node
from discreet.gate.refusal import refuse

# Parser and printer work down the tree on the stack of the backend: deeper or longer questions could overflow it.
LONGEST_QUESTION = 20_000
DEEPEST = 100


def parse(text: str) -> Node:
    """The SelectStmt of a text that is one SELECT."""
    from pglast import ast, parse_sql
    from pglast.parser import ParseError

    if len(text) > LONGEST_QUESTION:
        raise InvalidParameterError(f"the question is longer than {LONGEST_QUESTION} characters")
    if "\0" in text:
        raise InvalidParameterError("the question holds a zero byte")
    try:
        statements = parse_sql(text)
    except ParseError as error:
        raise RefusedShapeError(f"the question is not SQL: {error.args[0]}", "Check it for typing errors.") from None
    if len(statements) != 1:
        raise RefusedShapeError(f"the text holds {len(statements)} statements", "Ask one SELECT at a time.")
    statement = statements[0].stmt
    if not isinstance(statement, ast.SelectStmt):
        refuse(f"{type(statement).__name__.removesuffix('Stmt').upper()} is no question", hint="Ask a SELECT.")
    if depth(statement) > DEEPEST:
        raise RefusedShapeError("the question is nested too deeply", "Write it with fewer levels.")
    return statement


def nodes(tree: Node) -> Iterator[Node]:
    """All nodes of a tree, from above."""
    from pglast import ast

    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple | list):
            waiting.extend(reversed(node))
        elif isinstance(node, ast.Node):
            yield node
            waiting.extend(reversed([getattr(node, slot) for slot in node]))


def function_names(tree: Node) -> set[str]:
    """Names of all functions that a tree calls, without their schemas."""
    from pglast import ast

    return {node.funcname[-1].sval for node in nodes(tree) if isinstance(node, ast.FuncCall)}


def depth(tree: Node) -> int:
    """The number of levels of a tree."""
    from pglast import ast

    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        if isinstance(node, tuple | list):
            waiting.extend((part, level) for part in node)
        elif isinstance(node, ast.Node):
            deepest = max(deepest, level)
            waiting.extend((getattr(node, slot), level + 1) for slot in node)
    return deepest
