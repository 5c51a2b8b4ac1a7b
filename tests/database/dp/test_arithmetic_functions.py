"""The arithmetic of privacy as a curator calls it."""

from __future__ import annotations

import math
from decimal import Decimal

import psycopg
import pytest
from tests.databases import Connection
from tests.messages import refused

KNOWN = [
    ("discreet.compose_sequential(ARRAY[0.1, 0.2, 0.3])", "0.6"),
    ("discreet.compose_sequential(ARRAY[]::numeric[])", "0"),
    ("discreet.compose_sequential(ARRAY[1e-9, 1])", "1.000000001"),
    ("discreet.compose_parallel(ARRAY[0.1, 0.5, 0.3])", "0.5"),
    ("discreet.compose_parallel(ARRAY[]::numeric[])", "0"),
    ("discreet.group_epsilon(0.1, 5)", "0.5"),
    ("discreet.group_epsilon(0.1, 1)", "0.1"),
    ("discreet.laplace_scale(100, 0.5)", "200"),
    ("discreet.laplace_scale(1, 0.1)", "10"),
    ("discreet.zcdp_epsilon(0, 1e-6)", "0"),
    ("discreet.sensitivity('count', 0, 1)", "1"),
    ("discreet.sensitivity('count_distinct', 0, 1)", "1"),
    ("discreet.sensitivity('sum', -20, 10)", "20"),
    ("discreet.sensitivity('sum', -20, 10, neighbours => 'bounded')", "30"),
    ("discreet.sensitivity('sum', 10, 20, neighbours => 'bounded')", "10"),
    ("discreet.sensitivity('sum', 10, 20, neighbours => 'bounded', may_be_null => true)", "20"),
    ("discreet.sensitivity('sum', 10000, 100000, 50, 'bounded')", "90000"),
    ("discreet.sensitivity('sum', 10000, 100000, 50, 'bounded', true)", "100000"),
    ("discreet.sensitivity('sum', 10, 20, may_be_null => true)", "20"),
    ("discreet.sensitivity('avg', 0, 100, 50)", "2"),
    ("discreet.sensitivity('variance', 0, 10, 4)", "25"),
    ("discreet.sensitivity('stddev', 0, 10, 4)", "5"),
    ("discreet.sensitivity('median', 0, 10, 4)", "10"),
    ("discreet.sensitivity('max', -5, 10, 4, 'bounded')", "15"),
]


def value(connection: Connection, call: str) -> Decimal:
    row = connection.execute(f"SELECT {call}").fetchone()
    assert row is not None
    assert isinstance(row[0], Decimal)
    return row[0]


@pytest.mark.parametrize(("call", "expected"), KNOWN)
def test_known_values(dora: Connection, call: str, expected: str) -> None:
    assert value(dora, call) == Decimal(expected)


