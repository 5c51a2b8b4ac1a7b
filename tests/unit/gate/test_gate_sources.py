"""Unit propagation, rule by rule: who the person of a row is, and how often one person may appear."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pglast import parse_sql
from tests.corpus.sample import SCHEMA, TABLES, protection, table

from discreet.core.errors import DiscreetError
from discreet.gate.names import Source
from discreet.gate.people import Limits
from discreet.gate.printer import printed, rows
from discreet.gate.schema import Column, Protection, Relation, Schema
from discreet.gate.sources import Sources


def source(text: str, schema: Schema = SCHEMA) -> Source:
    """Of SELECT … FROM <text>, with a WHERE if there is one."""
    return Sources(schema, ()).rows(parse_sql(f"SELECT FROM {text}")[0].stmt, {})[0]


def unit_sql(found: Source) -> str:
    assert found.unit is not None
    return printed(found.unit)


def with_tables(*tables: Relation) -> Schema:
    return Schema({(table.schema, table.name): table for table in TABLES + tables}, SCHEMA.datasets)


SINGLE = [
    "public.zip_area z JOIN hr.employee e ON e.zip = z.zip",
    "hr.employee",
    "hr.employee e",
    "ONLY hr.employee",
    "hr.employee WHERE salary > 1",
    "hr.employee a JOIN hr.employee b ON a.id = b.id",
    "hr.employee a LEFT JOIN hr.employee b ON b.id = a.id AND b.dept = 'Sales'",
    "hr.employee a, hr.employee b WHERE a.id = b.id",
    "hr.employee a JOIN hr.employee b USING (id)",
    "hr.employee e JOIN public.zip_area z ON e.zip = z.zip",
    "hr.employee e JOIN public.zip_area z USING (zip)",
    "hr.employee e LEFT JOIN public.zip_area z ON z.zip = e.zip AND z.population > 5",
    "(SELECT salary FROM hr.employee WHERE dept = 'Sales') s",
    "(SELECT * FROM hr.employee) a JOIN (SELECT id AS who FROM hr.employee) b ON a.id = b.who",
]
MANY = [
    "clinic.visit",
    "clinic.patient p JOIN clinic.visit v ON p.id = v.patient_id",
    "clinic.visit a JOIN clinic.visit b ON a.patient_id = b.patient_id",
    "hr.employee, public.zip_area",
    "hr.employee e JOIN public.zip_area z ON e.zip <> z.zip",
    "hr.employee e JOIN public.zip_area z ON e.zip = z.city",
    "hr.employee e JOIN public.zip_area z ON z.zip = z.zip",
    "hr.employee e JOIN public.zip_area z ON z.zip = '02139'",
    "hr.employee e JOIN public.zip_area z ON e.zip = z.zip OR true",
    "hr.employee e JOIN public.zip_area z ON NOT e.zip = z.zip",
    "hr.employee e JOIN (SELECT zip FROM public.zip_area) z ON e.zip = z.zip",
    "public.zip_area z JOIN hr.employee e ON z.city = e.zip",
    "(SELECT salary FROM hr.employee UNION ALL SELECT salary FROM hr.employee) u",
]


@pytest.mark.parametrize("text", SINGLE)
def test_a_person_has_one_row(text: str) -> None:
    found = source(text)
    assert found.unit is not None
    assert found.single


@pytest.mark.parametrize("text", MANY)
def test_a_person_may_have_many_rows(text: str) -> None:
    found = source(text)
    assert found.unit is not None
    assert not found.single


@pytest.mark.parametrize("text", ["public.zip_area", "public.zip_area z JOIN public.ward_floor w ON w.beds = 1"])
def test_public_rows_have_no_person(text: str) -> None:
    assert source(text).unit is None


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("hr.employee e", '"e"."id"'),
        ("clinic.visit", '"visit"."patient_id"'),
        ("(SELECT salary FROM hr.employee) s", '"s"."discreet unit"'),
        ("clinic.visit v JOIN clinic.patient p ON p.id = v.patient_id", '"v"."patient_id"'),
        ("public.ward_floor w JOIN clinic.visit v ON w.ward = v.ward", '"v"."patient_id"'),
    ],
)
def test_the_person_is_named_by_the_unit(text: str, unit: str) -> None:
    assert unit_sql(source(text)) == unit


def test_rows_without_a_person_are_left_out_of_a_subquery() -> None:
    assert '"visit"."patient_id" IS NOT NULL' in rows(source("(SELECT cost FROM clinic.visit) v").rows)


def test_a_join_has_the_wider_reach_and_the_stricter_cap() -> None:
    joined = source("clinic.patient p JOIN clinic.visit v ON p.id = v.patient_id")
    assert joined.limits == Limits(3, 5) == source("clinic.visit").limits


def noted(max_total_rows: int | None) -> Relation:
    """A second table about patients with several rows each."""
    kept = protection("patients", "who", False, max_groups=2, max_rows=9, max_total_rows=max_total_rows)
    return table("clinic.note", kept, Column("who", "integer", identifies=True), Column("x", "integer"))


@pytest.mark.parametrize(
    ("text", "total", "expected"),
    [
        ("clinic.note", 12, 12),
        ("clinic.note", None, None),
        ("clinic.note n CROSS JOIN public.zip_area z", 12, 12),
        ("public.zip_area z CROSS JOIN clinic.note n", 12, 12),
        ("clinic.patient p JOIN clinic.note n ON p.id = n.who", 12, 12),
        ("clinic.note n LEFT JOIN clinic.patient p ON p.id = n.who", None, None),
        ("(SELECT who AS w FROM clinic.note UNION ALL SELECT id FROM clinic.patient) u", 12, 12),
        ("clinic.visit v JOIN clinic.note n ON v.patient_id = n.who", 12, None),
        ("(SELECT who AS w FROM clinic.note UNION ALL SELECT patient_id FROM clinic.visit) u", 12, None),
    ],
)
def test_the_widest_bound_on_all_rows_holds(text: str, total: int | None, expected: int | None) -> None:
    assert source(text, with_tables(noted(total))).limits.max_total_rows == expected


def test_of_two_bounds_on_all_rows_the_larger_holds() -> None:
    assert (Limits(max_total_rows=3) | Limits(max_total_rows=5)).max_total_rows == 5
    assert (Limits(max_total_rows=3) | Limits()).max_total_rows is None


@pytest.mark.parametrize(
    ("total", "rows"), [(None, (9, 18)), (100, (9, 18)), (18, (9, 18)), (12, (9, 12)), (4, (4, 4))]
)
def test_rows_of_a_person_are_those_in_a_group_and_in_all(total: int | None, rows: tuple[int, int]) -> None:
    limits = Limits(2, 9, max_total_rows=total)
    assert (limits.rows(), limits.rows(2)) == rows


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hr.employee a, hr.employee b", "not on the person"),
        ("hr.employee a JOIN hr.employee b ON a.dept = b.dept", "not on the person"),
        ("hr.employee a JOIN hr.employee b ON a.id = a.id", "singles out"),
        ("hr.employee a JOIN hr.employee b ON a.id = b.salary", "singles out"),
        ("hr.employee a JOIN hr.employee b ON a.id = b.id OR true", "singles out"),
        ("hr.employee a JOIN hr.employee b ON a.id >= b.id", "singles out"),
        ("hr.employee e JOIN clinic.patient p ON e.id = p.id", "several datasets"),
        ("hr.employee e FULL JOIN public.zip_area z ON e.zip = z.zip", "FULL"),
        ("hr.employee, hr.employee", "two tables of one name|not on the person"),
        ("hr.employee e JOIN public.zip_area e ON true", "two tables of one name"),
        ("hr.employee AS e(a, a)", "do not fit"),
        ("(SELECT * FROM hr.employee) AS e(a)", "not written one by one"),
        ("(SELECT salary FROM hr.employee) AS e(a, b)", "not written one by one"),
        ("(SELECT dept, dept FROM hr.employee) e", "two columns of the name dept"),
        ("(hr.employee e JOIN public.zip_area z ON true) AS j(a, b)", "names for the columns of a join"),
    ],
)
def test_what_could_mix_people_is_refused(text: str, words: str) -> None:
    with pytest.raises(DiscreetError, match=words):
        source(text)


def test_a_column_that_is_the_unit_in_one_part_of_a_union_only_links_nobody() -> None:
    union = "(SELECT id AS x FROM clinic.patient UNION ALL SELECT {} FROM clinic.patient) u"
    visits = "JOIN clinic.visit v ON u.x = v.patient_id"
    assert unit_sql(source(f"{union.format('id')} {visits}")) == '"u"."discreet unit"'
    with pytest.raises(DiscreetError, match="singles out"):
        source(f"{union.format('age')} {visits}")


@pytest.mark.parametrize(
    ("left", "right", "linked"),
    [
        ("integer", "bigint", True),
        ("text", "character varying", True),
        ("uuid", "uuid", True),
        ("numeric", "numeric", True),
        ("bigint", "double precision", False),
        ("bigint", "numeric", False),
        ("character varying", "character", False),
        ("hr.mood", "hr.mood", False),
    ],
)
def test_units_are_linked_where_nobody_equals_two_others(left: str, right: str, linked: bool) -> None:
    """2**62 and 2**62 + 1 are one double, 'a' and 'a ' one character(9): many people would be joined to one."""
    kept = Protection("d", "id", "noisy", 1, 1, None, None, True, True)
    tables = [
        Relation("public", name, {"id": Column("id", type_name, identifies=True)}, kept)
        for name, type_name in {"one": left, "two": right}.items()
    ]
    question = "public.one a JOIN public.two b ON a.id = b.id"
    if linked:
        assert source(question, with_tables(*tables)).single
    else:
        with pytest.raises(DiscreetError, match="singles out"):
            source(question, with_tables(*tables))


def known(name: str, *people: str) -> Relation:
    """A table whose people foreign keys know by these columns."""
    kept = protection("d", "id", True, people=frozenset(people) or None)
    return Relation("public", name, {"id": Column("id", "integer", identifies=True)}, kept)


@pytest.mark.parametrize("rows", ["one a JOIN public.two b ON a.id = b.id", "one a, public.two b WHERE a.id = b.id",
                                  "one a LEFT JOIN public.two b ON a.id = b.id", "UNION ALL"])  # fmt: skip
@pytest.mark.parametrize(
    ("one", "two", "both"),
    [
        ((), (), None),
        (("p.id",), (), {"p.id"}),
        ((), ("q.id",), {"q.id"}),
        (("p.id", "a.id"), ("p.id", "b.id"), {"p.id", "a.id", "b.id"}),
        (("p.id",), ("q.id",), "p.id and q.id name different people"),
    ],
)
def test_rows_of_people_whom_keys_know_apart_do_not_meet(
    rows: str, one: tuple[str, ...], two: tuple[str, ...], both: set[str] | str | None
) -> None:
    schema = with_tables(known("one", *one), known("two", *two))
    union = "(SELECT id FROM public.one UNION ALL SELECT id FROM public.two) u"
    question = union if rows == "UNION ALL" else f"public.{rows}"
    if isinstance(both, str):
        with pytest.raises(DiscreetError, match=both):
            source(question, schema)
    else:
        assert source(question, schema).people.known_by == both
        assert source(f"(SELECT 1 AS x FROM {question}) s CROSS JOIN public.zip_area", schema).people.known_by == both


def test_a_unique_key_of_doubles_is_none() -> None:
    """They are compared as numerics, which several doubles may share."""
    keys = (frozenset(["k"]),)
    for type_name, single in {"integer": True, "numeric": True, "double precision": False, "real": False}.items():
        public = Relation("public", "keyed", {"k": Column("k", type_name)}, None, keys)
        assert source("hr.employee e JOIN public.keyed p ON e.salary = p.k", with_tables(public)).single is single


@pytest.mark.parametrize("own", ["double precision", "real"])
@pytest.mark.parametrize(
    ("key", "single"),
    [("smallint", True), ("integer", True), ("bigint", False), ("numeric", False), ("real", False)],
)
def test_a_key_that_is_compared_as_a_double_may_be_matched_more_than_once(own: str, key: str, single: bool) -> None:
    """2**53 and 2**53 + 1 are two keys and one double: a person of one row would have two."""
    employee = SCHEMA.relations["hr", "employee"]
    people = replace(employee, columns={**employee.columns, "f": Column("f", own)})
    public = Relation("public", "keyed", {"k": Column("k", key)}, None, (frozenset(["k"]),))
    schema = with_tables(public, people)
    for condition in ("e.f = p.k", "p.k = e.f"):
        assert source(f"hr.employee e JOIN public.keyed p ON {condition}", schema).single is single


def test_part_of_a_key_is_none() -> None:
    columns = {name: Column(name, "text") for name in "ab"}
    public = Relation("public", "keyed", columns, None, (frozenset("ab"),))
    schema = with_tables(public)
    assert not source("hr.employee e JOIN public.keyed p ON e.zip = p.a", schema).single
    assert source("hr.employee e JOIN public.keyed p ON e.zip = p.a AND e.dept = p.b", schema).single


def test_names_that_grow_without_end_are_refused() -> None:
    doubled = ", ".join(f"c{n} AS (SELECT a.id FROM c{n - 1} a JOIN c{n - 1} b ON a.id = b.id)" for n in range(1, 12))
    select = parse_sql(f"WITH c0 AS (SELECT id FROM hr.employee), {doubled} SELECT FROM c11")[0].stmt
    with pytest.raises(DiscreetError, match="too many names"):
        Sources(SCHEMA, ()).rows(select, {})


def test_columns_that_a_cast_could_make_fail_do_not_meet_in_a_union() -> None:
    for left, right in [("salary", "hired"), ("salary", "name"), ("hired", "hired::timestamp")]:
        with pytest.raises(DiscreetError, match="of several types"):
            source(f"(SELECT {left} AS x FROM hr.employee UNION ALL SELECT {right} FROM hr.employee) u")


@pytest.mark.parametrize(
    ("left", "right", "kept_apart"),
    [
        ("integer", "bigint", True),
        ("bigint", "numeric", True),
        ("text", "character varying", True),
        ("bigint", "double precision", False),
        ("numeric", "real", False),
    ],
)
def test_units_whose_cast_would_make_two_people_one_do_not_meet_in_a_union(
    left: str, right: str, kept_apart: bool
) -> None:
    """2**62 and 2**62 + 1 are one double, and a numeric of 400 digits is none."""
    kept = Protection("d", "id", "noisy", 1, 1, None, None, True, True)
    columns = {"x": Column("x", "integer")}
    tables = [
        Relation("public", name, {"id": Column("id", type_name, identifies=True)} | columns, kept)
        for name, type_name in {"one": left, "two": right}.items()
    ]
    union = "(SELECT x FROM public.one UNION ALL SELECT x FROM public.two{}) u"
    for joined in ("", " CROSS JOIN public.zip_area"):
        if kept_apart:
            assert unit_sql(source(union.format(joined), with_tables(*tables))) == '"u"."discreet unit"'
            continue
        with pytest.raises(DiscreetError, match="people who are named by values of several types"):
            source(union.format(joined), with_tables(*tables))


def test_types_that_would_mean_a_length_of_one_are_written_without_it() -> None:
    public = Relation("public", "codes", {"c": Column("c", "character", categories=("ab", "cd"))})
    (named,) = source("public.codes", with_tables(public)).names
    domain = named.columns["c"].domain
    assert domain is not None
    assert [printed(entry) for entry in domain] == ["'ab'::pg_catalog.bpchar", "'cd'::pg_catalog.bpchar"]
