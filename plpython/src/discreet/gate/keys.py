"""The canonical key of a measurement: a function of the typed tree, the same in every session and process.

Equal keys mean equal exact numbers over every database: the key holds all that decides about them, which is the rows,
the conditions, the group keys with the values that are known of them, what is measured, and the limits per person. It
does not hold what does not: the names that a question gives to tables and columns, columns of derived tables that
nothing uses, and the shape of the answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from fractions import Fraction

from discreet.gate import tree
from discreet.gate.grouping import Key
from discreet.gate.names import Source
from discreet.gate.people import columns_of

MIRRORED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

Canonical = None | bool | int | str | list["Canonical"]


def key_of(*things: object) -> str:
    """The key of these things together, as a hexadecimal number."""
    text = json.dumps([canonical(thing) for thing in things], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(thing: object) -> Canonical:
    """The thing as lists and texts; refuses what has no order or spelling of its own."""
    if isinstance(thing, Enum):
        return str(thing.value)
    if thing is None or isinstance(thing, bool | int | str):
        return thing
    if isinstance(thing, Fraction):
        return ["Fraction", thing.numerator, thing.denominator]
    if isinstance(thing, Decimal):
        return ["Decimal", str(thing)]  # with its sign and its zeros
    if isinstance(thing, date):
        return [type(thing).__name__, thing.isoformat()]
    if isinstance(thing, tuple | list):
        return [canonical(part) for part in thing]
    if isinstance(thing, frozenset | set):
        return in_any_order(thing)
    if isinstance(thing, tree.Expression):
        return ["Expression", digest(thing)]
    if isinstance(thing, tree.Map):  # its columns are in the expressions that use them
        which = (thing.first, thing.order, thing.ties, thing.most, thing.skip)
        return ["Map", canonical(thing.rows), in_any_order(thing.conditions), canonical(thing.unit), canonical(which)]
    if isinstance(thing, tree.PerPerson):
        groups = (in_any_order(part) for part in (thing.conditions, thing.keys, thing.fixed, thing.having))
        return ["PerPerson", canonical(thing.rows), canonical(thing.unit), *groups]
    if isinstance(thing, tree.Union) and thing.word != "UNION ALL":
        return [thing.word, *(canonical(part) for part in (thing.left, thing.right, columns_of(thing)))]
    if isinstance(thing, tree.Join):
        return ["Join", thing.kind, canonical(thing.left), canonical(thing.right), in_any_order(thing.conditions)]
    if isinstance(thing, Source):
        return ["Source", *(canonical(part) for part in (thing.rows, thing.unit, thing.single, thing.limits))]
    if isinstance(thing, Key):
        return ["Key", *(canonical(part) for part in (thing.value, thing.groups, thing.nullable, thing.listed))]
    if is_dataclass(thing) and not isinstance(thing, type):
        return [type(thing).__name__, *(canonical(getattr(thing, each.name)) for each in fields(thing) if each.compare)]
    raise TypeError(f"{type(thing).__name__} has no canonical form")


@tree.kept_of_origins
def digest(node: tree.Expression) -> str:
    """The digest of an expression; that of a node is made from those of its parts."""
    return hashlib.sha256(json.dumps(form(node), separators=(",", ":")).encode()).hexdigest()


def form(node: tree.Expression) -> Canonical:
    if isinstance(node, tree.Constant):
        return ["Constant", canonical(node.value), canonical(node.type), node.untyped, node.declared]
    if isinstance(node, tree.Output):  # by any name
        return ["Output", node.place, canonical(node.origin)]
    if isinstance(node, tree.Logic):
        return ["Logic", node.word, in_any_order(node.conditions)]
    if isinstance(node, tree.Compare):
        return comparison(node)
    if isinstance(node, tree.Among):  # by which column, too
        return ["Among", *(canonical(part) for part in (node.value, node.query, columns_of(node.query)))]
    return [type(node).__name__, *(canonical(getattr(node, each.name)) for each in fields(node) if each.compare)]


def in_any_order(things: Iterable[object]) -> list[Canonical]:
    """Things whose order and number of times do not count: conditions that all must hold, none of which can fail."""
    distinct = {json.dumps(one): one for one in map(canonical, things)}
    return ["set", *(distinct[text] for text in sorted(distinct))]


def compared(node: tree.Expression) -> Canonical:
    """A side of a comparison: 40, 40.0 and 40 as a double are one number beside a small whole number."""
    held = node.value if isinstance(node, tree.Constant) else None
    if isinstance(held, Decimal) and held == held.to_integral() and abs(held) < 2**31:
        return ["whole", int(held)]
    if isinstance(node, tree.Conversion) and node.to in ("double", "numeric", "int8"):
        value = node.argument
        if isinstance(value, tree.Column) and value.type.name in ("smallint", "integer"):
            return canonical(value)
    return canonical(node)


def comparison(node: tree.Compare) -> list[Canonical]:
    """a < b is b > a."""
    left, right = compared(node.left), compared(node.right)
    if json.dumps(right) < json.dumps(left):
        return ["Compare", MIRRORED[node.name], right, left]
    return ["Compare", node.name, left, right]
