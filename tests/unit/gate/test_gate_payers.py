"""Plans of questions that people pay for themselves."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.corpus.sample import SCHEMA, planned

from discreet.core.errors import RefusedShapeError
from discreet.dp.price import Price
from discreet.gate.measure import Terms
from discreet.gate.payers import key_sql
from discreet.gate.plan import Plan
from discreet.gate.printer import printed
from discreet.gate.schema import Relation, Schema


def personally(relation: Relation) -> Relation:
    protection = relation.protection and replace(relation.protection, policy="personal")
    return replace(relation, protection=protection)


PERSONAL = Schema({name: personally(relation) for name, relation in SCHEMA.relations.items()}, SCHEMA.datasets)


def plan(sql: str) -> Plan:
    return planned(sql, schema=PERSONAL)


def unquoted(sql: str) -> str:
    return sql.replace('"', "")


def test_a_noisy_table_is_paid_by_its_dataset() -> None:
    assert planned("SELECT count(*) FROM hr.employee").personal is None


def test_every_row_is_looked_at_and_those_of_payers_are_run() -> None:
    found = plan("SELECT count(*) FROM hr.employee WHERE gender = 'F'")
    assert found.personal is not None
    selection = unquoted(found.personal.selection)
    assert selection.startswith("SELECT discreet._personal_count((employee.id)::pg_catalog.int8, (")
    assert " WHERE " not in selection
    assert "gender" in selection
    assert unquoted(printed(found.conditions[-1])) == "discreet._personal_paid((employee.id)::pg_catalog.int8)"
    assert (found.personal.schema, found.personal.table, found.personal.by_integer) == ("hr", "employee", True)


def test_behind_a_subquery_the_table_is_looked_at_beside_it() -> None:
    found = plan("SELECT count(*) FROM (SELECT salary FROM hr.employee WHERE salary > 3) s")
    assert found.personal is not None
    assert unquoted(found.personal.selection).endswith(
        "UNION ALL SELECT (base.id)::pg_catalog.int8, false FROM hr.employee AS base) AS rows"
    )


def test_rows_outside_all_groups_take_no_part() -> None:
    grouped = plan("SELECT dept, count(*) FROM hr.employee GROUP BY dept").personal
    rolled_up = plan("SELECT dept, count(*) FROM hr.employee GROUP BY ROLLUP (dept)").personal
    assert grouped is not None
    assert rolled_up is not None
    assert "'Executive'" in grouped.selection
    assert unquoted(rolled_up.selection).endswith(", (true)) FROM hr.employee AS employee")


@pytest.mark.parametrize(
    ("sql", "most"),
    [
        ("SELECT count(*) FROM hr.employee", 1),
        ("SELECT dept, count(*) FROM hr.employee GROUP BY dept", 1),
        ("SELECT count(*) FROM clinic.visit", "rows"),
        ("SELECT ward, count(*) FROM clinic.visit GROUP BY ward", "rows and groups"),
    ],
)
def test_a_person_pays_for_no_more_rows_than_count(sql: str, most: int | str) -> None:
    found = plan(sql)
    limits = found.source.limits
    expected = {"rows": limits.max_rows, "rows and groups": limits.max_rows * limits.max_groups}
    assert found.personal is not None
    assert found.personal.most == expected.get(str(most), most)


@pytest.mark.parametrize("aggregate", ["count(*)", "sum(cost)", "avg(cost)", "variance(cost)"])
def test_who_has_many_rows_pays_for_what_they_change(aggregate: str) -> None:
    """Noise is for one row; `most` rows change a number by no more than so many times as much."""
    sql = f"SELECT {aggregate} FROM clinic.visit"
    personal, noisy = plan(sql), planned(sql)
    rows = personal.source.limits.max_rows
    assert rows > 1
    for measurement in personal.measurements:
        terms = Terms.of(personal, Price.of("0.1", "pure"), Fraction(0), ())
        all_rows = Terms.of(noisy, Price.of("0.1", "pure"), Fraction(0), ())
        assert (terms.rows, terms.groups) == (1, 1)
        assert measurement.sensitivity(terms.rows, terms.single) * rows >= measurement.sensitivity(all_rows.rows, False)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT count(*) FROM hr.employee a JOIN hr.employee b ON a.id = b.id", "a second table"),
        ("SELECT count(*) FROM hr.employee, public.calendar", "a second table"),
        ("SELECT count(*) FROM public.calendar, hr.employee", "a second table"),
        ("SELECT count(*) FROM (SELECT id FROM hr.employee UNION ALL SELECT id FROM hr.employee) s", "a second table"),
        ("SELECT zip, count(*) FROM hr.employee GROUP BY zip", "groups that are not known beforehand"),
    ],
)
def test_what_is_not_filter_and_map_over_one_table_is_refused(sql: str, reason: str) -> None:
    with pytest.raises(RefusedShapeError, match=reason):
        plan(sql)


@pytest.mark.parametrize(
    ("type_name", "key"),
    [
        ("smallint", "(x)::pg_catalog.int8"),
        ("bigint", "(x)::pg_catalog.int8"),
        ("text", "(x)::pg_catalog.text"),
        ("character", "(x)::pg_catalog.text"),
        ("numeric", "(pg_catalog.trim_scale(x))::pg_catalog.text"),
    ],
)
def test_equal_units_have_one_key(type_name: str, key: str) -> None:
    assert key_sql("x", type_name) == key
