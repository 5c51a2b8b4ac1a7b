"""Stage price: what a plan costs, by what is declared and wished for alone."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

from discreet.core.errors import RefusedShapeError
from discreet.dp.exact import decimal_text
from discreet.dp.price import LARGEST_EPSILON, Accounting, Price, parse_epsilon
from discreet.dp.sampling import PoissonSample
from discreet.dp.sensitivity import Neighbours
from discreet.gate.exactness import why_not_known, widest_error
from discreet.gate.plan import Plan
from discreet.gate.sampling import BYTES, SCALED, Sampled
from discreet.gate.stored import Found, store_keys
from discreet.gate.terms import PEOPLE, Terms
from discreet.gate.wish import Wish

# a question about unknown keys costs this part of the dataset's delta, unless the policy says how much
DELTA_PART = Fraction(1, 100)


# Prices of grouping sets that are estimated together, of an even share; the grand total has the rest. With these, and
# up to ten values of each key, no error is above that of even shares without the estimate.
OF_FINEST, OF_SUBTOTALS = Fraction(95, 100), Fraction(90, 100)
# In a ROLLUP of three or more keys under a pure price, the total has so much, and with it half of the error.
OF_ROLLED_UP, OF_ITS_FINEST = Fraction(19, 10), Fraction(90, 100)


@dataclass(frozen=True)
class Cost:
    """What a question takes from limits; `amount`: in the currency of the dataset."""

    epsilon: Fraction
    amount: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Asked:
    """A question that was found answerable, and its price; `terms` are those of each grouping set.

    `worth`: epsilon of each of them, for what names none of its own. `declared`: a digest of what is declared of the
    tables, under which measurements are stored. `texts`: the values of keys that are known, by their places.
    `empty`: its text says that no row takes part, or none is wanted. `inner`: the questions within it, whose answers
    are constants of this one.
    """

    plan: Plan
    epsilon: Fraction
    amount: Fraction
    delta: Fraction
    price: Price | None
    key: str
    terms: list[Terms]
    worth: Fraction
    declared: str
    texts: dict[int, list[str | None]] = field(default_factory=dict)
    empty: bool = False
    inner: tuple[Asked, ...] = ()

    @property
    def cost(self) -> Cost:
        """What is taken from limits: from a sample, less than what is paid for the noise on the sample."""
        sample = self.plan.sample
        if sample is None:
            return Cost(self.epsilon, self.amount, self.delta)
        # under pure accounting, the amount is epsilon
        epsilon = sample.people.epsilon(self.epsilon)
        return Cost(epsilon, epsilon, sample.people.delta(self.delta))

    @property
    def lifetime(self) -> Cost | None:
        """What is taken from the lifetime of a dataset with periods, where tables without a time are read.

        By group privacy, as gate/periods.py shows: the timeless rows of one person move as many numbers as there are
        periods. Where a person is one unit they move one, for which that much is charged, too.
        """
        charged, cost = self.plan.charged, self.cost
        if charged is None or not charged.lifetime:
            return None
        times = charged.lifetime
        if times == 1:
            return cost
        zcdp = self.plan.dataset.accounting != Accounting.PURE
        squared = times**2 if zcdp and self.plan.by_period else times
        delta = cost.delta * times
        if cost.delta and self.plan.by_period:
            delta = Fraction(1) if zcdp else group_delta(cost.epsilon, cost.delta, times)
        if delta >= 1:
            raise RefusedShapeError(
                "groups that are not declared are not asked about over several periods beside tables without a time",
                "A curator can declare the groups: SELECT discreet.describe_column(table, column, categories =>"
                " ARRAY[…]); or ask about one period.",
            )
        return Cost(cost.epsilon * times, cost.amount * squared, delta)

    def with_sample(self) -> Asked:
        """The question with a sample of its own, if it is answered from one: drawn anew for every charge."""
        sample = self.plan.sample
        return self if sample is None else replace(self, plan=replace(self.plan, sample=sample.drawn()))

    def of_nothing(self) -> Asked:
        """The question, where no row takes part: nothing is measured."""
        nothing = replace(self.plan, measurements=(), subquestions=())
        free = replace(self, epsilon=Fraction(0), amount=Fraction(0), delta=Fraction(0))
        return replace(free, plan=nothing, empty=True, inner=())

    def together_with(self, others: Iterable[Asked]) -> Asked:
        """The question with the price of others beside its own."""
        every = [self, *others]
        charged = self.plan.charged
        if charged is not None:
            charged = charged.with_others(one.plan.charged for one in every if one.plan.charged is not None)
        return replace(
            self,
            plan=replace(self.plan, charged=charged),
            epsilon=sum((one.epsilon for one in every), Fraction(0)),
            amount=sum((one.amount for one in every), Fraction(0)),
            delta=sum((one.delta for one in every), Fraction(0)),
        )


def priced(plan: Plan, declared: str, wish: Wish, usual: str, favour: tuple[str, ...] = ()) -> Asked:
    """A plan with its price, and those of the questions within it; `usual`: the epsilon of those that wish for none."""
    wish = wish.shared(len(plan.subquestions))
    inner = tuple(
        priced_alone(replace(one, favour=favour), declared, wish.plainly(), usual) for one in plan.subquestions
    )
    return replace(priced_alone(replace(plan, favour=favour), declared, wish, usual), inner=inner)


def group_delta(epsilon: Fraction, delta: Fraction, times: int) -> Fraction:
    """A delta for `times` persons, where it was for one: not less than d (exp(k e) - 1) / (exp(e) - 1)."""
    with localcontext(prec=40):
        factor = (Decimal((times - 1) * epsilon.numerator) / epsilon.denominator).exp() * times
    return min(delta * Fraction(factor) * (1 + Fraction(1, 10**30)), Fraction(1))


def priced_alone(plan: Plan, declared: str, wish: Wish, usual: str) -> Asked:
    if wish.sample is not None and plan.charged is not None:
        raise RefusedShapeError(
            f"dataset {plan.dataset.name} has periods, and is not asked about by a sample", "Leave sample out."
        )
    if wish.sample is not None:
        plan = sampled(plan, PoissonSample.of(wish.sample))
    worth = worth_of(plan, wish, usual)
    price = price_of(plan, worth) if plan.sharing else None
    delta = delta_of(plan)
    sets = len(plan.grouping.sets)
    amount = plan.own_amount + full_amount(plan, worth)
    key = hashlib.sha256(json.dumps(sorted(store_keys(plan, declared).values())).encode()).hexdigest()
    with_errors = plan.with_errors()
    if wish.with_error or wish.named == len(with_errors.output) > len(plan.output):
        plan = with_errors  # the same question, of which more is shown
    epsilon = plan.own_epsilon + worth
    return Asked(
        plan, epsilon * sets, amount * sets, delta, price, key, terms_of(plan, price, delta), worth, declared
    )  # fmt: skip


def sampled(plan: Plan, people: PoissonSample) -> Plan:
    """The same question, answered from a sample; refused where that would not be cheaper, or could not be scaled."""
    if plan.dataset.accounting != Accounting.PURE or plan.dataset.neighbours != Neighbours.UNBOUNDED:
        raise RefusedShapeError(
            f"sample saves nothing in dataset {plan.dataset.name}",
            "Its price is known for pure accounting and unbounded neighbours only: leave sample out.",
        )
    if plan.subquestions:
        raise RefusedShapeError(
            "a question with another one within it is not answered from a sample",
            "Ask the inner one first, and write its answer as a number.",
        )
    if plan.personal is not None:
        raise RefusedShapeError(
            "tables under policy 'personal' are not answered from a sample", "Leave sample out: people pay themselves."
        )
    if not plan.measurements or any(m.quantity not in SCALED for m in plan.measurements):
        raise RefusedShapeError(
            "only count(), sum() and avg() are estimated from a sample", "Leave sample out, or ask for these alone."
        )
    unit = plan.source.unit
    name = None if unit is None else unit.type.name
    if name not in BYTES:
        raise RefusedShapeError(
            f"people who are named by values of type {name} are not sampled",
            "Leave sample out: whole numbers, text, uuid and date can be.",
        )
    return replace(plan, sample=Sampled(people, name))


def missing(asked: Asked, found: Found) -> Asked:
    """What is left to be measured of a question, at the price that was offered for all of it."""
    plan = replace(asked.plan, measurements=tuple(m for m in asked.plan.measurements if m not in found))
    if len(plan.measurements) == len(asked.plan.measurements):
        return asked
    worth = asked.worth if plan.sharing else Fraction(0)
    price = price_of(plan, worth) if plan.sharing else None
    delta = Fraction(0) if PEOPLE in found or not plan.measurements else asked.delta
    sets = len(plan.grouping.sets)
    epsilon, amount = plan.own_epsilon + worth, plan.own_amount + full_amount(plan, worth)
    return replace(
        asked, plan=plan, epsilon=epsilon * sets, amount=amount * sets, delta=delta, price=price,
        terms=terms_of(plan, price, delta),
    )  # fmt: skip


def worth_of(plan: Plan, wish: Wish, usual: str) -> Fraction:
    """Epsilon per grouping set, for what names none of its own: what is asked for within the cap, or the usual one
    lowered to it.
    """
    sets, own = len(plan.grouping.sets), plan.own_epsilon
    cap = plan.source.limits.max_epsilon
    if wish.epsilon is not None and wish.accuracy is not None:
        raise RefusedShapeError("epsilon and accuracy are both given", "One follows from the other: give one.")
    if wish.accuracy is not None and own:
        raise RefusedShapeError(
            "accuracy is asked for, and an aggregate names its own epsilon", "One follows from the other: give one."
        )
    if not plan.sharing:
        worth = Fraction(0)
    elif wish.accuracy is not None:
        worth = worth_of_accuracy(plan, wish.accuracy, wish.smallest)
    elif wish.epsilon is not None:
        worth = parse_epsilon(wish.epsilon)
    else:
        worth = parse_epsilon(usual)
        worth = worth if cap is None else min(worth, cap / sets - own)
    if cap is not None and (worth + own) * sets > cap:
        raise RefusedShapeError(
            f"epsilon {decimal_text((worth + own) * sets)} is more than the {decimal_text(cap)}"
            " that one question may cost",
            "Give less.",
        )
    if plan.sharing and cap is not None and worth <= 0:
        raise RefusedShapeError(
            f"no epsilon is left for what names none, of the {decimal_text(cap)} that one question may cost",
            "Give less.",
        )
    return worth


def worth_of_accuracy(plan: Plan, accuracy: Decimal, smallest: int | None) -> Fraction:
    """The smallest epsilon, to two digits, at which every column whose half-width is known keeps to `accuracy`.

    That of averages, variances and covariances is known where they are of no fewer than `smallest` values.
    """
    if not accuracy.is_finite() or accuracy <= 0:
        raise RefusedShapeError(f"accuracy {accuracy} is not above 0", "It is a half-width: 10 means ±10.")

    def exact_enough(worth: Fraction) -> bool:
        price = price_of(plan, worth)
        terms = terms_of(plan, price, Fraction(0))
        error = widest_error(plan, terms, smallest)
        if error is None:
            reasons = "".join(f"; {reason}" for reason in why_not_known(plan, terms, smallest))
            raise RefusedShapeError(
                f"how exact this is, is not known before it is answered{reasons}",
                "Give an epsilon; or, of averages, variances and covariances, smallest_count => the smallest number of"
                " values that they are of.",
            )
        return error <= Fraction(accuracy)

    powers = [Fraction(10) ** power for power in range(-6, 3)]
    digits = [Fraction(digit, 100) * power for power in powers for digit in range(10, 100)]
    found = bisect_left(digits, True, key=exact_enough)
    if found == len(digits) or digits[found] > 100:
        raise RefusedShapeError(f"accuracy {accuracy} cannot be bought", "Ask for less exact numbers.")
    return digits[found]


def delta_of(plan: Plan) -> Fraction:
    """What unknown keys cost: once per grouping set that has some."""
    unknown = [keys for keys in plan.grouping.sets if not all(plan.grouping.keys[k].known for k in keys)]
    if not unknown:
        return Fraction(0)
    single: Fraction | None = plan.source.limits.max_delta
    if single is None:
        single = Fraction(plan.dataset.delta_limit) * DELTA_PART
    if single == 0:
        raise RefusedShapeError(
            f"this question needs delta for groups that are not declared; dataset {plan.dataset.name} has none",
            "A curator can declare the groups:"
            " SELECT discreet.describe_column(table, column, categories => ARRAY[…]);"
            " a new dataset can have delta: discreet.create_dataset(name, epsilon, delta).",
        )
    return single * len(unknown)


def terms_of(plan: Plan, price: Price | None, delta: Fraction) -> list[Terms]:
    keys, sets = plan.grouping.keys, plan.grouping.sets
    unknown = sum(not all(keys[k].known for k in some) for some in sets)
    prices = [None] * len(sets) if price is None else divided(plan, price)
    return [Terms.of(plan, one, delta / max(unknown, 1), some) for one, some in zip(prices, sets, strict=True)]


def divided(plan: Plan, price: Price) -> list[Price]:
    """The price of each grouping set, of as many times the price: even, or where numbers add up, most for the total.

    What is read first is the grand total, and what most numbers are of is the finest set; those between are estimated
    from both sides (gate/consistent.py). With independent noise in each set, half of the error for the total and none
    above that of even shares exclude each other under a pure price: the total then costs so much that subtotals have up
    to 1.6 of that. It depends on the text and the dataset alone.
    """
    sets = [frozenset(keys) for keys in plan.grouping.sets]
    if not plan.adds_up or frozenset() not in sets:
        return [price] * len(sets)
    finest = [keys for keys in sets if not any(keys < other for other in sets)]
    between = len(sets) - len(finest) - 1
    of_finest, of_subtotals = OF_FINEST, OF_SUBTOTALS
    if price.accounting is Accounting.PURE and between > 1 and is_chain(sets):
        of_finest, of_subtotals = OF_ITS_FINEST, (len(sets) - OF_ITS_FINEST - OF_ROLLED_UP) / between
    parts = {keys: of_finest if keys in finest else of_subtotals for keys in sets if keys}
    of_total = len(sets) - sum(parts.values(), Fraction(0))
    largest = LARGEST_EPSILON if price.accounting is Accounting.PURE else LARGEST_EPSILON**2 / 2
    if of_total * price.amount > largest:
        return [price] * len(sets)
    return [replace(price, amount=price.amount * parts.get(keys, of_total)) for keys in sets]


def is_chain(sets: Sequence[frozenset[int]]) -> bool:
    """Whether each set is a part of the next, as in a ROLLUP."""
    ordered = sorted(sets, key=len)
    return all(one < other for one, other in pairwise(ordered))


def price_of(plan: Plan, worth: Fraction) -> Price:
    """What an epsilon buys of measurements, in the dataset's currency: all but what tells of people who were cut."""
    price = Price.of(worth, plan.dataset.accounting)
    return replace(price, amount=price.amount * (1 - plan.diagnosed)) if plan.diagnosed else price


def full_amount(plan: Plan, worth: Fraction) -> Fraction:
    """What an epsilon costs, in the currency of the dataset."""
    return Price.of(worth, plan.dataset.accounting).amount if plan.sharing else Fraction(0)
