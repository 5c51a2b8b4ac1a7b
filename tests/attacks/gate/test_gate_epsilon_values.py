"""An epsilon that is no price: NaN, negative, zero, infinite, too small for a double, or huge."""

import psycopg
import pytest
from tests.attacks.gate.asking import COUNT, ending, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

VALUES = ["NaN", "-1", "-0.0", "0", "Infinity", "-Infinity", "4.9e-324", "1e-400", "1e400", "1e9", "1.000001"]


def test_a_naive_comparison_lets_negative_prices_through(target: Target) -> None:
    """Whoever pays -1 has more left than before; and an infinite refund buys everything."""
    for price, spent in (("-1", "-1"), ("-Infinity", "-Infinity")):
        target.admin.execute("UPDATE naive.budget SET spent = 0")
        target.admin.execute("UPDATE naive.budget SET spent = spent + %s WHERE spent + %s <= 1", [price, price])
        assert str(target.naive_spent()) == spent


@pytest.mark.parametrize("epsilon", VALUES)
def test_an_epsilon_that_is_no_price_is_refused(gated: Target, blind: Connection, epsilon: str) -> None:
    with gated.free():
        assert how_it_ends(blind, COUNT, epsilon) in ("22023", "DP001", "DP003")


@pytest.mark.parametrize("accuracy", ["NaN", "-1", "0", "Infinity", "-Infinity", "1e-400", "0.4"])
def test_an_accuracy_that_has_no_price_is_refused(gated: Target, blind: Connection, accuracy: str) -> None:
    question = "SELECT * FROM discreet.query(%s, accuracy => %s::numeric) AS t(n bigint)"
    with gated.free():
        assert ending(lambda: blind.execute(question, [COUNT, accuracy])) in ("DP001", "DP003")


@pytest.mark.parametrize("wish", ["100", "NaN", "-1", "0", "Infinity", "1e-400", "x"])
def test_the_wish_of_the_session_is_no_way_around_the_budget(gated: Target, blind: Connection, wish: str) -> None:
    question = f"SELECT set_config('discreet.epsilon', '{wish}', false), discreet.query_json('{COUNT}')"
    with gated.free(), pytest.raises(psycopg.Error) as caught:
        blind.execute(question)
    assert caught.value.sqlstate in ("22023", "DP003")


def test_the_smallest_price_is_a_price(gated: Target, blind: Connection) -> None:
    with gated.costs("0.000000001"):
        assert how_it_ends(blind, COUNT, "1e-9") == "answer"
