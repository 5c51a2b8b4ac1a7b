"""Discovery: what lists a table for tools must open no other way to its rows."""

import psycopg
import pytest
from tests.attacks.target import Target
from tests.databases import Connection

LISTED = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'hr' AND table_name = 'person'"
# each of these would tell something, were a privilege behind the listing
WAYS = [
    "SELECT id FROM hr.person",
    "TABLE hr.person",
    "COPY hr.person TO STDOUT",
    "UPDATE hr.person SET name = name",
    "DELETE FROM hr.person",
    "INSERT INTO hr.person (id) VALUES (7)",
    "CREATE TABLE extra.child (id int REFERENCES hr.person)",
    "CREATE TRIGGER sly AFTER INSERT ON hr.person EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "BEGIN; LOCK TABLE hr.person",
    "TRUNCATE hr.person",
]


def test_a_privilege_that_lists_a_table_tells_who_is_there(gated: Target, blind: Connection) -> None:
    """What a naive design would grant: a foreign key finds out whether person 7 exists."""
    gated.admin.execute("CREATE TABLE extra.listed (id int PRIMARY KEY)")
    gated.admin.execute("INSERT INTO extra.listed VALUES (7)")
    gated.admin.execute("GRANT REFERENCES ON extra.listed TO PUBLIC")
    blind.execute("CREATE TABLE extra.guess (id int REFERENCES extra.listed)")
    blind.execute("INSERT INTO extra.guess VALUES (7)")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        blind.execute("INSERT INTO extra.guess VALUES (8)")


def test_a_listed_table_is_as_closed_as_ever(gated: Target, blind: Connection) -> None:
    assert blind.execute(LISTED.encode()).fetchone() == (1,)
    for way in WAYS:
        with gated.free(), pytest.raises(psycopg.Error) as refused:
            blind.execute(way.encode())
        assert refused.value.sqlstate in ("42501", "DP001", "DP002"), way
        blind.rollback()


def test_the_listing_does_not_depend_on_rows(gated: Target, blind: Connection) -> None:
    both = "SELECT (SELECT array_agg(t ORDER BY t) FROM information_schema.tables t WHERE table_schema = 'hr')::text"
    before = blind.execute(both.encode()).fetchone()
    gated.admin.execute("UPDATE hr.person SET name = 'somebody else' WHERE id = 7")
    try:
        assert blind.execute(both.encode()).fetchone() == before
    finally:
        gated.admin.execute("UPDATE hr.person SET name = 'name 7' WHERE id = 7")
