"""Subqueries in expressions: EXISTS, IN, ANY, ALL and scalar ones.

Each reads rows of the person of the row around it, or public rows: its result is a function of that row, of this
person's rows and of public ones. So a condition or value made of it treats each person apart (people.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Protocol

from pglast import ast, enums

from discreet.core.errors import DiscreetError
from discreet.core.syntax import Node
from discreet.gate.clauses import WithQueries
from discreet.gate.expressions import COMPARISONS, TRUE_OR_FALSE
from discreet.gate.names import same_people
from discreet.gate.people import has_one_row, is_led, known_by_both, of_query
from discreet.gate.refusal import refuse, refuse_tracker
from discreet.gate.schema import NUMBERS, TIMES
from discreet.gate.tree import BOOLEAN, Among, Compare, Exists, Expression, Quantified, Query, Released, Scalar, Union
from discreet.gate.values import identifies
from discreet.gate.within import RowExpressions, is_key_of_parent, is_unit

STRANGERS = "Compare the person in it with that of the row around it: WHERE inner.person = outer.person."


@dataclass(frozen=True)
class Mapped:
    """A subquery, and its columns; `units`: those that hold the person of a row; `parents`: as those of names."""

    query: Query
    columns: Mapping[str, Expression]
    units: frozenset[str]
    parents: Mapping[str, str] = field(default_factory=dict)


class Asks(Protocol):
    """What reads a subquery that is a question of its own (subquestions.py); None where it is not."""

    def released(self, node: ast.SubLink, queries: WithQueries) -> Released | None: ...


class Reader(Protocol):
    """What reads a subquery below the aggregation (sources.py)."""

    @property
    def subquestions(self) -> Asks | None: ...

    def undone(self) -> AbstractContextManager[None]:
        """What is read within, and refused, leaves nothing behind."""

    def mapped(
        self,
        select: ast.SelectStmt,
        queries: WithQueries,
        leave_hidden: bool = False,
        around: RowExpressions | None = None,
        only_rows: bool = False,
    ) -> Mapped: ...


@dataclass(frozen=True)
class Subquery:
    """Reads the subqueries of one SELECT, each once; `read`: those of the question that are read."""

    sources: Reader
    queries: WithQueries
    read: dict[int, tuple[Node, Expression]]

    def sublink(self, node: ast.SubLink, around: RowExpressions) -> Expression:
        if id(node) not in self.read:
            self.read[id(node)] = node, self.expression(node, around)
        return self.read[id(node)][1]

    def expression(self, node: ast.SubLink, around: RowExpressions) -> Expression:
        kind = node.subLinkType
        if kind == enums.SubLinkType.EXISTS_SUBLINK:
            query = self.own(self.mapped(node, around, only_rows=True).query, node, around)
            return Exists(query, type=BOOLEAN, domain=TRUE_OR_FALSE, nullable=False)
        if kind == enums.SubLinkType.EXPR_SUBLINK:
            return self.scalar(node, around)
        if kind not in (enums.SubLinkType.ANY_SUBLINK, enums.SubLinkType.ALL_SUBLINK):
            refuse("a subquery of this kind", node)
        return self.quantified(node, around)

    def mapped(self, node: ast.SubLink, around: RowExpressions, only_rows: bool = False) -> Mapped:
        return self.sources.mapped(node.subselect, self.queries, around=around, only_rows=only_rows)

    def own(self, query: Query, node: Node, around: RowExpressions) -> Query:
        """The query, where it reads rows of the person of the row around it, or public ones."""
        people = of_query(query)
        if people.public:
            return query
        if not is_led(query):
            refuse("a subquery about other people than that of the row", node, STRANGERS)
        self.same_people(query, node, around)
        return query

    def same_people(self, query: Query, node: Node, around: RowExpressions) -> None:
        inside, outside = of_query(query), around.source.people
        if inside.dataset != outside.dataset:
            refuse("a subquery about people of another dataset", node)
        known_by_both(outside, inside)

    def scalar(self, node: ast.SubLink, around: RowExpressions) -> Expression:
        """Of the person of the row or of public rows, or a number of all people, which is released first."""
        try:
            with self.sources.undone():
                return self.of_row(node, around)
        except DiscreetError:
            asks = self.sources.subquestions
            found = None if asks is None else asks.released(node, self.queries)
            if found is None:
                raise
            return found

    def of_row(self, node: ast.SubLink, around: RowExpressions) -> Expression:
        mapped = self.mapped(node, around)
        query = self.own(mapped.query, node, around)
        (value,) = one_column(mapped, node)
        refuse_naming(value, node)
        if not has_one_row(query):
            refuse(
                "a subquery of which a row could have several results",
                node,
                "Aggregate in it, or add ORDER BY … LIMIT 1.",
            )
        raw = value.raw or ("a subquery" if value.family in NUMBERS | TIMES and value.interval is None else None)
        return Scalar(
            query, value, type=value.type, interval=value.interval, domain=value.domain, raw=raw,
            nullable=True,
        )  # fmt: skip

    def quantified(self, node: ast.SubLink, around: RowExpressions) -> Expression:
        name = "=" if not node.operName else str(node.operName[-1].sval)
        name = "<>" if name == "!=" else name
        every = node.subLinkType == enums.SubLinkType.ALL_SUBLINK
        if isinstance(node.testexpr, ast.RowExpr) and name == "=" and not every:
            return self.quantified(of_person(node, around), around)
        if name not in COMPARISONS or isinstance(node.testexpr, ast.RowExpr):
            refuse("ANY or ALL of a subquery with this comparison", node)
        mapped = self.mapped(node, around)
        (element,) = one_column(mapped, node)
        person = self.person(node.testexpr, mapped, around)
        if person is not None and name == "=" and not every:
            self.same_people(mapped.query, node, around)
            return Among(person, mapped.query, type=BOOLEAN, domain=TRUE_OR_FALSE)
        query = self.own(mapped.query, node, around)
        refuse_naming(element, node)
        compared = around.comparison(name, around.value(node.testexpr), element, node)
        if not isinstance(compared, Compare) or isinstance(query, Union):
            refuse("ANY or ALL of this subquery", node)
        ((column, _),) = query.columns
        query = replace(query, columns=((column, compared.right),))
        return Quantified(name, compared.left, every, query, compared.right, type=BOOLEAN, domain=TRUE_OR_FALSE)

    def person(self, node: Node, mapped: Mapped, around: RowExpressions) -> Expression | None:
        """The column around, where it and that of the subquery both name the person, or a row of one table."""
        if not isinstance(node, ast.ColumnRef):
            return None
        try:
            named, column = around.scope.find(node)
        except DiscreetError:
            return None
        ((name, element),) = mapped.columns.items()
        value = named.columns[column]
        if named not in around.source.names or not same_people(value, element):
            return None
        linked = column in named.unit_columns and name in mapped.units
        linked |= column in named.parents and named.parents[column] == mapped.parents.get(name)
        return value if linked else None


def of_person(node: ast.SubLink, around: RowExpressions) -> ast.SubLink:
    """(person, value) IN (SELECT person, value …) as value = ANY of those of the person of the row.

    PostgreSQL compares rows column by column. That of the person is never NULL, so where it differs the rows do.
    """
    values = list(node.testexpr.args)
    place = next(
        (n for n, value in enumerate(values) if is_unit(value, around) or is_key_of_parent(value, around)), None
    )
    if place is None or len(values) != 2:
        refuse("comparing rows with those of a subquery", node, "Write EXISTS (SELECT … WHERE a = … AND b = …).")
    names = [f"discreet {n}" for n in range(len(values))]
    person, value = ast.ColumnRef(fields=(ast.String(sval=names[place]),)), names[1 - place]
    same = ast.A_Expr(kind=enums.A_Expr_Kind.AEXPR_OP, name=(ast.String(sval="="),), lexpr=person, rexpr=values[place])
    rows = ast.RangeSubselect(
        subquery=node.subselect,
        alias=ast.Alias(aliasname="rows", colnames=tuple(ast.String(sval=name) for name in names)),
    )
    select = ast.SelectStmt(
        targetList=(ast.ResTarget(val=ast.ColumnRef(fields=(ast.String(sval=value),))),),
        fromClause=(rows,),
        whereClause=same,
        limitOption=enums.LimitOption.LIMIT_OPTION_DEFAULT,
        op=enums.SetOperation.SETOP_NONE,
    )
    return ast.SubLink(subLinkType=enums.SubLinkType.ANY_SUBLINK, testexpr=values[1 - place], subselect=select)


def refuse_naming(value: Expression, node: Node) -> None:
    """Outside a subquery its column is a value like any other, with which names must not be told."""
    if identifies(value):
        refuse_tracker("a subquery whose value names a person", node)


def one_column(mapped: Mapped, node: Node) -> list[Expression]:
    if len(mapped.columns) != 1:
        refuse("a subquery of several columns in an expression", node)
    return list(mapped.columns.values())
