"""Stage release: group totals become noisy numbers, each drawn exactly once; the answer is put together from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product

from discreet.dp.combined import CombinedNoise
from discreet.dp.estimate import Kind, assemble
from discreet.dp.exact import decimal_above, decimal_below, readable, readable_places, sqrt_above
from discreet.dp.joint import JointNoise, JointPart
from discreet.dp.noise import AT_ONCE
from discreet.gate import pairs
from discreet.gate.aggregates import Aggregate
from discreet.gate.bins import EqualBins
from discreet.gate.exactness import (
    ADDED,
    CHOSEN,
    DECISIONS,
    MISSED,
    UNLIMITED,
    Bound,
    average_off_by,
    bounds_of_errors,
    half_width,
    noise_missed,
    off_by,
    widths_of,
    written,
)
from discreet.gate.known import kept_with_plan
from discreet.gate.margins import Wanted
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.plan import Plan
from discreet.gate.propagation import TYPES
from discreet.gate.ranges import Range, range_of
from discreet.gate.refusal import refuse
from discreet.gate.terms import PEOPLE, Noise
from discreet.gate.terms import Terms as Terms

# A gate worker has some seconds for an answer, and other sessions wait meanwhile. Of groups in a grouping set; of bins
# to choose from, and of numbers to draw, in all groups of all grouping sets.
MOST_GROUPS = 10_000
MOST_CANDIDATES = 10_000_000
MOST_NUMBERS = 500_000
EPOCH = datetime(1970, 1, 1)
LEAST_COUNT = 2**63 - 1
BITS = {"int8": 64, "bigint": 64, "integer": 32, "smallint": 16}
LAST_REAL, LEAST_REAL = Decimal("3.4e38"), Decimal("1.2e-38")

Group = tuple[str | None, ...]
# what is drawn at once, and of joint noise the part of each
Members = Mapping[Measurement, JointPart | None]
# of every aggregate, in every row: the numbers that it is made of
Parts = Mapping[int, Sequence[tuple[int, ...]]]
# of each group that has rows; of a quantile, the number in each bin that has some
Totals = Mapping[Measurement, Mapping[Group, int | Mapping[int, int]]]


def refuse_large_answer(plan: Plan, texts: Mapping[int, Sequence[str | None]]) -> None:
    """Refuses what a gate worker could not put together in time, or in the memory that it may take.

    How many groups an answer without known keys has depends on the data, so that only known ones count.
    """
    groups = 0
    for keys in plan.grouping.sets:
        size = number_of_groups(plan, keys, texts)
        if size > MOST_GROUPS:
            refuse(
                f"a table of {size} groups",
                None,
                f"At most {MOST_GROUPS} groups of declared categories are answered at once.",
            )
        groups += size
    if groups * sum(m.bins.number for m in plan.measurements if m.bins is not None) > MOST_CANDIDATES:
        refuse(f"quantiles of {groups} groups", None, "Ask for fewer groups, or fewer quantiles at once.")
    if groups * len(plan.measurements) > MOST_NUMBERS:
        refuse(
            f"{len(plan.measurements)} measurements of {groups} groups",
            None,
            f"At most {MOST_NUMBERS} numbers are answered at once: ask for fewer groups, or fewer aggregates.",
        )


def listed_groups(plan: Plan, keys: tuple[int, ...], texts: Mapping[int, Sequence[str | None]]) -> list[Group] | None:
    """The groups of a set that public rows give: those texts stand in a row of theirs; None where they do not say."""
    every = range(len(plan.grouping.keys))
    if not every or any(plan.grouping.keys[place].listed is None for place in every):
        return None
    rows = zip(*(texts[place] for place in every), strict=True)
    groups = {tuple(text if place in keys else None for place, text in enumerate(row)) for row in rows}
    # without keys there is one group, of all
    return sorted(groups or {(None,) * len(every)} if not keys else groups, key=in_order)


def number_of_groups(plan: Plan, keys: tuple[int, ...], texts: Mapping[int, Sequence[str | None]]) -> int:
    """How many groups are known; 0 when some are not."""
    if not plan.knows_groups(keys):
        return 0
    listed = listed_groups(plan, keys, texts)
    return math.prod(len(texts[place]) for place in keys) if listed is None else len(listed)


def domain_groups(plan: Plan, keys: tuple[int, ...], texts: Mapping[int, Sequence[str | None]]) -> list[Group] | None:
    """All groups of known keys, in order; `texts`: their values, as the server writes them. None when some are not."""
    if not plan.knows_groups(keys):
        return None
    listed = listed_groups(plan, keys, texts)
    if listed is not None:
        return listed
    if all(texts[place] is plan.known_texts.get(place) for place in keys):
        return lasting_groups(plan, [keys])
    return combined(plan, keys, texts)


@kept_with_plan
def lasting_groups(plan: Plan, sets: Sequence[tuple[int, ...]]) -> list[Group]:
    """The groups of a set, where those of its keys are the same in every session."""
    (keys,) = sets
    return combined(plan, keys, plan.known_texts)


def combined(plan: Plan, keys: tuple[int, ...], texts: Mapping[int, Sequence[str | None]]) -> list[Group]:
    domains = (texts[place] if place in keys else [None] for place in range(len(plan.grouping.keys)))
    return list(product(*(sorted(domain, key=key_order) for domain in domains)))


class Draws:
    """The noise of a question about known groups, which may be drawn before their rows are read: it depends on none.

    Each draw is given out once; measurements that have joint noise are drawn together.
    """

    def __init__(self, plan: Plan, terms: Terms, known: Sequence[Group] | None) -> None:
        self._groups = 0 if known is None else len(known)
        added = [] if known is None else [m for m in plan.measurements if m.quantity is not Quantity.QUANTILE]
        self._families: list[tuple[Members, Noise | JointNoise]] = []
        for measurement in added:
            noise = terms.noise(measurement)
            if not isinstance(noise, JointPart):
                self._families.append(({measurement: None}, noise))
        self._families += [] if known is None else terms.together
        self._drawn: dict[Measurement, list[int]] = {measurement: [] for measurement in added}

    @property
    def missing(self) -> int:
        return len(self._drawn) * self._groups - sum(map(len, self._drawn.values()))

    def draw_some(self) -> None:
        """Draws a part of what is missing."""
        for members, noise in self._families:
            done = len(self._drawn.get(next(iter(members)), ()))
            if next(iter(members)) in self._drawn and done < self._groups:
                at_once = noise.at_once if isinstance(noise, JointNoise) else AT_ONCE
                self._draw(members, noise, min(at_once, self._groups - done))
                return

    def _draw(self, members: Members, noise: Noise | JointNoise, how_many: int) -> None:
        if isinstance(noise, JointNoise):
            vectors = noise.draw(how_many)
            for member, part in members.items():
                assert part is not None
                self._drawn[member] += [part.of_vector(vector) for vector in vectors]
        else:
            assert not isinstance(noise, JointPart)
            (member,) = members
            self._drawn[member] += noise.draw(how_many)

    def taken(self, measurement: Measurement) -> list[int]:
        """All draws of a measurement, one for each group."""
        members, noise = next(family for family in self._families if measurement in family[0])
        missing = self._groups - len(self._drawn[measurement])
        if missing:
            self._draw(members, noise, missing)
        return self._drawn.pop(measurement)


Released = dict[Measurement, dict[Group, int]]


def release(
    plan: Plan,
    terms: Terms,
    known: list[Group] | None,
    found: Totals,
    draws: Draws | None = None,
) -> Released:
    """The noisy numbers of a grouping set: each measurement in each group, once. `draws`: noise that was drawn ahead.

    Where groups are not `known`, those are shown that have enough people.
    """
    released: Released = {}
    if known is None:
        counted = found.get(PEOPLE, {})
        every = dict.fromkeys(group for groups in found.values() for group in groups)
        released[PEOPLE] = terms.threshold().release({group: integer(counted.get(group, 0)) for group in every})
        groups = list(released[PEOPLE])
    else:
        groups = known
    draws = Draws(plan, terms, groups) if draws is None or known is None else draws
    for measurement in plan.measurements:
        if measurement.quantity is Quantity.QUANTILE:
            chosen = chosen_bins(measurement, terms, groups, found.get(measurement, {}))
            released[measurement] = dict(zip(groups, chosen, strict=True))
        elif measurement not in released:
            totals, noise = found.get(measurement, {}), terms.noise(measurement)
            exact = [total for total in (totals.get(group, 0) for group in groups) if isinstance(total, int)]
            released[measurement] = dict(zip(groups, noise.added(exact, draws.taken(measurement)), strict=True))
    return released


def of_all_people(terms: Terms, released: Released) -> Released:
    """Numbers of a sample, scaled to all people."""
    sample = terms.sample
    if sample is None:
        return released
    return {m: {group: sample.scaled(number) for group, number in of.items()} for m, of in released.items()}


def shown_groups(known: list[Group] | None, released: Released) -> list[Group]:
    return sorted(released[PEOPLE], key=in_order) if known is None else known


def assembled(
    plan: Plan, terms: Terms, known: list[Group] | None, released: Released, rows: int | None = None
) -> list[list[object]]:
    """The rows of a grouping set: keys, the released number of each aggregate, the 95 % half-widths and the margins
    that are wanted. `rows`: how many the answer has in all grouping sets, if there are several.
    """
    groups = shown_groups(known, released)
    alias = Measurement(Quantity.ROWS, Subject())
    if alias not in released and PEOPLE in released:
        released = released | {alias: released[PEOPLE]}
        part = terms.joint_part(PEOPLE)
        drawn = terms.drawn if part is None else (*terms.drawn, (alias, part))
        terms = replace(terms, paid=(*terms.paid, (alias, terms.price_of(PEOPLE))), drawn=drawn)
    columns: list[Sequence[object]] = [[group[key] for group in groups] for key in range(len(plan.grouping.keys))]
    every: dict[int, list[tuple[int, ...]]] = {}
    for number, aggregate in enumerate(plan.aggregates):
        parts = [[numbers[group] for group in groups] for numbers in (released[m] for m in aggregate.measurements)]
        every[number] = list(zip(*parts, strict=True))
        if aggregate.measurements[0].quantity is Quantity.QUANTILE:
            columns.append([quantile(aggregate, chosen) for chosen in parts[0]])
            continue
        if aggregate.kind in DECISIONS:
            columns.append(decided(aggregate, parts[0], terms.stated_noise(aggregate.measurements[0])))
            continue
        noises = [terms.stated_noise(measurement) for measurement in aggregate.measurements]
        spreads = tuple(noise.spread for noise in noises)
        # a count that adds up to others does so below 0 too
        least = -LEAST_COUNT if isinstance(noises[0], CombinedNoise) else 0
        columns.append(
            whole_numbers(aggregate, parts[0], spreads, least)
            or [shown(aggregate, put_together(aggregate, some, spreads)) for some in zip(*parts, strict=True)]
        )
    bounds = bounds_of_errors(plan, [terms])
    shown_numbers = {number: columns[len(plan.grouping.keys) + number] for number in every}
    columns += [half_widths(bound, plan.aggregates, every, shown_numbers, len(groups)) for bound in bounds]
    columns += [
        margins(wanted, plan.aggregates[wanted.aggregate], every[wanted.aggregate], shown_numbers[wanted.aggregate],
                terms, len(groups) if rows is None else rows)
        for wanted in plan.margins
    ]  # fmt: skip
    if plan.tells_set:
        columns.append([plan.grouping.sets.index(terms.keys)] * len(groups))
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in groups]


def measure(
    plan: Plan, terms: Terms, known: list[Group] | None, found: Totals, draws: Draws | None = None
) -> list[list[object]]:
    """The rows of a grouping set whose numbers are all released now."""
    return assembled(plan, terms, known, release(plan, terms, known, found, draws))


def key_order(key: str | None) -> tuple[bool, str]:
    """NULL comes last."""
    return key is None, key or ""


def in_order(group: Group) -> tuple[tuple[bool, str], ...]:
    """Groups are shown in the order of their keys."""
    return tuple(map(key_order, group))


def whole_numbers(
    aggregate: Aggregate, noisy: list[int], spreads: tuple[Fraction, ...], least: int = 0
) -> list[str] | None:
    """Counts, and sums that are shown without a fraction: what put_together() and shown() give, for all at once.

    `least`: a count is not shown below it.
    """
    last = 2 ** (BITS.get(aggregate.result_type, 1) - 1) - 1
    if last == 0:
        return None
    if aggregate.kind == "count":
        return [str(min(max(number, least), last)) for number in noisy]
    if aggregate.kind != "sum" or aggregate.grid is None or readable_places(spreads[0] * aggregate.grid.step):
        return None
    up, down = aggregate.grid.step.as_integer_ratio()
    return [str(min(max((2 * up * number + down) // (2 * down), -last), last)) for number in noisy]


def half_widths(
    bound: Bound,
    aggregates: Sequence[Aggregate],
    parts: Parts,
    shown_numbers: Mapping[int, Sequence[object]],
    rows: int,
) -> list[str | None]:
    """The 95 % half-width in each row: Infinity where there is no limit, NULL where there is no number.

    Most rows share theirs with others, unless it depends on more than numbers of values.
    """
    if bound.unknown:
        return [None] * rows
    used = [[some[0] for some in parts[number]] for number in bound.numbers]
    known: dict[tuple[int, ...], Fraction | None] = {}
    for values in set(zip(*used, strict=True)) if used else {()}:
        known[values] = bound.after(dict(zip(bound.numbers, values, strict=True)))
    if not bound.ranged:
        texts = {values: None if error is None else written(error) for values, error in known.items()}
        return [texts[values] for values in zip(*used, strict=True)] if used else [texts[()]] * rows
    found = [known[values] for values in zip(*used, strict=True)] if used else [known[()]] * rows
    widths: list[str | None] = []
    for place, fixed in enumerate(found):
        assert fixed is not None
        offs = [ranged_off(bound, aggregates, number, parts, shown_numbers, place) for number, _ in bound.ranged]
        if any(shown_numbers[number][place] is None for number, _ in bound.ranged):
            widths.append(None)
        elif any(off is None for off in offs):
            widths.append(UNLIMITED)
        else:
            weighted = (weight * off for (_, weight), off in zip(bound.ranged, offs, strict=True) if off is not None)
            widths.append(written(fixed + sum(weighted)))
    return widths


def ranged_off(
    bound: Bound,
    aggregates: Sequence[Aggregate],
    number: int,
    parts: Parts,
    shown_numbers: Mapping[int, Sequence[object]],
    place: int,
) -> Fraction | None:
    aggregate, text = aggregates[number], shown_numbers[number][place]
    if text is None:
        return None
    return range_of(aggregate, parts[number][place], bound.widths).off(
        number_shown(aggregate, parts[number][place], str(text))
    )


def number_shown(aggregate: Aggregate, parts: Sequence[int], text: str) -> Fraction:
    """The number that is shown; of dates and moments, in days and seconds."""
    if aggregate.result_type in TYPES:
        return Fraction(text)
    bins = aggregate.measurements[0].bins
    assert isinstance(bins, EqualBins)
    value = Fraction(bins.value(parts[0]))
    return Fraction(round(value)) if aggregate.result_type == "date" else value


def margins(
    wanted: Wanted,
    aggregate: Aggregate,
    parts: Sequence[tuple[int, ...]],
    texts: Sequence[object],
    terms: Terms,
    rows: int,
) -> list[str | None]:
    """Of one aggregate in each row: the lowest and the highest that the exact number can be (gate/margins.py), or how
    its noise adds up over rows: the squares of the scales, the largest of them, and the number before it is shown.
    """
    if terms.sample is not None:  # what a sample does to the numbers of several rows is not followed
        return [None] * len(texts)
    if wanted.sums:
        return noise_of_rows(aggregate, parts, terms)
    missed = MISSED / (wanted.events * (max(rows, 1) if wanted.over_rows else 1))
    missed -= MISSED - noise_missed([aggregate])
    if aggregate.kind in CHOSEN or missed <= 0:
        return [None] * len(texts)
    widths = widths_of([aggregate], terms, missed)
    found = []
    for some, text in zip(parts, texts, strict=True):
        held = None if text is None else margin(aggregate, some, Fraction(str(text)), widths, terms)
        found.append(None if held is None else written_ends(held))
    return found


def margin(
    aggregate: Aggregate, parts: tuple[int, ...], number: Fraction, widths: Mapping[Measurement, int], terms: Terms
) -> Range:
    if aggregate.kind == "avg":
        share, most = average_off_by(aggregate, widths, terms)
        return Range.around(number, min(share / max(parts[0], 1), most))
    if aggregate.kind in ADDED:
        found = Range.around(number, off_by(aggregate, widths, terms))
        return found.within(Fraction(0), None) if aggregate.kind == "count" else found
    return range_of(aggregate, parts, widths)


def written_ends(held: Range) -> str:
    lower = f"-{UNLIMITED}" if held.lower is None else format(decimal_below(held.lower), "f")
    upper = UNLIMITED if held.upper is None else format(decimal_above(held.upper), "f")
    return f"{{{lower},{upper}}}"


def noise_of_rows(aggregate: Aggregate, parts: Sequence[tuple[int, ...]], terms: Terms) -> list[str | None]:
    if aggregate.kind not in ADDED:
        return [None] * len(parts)
    scales = noise_scales(aggregate, terms)
    noises = [terms.stated_noise(measurement) for measurement in aggregate.measurements]
    # of rounding to a lattice it says nothing, nor of numbers that were estimated together
    if any(isinstance(noise, CombinedNoise) or noise.shift for noise in noises):
        return [None] * len(parts)
    squares = decimal_above(sum((scale**2 for scale in scales), Fraction(0)))
    told = ",".join(format(one, "f") for one in (squares, decimal_above(max(scales))))
    return [f"{{{told},{format(decimal_above(number_before(aggregate, some)), 'f')}}}" for some in parts]


def noise_scales(aggregate: Aggregate, terms: Terms) -> list[Fraction]:
    """Of each measurement, in the unit of the aggregate."""
    noises = [terms.stated_noise(measurement) for measurement in aggregate.measurements]
    spreads = [noise.scale_of_sums if isinstance(noise, JointPart) else noise.spread for noise in noises]
    if aggregate.kind == "count":
        return spreads
    grid = aggregate.grid
    assert grid is not None
    if aggregate.kind == "sum":
        return [spreads[0] * grid.step]
    return [spreads[0] * abs(grid.lower + grid.upper) * grid.step / 2, spreads[1] * grid.step / 2]


def number_before(aggregate: Aggregate, parts: tuple[int, ...]) -> Fraction:
    """The number before it is rounded, and before a count below 0 becomes 0."""
    grid = aggregate.grid
    if aggregate.kind == "count" or grid is None:
        return Fraction(parts[0])
    if aggregate.kind == "sum":
        return parts[0] * grid.step
    return Fraction(parts[1] + (grid.lower + grid.upper) * parts[0], 2) * grid.step


def integer(total: int | Mapping[int, int]) -> int:
    assert isinstance(total, int)
    return total


def decided(aggregate: Aggregate, noisy: list[int], noise: Noise | CombinedNoise) -> list[bool]:
    """bool_or: whether more rows are true than noise alone would show in 19 of 20 cases; bool_and: or are false."""
    bound = half_width(noise, 1 - MISSED)
    return [(number > bound) is (aggregate.kind == "bool_or") for number in noisy]


def put_together(aggregate: Aggregate, parts: tuple[int, ...], spreads: tuple[Fraction, ...]) -> Decimal | int | None:
    grid = aggregate.grid
    if aggregate.kind in pairs.KINDS:
        other = aggregate.measurements[-1].subject.other_grid
        assert grid is not None and other is not None
        return pairs.put_together(aggregate.kind, parts, (grid, other))
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


def chosen_bins(
    measurement: Measurement, terms: Terms, groups: Sequence[Group], found: Mapping[Group, int | Mapping[int, int]]
) -> list[int]:
    """The bin of every group."""
    assert measurement.bins is not None
    choice, chosen = terms.choice(measurement), []
    for group in groups:
        filled = found.get(group, {})
        assert not isinstance(filled, int)
        counts = [0] * measurement.bins.number
        for place, number in filled.items():
            counts[place] = number
        chosen.append(choice.release(counts))
    return chosen


def quantile(aggregate: Aggregate, chosen: int) -> str | None:
    measurement = aggregate.measurements[0]
    assert measurement.bins is not None
    value = measurement.bins.value(chosen)
    return value if isinstance(value, str) else shown(aggregate, value)


def shown(aggregate: Aggregate, number: Decimal | int | None) -> str | None:
    """The number as a text of the aggregate's type; with noise it may be beyond the last number that this type has."""
    kind = aggregate.result_type
    if number is None:
        return None
    if kind == "interval":
        return interval(Fraction(number), aggregate.has_months)
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


def interval(seconds: Fraction, has_months: bool = False) -> str:
    """Days of 24 hours, and what is left, as PostgreSQL subtracts timestamps; days and hours have one sign.

    Of intervals with months, which have 30 days where they are averaged and compared, years and months too.
    """
    microseconds = round(abs(seconds) * 10**6)
    days, rest = divmod(microseconds, 86_400 * 10**6)
    clock, parts = divmod(rest, 10**6)
    sign = "-" if seconds < 0 else ""
    if has_months:
        months, days = divmod(days, 30)
        return (
            f"{sign}{months // 12} years {sign}{months % 12} mons {sign}{days} days"
            f" {sign}{clock // 3600}:{clock // 60 % 60:02}:{clock % 60:02}.{parts:06}"
        )
    return f"{sign}{days} days {sign}{clock // 3600}:{clock // 60 % 60:02}:{clock % 60:02}.{parts:06}"


def within_years(step: timedelta, steps: float) -> timedelta:
    """So many steps from 1970 on, up to the years 1 and 9999."""
    first, last = (datetime.min - EPOCH) / step, (datetime(9999, 12, 31) - EPOCH) / step
    return step * min(max(steps, first), last)
