"""The C module reads a numeric from its bytes: within 4 units in the last place of the nearest double.

The bounds of a quantile are handed over as doubles, so a bound shows what a numeric became.
"""

from __future__ import annotations

import math
import random
from decimal import Decimal

import pytest
from tests.database.dp.aggregating import Exact


def as_doubles(exact: Exact, numerics: list[Decimal]) -> list[float]:
    """Each as the upper bound of a median of its own; the lower one is far below."""
    sites = ", ".join(f"discreet.dp_median(1::numeric, -1e199::numeric, {value:f}::numeric)" for value in numerics)
    handed = exact.handed(f"SELECT {sites} FROM (VALUES (1)) one")
    return [float(h.totals[2]) for h in handed]


def ulps(value: Decimal, double: float) -> float:
    nearest = float(value)
    return abs(double - nearest) / math.ulp(nearest)


def random_numeric(rng: random.Random) -> Decimal:
    digits = "".join(rng.choice("0123456789") for _ in range(rng.choice([1, 2, 4, 5, 8, 12, 16, 17, 20, 21, 40, 200])))
    sign = rng.choice(["", "-"])
    return Decimal(f"{sign}{digits}E{rng.randint(-250, 190 - len(digits))}")


def test_random_numerics(exact: Exact, more: bool) -> None:
    rng = random.Random(20240501)
    for _ in range(200 if more else 6):
        numerics = [random_numeric(rng) for _ in range(100)]
        numerics = list({float(value): value for value in numerics}.values())  # one call site for each
        for value, double in zip(numerics, as_doubles(exact, numerics), strict=True):
            assert ulps(value, double) <= 4, value


EDGES = [
    "0", "1", "-1", "9999", "10000", "10001", "99999999", "100000000", "0.0001", "0.00001", "0.9999", "0.99999999",
    "1.0001", "12345678901234567890", "9007199254740992", "9007199254740993", "-9007199254740993", "0.1", "0.3", "1e20",
    "1e21", "1e24", "1e-20", "1e-21", "1e-24", "123456789.987654321", "1e198", "-1e198", "1e-198",
    "4503599627370497.5", "2.5e-5", "1e16", "1e17", "9999999999999999", "0.00009999", "99999999999999999999",
]  # fmt: skip


def test_numerics_at_the_edges_of_their_digits(exact: Exact) -> None:
    numerics = [Decimal(text) for text in EDGES]
    for value, double in zip(numerics, as_doubles(exact, numerics), strict=True):
        assert ulps(value, double) <= 4, value


def test_whole_numbers_up_to_two_to_the_53_are_exact(exact: Exact) -> None:
    rng = random.Random(7)
    numerics = [Decimal(rng.randint(-(2**53), 2**53)) for _ in range(100)]
    assert as_doubles(exact, numerics) == [float(value) for value in numerics]


@pytest.mark.parametrize("storage", ["plain", "main", "external", "extended"])
def test_stored_numerics_are_read_like_literals(exact: Exact, storage: str) -> None:
    """Short and long headers, packed at odd addresses, compressed and out of line."""
    texts = ["0.5", "-7", "1234.5678", "0." + "3" * 3000, "7" + "1234567890" * 15 + ".5", "-0." + "0" * 100 + "1"]
    exact.connection.execute(
        f"CREATE TEMP TABLE stored (pad text, x numeric); ALTER TABLE stored ALTER x SET STORAGE {storage}"
    )
    for n, text in enumerate(texts):
        exact.connection.execute("INSERT INTO stored VALUES (%s, %s::numeric)", ["x" * n, text])
    stored = exact.one("SELECT discreet.dp_sum(x, -10000, 10000) FROM stored")
    listed = ", ".join(f"({text}::numeric)" for text in texts)
    literal = exact.one(f"SELECT discreet.dp_sum(x, -10000, 10000) FROM (VALUES {listed}) s(x)")
    assert stored.totals == literal.totals
    assert stored.totals[0] == str(len(texts))
