"""Questions within a question: scalar subqueries over all people that aggregate, as in `x > (SELECT avg(x) FROM t)`.

Each is a question of its own. Its answer is released, and stands in the question around it as a constant.

Theorem. Let A be the mechanism of the inner question, which costs a, and B(v) that of the question around it, with the
constant v in it. If B(v) costs b for every v, then releasing v = A(x) and B(v)(x) costs a + b: composition may be
adaptive (pure: Dwork and Roth 2014, theorem 3.16; zCDP: Bun and Steinke 2016, lemma 2.3). So the question around is
planned on `Released`, of which the type is known and the value is not. Nothing that decides about its sensitivity, its
price or its refusal looks at the value: it is unbounded until it is clamped, it may be NULL, and a comparison with it
counts as one by value, since two such numbers may be the ends of a range of one value. Both are charged together, then
the inner one is run and released, and the question is planned anew with the value in place, at the same price.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from pglast import ast, enums

from discreet.core.errors import UnknownColumnError
from discreet.core.printing import meaning
from discreet.core.syntax import Node
from discreet.gate.aggregates import Aggregate, is_aggregate
from discreet.gate.clauses import WithQueries
from discreet.gate.constants import literal_of_type
from discreet.gate.expressions import COMPARISONS
from discreet.gate.intervals import Interval
from discreet.gate.levels import Level
from discreet.gate.propagation import NumberType
from discreet.gate.refusal import refuse
from discreet.gate.schema import FAMILY_OF_TYPE, NUMBERS, TIMES, Family
from discreet.gate.tree import INTERVAL, NATIVE_TYPE, Released, Type

MOST = 8
# types of answers, by the names that aggregates and casts give them
SHORT_NAMES = {
    "int2": "smallint", "int4": "integer", "int8": "bigint", "float4": "real", "float8": "double precision",
    "bool": "boolean", "timestamp": "timestamp without time zone", "timestamptz": "timestamp with time zone",
}  # fmt: skip
# aggregates whose answer is about as large as what they are of
LIKE_THEIR_ARGUMENT = frozenset(["avg", "min", "max", "quantile"])


class Planned(Protocol):
    """What is planned of the inner question."""

    @property
    def aggregates(self) -> tuple[Aggregate, ...]: ...
    @property
    def levels(self) -> tuple[Level, ...]: ...


Plan = TypeVar("Plan", bound=Planned)


class Subquestions(Generic[Plan]):
    """The inner questions of a question, in the order in which they are met; `values`: what was released of each."""

    def __init__(
        self, plan: Callable[[ast.SelectStmt, WithQueries], Plan], values: Sequence[str | None] | None = None
    ) -> None:
        self._plan = plan
        self._values = values
        self._met: dict[object, tuple[Plan, Released]] = {}

    @property
    def every(self) -> tuple[Plan, ...]:
        return tuple(plan for plan, _ in self._met.values())

    @property
    def plans(self) -> tuple[Plan, ...]:
        """Those that are still to be answered."""
        return self.every if self._values is None else ()

    def released(self, node: ast.SubLink, queries: WithQueries) -> Released | None:
        """The number that a subquery is; None where it is no question of its own.

        Such a one aggregates all rows of a FROM clause and names no column of the question around it.
        """
        select = node.subselect
        if node.subLinkType != enums.SubLinkType.EXPR_SUBLINK or not is_one_row(select):
            return None
        # the same words are the same question, as long as WITH queries mean the same
        key = meaning(select), tuple((name, id(query.select)) for name, query in queries.items())
        if key not in self._met:
            number = len(self._met)
            if number >= MOST:
                refuse(f"more than {MOST} subqueries about all people", node)
            try:
                plan = self._plan(select, queries)
            except UnknownColumnError:
                return None
            self._met[key] = plan, self._number(plan, number, node)
        return self._met[key][1]

    def _number(self, plan: Plan, number: int, node: Node) -> Released:
        kind, interval = type_of(plan, node)
        known = self._values is not None
        text = None if self._values is None else self._values[number]
        raw = "a subquery" if kind.family in NUMBERS | TIMES else None
        return Released(number, known, text, type=kind, interval=interval, raw=raw)


def is_one_row(select: Node) -> bool:
    """Whether a SELECT aggregates without GROUP BY, so that it has one row."""
    if not isinstance(select, ast.SelectStmt) or select.op != enums.SetOperation.SETOP_NONE:
        return False
    dropping = select.havingClause or select.limitCount or select.limitOffset or select.distinctClause
    if select.groupClause or dropping or len(select.targetList or ()) != 1 or not select.fromClause:
        return False
    waiting: list[Node] = [select.targetList]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple | list):
            waiting.extend(node)
        elif is_aggregate(node):
            return True
        elif isinstance(node, ast.Node) and not isinstance(node, ast.SelectStmt):
            waiting.extend(getattr(node, slot) for slot in node)
    return False


def type_of(plan: Planned, node: Node) -> tuple[Type, Interval | None]:
    """The type of the one column of an answer, and between which bounds it is expected."""
    top = plan.levels[-1]
    value = top.select.targetList[0].val
    name, interval = None, None
    if (released := top.dependences[0].aggregate) is not None:
        aggregate = plan.aggregates[released]
        name, argument = aggregate.result_type, aggregate.measurements[0].subject.argument
        if aggregate.kind in LIKE_THEIR_ARGUMENT and argument is not None and name != "interval":
            interval = argument.interval
    elif isinstance(value, ast.TypeCast) and not value.typeName.arrayBounds:
        name = value.typeName.names[-1].sval
    elif is_true_or_false(value):
        name = "boolean"
    elif top.dependences[0].type is NumberType.WHOLE:
        name = "bigint"
    elif top.dependences[0].type is NumberType.FRACTIONAL:
        floating = any(FAMILY_OF_TYPE.get(long_name(one.result_type)) is Family.FLOAT for one in plan.aggregates)
        name = "double precision" if floating else "numeric"
    if name == "interval":
        return INTERVAL, None
    family = FAMILY_OF_TYPE.get(long_name(name or ""))
    if family is None:
        refuse("the type of this subquery is not known", node, "Cast its value: (SELECT (…)::numeric FROM …).")
    return Type(family), interval


def is_true_or_false(value: Node) -> bool:
    compared = isinstance(value, ast.A_Expr) and value.kind == enums.A_Expr_Kind.AEXPR_OP
    return isinstance(value, ast.BoolExpr | ast.NullTest | ast.BooleanTest) or (
        compared and value.name[-1].sval in COMPARISONS
    )


def long_name(name: str) -> str:
    return SHORT_NAMES.get(name, name)


def type_name(released: Released) -> str:
    """The type in which its value is read and written."""
    return "interval" if released.type == INTERVAL else NATIVE_TYPE[released.family]


def as_subquery(released: Released) -> ast.SubLink:
    """The number in what stands around the answer, where nothing is known of its error: (SELECT '42'::numeric)."""
    target = ast.ResTarget(val=literal_of_type(type_name(released), released.text))
    select = ast.SelectStmt(
        targetList=(target,),
        op=enums.SetOperation.SETOP_NONE,
        all=False,
        limitOption=enums.LimitOption.LIMIT_OPTION_DEFAULT,
    )
    return ast.SubLink(subLinkType=enums.SubLinkType.EXPR_SUBLINK, subselect=select)
