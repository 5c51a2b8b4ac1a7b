"""CHECK constraints of a table with sealed columns."""

from __future__ import annotations

from discreet.core.errors import InvalidParameterError
from discreet.core.syntax import Node


def unsealed(expression: str, columns: dict[str, str], identities: tuple[str, ...]) -> str:
    """The CHECK over the base table: each sealed column is what it unseals to.

    A session without the keys cannot write these columns. Where it writes others, or a dump is restored, the CHECK is
    not evaluated: it would see NULL where there is a value. `columns`: what stands for a column; `identities`: their
    ids.
    """
    from pglast import ast, parse_sql
    from pglast.visitors import Visitor

    from discreet.core.printing import printed

    tree = parse_sql(f"SELECT ({expression})")[0].stmt
    values = {name: parse_sql(f"SELECT {text}")[0].stmt.targetList[0].val for name, text in columns.items()}

    class Replaced(Visitor):  # type: ignore[misc]
        def visit_ColumnRef(self, ancestors: Node, node: Node) -> Node:  # noqa: N802
            name = node.fields[-1]
            if isinstance(name, ast.A_Star):
                raise InvalidParameterError("a CHECK looks at whole rows", "Let it name the columns.")
            return values.get(name.sval)

    Replaced()(tree)
    text = printed(tree.targetList[0].val, InvalidParameterError)
    closed = " OR ".join(f"NOT discreet._is_unsealed('{identity}'::uuid)" for identity in identities)
    return f"{closed} OR ({text})"
