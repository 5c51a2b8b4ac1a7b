"""NaN, negative, zero, infinite, subnormal or huge epsilon: as an argument, as a parameter, as a setting."""

from decimal import Decimal

import psycopg
import pytest
from tests.attacks.target import Target, ask_until_refused
from tests.databases import Connection

WRONG = [
    "'NaN'", "-1", "-0.0000001", "0", "'Infinity'", "'-Infinity'", "1e-10", "4.9e-324", "1e-400", "-1e-400", "1e400",
    "100.000001", "1e300", "0.000000000999", "NULL",
]  # fmt: skip
AGGREGATES = [
    "discreet.dp_count(id, {})", "discreet.dp_count_distinct(dept, {})", "discreet.dp_sum(salary, 0, 2000, {})",
    "discreet.dp_avg(salary, 0, 2000, {})", "discreet.dp_variance(salary, 0, 2000, {})",
    "discreet.dp_stddev(salary, 0, 2000, {})", "discreet.dp_median(salary, 0, 2000, {})",
    "discreet.dp_quantile(salary, 0.5, 0, 2000, {})",
]  # fmt: skip


@pytest.mark.parametrize("epsilon", WRONG)
def test_wrong_epsilon_is_refused_before_anything_is_paid(target: Target, mallory: Connection, epsilon: str) -> None:
    for aggregate in AGGREGATES:
        with target.free(), pytest.raises(psycopg.Error) as caught:
            mallory.execute(f"SELECT {aggregate.format(epsilon + '::numeric')} FROM hr.person")
        assert caught.value.sqlstate == "22023", aggregate


@pytest.mark.parametrize("epsilon", [Decimal("NaN"), Decimal("Infinity"), Decimal(-1), Decimal(0), None])
def test_wrong_epsilon_in_a_parameter_is_refused(target: Target, mallory: Connection, epsilon: Decimal | None) -> None:
    mallory.execute("PREPARE question(numeric) AS SELECT discreet.dp_count(id, $1) FROM hr.person")
    with target.free(), pytest.raises(psycopg.Error) as caught:
        mallory.execute(f"EXECUTE question('{epsilon}')" if epsilon is not None else "EXECUTE question(NULL)")
    assert caught.value.sqlstate == "22023"


@pytest.mark.parametrize(
    "epsilon", ["NaN", "-1", "0", "Infinity", "-Infinity", "1e-10", "4.9e-324", "101", "1e400", ""]
)
def test_wrong_wish_is_refused(target: Target, mallory: Connection, epsilon: str) -> None:
    for statement in (
        f"SET discreet.epsilon = '{epsilon}'",
        f"SELECT set_config('discreet.epsilon', '{epsilon}', false)",
        f"CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql SET discreet.epsilon = '{epsilon}' AS 'SELECT 1'",
    ):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            mallory.execute(statement)
    with target.costs("0.1"):
        mallory.execute("SELECT discreet.dp_count(*) FROM hr.person")


@pytest.mark.parametrize(
    "epsilon",
    [
        "(SELECT 0.1)",
        "salary / 10000.0",
        "random()::numeric",
        "id",
        "(SELECT avg(id) FROM hr.person)",
        "count(*) * 0.1",
    ],
)
def test_epsilon_that_depends_on_rows_is_refused(target: Target, mallory: Connection, epsilon: str) -> None:
    with target.free(), pytest.raises(psycopg.Error):
        mallory.execute(f"SELECT discreet.dp_count(id, {epsilon}) FROM hr.person")


def test_smallest_epsilon_is_charged_exactly(target: Target, mallory: Connection) -> None:
    with target.costs("0.000000001"):
        mallory.execute("SELECT discreet.dp_count(id, 1e-9) FROM hr.person")


@pytest.mark.parametrize(
    ("written", "charged"),
    [
        ("0.1 + 1e-16000", "0.1"),
        ("0.1234567890126", "0.123456789013"),
        ("0.000000000999999999999999999999999999", "0.000000001"),
    ],
)
def test_price_has_twelve_decimals(target: Target, mallory: Connection, written: str, charged: str) -> None:
    """What is charged is what the noise is made for; thousands of digits would go on in every sum of the ledger."""
    with target.costs(charged):
        mallory.execute(f"SELECT discreet.dp_count(id, {written}) FROM hr.person")
    assert target.value("SELECT max(scale(amount_spent)) <= 12 FROM discreet._budget")


def test_exact_sums_reach_the_limit_and_no_further(target: Target, mallory: Connection) -> None:
    """In binary, ten times 0.1 is not 1, and three times 0.1 is more than 0.3."""
    target.admin.execute("SELECT discreet.grant_budget('people', 'mallory', 0.3)")
    assert ask_until_refused(mallory, "SELECT discreet.dp_count(id, 0.1) FROM hr.person") == 3
    assert target.spent() == Decimal("0.3")


def test_epsilon_beyond_what_is_left_is_refused(target: Target, mallory: Connection) -> None:
    with target.free(), pytest.raises(psycopg.Error) as caught:
        mallory.execute("SELECT discreet.dp_count(id, 1.000000000001) FROM hr.person")
    assert caught.value.sqlstate == "DP003"
    with target.costs(1):
        mallory.execute("SELECT discreet.dp_count(id, 1) FROM hr.person")
