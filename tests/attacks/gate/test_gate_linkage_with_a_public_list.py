"""Linkage: a public list of names with birthday, zip and gender says whom each key means (Sweeney 1997)."""

from __future__ import annotations

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

CLUB = """
    CREATE TABLE extra.club (member text, dob date, zip text, gender text);
    INSERT INTO extra.club SELECT 'member ' || id, dob, zip, gender FROM extra.voter WHERE id % 10 = 0;
    CREATE TABLE extra.birthday AS SELECT DISTINCT dob FROM extra.voter;
    CREATE TABLE extra.area AS SELECT DISTINCT zip, 'north' AS part FROM extra.voter;
    GRANT SELECT ON extra.club, extra.birthday, extra.area TO PUBLIC;
    SELECT discreet.protect(r, NULL, policy => 'public')
    FROM unnest(ARRAY['extra.club', 'extra.birthday', 'extra.area']::regclass[]) r
"""
MEMBER = "c.member = 'member 70'"
LINKS = [
    "extra.voter v JOIN extra.club c USING (dob, zip, gender) WHERE {}",
    "extra.voter v JOIN extra.club c ON (v.dob, v.zip, v.gender) = (c.dob, c.zip, c.gender) WHERE {}",
    "extra.voter v, extra.club c WHERE v.dob = c.dob AND v.zip = c.zip AND v.gender = c.gender AND {}",
    "extra.voter v JOIN extra.club c ON v.dob - c.dob = 0 AND v.zip || v.gender = c.zip || c.gender WHERE {}",
    "extra.voter v JOIN extra.club c ON v.dob BETWEEN c.dob AND c.dob AND v.zip = c.zip AND v.gender = c.gender"
    " WHERE {}",
    "extra.voter v JOIN (SELECT a.dob, c.zip, c.gender FROM extra.club a JOIN extra.club c ON a.member = c.member"
    " WHERE {}) x ON v.dob = x.dob AND v.zip = x.zip AND v.gender = x.gender",
]


@pytest.fixture
def club(voters: Target) -> Target:
    voters.admin.execute(f"SET client_min_messages = warning; {CLUB}; RESET client_min_messages")
    return voters


@pytest.mark.parametrize("link", LINKS)
def test_a_list_gives_a_name_to_a_row(club: Target, link: str) -> None:
    salary = club.value("SELECT salary FROM extra.voter WHERE id = 70")
    assert club.value(f"SELECT sum(v.salary) FROM {link.format(MEMBER)}") == salary


@pytest.mark.parametrize("link", LINKS)
def test_the_link_is_refused_and_costs_nothing(club: Target, blind: Connection, link: str) -> None:
    with club.free():
        assert how_it_ends(blind, f"SELECT sum(v.salary) FROM {link.format(MEMBER)}") == "DP002"


def test_who_is_on_the_list_is_not_told_by_a_left_join(club: Target, blind: Connection) -> None:
    question = (
        "SELECT count(c.member) FROM extra.voter v LEFT JOIN extra.club c"
        " ON v.dob = c.dob AND v.zip = c.zip AND v.gender = c.gender"
    )
    assert how_it_ends(blind, question) == "DP002"


@pytest.mark.parametrize(
    "question",
    [
        "SELECT count(*) FROM extra.voter v JOIN extra.area a ON a.zip = v.zip WHERE a.part = 'north'",
        "SELECT count(*) FROM extra.voter v JOIN extra.area a ON a.zip = v.zip JOIN extra.birthday b ON b.dob = v.dob"
        " WHERE v.gender = 'F'",
    ],
)
def test_tables_that_describe_one_column_each_may_be_joined(club: Target, blind: Connection, question: str) -> None:
    assert how_it_ends(blind, question) == "answer"
