"""Cells are hidden so that what is published tells none of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.release.crosstable_attacker import determined

from discreet.core.errors import InvalidParameterError
from discreet.release.cubes import Cell, Cube, Need, NotProtectableError, Proof, Step, Suppression, disclosed
from discreet.release.dimensions import Dimension, all_cells
from discreet.release.intervals import audit, is_told
from discreet.release.rules import Contributions, Rules


def flat(name: str, size: int) -> Dimension:
    return Dimension.of(name, {f"{name}{n}": () for n in range(size)}, "Total")


def grouped(name: str, sizes: list[int]) -> Dimension:
    paths = {f"{name}{g}.{n}": (f"{name}{g}",) for g, size in enumerate(sizes) for n in range(size)}
    return Dimension.of(name, paths, "Total")


def count_needs(values: np.ndarray, threshold: int) -> dict[Cell, Need]:
    unsafe = map(tuple, np.argwhere((values > 0) & (values < threshold)).tolist())
    return {cell: Need(0, 0, threshold) for cell in unsafe}


def suppressed(dimensions: tuple[Dimension, ...], values: np.ndarray, threshold: int) -> Suppression:
    work = Suppression(dimensions, values, count_needs(values, threshold), values == 1)
    work.run()
    return work


TABLE = np.array([[20, 50, 10], [8, 19, 22], [17, 3, 12]])
PLAIN = (flat("r", 3), flat("c", 3))


def test_hiding_the_small_cell_alone_hides_nothing() -> None:
    values = all_cells(PLAIN, TABLE)
    hidden = (values > 0) & (values < 5)
    assert hidden.sum() == 1
    assert determined(PLAIN, hidden) == {(2, 1)}
    assert audit(PLAIN, values, hidden) == {(2, 1): (3.0, 3.0)}


def test_a_square_of_four_cells_protects_a_small_cell_of_a_plain_table() -> None:
    work = suppressed(PLAIN, all_cells(PLAIN, TABLE), 5)
    assert work.hidden.sum() == 4
    assert work.hidden[2, 1]
    assert not work.hidden[3].any()
    assert not work.hidden[:, 3].any()
    assert determined(PLAIN, work.hidden) == set()


def test_the_interval_that_a_cube_proves_is_one_that_linear_programming_finds() -> None:
    work = suppressed(PLAIN, all_cells(PLAIN, TABLE), 5)
    lower, upper = audit(PLAIN, work.values, work.hidden)[2, 1]
    proof = work.proofs[2, 1]
    assert upper >= 3 + proof.up
    assert lower <= 3 - proof.down
    assert upper - lower >= 5


DIMENSIONS = st.sampled_from(
    [
        (flat("a", 5),),
        (flat("a", 3), flat("b", 4)),
        (grouped("a", [2, 3]), flat("b", 3)),
        (grouped("a", [2, 2]), grouped("b", [2, 1, 2])),
        (flat("a", 2), flat("b", 3), flat("c", 2)),
        (grouped("a", [2, 2]), flat("b", 2), flat("c", 3)),
    ]
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[tuple[Dimension, ...], np.ndarray]:
    dimensions = draw(DIMENSIONS)
    size = int(np.prod([each.leaves for each in dimensions]))
    numbers = st.sampled_from([0, 0, 1, 1, 2, 3, 4, 6, 9, 14, 30, 100])
    leaves = np.array(draw(st.lists(numbers, min_size=size, max_size=size)), dtype=np.int64)
    return dimensions, all_cells(dimensions, leaves.reshape([each.leaves for each in dimensions]))


@settings(max_examples=30)
@given(tables())
def test_nothing_hidden_can_be_computed_not_even_by_who_is_alone_in_a_cell(
    table: tuple[tuple[Dimension, ...], np.ndarray],
) -> None:
    dimensions, values = table
    try:
        work = suppressed(dimensions, values, 4)
    except NotProtectableError:
        return  # refused: too many are alone
    assert disclosed(dimensions, values, work.hidden, work.needs, work.proofs) == []
    assert work.hidden[tuple(np.array(list(work.needs)).T)].all() if work.needs else not work.hidden.any()
    assert not (work.hidden & (values == 0)).any()
    assert determined(dimensions, work.hidden) == set()
    for cell, (lower, upper) in audit(dimensions, values, work.hidden).items():
        assert not is_told((lower, upper))
        if cell in work.needs:
            assert upper - lower >= 4 - 1e-6
    for alone in list(work.needs)[:3]:
        if values[alone] == 1:
            own = frozenset(
                cell for cell in work.needs if values[cell] == 1 and same_person(dimensions, values, cell, alone)
            )
            told = determined(dimensions, work.hidden, own)
            assert not told & set(work.needs)


def same_person(dimensions: tuple[Dimension, ...], values: np.ndarray, one: Cell, other: Cell) -> bool:
    """Whether who is alone in the one cell is also who is alone in the other."""
    lines = list(zip(dimensions, one, other, strict=True))
    if not all(each.within[a, b] or each.within[b, a] for each, a, b in lines):
        return False
    return bool(values[tuple(a if each.within[a, b] else b for each, a, b in lines)] == 1)


def test_two_people_alone_in_a_row_do_not_learn_of_each_other() -> None:
    # hiding the two 1s and a square around each would let the first, who knows her own, subtract it from the row
    dimensions = (flat("r", 3), flat("c", 4))
    values = all_cells(dimensions, np.array([[1, 1, 30, 40], [20, 30, 40, 50], [25, 35, 45, 55]]))
    work = suppressed(dimensions, values, 3)
    assert determined(dimensions, work.hidden, frozenset({(0, 0)})) & {(0, 1)} == set()
    naive = np.zeros(values.shape, dtype=bool)
    naive[:2, :2] = True
    assert determined(dimensions, naive) == set()
    assert (0, 1) in determined(dimensions, naive, frozenset({(0, 0)}))


def test_a_person_alone_in_a_group_is_another_than_one_alone_in_a_total() -> None:
    dimensions = (grouped("a", [2, 2]), flat("b", 2), flat("c", 3))
    leaves = [[[100, 0, 1], [0, 9, 6]], [[0, 9, 0], [9, 0, 1]], [[3, 0, 3], [30, 14, 1]], [[0, 3, 1], [30, 9, 9]]]
    values = all_cells(dimensions, np.array(leaves))
    work = suppressed(dimensions, values, 4)
    # alone in (a0, b0, c2), and so in (a0.0, b0, c2); (a0.1, Total, c2) is somebody else
    told = determined(dimensions, work.hidden, frozenset({(4, 0, 2), (0, 0, 2)}))
    assert not told & set(work.needs)


def test_a_group_whose_children_are_published_is_not_hidden_alone() -> None:
    dimensions = (grouped("a", [2, 2]), flat("b", 2))
    values = all_cells(dimensions, np.array([[2, 90], [1, 80], [40, 70], [50, 60]]))
    work = suppressed(dimensions, values, 4)
    assert work.hidden[4, 0]  # 2 + 1 = 3 in the group
    assert determined(dimensions, work.hidden) == set()


def test_a_table_whose_people_are_all_alone_hides_its_totals_too() -> None:
    dimensions = (flat("r", 2), flat("c", 2))
    values = all_cells(dimensions, np.array([[1, 0], [0, 1]]))
    work = suppressed(dimensions, values, 3)
    assert work.hidden[2, 2]
    assert determined(dimensions, work.hidden) == set()


def test_a_total_of_many_small_parts_is_protected_by_several_cubes() -> None:
    dimensions = (flat("r", 4), flat("c", 2))
    values = all_cells(dimensions, np.array([[3, 200], [3, 300], [4, 400], [5, 900]]))
    needs = {(4, 0): Need(9, 9)}
    work = Suppression(dimensions, values, needs, np.zeros(values.shape, dtype=bool))  # type: ignore[arg-type]
    work.run()
    assert len(work.proofs[4, 0].steps) > 1
    assert disclosed(dimensions, values, work.hidden, needs, work.proofs) == []  # type: ignore[arg-type]
    lower, upper = audit(dimensions, values, work.hidden)[4, 0]
    assert lower <= 15 - 9
    assert upper >= 15 + 9


def test_a_proof_that_touches_published_cells_is_none() -> None:
    values = all_cells(PLAIN, TABLE)
    needs = count_needs(values, 5)
    cube = Cube(((2, 0), (1, 0)))
    hidden = cube.change(PLAIN) != 0
    good = {(2, 1): Proof((Step(cube, 17, 3),))}
    assert disclosed(PLAIN, values, hidden, needs, good) == []  # type: ignore[arg-type]
    for cell in map(tuple, np.argwhere(hidden).tolist()):
        less = hidden.copy()
        less[cell] = False
        assert (2, 1) in disclosed(PLAIN, values, less, needs, good)  # type: ignore[arg-type]
    more = hidden.copy()
    more[0, 2] = True
    assert disclosed(PLAIN, values, more, needs, good) == [(0, 2)]  # type: ignore[arg-type]
    too_far, too_short = Proof((Step(cube, 17, 4),)), Proof((Step(cube, 3, 1),))
    assert (2, 1) in disclosed(PLAIN, values, hidden, needs, {(2, 1): too_far})
    assert (2, 1) in disclosed(PLAIN, values, hidden, needs, {(2, 1): too_short})
    assert (2, 1) in disclosed(PLAIN, values, hidden, needs, {})


def test_primary_rules_by_hand() -> None:
    rules = Rules(Fraction(3), (2, Fraction(80)), Fraction(10))
    # 100 = 60 + 30 + 10: two have 90 of 100; the second knows the first to 10 of 60, above 10 percent
    need, broken = rules.magnitude(100, Contributions(3, 60, 30, 90)) or (None, [])
    assert broken == ["dominance"]
    assert need == Need(13, 13)  # 90 / 0.8 = 112.5
    # 100 = 70 + 26 + 4: 4 is below 10 percent of 70, by 3
    need, broken = rules.magnitude(100, Contributions(3, 70, 26, 96)) or (None, [])
    assert set(broken) == {"dominance", "p_percent"}
    assert need == Need(20, 20)
    need, broken = rules.magnitude(100, Contributions(2, 50, 50, 100)) or (None, [])
    assert "threshold" in broken
    assert rules.magnitude(100, Contributions(10, 20, 15, 35)) is None
    assert rules.count(3, 1) is None
    assert rules.count(2, 1) == Need(0, 0, 3)
    assert rules.count(0, 1) is None


@pytest.mark.parametrize(
    "arguments",
    [(0,), (3, (0, 50)), (3, (2, 0)), (3, (2, 100)), (3, None, 0), (3, None, 101), (3, None, 10, 0)],
)
def test_rules_that_make_no_sense_are_refused(arguments: tuple[object, ...]) -> None:
    with pytest.raises(InvalidParameterError):
        Rules(*arguments)  # type: ignore[arg-type]


def test_magnitudes_are_protected_as_far_as_the_rule_wants() -> None:
    dimensions = (flat("r", 3), flat("c", 3))
    values = all_cells(dimensions, np.array([[500, 40, 300], [250, 90, 410], [120, 60, 700]]))
    needs = {(0, 0): Need(60, 60), (3, 1): Need(20, 20)}
    work = Suppression(dimensions, values, needs, np.zeros(values.shape, dtype=bool))  # type: ignore[arg-type]
    work.run()
    found = audit(dimensions, values, work.hidden)
    for cell, need in needs.items():
        assert found[cell][1] >= values[cell] + need.up
        assert found[cell][0] <= values[cell] - need.down
    assert disclosed(dimensions, values, work.hidden, needs, work.proofs) == []  # type: ignore[arg-type]


def test_the_same_table_is_hidden_in_the_same_way() -> None:
    first, second = (suppressed(PLAIN, all_cells(PLAIN, TABLE), 13).hidden for _ in range(2))
    assert (first == second).all()
