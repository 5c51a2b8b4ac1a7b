"""What one call site costs: an epsilon under pure accounting, a rho under zero-concentrated accounting."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from discreet.core.errors import InvalidParameterError
from discreet.dp.exact import Numeric, exact

SMALLEST_EPSILON = Fraction(1, 10**9)
LARGEST_EPSILON = Fraction(100)
SMALLEST_DELTA = Fraction(1, 10**30)
LARGEST_DELTA = Fraction(1, 10)
# Python writes no number of thousands of digits: it would fail when the price is written down, after it was paid
MOST_DIGITS = 100


class Accounting(StrEnum):
    """How prices of a dataset add up: ``pure`` adds epsilons, ``zcdp`` adds rhos (Bun and Steinke 2016)."""

    PURE = "pure"
    ZCDP = "zcdp"

    @classmethod
    def _missing_(cls, value: object) -> Accounting:
        raise InvalidParameterError(f"unknown accounting {value!r}", "Use 'pure' or 'zcdp'.")


def _written(value: Numeric, name: str) -> Fraction:
    """A number; one that is written has a bounded number of digits."""
    number = exact(value, name)
    if not isinstance(value, Fraction) and number.denominator > 10**MOST_DIGITS:
        raise InvalidParameterError(f"{name} has too many digits", f"Give at most {MOST_DIGITS} behind the point.")
    return number


def parse_epsilon(value: Numeric) -> Fraction:
    """An epsilon between 1e-9 and 100.

    Below, answers are noise and the ledger's digits run out; above, e**epsilon promises nothing.
    """
    epsilon = _written(value, "epsilon")
    if epsilon <= 0:
        raise InvalidParameterError("epsilon must be positive", "Usual values lie between 0.01 and 10.")
    if epsilon < SMALLEST_EPSILON:
        raise InvalidParameterError("epsilon is too small", "The smallest epsilon is 1e-9.")
    if epsilon > LARGEST_EPSILON:
        raise InvalidParameterError("epsilon is too large to protect a person", "The largest epsilon is 100.")
    return epsilon


def parse_delta(value: Numeric) -> Fraction:
    """A delta that is 0, or between 1e-30 and 0.1.

    Delta is the chance that the promise breaks, so it belongs far below one over the number of people;
    above 0.1 it is a mistake and not a choice.
    """
    delta = _written(value, "delta")
    if delta < 0:
        raise InvalidParameterError("delta must not be negative", "Use 0, or a small number such as 1e-6.")
    if 0 < delta < SMALLEST_DELTA:
        raise InvalidParameterError("delta is too small", "Use 0, or at least 1e-30.")
    if delta > LARGEST_DELTA:
        raise InvalidParameterError(
            "delta is too large to protect a person",
            "The largest delta is 0.1; usual is less than one over the number of people.",
        )
    return delta


@dataclass(frozen=True)
class Price:
    """The privacy loss of one call site: *amount* is epsilon under ``pure``, rho under ``zcdp``.

    Prices of one person's answers add up within one accounting (basic composition: Dwork et al. 2006 for
    epsilon, Bun and Steinke 2016, Lemma 1.7, for rho).
    """

    accounting: Accounting
    amount: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "accounting", Accounting(self.accounting))
        amount = exact(self.amount, "price")
        smallest, largest = SMALLEST_EPSILON, LARGEST_EPSILON
        if self.accounting is Accounting.ZCDP:
            smallest, largest = smallest**2 / 2, largest**2 / 2
        # A part of the smallest price is a price too: hence the room below it.
        if not smallest / 1000 <= amount <= largest:
            raise InvalidParameterError("price is out of range", "Choose epsilon between 1e-9 and 100.")
        object.__setattr__(self, "amount", amount)

    @classmethod
    def of(cls, epsilon: Numeric, accounting: Accounting | str = Accounting.PURE) -> Price:
        """The price of a question asked with *epsilon*: epsilon itself, or rho = epsilon**2 / 2.

        Whatever is epsilon-private is (epsilon**2 / 2)-zCDP (Bun and Steinke 2016, Proposition 1.4), so
        under ``zcdp`` the same wish buys Gaussian noise at the rho that the pure answer would have cost
        there.
        """
        amount = parse_epsilon(epsilon)
        return cls(Accounting(accounting), amount if Accounting(accounting) is Accounting.PURE else amount**2 / 2)

    def split(self, parts: int) -> tuple[Price, ...]:
        """So many equal prices that together cost exactly this one."""
        if parts < 1:
            raise InvalidParameterError("a price is split into at least one part")
        return (Price(self.accounting, self.amount / parts),) * parts