def test_results_err_to_the_safe_side(dora: Connection) -> None:
    assert value(dora, "discreet.laplace_scale(1, 0.3)") * Decimal("0.3") >= 1
    assert value(dora, "discreet.sensitivity('avg', 0, 1, 3)") * 3 >= 1
    assert value(dora, "discreet.sensitivity('stddev', 0, 1, 2)") ** 2 * 2 >= 1


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "5", "50"])
@pytest.mark.parametrize("delta", ["1e-12", "1e-6", "0.01"])
def test_conversions_undo_each_other(dora: Connection, epsilon: str, delta: str) -> None:
    rho = value(dora, f"discreet.gaussian_rho({epsilon}, {delta})")
    again = value(dora, f"discreet.zcdp_epsilon({rho:f}, {delta})")
    assert again <= Decimal(epsilon)
    assert float(again) == pytest.approx(float(epsilon), rel=1e-9)
    # never worse than the simple bound of Bun and Steinke
    assert float(again) <= float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / float(delta))) + 1e-12


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        ("discreet.compose_sequential(ARRAY[0.1, -0.1])", "must not be negative", None),
        ("discreet.compose_sequential(ARRAY['NaN'::numeric])", "must be finite", "Give a finite number."),
        ("discreet.compose_parallel(ARRAY['Infinity'::numeric])", "must be finite", "Give a finite number."),
        ("discreet.compose_sequential(ARRAY[0.1, NULL])", "must be a number", "Give a finite number."),
        ("discreet.group_epsilon(0, 3)", "epsilon must be positive", "0.01 and 10"),
        ("discreet.group_epsilon(0.1, 0)", "people must be a positive whole number", "size of the group"),
        ("discreet.group_epsilon(0.1, -1)", "people must be a positive whole number", "size of the group"),
        ("discreet.group_epsilon(101, 1)", "too large", "100"),
        ("discreet.gaussian_rho(1, 0)", "delta 0", "1e-6"),
        ("discreet.gaussian_rho(1, 0.5)", "delta is too large", "0.1"),
        ("discreet.gaussian_rho(-1, 1e-6)", "epsilon must be positive", "0.01 and 10"),
        ("discreet.gaussian_rho('NaN', 1e-6)", "epsilon must be finite", "Give a finite number."),
        ("discreet.zcdp_epsilon(-1, 1e-6)", "rho must not be negative", None),
        ("discreet.zcdp_epsilon(1, -1e-6)", "delta must not be negative", "1e-6"),
        ("discreet.zcdp_epsilon('Infinity', 1e-6)", "rho must be finite", "Give a finite number."),
        ("discreet.zcdp_epsilon(1e10, 1e-6)", "rho is too large", "10000"),
        ("discreet.laplace_scale(0, 1)", "sensitivity must be positive", None),
        ("discreet.laplace_scale(-1, 1)", "sensitivity must be positive", None),
        ("discreet.laplace_scale(1, 0)", "epsilon must be positive", "0.01 and 10"),
        ("discreet.laplace_scale('NaN', 1)", "sensitivity must be finite", "Give a finite number."),
        ("discreet.laplace_scale(1e500, 1)", "sensitivity is out of range", "1e400"),
        ("discreet.sensitivity('mode', 0, 1)", "unknown kind 'mode'", "count"),
        ("discreet.sensitivity('sum', 2, 1)", "lower bound is above upper bound", "smaller bound first"),
        ("discreet.sensitivity('avg', 0, 1, 0)", "n must be a positive whole number", "number of values"),
        ("discreet.sensitivity('avg', 0, 1, 5, 'near')", "unknown neighbours 'near'", "'bounded'"),
        ("discreet.sensitivity('sum', NULL, 1)", "lower", None),
        ("discreet.sensitivity(NULL, 0, 1)", "kind", None),
        ("discreet.sensitivity('sum', 0, 1, may_be_null => NULL)", "may_be_null", None),
        ("discreet.sensitivity('sum', 'NaN', 1)", "lower bound must be finite", "Give a finite number."),
    ],
)
def test_wrong_input_is_refused(dora: Connection, call: str, message: str, hint: str | None) -> None:
    with pytest.raises(psycopg.Error) as caught:
        dora.execute(f"SELECT {call}")
    error = caught.value
    assert error.sqlstate == "22023"
    assert message in error.diag.message_primary  # type: ignore[operator]
    assert hint is None or hint in (error.diag.message_hint or "")
    assert "Traceback" not in (error.diag.context or "")


@pytest.mark.parametrize(
    "call",
    ["compose_sequential(NULL)", "compose_parallel(NULL)", "group_epsilon(NULL, 3)", "group_epsilon(0.1, NULL)",
     "gaussian_rho(NULL, 1e-6)", "zcdp_epsilon(1, NULL)", "laplace_scale(NULL, 1)"],
)  # fmt: skip
def test_null_is_null(dora: Connection, call: str) -> None:
    assert dora.execute(f"SELECT discreet.{call}").fetchone() == (None,)


def test_arithmetic_costs_nothing(dp_admin: Connection, dora: Connection) -> None:
    before = dp_admin.execute("SELECT count(*) FROM discreet._charge").fetchone()
    for call, _ in KNOWN:
        dora.execute(f"SELECT {call}")
    assert dp_admin.execute("SELECT count(*) FROM discreet._charge").fetchone() == before


def test_refusals_look_the_same_as_all_others(dora: Connection) -> None:
    with refused("22023", "epsilon must be positive", "0.01 and 10"):
        dora.execute("SELECT discreet.group_epsilon(-1, 1)")
