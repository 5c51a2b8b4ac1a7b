"""Dinur and Nissim 2003: a secret bit of each person, from counts of those who have it among chosen people.

All subsets of a small table: whatever fits all answers best is nearly the truth, while errors are small beside the
number of people. Random subsets of a large one, a few times as many as people: least squares finds nearly all bits,
while errors are small beside its square root. Under epsilon a bit is guessed with probability of at most
e^ε / (1 + e^ε), whatever is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from itertools import product
from math import exp
from secrets import randbelow, randbits
from typing import Any

import numpy as np

from attacks.office import Office

FEW, TABLES, MANY = 8, 8, 1000
NOISES = (0, 1, 2, 5, 10, 20, 50, 100, 200)
BUDGETS = (("noisy", "1"), ("noisy", "100"), ("personal", "1"))
TOGETHER = 50  # counts in one statement
PRIME = 1009

BUILD = """
    CREATE SCHEMA bits; GRANT USAGE ON SCHEMA bits TO PUBLIC;
    CREATE FUNCTION bits.counts(place text, chosen text[], scale float8) RETURNS float8[]
    LANGUAGE plpgsql SECURITY DEFINER AS $$
    DECLARE
        noise text := CASE WHEN scale = 0 THEN '0' ELSE format('lab.laplace(%s)', scale) END;
        found float8[];
    BEGIN
        EXECUTE (SELECT format('SELECT ARRAY[%s] FROM bits.%I', string_agg(
                     format('count(*) FILTER (WHERE ill AND (%s)) + %s', c, noise), ', ' ORDER BY n), place)
                 FROM unnest(chosen) WITH ORDINALITY AS each (c, n))
        INTO found;
        RETURN found;
    END $$;
