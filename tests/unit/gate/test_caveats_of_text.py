"""Caveats follow from text and catalog: each stands where it can apply, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import cast

import pytest
from tests.corpus import lab
from tests.corpus.sample import SCHEMA, TABLES, planned, questions

from discreet.dp.price import Price
from discreet.gate.caveats import caveats
from discreet.gate.measure import Terms
from discreet.gate.plan import Plan
from discreet.gate.schema import Column, Family, Relation, Schema

BY_DEPT = "SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept"
NOT_IN = "NULLs in the subquery of NOT IN left out"
HAVING = "rows chosen by noisy numbers: HAVING"
LIMIT = "rows chosen by noisy numbers: ORDER BY … LIMIT"
WITHOUT = "groups without people counted among the rows of the answer"


def told(sql: str, schema: Schema = SCHEMA) -> list[str]:
    return caveats_of(planned(sql, schema=schema))


def caveats_of(plan: Plan) -> list[str]:
    return caveats(plan, [Terms.of(plan, Price.of(1), Fraction(1, 10**6), keys) for keys in plan.grouping.sets])


@pytest.mark.parametrize(
    ("question", "caveat"),
    [
        ("SELECT count(*) FROM clinic.patient WHERE id NOT IN (SELECT patient_id FROM clinic.visit)", NOT_IN),
        (f"{BY_DEPT} HAVING count(*) > 9", HAVING),
        (f"{BY_DEPT} ORDER BY 2 DESC LIMIT 3", LIMIT),
        (f"{BY_DEPT} ORDER BY n LIMIT 3", LIMIT),
        (f"SELECT * FROM ({BY_DEPT}) t WHERE n > 9", "rows chosen by noisy numbers: WHERE"),
        (f"SELECT avg(n) FROM ({BY_DEPT}) t", WITHOUT),
        ("SELECT dept, rank() OVER (ORDER BY count(*)) FROM hr.employee GROUP BY dept", WITHOUT),
    ],
)
def test_a_caveat_stands_where_it_can_apply(question: str, caveat: str) -> None:
    assert caveat in told(question)


@pytest.mark.parametrize(
    "question",
    [
        BY_DEPT,
        f"{BY_DEPT} HAVING dept <> 'Sales'",
        f"{BY_DEPT} ORDER BY dept LIMIT 3",
        f"{BY_DEPT} ORDER BY 1 LIMIT 3",
        f"{BY_DEPT} ORDER BY count(*)",
        "SELECT count(*) FROM clinic.patient WHERE id IN (SELECT patient_id FROM clinic.visit)",
        "SELECT sum(n) FROM (SELECT zip, count(*) AS n FROM hr.employee GROUP BY zip) t",
    ],
)
def test_no_caveat_stands_where_it_cannot_apply(question: str) -> None:
    assert not {NOT_IN, HAVING, LIMIT, WITHOUT} & set(told(question))


CLAMPED = "values of salary clamped to 0..200000 (NaN and infinity left out)"
YEARS = "dates of hired outside the years 1 to 9999 taken as NULL"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("SELECT avg(salary) FROM hr.employee", [CLAMPED]),
        ("SELECT avg(salary) FROM hr.employee WHERE salary >= 0", [CLAMPED]),
        ("SELECT avg(salary) FROM hr.employee WHERE salary BETWEEN 100 AND 5e4", []),
        ("SELECT avg(s) FROM (SELECT salary AS s FROM hr.employee WHERE salary > 0) t WHERE s < 9", []),
        ("SELECT avg(salary) FROM hr.employee WHERE salary >= -5 AND salary < 10", [CLAMPED.partition(" (")[0]]),
        ("SELECT avg(age) FROM clinic.patient", ["values of age clamped to 0..120"]),
        ("SELECT extract(month FROM hired), count(*) FROM hr.employee GROUP BY 1", [YEARS]),
        ("SELECT count(*) FROM hr.employee WHERE hired + 30 < '2020-01-01'", [YEARS]),
        (
            "SELECT extract(month FROM hired), count(*) FROM hr.employee"
            " WHERE hired >= '2020-01-01' AND hired < '2021-01-01' GROUP BY 1",
            [],
        ),
        ("SELECT count(*) FROM hr.employee WHERE zip ~ '^02'", ["patterns see the first 10000 bytes of zip"]),
        ("SELECT avg(n) FROM (SELECT patient_id, count(*) AS n FROM clinic.visit GROUP BY 1) t",
         ["rows without a person left out", "values of n clamped to 1..15"]),
        ("SELECT avg(hired - dob) FROM hr.employee",
         ["values computed from hired, dob clamped to -50000..50000 (infinity left out)",
          YEARS, YEARS.replace("hired", "dob")]),
    ],
)  # fmt: skip
def test_caveats_of_values_name_them(question: str, expected: list[str]) -> None:
    assert told(question) == expected


@pytest.mark.parametrize("ends", [("0.1", "0.7"), ("-0.3", "99.9"), ("0", "120"), ("1e-9", "3e7")])
def test_bounds_are_named_also_where_the_grid_ends_within_them(ends: tuple[str, str]) -> None:
    employee = SCHEMA.relations["hr", "employee"]
    salary = replace(employee.columns["salary"], bounds=(Fraction(ends[0]), Fraction(ends[1])))
    columns = dict(employee.columns) | {"salary": salary}
    schema = Schema({("hr", "employee"): replace(employee, columns=columns)}, SCHEMA.datasets)
    (caveat,) = told("SELECT sum(salary) FROM hr.employee", schema)
    assert caveat.startswith("values of salary clamped to ")


# what must stand in the text of a question, or be declared of a column that it names, for a caveat to apply
CAN_APPLY: dict[str, Callable[[str, re.Match[str]], object]] = {
    r"(rows per person|people) limited to .*": lambda sql, _: re.search(
        r"clinic\.visit|unnest|elements|object_keys|club|ward_floor|UNION| OR |JOIN \(|generate_series|VALUES", sql
    ),
    r"rows without a person left out": lambda sql, _: "clinic.visit" in sql,
    r"groups with fewer than about \d+ people not shown": lambda sql, _: re.search("GROUP BY|DISTINCT", sql),
    r"values of (.+) outside its categories left out": lambda sql, found: (
        re.search("GROUP BY|DISTINCT", sql) and all(column(name, sql).categories for name in found[1].split(", "))
    ),
    r"values of (.+) clamped to \S+( \S+)?( \(.*\))?": lambda sql, found: (
        re.search(rf"\b{found[1]}\b", sql) or (found[1] == "a subquery" and sql.count("SELECT") > 1)
    ),
    r"values computed from (.+) clamped to .*": lambda sql, found: all(
        column(name, sql).bounds for name in found[1].split(", ")
    ),
    r"dates of (.+) outside the years 1 to 9999 taken as NULL": lambda sql, found: (
        column(found[1], sql).family is Family.DATE
    ),
    r"patterns see the first \d+ bytes of (.+)": lambda sql, found: (
        re.search(r"~|regexp|substring|similar", sql, re.I) and column(found[1], sql).family is Family.TEXT
    ),
    r"days and hours counted in UTC": lambda sql, _: re.search("timestamptz|TIME ZONE|zone|generate_series", sql, re.I),
    r"NULLs in the subquery of NOT IN left out": lambda sql, _: re.search(r"NOT\b.* IN \(\s*SELECT|<> ALL", sql, re.S),
    r"rows chosen by noisy numbers: .*": lambda sql, _: re.search("HAVING|LIMIT|WHERE|OFFSET", sql),
    r"groups without people counted among the rows of the answer": lambda sql, _: re.search(
        r"OVER|FROM \(\s*SELECT|WITH", sql
    ),
    r"public rows without a joined person not counted": lambda sql, _: re.search("LEFT|RIGHT|FULL", sql),
    r"(in the subquery: .*|a subquery about all people .*)": lambda sql, _: sql.count("SELECT") > 1,
}


def column(name: str, sql: str) -> Column:
    """The column of this name in a table that the question names."""
    found = [one.columns[name] for one in TABLES if one.name in sql and name in one.columns]
    return found[0]


def test_no_caveat_of_the_corpus_is_one_that_could_not_apply() -> None:
    wrong, seen = [], set()
    for question in questions("accepted.sql"):
        for caveat in caveats_of(planned(question.sql, question.parameters)):
            rule = next((one for one in CAN_APPLY if re.fullmatch(one, caveat)), None)
            if rule is None or not CAN_APPLY[rule](question.sql, cast("re.Match[str]", re.fullmatch(rule, caveat))):
                wrong.append((question.sql, caveat))
            seen.add(rule)
    assert not wrong, "\n".join(map(str, wrong))
    assert len(seen) >= 10


def strict(relation: Relation) -> Relation:
    """The same table, with constraints that keep every value within what is declared of it, and no NULL."""
    columns = {
        name: replace(
            one,
            not_null=True,
            implied=replace(
                one.implied,
                bounds=None if one.bounds is None else (Decimal(int(one.bounds[0])), Decimal(int(one.bounds[1]))),
                categories=one.categories,
            ),
        )
        for name, one in relation.columns.items()
    }
    protected = relation.protection and replace(relation.protection, single=True)
    return replace(relation, columns=columns, protection=protected)


def strict_schema(schema: Schema) -> Schema:
    return Schema({name: strict(relation) for name, relation in schema.relations.items()}, schema.datasets)


# of columns as they are: what is computed has bounds of its own. A row of a LEFT JOIN has NULLs in any case
OUTSIDE = re.compile(r"values of \w+ outside its categories left out")
CLAMPED_COLUMN = re.compile(r"values of (\w+) clamped to .*")


@pytest.mark.parametrize(("corpus", "schema"), [("accepted.sql", SCHEMA), ("values.sql", lab.SCHEMA)])
def test_what_constraints_exclude_is_in_no_caveat(corpus: str, schema: Schema) -> None:
    wrong, gone = [], set()
    bounded = {name for one in schema.relations.values() for name, held in one.columns.items() if held.bounds}
    for question in questions(corpus):
        if re.search("LEFT|RIGHT|FULL", question.sql):
            continue
        before, after = (
            set(caveats_of(planned(question.sql, question.parameters, some)))
            for some in (schema, strict_schema(schema))
        )
        gone |= before - after
        for caveat in after:
            found = CLAMPED_COLUMN.fullmatch(caveat)
            if OUTSIDE.fullmatch(caveat) or (found is not None and found[1] in bounded):
                wrong.append((question.sql, caveat))
            if caveat.startswith(("rows per person", "rows without a person")) and is_of_one_table(question.sql):
                wrong.append((question.sql, caveat))
    assert not wrong, "\n".join(map(str, wrong))
    assert any(OUTSIDE.fullmatch(caveat) for caveat in gone)
    assert any(CLAMPED_COLUMN.fullmatch(caveat) for caveat in gone)


def is_of_one_table(sql: str) -> bool:
    """Whether rows are those of one table, of which each person has one; DISTINCT rows are not counted again."""
    return not re.search(
        r"SELECT DISTINCT|JOIN|UNION|unnest|elements|object_keys|generate_series|LATERAL|VALUES|FROM [^(]*?,", sql
    )
