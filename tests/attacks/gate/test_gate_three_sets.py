"""Three sets that isolate no one but determine the sum of two people."""

from decimal import Decimal

from tests.attacks.gate.asking import exact_sum, never_within, number
from tests.attacks.target import Target
from tests.databases import Connection

# A and B overlap in two people; all of them together are the third set
A, B = (
    "salary = 1007 AND (name < 'name 4' OR name = 'name 7' OR name = 'name 407')",
    "salary = 1007 AND name >= 'name 407'",
)
SETS = [A, B, f"({A}) OR ({B})"]
TWO = f"({A}) AND ({B})"


def test_a_table_without_protection_tells_the_sum_of_two(target: Target) -> None:
    counts = [target.value(f"SELECT count(*) FROM hr.person WHERE {where}") for where in [*SETS, TWO]]
    assert min(int(str(n)) for n in counts[:3]) > 2
    assert counts[3] == 2
    one, other, both = (exact_sum(target, where) for where in SETS)
    assert one + other - both == exact_sum(target, TWO) == 2014


def test_noise_hides_the_sum_of_two(gated: Target, blind: Connection) -> None:
    """Noise of scale 6000 leaves the sum within 10 with probability below 0.002, four of four with below 1e-10."""

    def guess() -> Decimal:
        asked = (number(blind, f"SELECT sum(salary) FROM hr.person WHERE {where}", "0.333") for where in SETS)
        one, other, both = asked
        return one + other - both

    assert never_within(gated, guess, 2014, 10)
