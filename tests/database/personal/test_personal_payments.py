"""Who pays what: those whom a question selects, for each own row that takes part, and only if they can."""

from __future__ import annotations

from decimal import Decimal

from tests.messages import refused
from tests.village import Village


def left(*amounts: str) -> dict[str, Decimal]:
    return dict(zip(("ann", "bob", "cid"), map(Decimal, amounts), strict=True))


def test_the_example_of_the_talk(village: Village) -> None:
    """Three people with a budget of 1; the average age of those over 18, at 0.1, leaves 0.9, 0.9 and 1."""
    village.ask("SELECT avg(age) FROM person WHERE age > 18")
    assert village.left() == left("0.9", "0.9", "1")


def test_sequential_composition(village: Village) -> None:
    for _ in range(3):
        village.ask("SELECT count(*) FROM person", "0.2")
    assert village.left() == left("0.4", "0.4", "0.4")


def test_selection_composition(village: Village) -> None:
    """A survey of a rare blood group leaves the budgets of the others alone."""
    for _ in range(10):
        village.ask("SELECT count(*) FROM person WHERE blood = '0'")
    assert village.left() == left("1", "0", "1")


def test_parallel_composition(village: Village) -> None:
    """Disjoint questions cost everybody one of them, and so does a GROUP BY."""
    village.ask("SELECT count(*) FROM person WHERE age < 25")
    village.ask("SELECT count(*) FROM person WHERE age >= 25")
    assert village.left() == left("0.9", "0.9", "0.9")
    village.ask("SELECT blood, count(*), avg(age) FROM person GROUP BY blood")
    assert village.left() == left("0.8", "0.8", "0.8")


def test_who_cannot_pay_takes_no_part(rich_village: Village) -> None:
    rich_village.admin.execute("SELECT discreet.set_personal_budget('person', 'bob', 39.99999)")
    assert rich_village.exact("SELECT count(*) FROM person") == [{"count": 2}]
    assert rich_village.left() == left("60", "39.99999", "60")


def test_a_budget_can_be_spent_to_the_last_of_it(village: Village) -> None:
    village.ask("SELECT count(*) FROM person", 1)
    assert village.left() == left("0", "0", "0")
    village.ask("SELECT count(*) FROM person", "0.00001")
    assert village.left() == left("0", "0", "0")


def test_prices_are_rounded_up(village: Village) -> None:
    village.ask("SELECT count(*) FROM person", "0.000001")
    assert set(village.left().values()) == {Decimal("0.99999")}
    village.ask("SELECT count(*) FROM person", "0.1000001")
    assert set(village.left().values()) == {Decimal("0.89998")}


def test_nobody_can_pay_more_than_all_budgets(village: Village) -> None:
    village.ask("SELECT count(*) FROM person", 100)
    assert set(village.left().values()) == {Decimal(1)}


def test_grouping_sets_are_paid_one_by_one(village: Village) -> None:
    village.ask("SELECT blood, count(*) FROM person GROUP BY ROLLUP (blood)")
    assert village.left() == left("0.8", "0.8", "0.8")


def test_who_is_in_no_declared_group_pays_nothing(village: Village) -> None:
    village.admin.execute("UPDATE person SET blood = 'unheard of' WHERE name = 'ann'")
    village.ask("SELECT blood, count(*) FROM person GROUP BY blood")
    assert village.left() == left("1", "0.9", "0.9")


def test_who_is_in_a_group_of_one_of_the_sets_pays(village: Village) -> None:
    village.admin.execute("UPDATE person SET blood = NULL WHERE name = 'ann'")
    village.ask("SELECT blood, count(*) FROM person GROUP BY GROUPING SETS ((blood), ())")
    assert village.left() == left("0.8", "0.8", "0.8")


def test_a_stored_answer_costs_nothing(village: Village) -> None:
    first = village.ask("SELECT count(*) FROM person", fresh=False)
    assert village.ask("SELECT count(*) FROM person", fresh=False) == first
    assert village.left() == left("0.9", "0.9", "0.9")


def test_plain_sql_is_paid_like_a_question(village: Village) -> None:
    village.nora.execute("SET discreet.epsilon = 0.3")
    village.nora.execute("SELECT avg(age) FROM person WHERE age > 18")
    assert village.left() == left("0.7", "0.7", "1")


def test_suggest_bounds_is_paid_like_a_question(village: Village) -> None:
    village.nora.execute("SELECT discreet.suggest_bounds('person', 'age', 0.25)")
    assert village.left() == left("0.75", "0.75", "0.75")


