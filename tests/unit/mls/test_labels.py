"""Labels are bitsets: dominance, bounds and texts agree with what they mean."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.mls.labels import MOST_COMPARTMENTS, MOST_LEVELS, Lattice, dominates

LATTICE = Lattice(("U", "C", "S", "TS"), ("NATO", "CRYPTO"))
LABELS = [
    (level, inside)
    for level, inside in product(range(4), [frozenset(), frozenset({0}), frozenset({1}), frozenset({0, 1})])
]


def text(level: int, inside: frozenset[int]) -> str:
    listed = ",".join(LATTICE.compartments[place] for place in sorted(inside))
    return LATTICE.levels[level] + (f":{listed}" if listed else "")


def test_dominance_is_a_higher_level_and_all_compartments() -> None:
    for (level, inside), (other, others) in product(LABELS, LABELS):
        expected = level >= other and inside >= others
        assert dominates(LATTICE.bits(text(level, inside)), LATTICE.bits(text(other, others))) == expected


def test_bounds_are_or_and_and() -> None:
    for (level, inside), (other, others) in product(LABELS, LABELS):
        one, two = LATTICE.bits(text(level, inside)), LATTICE.bits(text(other, others))
        assert LATTICE.text(one | two) == text(max(level, other), inside | others)
        assert LATTICE.text(one & two) == text(min(level, other), inside & others)


def test_texts_come_back_and_compartments_may_be_written_in_any_order() -> None:
    assert all(LATTICE.text(LATTICE.bits(text(*label))) == text(*label) for label in LABELS)
    assert LATTICE.bits("TS:CRYPTO,NATO") == LATTICE.bits("TS:NATO,CRYPTO")


@given(st.integers(1, MOST_LEVELS), st.integers(0, MOST_COMPARTMENTS))
def test_the_largest_label_is_a_positive_bigint(levels: int, compartments: int) -> None:
    lattice = Lattice(tuple(f"l{n}" for n in range(levels)), tuple(f"c{n}" for n in range(compartments)))
    top = lattice.levels[-1] + (":" + ",".join(lattice.compartments) if compartments else "")
    assert 0 <= lattice.bits(top) < 2**62
    assert lattice.text(lattice.bits(top)) == top


def test_a_longer_lattice_keeps_all_labels() -> None:
    longer = Lattice((*LATTICE.levels, "COSMIC"), (*LATTICE.compartments, "BOMB"))
    assert longer.extends(LATTICE)
    assert all(longer.text(LATTICE.bits(text(*label))) == text(*label) for label in LABELS)
    assert not Lattice(("C", "U")).extends(LATTICE)
    assert not LATTICE.extends(longer)


@pytest.mark.parametrize("label", ["", "X", "S:", "S:X", "S:NATO,", ":NATO", "s", "S,NATO", "S: NATO"])
def test_what_is_no_label_is_refused(label: str) -> None:
    with pytest.raises(InvalidParameterError):
        LATTICE.bits(label)


@pytest.mark.parametrize(
    ("levels", "compartments"),
    [
        ((), ()),
        (("U", "U"), ()),
        (("U",), ("A", "A")),
        (("",), ()),
        (("U ",), ()),
        (("U:X",), ()),
        (("U",), ("A,B",)),
        (("{U}",), ()),
        (("U" * 64,), ()),
        ((["U", "C"], ["S", "T"]), ()),
        (tuple(f"l{n}" for n in range(MOST_LEVELS + 1)), ()),
        (("U",), tuple(f"c{n}" for n in range(MOST_COMPARTMENTS + 1))),
    ],
)
def test_names_that_labels_could_not_be_made_of_are_refused(
    levels: tuple[str, ...], compartments: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidParameterError):
        Lattice(levels, compartments)
