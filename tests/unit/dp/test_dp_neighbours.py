"""With and without one person, the exact parts differ by no more than the planned sensitivity."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.dp.estimate import QUANTILES, Kind, exact_parts, sensitivities
from discreet.dp.grid import Grid
from discreet.dp.quantile import quantile_losses, tail_losses
from discreet.dp.sensitivity import Neighbours, quantile_sensitivity, tail_sensitivity
from discreet.dp.totals import Totals

GROUPS = "ab"
BINS = 6
SUMS = [kind for kind in Kind if kind not in QUANTILES]

# A row: its group and its value, NULL allowed. Values beyond the bounds are clamped by the grid.
Row = tuple[str, Fraction | None]
values = st.none() | st.fractions(min_value=-30, max_value=40, max_denominator=50)
rows = st.tuples(st.sampled_from(GROUPS), values)
tables = st.lists(rows, max_size=8)
bounds = st.tuples(st.integers(-25, 25), st.integers(-25, 25)).map(sorted)
grids = st.tuples(bounds, st.sampled_from([3, 6, 40])).map(lambda drawn: Grid.fit(*drawn[0], bits=drawn[1]))  # type: ignore[misc]
fractions = st.fractions(min_value=0, max_value=1, max_denominator=20)


def totals_of(table: list[Row], group: str, grid: Grid, kind: Kind) -> Totals:
    placed = [grid.place(value) for where, value in table if where == group and value is not None]
    if kind is Kind.COUNT_DISTINCT:
        return Totals(len(set(placed)))
    return Totals(len(placed), sum(placed), sum(x * x for x in placed), grid)


def moved(kind: Kind, grid: Grid, here: list[Row], there: list[Row], groups: str = GROUPS) -> list[int]:
    """The L1 distance of each part, over all groups."""
    parts = [[exact_parts(kind, totals_of(table, g, grid, kind)) for g in groups] for table in (here, there)]
    return [sum(abs(a[part] - b[part]) for a, b in zip(*parts, strict=True)) for part in range(len(parts[0][0]))]


def within(distances: list[int], limits: tuple[int, ...]) -> bool:
    return all(distance <= limit for distance, limit in zip(distances, limits, strict=True))


@pytest.mark.parametrize("kind", SUMS)
@settings(deadline=None)
@given(table=tables, row=rows, grid=grids, filtered=st.booleans())
def test_a_person_added_or_removed(kind: Kind, table: list[Row], row: Row, grid: Grid, filtered: bool) -> None:
    limits = sensitivities(kind, grid, Neighbours.UNBOUNDED, filtered)
    assert within(moved(kind, grid, table, [*table, row]), limits)


@pytest.mark.parametrize("kind", SUMS)
@settings(deadline=None)
@given(table=tables, before=values, after=values, grid=grids)
def test_a_person_changed_in_a_question_about_everybody(
    kind: Kind, table: list[Row], before: Fraction | None, after: Fraction | None, grid: Grid
) -> None:
    everybody = [("a", value) for _, value in table]
    limits = sensitivities(kind, grid, Neighbours.BOUNDED, False)
    assert within(moved(kind, grid, [*everybody, ("a", before)], [*everybody, ("a", after)], "a"), limits)


@pytest.mark.parametrize("kind", SUMS)
@settings(deadline=None)
@given(table=tables, before=rows, after=rows, grid=grids)
def test_a_person_changed_who_may_move_between_groups(
    kind: Kind, table: list[Row], before: Row, after: Row, grid: Grid
) -> None:
    limits = sensitivities(kind, grid, Neighbours.BOUNDED, True)
    assert within(moved(kind, grid, [*table, before], [*table, after]), limits)


Losses = Callable[[list[int]], list[int]]


def losses_of(table: list[Row], group: str, losses: Losses) -> list[int]:
    counts = [0] * BINS
    for where, value in table:
        if where == group and value is not None:
            counts[min(max(int((value + 20) // 8), 0), BINS - 1)] += 1
    return losses(counts)


def losses_moved(losses: Losses, here: list[Row], there: list[Row], groups: str = GROUPS) -> int:
    """The largest change of a loss in each group, over all groups."""
    total = 0
    for group in groups:
        pairs = zip(losses_of(here, group, losses), losses_of(there, group, losses), strict=True)
        total += max(abs(a - b) for a, b in pairs)
    return total


def check_losses(
    losses: Losses, limit: Callable[[Neighbours, bool], int], table: list[Row], before: Row, after: Row
) -> None:
    assert losses_moved(losses, table, [*table, before]) <= limit(Neighbours.UNBOUNDED, True)
    assert losses_moved(losses, [*table, before], [*table, after]) <= limit(Neighbours.BOUNDED, True)
    everybody = [("a", value) for _, value in table]
    changed = losses_moved(losses, [*everybody, ("a", before[1])], [*everybody, ("a", after[1])], "a")
    assert changed <= limit(Neighbours.BOUNDED, False)


@settings(deadline=None)
@given(table=tables, before=rows, after=rows, fraction=fractions)
def test_no_loss_of_a_quantile_moves_by_more_than_its_sensitivity(
    table: list[Row], before: Row, after: Row, fraction: Fraction
) -> None:
    check_losses(
        lambda counts: quantile_losses(counts, fraction),
        lambda neighbours, filtered: quantile_sensitivity(fraction, neighbours, filtered),
        table,
        before,
        after,
    )


@settings(deadline=None)
@given(table=tables, before=rows, after=rows, fraction=fractions | st.sampled_from([0, 1]), least=st.integers(1, 5))
def test_no_loss_of_a_tail_moves_by_more_than_its_sensitivity(
    table: list[Row], before: Row, after: Row, fraction: Fraction | int, least: int
) -> None:
    check_losses(
        lambda counts: tail_losses(counts, Fraction(fraction), least),
        lambda neighbours, filtered: tail_sensitivity(Fraction(fraction), neighbours, filtered),
        table,
        before,
        after,
    )


def test_the_sensitivity_of_an_extreme_is_attained() -> None:
    with_one, without = tail_losses([0, 0, 9, 0], Fraction(1), 2), tail_losses([0, 0, 8, 0], Fraction(1), 2)
    assert max(abs(a - b) for a, b in zip(with_one, without, strict=True)) == tail_sensitivity(
        Fraction(1), Neighbours.UNBOUNDED, True
    )


def test_the_sensitivities_are_attained() -> None:
    grid = Grid(0, -2, 8)
    rows: list[Row] = [("a", Fraction(8))]
    for kind in SUMS:
        unbounded = tuple(moved(kind, grid, [], rows))
        assert unbounded == sensitivities(kind, grid, Neighbours.UNBOUNDED, True)
    bounded = moved(Kind.SUM, grid, [("a", Fraction(-2))], rows)
    assert tuple(bounded) == sensitivities(Kind.SUM, grid, Neighbours.BOUNDED, False)
    bounded = moved(Kind.VARIANCE, grid, [("b", Fraction(8))], rows)
    assert tuple(bounded) == sensitivities(Kind.VARIANCE, grid, Neighbours.BOUNDED, True)
