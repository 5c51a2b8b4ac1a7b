"""SQL for each type of node that discreet prints. Other modules get SQL from a tree by discreet.core.printing.

Every expression comes out as an operand that needs no parentheses around it: a name, a constant, a call, or something
within parentheses. So no table of precedences is needed, and none can be wrong. Strings, names and types are spelled so
that no setting of a session gives them another meaning. A node type that is not in `SPELLINGS` is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from pglast import ast, enums, keywords

from discreet.core.quoting import identifier as quoted
from discreet.core.quoting import literal
from discreet.core.syntax import Node

PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
# as PostgreSQL's own quote_ident() has it
QUOTED_KEYWORDS = keywords.RESERVED_KEYWORDS | keywords.TYPE_FUNC_NAME_KEYWORDS | keywords.COL_NAME_KEYWORDS


class UnknownNodeError(Exception):
    """A node for which there is no SQL here."""


def spelled(node: Node) -> str:
    spelling = SPELLINGS.get(type(node))
    if spelling is None:
        raise UnknownNodeError(type(node).__name__)
    return spelling(node)


def all_of(nodes: Iterable[Node] | None) -> str:
    return ", ".join(map(spelled, nodes or ()))


def words(*parts: str) -> str:
    return " ".join(filter(None, parts))


def clause(keyword: str, nodes: Iterable[Node] | None) -> str:
    """The keyword and its list; nothing where the list is empty."""
    return f"{keyword} {all_of(nodes)}" if nodes else ""


# -- names and constants


def identifier(name: str) -> str:
    """In quotes where it needs them; `quoted` is for places where any keyword means something: OVER (rows …)."""
    return name if PLAIN_NAME.fullmatch(name) and name not in QUOTED_KEYWORDS else quoted(name)


def identifiers(parts: Iterable[Node] | None, between: str = ".") -> str:
    return between.join(identifier(part.sval) for part in parts or ())


def constant(node: ast.A_Const) -> str:
    return "NULL" if node.isnull else spelled(node.val)


def signed(number: str) -> str:
    return f"({number})" if number.startswith("-") else number


def bit_string(node: ast.BitString) -> str:
    return f"{node.bsval[0].upper()}'{node.bsval[1:]}'"


def column(node: ast.ColumnRef) -> str:
    return ".".join(map(field, node.fields))


def field(part: Node) -> str:
    return "*" if isinstance(part, ast.A_Star) else identifier(part.sval)


def type_name(node: ast.TypeName) -> str:
    """By schema and name, with modifiers as numbers: PostgreSQL's own words for types become the same."""
    modifiers = f"({all_of(node.typmods)})" if node.typmods else ""
    bounds = "".join("[]" if bound.ival < 0 else f"[{bound.ival}]" for bound in node.arrayBounds or ())
    percent = "%TYPE" if node.pct_type else ""
    return f"{'SETOF ' if node.setof else ''}{identifiers(node.names)}{percent}{modifiers}{bounds}"


def value_function(node: ast.SQLValueFunction) -> str:
    name = enums.SQLValueFunctionOp(node.op).name.removeprefix("SVFOP_")
    return f"{name.removesuffix('_N')}({node.typmod})" if name.endswith("_N") else name


# -- operators


def operator(name: Node) -> str:
    *schema, symbol = (part.sval for part in name)
    return f"OPERATOR({'.'.join(map(identifier, schema))}.{symbol})" if schema else str(symbol)


def operation(node: ast.A_Expr) -> str:
    kind = enums.A_Expr_Kind(node.kind).name.removeprefix("AEXPR_")
    left = "" if node.lexpr is None else spelled(node.lexpr)
    if kind == "NULLIF":
        return f"NULLIF({left}, {spelled(node.rexpr)})"
    return f"({words(left, RIGHT_SIDES[kind](node))})"


def applied(node: ast.A_Expr) -> str:
    return f"{operator(node.name)} {spelled(node.rexpr)}"


def applied_to_each(word: str) -> Callable[[ast.A_Expr], str]:
    return lambda node: f"{operator(node.name)} {word} ({spelled(node.rexpr)})"


def compared(word: str) -> Callable[[ast.A_Expr], str]:
    return lambda node: f"{word} {spelled(node.rexpr)}"


def membership(node: ast.A_Expr) -> str:
    return f"{negation(node, '<>')}IN ({all_of(node.rexpr)})"


def matching(word: str, negated: str) -> Callable[[ast.A_Expr], str]:
    """LIKE: its ESCAPE is a function around the pattern, and can be written as one."""
    return lambda node: f"{negation(node, negated)}{word} {spelled(node.rexpr)}"


