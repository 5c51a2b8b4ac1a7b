"""Trackers: questions about many people whose answers together tell of one (Schlörer 1975, Denning 1979)."""

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

# padded with c: smokers; the person is number 7
SETS = {
    "direct": ["id = 7"],
    "difference": ["true", "id <> 7"],
    "individual": ["id = 7 OR smoker", "id = 7 OR NOT smoker", "true"],
    "general": ["(id = 7 OR smoker) AND NOT (smoker AND id = 7)", "NOT (id = 7) AND smoker"],
    "union": ["id = 7 OR smoker OR dept = 'dept 1'", "smoker OR dept = 'dept 1'"],
    "counting out": ["salary > 1050 OR (id = 7 AND dept = 'dept 2')", "salary > 1050"],
    "De Morgan": ["NOT (id <> 7 AND NOT smoker)", "smoker"],
    "arithmetic": ["id + 0 = 7 OR smoker", "smoker"],
    "list": ["id IN (7) OR smoker", "smoker"],
    "row": ["(id, dept) = (7, 'dept 2') OR smoker", "smoker"],
    "array": ["id = ANY (ARRAY[7]) OR smoker", "smoker"],
    "cast": ["id::text = '7' OR smoker", "smoker"],
    "between": ["id BETWEEN 7 AND 7 OR smoker", "smoker"],
    "case": ["CASE WHEN id = 7 THEN true ELSE smoker END", "smoker"],
}


def test_exact_answers_tell_the_salary_of_one(target: Target) -> None:
    padded, everybody, smokers, others = (
        int(str(target.value(f"SELECT sum(salary) FROM hr.person WHERE {where}")))
        for where in ("id = 7 OR smoker", "true", "smoker", "NOT smoker")
    )
    assert padded - smokers == target.value("SELECT salary FROM hr.person WHERE id = 7")
    assert everybody == smokers + others


@pytest.mark.parametrize("name", SETS)
def test_the_padded_question_is_refused_and_costs_nothing(gated: Target, blind: Connection, name: str) -> None:
    padded, *_ = [where for where in SETS[name] if "id" in where]
    with gated.free():
        for shape in (
            "SELECT sum(salary) FROM hr.person WHERE {}",
            "SELECT sum(salary) FILTER (WHERE {}) FROM hr.person",
            "SELECT sum(CASE WHEN {} THEN salary ELSE 0 END) FROM hr.person",
            "WITH w AS (SELECT * FROM hr.person) SELECT sum(salary) FROM w WHERE {}",
            "SELECT sum(salary) FROM (SELECT * FROM hr.person WHERE {}) s",
            "SELECT {}, sum(salary) FROM hr.person GROUP BY 1",
        ):
            assert how_it_ends(blind, shape.format(padded)) == "DP002"


def test_a_join_brings_no_key_in(gated: Target, blind: Connection) -> None:
    gated.admin.execute("CREATE TABLE extra.keys (id int PRIMARY KEY); INSERT INTO extra.keys VALUES (7)")
    gated.admin.execute("GRANT SELECT ON extra.keys TO PUBLIC")
    for question in (
        "SELECT count(*) FROM hr.person p JOIN extra.keys k ON p.id = k.id",
        "SELECT count(*) FROM hr.person p, extra.keys k WHERE p.id = k.id",
        "SELECT count(*) FROM hr.visit v JOIN extra.keys k ON v.person = k.id",
        "SELECT count(*) FROM hr.person p JOIN hr.visit v ON p.id = v.person AND v.person = 7",
    ):
        assert how_it_ends(blind, question) == "DP002"


def test_lint_names_the_tracker(gated: Target, blind: Connection) -> None:
    found = blind.execute("SELECT code FROM discreet.lint('SELECT count(*) FROM hr.person WHERE id = 7 OR smoker')")
    assert ("DP002",) in found.fetchall()
