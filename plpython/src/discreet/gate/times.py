"""Time that passes: constant intervals, and the moment at which a question is asked.

A date or timestamp of the years 1 to 9999, moved by at most a thousand years, is a date again; what leaves these years
is no value, so that nothing can fail later.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from typing import NoReturn

from pglast import ast, enums
from pglast.visitors import Visitor

from discreet.core.syntax import Node
from discreet.gate.parse import nodes
from discreet.gate.refusal import refuse
from discreet.gate.schema import Family
from discreet.gate.tree import INTERVAL, Arithmetic, Constant, Duration, Expression, Type
from discreet.gate.values import clamped, content, guarded_time, literal

FARTHEST = 1000  # years
DAYS = 366 * FARTHEST
NOW = ("now", "transaction_timestamp")

# unit: months, days and seconds that it stands for
UNITS: dict[str, tuple[int, int, int]] = {
    "millennium": (12_000, 0, 0), "century": (1200, 0, 0), "decade": (120, 0, 0), "year": (12, 0, 0),
    "mon": (1, 0, 0), "month": (1, 0, 0), "week": (0, 7, 0), "day": (0, 1, 0),
    "hour": (0, 0, 3600), "minute": (0, 0, 60), "min": (0, 0, 60), "second": (0, 0, 1), "sec": (0, 0, 1),
}  # fmt: skip
PLURALS = {"millennia": "millennium", "millenniums": "millennium", "centuries": "century"}
PART = re.compile(r"\s*(?:([+-]?)(\d+):(\d\d)(?::(\d\d(?:\.\d{1,6})?))?|([+-]?\d{1,9}(?:\.\d{1,6})?)\s*([a-z]+))\s*")


def duration(text: str, node: object) -> Constant:
    """What '1 year 2 mons -3 days 04:05:06' says, as PostgreSQL writes intervals and people do."""
    months, days, seconds = 0, 0, Fraction(0)
    place = 0
    while place < len(text):
        part = PART.match(text.lower(), place)
        if part is None:
            refuse_interval(text, node)
        place = part.end()
        sign, hours, minutes, rest, number, unit = part.groups()
        if hours is not None:
            clock = int(hours) * 3600 + int(minutes) * 60 + Fraction(rest or 0)
            seconds += -clock if sign == "-" else clock
            continue
        amount, unit = Fraction(number), PLURALS.get(unit, unit.removesuffix("s"))
        if unit not in UNITS or (amount.denominator != 1 and not UNITS[unit][2]):
            refuse_interval(text, node)
        months += int(amount * UNITS[unit][0])
        days += int(amount * UNITS[unit][1])
        seconds += amount * UNITS[unit][2]
    if not text.strip():
        refuse_interval(text, node)
    if abs(months) > 12 * FARTHEST or abs(days) > DAYS or abs(seconds) > 86_400 * DAYS:
        refuse(f"an interval of more than {FARTHEST} years", node)
    return Constant(Duration(months, days, int(seconds * 10**6)), type=INTERVAL, nullable=False)


def refuse_interval(text: str, node: object) -> NoReturn:
    refuse(f"{literal(text)} is no interval", node, "Intervals are written 1 year 2 months, 30 days, 12:30:00.")


def moved(name: str, moment: Expression, by: Expression, node: object) -> Expression:
    """A date or timestamp plus or minus a constant interval, or a date plus or minus a number of days."""
    start = guarded_time(moment, node)
    text = content(by)
    if by.type.names == INTERVAL.names and by.family is Family.OTHER and text is not None:
        family = Family.TIMESTAMPTZ if moment.family is Family.TIMESTAMPTZ else Family.TIMESTAMP
        by = duration(text, node)
    else:
        by = by if by.constant or by.family is not Family.INT else clamped(by, node)
        if by.family is not Family.INT or by.interval is None or by.interval.reach > DAYS:
            refuse(f"adding something to a date other than a whole number of at most {DAYS} days", node)
        family = Family.DATE
    # raw, so that what leaves the known years is no value
    return guarded_time(Arithmetic(name, start, by, type=Type(family), raw="the date"), node)


def with_moment(tree: Node, asked: Callable[[], datetime], moved: bool = False) -> Node:
    """The question with CURRENT_DATE, CURRENT_TIMESTAMP, LOCALTIMESTAMP and now() replaced by what they are in it.

    `moved`: it goes by another clock, which statement_timestamp() reads, too.
    """
    names = (*NOW, "statement_timestamp") if moved else NOW

    class Moments(Visitor):  # type: ignore[misc]
        def visit_SQLValueFunction(self, ancestors: Node, node: ast.SQLValueFunction) -> Node:  # noqa: N802
            return stamp(enums.SQLValueFunctionOp(node.op).name, asked().astimezone(UTC), node)

        def visit_FuncCall(self, ancestors: Node, node: ast.FuncCall) -> Node:  # noqa: N802
            if is_age(node):  # until today
                today = stamp("SVFOP_CURRENT_DATE", asked().astimezone(UTC), node)
                return ast.FuncCall(**{slot: getattr(node, slot) for slot in node} | {"args": (today, *node.args)})
            return stamp("SVFOP_CURRENT_TIMESTAMP", asked().astimezone(UTC), node) if is_now(node, names) else None

    if any(isinstance(node, ast.SQLValueFunction) or is_now(node, names) or is_age(node) for node in nodes(tree)):
        return Moments()(tree)
    return tree


def is_age(node: Node) -> bool:
    """age() of one argument."""
    if not isinstance(node, ast.FuncCall) or len(node.args or ()) != 1:
        return False
    *schema, name = (part.sval for part in node.funcname)
    return name == "age" and schema in ([], ["pg_catalog"])


def is_now(node: Node, names: tuple[str, ...]) -> bool:
    if not isinstance(node, ast.FuncCall) or node.args:
        return False
    *schema, name = (part.sval for part in node.funcname)
    return name in names and schema in ([], ["pg_catalog"])


def stamp(name: str, moment: datetime, node: Node) -> ast.TypeCast | None:
    """The constant that is meant by such a name; None for the user's name and the like."""
    if name == "SVFOP_CURRENT_DATE":
        return constant(moment.date().isoformat(), "date", node)
    if name == "SVFOP_CURRENT_TIMESTAMP":
        return constant(moment.isoformat(sep=" "), "timestamptz", node)
    if name == "SVFOP_LOCALTIMESTAMP":
        return constant(moment.replace(tzinfo=None).isoformat(sep=" "), "timestamp", node)
    return None


def constant(text: str, type_name: str, node: Node) -> ast.TypeCast:
    names = (ast.String(sval="pg_catalog"), ast.String(sval=type_name))
    value = ast.A_Const(isnull=False, val=ast.String(sval=text))
    return ast.TypeCast(arg=value, typeName=ast.TypeName(names=names, typemod=-1), location=node.location)
