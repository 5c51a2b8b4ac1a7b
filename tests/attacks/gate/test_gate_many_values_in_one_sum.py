"""Many values encoded in one sum: sum(salary * 1000 ^ …) has everybody's salary in digits of its own."""

from decimal import Decimal

import pytest
from tests.attacks.gate.asking import half_width, how_it_ends, never_within, number
from tests.attacks.target import Target
from tests.databases import Connection

# the salaries of three people, 10,000 apart
ENCODED = (
    "CASE name WHEN 'name 7' THEN salary * 100000000 WHEN 'name 8' THEN salary * 10000 WHEN 'name 9' THEN salary END"
)


def test_a_plain_sum_tells_them_all(target: Target) -> None:
    assert target.value(f"SELECT sum({ENCODED.replace('salary', 'salary::int8')}) FROM hr.person") == 1007_1008_1009 + 0


@pytest.mark.parametrize("power", ["salary * 9 ^ 99", "salary * power(1000, salary)", "exp(salary)", "salary * 1e61"])
def test_powers_are_refused(gated: Target, blind: Connection, power: str) -> None:
    with gated.free():
        assert how_it_ends(blind, f"SELECT sum({power}) FROM hr.person") in ("DP001", "DP005")


def test_noise_is_as_large_as_the_largest_factor(blind: Connection) -> None:
    plain, encoded = (half_width(blind, f"SELECT sum({x}) FROM hr.person") for x in ("salary", ENCODED))
    assert encoded / plain > 0.99e8


def test_the_digits_are_noise(gated: Target, blind: Connection) -> None:
    """Scale 2e11: all of the lower eight digits right with probability below 1e-3, four of four with below 1e-11."""

    def lower_digits() -> Decimal:
        return number(blind, f"SELECT sum({ENCODED}) FROM hr.person", "1") % 10**8

    assert never_within(gated, lower_digits, 10081009, 10_000)
