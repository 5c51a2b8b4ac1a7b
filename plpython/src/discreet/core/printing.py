"""SQL from a tree, by the one function that makes any: what it gives means the tree, or there is no SQL.

The text is parsed again, and the tree that comes out must be the one that went in. So a mistake in the spelling of a
node, or in the way a tree was put together, becomes a refusal and never another meaning.
"""

from __future__ import annotations

from collections.abc import Hashable

from pglast import ast, parse_sql
from pglast.parser import ParseError

from discreet.core.errors import DiscreetError, RefusedShapeError
from discreet.core.spelling import UnknownNodeError, spelled
from discreet.core.syntax import Node

HINT = "Write the expression in another way, for example with simpler parts."

# places in the text, which PostgreSQL keeps for its messages
PLACES = frozenset(
    ["location", "stmt_location", "stmt_len", "list_start", "list_end", "rexpr_list_start", "rexpr_list_end"]
)


def printed(tree: Node, error: type[DiscreetError] = RefusedShapeError) -> str:
    """SQL that PostgreSQL's grammar reads as this tree, a SELECT or an expression; if there is none, raises `error`.

    An expression can be put wherever one is allowed, also beside an operator, without parentheses around it.
    """
    try:
        text = spelled(tree)
    except UnknownNodeError as unknown:
        raise error(f"{unknown} cannot be written as SQL", HINT) from None
    if isinstance(tree, ast.SelectStmt):
        statement, expected = text, tree
    else:
        # no operator binds its operand more tightly than ::, so this shows that the text holds together
        statement, expected = f"SELECT {text}::pg_catalog.text", selected_as_text(tree)
    if not means(statement, expected):
        raise error("the expression cannot be written as SQL without changing its meaning", HINT)
    return text


def means(statement: str, tree: Node) -> bool:
    """Whether the text is one statement, and this tree what it is parsed to."""
    try:
        statements = parse_sql(statement)
    except ParseError:
        return False
    return len(statements) == 1 and meaning(statements[0].stmt) == meaning(tree)


def meaning(tree: Node) -> Hashable:
    """What of a tree decides its meaning, as a key. All that is left out here, and why that changes nothing:

    - places in the text;
    - slots that are not set: NULL, an empty list, zero and false are the same to PostgreSQL's structs, but '' is not;
    - whether a function of pg_catalog, named so, was written as a call or in words, as EXTRACT (… FROM …) is:
      PostgreSQL keeps that for showing it again, and looks at it only for names without a schema.
    """
    if isinstance(tree, tuple | list):
        return tuple(map(meaning, tree))
    if not isinstance(tree, ast.Node):
        leaf: Hashable = tree
        return leaf
    slots = {slot: meaning(getattr(tree, slot)) for slot in tree if slot not in PLACES}
    if isinstance(tree, ast.FuncCall) and len(tree.funcname) == 2 and tree.funcname[0].sval == "pg_catalog":
        del slots["funcformat"]
    return type(tree).__name__, tuple((slot, held) for slot, held in slots.items() if held or held == "")


def selected_as_text(tree: Node) -> ast.SelectStmt:
    names = (ast.String(sval="pg_catalog"), ast.String(sval="text"))
    cast = ast.TypeCast(arg=tree, typeName=ast.TypeName(names=names, typemod=-1))
    return ast.SelectStmt(targetList=(ast.ResTarget(val=cast),))
