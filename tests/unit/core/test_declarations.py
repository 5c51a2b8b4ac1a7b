"""What a curator declares is checked for sense before the catalog hears of it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.declarations import (
    LARGEST_LIMIT,
    LONGEST_CATEGORY,
    SMALLEST_LIMIT,
    ColumnDescription,
    Dataset,
    Policy,
    delta_limit,
    epsilon_limit,
)
from discreet.core.errors import DiscreetError, InvalidParameterError

NAN, INFINITY = Decimal("NaN"), Decimal("Infinity")
BUDGET_HINT = "Give a number from 1E-9 to 1000; usual totals are 0.1 to 10."
DELTA_HINT = "Give 0, or a number far below one over the number of people, such as 1e-6."
NO_BUDGETS = [
    NAN,
    Decimal("sNaN"),
    INFINITY,
    -INFINITY,
    Decimal(0),
    Decimal(-1),
    Decimal(1001),
    Decimal("9e-10"),
]


def dataset(**changed: object) -> Dataset:
    return Dataset(**{"name": "people", "epsilon": Decimal(1), "delta": Decimal(0)} | changed)  # type: ignore[arg-type]


def policy(**changed: object) -> Policy:
    return Policy(**{"unit": "id"} | changed)  # type: ignore[arg-type]


def refusal(declare: Callable[..., object], **changed: object) -> tuple[str, str, str | None]:
    with pytest.raises(DiscreetError) as caught:
        declare(**changed)
    return caught.value.sqlstate, caught.value.message, caught.value.hint


def test_a_dataset_is_pure_and_unbounded_unless_said_otherwise() -> None:
    made = dataset()
    assert (made.accounting, made.neighbours, made.response_quantum) == ("pure", "unbounded", None)


@pytest.mark.parametrize("name", ["", "   ", "\t"])
def test_a_dataset_needs_a_name(name: str) -> None:
    assert refusal(dataset, name=name) == (
        "22023",
        "a dataset needs a name",
        "Name the people, such as 'employees'.",
    )


def test_the_name_of_a_dataset_is_not_null() -> None:
    assert refusal(dataset, name=None) == ("22023", "name must not be NULL", "Give a value for name.")


@pytest.mark.parametrize("epsilon", NO_BUDGETS)
def test_a_budget_is_a_finite_positive_number_of_sensible_size(epsilon: Decimal) -> None:
    assert refusal(dataset, epsilon=epsilon) == (
        "22023",
        f"epsilon is {epsilon}, which is not a budget",
        BUDGET_HINT,
    )


@pytest.mark.parametrize("delta", [NAN, INFINITY, Decimal("-1e-9"), Decimal(1), Decimal(2)])
def test_a_delta_is_a_probability_below_one(delta: Decimal) -> None:
    assert refusal(dataset, delta=delta) == (
        "22023",
        f"delta is {delta}, which is not a probability below 1",
        DELTA_HINT,
    )


@pytest.mark.parametrize("name", ["epsilon", "delta"])
def test_a_limit_is_not_null(name: str) -> None:
    assert refusal(dataset, **{name: None}) == (
        "22023",
        f"{name} must not be NULL",
        f"Give a value for {name}.",
    )


@pytest.mark.parametrize("epsilon", [SMALLEST_LIMIT, Decimal("0.1"), LARGEST_LIMIT])
def test_the_ends_of_the_range_are_budgets(epsilon: Decimal) -> None:
    assert epsilon_limit("epsilon", epsilon) == epsilon


@given(st.decimals())
def test_a_budget_is_accepted_exactly_when_it_is_in_range(number: Decimal) -> None:
    if number.is_finite() and SMALLEST_LIMIT <= number <= LARGEST_LIMIT:
        assert epsilon_limit("epsilon", number) == number
    else:
        with pytest.raises(InvalidParameterError, match="which is not a budget"):
            epsilon_limit("epsilon", number)


@given(st.decimals())
def test_a_delta_is_accepted_exactly_when_it_is_a_probability_below_one(number: Decimal) -> None:
    if number.is_finite() and 0 <= number < 1:
        assert delta_limit("delta", number) == number
    else:
        with pytest.raises(InvalidParameterError, match="which is not a probability below 1"):
            delta_limit("delta", number)


@pytest.mark.parametrize(
    ("name", "choices"),
    [("accounting", "'pure', 'zcdp'"), ("neighbours", "'unbounded', 'bounded'")],
)
@pytest.mark.parametrize("value", ["PURE", "", None])
def test_a_dataset_has_one_of_the_known_kinds(name: str, choices: str, value: str | None) -> None:
    shown = "NULL" if value is None else f"'{value}'"
    assert refusal(dataset, **{name: value}) == (
        "22023",
        f"{name} is {shown}, which is not known",
        f"Choose one of {choices}.",
    )


def test_zcdp_needs_a_delta() -> None:
    assert refusal(dataset, accounting="zcdp") == (
        "22023",
        "accounting 'zcdp' needs a delta above 0",
        "Gaussian noise has no meaning without it; give for example delta => 1e-6.",
    )


def test_zcdp_with_a_delta_is_a_dataset() -> None:
    assert dataset(accounting="zcdp", delta=Decimal("1e-6")).accounting == "zcdp"


@pytest.mark.parametrize("value", ["loud", None])
def test_a_policy_is_one_of_the_known_ones(value: str | None) -> None:
    shown = "NULL" if value is None else f"'{value}'"
    assert refusal(policy, policy=value) == (
        "22023",
        f"policy is {shown}, which is not known",
        "Choose one of 'noisy', 'personal', 'audited', 'public'.",
    )


def test_a_policy_about_people_has_a_unit() -> None:
    assert refusal(policy, unit=None) == (
        "22023",
        "unit must not be NULL",
        "The unit is the column that names the person; only policy 'public' goes without.",
    )


def test_a_public_table_has_no_unit() -> None:
    assert refusal(policy, policy="public") == (
        "22023",
        "a public table has no unit",
        "The unit is the column that names the person; only policy 'public' goes without.",
    )


@pytest.mark.parametrize(("name", "least"), [("max_groups", 1), ("max_rows", 1), ("min_group", 2)])
def test_counts_have_a_least_value(name: str, least: int) -> None:
    assert getattr(policy(**{name: least}), name) == least
    for value in (least - 1, -5):
        assert refusal(policy, **{name: value}) == (
            "22023",
            f"{name} is {value}, but must be at least {least}",
            f"Give a whole number from {least} on.",
        )


def test_the_rows_of_all_groups_may_be_bounded() -> None:
    assert policy().max_total_rows is None
    assert policy(max_total_rows=1).max_total_rows == 1
    assert refusal(policy, max_total_rows=0) == (
        "22023",
        "max_total_rows is 0, but must be at least 1",
        "Give a whole number from 1 on.",
    )


@pytest.mark.parametrize("other", ["personal", "audited"])
def test_a_bound_on_the_rows_of_all_groups_belongs_to_noise(other: str) -> None:
    assert refusal(policy, policy=other, max_total_rows=5) == (
        "22023",
        f"max_total_rows belongs to policy 'noisy', not to '{other}'",
        "Leave max_total_rows out, or give policy => 'noisy'.",
    )


@pytest.mark.parametrize("number", NO_BUDGETS)
def test_a_cap_per_question_is_a_budget(number: Decimal) -> None:
    assert refusal(policy, max_epsilon=number) == (
        "22023",
        f"max_epsilon is {number}, which is not a budget",
        BUDGET_HINT,
    )


def test_a_cap_of_delta_is_a_probability() -> None:
    assert refusal(policy, max_delta=Decimal(1)) == (
        "22023",
        "max_delta is 1, which is not a probability below 1",
        DELTA_HINT,
    )


@pytest.mark.parametrize("other", ["noisy", "audited"])
def test_a_personal_budget_belongs_to_the_personal_policy(other: str) -> None:
    assert refusal(policy, policy=other, unit_epsilon=Decimal(1)) == (
        "22023",
        f"unit_epsilon belongs to policy 'personal', not to '{other}'",
        "Leave unit_epsilon out, or give policy => 'personal'.",
    )


def test_the_personal_policy_needs_a_personal_budget() -> None:
    assert refusal(policy, policy="personal") == (
        "22023",
        "unit_epsilon must not be NULL",
        "Give a value for unit_epsilon.",
    )


def test_a_fallback_belongs_to_the_audited_policy() -> None:
    assert policy(policy="audited", fallback="noisy").fallback == "noisy"
    assert refusal(policy, fallback="noisy") == (
        "22023",
        "fallback belongs to policy 'audited', not to 'noisy'",
        "Leave fallback out, or give policy => 'audited'.",
    )


def test_the_only_fallback_is_noise() -> None:
    assert refusal(policy, policy="audited", fallback="exact") == (
        "22023",
        "fallback is 'exact', which is not known",
        "Choose one of 'noisy'.",
    )


def test_a_column_is_sensitive_unless_said_otherwise() -> None:
    assert ColumnDescription().visibility == "sensitive"


@pytest.mark.parametrize("value", ["secret", None])
def test_a_visibility_is_one_of_the_known_ones(value: str | None) -> None:
    shown = "NULL" if value is None else f"'{value}'"
    assert refusal(ColumnDescription, visibility=value) == (
        "22023",
        f"visibility is {shown}, which is not known",
        "Choose one of 'sensitive', 'public', 'hidden'.",
    )


@pytest.mark.parametrize(("bound", "missing"), [("lower", "upper"), ("upper", "lower")])
def test_bounds_come_in_pairs(bound: str, missing: str) -> None:
    assert refusal(ColumnDescription, **{bound: Decimal(1)}) == (
        "22023",
        f"{missing} is missing",
        "Bounds come in pairs: without both, one person's influence has no limit.",
    )


@pytest.mark.parametrize("value", [NAN, INFINITY, -INFINITY])
@pytest.mark.parametrize("bound", ["lower", "upper"])
def test_a_bound_is_finite(bound: str, value: Decimal) -> None:
    bounds = {"lower": Decimal(0), "upper": Decimal(0)} | {bound: value}
    assert refusal(ColumnDescription, **bounds) == (
        "22023",
        f"{bound} is {value}, which bounds nothing",
        "Give a finite number.",
    )


def test_lower_is_not_above_upper() -> None:
    assert refusal(ColumnDescription, lower=Decimal(5), upper=Decimal("4.9")) == (
        "22023",
        "lower 5 is above upper 4.9",
        "Exchange them: lower is the smaller one.",
    )


def test_equal_bounds_are_allowed() -> None:
    assert ColumnDescription(Decimal(3), Decimal(3)).lower == 3


def test_a_list_of_categories_is_not_empty() -> None:
    assert refusal(ColumnDescription, categories=()) == (
        "22023",
        "the list of categories is empty",
        "Give at least one, or NULL for none.",
    )


def test_null_is_no_category() -> None:
    assert refusal(ColumnDescription, categories=("a", None)) == (
        "22023",
        "a category is NULL",
        "NULL is a group of its own without being named; name only real values.",
    )


def test_a_category_is_not_longer_than_a_group_key() -> None:
    assert ColumnDescription(categories=("ä" * (LONGEST_CATEGORY // 2),)).categories is not None
    assert refusal(ColumnDescription, categories=("ä" * (LONGEST_CATEGORY // 2 + 1),)) == (
        "22023",
        "a category takes more than 10000 bytes",
        "Longer texts are no group keys.",
    )


def test_categories_are_one_plain_list() -> None:
    # an array of two dimensions arrives as a list of lists
    assert refusal(ColumnDescription, categories=(["a", "b"], ["c", "d"])) == (
        "22023",
        "categories is a list of lists",
        "Give one plain list, such as '{red,green}'.",
    )


def test_a_category_is_named_once() -> None:
    assert refusal(ColumnDescription, categories=("a", "b", "a")) == (
        "22023",
        "category 'a' is named twice",
        "Name each value once.",
    )


def test_the_empty_text_is_a_category() -> None:
    assert ColumnDescription(categories=("", "a")).categories == ("", "a")
