"""A correlated subquery that looks at other people than that of the row."""

import pytest
from tests.attacks.gate.asking import COUNT, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

STRANGERS = [
    "EXISTS (SELECT FROM hr.person q WHERE q.dept = person.dept AND q.salary > 1098)",
    "EXISTS (SELECT FROM hr.person q WHERE q.id <> person.id)",
    "EXISTS (SELECT FROM hr.person q WHERE q.id = person.id OR q.salary > 1098)",
    "EXISTS (SELECT FROM hr.visit v, hr.person q WHERE v.person = person.id AND q.salary > 1098)",
    "salary > (SELECT avg(q.salary) FROM hr.person q WHERE q.dept = person.dept)",
    "salary >= ALL (SELECT q.salary FROM hr.person q WHERE q.smoker)",
    "dept IN (SELECT q.dept FROM hr.person q WHERE q.salary > 1098)",
    "(SELECT count(*) FROM hr.visit v WHERE v.day = '2024-01-01' AND v.person < person.id) > 3",
    "id + 1 IN (SELECT v.person FROM hr.visit v)",
    "id IN (SELECT v.person + 1 FROM hr.visit v)",
]
OWN = [
    "id IN (SELECT person FROM hr.visit)",
    "EXISTS (SELECT FROM hr.visit v WHERE v.person = person.id AND v.day > '2024-06-01')",
    "(SELECT count(*) FROM hr.visit v WHERE v.person = person.id) > 2",
]


def test_one_person_decides_about_others_in_a_plain_subquery(target: Target) -> None:
    before = target.value(f"{COUNT} WHERE {STRANGERS[4]}")
    target.admin.execute("BEGIN; UPDATE hr.person SET salary = 1000000 WHERE id = 7")
    after = target.value(f"{COUNT} WHERE {STRANGERS[4]}")
    target.admin.execute("ROLLBACK")
    assert int(str(before)) - int(str(after)) > 50


@pytest.mark.parametrize("where", STRANGERS)
def test_other_people_are_not_looked_at(gated: Target, blind: Connection, where: str) -> None:
    with gated.free():
        assert how_it_ends(blind, f"{COUNT} WHERE {where}") in ("DP001", "DP002")


@pytest.mark.parametrize("where", OWN)
def test_the_person_of_the_row_is(gated: Target, blind: Connection, where: str) -> None:
    assert how_it_ends(blind, f"{COUNT} WHERE {where}") == "answer"
