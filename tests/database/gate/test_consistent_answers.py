"""ROLLUP, CUBE and grouping sets add up, and a re-ask gives the same numbers; several numbers have joint noise."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from tests.corpus.sample import DEPARTMENTS, POSITIONS
from tests.database.gate.conftest import Asker

ROWS = "SELECT dept, position, count(*) AS people, sum(hired - dob) AS days FROM hr.employee GROUP BY {}"
Cells = dict[tuple[str | None, str | None], dict[str, Any]]


@pytest.fixture(autouse=True)
def no_charges(asker: Asker) -> Iterator[None]:
    asker.reset()
    yield
    asker.reset()


def cells(asker: Asker, sets: str, epsilon: object = "0.5", **options: object) -> Cells:
    """The rows of an answer by their keys; no department or position is NULL in the sample."""
    rows = asker.json(ROWS.format(sets), epsilon, **options)
    return {(row["dept"], row["position"]): row for row in rows}


def adds_up(found: Cells, column: str) -> bool:
    """Whether every number is the sum of those of the finest set below it."""
    finest = [key for key in found if None not in key] or [key for key in found if key != (None, None)]
    for key, row in found.items():
        below = [
            other for other in finest if all(mine in (None, theirs) for mine, theirs in zip(key, other, strict=True))
        ]
        if below and sum(found[other][column] for other in below) != row[column]:
            return False
    return True


@pytest.mark.parametrize("sets", ["ROLLUP (dept, position)", "CUBE (dept, position)", "GROUPING SETS (dept, ())"])
def test_children_add_up_to_parents_in_whole_numbers(asker: Asker, sets: str) -> None:
    found = cells(asker, sets.replace("dept, ())", "(dept, position), ())"))
    for column in ("people", "days"):
        assert all(isinstance(row[column], int) for row in found.values())
        assert adds_up(found, column)
    if "CUBE" not in sets:
        assert all(row["people"] >= 0 for row in found.values())


def test_the_same_numbers_are_given_again_for_nothing(asker: Asker) -> None:
    first = cells(asker, "ROLLUP (dept, position)")
    spent = asker.spent("staff")
    assert cells(asker, "ROLLUP (dept, position)") == first
    assert cells(asker, "GROUPING SETS ((dept, position), (dept), ())") == first
    asker.json("SELECT position, dept, sum(hired - dob) FROM hr.employee GROUP BY position, dept", "0.5")
    assert asker.spent("staff") == spent == Decimal("1.5")


def test_draws_of_two_runs_are_not_put_together(asker: Asker) -> None:
    """Cells that were asked for anew are of another run than the totals: no sums are made of both."""
    first = cells(asker, "ROLLUP (dept, position)", "0.01")
    plain = "SELECT dept, position, count(*) AS people, sum(hired - dob) AS days FROM hr.employee GROUP BY 1, 2"
    asker.json(plain, "0.01", fresh=True)
    spent = asker.spent("staff")
    again = cells(asker, "ROLLUP (dept, position)", "0.01")
    assert asker.spent("staff") == spent
    assert again != first
    # at this price, hundreds of draws are equal by chance with a probability below 1e-10
    assert not adds_up(again, "days")


def test_an_answer_is_exact_but_for_its_noise(asker: Asker) -> None:
    """At epsilon 50 counts are off by more than 2 with a probability below 1e-15. Others are in no set."""
    found = cells(asker, "ROLLUP (dept, position)", 50)
    known = f"dept IN {DEPARTMENTS} AND position IN {POSITIONS}"
    exact = f"SELECT dept, position, count(*) FROM hr.employee WHERE {known} GROUP BY ROLLUP (1, 2)"
    for dept, position, people in asker.truth(exact):
        assert abs(found[dept, position]["people"] - people) <= 2
    assert asker.truth(f"SELECT 1 FROM hr.employee WHERE NOT ({known})")
    told = asker.explain(ROWS.format("ROLLUP (dept, position)"))
    assert "values of position outside its categories left out" in told["caveats"]


def test_errors_beside_numbers_are_those_of_the_estimate(asker: Asker) -> None:
    rows = asker.plain(
        "SELECT t.* FROM discreet.query($$SELECT dept, count(*) AS n FROM hr.employee GROUP BY ROLLUP (dept)$$,"
        " epsilon => 0.1, with_error => true) AS t(dept text, n bigint, n_error numeric)"
    )
    errors = {dept: error for dept, _, error in rows}
    assert len(set(errors.values())) == 2
    # by itself, the total would be off by 27 at the price that it has, and a department by 31
    assert errors[None] <= 30
    assert max(errors.values()) < 60


def test_several_numbers_of_the_same_people_have_joint_noise(asker: Asker) -> None:
    told = asker.explain("SELECT dept, count(*) AS n, sum(salary) AS pay FROM hr.employee GROUP BY dept", "0.1")
    assert [column["mechanism"] for column in told["outputs"]] == [
        "exact",
        "joint noise (K-norm)",
        "joint noise (K-norm)",
    ]
    alone = asker.explain("SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept", "0.05")
    both, one = (Decimal(found["outputs"][1]["error_95"]) for found in (told, alone))
    assert both < Decimal("0.75") * one
    # the store keeps which noise it was
    with_error = "SELECT dept, count(*) AS n, sum(salary) AS pay FROM hr.employee GROUP BY dept"
    asker.json(with_error, "0.1")
    spent = asker.spent("staff")
    again = asker.explain("SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept")
    assert again["stored"]
    assert Decimal(again["outputs"][1]["error_95"]) == both
    assert asker.spent("staff") == spent
