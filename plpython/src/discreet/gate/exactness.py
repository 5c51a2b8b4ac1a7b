"""How exact an answer is: from text and catalog alone, or from numbers already released.

A half-width is a promise about one number of the answer: with a probability of at least 95 % it lies within it of the
bounded exact answer, that is the same question over values clamped to their bounds and put on the grid, with no more
rows and groups per person than the policy allows. Why it holds: where m noisy numbers come in, each stays within its
own half-width for 1 - 0.05 / m, so all of them do with 95 %, whether they are independent or not; and then the
arithmetic around them can do no more harm than its weights say (propagation.py).

The promise is about noise, drawn before the analyst looks. It does not hold for numbers that are picked because they
turned out large: in groups that pass a threshold by luck, or behind HAVING and ORDER BY … LIMIT. And it leaves the last
of at least 15 digits to the arithmetic of numeric and double precision.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from types import MappingProxyType

from discreet.dp.combined import CombinedNoise
from discreet.dp.exact import decimal_above, sqrt_above
from discreet.dp.grid import Grid
from discreet.dp.mode import ModeChoice
from discreet.dp.price import Accounting
from discreet.dp.quantile import END_MISSED, QuantileChoice, is_tail
from discreet.dp.sampling import PoissonSample
from discreet.gate.aggregates import Aggregate
from discreet.gate.bins import CalendarBins, LogarithmicBins
from discreet.gate.known import kept_with_plan
from discreet.gate.measurements import Measurement, Quantity
from discreet.gate.plan import Plan
from discreet.gate.printer import printed
from discreet.gate.propagation import TYPES, Dependence, NumberType
from discreet.gate.spans import span_text
from discreet.gate.terms import Noise, Terms
from discreet.gate.tree import Expression

MISSED = Fraction(5, 100)
# dp.exact.readable rounds a number to less than a thousandth of the scale of its noise, to either side
ROUNDED = Fraction(1, 2000)
MADE_OF_MARGINS = "made of several noisy numbers: comes with the answer"
ADDITIVE = {Accounting.PURE: "discrete Laplace", Accounting.ZCDP: "discrete Gaussian"}
JOINT = "joint noise (K-norm)"


@dataclass(frozen=True)
class SampledPart:
    """How far an aggregate of a sample is off: `fixed`, by noise, and `weight` times what the sample does to the number
    of aggregate `number`; of an average, that divided by the number, but no more than `cap`.

    `most`: what a person adds to the number, which is off by `noise` besides; `missed`: the chance of each.
    """

    sample: PoissonSample
    number: int
    fixed: Fraction
    weight: Fraction
    most: Fraction
    noise: Fraction
    missed: Fraction
    cap: Fraction | None = None

    def off_by(self, released: int) -> Fraction:
        found = self.fixed + self.weight * self.sample.half_width(released, self.most, self.noise, self.missed)
        return found if self.cap is None else min(found / max(released, 1), self.cap)


@dataclass(frozen=True)
class Bound:
    """A half-width: `fixed`, plus for each average `share` / n, but no more than `most`, plus for each of `ranged` its
    weight times how far its number can be from the exact one (ranges.py), given `widths` of noise.

    n is the released number of its values, which stands under the number of the aggregate. `rows`: it is no half-width
    but a number of rows, of what is chosen or decided. `unknown`: why there is none, not even after the answer.
    """

    fixed: Fraction = Fraction(0)
    averages: tuple[tuple[int, Fraction, Fraction], ...] = ()
    ranged: tuple[tuple[int, Fraction], ...] = ()
    widths: Mapping[Measurement, int] = field(default_factory=dict)
    rows: str | None = None
    unknown: str | None = None
    sampled: tuple[SampledPart, ...] = ()

    @property
    def numbers(self) -> list[int]:
        """The aggregates whose released number it depends on."""
        return list(dict.fromkeys([*(number for number, _, _ in self.averages), *(s.number for s in self.sampled)]))

    def before(self) -> Fraction | None:
        """What is known of it without an answer."""
        return None if self.numbers or self.ranged or self.unknown else self.fixed

    def after(self, counts: Mapping[int, int]) -> Fraction | None:
        """What it is, `ranged` aside, where so many values are released for each average."""
        if self.unknown:
            return None
        by_sample = sum((part.off_by(counts[part.number]) for part in self.sampled), Fraction(0))
        return by_sample + self.fixed + sum(min(share / max(counts[n], 1), most) for n, share, most in self.averages)

    @property
    def why(self) -> str | None:
        """Why there is none before the answer, or what it will be."""
        if self.unknown or self.rows:
            return self.unknown or self.rows
        if self.sampled:
            return "depends on the released numbers: noise and the sample add up"
        if self.ranged:
            return "depends on the released numbers: comes with the answer"
        if not self.averages:
            return None
        if len(self.averages) > 1:
            return "depends on the numbers of values of several averages"
        ((_, share, _),) = self.averages
        formula = f"{written(share)} / n" if not self.fixed else f"{written(self.fixed)} + {written(share)} / n"
        return f"depends on the number of values: at most {formula}, where n is their released number"


def noise_missed(aggregates: Iterable[Aggregate]) -> Fraction:
    """How often the noise of these aggregates together may miss: all, but for what ends of quantiles miss by choice."""
    return MISSED - END_MISSED * sum(m.side is not None for m in numbers_in(aggregates))


def widths_of(aggregates: Sequence[Aggregate], terms: Terms, missed: Fraction, more: int = 0) -> dict[Measurement, int]:
    """How far each number that takes noise is off, so that all are but with probability `missed`.

    `more`: other events that have the same part of it each.
    """
    added = [measurement for measurement in numbers_in(aggregates) if measurement.bins is None]
    level = 1 - missed / max(len(added) + more, 1)
    return {measurement: half_width(terms.stated_noise(measurement), level) for measurement in added}


def bound_of(error: Dependence, aggregates: Sequence[Aggregate], terms: Terms) -> Bound:
    """The half-width of whatever depends on aggregates in this way."""
    involved = [(number, weight, aggregates[number]) for number, weight in error.weights]
    for _, _, aggregate in involved:
        if aggregate.kind in CHOSEN:
            return chosen_bound(aggregate, terms)
        if is_searched(aggregate):
            return Bound(unknown="chosen by rank among bins that are not made for the column")
        if terms.sample is not None and aggregate.kind not in (*ADDED, "avg"):
            return Bound(unknown=f"how far a sample moves a {aggregate.kind} depends on the data")
    if terms.sample is not None:
        numbers = numbers_in(aggregate for _, _, aggregate in involved)
        return sampled_bound(error, involved, terms, terms.sample, MISSED / (2 * max(len(numbers), 1)))
    missed = noise_missed(aggregate for _, _, aggregate in involved)
    if missed <= 0:
        return Bound(unknown="made of so many quantiles that no interval holds with 95 %")
    widths = widths_of([aggregate for _, _, aggregate in involved], terms, missed)
    fixed, averages, ranged = error.slack, [], []
    for number, weight, aggregate in involved:
        if aggregate.kind == "avg":
            share, most = average_off_by(aggregate, widths, terms)
            averages.append((number, share * weight, most * weight))
        elif aggregate.kind in ADDED:
            fixed += weight * off_by(aggregate, widths, terms)
        else:
            ranged.append((number, weight))
    return Bound(fixed, tuple(averages), tuple(ranged), widths)


@kept_with_plan
def bounds_of_errors(plan: Plan, terms: Sequence[Terms]) -> list[Bound]:
    """The half-widths of the errors of the measured table, in one grouping set, whose terms are given."""
    (some,) = terms
    return [bound_of(error, plan.aggregates, some) for error in plan.errors]


def is_searched(aggregate: Aggregate) -> bool:
    """A quantile of a column of which no bounds are known (gate/suggest.py)."""
    return isinstance(aggregate.measurements[0].bins, LogarithmicBins | CalendarBins)


def sampled_bound(
    error: Dependence,
    involved: Sequence[tuple[int, Fraction, Aggregate]],
    terms: Terms,
    sample: PoissonSample,
    missed: Fraction,
) -> Bound:
    """The half-width of numbers that were scaled up from a sample: each may be off by its noise, and by the sample.

    The sum of the centred values 2 x - c of a person's rows, of which each lies within the width W of the bounds, has a
    square of at most W² most times the number of the rows: so the sample does no more to it than W times what it does
    to the number. Sums of values of both signs have no such number beside them.
    """
    parts = []
    for number, weight, aggregate in involved:
        first, last = aggregate.measurements[0], aggregate.measurements[-1]
        widths = {m: scaled_width(terms, m, sample, missed) for m in (first, last)}
        grid = aggregate.grid
        by_noise = weight * off_by(aggregate, widths, terms) if aggregate.kind != "avg" else Fraction(0)
        times, cap = weight, None
        if aggregate.kind != "count":
            assert grid is not None
            if aggregate.kind == "sum":
                times = weight * grid.step
                if grid.lower < 0:
                    return Bound(unknown="how far a sum of values of both signs is off by a sample depends on the data")
            elif aggregate.kind == "sum_of_parts":
                times = weight * (abs(grid.lower + grid.upper) + grid.width) * grid.step / 2
            else:
                share, most = average_off_by(aggregate, widths, terms)
                by_noise, times, cap = share * weight, weight * grid.width * grid.step, most * weight
        most_of_one = Fraction(terms.in_group(first))
        parts.append(SampledPart(sample, number, by_noise, times, most_of_one, Fraction(widths[first]), missed, cap))
    return Bound(error.slack, sampled=tuple(parts))


def scaled_width(terms: Terms, measurement: Measurement, sample: PoissonSample, missed: Fraction) -> int:
    """That of the noise, scaled to all people; scaling rounds."""
    return sample.scaled(half_width(terms.stated_noise(measurement), 1 - missed)) + 2


@lru_cache(maxsize=64)
def half_width(noise: Noise | CombinedNoise, level: Fraction) -> int:
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
    rounded = terms.stated_noise(last).spread * ROUNDED
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
    rounded = terms.stated_noise(centred).spread * ROUNDED
    return (widths[centred] + grid.width * widths[count] + rounded) * grid.step / 2, grid.width * grid.step


ADDED = ("count", "sum", "sum_of_parts")
DECISIONS = ("bool_and", "bool_or")
CHOSEN = (*DECISIONS, "mode")
RANKED = ("min", "max", "quantile")


def chosen_bound(aggregate: Aggregate, terms: Terms) -> Bound:
    """Of what is decided or chosen by a number of rows: how many rows more another choice would need, or have."""
    (measurement, *_) = aggregate.measurements
    if aggregate.kind in DECISIONS:
        rows = half_width(terms.stated_noise(measurement), 1 - MISSED)
        return Bound(
            Fraction(rows), rows=f"told apart from its opposite, with 95 %, where more than {rows} rows decide"
        )
    found = terms.choice(measurement)
    assert isinstance(found, ModeChoice) and measurement.bins is not None
    rows = found.half_width(measurement.bins.number)
    why = f"chosen by frequency: with 95 % it has no more than {rows} rows less than the most frequent value"
    return Bound(Fraction(rows), rows=why)


def ranks_off(measurement: Measurement, terms: Terms) -> int:
    """With 95 % a quantile is no more ranks than this away from the one asked for."""
    found = terms.choice(measurement)
    assert isinstance(found, QuantileChoice) and measurement.bins is not None
    # some bin holds the rank asked for, and has no loss; near an end, a rank some way inside is asked for
    ranks = found.half_width(measurement.bins.number)
    return ranks + (found.least_rank(measurement.bins.number) if is_tail(found.fraction) else 0)


def written(number: Fraction, digits: int = 6) -> str:
    """A decimal of so many digits that is not less."""
    return format(decimal_above(number, digits).normalize(), "f")


def about(number: Fraction) -> str:
    """A decimal of six digits that is near."""
    return format(Context(prec=6).divide(Decimal(number.numerator), Decimal(number.denominator)).normalize(), "f")


@dataclass(frozen=True)
class Exactness:
    """What can be said of one column of an answer before it is given. `rows`: the error is a number of rows, of what
    was chosen or decided. `unit`: that of the error, of dates and of lengths of time.
    """

    column: str
    mechanism: str
    scale: Fraction | None = None
    error: Fraction | None = None
    why: str | None = None
    rows: bool = False
    unit: str | None = None

    def told(self) -> dict[str, str | None]:
        return dict(self._told)

    @cached_property
    def _told(self) -> dict[str, str | None]:
        shown = {
            "column": self.column,
            "mechanism": self.mechanism,
            "scale": None if self.scale is None else about(self.scale),
            "error_95": None if self.error is None else written(self.error),
        }
        shown |= {} if self.unit is None else {"unit": self.unit}
        return shown | ({} if self.why is None else {"why": self.why})

    def in_words(self, half_width: str) -> str:
        """A half-width as people read it: ±30, ±2 days, ±1 day 4:30:00."""
        return in_words(half_width, self.unit)


@lru_cache(maxsize=256)
def in_words(half_width: str, unit: str | None) -> str:
    """Kept: most questions are asked again at the same price."""
    if half_width == UNLIMITED:
        return "unlimited"
    if unit == "seconds":
        return f"±{span_text(Fraction(math.ceil(Fraction(half_width))))}"
    return f"±{written(Fraction(half_width), 3)}" + ("" if unit is None else f" {unit}")


@kept_with_plan
def exactness(plan: Plan, terms: Sequence[Terms]) -> list[Exactness]:
    """Of every column; `terms` are those of the grouping sets, of which the one with most noise counts."""
    noisiest = max(terms, key=lambda some: (some.reach, 0 if some.price is None else -some.price.amount))
    return [
        Exactness(column, "post-processing", why=MADE_OF_MARGINS)
        if place in plan.margin_places
        else of_column(column, part, plan, noisiest)
        for place, (column, part) in enumerate(plan.columns)
    ]


def of_column(column: str, part: Dependence, plan: Plan, terms: Terms) -> Exactness:
    zero = Fraction(0)
    if part.unknown is not None:
        return Exactness(column, "post-processing", why=part.unknown)
    if part.key is not None and not plan.grouping.keys[part.key].known:
        return Exactness(column, "threshold", zero, zero, "a group is shown when enough people share it")
    if part.exact:
        return Exactness(column, "exact", zero, zero)
    involved = [plan.aggregates[number] for number, _ in part.weights]
    mechanism = " and ".join(dict.fromkeys(mechanism_of(aggregate, terms) for aggregate in involved))
    bound = bound_of(part, plan.aggregates, terms)
    why = bound.why
    ranks = [ranks_off(one.measurements[0], terms) for one in involved if one.kind in RANKED]
    if ranks and why is not None:
        interval = "the interval of values comes with the answer"
        why = f"chosen by rank: with 95 % no more than {max(ranks)} ranks away; {interval}"
    if why is None and len(numbers_in(involved)) > 1:
        why = f"made of {len(numbers_in(involved))} noisy numbers"
    units = {one.unit for one in involved}
    unit = units.pop() if len(units) == 1 else None
    return Exactness(column, mechanism, scale_of(part, plan, terms), bound.before(), why, bound.rows is not None, unit)


def mechanism_of(aggregate: Aggregate, terms: Terms) -> str:
    if aggregate.measurements[0].quantity is Quantity.QUANTILE:
        return "exponential choice"
    parts = [terms.joint_part(measurement) for measurement in aggregate.measurements]
    return JOINT if any(part is not None for part in parts) else ADDITIVE[Accounting(terms.accounting)]


def scale_of(part: Dependence, plan: Plan, terms: Terms) -> Fraction | None:
    """The scale of the noise in the unit of the column, of joint noise that of Laplace noise with its variance; there
    is one where it is made of one noisy number.
    """
    if len(part.weights) != 1:
        return None
    ((number, weight),) = part.weights
    aggregate = plan.aggregates[number]
    if aggregate.kind not in ("count", "sum"):
        return None
    (measurement,) = aggregate.measurements
    scale = weight * unit(measurement) * terms.stated_noise(measurement).spread
    return scale if terms.sample is None else scale / terms.sample.rate


def unit(measurement: Measurement) -> Fraction:
    """What one step of a measurement is in the unit of its argument: centred sums are twice sums."""
    grid = measurement.subject.grid
    step = Fraction(1) if grid is None else grid.step
    other = measurement.subject.other_grid
    units = {
        Quantity.TOTAL: step,
        Quantity.DISTINCT_TOTAL: step,
        Quantity.CENTRED: step / 2,
        Quantity.SQUARES: step**2 / 4,
        Quantity.PRODUCTS: step * (Fraction(1) if other is None else other.step) / 4,
    }
    return units.get(measurement.quantity, Fraction(1))


def widest_error(plan: Plan, terms: Sequence[Terms], smallest: int | None = None) -> Fraction | None:
    """The largest half-width that is known before the answer; None where none is.

    Of what is chosen by rank it is in ranks, and of what is decided by rows in rows. That of averages, variances and
    covariances is known where each is of `smallest` values or more: it falls with their released number.
    """
    noisiest = max(terms, key=lambda some: some.reach)
    errors = (
        wanted_error(part, plan.aggregates, noisiest, smallest)
        for place, (_, part) in enumerate(plan.columns)
        if place not in plan.margin_places and not part.exact and part.unknown is None and part.key is None
    )
    return max((error for error in errors if error is not None), default=None)


def why_not_known(plan: Plan, terms: Sequence[Terms], smallest: int | None = None) -> list[str]:
    """Of each column whose half-width is not known before the answer, the reason."""
    noisiest = max(terms, key=lambda some: some.reach)
    return [
        f"{name}: {why}"
        for place, (name, part) in enumerate(plan.columns)
        if not part.exact and (part.key is None or part.unknown is not None)
        for why in [why_unknown(place in plan.margin_places, part, plan.aggregates, noisiest, smallest)]
        if why is not None
    ]


def why_unknown(
    of_margins: bool, part: Dependence, aggregates: Sequence[Aggregate], terms: Terms, smallest: int | None
) -> str | None:
    if of_margins:
        return "it is made of several rows or numbers of the answer; ask about its parts, one row each"
    if part.unknown is not None:
        return part.unknown
    if wanted_error(part, aggregates, terms, smallest) is not None:
        return None
    bound = bound_of(part, aggregates, terms)
    if bound.unknown:
        return bound.unknown
    kinds = {aggregates[number].kind for number, _ in bound.ranged}
    quotients = sorted(kinds & set(QUOTIENTS))
    if quotients:
        return f"{quotients[0]}() divides by a variance, which may be near 0 for any number of values"
    growing = sorted(kinds & set(GROWING))
    if growing:
        return (
            f"{growing[0]}() grows with the number of values, and so does its error; ask for var_pop() or covar_pop()"
        )
    if smallest is None and (bound.averages or bound.ranged):
        return "it depends on how many values there are; give smallest_count => the smallest number of them"
    return "numbers chosen by rank have an error in ranks, which does not add up with others"


def wanted_error(
    part: Dependence, aggregates: Sequence[Aggregate], terms: Terms, smallest: int | None
) -> Fraction | None:
    """That of one column."""
    involved = [aggregates[number] for number, _ in part.weights]
    ranks = [ranks_off(one.measurements[0], terms) for one in involved if one.kind in RANKED and not is_searched(one)]
    if ranks:
        return Fraction(max(ranks)) if all(one.kind in RANKED for one in involved) else None
    bound = bound_of(part, aggregates, terms)
    if smallest is None or bound.unknown:
        return bound.before()
    of_ranges = Fraction(0)
    for number, weight in bound.ranged:
        error = error_of_many(aggregates[number], bound.widths, terms, smallest)
        if error is None:
            return None
        of_ranges += weight * error
    fixed = bound.after(dict.fromkeys(bound.numbers, smallest))
    return None if fixed is None else fixed + of_ranges


# aggregates of two numbers whose error does not fall with the number of values
QUOTIENTS = ("corr", "regr_slope", "regr_intercept", "regr_r2")
GROWING = ("regr_sxx", "regr_syy", "regr_sxy")


def error_of_many(
    aggregate: Aggregate, widths: Mapping[Measurement, int], terms: Terms, smallest: int
) -> Fraction | None:
    """The most that a variance, a covariance or a mean beside them is off, where so many values are released at least.

    Guarantee: it is no less than the half-width that ranges.py gives, where all numbers are within their widths of sums
    of values that lie within their bounds. Proof, in centred units, where these are -W and W: with n values released, a
    mean moves by no more than m = (w₁ + W w₀) / n, a mean of squares by q = (w₂ + W² w₀) / n (ranges.mean_of), and
    staying within their bounds only brings them nearer. As |a² - b²| <= 2 W |a - b|, a variance moves by no more than
    e = q + 2 W m, and by no more than W². So does a covariance, with W W' for W² and |a b - a' b'| <= W |b - b'| +
    W' |a - a'|, but for the second, as what is shown of it may lie beyond. Those of a sample are f times as much, where
    f = N / (N - 1) lies between 1 and F = L / (L - 1), L = max(n - w₀, 2): they move by no more than e F + W² (F - 1).
    A root moves by no more than the root of what its square moves by. All of it falls with n.
    """
    kind, n, grid = aggregate.kind, smallest, aggregate.grid
    of = [widths[measurement] for measurement in aggregate.measurements]
    if kind == "regr_count":
        return Fraction(of[0])
    if grid is None or kind in QUOTIENTS or kind in GROWING or kind in RANKED:
        return None
    second = aggregate.measurements[-1].subject.other_grid
    most = Fraction(grid.width**2)
    if second is None:
        unit, moved = grid.step**2 / 4, squares_moved(grid, (of[0], of[1], of[2]), n)
    else:
        means = [Fraction(of[1] + grid.width * of[0], n), Fraction(of[2] + second.width * of[0], n)]
        if kind in ("regr_avgy", "regr_avgx"):
            side = ("regr_avgy", "regr_avgx").index(kind)
            some = (grid, second)[side]
            return min(means[side], Fraction(2 * some.width)) * some.step / 2 * (1 + ROUNDED)
        most, unit = Fraction(grid.width * second.width), grid.step * second.step / 4
        moved = Fraction(of[5] + most.numerator * of[0], n) + grid.width * means[1] + second.width * means[0]
    moved = min(moved, most) if second is None else moved
    if not kind.endswith("_pop"):
        least = max(n - of[0], 2)
        factor = Fraction(least, least - 1)
        moved = moved * factor + most * (factor - 1)
    # shown with digits that a thousandth of the noise needs
    found = moved * unit * (1 + ROUNDED)
    return sqrt_above(found) * (1 + ROUNDED) if kind.startswith("stddev") else found


def squares_moved(grid: Grid, widths: tuple[int, int, int], n: int) -> Fraction:
    mean = Fraction(widths[1] + grid.width * widths[0], n)
    return Fraction(widths[2] + grid.width**2 * widths[0], n) + 2 * grid.width * mean


# of columns whose errors SQL makes of margins: the least and the largest, by the place of the column
Widths = Mapping[int, tuple[str | None, str | None]]
UNLIMITED = "Infinity"


def widths_in(plan: Plan, rows: Sequence[Sequence[object]], place: int, widths: Widths) -> list[str]:
    """The least and the largest half-width of a column in the rows that were released; none where none is known."""
    part = plan.columns[place][1]
    if place in widths:
        return list(dict.fromkeys(width for width in widths[place] if width is not None))
    if part.exact or part.unknown is not None:
        return []
    at = len(plan.grouping.keys) + len(plan.aggregates) + plan.errors.index(part.error)
    texts = {str(row[at]) for row in rows if row[at] is not None}
    known = [text for text in texts if text != UNLIMITED]
    known = known if len(known) < 2 else [min(known, key=Decimal), max(known, key=Decimal)]
    ends = [*known[:1], *known[-1:]] if UNLIMITED not in texts else [*known[:1], UNLIMITED]
    return list(dict.fromkeys(ends))


def all_widths(plan: Plan, rows: Sequence[Sequence[object]], widths: Widths) -> Widths:
    """The least and the largest half-width of every column in the rows that were released."""
    ends = [widths_in(plan, rows, place, widths) for place in range(len(plan.columns))]
    return {place: (some[0], some[-1]) if some else (None, None) for place, some in enumerate(ends)}


def errors_told(
    plan: Plan, terms: Sequence[Terms], rows: Sequence[Sequence[object]], widths: Widths = MappingProxyType({})
) -> list[str]:
    """Of every noisy column, how exact it is in the rows that were released: count ±30, avg ±2 to ±7."""
    told = []
    for place, (found, (_, part)) in enumerate(zip(exactness(plan, terms), plan.columns, strict=True)):
        if part.exact:
            continue
        ends = widths_in(plan, rows, place, widths)
        if not ends and found.error is not None:
            ends = [written(found.error)]
        unit = " rows" if found.rows else ""
        shown = dict.fromkeys(map(found.in_words, ends))
        told.append(f"{found.column} " + (" to ".join(shown) + unit if shown else "not known"))
    return told


def columns_told(
    plan: Plan, terms: Sequence[Terms], rows: Sequence[Sequence[object]], widths: Widths
) -> list[dict[str, str | None]]:
    """Of every column, what is known of its exactness once it is answered."""
    told = []
    for place, found in enumerate(exactness(plan, terms)):
        one, ends = found.told(), widths_in(plan, rows, place, widths)
        if ends:
            one["error_95"] = ends[-1]
        if len(ends) > 1:
            one["least_error_95"] = ends[0]
        told.append(one)
    return told


def groups_told(plan: Plan, terms: Sequence[Terms]) -> list[dict[str, object]]:
    """How the groups of every grouping set are released."""
    names = {part.key: name for name, part in plan.columns if part.key is not None}
    told: list[dict[str, object]] = []
    for keys, some in zip(plan.grouping.sets, terms, strict=True):
        by: dict[str, object] = {"by": [names.get(key, f"key {key + 1}") for key in keys]}
        if not keys:
            by["released"] = "one group of all"
        elif all(plan.grouping.keys[key].known for key in keys):
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
        if measurement.bins is not None:
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
