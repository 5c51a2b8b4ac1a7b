"""Groups that are not declared cost delta: refusals and explain() say who lacks it, how much, and what to type."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.database.gate.conftest import Asker
from tests.messages import refused

BY_ZIP = "SELECT zip, count(*) FROM hr.employee GROUP BY zip"
NEEDS = "this question needs delta 1e-6 for groups that are not declared; "


@pytest.fixture
def limits(asker: Asker) -> Iterator[Asker]:
    """Limits that a test may change."""
    asker.admin.execute("CREATE TABLE public.kept AS TABLE discreet._budget")
    yield asker
    asker.admin.execute(
        "UPDATE discreet._budget b SET delta_limit = k.delta_limit, delta_spent = 0, amount_spent = 0"
        " FROM public.kept k WHERE (b.dataset, b.role) = (k.dataset, k.role); DROP TABLE public.kept"
    )


def change(asker: Asker, change: str, role: bool, dataset: str = "staff") -> None:
    asker.admin.execute(f"UPDATE discreet._budget SET {change} WHERE dataset = '{dataset}' AND (role <> 0) = {role}")


def is_refused(asker: Asker, message: str, *hints: str, code: str = "DP003", question: str = BY_ZIP) -> None:
    """By all ways of asking, and foretold by explain(); nothing is spent."""
    told = asker.explain(question)["refused"]
    assert (told["code"], told["message"]) == (code, message)
    for hint in hints:
        assert hint in told["hint"]
        with refused(code, message, hint):
            asker.json(question, "0.1")
        with refused(code, message, hint):
            asker.plain(question)
    assert asker.charges() == []


def test_a_role_without_delta(limits: Asker) -> None:
    change(limits, "delta_limit = 0", role=True)
    is_refused(
        limits,
        f"{NEEDS}role {limits.role} has none",
        f"discreet.grant_budget('staff', '{limits.role}', 1000, 1e-6)",
        "discreet.describe_column(table, column, categories => ARRAY[...])",
    )


def test_the_hint_is_what_helps(limits: Asker) -> None:
    change(limits, "delta_limit = 0", role=True)
    hint = limits.explain(BY_ZIP)["refused"]["hint"]
    limits.admin.execute(hint.partition("give delta: ")[2].rstrip(".").encode())
    limits.plain(BY_ZIP)
    assert len(limits.charges()) == 1


def test_a_role_that_has_spent_part_of_its_delta(limits: Asker) -> None:
    change(limits, "delta_limit = 1e-5, delta_spent = 9.5e-6", role=True)
    is_refused(limits, f"{NEEDS}role {limits.role} has 5e-7 left", "1000, 1.05e-5)")


def test_a_role_that_has_spent_all_of_its_delta(limits: Asker) -> None:
    change(limits, "delta_limit = 1e-5, delta_spent = 1e-5", role=True)
    is_refused(limits, f"{NEEDS}role {limits.role} has none left", "grant_budget")


def test_a_dataset_that_has_spent_its_delta(limits: Asker) -> None:
    change(limits, "delta_spent = delta_limit", role=False)
    is_refused(limits, f"{NEEDS}dataset staff has none left", "describe_column")


def test_a_dataset_without_delta(limits: Asker) -> None:
    change(limits, "delta_limit = 0", role=False)
    is_refused(
        limits,
        "this question needs delta for groups that are not declared; dataset staff has none",
        "describe_column",
        code="DP001",
    )


def test_a_dataset_under_zcdp_has_half_of_its_delta_for_groups(limits: Asker) -> None:
    assert limits.truth("SELECT accounting FROM discreet._dataset WHERE dataset = 'inhabitants'") == [("zcdp",)]
    change(limits, "delta_spent = delta_limit / 2 - 1e-7", role=True, dataset="inhabitants")
    told = limits.explain("SELECT district, count(*) FROM census.person GROUP BY district")["refused"]
    assert told["message"] == f"{NEEDS}role {limits.role} has 1e-7 left"


def test_a_group_of_roles_is_named(limits: Asker) -> None:
    limits.admin.execute("CREATE ROLE counters; SELECT discreet.grant_budget('staff', 'counters', 1)")
    try:
        limits.admin.execute(f"GRANT counters TO {limits.role}")
        is_refused(limits, f"{NEEDS}role counters has none", "discreet.grant_budget('staff', 'counters', 1, 1e-6)")
    finally:
        limits.admin.execute("DELETE FROM discreet._budget WHERE role = 'counters'::regrole; DROP ROLE counters")


def test_an_exhausted_epsilon_is_foretold_too(limits: Asker) -> None:
    change(limits, "amount_spent = amount_limit", role=True)
    told = limits.explain("SELECT count(*) FROM hr.employee")
    assert told["refused"]["message"] == f"the budget of {limits.role} in dataset staff is exhausted"
    assert told["epsilon"] == "0.1"


def test_a_stored_answer_needs_nothing(limits: Asker) -> None:
    limits.plain(BY_ZIP)
    change(limits, "delta_limit = 0", role=True)
    assert "refused" not in limits.explain(BY_ZIP)
    limits.plain(BY_ZIP)


def test_declared_groups_need_no_delta(limits: Asker) -> None:
    change(limits, "delta_limit = 0", role=True)
    limits.plain("SELECT dept, count(*) FROM hr.employee GROUP BY dept")