def test_explain_and_lint_cost_nothing(village: Village) -> None:
    village.ask("SELECT count(*) FROM person")
    village.nora.execute(
        "SELECT discreet.explain('SELECT avg(age) FROM person'), discreet.lint('SELECT avg(age) FROM person')"
    )
    assert village.left() == left("0.9", "0.9", "0.9")


def test_the_dataset_itself_pays_nothing_and_the_role_does(village: Village) -> None:
    village.ask("SELECT count(*) FROM person", "0.4")
    spent = village.admin.execute(
        "SELECT role::text, amount_spent FROM discreet._budget WHERE dataset = 'people' ORDER BY role"
    )
    assert spent.fetchall() == [("-", 0), (village.analyst, Decimal("0.4"))]
    assert village.admin.execute("SELECT intact FROM discreet.verify_log()").fetchall() == [(True,)]
    charge = village.nora.execute("SELECT epsilon, question FROM discreet.charges").fetchall()
    assert charge == [(Decimal("0.4"), "SELECT count(*) FROM person")]


def test_a_role_asks_up_to_its_limit_and_nobody_pays_beyond(village: Village) -> None:
    village.admin.execute("SELECT discreet.grant_budget('people', %s, 0.2)", [village.analyst])
    village.ask("SELECT count(*) FROM person", "0.2")
    with refused("DP003", f"the budget of {village.analyst} in dataset people is exhausted", "budget_status"):
        village.ask("SELECT count(*) FROM person", "0.1")
    assert village.left() == left("0.8", "0.8", "0.8")


def test_a_role_without_a_budget_cannot_ask(village: Village) -> None:
    village.admin.execute("SELECT discreet.revoke_budget('people', %s)", [village.analyst])
    with refused("DP004", "you hold no budget", "grant_budget"):
        village.ask("SELECT count(*) FROM person")


def test_every_row_is_paid_up_to_max_rows(village: Village) -> None:
    rows = "VALUES (1, 5), (1, 6), (1, 70), (2, 8), (NULL, 9)"
    village.protect("visit", "id int, cost int", rows, max_rows=2)
    village.ask("SELECT count(*) FROM visit", 10)
    assert village.left("visit") == {"1": 80, "2": 90}
    village.ask("SELECT count(*) FROM visit WHERE cost < 6", 10)
    assert village.left("visit") == {"1": 70, "2": 90}


def test_rows_beyond_max_rows_do_not_count(village: Village) -> None:
    village.protect("visit", "id int, cost int", "SELECT n % 2, 10 FROM generate_series(1, 10) n", max_rows=2)
    village.admin.execute("SELECT discreet.describe_column('visit', 'cost', 0, 10)")
    assert village.exact("SELECT count(*) FROM visit") == [{"count": 4}]
    assert village.left("visit") == {"0": 20, "1": 20}


def test_many_groups_of_one_person_are_paid_up_to_max_groups(village: Village) -> None:
    rows = "SELECT 1, 'w' || n FROM generate_series(0, 4) n"
    village.protect("visit", "id int, ward text", rows, max_groups=3)
    village.admin.execute(
        "SELECT discreet.describe_column('visit', 'ward', categories => ARRAY['w0', 'w1', 'w2', 'w3', 'w4'])"
    )
    answer = village.ask("SELECT ward, count(*) FROM visit GROUP BY ward", 30)
    assert (sum(row["count"] for row in answer), village.left("visit")) == (3, {"1": 10})
    village.ask("SELECT count(*) FROM visit", 10)
    assert village.left("visit") == {"1": 0}


def test_more_rows_of_a_person_than_a_byte_can_count(village: Village) -> None:
    rows = "SELECT 1 FROM generate_series(1, 300)"
    village.protect("visit", "id int", rows, max_rows=1000)
    village.ask("SELECT count(*) FROM visit", "0.1")
    assert village.left("visit") == {"1": 70}


def test_noise_is_for_one_row(village: Village) -> None:
    village.protect("visit", "id int, cost int", "VALUES (1, 1)", max_rows=50, max_groups=7)
    (told,) = village.nora.execute("SELECT discreet.explain('SELECT count(*) FROM visit', 0.1)").fetchone() or ()
    assert (told["policy"], told["outputs"][0]["scale"], told["epsilon"]) == ("personal", "10", "0.1")
    assert "epsilon for each of their rows that takes part, at most 50" in told["paid_by"]
