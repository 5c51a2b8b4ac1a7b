"""Stage release: group totals become noisy numbers, each drawn exactly once; the answer is put together from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product

from discreet.dp.additive import DiscreteGaussian, DiscreteLaplace, additive_noise
from discreet.dp.estimate import Kind, assemble
from discreet.dp.exact import decimal_above, readable, sqrt_above
from discreet.dp.price import Accounting, Price
from discreet.dp.quantile import QuantileChoice
from discreet.dp.sensitivity import Neighbours
from discreet.dp.threshold import ThresholdedRelease
from discreet.gate.aggregates import Aggregate
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.plan import Plan
from discreet.gate.refusal import refuse

MOST_GROUPS = 10_000
# of bins, in all groups: choosing among so many takes about half a minute, in which nothing can be cancelled
MOST_CANDIDATES = 10_000_000
EPOCH = datetime(1970, 1, 1)
BITS = {"int8": 64, "bigint": 64, "integer": 32, "smallint": 16}
LAST_REAL, LEAST_REAL = Decimal("3.4e38"), Decimal("1.2e-38")
EACH_OF_TWO = Fraction(975, 1000)

Group = tuple[str | None, ...]
Totals = Mapping[Measurement, int | Sequence[int]]
Noise = DiscreteLaplace | DiscreteGaussian


@dataclass(frozen=True)
class Terms:
    """What a question pays, per grouping set, and what that covers: `reach` groups that one person can change.

    The price is split evenly over the `measurements` that have no epsilon of their own, and is None where all have;
    what is charged is the sum of all (sequential composition). Noise of one measurement is calibrated to the whole
    vector of its groups: one person changes at most `reach` of them by at most the sensitivity each, that is
    reach · s in L1 and √reach · s in L2. Under bounded neighbours a change is a removal plus an addition: twice as
    many groups.
    """

    price: Price | None
    delta: Fraction
    reach: int
    rows: int
    single: bool
    measurements: int
    accounting: str

    @classmethod
    def of(cls, plan: Plan, price: Price | None, delta: Fraction, keys: tuple[int, ...]) -> Terms:
        limits = plan.source.limits
        groups = limits.max_groups if keys and not plan.source.single else 1
        doubled = 2 if plan.dataset.neighbours == Neighbours.BOUNDED else 1
        rows = 1 if plan.source.single else limits.max_rows
        return cls(price, delta, groups * doubled, rows, plan.source.single, plan.sharing, plan.dataset.accounting)

    @property
    def share(self) -> Price:
        assert self.price is not None
        return self.price.split(self.measurements)[0]

    def price_of(self, measurement: Measurement) -> Price:
        return self.share if measurement.own is None else measurement.own.price(self.accounting)

    def noise(self, measurement: Measurement) -> Noise:
        sensitivity = Fraction(measurement.sensitivity(self.rows, self.single))
        price = self.price_of(measurement)
        pure = price.accounting is Accounting.PURE
        whole = sensitivity * self.reach if pure else sensitivity * sqrt_above(Fraction(self.reach))
        return additive_noise(whole, price, self.reach)

    def threshold(self) -> ThresholdedRelease:
        return ThresholdedRelease(self.share, self.delta, self.reach)

    def choice(self, measurement: Measurement) -> QuantileChoice:
        assert measurement.fraction is not None
        price = self.price_of(measurement).split(self.reach)[0]
        return QuantileChoice.of(measurement.fraction, price, rows=self.rows)

    def check(self, measurement: Measurement) -> None:
        """Raises what measuring would raise, before anything is paid."""
        if measurement.quantity is Quantity.QUANTILE:
            self.choice(measurement)
        else:
            self.noise(measurement)


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
    candidates = size * sum(m.bins.number for m in plan.measurements if m.bins is not None)
    if candidates > MOST_CANDIDATES:
        refuse(f"quantiles of {size} groups", None, "Ask for fewer groups, or fewer quantiles at once.")
    return list(product(*domains))


def measure(plan: Plan, terms: Terms, known: list[Group] | None, found: Mapping[Group, Totals]) -> list[list[object]]:
    """The rows of the answer: keys, the released number of each aggregate, the 95 % half-width of each."""
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
    rows: list[list[object]] = []
    for group in sorted(groups, key=lambda keys: [(key is None, key or "") for key in keys]):
        numbers: list[object] = []
        widths: list[object] = []
        for aggregate in plan.aggregates:
            if aggregate.measurements[0].quantity is Quantity.QUANTILE:
                numbers.append(quantile(aggregate, terms, found.get(group, {})))
                widths.append(None)
                continue
            parts = tuple(released[m][group] for m in aggregate.measurements)
            spreads = tuple(noises[m].spread for m in aggregate.measurements)
            numbers.append(shown(aggregate, put_together(aggregate, parts, spreads)))
            width = half_width(aggregate, terms, parts[0])
            widths.append(None if width is None else format(width, "f"))
        rows.append([*group, *numbers, *widths])
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
    bins = measurement.bins
    assert bins is not None
    counts = totals.get(measurement, [0] * bins.number)
    assert not isinstance(counts, int)
    return shown(aggregate, bins.value(terms.choice(measurement).release(counts)))


def shown(aggregate: Aggregate, number: Decimal | int) -> str:
    """The number as a text of the aggregate's type; with noise it may be beyond the last number that this type has."""
    kind = aggregate.result_type
    if kind in BITS:
        last = 2 ** (BITS[kind] - 1) - 1
        return str(min(max(round(number), -last), last))
    if kind == "real":
        held = min(max(Decimal(number), -LAST_REAL), LAST_REAL)
        return str(held if abs(held) >= LEAST_REAL else 0)
    if kind == "date":
        return (EPOCH + within_years(timedelta(days=1), round(number))).date().isoformat()
    if kind.startswith("timestamp"):
        return (EPOCH + within_years(timedelta(seconds=1), float(number))).isoformat(sep=" ")
    return str(number)


