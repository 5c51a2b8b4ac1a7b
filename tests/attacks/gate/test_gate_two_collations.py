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
