"""Stage release: group totals become noisy numbers, each drawn exactly once; the answer is put together from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product

from discreet.dp.estimate import Kind, assemble
from discreet.dp.exact import decimal_above, readable, sqrt_above
from discreet.gate.aggregates import Aggregate
from discreet.gate.exactness import bound_of, written
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
Totals = Mapping[Measurement, int | Sequence[int]]


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
    found: Mapping[Group, Totals],
) -> list[list[object]]:
    """The rows of the answer: keys, the released number of each aggregate, the 95 % half-widths that the plan wants.

    Each measurement is released once per group, however many aggregates show it.
    """
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
        if measurement.quantity is Quantity.QUANTILE:
            chosen = chosen_bins(measurement, terms, [found.get(group, {}) for group in groups])
            released[measurement] = dict(zip(groups, chosen, strict=True))
            continue
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
            if aggregate.measurements[0].quantity is Quantity.QUANTILE:
                numbers.append(quantile(aggregate, released[aggregate.measurements[0]][group]))
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


def chosen_bins(measurement: Measurement, terms: Terms, found: list[Totals]) -> list[int]:
    """The bin of every group."""
    assert measurement.bins is not None
    choice, empty, chosen = terms.choice(measurement), [0] * measurement.bins.number, []
    for totals in found:
        counts = totals.get(measurement, empty)
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
