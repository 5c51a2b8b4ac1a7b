"""Plans: grouping sets, and measurements that are shared where the same number is wanted twice."""

from __future__ import annotations

import pytest
from tests.corpus.sample import planned

from discreet.core.declarations import LONGEST_CATEGORY
from discreet.core.errors import DiscreetError
from discreet.gate.grouping import MOST_KEYS, Key
from discreet.gate.printer import printed
from discreet.gate.run import statements
from discreet.gate.schema import Family
from discreet.gate.tree import Canonical, Column, Type
from discreet.gate.values import LONGEST_KEY, untyped

STAFF = "SELECT {} FROM hr.employee"
VISITS = "SELECT {} FROM clinic.visit"


def quantities(sql: str) -> list[str]:
    return sorted(measurement.quantity for measurement in planned(sql).measurements)


@pytest.mark.parametrize(
    ("columns", "measured"),
    [
        ("count(*)", "rows"),
        ("count(*), count(*) AS again, count(*) + 1", "rows"),
        ("sum(salary)", "total"),
        ("avg(salary)", "centred values"),
        ("sum(salary), avg(salary)", "centred values"),
        ("count(salary), sum(salary), avg(salary)", "centred values"),
        ("count(salary), avg(salary), sum(salary) / count(salary)", "centred values"),
        ("count(salary), sum(salary)", "rows total"),
        ("stddev(salary), variance(salary), stddev_pop(salary)", "centred squares values"),
        ("count(DISTINCT zip)", "distinct"),
        ("count(DISTINCT id)", "people"),
        ("min(salary), max(salary)", "quantile quantile quantile quantile"),
        ("max(salary), percentile_cont(1) WITHIN GROUP (ORDER BY salary)", "quantile quantile"),
        ("count(*) FILTER (WHERE gender = 'F'), count(*)", "rows rows"),
        ("avg(salary), avg(salary * 2)", "centred centred values values"),
    ],
)
def test_measurements_are_shared(columns: str, measured: str) -> None:
    assert quantities(STAFF.format(columns)) == measured.split()


def test_unknown_keys_need_the_number_of_people_which_is_count_where_each_has_one_row() -> None:
    assert quantities(STAFF.format("zip, count(*)") + " GROUP BY zip") == ["people"]
    assert quantities(VISITS.format("day, count(*)") + " GROUP BY day") == ["people", "rows"]
    assert quantities(STAFF.format("zip") + " GROUP BY zip") == ["people"]


def test_known_keys_need_nothing_more() -> None:
    assert quantities(STAFF.format("dept, count(*)") + " GROUP BY dept") == ["rows"]
    assert not planned(STAFF.format("dept, count(*)") + " GROUP BY dept").thresholds
    assert planned(STAFF.format("dept, zip, count(*)") + " GROUP BY dept, zip").thresholds


@pytest.mark.parametrize(
    ("clause", "sets"),
    [
        ("dept", [(0,)]),
        ("dept, dept", [(0,)]),
        ("1, gender", [(0, 1)]),
        ("ROLLUP (dept, gender)", [(0, 1), (0,), ()]),
        ("ROLLUP ((dept, gender), zip)", [(0, 1, 2), (0, 1), ()]),
        ("CUBE (dept, gender)", [(0, 1), (0,), (1,), ()]),
        ("GROUPING SETS ((dept), (gender), ())", [(0,), (1,), ()]),
        ("GROUPING SETS (ROLLUP (dept, gender), zip)", [(0, 1), (0,), (), (2,)]),
        ("GROUPING SETS (" + ", ".join(["(dept)"] * 32) + ")", [(0,)] * 32),
        ("dept, ROLLUP (gender)", [(0, 1), (0,)]),
        ("()", [()]),
    ],
)
def test_grouping_sets_are_those_of_sql(clause: str, sets: list[tuple[int, ...]]) -> None:
    columns = "count(*)" if clause == "()" else "dept, count(*)"
    assert list(planned(f"{STAFF.format(columns)} GROUP BY {clause}").grouping.sets) == sets


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("CUBE (dept, gender, zip, position, hired, dob)", "32 grouping sets"),
        ("CUBE (dept, gender, zip), CUBE (position, hired, dob)", "32 grouping sets"),
        ("CUBE (" + ", ".join(f"salary + {n}" for n in range(60)) + ")", "32 grouping sets"),
        ("GROUPING SETS (" + ", ".join(["(dept)"] * 33) + ")", "32 grouping sets"),
        ("GROUPING SETS (" + ", ".join(["CUBE (dept, gender)"] * 9) + ")", "32 grouping sets"),
        ("2", "no position|function count|aggregate"),
        ("9", "no position"),
        ("id", "singles out"),
        ("'a'", "constant"),
    ],
)
def test_grouping_that_cannot_be_answered_is_refused(clause: str, words: str) -> None:
    with pytest.raises(DiscreetError, match=words):
        planned(f"SELECT dept, count(*) FROM hr.employee GROUP BY {clause}")