def similarity(node: ast.A_Expr) -> str:
    """SIMILAR TO always has its function around the pattern, which it puts there itself."""
    return f"{negation(node, '!~')}SIMILAR TO {' ESCAPE '.join(map(spelled, node.rexpr.args))}"


def range_test(word: str) -> Callable[[ast.A_Expr], str]:
    return lambda node: f"{word} {spelled(node.rexpr[0])} AND {spelled(node.rexpr[1])}"


def negation(node: ast.A_Expr, negated: str) -> str:
    return "NOT " if node.name[-1].sval == negated else ""


RIGHT_SIDES: dict[str, Callable[[ast.A_Expr], str]] = {
    "OP": applied,
    "OP_ANY": applied_to_each("ANY"),
    "OP_ALL": applied_to_each("ALL"),
    "DISTINCT": compared("IS DISTINCT FROM"),
    "NOT_DISTINCT": compared("IS NOT DISTINCT FROM"),
    "IN": membership,
    "LIKE": matching("LIKE", "!~~"),
    "ILIKE": matching("ILIKE", "!~~*"),
    "SIMILAR": similarity,
    "BETWEEN": range_test("BETWEEN"),
    "NOT_BETWEEN": range_test("NOT BETWEEN"),
    "BETWEEN_SYM": range_test("BETWEEN SYMMETRIC"),
    "NOT_BETWEEN_SYM": range_test("NOT BETWEEN SYMMETRIC"),
}


def logic(node: ast.BoolExpr) -> str:
    parts = list(map(spelled, node.args))
    if node.boolop == enums.BoolExprType.NOT_EXPR:
        return f"(NOT {parts[0]})"
    return "(" + (" AND " if node.boolop == enums.BoolExprType.AND_EXPR else " OR ").join(parts) + ")"


def null_test(node: ast.NullTest) -> str:
    return f"({spelled(node.arg)} {enums.NullTestType(node.nulltesttype).name.replace('_', ' ')})"


def truth_test(node: ast.BooleanTest) -> str:
    return f"({spelled(node.arg)} {enums.BoolTestType(node.booltesttype).name.replace('_', ' ')})"


# -- expressions that are calls, or look like one


def cast(node: ast.TypeCast) -> str:
    return f"CAST({spelled(node.arg)} AS {spelled(node.typeName)})"


def collation(node: ast.CollateClause) -> str:
    return f"({spelled(node.arg)} COLLATE {identifiers(node.collname)})"


def case(node: ast.CaseExpr) -> str:
    operand = "" if node.arg is None else spelled(node.arg)
    branches = (f"WHEN {spelled(when.expr)} THEN {spelled(when.result)}" for when in node.args)
    otherwise = "" if node.defresult is None else f"ELSE {spelled(node.defresult)}"
    return f"({words('CASE', operand, *branches, otherwise)} END)"


def extreme(node: ast.MinMaxExpr) -> str:
    return f"{enums.MinMaxOp(node.op).name.removeprefix('IS_')}({all_of(node.args)})"


def row(node: ast.RowExpr) -> str:
    implicit = node.row_format == enums.CoercionForm.COERCE_IMPLICIT_CAST
    return f"{'' if implicit else 'ROW'}({all_of(node.args)})"


def element(node: ast.A_Indirection) -> str:
    return f"(({spelled(node.arg)}){''.join(map(step, node.indirection))})"


def step(part: Node) -> str:
    if not isinstance(part, ast.A_Indices):
        return f".{field(part)}"
    lower, upper = ("" if index is None else spelled(index) for index in (part.lidx, part.uidx))
    return f"[{lower} : {upper}]" if part.is_slice else f"[{upper}]"


def call(node: ast.FuncCall) -> str:
    arguments = ["*"] if node.agg_star else list(map(spelled, node.args or ()))
    if node.func_variadic:
        arguments[-1] = f"VARIADIC {arguments[-1]}"
    order = clause("ORDER BY", node.agg_order)
    inside, within = (order, "") if not node.agg_within_group else ("", f"WITHIN GROUP ({order})")
    given = words("DISTINCT" if node.agg_distinct else "", ", ".join(arguments), inside)
    condition = "" if node.agg_filter is None else f"FILTER (WHERE {spelled(node.agg_filter)})"
    over = "" if node.over is None else f"OVER {quoted(node.over.name) if node.over.name else window(node.over)}"
    return words(f"{identifiers(node.funcname)}({given})", within, condition, over)


def named_argument(node: ast.NamedArgExpr) -> str:
    return f"{identifier(node.name)} => {spelled(node.arg)}"


