"""What is answered, decided by who is in which set."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.audited.auditing import Auditor

from discreet.audited.decision import size_denial, state_of


def span(first: int, last: int) -> set[int]:
    return set(range(first, last))


@pytest.mark.parametrize(
    ("size", "answered"), [(0, False), (9, False), (10, True), (90, True), (91, False), (99, False), (100, True)]
)
def test_the_size_rule(size: int, answered: bool) -> None:
    assert (size_denial([50, size], 100, 10) is None) == answered


def test_of_fewer_people_than_twice_the_least_only_all_are_answered() -> None:
    assert [size for size in range(16) if size_denial([size], 15, 10) is None] == [15]


def test_the_difference_of_two_sets_is_denied() -> None:
    auditor = Auditor()
    assert auditor.answers(span(0, 100))
    assert not auditor.answers(span(1, 100))
    assert not auditor.answers(span(9, 100))
    assert auditor.answers(span(10, 100))


def test_the_same_question_is_answered_again() -> None:
    auditor = Auditor()
    assert all(auditor.answers(span(0, 100)) for _ in range(3))
    assert auditor.history.rows(1).asked == 1


def test_three_sets_that_determine_a_pair() -> None:
    auditor, x, a, b, y = Auditor(), span(0, 50), span(50, 55), span(55, 59), span(100, 130)
    assert auditor.answers(a | y)
    assert auditor.answers(x | a | b)
    assert not auditor.answers(x)


def test_small_atoms_alone_are_no_reason_to_deny() -> None:
    """Of ten sets that overlap in twos, each two share one person; no sum of few is determined."""
    auditor = Auditor(least=3)
    sets = [{10 * min(i, j) + max(i, j) for j in range(10) if j != i} for i in range(10)]
    assert all(auditor.answers(some) for some in sets[:6])
    _, _, smallest = state_of(auditor.history, 1, [])
    assert smallest == 1


def test_columns_have_histories_of_their_own() -> None:
    auditor = Auditor()
    assert auditor.answers(span(0, 100), column=1)
    assert auditor.answers(span(1, 100), column=2)
    assert not auditor.answers(span(0, 100), column=2)
    assert auditor.answers(span(0, 50), column=1)


def test_groups_are_judged_together() -> None:
    auditor = Auditor()
    assert auditor.answers(span(0, 100))
    assert not auditor.answers(span(0, 50), span(50, 95))
    assert auditor.answers(span(0, 50), span(50, 100))


def test_a_known_person_hides_nobody() -> None:
    assert Auditor().answers(span(0, 10))
    assert not Auditor(known=[3]).answers(span(0, 10))
    auditor = Auditor(known=[3])
    assert auditor.answers(span(0, 100))
    assert not auditor.answers(span(10, 100))
    assert auditor.answers(span(11, 100))


def test_what_is_known_may_be_told() -> None:
    auditor = Auditor(known=range(5))
    assert auditor.answers(span(0, 100))
    assert auditor.answers(span(5, 100))


def test_one_new_version_between_two_questions_is_denied() -> None:
    auditor = Auditor()
    assert auditor.answers(span(0, 100))
    auditor.write(7)
    assert not auditor.answers(span(0, 100))
    auditor.write(*range(8, 20))
    assert auditor.answers(span(0, 100))


def test_versions_are_taken_for_the_same_value_too() -> None:
    auditor = Auditor()
    assert auditor.answers(span(0, 100))
    auditor.write(*range(100))
    assert not auditor.answers(span(1, 100))
    assert auditor.answers(span(0, 100))


def test_versions_of_one_person_count_once() -> None:
    """Nine people with two versions each are nine, not eighteen."""
    auditor = Auditor()
    assert auditor.answers(span(0, 100))
    auditor.write(*range(9))
    assert not auditor.answers(span(0, 100))


def test_a_session_that_was_not_there_reads_the_same_history() -> None:
    auditor, random = Auditor(), Random(3)
    for _ in range(12):
        auditor.write(*random.sample(range(300), 40))
        auditor.answers(set(random.sample(range(300), 150)))
        auditor.answers(set(random.sample(range(300), 20)), column=2)
    mine, read = auditor.history, auditor.replayed()
    again = type(mine).unpacked(mine.packed())
    for other in (read, again):
        assert np.array_equal(mine.people, other.people)
        assert np.array_equal(mine.atoms, other.atoms)
        for column, rows in mine.columns.items():
            assert np.array_equal(rows.entries, other.columns[column].entries)
            assert rows.numbers == other.columns[column].numbers


def test_what_follows_from_earlier_answers_is_dropped() -> None:
    auditor = Auditor(least=3)
    # two sets share an atom of two people: from here on all is computed
    assert auditor.answers(span(0, 20))
    assert auditor.answers(span(18, 40))
    assert auditor.answers(span(0, 50), span(50, 100))
    before = len(auditor.history.rows(1).numbers)
    assert auditor.answers(span(0, 100))
    assert len(auditor.history.rows(1).numbers) == before
    assert auditor.history.rows(1).asked == before + 1


# -- against all combinations


def rank(rows: list[list[int]]) -> int:
    """In exact fractions."""
    left, found = [[Fraction(entry) for entry in row] for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in left[found:] if row[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        left.insert(found, pivot)
        for place in range(found + 1, len(left)):
            factor = left[place][column] / pivot[column]
            left[place] = [a - factor * b for a, b in zip(left[place], pivot, strict=True)]
        found += 1
    return found


def determines_few(rows: list[list[int]], owners: list[int], least: int) -> bool:
    """Whether some vector of the span touches columns of fewer than `least` people, by trying all such groups."""
    whole = rank(rows)
    for group in combinations(sorted(set(owners)), least - 1):
        outside = [[entry for entry, owner in zip(row, owners, strict=True) if owner not in group] for row in rows]
        if rank(outside) < whole:
            return True
    return False


PERSONS = 6
SETS = st.frozensets(st.integers(0, PERSONS - 1), min_size=1)
STEPS = st.lists(st.tuples(SETS, st.frozensets(st.integers(0, PERSONS - 1))), min_size=1, max_size=6)


@settings(max_examples=100)
@given(STEPS, st.integers(2, 4))
def test_answered_is_what_determines_no_few_and_nothing_else_is_denied(
    steps: list[tuple[frozenset[int], frozenset[int]]], least: int
) -> None:
    """Of versions taken for other values, and for the same: against all groups of people, in exact fractions."""
    auditor = Auditor(least)
    answered: list[dict[tuple[int, int], int]] = []
    for asked, written in steps:
        row = {(number, auditor.versions.get(number, 1)): 1 for number in asked}
        columns = sorted({key for one in [*answered, row] for key in one})
        rows = [[one.get(key, 0) for key in columns] for one in [*answered, row]]
        merged = [
            [sum(one.get(key, 0) for key in columns if key[0] == n) for n in range(PERSONS)] for one in [*answered, row]
        ]
        few = determines_few(rows, [number for number, _ in columns], least)
        few |= determines_few(merged, list(range(PERSONS)), least)
        allowed = auditor.answers(asked)
        assert allowed == (not few)
        if allowed:
            answered.append(row)
        auditor.write(*written)


def test_nothing_is_determined_by_500_random_sets() -> None:
    """The attack of Dinur and Nissim on the auditor itself: rank stays so low that nobody is determined."""
    auditor, random, rows = Auditor(), Random(5), []
    for _ in range(500):
        chosen = set(random.sample(range(40), 20))
        if auditor.answers(chosen):
            rows.append([number in chosen for number in range(40)])
    matrix = np.array(rows, dtype=float)
    whole = np.linalg.matrix_rank(matrix)
    assert 2 <= whole <= 40 - 10
    assert all(np.linalg.matrix_rank(np.delete(matrix, person, axis=1)) == whole for person in range(40))