"""


@dataclass(frozen=True)
class Reconstruction:
    """How many of the bits were guessed, from that many answers."""

    people: int
    right: int
    answers: int

    def shown(self) -> str:
        return f"{100 * self.right / self.people:.0f} %"


def at_most(epsilon: float) -> float:
    """What no attack exceeds, in the mean, for that price."""
    return exp(epsilon) / (1 + exp(epsilon))


def random_bits(number: int) -> Any:
    return np.array([randbits(1) for _ in range(number)], dtype=bool)


def best_fit(sets: Any, answers: Any) -> Any:
    """Of all tables of bits, the one whose errors are the smallest together: the likeliest under Laplace noise."""
    candidates = np.array(list(product((0, 1), repeat=sets.shape[1])), dtype=float)
    errors = np.abs(candidates @ sets.T - answers).sum(axis=1)
    return candidates[int(errors.argmin())] > 0.5


def least_squares(sets: Any, answers: Any) -> Any:
    """Bits that fit all answers best as real numbers, rounded."""
    matrix = sets.astype(float)
    solution = np.linalg.solve(matrix.T @ matrix + 1e-6 * np.eye(matrix.shape[1]), matrix.T @ answers)
    return solution > 0.5


def all_subsets(people: int) -> tuple[list[str], Any]:
    sets = np.array(list(product((0, 1), repeat=people)), dtype=bool)[1:]
    return ["place IN (" + ", ".join(map(str, np.flatnonzero(row))) + ")" for row in sets], sets


def random_subsets(people: int, number: int) -> tuple[list[str], Any]:
    """Halves of the people, by arithmetic on their place: a short text for a set of five hundred."""
    place = np.arange(people)
    drawn = [(1 + randbelow(PRIME - 1), randbelow(PRIME)) for _ in range(number)]
    conditions = [f"({factor} * place + {shift}) % {PRIME} < {PRIME // 2}" for factor, shift in drawn]
    return conditions, np.array([(factor * place + shift) % PRIME < PRIME // 2 for factor, shift in drawn])


class Hospital:
    """Tables of places and secret bits, plain and protected."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.number = 0
        office.admin.execute(BUILD)

    def table(self, bits: Any) -> str:
        """A new table with these bits."""
        self.number += 1
        values = ", ".join(f"({n}, {n}, {bool(bit)})" for n, bit in enumerate(bits))
        name = f"ward_{self.number}"
        self.office.admin.execute(f"CREATE TABLE bits.{name} (id int PRIMARY KEY, place int, ill boolean)".encode())
        self.office.admin.execute(f"INSERT INTO bits.{name} VALUES {values}".encode())
        return name

    def plain(self, table: str, conditions: Sequence[str], scale: float) -> Any:
        """Counts with Laplace noise of that scale, which is 0 for none."""
        session = self.office.session("mallory")
        answers: list[float] = []
        for first in range(0, len(conditions), TOGETHER):
            some = list(conditions[first : first + TOGETHER])
            row = session.execute("SELECT bits.counts(%s, %s, %s)", [table, some, scale]).fetchone()
            assert row is not None
            answers += row[0]
        return np.array(answers)

    def paid(self, table: str, conditions: Sequence[str], policy: str, epsilon: str) -> Any:
        """Counts under a policy, all of its budget spent evenly, on a copy of the table of which nothing was asked."""
        admin, session = self.office.admin, self.office.session("mallory")
        copy = f"{table}_{policy}_{epsilon}"
        admin.execute(f"CREATE TABLE bits.{copy} (LIKE bits.{table} INCLUDING ALL)".encode())
        admin.execute(f"INSERT INTO bits.{copy} SELECT * FROM bits.{table}".encode())
        personal = f", policy => 'personal', unit_epsilon => {epsilon}" if policy == "personal" else ""
        admin.execute(f"SELECT discreet.protect('bits.{copy}', 'id', epsilon => {epsilon}{personal})".encode())
        admin.execute(f"SELECT discreet.describe_column('bits.{copy}', 'place', 0, {MANY})".encode())
        admin.execute(f"SELECT discreet.grant_budget('bits.{copy}', 'mallory', {epsilon})".encode())
        answers: list[float] = []
        # prices of single counts are rounded up: a thousandth is left for that
        part = Decimal(epsilon) * Decimal("0.999") / -(-len(conditions) // TOGETHER)
        price = part.quantize(Decimal("0.00001"), ROUND_DOWN)
        session.execute(f"SET discreet.epsilon = {price}")
        for first in range(0, len(conditions), TOGETHER):
            some = conditions[first : first + TOGETHER]
            counts = ", ".join(f"count(*) FILTER (WHERE ill AND {one}) AS c{n}" for n, one in enumerate(some))
            row = session.execute(f"SELECT {counts} FROM bits.{copy}".encode()).fetchone()
            assert row is not None
            answers += map(float, row)
        return np.array(answers)


@dataclass(frozen=True)
class Line:
    """A design, what its noise amounts to, and how many bits both attacks find."""

    design: str
    exhaustive: Reconstruction
    random: Reconstruction


Ask = Callable[[str, Sequence[str]], Any]


def measured(
    office: Office, people: int = MANY, noises: Sequence[float] = NOISES, budgets: Sequence[tuple[str, str]] = BUDGETS
) -> Iterator[Line]:
    """Both attacks on counts with more and more noise, and on the policies with all of their budget spent."""
    hospital = Hospital(office)
    few, many = [random_bits(FEW) for _ in range(TABLES)], random_bits(people)
    small, large = [hospital.table(bits) for bits in few], hospital.table(many)
    (every, every_set), (halves, half_sets) = all_subsets(FEW), random_subsets(people, 2 * people)

    def line(design: str, ask: Ask) -> Line:
        right = sum(
            int((best_fit(every_set, ask(table, every)) == bits).sum()) for table, bits in zip(small, few, strict=True)
        )
        solved = least_squares(half_sets, ask(large, halves))
        return Line(
            design,
            Reconstruction(FEW * TABLES, right, len(every)),
            Reconstruction(people, int((solved == many).sum()), len(halves)),
        )

    def with_noise(scale: float) -> Ask:
        return lambda table, conditions: hospital.plain(table, conditions, scale)

    def under(policy: str, epsilon: str) -> Ask:
        return lambda table, conditions: hospital.paid(table, conditions, policy, epsilon)

    for scale in noises:
        yield line(f"Laplace noise of scale {scale}" if scale else "exact counts", with_noise(scale))
    for policy, epsilon in budgets:
        yield line(f"{policy}, epsilon {epsilon} in all", under(policy, epsilon))