def subquery(node: ast.SubLink) -> str:
    kind = enums.SubLinkType(node.subLinkType).name.removesuffix("_SUBLINK")
    inner = f"({spelled(node.subselect)})"
    if kind == "EXPR":
        return inner
    if kind in ("EXISTS", "ARRAY"):
        return f"{kind}{inner}"
    if kind not in ("ANY", "ALL"):
        raise UnknownNodeError(kind)
    how = f"{operator(node.operName)} {kind}" if node.operName else "IN"
    return f"({spelled(node.testexpr)} {how} {inner})"


# -- windows and orders


def window(node: ast.WindowDef) -> str:
    refers = "" if node.refname is None else quoted(node.refname)
    parts = clause("PARTITION BY", node.partitionClause), clause("ORDER BY", node.orderClause)
    return f"({words(refers, *parts, frame(node))})"


def frame(node: ast.WindowDef) -> str:
    def has(option: str) -> bool:
        return bool(node.frameOptions & getattr(enums, f"FRAMEOPTION_{option}"))

    def bound(end: str, offset: Node) -> str:
        names = ("UNBOUNDED_PRECEDING", "UNBOUNDED_FOLLOWING", "CURRENT_ROW", "OFFSET_PRECEDING", "OFFSET_FOLLOWING")
        (name,) = (name for name in names if has(f"{end}_{name}"))
        return name.replace("_", " ").replace("OFFSET", "" if offset is None else f"({spelled(offset)})")

    if not has("NONDEFAULT"):
        return ""
    (unit,) = (unit for unit in ("RANGE", "ROWS", "GROUPS") if has(unit))
    start = bound("START", node.startOffset)
    excluded = next((name for name in ("CURRENT_ROW", "GROUP", "TIES") if has(f"EXCLUDE_{name}")), None)
    exclusion = "" if excluded is None else f"EXCLUDE {excluded.replace('_', ' ')}"
    return words(unit, f"BETWEEN {start} AND {bound('END', node.endOffset)}" if has("BETWEEN") else start, exclusion)


def sort(node: ast.SortBy) -> str:
    way = enums.SortByDir(node.sortby_dir or 0).name.removeprefix("SORTBY_")
    direction = {"DEFAULT": "", "USING": f"USING {operator(node.useOp)}" if node.useOp else ""}.get(way, way)
    nulls = enums.SortByNulls(node.sortby_nulls or 0).name.removeprefix("SORTBY_NULLS_")
    return words(spelled(node.node), direction, "" if nulls == "DEFAULT" else f"NULLS {nulls}")


# -- SELECT


def select(node: ast.SelectStmt) -> str:
    core = rows(node) if not node.op else combination(node)
    return words(with_queries(node.withClause), core, clause("ORDER BY", node.sortClause), limit(node))


def rows(node: ast.SelectStmt) -> str:
    if node.valuesLists:
        return "VALUES " + ", ".join(f"({all_of(values)})" for values in node.valuesLists)
    named = ", ".join(f"{quoted(w.name)} AS {window(w)}" for w in node.windowClause or ())
    return words(
        "SELECT",
        distinct(node.distinctClause),
        all_of(node.targetList),
        clause("FROM", node.fromClause),
        "" if node.whereClause is None else f"WHERE {spelled(node.whereClause)}",
        clause("GROUP BY DISTINCT" if node.groupDistinct else "GROUP BY", node.groupClause),
        "" if node.havingClause is None else f"HAVING {spelled(node.havingClause)}",
        f"WINDOW {named}" if named else "",
    )


def combination(node: ast.SelectStmt) -> str:
    word = enums.SetOperation(node.op).name.removeprefix("SETOP_")
    return words(f"({spelled(node.larg)})", word, "ALL" if node.all else "", f"({spelled(node.rarg)})")


def distinct(items: Node) -> str:
    if items is None:
        return ""
    return "DISTINCT" if items == (None,) else f"DISTINCT ON ({all_of(items)})"


def limit(node: ast.SelectStmt) -> str:
    offset = "" if node.limitOffset is None else f"OFFSET {spelled(node.limitOffset)}"
    if node.limitCount is None:
        return offset
    count = spelled(node.limitCount)
    ties = node.limitOption == enums.LimitOption.LIMIT_OPTION_WITH_TIES
    return words(f"FETCH FIRST ({count}) ROWS WITH TIES" if ties else f"LIMIT {count}", offset)


def target(node: ast.ResTarget) -> str:
    return spelled(node.val) + ("" if node.name is None else f" AS {identifier(node.name)}")


