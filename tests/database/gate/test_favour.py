"""discreet.favour: columns that get more of a question's price than the others."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from tests.database.gate.conftest import Asker
from tests.messages import refused

BOTH = "SELECT count(*), avg(salary) AS mean FROM hr.employee"
APART = "SELECT count(*), max(salary), count(DISTINCT dept) AS depts FROM hr.employee"


@pytest.fixture(autouse=True)
def nothing_favoured(asker: Asker) -> Iterator[None]:
    yield
    asker.connection.execute("RESET discreet.favour")


def scale_of(told: dict[str, Any], column: str) -> Decimal:
    (found,) = (Decimal(output["scale"]) for output in told["outputs"] if output["column"] == column)
    return found


@pytest.mark.parametrize("favour", ["count", "'nothing', 'count'", '"count"', "COUNT"])
def test_a_favoured_column_has_less_noise_at_the_same_price(asker: Asker, favour: str) -> None:
    plain = asker.explain(BOTH, 1)
    asker.connection.execute(f"SET discreet.favour = {favour}".encode())
    liked = asker.explain(BOTH, 1)
    assert liked["epsilon"] == plain["epsilon"] == "1"
    assert scale_of(liked, "count") < Decimal("0.9") * scale_of(plain, "count")
    asker.json(BOTH, 1)
    assert asker.spent("staff") == 1


def test_explain_tells_the_share_of_each_measurement(asker: Asker) -> None:
    asker.connection.execute("SET discreet.favour = 'depts'")
    told = asker.explain(APART, 1)["shares"]
    assert abs(sum((Decimal(one["share"]) for one in told), Decimal(-1))) < Decimal("1e-5")
    shares: dict[str, Decimal] = {one["measures"]: Decimal(one["share"]) for one in told}
    assert shares["number of different values of dept"] > Decimal("0.25")
    assert shares["largest value of salary"] < Decimal("0.25")
    ((text,),) = asker.connection.execute("SELECT discreet.explain_text(%s, 1)", [APART]).fetchall()
    assert "number of different values of dept: " in text
    assert "% of the price" in text
    asker.connection.execute("SET discreet.favour = 'nothing'")
    ((text,),) = asker.connection.execute("SELECT discreet.explain_text(%s, 1)", [APART]).fetchall()
    assert "discreet.favour names no column or aggregate of this question: nothing" in text


def test_a_stored_number_is_given_again_whatever_is_favoured_since(asker: Asker) -> None:
    first = asker.json(BOTH, 1)
    asker.connection.execute("SET discreet.favour = 'count'")
    assert asker.explain(BOTH, 1)["stored"]
    assert asker.json(BOTH, 1) == first
    again = asker.json(BOTH, 1, fresh=True)
    assert again != first
    asker.connection.execute("RESET discreet.favour")
    # now the stored one is the favoured one, whose noise is the mean of several draws; so is its error
    assert asker.json(BOTH, 1) == again
    assert asker.spent("staff") == 2
    assert scale_of(asker.explain(BOTH, 1), "count") < Decimal("1.7")


@pytest.mark.parametrize("value", ["'count,'", "'a b'", "'\"count'", "'" + ",".join("abcdefghijklmnopq") + "'"])
def test_what_is_no_list_of_names_cannot_be_set(asker: Asker, value: str) -> None:
    with refused("22023", "discreet.favour is not a list of at most 16 names", "SET discreet.favour = 'count'"):
        asker.connection.execute(f"SELECT set_config('discreet.favour', {value}, false)".encode())
