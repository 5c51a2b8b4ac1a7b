"""Under bounded neighbours a sum to which everybody adds a value changes by the width of its bounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.dp.price import Accounting, Price
from discreet.gate.measure import Terms
from discreet.gate.measurements import Quantity
from discreet.gate.parse import parse
from discreet.gate.plan import Plan, plan
from discreet.gate.run import statements
from discreet.gate.schema import Column, Dataset, Protection, Relation, Schema, View

LOW, HIGH = Fraction(10), Fraction(100)
ROOM = Relation(
    "hr", "room", {"id": Column("id", "integer"), "size": Column("size", "integer", (LOW, HIGH), not_null=True)}
)
PAY = Relation(
    "hr",
    "pay",
    {
        "id": Column("id", "integer", identifies=True, not_null=True),
        "pay": Column("pay", "integer", (LOW, HIGH), not_null=True),
        "exact": Column("exact", "numeric", (LOW, HIGH), not_null=True),
        "bonus": Column("bonus", "integer", (LOW, HIGH)),
        "dept": Column("dept", "text", categories=("a", "b"), not_null=True),
    },
    Protection("people", "id", "noisy", 1, 1, None, None, True, True),
)


def asked(question: str, dataset: Dataset | None = None, table: Relation = PAY) -> Plan:
    view = "SELECT id, pay FROM hr.pay"
    schema = Schema(
        {("hr", "pay"): table, ("hr", "room"): ROOM},
        {"people": dataset or Dataset("people", "pure", "bounded", Fraction(1), has_one_table=True)},
        {("hr", "view_of_pay"): View("hr", "view_of_pay", view, parse(view))},
    )
    return plan(parse(question), schema, frozenset())


def norms(found: Plan, accounting: Accounting = Accounting.PURE) -> list[Fraction]:
    """In the unit of the argument, of one grouping set after the other."""
    terms = [Terms.of(found, Price(accounting, Fraction(1)), Fraction(0), keys) for keys in found.grouping.sets]
    return [each.norm(m) * (m.subject.grid.step if m.subject.grid else 1) for each in terms for m in found.measurements]


@pytest.mark.parametrize("accounting", Accounting)
@pytest.mark.parametrize(
    "question",
    [
        "SELECT sum(pay) FROM hr.pay",
        "SELECT sum(exact) FROM hr.pay AS p",
        "SELECT sum(p.money) * 2 FROM hr.pay AS p(id, money) HAVING sum(p.money) > 1",
        "SELECT dp_sum(pay, 10, 100) FROM hr.pay",
    ],
)
def test_a_sum_of_a_column_that_is_never_null_changes_by_the_width(question: str, accounting: Accounting) -> None:
    assert norms(asked(question), accounting) == [90]


@pytest.mark.parametrize(
    "question",
    [
        "SELECT sum(bonus) FROM hr.pay",
        "SELECT sum(pay) FROM hr.pay WHERE pay > 0",
        "SELECT sum(pay) FROM hr.pay WHERE true",
        "SELECT sum(pay) FILTER (WHERE pay > 0) FROM hr.pay",
        "SELECT dept, sum(pay) FROM hr.pay GROUP BY dept",
        "SELECT dept, sum(pay) FROM hr.pay GROUP BY ROLLUP (dept)",
        "SELECT sum(NULLIF(pay, 50)) FROM hr.pay",
        "SELECT sum(COALESCE(pay, bonus)) FROM hr.pay",
        "SELECT sum(CASE WHEN dept = 'a' THEN pay END) FROM hr.pay",
        "SELECT sum(+pay) FROM hr.pay",
        "SELECT sum(pay) FROM ONLY hr.pay",
        "SELECT sum(pay) FROM (SELECT pay FROM hr.pay) s",
        "SELECT sum(pay) FROM (SELECT pay FROM hr.pay WHERE pay > 50) s",
        "WITH s AS (SELECT pay FROM hr.pay) SELECT sum(pay) FROM s",
        "SELECT sum(pay) FROM hr.view_of_pay",
        "SELECT sum(p.pay) FROM hr.pay p JOIN hr.room r ON r.size = p.pay",
        "SELECT sum(r.size) FROM hr.pay p LEFT JOIN hr.room r ON r.id = p.pay",
        "SELECT sum(p.pay) FROM hr.pay p, hr.room r",
        "SELECT sum(a.pay) FROM hr.pay a JOIN hr.pay b ON a.id = b.id",
        "SELECT sum(pay) FROM (SELECT pay FROM hr.pay UNION ALL SELECT pay FROM hr.pay) s",
    ],
)
def test_where_anything_else_decides_a_change_is_a_removal_plus_an_addition(question: str) -> None:
    assert all(norm >= 200 for norm in norms(asked(question)))


@pytest.mark.parametrize(
    ("dataset", "table"),
    [
        (Dataset("people", "pure", "bounded", Fraction(1)), PAY),  # a person may have a row in another table alone
        (None, replace(PAY, row_security=True)),
        (None, replace(PAY, protection=replace(PAY.protection, single=False))),  # type: ignore[type-var]
    ],
)
def test_where_a_person_may_have_no_row_or_several_it_is_too(dataset: Dataset | None, table: Relation) -> None:
    found = asked("SELECT sum(pay) FROM hr.pay", dataset, table)
    assert all(not m.subject.everybody for m in found.measurements)
    assert all(norm >= 200 for norm in norms(found))


def test_under_unbounded_neighbours_nothing_changes() -> None:
    found = asked(
        "SELECT sum(pay) FROM hr.pay", Dataset("people", "pure", "unbounded", Fraction(1), has_one_table=True)
    )
    assert norms(found) == [100]
    assert not found.measurements[0].subject.everybody


def test_squares_change_by_the_square_of_the_width() -> None:
    found = asked("SELECT variance(pay) FROM hr.pay")
    terms = Terms.of(found, Price(Accounting.PURE, Fraction(1)), Fraction(0), ())
    norm = {m.quantity: terms.norm(m) for m in found.measurements}
    grid = found.measurements[0].subject.grid
    assert grid is not None
    assert norm[Quantity.SQUARES] == grid.width**2
    assert norm[Quantity.CENTRED] == 2 * grid.width


def test_what_has_no_place_counts_as_the_lower_end() -> None:
    """Whatever the rows hold: the proof does not look at the catalog."""
    for column in ("pay", "exact"):
        (statement,) = statements(asked(f"SELECT sum({column}) FROM hr.pay"), (), 0)
        assert f'COALESCE(discreet._clamped("pay"."{column}", 10, 100), 10)' in statement.sql or (
            f'COALESCE(discreet._on_grid("pay"."{column}", ' in statement.sql
        )
