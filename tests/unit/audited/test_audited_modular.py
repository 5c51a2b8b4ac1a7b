"""Arithmetic modulo a prime agrees with that of integers, and what is relied on is checked in these."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audited.modular import Echelon, combined, is_prime, product, random_prime, rational

PRIME = random_prime()
RESIDUES = st.integers(0, PRIME - 1) | st.sampled_from([0, 1, PRIME - 1, PRIME - 2, 2**31, 2**60])


def test_primes_are_random_and_of_61_bits() -> None:
    primes = {random_prime() for _ in range(5)}
    assert len(primes) == 5
    assert all(prime.bit_length() == 61 and is_prime(prime) for prime in primes)


def test_small_primes_are_those() -> None:
    assert [n for n in range(60) if is_prime(n)] == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59]
    assert not is_prime(3215031751)  # a strong pseudoprime to the bases 2, 3, 5, 7


@given(st.lists(st.tuples(RESIDUES, RESIDUES), min_size=1, max_size=30))
def test_products_are_exact(pairs: list[tuple[int, int]]) -> None:
    left, right = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
    assert product(left, right, PRIME).tolist() == [a * b % PRIME for a, b in pairs]


@given(st.lists(st.tuples(RESIDUES, RESIDUES), min_size=1, max_size=30))
def test_sums_of_products_are_exact(pairs: list[tuple[int, int]]) -> None:
    weights, rows = np.array([a for a, _ in pairs]), np.array([[b] for _, b in pairs])
    assert combined(weights, rows, PRIME).tolist() == [sum(a * b for a, b in pairs) % PRIME]


@given(st.integers(-(2**28), 2**28), st.integers(1, 2**28))
def test_small_fractions_are_found_again(numerator: int, denominator: int) -> None:
    fraction = Fraction(numerator, denominator)
    residue = fraction.numerator * pow(fraction.denominator, -1, PRIME) % PRIME
    assert rational(residue, PRIME) == fraction


@pytest.fixture
def echelon() -> Echelon:
    made, nothing = Echelon(4, PRIME), np.zeros(4, dtype=bool)
    assert made.add(np.array([1, 1, 0, 0]), nothing)
    assert made.add(np.array([0, 1, 1, 0]), nothing)
    return made


def test_a_row_in_the_span_is_known_as_one(echelon: Echelon) -> None:
    assert echelon.add(np.array([1, 2, 1, 0]), np.zeros(4, dtype=bool)) is False
    assert echelon.add(np.array([1, 0, -1, 0]), np.zeros(4, dtype=bool)) is False
    assert echelon.rank == 2


def test_what_is_dependent_by_the_prime_alone_is_not_taken_for_dependent() -> None:
    made, nothing = Echelon(2, 7), np.zeros(2, dtype=bool)
    assert made.add(np.array([1, 1]), nothing)
    assert made.add(np.array([8, 1]), nothing) is None


def test_pivots_move_to_preferred_columns(echelon: Echelon) -> None:
    preferred = np.array([False, False, True, False])
    echelon.prefer(preferred)
    outside = [at for at, pivot in enumerate(echelon.pivots) if not preferred[pivot]]
    assert len(outside) == 1
    assert not echelon.rows[outside][:, preferred].any()


def test_columns_are_divided(echelon: Echelon) -> None:
    echelon.spread(np.array([0, 0, 1, 2, 3, -1]))
    assert echelon.given.tolist() == [[1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 0, 0]]
    assert echelon.add(np.array([1, 1, 2, 1, 0, 0]), np.zeros(6, dtype=bool)) is False
    assert echelon.add(np.array([1, 0, 1, 0, 0, 0]), np.zeros(6, dtype=bool)) is True