def with_queries(node: ast.WithClause | None) -> str:
    if node is None:
        return ""
    return words("WITH", "RECURSIVE" if node.recursive else "", all_of(node.ctes))


def with_query(node: ast.CommonTableExpr) -> str:
    wish = enums.CTEMaterialize(node.ctematerialized or 0).name.removeprefix("CTEMaterialize").upper()
    kept = {"DEFAULT": "", "ALWAYS": "MATERIALIZED", "NEVER": "NOT MATERIALIZED"}[wish]
    return words(f"{quoted(node.ctename)}{names_of(node.aliascolnames)} AS", kept, f"({spelled(node.ctequery)})")


def grouping_set(node: ast.GroupingSet) -> str:
    kind = enums.GroupingSetKind(node.kind).name.removeprefix("GROUPING_SET_")
    return f"{'GROUPING SETS' if kind == 'SETS' else '' if kind == 'EMPTY' else kind}({all_of(node.content)})"


# -- FROM


def table(node: ast.RangeVar) -> str:
    parts = filter(None, (node.catalogname, node.schemaname, node.relname))
    return words("" if node.inh else "ONLY", ".".join(map(identifier, parts)), called(node.alias))


def derived_table(node: ast.RangeSubselect) -> str:
    return words("LATERAL" if node.lateral else "", f"({spelled(node.subquery)})", called(node.alias))


def table_function(node: ast.RangeFunction) -> str:
    if node.is_rowsfrom:
        raise UnknownNodeError("ROWS FROM")
    ((function, _),) = node.functions
    columns = f"({all_of(node.coldeflist)})" if node.coldeflist else ""
    name = called(node.alias) or ("AS" if columns else "")
    ordinality = "WITH ORDINALITY" if node.ordinality else ""
    return words("LATERAL" if node.lateral else "", spelled(function), ordinality, name, columns)


def column_definition(node: ast.ColumnDef) -> str:
    collate = "" if node.collClause is None else f"COLLATE {identifiers(node.collClause.collname)}"
    return words(identifier(node.colname), spelled(node.typeName), collate)


def join(node: ast.JoinExpr) -> str:
    kind = enums.JoinType(node.jointype).name.removeprefix("JOIN_")
    free = not (node.isNatural or node.usingClause or node.quals)
    how = words("NATURAL" if node.isNatural else "", "CROSS" if free else kind, "JOIN")
    match = "" if node.quals is None else f"ON {spelled(node.quals)}"
    if node.usingClause:
        match = words(f"USING ({identifiers(node.usingClause, ', ')})", called(node.join_using_alias))
    return words(f"({words(spelled(node.larg), how, spelled(node.rarg), match)})", called(node.alias))


def called(alias: ast.Alias | None) -> str:
    return "" if alias is None else f"AS {identifier(alias.aliasname)}{names_of(alias.colnames)}"


def names_of(columns: Node) -> str:
    return f"({identifiers(columns, ', ')})" if columns else ""


SPELLINGS: dict[type, Callable[[Node], str]] = {
    ast.A_Const: constant,
    ast.Integer: lambda node: signed(str(node.ival)),
    ast.Float: lambda node: signed(node.fval),
    ast.Boolean: lambda node: "true" if node.boolval else "false",
    ast.String: lambda node: literal(node.sval),
    ast.BitString: bit_string,
    ast.ColumnRef: column,
    ast.ParamRef: lambda node: f"${node.number}",
    ast.TypeName: type_name,
    ast.SQLValueFunction: value_function,
    ast.A_Expr: operation,
    ast.BoolExpr: logic,
    ast.NullTest: null_test,
    ast.BooleanTest: truth_test,
    ast.TypeCast: cast,
    ast.CollateClause: collation,
    ast.CaseExpr: case,
    ast.CoalesceExpr: lambda node: f"COALESCE({all_of(node.args)})",
    ast.MinMaxExpr: extreme,
    ast.A_ArrayExpr: lambda node: f"ARRAY[{all_of(node.elements)}]",
    ast.RowExpr: row,
    ast.A_Indirection: element,
    ast.FuncCall: call,
    ast.NamedArgExpr: named_argument,
    ast.GroupingFunc: lambda node: f"GROUPING({all_of(node.args)})",
    ast.SubLink: subquery,
    ast.SortBy: sort,
    ast.SelectStmt: select,
    ast.ResTarget: target,
    ast.CommonTableExpr: with_query,
    ast.GroupingSet: grouping_set,
    ast.RangeVar: table,
    ast.RangeSubselect: derived_table,
    ast.RangeFunction: table_function,
    ast.ColumnDef: column_definition,
    ast.JoinExpr: join,
}
