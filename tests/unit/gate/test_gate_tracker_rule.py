"""Trackers: the verdict follows from what is compared by value, not from how it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.corpus.sample import HARMLESS

from discreet.core.errors import TrackerError
from discreet.gate.parse import parse
from discreet.gate.plan import Plan, plan
from discreet.gate.schema import Column, Combination, Dataset, Protection, Relation, Schema

BOUNDS = (Fraction(0), Fraction(9))
COLUMNS = (
    Column("id", "integer", identifies=True),
    Column("n", "integer", BOUNDS),
    Column("t", "text"),
    Column("d", "date"),
    Column("pad", "integer", BOUNDS),
    Column("far", "timestamp without time zone"),
    Column("kind", "text", categories=("a", "b")),
    Column("x", "numeric", BOUNDS),
)
PUBLIC = Relation(
    "s", "list", {name: Column(name, kind) for name, kind in {"n": "integer", "t": "text", "d": "date"}.items()}
)


def schema_with(*combinations: Combination) -> Schema:
    kept = Protection("people", "id", "noisy", 1, 1, None, None, True, True)
    columns = {column.name: column for column in COLUMNS}
    person = Relation("s", "person", columns, kept, (frozenset(["id"]),), combinations)
    days = Relation("s", "day", {"d": Column("d", "date"), "no": Column("no", "integer")}, None, (frozenset(["no"]),))
    relations = {("s", relation.name): relation for relation in (person, PUBLIC, days)}
    return Schema(relations, {"people": Dataset("people", "pure", "unbounded", Fraction(0))})  # type: ignore[arg-type]


def key(*columns: str, nulls: bool = False) -> Combination:
    return Combination(frozenset(columns), nulls)


NTD = schema_with(key("n", "t", "d"))


def planned(question: str, schema: Schema = NTD) -> Plan:
    return plan(parse(question), schema, HARMLESS)


def is_refused(question: str, schema: Schema = NTD) -> bool:
    try:
        planned(question, schema)
    except TrackerError:
        return True
    return False


def where(condition: str, *columns: str, nulls: bool = False) -> bool:
    return is_refused(f"SELECT count(*) FROM s.person WHERE {condition}", schema_with(key(*columns, nulls=nulls)))


# -- random formulas over three values of each column, of which the third is written nowhere

WRITTEN = {"n": ("1", "2"), "t": ("'x'", "'y'"), "d": ("'2000-01-02'", "'2000-01-03'"), "pad": ("5", "6")}
NEXT = {"1": "2", "2": "3", "'2000-01-02'": "'2000-01-03'", "'2000-01-03'": "'2000-01-04'", "5": "6", "6": "7"}

ALIKE = (
    "{c} = {v}",
    "{v} = {c}",
    "NOT {c} <> {v}",
    "{c} IN ({v})",
    "NOT ({c} NOT IN ({v}))",
    "{c} = ANY (ARRAY[{v}])",
    "{c} BETWEEN {v} AND {v}",
    "({c} >= {v} AND {c} <= {v})",
    "NOT ({c} < {v} OR {v} < {c})",
    "{c} IS NOT DISTINCT FROM {v}",
    "({c}, 1) = ({v}, 1)",
    "({c} = {v}) IS TRUE",
    "({c} = {v})::int = 1",
    "CASE WHEN {c} = {v} THEN true ELSE false END",
    "CASE {c} WHEN {v} THEN 1 ELSE 0 END > 0",
    "COALESCE({c}, {c}) = {v}",
    "NULLIF({c}, {v}) IS NULL",
)
OF_WHOLE_NUMBERS = (
    "{c} + 0 = {v}",
    "-{c} = -{v}",
    "2 * {c} - {v} = {v}",
    "abs({c} - {v}) < 1",
    "({c} >= {v} AND {c} < {after})",
    "{c}::text = '{v}'",
    "{c}::numeric = {v}",
    "{c} % 10 = {v}",
    "1 - LEAST(abs({c} - {v}), 1) = 1",
)
OF_TEXT = ("{c} LIKE {v}", "{c} || '' = {v}", "lower(trim({c})) = {v}")
OF_DATES = (
    "{c} - DATE {v} = 0",
    "({c} >= {v} AND {c} < {after})",
    "{c}::text = {v}",
    "{c}::timestamp = {v}",
    "date_trunc('day', {c}) = {v}",
)
SPELLINGS = {
    "n": ALIKE + OF_WHOLE_NUMBERS,
    "pad": ALIKE + OF_WHOLE_NUMBERS,
    "t": ALIKE + OF_TEXT,
    "d": ALIKE + OF_DATES,
}


@dataclass(frozen=True)
class Leaf:
    column: str
    value: str

    def holds(self, row: dict[str, str]) -> bool:
        return row[self.column] == self.value


@dataclass(frozen=True)
class Node:
    word: str  # AND, OR, NOT
    parts: tuple[Node | Leaf, ...]

    def holds(self, row: dict[str, str]) -> bool:
        held = [part.holds(row) for part in self.parts]
        return {"AND": all, "OR": any, "NOT": lambda truths: not truths[0]}[self.word](held)  # type: ignore[no-untyped-call]


Formula = Node | Leaf
leaves = st.sampled_from([Leaf(column, value) for column, values in WRITTEN.items() for value in values])
formulas = st.recursive(
    leaves,
    lambda inner: (
        st.builds(lambda part: Node("NOT", (part,)), inner)
        | st.builds(Node, st.sampled_from(["AND", "OR"]), st.lists(inner, min_size=2, max_size=3).map(tuple))
    ),
    max_leaves=8,
)
SHAPES = (
    "SELECT count(*) FROM s.person WHERE {}",
    "SELECT count(*) FILTER (WHERE {}) FROM s.person",
    "SELECT count(*), sum(CASE WHEN {} THEN x ELSE 0 END) FROM s.person",
    "SELECT count(*) FROM (SELECT * FROM s.person WHERE {}) inner_rows",
    "WITH w AS (SELECT {} AS hit FROM s.person) SELECT count(*) FROM w WHERE NOT hit",
    "SELECT {} AS hit, count(*) FROM s.person GROUP BY 1",
)


def rewritten(formula: Formula, draw: st.DrawFn) -> Formula:
    """The same by De Morgan, double negation, distribution, other order."""
    if isinstance(formula, Node):
        formula = Node(formula.word, tuple(rewritten(part, draw) for part in formula.parts))
    rule = draw(st.integers(0, 4))
    if rule == 0:
        return Node("NOT", (Node("NOT", (formula,)),))
    if isinstance(formula, Leaf) or formula.word == "NOT":
        return formula
    first, *others = formula.parts
    dual = "OR" if formula.word == "AND" else "AND"
    if rule == 1:
        return Node("NOT", (Node(dual, tuple(Node("NOT", (part,)) for part in formula.parts)),))
    if rule == 2:
        return Node(formula.word, (*others, first))
    if rule == 3 and isinstance(first, Node) and first.word == dual:
        return Node(dual, tuple(Node(formula.word, (part, *others)) for part in first.parts))
    return formula


def plain(formula: Formula) -> str:
    return written(formula, lambda leaf: f"{leaf.column} = {leaf.value}")


def written(formula: Formula, spell: Callable[[Leaf], str]) -> str:
    if isinstance(formula, Leaf):
        return spell(formula)
    inner = [f"({written(part, spell)})" for part in formula.parts]
    return f"NOT {inner[0]}" if formula.word == "NOT" else f" {formula.word} ".join(inner)


@st.composite
def disguised(draw: st.DrawFn) -> tuple[str, str]:
    """A question as one would write it, and the same in disguise."""

    def spell(leaf: Leaf) -> str:
        spelling = draw(st.sampled_from(SPELLINGS[leaf.column]))
        return spelling.format(c=leaf.column, v=leaf.value, after=NEXT.get(leaf.value))

    formula = draw(formulas)
    shape = draw(st.sampled_from(SHAPES))
    return SHAPES[0].format(plain(formula)), shape.format(written(rewritten(formula, draw), spell))


@settings(max_examples=200, deadline=None)
@given(disguised())
def test_a_disguise_does_not_change_the_verdict(questions: tuple[str, str]) -> None:
    usual, other = questions
    assert is_refused(usual) == is_refused(other)


def mixed_difference(formula: Formula, corners: tuple[tuple[str, str], ...], pad: str) -> int:
    """Of the indicator of a formula, over one pair of values of each column of the key."""
    total = 0
    for ends in product((0, 1), repeat=len(corners)):
        values = [pair[end] for pair, end in zip(corners, ends, strict=True)]
        row = dict(zip("ntd", values, strict=True)) | {"pad": pad}
        total += (-1) ** sum(ends) * formula.holds(row)
    return total


@settings(max_examples=100, deadline=None)
@given(formulas)
def test_whatever_isolates_a_person_is_refused(formula: Formula) -> None:
    """Brute force: a set of people, or what it leaves out, that tells one key apart from those that differ from it.

    A set that is one key, or all but one, has such a difference, and so has every set from which sets that ignore one
    column of the key can be added and subtracted until one key is left.
    """
    domains = {column: (*values, "elsewhere") for column, values in WRITTEN.items()}
    pairs = [[(a, b) for a in domains[column] for b in domains[column] if a < b] for column in "ntd"]
    isolates = any(mixed_difference(formula, corners, pad) for corners in product(*pairs) for pad in domains["pad"])
    assert not isolates or is_refused(SHAPES[0].format(plain(formula)))


def columns_of(formula: Formula) -> set[str]:
    if isinstance(formula, Leaf):
        return {formula.column}
    return set().union(*(columns_of(part) for part in formula.parts))


@settings(max_examples=100, deadline=None)
@given(formulas)
def test_what_leaves_out_a_column_of_the_key_is_not_refused(formula: Formula) -> None:
    assert is_refused(SHAPES[0].format(plain(formula))) == (columns_of(formula) >= set("ntd"))


# -- what counts as a comparison by value


@pytest.mark.parametrize("column", SPELLINGS)
def test_every_spelling_counts(column: str) -> None:
    value = WRITTEN[column][0]
    for spelling in SPELLINGS[column]:
        condition = spelling.format(c=column, v=value, after=NEXT.get(value))
        assert where(condition, column, "kind") is False, condition
        assert where(f"{condition} OR kind = 'a'", column, "kind"), condition


@pytest.mark.parametrize(
    "condition",
    [
        "n > 3 AND n < 7",
        "n BETWEEN 3 AND 4",
        "n IS NULL",
        "extract(year FROM d) IS NOT NULL AND extract(month FROM d) = 1 AND extract(day FROM d) = 1",
        "n IS NOT DISTINCT FROM NULL",
        "n / 3 = 2",
        "n % 2 = 0",
        "bucket(n, 5) = 5",
        "abs(n - 5) < 2",
        "LEAST(n, 8) > 3",
        "x >= 3 AND x < 4",
        "floor(x) = 3",
        "x::int = 3",
        "round(n / 10.0) = 0",
        "t LIKE 'x%'",
        "left(t, 2) = 'xy'",
        "substr(t, 2) = 'y'",
        "length(t) = 2",
        "strpos(t, 'x') = 1",
        "t >= 'x' AND t < 'y'",
        "d >= '2000-01-01' AND d < '2000-02-01'",
        "extract(year FROM d) = 2000 AND extract(month FROM d) = 1",
        "date_trunc('month', d) = '2000-01-01'",
        "far >= '2000-01-01' AND far < '2000-01-02'",
        "far::date = '2000-01-01'",
        "date_trunc('hour', far) = '2000-01-01 10:00'",
        "d - far::date > 30",
        "n = pad",
    ],
)
def test_ranges_patterns_and_parts_do_not_count(condition: str) -> None:
    for column in ("n", "x", "t", "d", "far"):
        assert not where(f"kind = 'a' AND {condition}", column, "kind")


@pytest.mark.parametrize(
    ("condition", "column"),
    [
        ("n = 7 OR n = 8", "n"),
        ("n >= 7 AND n <= 7", "n"),
        ("n > 6 AND NOT n >= 8", "n"),
        ("n > 6.5 AND 7.5 > n", "n"),
        ("n * 3 - 1 > 19 AND 30 - 2 * n >= 16", "n"),
        ("n = pad AND pad = 7", "n"),
        ("n - pad = 0 AND pad = 7", "n"),
        ("n * n = 49", "n"),
        ("(n - 6) * (8 - n) > 0", "n"),
        ("n / 4 = 1 AND n % 4 = 3", "n"),
        ("bucket(n, 4) = 4 AND mod(n, 4) = 3", "n"),
        ("bucket(n, 1) = 7", "n"),
        ("bucket(n * 4, 4) = 28", "n"),
        ("round(n * 1.5) = 11", "n"),
        ("floor(n * -2.5 + 0.1) = -18", "n"),
        ("(n * 1.5)::int = 11", "n"),
        ("round(n / 2.0, 3) = 3.5", "n"),
        ("n * 3 / 3 = 7", "n"),
        ("width_bucket(n * 2, 0, 20, 10) = 8", "n"),
        ("n / 1 = 7", "n"),
        ("1 / (n - 7) IS NULL", "n"),
        ("(n - 7)::bool", "n"),
        ("sign(n - 7) = 0", "n"),
        ("sqrt(n - 7) IS NOT NULL AND sqrt(7 - n) IS NOT NULL", "n"),
        ("LEAST(n, 8) - LEAST(n, 7) = 1", "n"),
        ("GREATEST(n, pad) = LEAST(n, pad) AND pad = 7", "n"),
        ("GREATEST(n, 7) <= 7 AND LEAST(n, 7) >= 7", "n"),
        ("abs(n - pad) <= 0 AND pad = 7", "n"),
        ("x >= 7 AND x <= 7", "x"),
        ("x / 2 = 3.5", "x"),
        ("t >= 'x' AND t <= 'x'", "t"),
        ("t LIKE 'a\\_b'", "t"),
        ("t || '#' LIKE 'x#%'", "t"),
        ("left(t || '####', 2) = 'x#'", "t"),
        ("t || kind > 'xa' AND t || kind < 'xab'", "t"),
        ("n::text || ':' LIKE '7:%'", "n"),
        ("d > '2000-01-01' AND d < '2000-01-03'", "d"),
        ("d >= TIMESTAMP '2000-01-02 00:00' AND d < TIMESTAMP '2000-01-03 00:00'", "d"),
        ("extract(year FROM d) = 2000 AND extract(week FROM d) = 1 AND extract(dow FROM d) = 3", "d"),
        ("extract(year FROM d) > 1999 AND extract(year FROM d) < 2001 AND extract(doy FROM d) BETWEEN 2 AND 2", "d"),
        ("n + '1' > 7 AND n <= 7", "n"),
        ("date_trunc('minute', far) = '2000-01-01 10:00'", "far"),
        ("date_trunc('hour', far) = '2000-01-01 10:00' AND extract(minute FROM far) = 5", "far"),
    ],
)
def test_what_leaves_one_value_counts(condition: str, column: str) -> None:
    assert where(f"kind = 'a' AND {condition}", column, "kind")


@pytest.mark.parametrize("condition", ["kind <> 'a'", "kind LIKE 'a%'", "kind < 'b'", "left(kind, 1) = 'a'"])
def test_of_declared_categories_every_comparison_counts(condition: str) -> None:
    assert where(f"n = 7 AND {condition}", "n", "kind")


def test_a_test_for_null_counts_where_nulls_are_unique_too() -> None:
    assert where("n = 7 AND t IS NULL", "n", "t", nulls=True)
    assert where("n = 7 AND t IS DISTINCT FROM NULL", "n", "t", nulls=True)
    assert not where("n = 7 AND t IS NULL", "n", "t")


# -- where it counts


@pytest.mark.parametrize(
    "question",
    [
        "SELECT count(*) FILTER (WHERE n = 1), count(*) FILTER (WHERE t = 'x'), sum(x) FILTER (WHERE d = '2000-01-02')"
        " FROM s.person",
        "SELECT count(*) FROM (SELECT n = 1 AS a, t = 'x' AS b, d = '2000-01-02' AS c FROM s.person) p WHERE a AND b",
        "SELECT n, count(*) FROM s.person WHERE t = 'x' GROUP BY n HAVING n = 1 ORDER BY n = 2",
        "SELECT n, count(*) FROM s.person GROUP BY GROUPING SETS ((n, t), (n, d), (t, d))",
        "SELECT count(*) FROM s.person p JOIN s.list l ON p.n = l.n AND p.t = l.t",
        "SELECT count(*) FROM s.person p JOIN s.list l ON p.n = l.n AND p.t = l.t JOIN s.day y ON y.d = p.d",
    ],
)
def test_comparisons_that_do_not_meet_do_not_count(question: str) -> None:
    planned(question)


@pytest.mark.parametrize(
    "question",
    [
        "SELECT count(*) FILTER (WHERE n = 1 AND d = '2000-01-02') FROM s.person WHERE t = 'x'",
        "SELECT n, count(*) FROM s.person WHERE t = 'x' AND d = '2000-01-02' GROUP BY n",
        "SELECT n, count(*) FROM s.person WHERE t = 'x' GROUP BY GROUPING SETS ((n), (n, d))",
        "SELECT x > 1, count(*) FROM s.person WHERE n = 1 AND t = 'x' GROUP BY 1"
        " HAVING sum((d = '2000-01-02')::int) > 0",
        "SELECT x > 1, count(*) FROM s.person WHERE n = 1 AND t = 'x' GROUP BY 1"
        " ORDER BY count(*) FILTER (WHERE d <> '2000-01-02')",
        "SELECT count(*) FROM s.person p JOIN s.list l ON p.n = l.n AND p.t = l.t AND p.d = l.d",
        "SELECT count(*) FROM s.person p JOIN s.list l ON p.t || p.d::text = l.t || l.d::text WHERE p.n <> 1",
        "SELECT count(*) FROM s.person p JOIN s.list l ON p.n = l.n AND p.t = l.t"
        " JOIN s.day y ON y.d = p.d WHERE y.d = '2000-01-02'",
        "SELECT count(*) FROM s.person p JOIN s.list l ON p.n = l.n AND p.t = l.t"
        " JOIN s.day y ON y.d = p.d WHERE y.no = 17",
        "SELECT count(*) FROM s.person p JOIN s.list l ON p.n = l.n AND p.t = l.t"
        " JOIN s.day y ON y.d = p.d WHERE y.no = l.n",
        "SELECT count(*) FROM s.person p JOIN (SELECT n, t, d FROM s.list UNION ALL SELECT n, t, d FROM s.list) l"
        " ON p.n = l.n AND p.t = l.t AND p.d = l.d",
        "SELECT count(*) FROM s.person p, (SELECT 1 AS n, 'x' AS t, DATE '2000-01-02' AS d FROM s.list) l"
        " WHERE p.n = l.n AND p.t = l.t AND p.d = l.d",
        "SELECT count(*) FROM s.person a JOIN s.person b ON a.id = b.id"
        " WHERE a.n = 1 AND a.t = 'x' AND b.d = '2000-01-02'",
    ],
)
def test_comparisons_that_meet_count_together(question: str) -> None:
    with pytest.raises(TrackerError) as refusal:
        planned(question)
    assert refusal.value.message == "comparing the columns d, n, t by value singles out a person"
    assert refusal.value.hint is not None
    assert "unique in person" in refusal.value.hint


def test_the_columns_that_are_compared_by_value_are_told() -> None:
    question = "SELECT count(*), sum(x) FILTER (WHERE kind <> 'a' AND n > 3) FROM s.person WHERE t = 'x'"
    assert planned(question).fixed_columns == ("kind", "t")


def test_beyond_what_can_be_looked_at_one_by_one_all_comparisons_count_together() -> None:
    apart = (
        "count(*) FILTER (WHERE n = 1 AND x > {0}), count(*) FILTER (WHERE t = 'x' AND d = '2000-01-02' AND x > {0})"
    )
    question = "SELECT {} FROM s.person"
    few, many = (", ".join(apart.format(number) for number in range(count)) for count in (10, 120))
    assert not is_refused(question.format(few))
    assert is_refused(question.format(many))


# -- values of several rows of one person, told apart

N7 = "(SELECT id, n AS v FROM s.person UNION ALL SELECT id, 7 FROM s.person) u"
TEN = "s.person p CROSS JOIN generate_series(1, 10) AS k"


@pytest.mark.parametrize(
    "rows",
    [
        f"(SELECT u.id FROM {N7} GROUP BY u.id HAVING count(DISTINCT v) = 1) x",
        f"(SELECT u.id, variance(v) AS r FROM {N7} GROUP BY u.id) x WHERE r = 0",
        f"(SELECT u.id, stddev_samp(v) AS r FROM {N7} GROUP BY u.id) x WHERE r < 0.1",
        f"(SELECT u.id, sum(DISTINCT v) AS r FROM {N7} GROUP BY u.id) x WHERE r > 7",
        f"(SELECT u.id, v FROM {N7} GROUP BY u.id, v) x",
        f"(SELECT DISTINCT u.id, v FROM {N7}) x",
        f"(SELECT DISTINCT ON (u.id, v) u.id FROM {N7}) x",
        f"(SELECT u.id, v FROM {N7} UNION SELECT id, 3 FROM s.person) x",
        "(SELECT id, n FROM s.person UNION ALL SELECT id, 7 FROM s.person EXCEPT SELECT id, 3 FROM s.person) x",
        f"(SELECT u.id, count(*) OVER (PARTITION BY u.id, v) AS r FROM {N7}) x WHERE r = 2",
        f"(SELECT u.id, dense_rank() OVER (PARTITION BY u.id ORDER BY v) AS r FROM {N7}) x WHERE r = 2",
        f"(SELECT u.id, cume_dist() OVER (PARTITION BY u.id ORDER BY v) AS r FROM {N7}) x WHERE r = 1",
        f"s.person p WHERE (SELECT count(DISTINCT v) FROM {N7} WHERE u.id = p.id) = 1",
        f"s.person p WHERE EXISTS (SELECT v FROM {N7} WHERE u.id = p.id GROUP BY v HAVING count(*) = 2)",
        f"s.person p WHERE 2 = ANY (SELECT count(*) FROM {N7} WHERE u.id = p.id GROUP BY v)",
        f"s.person p WHERE p.id IN (SELECT x.id FROM (SELECT DISTINCT u.id, v FROM {N7}) x"
        " GROUP BY x.id HAVING count(*) = 1)",
        f"(SELECT p.id FROM {TEN} GROUP BY p.id HAVING count(DISTINCT CASE WHEN k = 1 THEN n ELSE 7 END) = 1) x",
        f"(SELECT p.id FROM {TEN} GROUP BY p.id HAVING count(DISTINCT (n - 7) * k) = 1) x",
        f"(SELECT p.id, n * k AS v FROM {TEN} GROUP BY p.id, n * k) x",
        f"(SELECT y.id FROM (SELECT p.id, k, sum(n) AS v FROM {TEN} GROUP BY p.id, k) y GROUP BY y.id, v * k) x",
        f"{N7} JOIN (SELECT id, n AS v FROM s.person UNION ALL SELECT id, 7 FROM s.person) w"
        " ON u.id = w.id AND u.v = w.v",
        "(SELECT a.id, COALESCE(q.n, 7) AS v FROM (SELECT id, k FROM s.person CROSS JOIN generate_series(1, 2) AS k) a"
        " LEFT JOIN s.person q ON a.id = q.id AND a.k = 1 GROUP BY a.id, COALESCE(q.n, 7)) x",
        "(SELECT u.id FROM (SELECT id, n AS v FROM s.person UNION ALL SELECT id, 14 - n FROM s.person) u"
        " GROUP BY u.id, v) x",
        *(
            "(SELECT a.id FROM (SELECT id, k FROM s.person CROSS JOIN generate_series(1, 2) k) a LEFT JOIN s.person q"
            f" ON a.id = q.id AND a.k = 1 GROUP BY a.id HAVING count(DISTINCT replace({text}, '7', '')) = 1) x"
            for text in ("concat(q.n)", "concat_ws('-', q.n)")
        ),
        f"(SELECT u.id, mode() WITHIN GROUP (ORDER BY v) AS r FROM {N7} GROUP BY u.id) x WHERE r = 7",
        f"(SELECT u.id, percentile_disc(0.5) WITHIN GROUP (ORDER BY v) AS r FROM {N7} GROUP BY u.id) x WHERE r > 7",
        f"(SELECT u.id, string_agg(DISTINCT v::text, ',') AS r FROM {N7} GROUP BY u.id) x WHERE length(r) = 1",
        "(SELECT u.id, string_agg(k, ',' ORDER BY v) AS r FROM (SELECT id, n AS v, 'a' AS k FROM s.person UNION ALL"
        " SELECT id, 7, 'b' FROM s.person) u GROUP BY u.id) x WHERE r = 'a,b'",
    ],
)
def test_values_that_rows_of_a_person_are_told_apart_by_are_compared(rows: str) -> None:
    question = f"SELECT count(*) FROM {rows}"
    assert is_refused(question, schema_with(key("n")))
    assert not is_refused(question, schema_with(key("n", "kind")))


@pytest.mark.parametrize(
    "rows",
    [
        "(SELECT id FROM s.person GROUP BY id HAVING count(DISTINCT n) = 1) x",
        "(SELECT id, n FROM s.person GROUP BY id, n) x",
        "(SELECT DISTINCT id, n FROM s.person) x",
        "(SELECT DISTINCT id, n / 2 + 1 FROM s.person) x",
        "(SELECT DISTINCT ON (id, n) id FROM s.person) x",
        "(SELECT id, variance(n) AS r FROM s.person GROUP BY id) x WHERE r = 0",
        "(SELECT id, rank() OVER (PARTITION BY id, t ORDER BY n) AS r FROM s.person) x WHERE r = 1",
        "(SELECT u.id, v FROM (SELECT id, n AS v FROM s.person UNION ALL SELECT id, n FROM s.person) u"
        " GROUP BY u.id, v) x",
        "(SELECT y.id, m FROM (SELECT id, max(n) AS m FROM s.person GROUP BY id) y GROUP BY y.id, m) x",
    ],
)
def test_a_column_alone_is_not_compared_where_rows_are_told_apart(rows: str) -> None:
    planned(f"SELECT count(*) FROM {rows}", schema_with(key("n")))


def test_a_column_that_names_people_stands_beside_nothing_else_in_union_all() -> None:
    beside = "SELECT count(*) FROM (SELECT id, id AS v FROM s.person UNION ALL SELECT id, {} AS v FROM s.person) u"
    assert is_refused(beside.format(7))
    assert is_refused(beside.format("n"))
    planned(beside.format("id"))


@pytest.mark.parametrize(
    "condition",
    [
        "n * 1000 + pad > 7004 AND n * 1000 + pad < 7006",
        "NOT (n * 1000 + pad <= 7004)",
        "n * 1000 > 7004 - pad",
        "n::text || ':' || pad::text < '7:5'",
    ],
)
def test_a_range_of_several_columns_counts_for_a_key_that_has_them(condition: str) -> None:
    assert where(condition, "n", "pad")
    assert where(f"({condition}) AND kind = 'a'", "n", "pad", "kind")
    assert not where(f"({condition}) AND x > 1", "n", "pad", "x")


def test_a_range_of_several_columns_does_not_count_for_a_key_that_has_one_of_them() -> None:
    assert not where("n * 1000 + pad > 7004 AND kind = 'a'", "n", "kind")


def test_a_range_of_a_sum_of_a_person_counts() -> None:
    copies = (
        "SELECT count(*) FROM (SELECT p.id, sum(n) AS r FROM s.person p CROSS JOIN generate_series(1, 10) AS k"
        " GROUP BY p.id) x WHERE r > 69 AND r < 71"
    )
    assert is_refused(copies, schema_with(key("n")))
    assert not is_refused(copies, schema_with(key("n", "kind")))


def test_the_person_of_a_full_join_names_people_too() -> None:
    both = "s.person a FULL JOIN s.person b USING (id)"
    planned(f"SELECT count(*), count(DISTINCT id) FROM {both}")
    assert is_refused(f"SELECT count(*) FROM {both} WHERE id = 7")
    assert is_refused(f"SELECT count(*) FROM (SELECT id FROM {both}) x WHERE id = 7")
    assert is_refused(f"SELECT sum(id) FROM {both}")
