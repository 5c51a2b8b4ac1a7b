"""Recoding: the best combination of levels against all of them, and boxes that keep their promise."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameterError
from discreet.release import mondrian
from discreet.release.classes import Composition, numbered
from discreet.release.hierarchy import Hierarchy, Values
from discreet.release.lattice import Search
from discreet.release.problem import Claim, Table, suppressed
from discreet.release.recoding import recode

TREE = {"tree": {"any": {"a-c": ["a", "b", "c"], "d-f": {"d-e": ["d", "e"], "f": ["f"]}}}}


def quiet(message: str) -> None:
    pass


def hierarchies(texts: list[list[str]]) -> list[Hierarchy]:
    wishes: list[tuple[str, object]] = [("integer", {"intervals": [2, 4]}), ("text", TREE), ("text", "suppress")]
    columns = zip("xyz", texts, wishes, strict=True)
    return [Hierarchy.of(Values(name, kind, column, False), wish) for name, column, (kind, wish) in columns]


rows = st.lists(
    st.tuples(st.integers(0, 7), st.sampled_from("abcdef"), st.sampled_from("mf"), st.integers(0, 2)),
    min_size=4,
    max_size=60,
)
claims = st.builds(
    Claim,
    st.integers(2, 4),
    st.sampled_from([None, 2]),
    st.sampled_from([None, Fraction(1, 3)]),
    st.sampled_from(["equal", "ordered"]),
    st.sampled_from([Fraction(0), Fraction(1, 5)]),
)


def tabled(people: list[tuple[int, str, str, int]]) -> tuple[Table, list[Hierarchy]]:
    columns = [list(column) for column in zip(*people, strict=True)]
    texts = [[str(value) for value in sorted(set(column))] for column in columns]
    codes = [np.array([sorted(set(column)).index(value) for value in column], dtype=np.int64) for column in columns]
    table = Table(codes[:3], codes[3], len(texts[3]), np.ones(len(people), dtype=np.int64))
    return table, hierarchies(texts[:3])


def meets(claim: Claim, table: Table, class_of: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    kept = class_of >= 0
    composition = Composition.of(
        class_of[kept], int(class_of.max()) + 1, table.sensitive[kept], table.count[kept], table.values
    )
    assert composition.sizes.min() >= claim.k
    assert claim.l is None or composition.cells_per_class.min() >= claim.l
    assert int(table.count[~kept].sum()) <= claim.max_suppression * table.rows
    if claim.distance == "equal":
        assert not claim.far(composition).any()


@settings(max_examples=150)
@given(rows, claims)
def test_the_best_generalisation_is_that_of_a_search_through_all(
    people: list[tuple[int, str, str, int]], claim: Claim
) -> None:
    table, columns = tabled(people)
    search = Search(claim, table, columns, quiet)
    losses = {}
    for levels in product(*(range(len(column.levels)) for column in columns)):
        chosen = [column.levels[level] for column, level in zip(columns, levels, strict=True)]
        class_of, classes = numbered([level.group[codes] for level, codes in zip(chosen, table.codes, strict=True)])
        composition = Composition.of(class_of, classes, table.sensitive, table.count, table.values)
        out, left_out, monotone = suppressed(claim, composition, search.most)
        if monotone and left_out <= search.most and left_out < table.rows:
            lost = sum(level.loss[codes] for level, codes in zip(chosen, table.codes, strict=True))
            losses[levels] = (float(lost[~out[class_of]].sum()) + 3 * left_out) / (3 * table.rows)  # type: ignore[index]
    if not losses:
        with pytest.raises(InvalidParameterError):
            search.run()
        return
    best = search.run()
    assert best.loss == pytest.approx(min(losses.values()))
    meets(claim, table, best.class_of)


@settings(max_examples=150)
@given(rows, claims)
def test_boxes_meet_the_claim_and_no_value_lies_in_two_of_them(
    people: list[tuple[int, str, str, int]], claim: Claim
) -> None:
    table, columns = tabled(people)
    if claim.l is not None and len(set(table.sensitive.tolist())) < claim.l:
        with pytest.raises(InvalidParameterError, match="fewer than l"):
            recode("mondrian", claim, table, columns, quiet)
        return
    made = recode("mondrian", claim, table, columns, quiet)
    meets(claim, table, made.class_of)
    combination, combinations = numbered(table.codes)
    assert len(set(zip(combination.tolist(), made.class_of.tolist(), strict=True))) == combinations
    assert all(labels is not None and len(labels) == made.classes for labels in made.labels)


def test_boxes_are_cut_until_no_half_would_be_large_enough() -> None:
    table, columns = tabled([(n, "a", "m", 0) for n in range(8) for _ in range(2)])
    assert recode("mondrian", Claim(2), table, columns, quiet).labels[0] == [str(n) for n in range(8)]
    assert recode("mondrian", Claim(4), table, columns, quiet).labels[0] == ["0-1", "2-3", "4-5", "6-7"]
    assert recode("mondrian", Claim(9), table, columns, quiet).labels[0] == ["*"]


def test_a_row_that_stands_alone_is_left_out_rather_than_generalising_all() -> None:
    people = [(n % 8, "a", "m", 0) for n in range(80)] + [(0, "f", "f", 0)]
    table, columns = tabled(people)
    made = recode("optimal", Claim(5, max_suppression=Fraction(1, 50)), table, columns, quiet)
    assert (made.levels, int((made.class_of < 0).sum())) == (["as it is"] * 3, 1)
    strict = recode("optimal", Claim(5), table, columns, quiet)
    assert (strict.levels[0], int((strict.class_of < 0).sum())) == ("as it is", 0)
    assert "would leave out 1.23 % of the rows" in strict.why


def test_the_example_of_ages_needs_ranges_of_a_decade() -> None:
    ages = [21, 23, 26, 32, 33, 35, 36, 43, 45, 22, 24, 26, 27, 32, 33, 43, 45, 49]
    known = sorted(set(ages))
    values = Values("age", "integer", [str(age) for age in known], False)
    codes = [np.array([known.index(age) for age in ages]), np.array([0] * 9 + [1] * 9)]
    province = Hierarchy.of(Values("province", "text", ["BC", "ON"], False), {"tree": {"Canada": ["BC", "ON"]}})
    table = Table(codes, codes[1] * 0, 1, np.ones(18, dtype=np.int64))
    for wish, level, labels in [
        ({"intervals": [10, 50]}, "intervals of 10", {"20-29", "30-39", "40-49"}),
        ({"ranges": [[20, 27, 36, 50]]}, "cuts at 20, 27, 36, 50", {"20-26", "27-35", "36-49"}),
    ]:
        made = recode("optimal", Claim(2), table, [Hierarchy.of(values, wish), province], quiet)
        assert made.levels == [level, "as it is"]
        assert set(made.labels[0] or []) == labels


@pytest.mark.parametrize(
    ("kind", "texts", "wish", "expected"),
    [
        ("integer", ["-3", "4", "11"], {"intervals": [5]}, [["-5 to -1", "0-4", "10-14"], ["*"] * 3]),
        ("numeric", ["0.5", "7.25", "NaN"], {"intervals": [5]}, [["[0,5)", "[5,10)", "NaN"], ["*"] * 3]),
        ("integer", ["5", "25", "60"], {"ranges": [[18, 30]]}, [["<18", "18-29", ">=30"], ["*"] * 3]),
        ("text", ["02139", "02142", "94105"], {"digits": 5}, [["021**", "021**", "941**"]]),
        ("integer", ["2139", "94105"], {"digits": 5}, [["0213*", "9410*"]]),
        ("date", ["1980-05-17", "1985-05-02", "infinity"], {"truncate": ["year", "decade"]},
         [["1980", "1985", "infinity"], ["1980s", "1980s", "infinity"]]),
    ],
)  # fmt: skip
def test_levels_are_what_was_asked_for(kind: str, texts: list[str], wish: object, expected: list[list[str]]) -> None:
    made = Hierarchy.of(Values("c", kind, texts, False), wish)
    shown = [[level.labels[group] for group in level.group] for level in made.levels]
    kept = [level for level in expected if len(set(level)) < len(texts)]
    assert shown[0] == texts
    assert shown[1 : 1 + len(kept)] == kept
    assert set(shown[-1]) == {"*"}


def test_null_is_a_group_of_its_own_until_all_are_one() -> None:
    made = Hierarchy.of(Values("c", "integer", ["1", "2"], True), {"intervals": [10]})
    assert [[level.labels[group] for group in level.group] for level in made.levels] == [
        ["1", "2", None], ["0-9", "0-9", None], ["*", "*", "*"],
    ]  # fmt: skip
    assert [level.loss.tolist() for level in made.levels] == [[0, 0, 0], [0.5, 0.5, 0], [1, 1, 1]]


@pytest.mark.parametrize(
    ("kind", "texts", "levels"),
    [
        ("integer", [str(n) for n in range(17, 91)], ["intervals of 5", "intervals of 10", "intervals of 40"]),
        ("text", ["02139", "02134", "94105"], ["4 digits"]),
        ("text", ["red", "green"], []),
        ("boolean", ["false", "true"], []),
        ("date", ["1880-05-17", "1980-06-02", "1980-07-02"], ["by year"]),
        ("double precision", ["0.001", "0.0012", "0.002"], []),
    ],
)  # fmt: skip
def test_hierarchies_are_made_up_where_none_is_given(kind: str, texts: list[str], levels: list[str]) -> None:
    made = Hierarchy.of(Values("c", kind, texts, False), "auto")
    names = [level.name for level in made.levels]
    assert (names[0], names[-1]) == ("as it is", "suppressed")
    assert [name for name in levels if name not in names] == []
    for level in made.levels:
        again = Hierarchy.level_of(made.values, made.wish, level.name)
        assert (again.labels, again.group.tolist()) == (level.labels, level.group.tolist())


@pytest.mark.parametrize(
    ("kind", "wish", "message"),
    [
        ("integer", {"intervals": [2, 3]}, "level 'intervals of 3' of c splits groups of level 'intervals of 2'"),
        ("integer", {"intervals": [10, 5]}, "intervals of c are numbers that grow"),
        ("integer", {"intervals": [0]}, "intervals of c must be wider than zero"),
        ("integer", {"intervals": ["x"]}, "intervals of c are numbers that grow"),
        ("text", {"intervals": [5]}, "c is text, which has no intervals"),
        ("text", {"truncate": ["year"]}, "c is text, which cannot be truncated"),
        ("integer", {"digits": 0}, "the hierarchy of c is not understood"),
        ("integer", {"truncate": ["week"]}, "the hierarchy of c is not understood"),
        ("integer", "whatever", "the hierarchy of c is not understood"),
        ("integer", {"tree": {"any": ["1", "2", "3", "4"]}, "digits": 1}, "the hierarchy of c is not understood"),
        ("integer", {"tree": {"any": {"n": ["1"], "m": {"n": ["2"]}}}}, "'n' is in the tree twice"),
        ("integer", {"tree": {"any": ["1"]}}, "the tree of c lacks '2', '3', '4'"),
    ],
)
def test_what_is_no_hierarchy_is_refused(kind: str, wish: object, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        Hierarchy.of(Values("c", kind, ["1", "2", "3", "4"], False), wish)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), claims, st.sampled_from([1, 997, 10**6]))
def test_boxes_do_not_depend_on_how_far_apart_codes_are(seed: int, claim: Claim, apart: int) -> None:
    """Codes of two and of four bytes; medians that are counted, and those that are sorted for."""
    random = np.random.default_rng(seed)
    codes = [random.integers(0, most, 300) for most in (5, 40, 300)]
    sensitive, count = random.integers(0, 4, 300), random.integers(1, 4, 300)
    near, far = (
        mondrian.cut(claim, Table([each * times for each in codes], sensitive, 4, count), quiet) for times in (1, apart)
    )
    assert np.array_equal(near.class_of, far.class_of)
    assert near.classes == far.classes == int(near.class_of.max()) + 1
    for number, box in near.tree.items():
        other = far.tree[number]
        assert other == (box if isinstance(box, int) else replace(box, last=box.last * apart))


@pytest.mark.parametrize("k", [2, 5, 20])
def test_each_box_is_cut_at_its_median(k: int) -> None:
    """Against a search that goes box by box, in plain Python."""
    random = np.random.default_rng(k)
    codes = [random.integers(0, most, 400) for most in (9, 50, 200)]
    count = random.integers(1, 4, 400)
    found = mondrian.cut(Claim(k), Table(codes, 0 * count, 1, count), quiet)

    def best(rows: list[int]) -> tuple[int, int] | None:
        widths = [(max(c[rows]) - min(c[rows])) / (max(c) - min(c)) for c in codes]
        for column in sorted(range(3), key=lambda each: -widths[each]):
            values = sorted(set(codes[column][rows].tolist()))[:-1]
            below = [int(sum(count[r] for r in rows if codes[column][r] <= value)) for value in values]
            total = int(sum(count[rows]))
            if not values:
                continue
            even = min(range(len(values)), key=lambda n: abs(2 * below[n] - total))
            if min(below[even], total - below[even]) >= k:
                return column, values[even]
        return None

    boxes, classes = [(0, list(range(400)))], 0
    for number, rows in boxes:
        node, wanted = found.tree[number], best(rows)
        if wanted is None:
            assert isinstance(node, int)
            assert set(found.class_of[rows]) == {node}
            classes += 1
            continue
        assert isinstance(node, mondrian.Cut)
        assert (node.column, node.last) == wanted
        for half, above in ((node.low, False), (node.high, True)):
            boxes.append((half, [r for r in rows if (codes[node.column][r] > node.last) == above]))
    assert classes == found.classes > 5
