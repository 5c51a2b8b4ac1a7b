"""Texts of two collations cannot be compared, which PostgreSQL tells when it comes to the first row."""

import pytest
from tests.attacks.gate.asking import NOBODY, SECRET, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

TABLES = """
    CREATE TABLE extra.a (k text COLLATE "C"); CREATE TABLE extra.b (k text COLLATE "POSIX");
    INSERT INTO extra.a VALUES ('a'); INSERT INTO extra.b VALUES ('b'); GRANT SELECT ON extra.a, extra.b TO PUBLIC
"""


@pytest.mark.parametrize("condition", ["a.k < b.k", "a.k = b.k", "lower(a.k || b.k) = 'x'", "strpos(a.k, b.k) = 1"])
def test_texts_of_two_collations_are_no_oracle(gated: Target, blind: Connection, condition: str) -> None:
    gated.admin.execute(TABLES)
    for who in (SECRET, NOBODY):
        question = f"SELECT count(*) FROM hr.person, extra.a, extra.b WHERE {who} AND {condition}"
        assert how_it_ends(blind, question) == "answer"


# names that are equal whatever their case, for which PostgreSQL does not know LIKE, as it tells at the first row
NICK = """
    CREATE COLLATION extra.any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE TABLE extra.nick AS SELECT id, name AS nick, salary FROM hr.person;
    ALTER TABLE extra.nick ALTER nick TYPE text COLLATE extra.any_case;
    SELECT discreet.protect('extra.nick', 'id', dataset => 'people', max_rows => 1)
"""
BY_NICK = "SELECT id, nick, max(salary) AS most FROM extra.nick GROUP BY id, nick"


@pytest.mark.parametrize("condition", ["nick LIKE 'A%'", "nick NOT ILIKE '%b'", "nick ~ '^a'", "strpos(nick, 'a') = 1"])
def test_a_key_of_a_person_without_a_usual_collation_is_no_oracle(
    gated: Target, blind: Connection, condition: str
) -> None:
    gated.admin.execute(NICK)
    for most in (0, 1_000_000):  # met by all, and by nobody
        question = f"SELECT count(*) FROM ({BY_NICK}) AS n WHERE most >= {most} AND {condition}"
        assert how_it_ends(blind, question) == "answer"
