"""Rows of one person are linked to another's, and one person would stand behind twice the rows that were paid for."""

from __future__ import annotations

import psycopg
import pytest
from tests.attacks.target import Target

BOTH = "SELECT discreet.synthesize('{extra.member,extra.loan}'::regclass[], '{extra.m,extra.l}', 1)"


def declared(target: Target, loans: str) -> None:
    target.admin.execute(f"""
        CREATE TABLE extra.register (no int PRIMARY KEY, account int NOT NULL UNIQUE);
        CREATE TABLE extra.member (id int PRIMARY KEY REFERENCES extra.register, old boolean);
        CREATE TABLE extra.loan ({loans}, late boolean);
        SELECT discreet.protect('extra.member', 'id', dataset => 'default');
        SELECT discreet.protect('extra.loan', 'who', dataset => 'default', max_rows => 3);
        SELECT discreet.grant_budget('default', current_user::regrole, 10)
    """)


@pytest.mark.parametrize(
    ("loans", "says"),
    [
        ("who int NOT NULL REFERENCES extra.register (account)", "name different people"),
        ("who double precision NOT NULL", "columns of several types"),
        ("who text NOT NULL", "columns of several types"),
    ],
)
def test_tables_whose_units_name_people_differently_are_refused(target: Target, loans: str, says: str) -> None:
    declared(target, loans)
    before = target.value("SELECT count(*) FROM discreet.charges")
    with pytest.raises(psycopg.Error, match=says) as error:
        target.admin.execute(BOTH)
    assert error.value.sqlstate == "DP001"
    assert target.value("SELECT count(*) FROM discreet.charges") == before


def test_whole_numbers_of_two_sizes_name_the_same_people(target: Target) -> None:
    declared(target, "who smallint NOT NULL")
    target.admin.execute("""
        INSERT INTO extra.register SELECT n, n FROM generate_series(1, 60) n;
        INSERT INTO extra.member SELECT n, n % 2 = 0 FROM generate_series(1, 60) n;
        INSERT INTO extra.loan SELECT n, true FROM generate_series(1, 60) n, generate_series(1, 2)
    """)
    target.admin.execute(BOTH.replace(", 1)", ", 9)"))
    assert target.value("SELECT count(*) > 60 FROM extra.l JOIN extra.m ON m.id = l.who")
