"""The text of a rule: one truth value over the columns of one row, made of PostgreSQL's own functions.

A rule is evaluated as the role that writes to the table. So it may hold nothing that another role could give
another meaning later, and nothing that acts: the node types below are all there are, names without a schema are those
of pg_catalog, and functions pass `FunctionCheck`. What PostgreSQL made of the text is checked again when it is in place
(server/rules.py), since implicit casts may run code of any role.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from discreet.core.errors import InvalidRuleError, UndefinedColumnError
from discreet.core.syntax import Node

LONGEST_RULE = 10_000
DEEPEST = 100

NODES = frozenset(
    ["ColumnRef", "A_Const", "Integer", "Float", "Boolean", "String", "BitString", "A_Expr", "BoolExpr", "NullTest",
     "BooleanTest", "TypeCast", "TypeName", "FuncCall", "CaseExpr", "CaseWhen", "CoalesceExpr", "MinMaxExpr",
     "A_ArrayExpr", "A_Indirection", "A_Indices", "CollateClause", "SQLValueFunction", "RowExpr"]
)  # fmt: skip
WHAT = {
    "SubLink": "a subquery",
    "ParamRef": "a parameter",
    "A_Star": "a whole row",
    "SetToDefault": "DEFAULT",
    "GroupingFunc": "GROUPING",
}

# whether a function of pg_catalog, by its name, does nothing but compute
FunctionCheck = Callable[[str], bool]


@dataclass(frozen=True)
class Rule:
    """A checked row rule, printed from its tree, and which of NEW and OLD it names."""

    sql: str
    new: bool
    old: bool

    @property
    def events(self) -> str:
        """The statements that it judges: where there is no OLD row it can say nothing about one."""
        if self.new and self.old:
            return "UPDATE"
        return "INSERT OR UPDATE" if self.new else "UPDATE OR DELETE"


@dataclass(frozen=True)
class Predicate:
    """A checked predicate over bare columns, and the same over NEW and over OLD."""

    sql: str
    new_sql: str
    old_sql: str


@dataclass(frozen=True)
class Text:
    """What is to be checked, and against what; `what` names it in messages. `ciphertext`: columns that hold such."""

    what: str
    text: str
    columns: tuple[str, ...]
    computes: FunctionCheck
    ciphertext: frozenset[str] = frozenset()

    def refuse(self, why: str, hint: str) -> InvalidRuleError:
        return InvalidRuleError(f"{self.what} {why}", hint)


def row_rule(
    what: str, text: str, columns: tuple[str, ...], computes: FunctionCheck, ciphertext: frozenset[str] = frozenset()
) -> Rule:
    given = Text(what, text, columns, computes, ciphertext)
    tree = checked(given)
    rows = {row_of(given, reference) for reference in references(tree)}
    if not rows:
        raise given.refuse("names no column", "Write columns as NEW.column, the row as written, or OLD.column.")
    return Rule(text_of(tree), "new" in rows, "old" in rows)


def predicate(
    what: str, text: str, columns: tuple[str, ...], computes: FunctionCheck, ciphertext: frozenset[str] = frozenset()
) -> Predicate:
    given = Text(what, text, columns, computes, ciphertext)
    tree = checked(given)
    named = list(references(tree))
    if not named:
        raise given.refuse("names no column", "Say by their columns which rows are counted.")
    for reference in named:
        parts = names(given, reference)
        if len(parts) != 1:
            raise given.refuse(f"names {'.'.join(parts)}", "Write columns by their names alone.")
        known_column(given, parts[0])
    return Predicate(text_of(tree), text_of(over("new", tree)), text_of(over("old", tree)))


def checked(given: Text) -> Node:
    """The tree of the expression, all of whose nodes are allowed."""
    from pglast import ast, parse_sql
    from pglast.parser import ParseError

    hint = "Write one expression that is true for every row that is allowed, as in NEW.age < 150."
    if len(given.text) > LONGEST_RULE or "\0" in given.text:
        raise given.refuse(f"is longer than {LONGEST_RULE} characters, or holds a zero byte", hint)
    try:
        statements = parse_sql(f"SELECT {given.text}\n")
    except ParseError as error:
        raise given.refuse(f"is no SQL expression: {error.args[0]}", hint) from None
    if len(statements) != 1 or not alone(statements[0].stmt):
        raise given.refuse("is not one SQL expression", hint)
    target = statements[0].stmt.targetList[0]
    if target.name is not None or target.val is None:
        raise given.refuse("is not one SQL expression", hint)
    for node, level in nodes(target.val):
        if level > DEEPEST:
            raise given.refuse("is nested too deeply", "Write it as several rules.")
        kind = type(node).__name__
        if kind not in NODES:
            raise given.refuse(f"holds {WHAT.get(kind, kind)}", "A rule judges one row, by its columns.")
        if isinstance(node, ast.FuncCall):
            check_function(given, node)
        elif isinstance(node, ast.A_Expr):
            check_operator(given, node)
    return target.val


def alone(statement: Node) -> bool:
    """Whether the statement is nothing but SELECT and one value."""
    from pglast import ast

    if not isinstance(statement, ast.SelectStmt) or len(statement.targetList or ()) != 1:
        return False
    other = (
        "distinctClause", "intoClause", "fromClause", "whereClause", "groupClause", "havingClause", "windowClause",
        "valuesLists", "sortClause", "limitOffset", "limitCount", "lockingClause", "withClause", "larg", "rarg",
    )  # fmt: skip
    return not any(getattr(statement, part) for part in other)


def nodes(tree: Node) -> Iterator[tuple[Node, int]]:
    from pglast import ast

    waiting = [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        if isinstance(node, tuple | list):
            waiting.extend((part, level) for part in node)
        elif isinstance(node, ast.Node):
            yield node, level
            waiting.extend((getattr(node, slot), level + 1) for slot in node)


def references(tree: Node) -> Iterator[Node]:
    from pglast import ast

    return (node for node, _ in nodes(tree) if isinstance(node, ast.ColumnRef))


def names(given: Text, reference: Node) -> list[str]:
    from pglast import ast

    if not all(isinstance(field, ast.String) for field in reference.fields):
        raise given.refuse("names a whole row", "Name its columns.")
    return [field.sval for field in reference.fields]


def row_of(given: Text, reference: Node) -> str:
    parts = names(given, reference)
    if len(parts) != 2 or parts[0] not in ("new", "old"):
        raise given.refuse(
            f"names {'.'.join(parts)}",
            "Write columns as NEW.column, the row as written, or OLD.column, the row as it was before.",
        )
    known_column(given, parts[1])
    return parts[0]


def known_column(given: Text, name: str) -> None:
    if name not in given.columns:
        raise UndefinedColumnError(
            f'{given.what} names column "{name}", which the table does not have',
            f"Its columns are: {', '.join(given.columns)}.",
        )
    if name in given.ciphertext:
        raise given.refuse(
            f'names column "{name}", which belongs to sealed values: the rule would judge ciphertext',
            "Name columns that are not sealed. A CHECK, made before the column is sealed, judges its values.",
        )


def check_function(given: Text, call: Node) -> None:
    parts = [part.sval for part in call.funcname]
    shown = ".".join(parts)
    if any((call.agg_order, call.agg_filter, call.over, call.agg_distinct, call.agg_star, call.agg_within_group)):
        raise given.refuse(f"aggregates with {shown}", "A rule judges one row; add_limit counts rows.")
    if parts[:-1] not in ([], ["pg_catalog"]) or not given.computes(parts[-1]):
        raise given.refuse(
            f"calls {shown}, which is not one of the functions it may call",
            "A rule may call functions of pg_catalog that only compute; others could be given another meaning.",
        )


def check_operator(given: Text, expression: Node) -> None:
    parts = [part.sval for part in expression.name]
    if parts[:-1] not in ([], ["pg_catalog"]):
        raise given.refuse(
            f"uses operator {'.'.join(parts)}",
            "A rule may use operators of pg_catalog; others could be given another meaning.",
        )


BUILT_IN_TYPES = frozenset(
    ["text", "varchar", "bpchar", "name", "bool", "int2", "int4", "int8", "float4", "float8", "numeric", "date", "time",
     "timetz", "timestamp", "timestamptz", "interval", "uuid", "bytea", "json", "jsonb", "inet", "cidr", "macaddr",
     "bit", "varbit", "boolean", "integer", "bigint", "smallint", "real", "decimal"]
)  # fmt: skip


def refuse_foreign_types(what: str, sql: str) -> None:
    """Types whose input or checks may be code of others, which would run with the rights of the extension.

    Names without a schema are looked up in pg_catalog first, so these are what they say.
    """
    from pglast import ast, parse_sql

    for node, _ in nodes(parse_sql(f"SELECT {sql}")[0].stmt.targetList[0].val):
        if isinstance(node, ast.TypeName):
            parts = [part.sval for part in node.names]
            if parts[:-1] not in ([], ["pg_catalog"]) or parts[-1] not in BUILT_IN_TYPES:
                raise InvalidRuleError(
                    f"{what} names type {'.'.join(parts)}, which is not one of those it may name",
                    "Cast to a type such as text, integer, numeric or date.",
                )


def over(row: str, tree: Node) -> Node:
    """The tree with its columns taken from that row."""
    from pglast import ast

    if isinstance(tree, ast.ColumnRef):
        return ast.ColumnRef(fields=(ast.String(sval=row), *tree.fields))
    if isinstance(tree, tuple | list):
        return tuple(over(row, part) for part in tree)
    if isinstance(tree, ast.Node):
        return type(tree)(**{slot: over(row, getattr(tree, slot)) for slot in tree})
    return tree


def text_of(tree: Node) -> str:
    from discreet.core.printing import printed

    return printed(tree, InvalidRuleError)
