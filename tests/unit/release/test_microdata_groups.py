"""MDAV and record swapping on vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.release.mdav import information_loss, mdav, standardised
from discreet.release.swapping import random_order, swap


def test_mdav_by_hand() -> None:
    groups = mdav(np.array([[1.0], [2.0], [3.0], [50.0], [51.0], [52.0], [99.0], [100.0], [101.0]]), 3)
    found = {frozenset(np.flatnonzero(groups == group).tolist()) for group in np.unique(groups)}
    assert found == {frozenset({0, 1, 2}), frozenset({3, 4, 5}), frozenset({6, 7, 8})}


@given(st.integers(2, 6), st.integers(0, 60), st.integers(1, 3), st.integers(0, 10**6))
def test_every_group_has_from_k_to_2k_minus_1_records(k: int, more: int, columns: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, 9, (k + more, columns)).astype(float)
    sizes = np.bincount(mdav(points, k))
    assert sizes.sum() == k + more
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert 0 <= information_loss(points, mdav(points, k)) <= 1


def test_many_records_are_halved_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.release.mdav.BLOCK", 50)
    points = np.random.default_rng(2).normal(size=(777, 3))
    sizes = np.bincount(mdav(points, 5))
    assert sizes.sum() == 777
    assert sizes.min() >= 5
    assert sizes.max() <= 9


def test_groups_are_near_each_other() -> None:
    # pairs at the corners of a square, far apart: each corner is a group
    corners = np.array([[0, 0], [0, 9], [9, 0], [9, 9]], dtype=float)
    points = np.concatenate([corners, corners + 0.1, corners - 0.1])
    groups = mdav(points, 3)
    assert all(len(set(groups[corner::4].tolist())) == 1 for corner in range(4))


def test_units_do_not_matter() -> None:
    random = np.random.default_rng(1)
    points = random.normal(size=(80, 2))
    assert (mdav(points, 4) == mdav(points * [1000, 0.001], 4)).all()


def test_constant_and_huge_columns_are_standardised() -> None:
    found = standardised(np.array([[5.0, 1e300], [5.0, -1e300], [5.0, 0.0]]))
    assert np.isfinite(found).all()
    assert (found[:, 0] == 0).all()


def test_nothing_is_lost_when_groups_are_of_equals() -> None:
    points = np.repeat(np.arange(5.0), 4)[:, None]
    assert information_loss(points, mdav(points, 4)) == pytest.approx(0)


def test_those_at_risk_are_swapped_with_partners_that_match() -> None:
    match = np.array([0, 0, 0, 1, 1, 1, 1])
    places = np.array([0, 1, 1, 0, 0, 1, 0])
    sizes = np.array([1, 5, 5, 1, 5, 5, 5])
    found = swap(match, places, sizes, 2, 0.0)
    assert found.at_risk == 2
    assert found.without_partner == 0
    assert found.swapped == 4
    moved = np.flatnonzero(found.partner != np.arange(7))
    assert {0, 3} <= set(moved.tolist())
    assert (match[found.partner] == match).all()
    assert (places[found.partner][moved] != places[moved]).all()


@given(st.integers(1, 200), st.integers(1, 4), st.integers(1, 5), st.floats(0, 1), st.integers(0, 10**6))
def test_a_swap_is_a_pairing_that_keeps_what_is_matched(
    n: int, groups: int, places: int, rate: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    match, place = random.integers(0, groups, n), random.integers(0, places, n)
    found = swap(match, place, random.integers(1, 6, n), 3, rate)
    assert (found.partner[found.partner] == np.arange(n)).all()
    assert (match[found.partner] == match).all()
    moved = found.partner != np.arange(n)
    assert (place[found.partner][moved] != place[moved]).all()


def test_without_a_partner_a_record_stays() -> None:
    found = swap(np.array([0, 1]), np.array([0, 1]), np.array([1, 1]), 2, 1.0)
    assert found.swapped == 0
    assert found.without_partner == 2


def test_the_order_is_another_every_time() -> None:
    # equal with probability 1 / 50!
    assert random_order(50).tolist() != random_order(50).tolist()
    assert sorted(random_order(50).tolist()) == list(range(50))
