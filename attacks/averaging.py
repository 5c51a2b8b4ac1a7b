"""Averaging: many draws of the noise for the price of one."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean

import psycopg

from attacks.attack import REFUSALS, Attack, Family
from attacks.office import BY_BIRTHDAY, DOORS, POLICIES, Door, Guess, Office

TIMES, TIMES_PAID = 400, 20  # the budget is spent on these
EPSILON = 1 / TIMES_PAID
EXACT = "answers are exact: there is no noise to average out"
RUNS = "generate_series(1, {times}) n"


def times(door: Door) -> int:
    return TIMES_PAID if door.setting in POLICIES else TIMES


def call(door: Door, fresh: bool = True) -> str:
    """An expression that asks for the sum of one salary."""
    if door.setting in POLICIES:
        question = f"SELECT sum(p.salary) FROM {door.table} p WHERE {BY_BIRTHDAY}"
        return f"(discreet.query_json($q${question}$q$, {EPSILON}, fresh => {fresh}) ->> 'sum')::float8"
    return door.statement("sum(p.salary)", BY_BIRTHDAY).removeprefix("SELECT ")


def by(shape: str) -> Guess:
    """All draws in one statement, in which {} stands for the question."""

    def guess(door: Door, who: str) -> float:
        statement = shape.replace("{}", call(door)).replace("{times}", str(times(door)))
        row = door.session.execute(statement.encode()).fetchone()
        assert row is not None
        return float(row[0])

    return guess


def one_by_one(question: Callable[[Door, int], str]) -> Guess:
    """A statement for each draw; what was seen before a refusal counts."""

    def guess(door: Door, who: str) -> float:
        seen = []
        for number in range(times(door)):
            try:
                seen += [float(value) for (value,) in door.session.execute(question(door, number).encode()).fetchall()]
            except psycopg.Error as error:
                if not seen or error.sqlstate not in REFUSALS:
                    raise
                break
        return mean(seen)

    return guess


def in_other_words(door: Door, number: int) -> str:
    door.session.execute(f"SET discreet.epsilon = {EPSILON}")
    return door.statement("sum(p.salary)", f"{BY_BIRTHDAY} AND p.salary > -{number + 1}")


def prepared(door: Door, number: int) -> str:
    if number == 0:
        door.session.execute(f"DEALLOCATE ALL; PREPARE again AS SELECT {call(door)}".encode())
    return "EXECUTE again"


def attacks(office: Office) -> Family:
    def one(name: str, guess: Guess) -> Attack:
        return office.attack(name, guess, plain=EXACT, audited=EXACT)

    many = ", ".join(["()"] * 16)
    return Family(
        "Averaging",
        f"The salary of one person, from {TIMES} draws of the noise on a sum, or {TIMES_PAID} that a budget pays for.",
        DOORS,
        (
            one("the same question again", one_by_one(lambda door, _: f"SELECT {call(door)}")),
            one("the same in other words", one_by_one(in_other_words)),
            one("correlated subquery", by(f"SELECT avg((SELECT {{}} WHERE n > 0)) FROM {RUNS}")),
            one("LATERAL", by(f"SELECT avg(x) FROM {RUNS}, LATERAL (SELECT {{}} + 0 * n AS x) a")),
            one("generate_series", by(f"SELECT avg(x) FROM (SELECT {{}} AS x FROM {RUNS}) a")),
            one("prepared statement in a loop", one_by_one(prepared)),
            one("CTE read twice", by(f"WITH a AS MATERIALIZED (SELECT {{}} AS x) SELECT avg(x) FROM a, {RUNS}")),
            one("GROUPING SETS", one_by_one(lambda door, _: door.statement(
                "sum(p.salary)", f"{BY_BIRTHDAY} GROUP BY GROUPING SETS ({many})"))),
        ),
    )  # fmt: skip
