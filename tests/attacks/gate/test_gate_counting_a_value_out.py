"""Counting a value out: dob > 1990 OR (name = 'Alice' AND zip = z), for every z, until the count moves."""

import pytest
from tests.attacks.gate.asking import COUNT, assert_tracker_refused, number
from tests.attacks.target import Target
from tests.databases import Connection

PADDED = "salary > 1050 OR (id = 7 AND dept = '{}')"


def test_a_table_without_protection_tells_the_department(target: Target) -> None:
    moved = [
        n for n in range(5)
        if target.value(f"{COUNT} WHERE {PADDED.format(f'dept {n}')}") != target.value(f"{COUNT} WHERE salary > 1050")
    ]  # fmt: skip
    assert moved == [2]


@pytest.mark.parametrize("dept", [f"dept {n}" for n in range(5)])
def test_the_padded_question_is_refused(gated: Target, blind: Connection, dept: str) -> None:
    assert_tracker_refused(gated, blind, PADDED.format(dept))


def test_without_a_key_the_count_moves_with_every_noise(gated: Target, blind: Connection) -> None:
    """A count at epsilon 0.08 equals a given number with probability below 0.04: all four in both tries below 1e-11."""
    for _ in range(2):
        base = number(blind, f"{COUNT} WHERE salary > 1050", "0.08", fresh=True)
        padded = PADDED.replace("id = 7", "name = 'name 7'")
        counts = [
            number(blind, f"{COUNT} WHERE {padded.format(f'dept {n}')}", "0.08", fresh=True) for n in (0, 1, 3, 4)
        ]
        if any(count != base for count in counts):
            return
    raise AssertionError("the count of those who are not meant never moved")
