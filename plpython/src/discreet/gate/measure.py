"""Stage release: group totals become noisy numbers, each drawn exactly once; the answer is put together from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product

from discreet.dp.additive import DiscreteGaussian, DiscreteLaplace, additive_noise
from discreet.dp.choice import ExponentialChoice
from discreet.dp.estimate import Kind, assemble, bin_value, quantile_losses
from discreet.dp.exact import decimal_above, readable, sqrt_above
from discreet.dp.price import Accounting, Price
from discreet.dp.sensitivity import Neighbours, quantile_sensitivity
from discreet.dp.threshold import ThresholdedRelease
from discreet.dp.totals import Histogram
from discreet.gate.aggregates import Aggregate
from discreet.gate.exactness import bound_of, written
from discreet.gate.measurements import BINS, Measurement, Quantity, Subject
from discreet.gate.plan import Plan
from discreet.gate.refusal import refuse

MOST_GROUPS = 10_000
EPOCH = datetime(1970, 1, 1)
BITS = {"int8": 64, "bigint": 64, "integer": 32, "smallint": 16}

Group = tuple[str | None, ...]
Totals = Mapping[Measurement, int | Sequence[int]]
Noise = DiscreteLaplace | DiscreteGaussian


@dataclass(frozen=True)
class Terms:
    """What a question pays, per grouping set, and what that covers: `reach` groups that one person can change.

    The price is split evenly over the measurements. Noise of one measurement is calibrated to the whole vector of its
    groups: one person changes at most `reach` of them by at most the sensitivity each, that is reach · s in L1 and
    √reach · s in L2. Under bounded neighbours a change is a removal plus an addition: twice as many groups.
    """

    price: Price
    delta: Fraction
    reach: int
    rows: int
    single: bool
    measurements: int

    @classmethod
    def of(cls, plan: Plan, price: Price, delta: Fraction, keys: tuple[int, ...]) -> Terms:
        limits = plan.source.limits
        groups = limits.max_groups if keys and not plan.source.single else 1
        doubled = 2 if plan.dataset.neighbours == Neighbours.BOUNDED else 1
        rows = 1 if plan.source.single else limits.max_rows
        return cls(price, delta, groups * doubled, rows, plan.source.single, len(plan.measurements))

    @property
    def share(self) -> Price:
        return self.price.split(self.measurements)[0]

    def noise(self, measurement: Measurement) -> Noise:
        sensitivity = Fraction(measurement.sensitivity(self.rows, self.single))
        pure = self.price.accounting is Accounting.PURE
        whole = sensitivity * self.reach if pure else sensitivity * sqrt_above(Fraction(self.reach))
        return additive_noise(whole, self.share, self.reach)

    def threshold(self) -> ThresholdedRelease:
        return ThresholdedRelease(self.share, self.delta, self.reach)

    def choice(self, fraction: Fraction) -> ExponentialChoice:
        sensitivity = quantile_sensitivity(fraction, Neighbours.UNBOUNDED, False) * self.rows
        return ExponentialChoice(sensitivity, self.share.split(self.reach)[0])


def domain_groups(plan: Plan, keys: tuple[int, ...], texts: Mapping[int, Sequence[str]]) -> list[Group] | None:
    """All combinations of keys that are known (`texts`: as the server writes them); None when some are not."""
    domains: list[Sequence[str | None]] = []
    for position, key in enumerate(plan.grouping.keys):
        if position not in keys:
            domains.append([None])
        elif key.domain is None:
            return None
        else:
            domains.append(texts[position])
    size = 1
    for domain in domains:
        size *= len(domain)
    if size > MOST_GROUPS:
        refuse(
            f"a table of {size} groups",
            None,
            f"At most {MOST_GROUPS} groups of declared categories are answered at once.",
        )
    return list(product(*domains))


def measure(plan: Plan, terms: Terms, known: list[Group] | None, found: Mapping[Group, Totals]) -> list[list[object]]:
    """The rows of the answer: keys, the released number of each aggregate, the 95 % half-widths that the plan wants."""
    people = Measurement(Quantity.PEOPLE, Subject())
    released: dict[Measurement, dict[Group, int]] = {}
    if known is None:
        present = {group: integer(totals.get(people, 0)) for group, totals in found.items()}
        released[people] = terms.threshold().release(present)
        groups = list(released[people])
    else:
        groups = known
    noises: dict[Measurement, Noise] = {}
    for measurement in plan.measurements:
        if measurement.quantity is not Quantity.QUANTILE:
            noises[measurement] = terms.noise(measurement)
            if measurement not in released:
                exact = [integer(found.get(group, {}).get(measurement, 0)) for group in groups]
                noisy = noises[measurement].release_many(exact)
                released[measurement] = dict(zip(groups, noisy, strict=True))
    alias = Measurement(Quantity.ROWS, Subject())
    if alias not in released and people in released:
        released[alias], noises[alias] = released[people], noises[people]
    bounds = [bound_of(error, plan.aggregates, terms) for error in plan.errors]
    rows: list[list[object]] = []
    for group in sorted(groups, key=lambda keys: [(key is None, key or "") for key in keys]):
        numbers: list[object] = []
        counts: dict[int, int] = {}
        for number, aggregate in enumerate(plan.aggregates):
            if aggregate.kind == "quantile":
                numbers.append(quantile(aggregate, terms, found.get(group, {})))
                continue
            parts = tuple(released[m][group] for m in aggregate.measurements)
            spreads = tuple(noises[m].spread for m in aggregate.measurements)
            numbers.append(shown(aggregate, put_together(aggregate, parts, spreads)))
            counts[number] = parts[0]
        errors = [bound.after(counts) for bound in bounds]
        rows.append([*group, *numbers, *(None if error is None else written(error) for error in errors)])
    return rows


def integer(total: int | Sequence[int]) -> int:
    assert isinstance(total, int)
    return total


def put_together(aggregate: Aggregate, parts: tuple[int, ...], spreads: tuple[Fraction, ...]) -> Decimal | int:
    grid = aggregate.grid
    if aggregate.kind == "count":
        return max(parts[0], 0)
    assert grid is not None
    if aggregate.kind == "sum":
        return assemble(Kind.SUM, grid, parts, spreads)
    if aggregate.kind == "sum_of_parts":
        total = Fraction(parts[1] + (grid.lower + grid.upper) * parts[0], 2) * grid.step
        return readable(total, spreads[1] * grid.step / 2)
    if aggregate.kind == "avg":
        return assemble(Kind.AVG, grid, parts, spreads)
    kind = Kind.STDDEV if aggregate.kind.startswith("stddev") else Kind.VARIANCE
    variance = assemble(Kind.VARIANCE, grid, parts, spreads)
    if not aggregate.kind.endswith("_pop"):
        return assemble(kind, grid, parts, spreads)
    n = max(parts[0], 1)
    population = Fraction(variance) * (n - 1) / n
    return decimal_above(sqrt_above(population) if kind is Kind.STDDEV else population, 6)


def quantile(aggregate: Aggregate, terms: Terms, totals: Totals) -> str:
    (measurement,) = aggregate.measurements
    grid = aggregate.grid
    assert grid is not None and measurement.fraction is not None
    held = totals.get(measurement, [0] * BINS)
    assert not isinstance(held, int)
    histogram = Histogram(tuple(held), grid.lower * grid.step, grid.upper * grid.step)
    chosen = terms.choice(measurement.fraction).release(quantile_losses(histogram, measurement.fraction))
    return shown(aggregate, bin_value(histogram, chosen))


def shown(aggregate: Aggregate, number: Decimal | int) -> str:
    """The number as a text of the aggregate's type; with noise it may be beyond the last number that this type has."""
    kind = aggregate.result_type
    if kind in BITS:
        last = 2 ** (BITS[kind] - 1) - 1
        return str(min(max(round(number), -last), last))
    if kind == "date":
        return (EPOCH + within_years(timedelta(days=1), round(number))).date().isoformat()
    if kind.startswith("timestamp"):
        return (EPOCH + within_years(timedelta(seconds=1), float(number))).isoformat(sep=" ")
    return str(number)


def within_years(step: timedelta, steps: float) -> timedelta:
    """So many steps from 1970 on, up to the years 1 and 9999."""
    first, last = (datetime.min - EPOCH) / step, (datetime(9999, 12, 31) - EPOCH) / step
    return step * min(max(steps, first), last)
