"""What is paid, by whom, and what is given again for nothing."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.corpus.sample import questions
from tests.database.gate.conftest import Asker
from tests.databases import MakeRole
from tests.messages import notices, refused

COUNT = "SELECT count(*) FROM hr.employee"
BY_DEPT = "SELECT dept, count(*), avg(salary) FROM hr.employee GROUP BY dept"
BY_ZIP = "SELECT zip, count(*) FROM hr.employee GROUP BY zip"


def test_a_question_costs_what_was_named(asker: Asker) -> None:
    asker.json(COUNT, "0.25")
    assert asker.spent("staff") == Decimal("0.25")


def test_without_a_price_the_setting_is_paid(asker: Asker) -> None:
    asker.json(COUNT, None)
    asker.connection.execute("SET discreet.epsilon = 0.3")
    asker.json(BY_DEPT, None)
    asker.connection.execute("RESET discreet.epsilon")
    assert asker.spent("staff") == Decimal("0.4")


def test_a_price_of_thousands_of_digits_is_refused_before_it_is_paid(asker: Asker) -> None:
    with refused("22023", "epsilon has too many digits", "100 behind the point"):
        asker.json(COUNT, "0." + "7" * 6000)
    assert asker.charges() == []
    asker.json(COUNT, "0." + "7" * 100)
    assert len(asker.charges()) == 1


@pytest.mark.parametrize("clause", ["ROLLUP (dept)", "GROUPING SETS ((dept), ())"])
def test_every_grouping_set_is_paid(asker: Asker, clause: str) -> None:
    asker.json(f"SELECT dept, count(*) FROM hr.employee GROUP BY {clause}", "0.5")
    assert asker.spent("staff") == 1


def test_unknown_keys_cost_delta(asker: Asker) -> None:
    asker.json(BY_ZIP, 1)
    ((delta,),) = asker.truth("SELECT delta_spent FROM discreet._budget WHERE role = 0 AND dataset = 'staff'")
    assert delta == Decimal("1e-6")


def test_the_same_question_is_answered_again_for_nothing(asker: Asker) -> None:
    heard = notices(asker.connection)
    first = asker.json(BY_DEPT)
    assert asker.json("select  dept, COUNT(*), avg( salary ) from hr.employee group by 1 -- again") == first
    assert asker.spent("staff") == 10
    assert "epsilon 10 spent" in str(heard[0][1])
    assert "free of charge" in str(heard[1][1])


def test_a_fresh_answer_is_paid_and_kept(asker: Asker) -> None:
    first = asker.json(BY_DEPT, 1)
    again = asker.json(BY_DEPT, 1, fresh=True)
    assert first != again
    assert asker.json(BY_DEPT, 1) == again
    assert asker.spent("staff") == 2


@pytest.mark.parametrize("other", [(COUNT + " WHERE salary > 5", 1, None), (COUNT + " WHERE zip = $1", 1, ["a"])])
def test_another_condition_or_parameter_is_another_question(
    asker: Asker, other: tuple[str, int, list[str] | None]
) -> None:
    asker.json(COUNT, 1)
    asker.json(COUNT + " WHERE zip = $1", 1, params=["b"])
    question, epsilon, params = other
    asker.json(question, epsilon, params=params)
    assert asker.spent("staff") == 2 + epsilon


def test_a_stored_answer_is_not_given_after_the_protection_changed(asker: Asker) -> None:
    asker.json(BY_DEPT, 1)
    asker.admin.execute("SELECT discreet.describe_column('hr.employee', 'salary', 0, 100000)")
    try:
        asker.json(BY_DEPT, 1)
        assert asker.spent("staff") == 2
    finally:
        asker.admin.execute("SELECT discreet.describe_column('hr.employee', 'salary', 0, 200000)")


def test_another_bound_on_all_rows_of_a_person_makes_another_question(asker: Asker) -> None:
    """Also where the trigger that drops stored answers has not seen the change."""
    by_ward = "SELECT ward, count(*) FROM clinic.visit GROUP BY ward"
    change = "UPDATE discreet._protected_table SET max_total_rows = {} WHERE relation = 'clinic.visit'::regclass"
    asker.admin.execute("SET session_replication_role = replica")
    try:
        scales = []
        for bound in ("NULL", "NULL", "4"):
            asker.admin.execute(change.format(bound))
            asker.json(by_ward, 1)
            scales.append(float(asker.explain(by_ward, 1)["outputs"][1]["scale"]))
        assert scales == pytest.approx([15, 15, 4])
        assert [row[0] for row in asker.charges()] == [1, 1]
    finally:
        asker.admin.execute(change.format("NULL"))
        asker.admin.execute("RESET session_replication_role")


@pytest.mark.parametrize(
    "change",
    [
        "SELECT discreet.describe_column('hr.employee', 'salary', 0, 200000)",
        "SELECT discreet.unprotect('hr.employee')",
        "ALTER TABLE hr.employee RENAME COLUMN salary TO wage",
    ],
)
def test_stored_answers_go_when_the_protection_changes(asker: Asker, change: str) -> None:
    asker.json(COUNT, 1)
    with asker.admin.transaction(force_rollback=True):
        asker.admin.execute(change)
        assert asker.truth("SELECT FROM discreet._answer WHERE dataset = 'staff'") == []
    assert asker.truth("SELECT at FROM discreet._answer WHERE at < clock_timestamp() - interval '1 hour'") == []


def test_a_stored_answer_grows_old(asker: Asker) -> None:
    asker.json(COUNT, 1)
    asker.admin.execute("UPDATE discreet._answer SET at = at - interval '23 hours'")
    asker.json(COUNT, 1)
    assert asker.spent("staff") == 1
    asker.admin.execute("UPDATE discreet._answer SET at = at - interval '1 hour'")
    asker.json(COUNT, 1)
    assert asker.spent("staff") == 2


def test_old_answers_are_not_kept(asker: Asker) -> None:
    asker.json(COUNT, 1)
    asker.admin.execute("UPDATE discreet._answer SET at = at - interval '1 day'")
    asker.json(BY_DEPT, 1)
    assert asker.truth("SELECT at FROM discreet._answer WHERE at < clock_timestamp() - interval '1 hour'") == []


def test_answers_without_a_lifetime_stay(asker: Asker) -> None:
    asker.admin.execute("UPDATE discreet._dataset SET answer_lifetime = NULL")
    try:
        asker.json(COUNT, 1)
        asker.admin.execute("UPDATE discreet._answer SET at = at - interval '9 years'")
        asker.json(COUNT, 1)
        assert asker.spent("staff") == 1
    finally:
        asker.admin.execute("UPDATE discreet._dataset SET answer_lifetime = '1 day'")


def test_new_rows_do_not_change_a_stored_answer(asker: Asker) -> None:
    first = asker.json(COUNT, 1)
    asker.admin.execute(
        "BEGIN; INSERT INTO hr.employee (id, name) SELECT n, 'x' FROM generate_series(9000, 9500) n; COMMIT"
    )
    try:
        assert asker.json(COUNT, 1) == first
    finally:
        asker.admin.execute("DELETE FROM hr.employee WHERE id >= 9000")


def test_members_of_a_group_spend_its_budget_and_see_its_answers(asker: Asker, make_role: MakeRole) -> None:
    team = make_role("team", options="NOLOGIN")
    member = Asker(asker.database, make_role("member", team, "discreet_analyst"))
    with refused("DP004", "you hold no budget for the people of hr.employee", "discreet.grant_budget('staff'"):
        member.json(COUNT, 1)
    asker.admin.execute("SELECT discreet.grant_budget('staff', %s, 1)", [team])
    first = member.json(COUNT, 1)
    with refused("DP003", "", ""):
        member.json(BY_DEPT, "0.1")
    assert member.json(COUNT, 1) == first
    spent = asker.truth(f"SELECT amount_spent FROM discreet._budget WHERE role = '{team}'::regrole")
    assert spent == [(1,)]
    asker.admin.execute("SELECT discreet.revoke_budget('staff', %s)", [team])
    with refused("DP004", "no budget", "grant_budget"):
        member.json(COUNT, 1)


def test_a_zcdp_dataset_is_paid_in_rho(asker: Asker) -> None:
    rows = asker.json("SELECT region, count(*) FROM census.person GROUP BY region", 2)
    assert asker.spent("inhabitants") == 2
    truth = dict(asker.truth("SELECT region, count(*) FROM census.person GROUP BY region"))
    # sigma is 1/2 at rho 2: beyond 3 with probability below 1e-8 for each of six
    assert {row["region"] for row in rows} == truth.keys()
    assert all(abs(row["count"] - truth[row["region"]]) <= 3 for row in rows)


def test_a_cap_per_question_binds(asker: Asker) -> None:
    asker.admin.execute(
        "UPDATE discreet._protected_table SET max_epsilon = 0.5 WHERE relation = 'hr.employee'::regclass"
    )
    try:
        with refused("DP001", "more than the 0.5 that one question may cost", "less"):
            asker.json(COUNT, 1)
        with refused("DP001", "epsilon 0.6 is more than the 0.5", "less"):
            asker.json("SELECT dept, count(*) FROM hr.employee GROUP BY ROLLUP (dept)", "0.3")
        asker.connection.execute("SET discreet.epsilon = 5")
        asker.json(COUNT, None)
        assert asker.spent("staff") == Decimal("0.5")
    finally:
        asker.connection.execute("RESET discreet.epsilon")
        asker.admin.execute("UPDATE discreet._protected_table SET max_epsilon = NULL")


def test_the_exhausted_budget_is_told_before_any_row_is_read(asker: Asker) -> None:
    asker.admin.execute("UPDATE discreet._budget SET amount_spent = amount_limit - 0.5 WHERE dataset = 'staff'")
    with refused("DP003", "", ""):
        asker.json(COUNT, 1)
    asker.json(COUNT, "0.5")


def test_explaining_never_spends(asker: Asker) -> None:
    for name in ("accepted.sql", "refused.sql"):
        for question in questions(name):
            asker.explain(question.sql)
    assert asker.truth("SELECT sum(amount_spent) FROM discreet._budget") == [(0,)]
    assert asker.truth("SELECT FROM discreet._charge") + asker.truth("SELECT FROM discreet._answer") == []


def test_explaining_tells_price_and_error_to_all_and_native_sql_to_curators(asker: Asker) -> None:
    told = asker.explain(BY_DEPT, 1)
    assert (told["epsilon"], told["delta"], told["measurements"]) == ("1", "0", 3)
    assert "native_sql" not in told
    asker.admin.execute(f"GRANT discreet_curator TO {asker.role}")
    try:
        assert "hr" in asker.explain(BY_DEPT, 1)["native_sql"][0]
    finally:
        asker.admin.execute(f"REVOKE discreet_curator FROM {asker.role}")


def test_charges_and_refusals_are_written_down(asker: Asker) -> None:
    asker.json(COUNT, 1)
    with refused("DP002", "column id", "groups of people"):
        asker.json(COUNT + " WHERE id = 7", 1)
    mine = asker.connection.execute("SELECT role, dataset, epsilon, question FROM discreet.charges").fetchall()
    assert mine == [(asker.role, "staff", 1, COUNT)]
    refusals = asker.connection.execute("SELECT role, code, question FROM discreet.refusals").fetchall()
    assert refusals == [(asker.role, "DP002", COUNT + " WHERE id = 7")]


def test_error_columns_and_wanted_accuracy(asker: Asker) -> None:
    asked = (
        "SELECT * FROM discreet.query(%s, accuracy => 5, with_error => true) AS t(count bigint, count_error numeric)"
    )
    ((_, error),) = asker.connection.execute(asked, [COUNT]).fetchall()
    assert 0 < error <= 5
    # the half-width at epsilon is about ln(20) / epsilon
    assert Decimal("0.5") < asker.spent("staff") < Decimal("0.7")


def test_a_quantile_that_is_shown_twice_is_drawn_once(asker: Asker) -> None:
    """Two draws at the price of one would be averaged."""
    twice = (
        "SELECT percentile_cont(0.5) {0} AS a, percentile_disc(0.5) {0} AS b, min(salary), percentile_disc(0) {0} AS c"
    )
    within = "WITHIN GROUP (ORDER BY salary)"
    for _ in range(5):
        (row,) = asker.json(f"{twice.format(within)} FROM hr.employee", "0.05", fresh=True)
        assert (float(row["a"]), float(row["min"])) == (float(row["b"]), float(row["c"]))
