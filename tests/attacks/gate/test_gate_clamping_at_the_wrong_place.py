"""Arithmetic after the clamp, so that one person counts for more than the bounds say: sum(a*1000), sum(a+b)."""

import pytest
from tests.attacks.gate.asking import half_width
from tests.attacks.target import Target
from tests.databases import Connection

CLAMPED = "least(greatest(salary, 0), 2000)"


def test_a_naive_clamp_of_the_column_bounds_no_sum(target: Target) -> None:
    """One person moves the sum by 1000 times more than the bound of 2000 that the noise was made for."""
    total = f"SELECT sum({CLAMPED} * 1000) FROM hr.person"
    everybody, others = (int(str(target.value(sql))) for sql in (total, f"{total} WHERE id <> 7"))
    assert everybody - others > 500 * 2000


@pytest.mark.parametrize(
    ("expression", "times"),
    [
        ("salary * 1000", 1000), ("salary + salary", 2),
        ("1000 * salary + salary - 1000 * salary", 1001), ("-salary", 1),
        ("CASE WHEN smoker THEN salary * 50 ELSE salary END", 50), ("salary * salary", 2000), ("salary + 6000", 4),
        ("GREATEST(salary, 8000)", 4), ("COALESCE(NULLIF(salary, 1007), 20000)", 10), ("salary / 0.01", 100),
    ],
)  # fmt: skip
def test_noise_follows_the_bounds_of_the_whole_expression(blind: Connection, expression: str, times: int) -> None:
    plain, scaled = (half_width(blind, f"SELECT sum({x}) FROM hr.person") for x in ("salary", expression))
    assert 0.99 * times < scaled / plain < 1.01 * times


def test_noise_follows_the_arithmetic_of_a_subquery(blind: Connection) -> None:
    inner = "(SELECT salary * 1000 AS x FROM hr.person) s"
    plain, scaled = (half_width(blind, f"SELECT sum({x}) FROM {t}") for x, t in (("salary", "hr.person"), ("x", inner)))
    assert 999 < scaled / plain < 1001
