"""The way from a row to its person, as a curator writes it: 'order_id -> shop.orders.customer_id'.

Each step is a foreign key to a unique key of the next table, whose column named here leads on; the last one names the
person. So a row has at most one parent at each step, and at most one person.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.core.errors import InvalidParameterError

IDENTIFIER = r'(?:"(?:[^"]|"")+"|[^\s".>-][^\s".>]*)'
STEP = re.compile(rf"\s*({IDENTIFIER})\.({IDENTIFIER})\.({IDENTIFIER})\s*")
COLUMN = re.compile(rf"\s*({IDENTIFIER})\s*")
ARROW = re.compile(r'->(?=(?:[^"]*"[^"]*")*[^"]*$)')
USAGE = (
    "Write the column that holds the key, and the column of each parent that leads on: "
    "'order_id -> shop.orders.customer_id'."
)


@dataclass(frozen=True)
class Step:
    """A parent, by the quoted name of its table, and its column that leads on."""

    relation: str
    column: str


@dataclass(frozen=True)
class UnitPath:
    column: str
    steps: tuple[Step, ...]

    @classmethod
    def parse(cls, text: str) -> UnitPath:
        first, *rest = ARROW.split(text)
        column, steps = COLUMN.fullmatch(first), [STEP.fullmatch(part) for part in rest]
        if column is None or None in steps:
            raise InvalidParameterError(f"unit '{text}' is no way from a row to its person", USAGE)
        found = [step.groups() for step in steps if step is not None]
        return cls(plain(column[1]), tuple(Step(f"{schema}.{table}", plain(last)) for schema, table, last in found))


def plain(identifier: str) -> str:
    """The name that an identifier means: without quotes it is in lower case."""
    return identifier[1:-1].replace('""', '"') if identifier.startswith('"') else identifier.lower()


def is_path(unit: str) -> bool:
    return ARROW.search(unit) is not None