def test_a_key_has_one_text_for_all_its_equals() -> None:
    assert canonical(Family.NUMERIC) == 'pg_catalog.trim_scale("t"."x")'
    assert "+" in canonical(Family.FLOAT)
    assert '_text("t"."x")' in canonical(Family.OTHER)
    assert canonical(Family.TEXT) == f'discreet._cut(("t"."x" COLLATE pg_catalog."default"), {LONGEST_KEY})'


def canonical(family: Family) -> str:
    return printed(Key(Column(0, "x", "t", type=Type(family))).canonical)


def test_known_values_are_cut_as_those_of_rows_are() -> None:
    """And a category that would be cut cannot be declared."""
    key = Key(Column(0, "x", "t", type=Type(Family.TEXT), domain=(untyped("a"),)))
    assert key.canonical_groups == [f"discreet._cut('a', {LONGEST_KEY})"]
    assert LONGEST_CATEGORY <= LONGEST_KEY


def test_there_are_so_many_group_keys_and_no_more() -> None:
    keys = [f"substr(zip, {n})" for n in range(1, MOST_KEYS + 2)]
    assert len(planned(f"SELECT count(*) FROM hr.employee GROUP BY {', '.join(keys[:-1])}").grouping.keys) == MOST_KEYS
    with pytest.raises(DiscreetError, match=f"more than {MOST_KEYS} group keys"):
        planned(f"SELECT count(*) FROM hr.employee GROUP BY {', '.join(keys)}")


def test_texts_are_cut_where_they_are_grouped_and_nowhere_else() -> None:
    """Cut where they are shown, two cells of one person would come into one group."""
    (statement,) = statements(planned("SELECT ward, count(*) FROM clinic.visit GROUP BY ward"), (0,), 1)
    assert len(statement.ways) == 3
    for way in statement.ways:
        assert way.count(f", {LONGEST_KEY}) AS k0") == way.count("discreet._cut") == 1


def test_distinct_values_that_are_equal_are_one_whichever_row_comes_first() -> None:
    (distinct,) = planned("SELECT count(DISTINCT salary) FROM hr.employee").measurements
    assert isinstance(distinct.subject.argument, Canonical)
    assert "trim_scale" in printed(distinct.subject.argument)


def test_the_outer_select_adds_no_measurement() -> None:
    inner = "SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept"
    outer = planned(f"SELECT max(n), avg(n), n / 2 AS h FROM ({inner}) t WHERE n > 3 GROUP BY n ORDER BY 1")
    assert outer.measurements == planned(inner).measurements
    assert outer.output == ("max", "avg", "h")


def test_with_star_over_two_columns_of_one_name_is_refused() -> None:
    with pytest.raises(DiscreetError, match="columns of one name"):
        planned("SELECT * FROM (SELECT count(*), count(zip) FROM hr.employee) t")
