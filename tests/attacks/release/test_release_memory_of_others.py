"""The memory of releases as a window, and as a way to stop others, for a curator who may read one column."""

from __future__ import annotations

import json

import psycopg
import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused

TABLE = """
    CREATE SCHEMA own AUTHORIZATION {owner};
    CREATE TABLE own.person (id int, age int, town text);
    INSERT INTO own.person SELECT n, 20 + n % 4, 'x' || n % 2 FROM generate_series(1, 40) n;
    CREATE TABLE own.pet AS SELECT * FROM own.person;
    ALTER TABLE own.person OWNER TO {owner}; ALTER TABLE own.pet OWNER TO {owner};
    GRANT USAGE ON SCHEMA own TO {other}; GRANT SELECT (id) ON own.person TO {other};
    CREATE SCHEMA other AUTHORIZATION {other};
"""
PUBLISH = """SELECT discreet.anonymize('own.{}', 'own.{}', '{{"age": "suppress", "town": "suppress"}}', 3)"""


@pytest.fixture
def curators(database: Database, admin: Connection, make_role: MakeRole) -> tuple[Connection, Connection]:
    """Who owns the table, and who may read one column of it."""
    owner, other = make_role("olga", "discreet_curator"), make_role("otto", "discreet_curator")
    admin.execute(TABLE.format(owner=owner, other=other))
    return database.connect(owner), database.connect(other)


def forged(**changes: object) -> str:
    made = {"release": "other.made", "source": "own.person", "kind": "table", "quasi_identifiers": ["id"], "k": 2}
    return json.dumps(made | {"definition": {"method": "view"}, "report": {}} | changes)


def test_classes_are_told_to_who_may_read_what_they_were_made_from(curators: tuple[Connection, Connection]) -> None:
    owner, other = curators
    owner.execute(PUBLISH.format("person", "first"))
    with refused(
        "42501", "permission denied for own.person", "Release own.first was made from columns that you may not"
    ):
        other.execute("SELECT * FROM discreet._earlier_releases('own.person')")
    owner.execute("ALTER TABLE own.person DROP age, DROP town")
    ((definition, labels, sizes),) = other.execute(
        "SELECT definition, labels, sizes FROM discreet._earlier_releases('own.person')"
    ).fetchall()
    assert (definition, labels, sizes) == ({"method": "view"}, [], [])


@pytest.mark.parametrize(
    "lie",
    [
        {"quasi_identifiers": ["gone"]},
        {"release": "other.never"},
        {"release": "own.pet"},
        {"kind": "view"},
        {"sensitive": "gone"},
        {"definition": {"method": "view", "unit": "gone"}},
    ],
)
def test_what_was_never_made_is_not_remembered(curators: tuple[Connection, Connection], lie: dict[str, object]) -> None:
    owner, other = curators
    other.execute("CREATE TABLE other.made (id int)")
    with refused("22023", " is no release of yours", "which remember what they make"):
        other.execute("SELECT discreet._remember_release(%s, '{}', '{}')", [forged(**lie)])
    owner.execute(PUBLISH.format("person", "first"))


def test_columns_that_one_may_not_read_are_not_published_from(curators: tuple[Connection, Connection]) -> None:
    _, other = curators
    other.execute("CREATE TABLE other.made (id int)")
    with refused("42501", "permission denied for own.person", "your own rights"):
        other.execute("SELECT discreet._remember_release(%s, '{}', '{}')", [forged(quasi_identifiers=["age"])])


def test_whose_the_table_is_can_forget_what_others_claim(curators: tuple[Connection, Connection]) -> None:
    owner, other = curators
    other.execute("CREATE TABLE other.made (id int)")
    other.execute("SELECT discreet._remember_release(%s, '{}', '{}')", [forged()])
    with refused("DP008", "own.person cannot be compared with release other.made", "forget_release"):
        owner.execute(PUBLISH.format("person", "first"))
    owner.execute("SELECT discreet.forget_release('other.made')")
    owner.execute(PUBLISH.format("person", "first"))
    with refused("42704", "there is no release own.first of yours", "by whom"):
        other.execute("SELECT discreet.forget_release('own.first')")


def test_an_open_transaction_stops_only_who_publishes_of_the_same_table(
    database: Database, curators: tuple[Connection, Connection]
) -> None:
    first, second = curators[0], database.connect(curators[0].info.user)
    second.execute("SET lock_timeout = '200ms'")
    with first.transaction():
        first.execute(PUBLISH.format("person", "first"))
        second.execute(PUBLISH.format("pet", "of_pets"))
        with pytest.raises(psycopg.errors.LockNotAvailable):
            second.execute(PUBLISH.format("person", "second"))


def test_a_snapshot_in_which_another_release_is_not_seen_publishes_nothing(
    database: Database, curators: tuple[Connection, Connection]
) -> None:
    first, second = curators[0], database.connect(curators[0].info.user)
    second.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM own.person")
    first.execute(PUBLISH.format("person", "first"))
    with pytest.raises(psycopg.errors.SerializationFailure):
        second.execute(PUBLISH.format("person", "second"))
    second.execute("ROLLBACK")
    assert first.execute("SELECT release FROM discreet.releases").fetchall() == [("own.first",)]
