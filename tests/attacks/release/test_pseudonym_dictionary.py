"""A list of all names is put through the pseudonym function, and the table with pseudonyms is joined with it."""

from __future__ import annotations

import psycopg
import pytest
from tests.databases import Connection, Database, MakeRole

NAMES = "SELECT 'person ' || n FROM generate_series(1, 500) n"


@pytest.fixture
def attacker(database: Database, admin: Connection, make_role: MakeRole) -> Connection:
    """Reads both releases and knows all names."""
    role = make_role("mallory")
    admin.execute("SELECT discreet.create_secret('people')")
    admin.execute(f"CREATE TABLE hashed AS SELECT md5(name) AS person, 'ill' AS state FROM ({NAMES}) t(name) LIMIT 9")
    admin.execute(
        "CREATE TABLE pseudonymous AS SELECT discreet.pseudonym(name, 'people') AS person, 'ill' AS state"
        f" FROM ({NAMES}) t(name) LIMIT 9"
    )
    admin.execute(f"GRANT SELECT ON hashed, pseudonymous TO {role}")
    return database.connect(role)


def test_a_plain_hash_gives_all_names_back(attacker: Connection) -> None:
    found = attacker.execute(f"SELECT count(*) FROM hashed JOIN ({NAMES}) t(name) ON person = md5(name)").fetchall()
    assert found == [(9,)]


@pytest.mark.parametrize("guess", ["md5(name)", "left(encode(sha256(name::bytea), 'hex'), 32)"])
def test_pseudonyms_match_no_hash_of_a_name(attacker: Connection, guess: str) -> None:
    query = f"SELECT count(*) FROM pseudonymous JOIN ({NAMES}) t(name) ON person = {guess}"
    assert attacker.execute(query).fetchall() == [(0,)]


@pytest.mark.parametrize(
    "guess",
    ["discreet.pseudonym(name, 'people')", "discreet.pseudonym(name, 'people', 1)",
     "discreet.record_key(name, 'people')::text", "discreet.add_noise(0::float8, 1, name, 'people')::text"],
)  # fmt: skip
def test_who_does_not_hold_the_secret_cannot_put_names_through_it(attacker: Connection, guess: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        attacker.execute(f"SELECT count(*) FROM pseudonymous JOIN ({NAMES}) t(name) ON person = {guess}")


def test_it_cannot_be_had_by_making_a_secret_of_the_same_name_or_reading_the_key(attacker: Connection) -> None:
    for statement in (
        "SELECT discreet.create_secret('people')",
        "SELECT discreet.rotate_secret('people')",
        "SELECT discreet.grant_secret('people', current_user::regrole)",
        "SELECT key FROM discreet._secret_key",
        "SELECT discreet._new_key()",
        "COPY discreet._secret_key TO STDOUT",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            attacker.execute(statement)
