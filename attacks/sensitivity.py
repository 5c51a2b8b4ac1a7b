"""Sensitivity: one person is made to weigh more than the noise was made for."""

from __future__ import annotations

from math import isinf

from attacks.attack import Family
from attacks.office import DOORS, Door, Guess, Office, searched


def multiplied(joined: str) -> Guess:
    """Rows of one person, many times, if the salary is at least so much; {} stands for the table."""

    def guess(door: Door, who: str) -> float:
        door.share(16)
        rows = joined.replace("{}", door.table)

        def at_least(salary: int) -> bool:
            return (door.ask("count(*)", f"{who} AND p.salary >= {salary}", rows, repeats=64) or 0) > 100

        return searched(at_least)

    return guess


def many_rows(door: Door, who: str) -> float:
    """As many rows as the salary has units."""
    door.share(1)
    return door.ask("count(*)", who, "CROSS JOIN LATERAL generate_series(1, p.salary) AS each", repeats=16) or 0.0


def wrong_place(door: Door, who: str) -> float:
    door.share(1)
    return (door.ask("sum(p.salary * 1000)", who, repeats=1) or 0.0) / 1000


def other_rows(door: Door, who: str) -> float:
    """All people, if one person earns so much."""
    door.share(16)
    salary = f"(SELECT q.salary FROM {door.table} q WHERE {who.replace('p.', 'q.')})"
    return searched(lambda middle: (door.ask("count(*)", f"{salary} >= {middle}") or 0) > 100)


def first_row(door: Door, who: str) -> float:
    door.share(1)
    first = f"SELECT q.id FROM {door.table} q ORDER BY {who.replace('p.', 'q.')} DESC LIMIT 1"
    return door.total(f"p.id IN ({first})")


def infinite(door: Door, who: str) -> float:
    """Infinite, if one person earns so much: no noise hides that."""
    door.share(16)

    def at_least(salary: int) -> bool:
        infinity = f"CASE WHEN {who} AND p.salary >= {salary} THEN 'Infinity'::float8 ELSE 0 END"
        return isinf(door.ask(f"sum({infinity})", repeats=1) or 0.0)

    return searched(at_least)


def seeded(door: Door, who: str) -> float:
    """The noise is known to an asker who has chosen the seed."""
    door.share(1)
    door.session.execute("SELECT setseed(0.5)")
    ((noise,),) = door.session.execute("SELECT lab.laplace(100)").fetchall()
    door.session.execute("SELECT setseed(0.5)")
    return (door.ask("sum(p.salary)", who, repeats=1) or 0.0) - float(noise)


def attacks(office: Office) -> Family:
    one = office.attack
    copies = " UNION ALL ".join(["SELECT id FROM {}"] * 16)
    return Family(
        "Sensitivity",
        "The salary of one person, whose weight in the answer is larger than the noise.",
        DOORS,
        (
            one("set-returning functions", many_rows),
            one("self joins", multiplied("JOIN {} a ON a.floor >= 0 JOIN {} b ON b.floor = 0")),
            one("UNION ALL", multiplied(f"JOIN ({copies}) u ON u.id = p.id JOIN ({copies}) v ON v.id = p.id")),
            one("clamping at the wrong place", wrong_place),
            one("filters that depend on other rows", other_rows),
            one("LIMIT, DISTINCT ON, row_number, TABLESAMPLE, ctid", first_row),
            one("NaN, infinities, NULL, least(greatest())", infinite),
            one("setseed()", seeded, plain="answers are exact: there is no noise to foretell"),
        ),
    )
