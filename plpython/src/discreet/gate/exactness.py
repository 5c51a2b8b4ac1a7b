"""How exact an answer is: from text and catalog alone, or from numbers already released.

A half-width is a promise about one number of the answer: with a probability of at least 95 % it lies within it of the
bounded exact answer, that is the same question over values clamped to their bounds and put on the grid, with no more
rows and groups per person than the policy allows. Why it holds: where m noisy numbers come in, each stays within its
own half-width for 1 - 0.05 / m, so all of them do with 95 %, whether they are independent or not; and then the
arithmetic around them can do no more harm than its weights say (propagation.py).

The promise is about noise, drawn before anybody looks. It does not hold for numbers that are picked out because they
turned out large: in groups that pass a threshold by luck, or behind HAVING and ORDER BY … LIMIT. And it leaves the last
of at least 15 digits to the arithmetic of numeric and double precision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

from discreet.dp.additive import DiscreteGaussian, DiscreteLaplace
from discreet.dp.exact import decimal_above
from discreet.dp.price import Accounting
from discreet.dp.quantile import is_tail
from discreet.gate.aggregates import Aggregate
from discreet.gate.measurements import Measurement, Quantity
from discreet.gate.plan import Plan
from discreet.gate.printer import printed
from discreet.gate.propagation import TYPES, Dependence, NumberType
from discreet.gate.terms import Terms
from discreet.gate.tree import Expression

MISSED = Fraction(5, 100)
# dp.exact.readable rounds a number to less than a thousandth of the scale of its noise, to either side
ROUNDED = Fraction(1, 2000)
ADDITIVE = {Accounting.PURE: "discrete Laplace", Accounting.ZCDP: "discrete Gaussian"}


@dataclass(frozen=True)
class Bound:
    """A half-width: `fixed`, plus for each average `share` / n, but no more than `most`.

    n is the released number of its values, which stands under the number of the aggregate. `unknown`: why there is no
    half-width, not even after the answer.
    """

    fixed: Fraction = Fraction(0)
    averages: tuple[tuple[int, Fraction, Fraction], ...] = ()
    unknown: str | None = None

    def before(self) -> Fraction | None:
        """What is known of it without an answer."""
        return None if self.averages or self.unknown else self.fixed

    def after(self, counts: Mapping[int, int]) -> Fraction | None:
        """What it is where so many values are released for each average."""
        if self.unknown:
            return None
        return self.fixed + sum(min(share / max(counts[n], 1), most) for n, share, most in self.averages)

    @property
    def why(self) -> str | None:
        """Why there is none before the answer, or what it will be."""
        if self.unknown or not self.averages:
            return self.unknown
        if len(self.averages) > 1:
            return "depends on the numbers of values of several averages"
        ((_, share, _),) = self.averages
        formula = f"{written(share)} / n" if not self.fixed else f"{written(self.fixed)} + {written(share)} / n"
        return f"depends on the number of values: at most {formula}, where n is their released number"


def bound_of(error: Dependence, aggregates: Sequence[Aggregate], terms: Terms) -> Bound:
    """The half-width of whatever depends on aggregates in this way."""
    involved = [(number, weight, aggregates[number]) for number, weight in error.weights]
    for _, _, aggregate in involved:
        if aggregate.kind not in BOUNDED:
            return Bound(unknown=no_bound(aggregate, terms))
    measurements = numbers_in(aggregate for _, _, aggregate in involved)
    level = 1 - MISSED / max(len(measurements), 1)
    widths = {measurement: half_width(terms.noise(measurement), level) for measurement in measurements}
    fixed, averages = error.slack, []
    for number, weight, aggregate in involved:
        if aggregate.kind == "avg":
            share, most = average_off_by(aggregate, widths, terms)
            averages.append((number, share * weight, most * weight))
        else:
            fixed += weight * off_by(aggregate, widths, terms)
    return Bound(fixed, tuple(averages))


@lru_cache(maxsize=64)
def half_width(noise: DiscreteLaplace | DiscreteGaussian, level: Fraction) -> int:
    """Kept: adding up the weights of a Gaussian takes milliseconds, and many columns want the same."""
    return noise.half_width(level)


def numbers_in(aggregates: Iterable[Aggregate]) -> list[Measurement]:
    return list(dict.fromkeys(m for aggregate in aggregates for m in aggregate.measurements))


def off_by(aggregate: Aggregate, widths: Mapping[Measurement, int], terms: Terms) -> Fraction:
    """The most that a count or sum is off when its measurements are within these widths.

    That a count is never shown below 0, where the truth is not either, takes nothing away from the truth.
    """
    if aggregate.kind == "count":
        return Fraction(widths[aggregate.measurements[0]])
    grid, last = aggregate.grid, aggregate.measurements[-1]
    assert grid is not None
    shown = Fraction(1, 2) if TYPES.get(aggregate.result_type) is NumberType.WHOLE else Fraction(0)
    rounded = terms.noise(last).spread * ROUNDED
    if aggregate.kind == "sum":
        return (widths[last] + rounded) * grid.step + shown
    # half the centred sum, plus half of lower + upper for each value
    of_count = abs(grid.lower + grid.upper) * widths[aggregate.measurements[0]]
    return (of_count + widths[last] + rounded) * grid.step / 2 + shown


def average_off_by(aggregate: Aggregate, widths: Mapping[Measurement, int], terms: Terms) -> tuple[Fraction, Fraction]:
    """The most that an average is off, as a share of the released number of values, and in any case.

    With the centred sum C and the number N of values, of which C' and n are released: C'/n - C/N is
    (C' - C)/n + (C/N) (N - n)/n, and C/N, twice the distance from the middle of the bounds, is at most their width.
    A released number below 1 is taken for 1, which is nearer to every N there is an average of. Both averages lie
    within the bounds: putting C'/n there brings it nearer to C/N, and they differ by no more than the width.
    """
    count, centred = aggregate.measurements
    grid = aggregate.grid
    assert grid is not None
    rounded = terms.noise(centred).spread * ROUNDED
    return (widths[centred] + grid.width * widths[count] + rounded) * grid.step / 2, grid.width * grid.step


BOUNDED = ("count", "sum", "sum_of_parts", "avg")


def no_bound(aggregate: Aggregate, terms: Terms) -> str:
    (measurement, *_) = aggregate.measurements
    if measurement.bins is None:
        return f"how far a {aggregate.kind.removesuffix('_pop')} is off depends on the data"
    found = terms.choice(measurement)
    # some bin holds the rank asked for, and has no loss; near an end, a rank some way inside is asked for
    ranks = found.half_width(measurement.bins.number)
    if is_tail(found.fraction):
        ranks += found.least_rank(measurement.bins.number)
    return f"chosen by rank: with 95 % no more than {ranks} ranks away; how far that is depends on the data"


def written(number: Fraction, digits: int = 6) -> str:
    """A decimal of so many digits that is not less."""
    return format(decimal_above(number, digits).normalize(), "f")


def about(number: Fraction) -> str:
    """A decimal of six digits that is near."""
    return format(Context(prec=6).divide(Decimal(number.numerator), Decimal(number.denominator)).normalize(), "f")


@dataclass(frozen=True)
class Exactness:
    """What can be said of one column of an answer before it is given."""

    column: str
    mechanism: str
    scale: Fraction | None = None
    error: Fraction | None = None
    why: str | None = None

    def told(self) -> dict[str, str | None]:
        shown = {
            "column": self.column,
            "mechanism": self.mechanism,
            "scale": None if self.scale is None else about(self.scale),
            "error_95": None if self.error is None else written(self.error),
        }
        return shown | ({} if self.why is None else {"why": self.why})


def exactness(plan: Plan, terms: Sequence[Terms]) -> list[Exactness]:
    """Of every column; `terms` are those of the grouping sets, of which the one with most noise counts."""
    noisiest = max(terms, key=lambda some: some.reach)
    return [of_column(column, part, plan, noisiest) for column, part in plan.columns]


def of_column(column: str, part: Dependence, plan: Plan, terms: Terms) -> Exactness:
    zero = Fraction(0)
    if part.unknown is not None:
        return Exactness(column, "post-processing", why=part.unknown)
    if part.key is not None and plan.grouping.keys[part.key].domain is None:
        return Exactness(column, "threshold", zero, zero, "a group is shown when enough people share it")
    if part.exact:
        return Exactness(column, "exact", zero, zero)
    involved = [plan.aggregates[number] for number, _ in part.weights]
    mechanism = " and ".join(dict.fromkeys(mechanism_of(aggregate, terms) for aggregate in involved))
    bound = bound_of(part, plan.aggregates, terms)
    why = bound.why
    if why is None and len(numbers_in(involved)) > 1:
        why = f"made of {len(numbers_in(involved))} noisy numbers"
    return Exactness(column, mechanism, scale_of(part, plan, terms), bound.before(), why)


def mechanism_of(aggregate: Aggregate, terms: Terms) -> str:
    chosen = aggregate.measurements[0].quantity is Quantity.QUANTILE
    return "exponential choice" if chosen else ADDITIVE[Accounting(terms.accounting)]


def scale_of(part: Dependence, plan: Plan, terms: Terms) -> Fraction | None:
    """The scale of the noise in the unit of the column; there is one where it is made of one noisy number."""
    if len(part.weights) != 1:
        return None
    ((number, weight),) = part.weights
    aggregate = plan.aggregates[number]
    if aggregate.kind not in ("count", "sum"):
        return None
    (measurement,) = aggregate.measurements
    return weight * unit(measurement) * terms.noise(measurement).spread


def unit(measurement: Measurement) -> Fraction:
    """What one step of a measurement is in the unit of its argument: centred sums are twice sums."""
    grid = measurement.subject.grid
    step = Fraction(1) if grid is None else grid.step
    return {Quantity.TOTAL: step, Quantity.CENTRED: step / 2, Quantity.SQUARES: step**2 / 4}.get(
        measurement.quantity, Fraction(1)
    )


def widest_error(plan: Plan, terms: Sequence[Terms]) -> Fraction | None:
    """The largest half-width that is known before the answer; None where none is."""
    found = zip(exactness(plan, terms), plan.columns, strict=True)
    errors = [column.error for column, (_, part) in found if column.error is not None and not part.exact]
    return max(errors, default=None)


def errors_told(plan: Plan, terms: Sequence[Terms], rows: Sequence[Sequence[object]]) -> list[str]:
    """Of every noisy column, how exact it is in the rows that were released: count ±30, avg ±2 to ±7."""
    first = len(plan.grouping.keys) + len(plan.aggregates)
    told = []
    for found, (_, part) in zip(exactness(plan, terms), plan.columns, strict=True):
        if part.exact:
            continue
        widths = [] if found.error is None else [found.error]
        if part.unknown is None:
            place = first + plan.errors.index(part.error)
            texts = {str(row[place]) for row in rows if row[place] is not None}
            widths = [Fraction(text) for text in texts] or widths
        ends = dict.fromkeys(written(end, 3) for end in (min(widths), max(widths))) if widths else {}
        told.append(f"{found.column} " + (" to ".join(f"±{end}" for end in ends) or "not known"))
    return told


def groups_told(plan: Plan, terms: Sequence[Terms]) -> list[dict[str, object]]:
    """How the groups of every grouping set are released."""
    names = {part.key: name for name, part in plan.columns if part.key is not None}
    told: list[dict[str, object]] = []
    for keys, some in zip(plan.grouping.sets, terms, strict=True):
        by: dict[str, object] = {"by": [names.get(key, f"key {key + 1}") for key in keys]}
        if not keys:
            by["released"] = "one group of all"
        elif all(plan.grouping.keys[key].domain is not None for key in keys):
            by["released"] = "declared categories: every group is shown, also without people"
        else:
            release = some.threshold()
            by["released"] = "threshold: a group is shown when the noisy number of its people reaches it"
            by["threshold"] = release.threshold
            # noise below -w is as rare as noise above w
            by["people_shown_95"] = release.threshold + release.half_width(1 - 2 * MISSED)
        told.append(by)
    return told


def sql_of(part: Expression | None) -> str | None:
    return None if part is None else printed(part)


def sensitivities(plan: Plan, terms: Sequence[Terms]) -> list[dict[str, object]]:
    """The most that one person changes each measurement, in the unit of its argument (of quantiles: in ranks)."""
    told: list[dict[str, object]] = []
    for measurement in plan.measurements:
        if measurement.fraction is not None:
            choices = [(some.choice(measurement), Fraction(some.total, some.rows)) for some in terms]
            per_group = max(Fraction(found.choice.sensitivity, found.unit) for found, _ in choices)
            in_all = max(Fraction(found.choice.sensitivity, found.unit) * groups for found, groups in choices)
        else:
            per_group = max(some.in_group(measurement) for some in terms) * unit(measurement)
            in_all = max(some.in_all(measurement) * some.acts for some in terms) * unit(measurement)
            if measurement.changed is not None:
                per_group = in_all = measurement.changed * unit(measurement)
        told.append(
            {
                "measures": measurement.quantity.value,
                "of": sql_of(measurement.subject.argument),
                "where": sql_of(measurement.subject.condition),
                "per_group": written(per_group),
                "groups": max(some.reach for some in terms),
                "in_all": written(in_all),
            }
        )
    return told