def within_years(step: timedelta, steps: float) -> timedelta:
    """So many steps from 1970 on, up to the years 1 and 9999."""
    first, last = (datetime.min - EPOCH) / step, (datetime(9999, 12, 31) - EPOCH) / step
    return step * min(max(steps, first), last)


def half_widths(plan: Plan, terms: Terms) -> list[Decimal | None]:
    """Of each aggregate, within how much of the truth it is with 95 %; None where that depends on the group."""
    return [half_width(aggregate, terms, None) for aggregate in plan.aggregates]


def half_width(aggregate: Aggregate, terms: Terms, count: int | None) -> Decimal | None:
    """For a group of `count` values, which is itself a released number.

    Where two noisy numbers come in, each stays within its own half-width with 97.5 %, both with 95 %. None where
    nothing is known: variances and quantiles depend on the data.
    """
    grid = aggregate.grid
    if aggregate.kind == "count":
        return Decimal(terms.noise(aggregate.measurements[0]).half_width())
    if aggregate.kind == "sum" and grid is not None:
        return decimal_above(terms.noise(aggregate.measurements[0]).half_width() * grid.step, 6)
    if aggregate.kind not in ("avg", "sum_of_parts") or grid is None:
        return None
    of_count, of_sum = (terms.noise(m).half_width(EACH_OF_TWO) for m in aggregate.measurements)
    if aggregate.kind == "sum_of_parts":
        return decimal_above(Fraction(of_sum + abs(grid.lower + grid.upper) * of_count, 2) * grid.step, 6)
    if count is None:
        return None
    certain = count - 2 * of_count
    bound = Fraction(of_sum + of_count * grid.width, 2 * certain) if certain > 0 else Fraction(grid.width)
    return decimal_above(min(bound, Fraction(grid.width)) * grid.step, 6)
