"""Linear systems over many overlapping sets: counts that are exact, or nearly so, tell everybody's secret bit.

Dinur and Nissim 2003. A bit that was drawn by coin is guessed from answers under epsilon with probability of at most
e^ε / (1 + e^ε), whatever is known about the others: with ε = 1 no more are right than of Binomial(n, 0.7311).
"""

from secrets import randbits
from typing import Any

import numpy as np
from attacks.reconstruction import least_squares
from tests.attacks.gate.asking import ask, protect
from tests.attacks.target import Target
from tests.databases import Connection

PEOPLE, SETS, TOGETHER = 128, 512, 16
FAR_MORE_THAN_PAID = 118  # P(Binomial(128, 0.7311) >= 118) < 1e-6


def guessed(sets: Any, answers: Any, secret: Any) -> int:
    """How many bits least squares gets right."""
    return int((least_squares(sets, np.asarray(answers, dtype=float)) == secret).sum())


def drawn() -> tuple[Any, Any]:
    """Bits of people, and sets of them, by coin."""
    bits = np.array([[randbits(1) for _ in range(PEOPLE)] for _ in range(SETS + 1)], dtype=bool)
    return bits[0], bits[1:]


def test_exact_counts_tell_every_bit() -> None:
    secret, sets = drawn()
    assert guessed(sets, sets @ secret.astype(int), secret) == PEOPLE


def test_bounded_noise_does_not_help() -> None:
    """Two people more or less: the error of a guess has deviation 0.15, all but 8 of 128 are right but for 1e-12."""
    secret, sets = drawn()
    noise = np.array([randbits(8) % 5 - 2 for _ in range(SETS)])
    assert guessed(sets, sets @ secret.astype(int) + noise, secret) >= PEOPLE - 8


def test_the_whole_budget_buys_no_more_than_was_paid_for(gated: Target, blind: Connection) -> None:
    """More right guesses than 118 of 128 with probability below 1e-6, however clever the attack."""
    secret, sets = drawn()
    values = ", ".join(f"({n}, {n}, {bool(bit)})" for n, bit in enumerate(secret))
    protect(gated, "patient", "id int PRIMARY KEY, bed int, ill boolean", f"VALUES {values}", bed=(0, 1000))
    answers: list[object] = []
    for first in range(0, SETS, TOGETHER):
        counts = [
            f"count(*) FILTER (WHERE ill AND bed IN ({', '.join(map(str, np.flatnonzero(some)))})) AS c{n:02}"
            for n, some in enumerate(sets[first : first + TOGETHER])
        ]
        (row,) = ask(blind, f"SELECT {', '.join(counts)} FROM extra.patient", str(TOGETHER / SETS))
        answers += [row[name] for name in sorted(row)]
    assert gated.spent() == 1
    assert guessed(sets, answers, secret) < FAR_MORE_THAN_PAID
