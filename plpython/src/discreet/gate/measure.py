"""Stage release: group totals become noisy numbers, each drawn exactly once; the answer is put together from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product

from discreet.dp.estimate import Kind, assemble
from discreet.dp.exact import decimal_above, readable, sqrt_above
from discreet.gate.aggregates import Aggregate
from discreet.gate.exactness import Bound, bound_of, written
from discreet.gate.measurements import Measurement, Quantity, Subject
from discreet.gate.plan import Plan
from discreet.gate.refusal import refuse
from discreet.gate.terms import Noise
from discreet.gate.terms import Terms as Terms

MOST_GROUPS = 10_000
# of bins, in all groups: choosing among so many takes about half a minute, in which nothing can be cancelled
MOST_CANDIDATES = 10_000_000
EPOCH = datetime(1970, 1, 1)
BITS = {"int8": 64, "bigint": 64, "integer": 32, "smallint": 16}
LAST_REAL, LEAST_REAL = Decimal("3.4e38"), Decimal("1.2e-38")

Group = tuple[str | None, ...]
# of each group that has rows; of a quantile, the number in each bin
Totals = Mapping[Measurement, Mapping[Group, int | Sequence[int]]]


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


def measure(
    plan: Plan,
    terms: Terms,
    known: list[Group] | None,
    found: Totals,
) -> list[list[object]]:
    """The rows of the answer: keys, the released number of each aggregate, the 95 % half-widths that the plan wants.

    Each measurement is released once per group, however many aggregates show it.
    """
    people = Measurement(Quantity.PEOPLE, Subject())
    released: dict[Measurement, dict[Group, int]] = {}
    if known is None:
        counted = found.get(people, {})
        every = dict.fromkeys(group for groups in found.values() for group in groups)
        released[people] = terms.threshold().release({group: integer(counted.get(group, 0)) for group in every})
        groups = list(released[people])
    else:
        groups = known
    noises: dict[Measurement, Noise] = {}
    for measurement in plan.measurements:
        if measurement.quantity is Quantity.QUANTILE:
            chosen = chosen_bins(measurement, terms, groups, found.get(measurement, {}))
            released[measurement] = dict(zip(groups, chosen, strict=True))
            continue
        noises[measurement] = terms.noise(measurement)
        if measurement not in released:
            totals = found.get(measurement, {})
            exact = [integer(totals.get(group, 0)) for group in groups]
            noisy = noises[measurement].release_many(exact)
            released[measurement] = dict(zip(groups, noisy, strict=True))
    alias = Measurement(Quantity.ROWS, Subject())
    if alias not in released and people in released:
        released[alias], noises[alias] = released[people], noises[people]
    groups.sort(key=lambda keys: [(key is None, key or "") for key in keys])
    columns: list[Iterable[object]] = [[group[key] for group in groups] for key in range(len(plan.grouping.keys))]
    firsts: dict[int, list[int]] = {}
    for number, aggregate in enumerate(plan.aggregates):
        parts = [[released[m][group] for group in groups] for m in aggregate.measurements]
        firsts[number] = parts[0]
        if aggregate.measurements[0].quantity is Quantity.QUANTILE:
            columns.append([quantile(aggregate, chosen) for chosen in parts[0]])
            continue
        spreads = tuple(noises[m].spread for m in aggregate.measurements)
        columns.append([shown(aggregate, put_together(aggregate, some, spreads)) for some in zip(*parts, strict=True)])
    bounds = (bound_of(error, plan.aggregates, terms) for error in plan.errors)
    columns += [half_widths(bound, firsts, len(groups)) for bound in bounds]
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in groups]


def half_widths(bound: Bound, counts: Mapping[int, Sequence[int]], rows: int) -> list[str | None]:
    """The 95 % half-width in each row; most rows share theirs with others."""
    used = [counts[number] for number, _, _ in bound.averages]
    known: dict[tuple[int, ...], str | None] = {}
    for values in set(zip(*used, strict=True)) if used else {()}:
        error = bound.after(dict(zip((number for number, _, _ in bound.averages), values, strict=True)))
        known[values] = None if error is None else written(error)
    return [known[values] for values in zip(*used, strict=True)] if used else [known[()]] * rows


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


def chosen_bins(
    measurement: Measurement, terms: Terms, groups: Sequence[Group], found: Mapping[Group, int | Sequence[int]]
) -> list[int]:
    """The bin of every group."""
    assert measurement.bins is not None
    choice, empty, chosen = terms.choice(measurement), [0] * measurement.bins.number, []
    for group in groups:
        counts = found.get(group, empty)
        assert not isinstance(counts, int)
        chosen.append(choice.release(counts))
    return chosen


def quantile(aggregate: Aggregate, chosen: int) -> str:
    (measurement,) = aggregate.measurements
    assert measurement.bins is not None
    return shown(aggregate, measurement.bins.value(chosen))


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
