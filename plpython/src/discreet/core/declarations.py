"""What a curator declares, checked for sense before it reaches the catalog."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import TypeVar

from discreet.core.errors import InvalidParameterError, LimitExceededError
from discreet.core.syntax import Json

ACCOUNTINGS = ("pure", "zcdp")
NEIGHBOURS = ("unbounded", "bounded")
POLICIES = ("noisy", "personal", "audited", "public")
VISIBILITIES = ("sensitive", "public", "hidden")

# A total above this promises nothing; below it no question could ever be asked.
LARGEST_LIMIT = Decimal(1000)
SMALLEST_LIMIT = Decimal("1e-9")
# personal budgets are kept in steps of a hundred-thousandth, three bytes each
LARGEST_UNIT_EPSILON, SMALLEST_UNIT_EPSILON = Decimal(100), Decimal("1e-5")
# types whose values name people for personal budgets: equal just when their texts are, or can be made so
PERSONAL_UNITS = frozenset(
    ["smallint", "integer", "bigint", "numeric", "text", "character varying", "character", "bpchar", "uuid", "date"]
)

# group keys are cut to this (gate/values.py): a longer category would match no row
LONGEST_CATEGORY = 10_000
# in characters; PostgreSQL reads a quoted name in quadratic time, which no cancel ends
LONGEST_NAME = 10_000
# Python's own: a text of another encoding may have no counterpart, and a question about it would fail. The advice is in
# ASCII, which all have.
ENCODING = "UTF8"
OTHER_DATABASE = "restore it into one that was made by CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0."

Value = TypeVar("Value")


def given(name: str, value: Value | None) -> Value:
    if value is None:
        raise InvalidParameterError(f"{name} must not be NULL", f"Give a value for {name}.")
    return value


def given_name(name: str, value: str | None) -> str:
    """The name of a relation as SQL writes it, or a way over such names."""
    text = given(name, value)
    if len(text) > LONGEST_NAME:
        raise LimitExceededError(f"{name} has more than {LONGEST_NAME:,} characters", "Give a shorter name.")
    return text


def document(name: str, value: str, parse_float: Callable[[str], object] = float) -> Json:
    """A jsonb argument. PostgreSQL has parsed it before, so that only numbers can be too long for Python."""
    try:
        return json.loads(value, parse_float=parse_float)
    except ValueError:
        raise InvalidParameterError(f"a number in {name} has too many digits", "Write it as a text.") from None


def one_of(name: str, value: str | None, choices: tuple[str, ...]) -> str:
    if value not in choices:
        listed = ", ".join(f"'{choice}'" for choice in choices)
        raise InvalidParameterError(f"{name} is {quoted(value)}, which is not known", f"Choose one of {listed}.")
    return value


def quoted(value: object) -> str:
    return "NULL" if value is None else f"'{value}'"


def epsilon_limit(name: str, value: Decimal | None) -> Decimal:
    """A finite epsilon from SMALLEST_LIMIT to LARGEST_LIMIT; NaN and infinities are refused."""
    number = given(name, value)
    if not number.is_finite() or not SMALLEST_LIMIT <= number <= LARGEST_LIMIT:
        raise InvalidParameterError(
            f"{name} is {number}, which is not a budget",
            f"Give a number from {SMALLEST_LIMIT} to {LARGEST_LIMIT}; usual totals are 0.1 to 10.",
        )
    return number


def delta_limit(name: str, value: Decimal | None) -> Decimal:
    """A delta from 0 to below 1; NaN is refused."""
    number = given(name, value)
    if not number.is_finite() or not 0 <= number < 1:
        raise InvalidParameterError(
            f"{name} is {number}, which is not a probability below 1",
            "Give 0, or a number far below one over the number of people, such as 1e-6.",
        )
    return number


def at_least(name: str, value: int | None, least: int) -> int:
    number = given(name, value)
    if number < least:
        raise InvalidParameterError(
            f"{name} is {number}, but must be at least {least}", f"Give a whole number from {least} on."
        )
    return number


@dataclass(frozen=True)
class Dataset:
    """People whose budget is kept together.

    With a `period`, each one has the limits to itself, and tables without a time are paid from `lifetime_epsilon`.
    """

    name: str
    epsilon: Decimal
    delta: Decimal
    accounting: str = "pure"
    neighbours: str = "unbounded"
    response_quantum: str | None = None
    answer_lifetime: str | None = "1 day"
    diagnose: Decimal = Decimal(0)
    period: str | None = None
    lifetime_epsilon: Decimal | None = None

    @property
    def lifetime(self) -> Decimal | None:
        return self.epsilon if self.period is not None and self.lifetime_epsilon is None else self.lifetime_epsilon

    def __post_init__(self) -> None:
        if given("name", self.name).strip() == "":
            raise InvalidParameterError("a dataset needs a name", "Name the people, such as 'employees'.")
        epsilon_limit("epsilon", self.epsilon)
        delta_limit("delta", self.delta)
        one_of("accounting", self.accounting, ACCOUNTINGS)
        one_of("neighbours", self.neighbours, NEIGHBOURS)
        if not self.diagnose.is_finite() or not 0 <= self.diagnose < 1:
            raise InvalidParameterError(
                f"diagnose is {self.diagnose}, which is not a share of a price",
                "Give 0, or the share of each price that tells how many people were cut, such as 0.05.",
            )
        if self.accounting == "zcdp" and self.delta == 0:
            raise InvalidParameterError(
                "accounting 'zcdp' needs a delta above 0",
                "Gaussian noise has no meaning without it; give for example delta => 1e-6.",
            )
        if self.period is None and self.lifetime_epsilon is not None:
            raise InvalidParameterError(
                "lifetime_epsilon is given without a period",
                "It limits what tables without a time cost beside periods: give period => '1 month', too.",
            )
        if self.lifetime_epsilon is not None:
            epsilon_limit("lifetime_epsilon", self.lifetime_epsilon)
        if self.period is not None and self.neighbours != "unbounded":
            raise InvalidParameterError(
                "a dataset with a period has neighbours 'unbounded'",
                "Leave neighbours out: the rows of a person in a period are there or not.",
            )


@dataclass(frozen=True)
class Policy:
    """How questions about a table are answered.

    Without `max_groups`, as many as `max_total_rows`, or 1: a person with so many rows is in no more groups. Without
    `max_rows`, 1; that is right only where a person has one row.
    """

    unit: str | None
    policy: str = "noisy"
    max_groups: int | None = None
    max_rows: int | None = None
    max_epsilon: Decimal | None = None
    max_delta: Decimal | None = None
    unit_epsilon: Decimal | None = None
    min_group: int = 10
    fallback: str | None = None
    max_total_rows: int | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        one_of("policy", self.policy, POLICIES)
        if self.unit is not None:
            given_name("unit", self.unit)
        if (self.unit is None) != (self.policy == "public"):
            raise InvalidParameterError(
                "a public table has no unit" if self.policy == "public" else "unit must not be NULL",
                "The unit is the column that names the person; only policy 'public' goes without.",
            )
        at_least("min_group", self.min_group, 2)
        for name in ("max_groups", "max_rows", "max_total_rows"):
            if getattr(self, name) is not None:
                at_least(name, getattr(self, name), 1)
        if self.max_epsilon is not None:
            epsilon_limit("max_epsilon", self.max_epsilon)
        if self.max_delta is not None:
            delta_limit("max_delta", self.max_delta)
        self._check_belongs("unit_epsilon", "personal")
        self._check_belongs("fallback", "audited")
        self._check_belongs("max_total_rows", "noisy")
        self._check_belongs("time", "noisy")
        if self.policy == "personal":
            personal = epsilon_limit("unit_epsilon", self.unit_epsilon)
            if not SMALLEST_UNIT_EPSILON <= personal <= LARGEST_UNIT_EPSILON:
                raise InvalidParameterError(
                    f"unit_epsilon is {personal}, which is not a personal budget",
                    f"Give a number from {SMALLEST_UNIT_EPSILON:f} to {LARGEST_UNIT_EPSILON}; usual are 0.1 to 10.",
                )
        if self.fallback is not None:
            one_of("fallback", self.fallback, ("noisy",))

    def _check_belongs(self, name: str, policy: str) -> None:
        if getattr(self, name) is not None and self.policy != policy:
            raise InvalidParameterError(
                f"{name} belongs to policy '{policy}', not to '{self.policy}'",
                f"Leave {name} out, or give policy => '{policy}'.",
            )


@dataclass(frozen=True)
class ColumnDescription:
    """What is public knowledge about a column.

    Bounds are numbers, of dates days and of timestamps seconds since 1970; a text is yet to be read as the type of the
    column. `others`: the name of one more group, of values outside the categories.
    """

    lower: Decimal | str | None = None
    upper: Decimal | str | None = None
    categories: tuple[str, ...] | None = None
    visibility: str = "sensitive"
    others: str | None = None

    def __post_init__(self) -> None:
        one_of("visibility", self.visibility, VISIBILITIES)
        self._check_bounds()
        self._check_categories()
        self._check_others()

    def read_as(self, type_name: str) -> ColumnDescription:
        """With bounds that are numbers, of a column of this type."""
        lower = bound_of("lower", self.lower, type_name)
        return replace(self, lower=lower, upper=bound_of("upper", self.upper, type_name))

    def _check_bounds(self) -> None:
        lower, upper = self.lower, self.upper
        if lower is None and upper is None:
            return
        if lower is None or upper is None:
            missing = "lower" if lower is None else "upper"
            raise InvalidParameterError(
                f"{missing} is missing",
                "Bounds come in pairs: without both, one person's influence has no limit.",
            )
        if isinstance(lower, str) or isinstance(upper, str):
            return
        for name, bound in (("lower", lower), ("upper", upper)):
            if not bound.is_finite():
                raise InvalidParameterError(f"{name} is {bound}, which bounds nothing", "Give a finite number.")
        if lower > upper:
            raise InvalidParameterError(
                f"lower {lower} is above upper {upper}", "Exchange them: lower is the smaller one."
            )

    def _check_categories(self) -> None:
        if self.categories is None:
            return
        if not self.categories:
            raise InvalidParameterError("the list of categories is empty", "Give at least one, or NULL for none.")
        if any(category is None for category in self.categories):
            raise InvalidParameterError(
                "a category is NULL", "NULL is a group of its own without being named; name only real values."
            )
        if not all(isinstance(category, str) for category in self.categories):
            raise InvalidParameterError("categories is a list of lists", "Give one plain list, such as '{red,green}'.")
        if any(len(category.encode()) > LONGEST_CATEGORY for category in self.categories):
            raise InvalidParameterError(
                f"a category takes more than {LONGEST_CATEGORY} bytes", "Longer texts are no group keys."
            )
        repeated = [category for category, times in Counter(self.categories).items() if times > 1]
        if repeated:
            raise InvalidParameterError(f"category {quoted(repeated[0])} is named twice", "Name each value once.")

    def _check_others(self) -> None:
        if self.others is None:
            return
        if self.categories is None:
            raise InvalidParameterError(
                "others is given without categories",
                "It names the group of all values outside the categories: give categories => ARRAY[…], too.",
            )
        if self.others in self.categories:
            raise InvalidParameterError(
                f"others is {quoted(self.others)}, which is a category already",
                "Give the group of all others a name of its own.",
            )
        if len(self.others.encode()) > LONGEST_CATEGORY:
            raise InvalidParameterError(
                f"others takes more than {LONGEST_CATEGORY} bytes", "Longer texts are no group keys."
            )


def bound_of(name: str, text: Decimal | str | None, type_name: str) -> Decimal | None:
    """A bound that is written as the type of its column is: days or seconds since 1970 of dates and timestamps."""
    if not isinstance(text, str):
        return text
    of_times = type_name == "date" or type_name.startswith("timestamp")
    try:
        if not of_times:
            return Decimal(text.strip())
        # what PostgreSQL writes, or a person: 2024-12-31, 2024-12-31 12:30:00+00
        moment = datetime.fromisoformat(text.strip())
    except (InvalidOperation, ValueError):
        kind = type_name if of_times else "number"
        how = "Dates are written 2024-12-31, of the years 1 to 9999." if of_times else "Numbers are written 12.5."
        raise InvalidParameterError(f"{name} is {quoted(text)}, which is no {kind}", how) from None
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    if type_name == "date":
        return Decimal(since // timedelta(days=1))
    return Decimal(since // timedelta(microseconds=1)) / 10**6
