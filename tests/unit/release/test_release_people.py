"""Where somebody may have several rows: people are counted as sets of them are, in every group and every release."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.release import diversity
from discreet.release.classes import Composition, Ints, People, numbered, summed
from discreet.release.differencing import isolated
from discreet.release.hierarchy import Hierarchy, Values
from discreet.release.problem import Claim, Table
from discreet.release.recoding import recode

# person, age, disease
records = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 7), st.integers(0, 2)), min_size=6, max_size=60)


def ints(*values: int) -> Ints:
    return np.array(values, dtype=np.int64)


def tabled(rows: list[tuple[int, int, int]]) -> tuple[Table, list[set[int]]]:
    """The table of combinations of age and disease; and who is in which."""
    cells = sorted({(age, disease) for _, age, disease in rows})
    who = [{person for person, *rest in rows if tuple(rest) == cell} for cell in cells]
    count = ints(*(sum(tuple(rest) == cell for _, *rest in rows) for cell in cells))
    pairs = [(place, person) for place, people in enumerate(who) for person in people]
    people = People.of(len(cells), ints(*(row for row, _ in pairs)), ints(*(person for _, person in pairs)))
    ages = numbered([ints(*(age for age, _ in cells))])[0]
    return Table([ages], ints(*(disease for _, disease in cells)), 3, count, people), who


@settings(max_examples=100)
@given(records, st.integers(1, 4))
def test_people_of_groups_are_those_of_the_sets(rows: list[tuple[int, int, int]], groups: int) -> None:
    table, who = tabled(rows)
    group = np.arange(len(who), dtype=np.int64) % groups
    together = [set().union(*(who[row] for row in np.flatnonzero(group == each))) for each in range(groups)]
    assert table.people is not None
    assert table.people.within(group, groups).tolist() == [len(people) for people in together]
    assert table.people.total == len(set().union(*who))
    assert table.weight.tolist() == [len(people) for people in who]
    some = np.flatnonzero(group == 0)[::-1]
    assert table.people.only(some).within(0 * some, 1).tolist() == [len(together[0])]


@settings(max_examples=100)
@given(
    records,
    st.builds(
        Claim, st.integers(2, 3), st.sampled_from([None, 2]), st.sampled_from([None, Fraction(1, 3)]),
        st.just("equal"), st.just(Fraction(1, 2)),
    ),
    st.sampled_from(["optimal", "mondrian"]),
)  # fmt: skip
def test_a_release_keeps_its_promise_about_people(rows: list[tuple[int, int, int]], claim: Claim, method: str) -> None:
    table, who = tabled(rows)
    texts = [str(age) for age in sorted({age for _, age, _ in rows})]
    hierarchy = Hierarchy.of(Values("age", "integer", texts, False), {"intervals": [2, 4]})
    try:
        made = recode(method, claim, table, [hierarchy], lambda _: None)
    except InvalidParameterError:
        # only what even one class of all cannot meet
        everybody = Composition.of(0 * table.count, 1, table.sensitive, table.count, table.values, table.people)
        assert everybody.people[0] < claim.k or (claim.l is not None and diversity.distinct(everybody) < claim.l)
        return
    for each in range(made.classes):
        inside = np.flatnonzero(made.class_of == each)
        people = set().union(*(who[row] for row in inside))
        if method == "optimal" or made.classes > 1:
            assert len(people) >= claim.k
            if claim.l is not None:
                values = set(table.sensitive[inside].tolist())
                assert len(values) >= claim.l
                for value in values:
                    having = set().union(*(who[row] for row in inside if table.sensitive[row] == value))
                    assert having != people
    assert int(table.count[made.class_of < 0].sum()) <= claim.max_suppression * table.rows


def test_what_everybody_in_a_class_has_is_told_however_many_other_values_there_are() -> None:
    # three people with flu, of whom one has two more diseases
    value, person = ints(0, 0, 0, 1, 2), ints(0, 1, 2, 2, 2)
    rows = Composition.of(0 * value, 1, value, 0 * value + 1, 3)
    people = Composition.of(0 * value, 1, value, 0 * value + 1, 3, People.of(5, np.arange(5), person))
    assert (diversity.distinct(rows), diversity.distinct(people)) == (3, 1)
    assert people.people.tolist() == [3]
    assert people.holders.tolist() == [3, 1, 1]
    assert summed(0 * value, 0 * value + 1, 1).tolist() == rows.people.tolist()


def test_rows_of_nobody_count_for_nobody() -> None:
    people = People.of(3, ints(0, 1, 2), ints(-1, 4, -1))
    assert people.within(ints(0, 0, 1), 2).tolist() == [1, 0]


@pytest.mark.parametrize(("rows_of_the_new_one", "told"), [(1, True), (3, True), (5, False)])
def test_who_came_with_several_rows_shows(rows_of_the_new_one: int, told: bool) -> None:
    """k = 2: 5 more rows are not of one person where nobody has more than 4, 3 may be."""
    person = ints(0, 1, 2, 3)
    count = ints(4, 3, 2, 1)
    people = People.of(4, np.arange(4), person)
    found = isolated(0 * person, 0 * person, count, ints(10 - rows_of_the_new_one), ints(10), 2, people)
    assert bool(found) is told
    assert all(each.rows == rows_of_the_new_one for each in found)


def test_one_person_with_many_rows_between_two_releases_is_told_apart() -> None:
    # the last combination: ten rows of one person, in the first class of one release and the second of the other
    old, new, count = ints(0, 1, 0), ints(0, 1, 1), ints(10, 10, 10)
    assert isolated(old, new, count, ints(20, 10), ints(10, 20), 5) == []
    people = People.of(3, np.repeat(np.arange(3), (10, 10, 1)), np.arange(21))
    found = isolated(old, new, count, ints(20, 10), ints(10, 20), 5, people)
    assert [(each.old, each.new, each.rows, each.inside) for each in found] == [(0, 1, 1, "both")]
