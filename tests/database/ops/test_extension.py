"""CREATE, DROP and ALTER EXTENSION."""

from __future__ import annotations

import os
from pathlib import Path

import psycopg
import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused

CREATE = "CREATE EXTENSION discreet CASCADE"


def processor_seconds(backend: int) -> float:
    """What a process has used of the processor, however busy the machine is."""
    user, system = Path(f"/proc/{backend}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def test_creating_it_takes_less_than_a_second(empty_database: Database) -> None:
    connection = empty_database.connect()
    connection.execute("CREATE EXTENSION plpython3u")
    before = processor_seconds(connection.info.backend_pid)
    connection.execute("CREATE EXTENSION discreet")
    assert processor_seconds(connection.info.backend_pid) - before < 1


@pytest.mark.parametrize(
    "plant",
    [
        "CREATE SCHEMA discreet",
        "CREATE SCHEMA discreet CREATE TABLE _budget (dataset text, role regrole)",
    ],
)
def test_a_schema_planted_beforehand_is_not_taken_over(
    empty_database: Database, make_role: MakeRole, plant: str
) -> None:
    """Whoever owns the schema could replace what is in it."""
    mallory = make_role("mallory")
    admin = empty_database.connect()
    admin.execute(f"GRANT CREATE ON DATABASE {empty_database.name} TO {mallory}")
    empty_database.connect(mallory).execute(plant)
    with refused("42P06", 'schema "discreet" already exists', None):
        admin.execute(CREATE)


def test_only_a_superuser_creates_it(empty_database: Database, make_role: MakeRole) -> None:
    owner = make_role("owner")
    empty_database.connect().execute(
        f"CREATE EXTENSION plpython3u; ALTER DATABASE {empty_database.name} OWNER TO {owner}"
    )
    with refused("42501", 'permission denied to create extension "discreet"', "Must be superuser"):
        empty_database.connect(owner).execute("CREATE EXTENSION discreet")
    empty_database.connect().execute(f"ALTER DATABASE {empty_database.name} OWNER TO postgres")


def test_it_cannot_be_moved_to_another_schema(admin: Connection) -> None:
    with pytest.raises(psycopg.Error, match='extension "discreet" does not support SET SCHEMA'):
        admin.execute("ALTER EXTENSION discreet SET SCHEMA public")


def test_its_tables_and_triggers_cannot_be_dropped_alone(admin: Connection) -> None:
    for target in (
        "TABLE discreet._charge",
        "FUNCTION discreet._caller()",
        "EVENT TRIGGER discreet_load_before_ddl",
    ):
        with refused("2BP01", "because extension discreet requires it", "You can drop extension discreet instead."):
            admin.execute(f"DROP {target}")


def test_it_is_dropped_while_tables_are_protected_and_leaves_nothing_but_the_group_roles(
    admin: Connection, person: str
) -> None:
    admin.execute("SELECT discreet.describe_column('hr.person', 'salary', 0, 1)")
    admin.execute("DROP EXTENSION discreet")
    assert admin.execute("SELECT to_regnamespace('discreet')").fetchall() == [(None,)]
    assert admin.execute("SELECT evtname FROM pg_event_trigger").fetchall() == []
    assert admin.execute("SELECT count(*) FROM hr.person").fetchall() == [(20,)]
    # what it protected can now be changed at will
    admin.execute("ALTER TABLE hr.person RENAME salary TO wage; ALTER TABLE hr.person DROP id; DROP TABLE hr.person")


def test_after_dropping_it_can_be_created_anew_and_knows_nothing(admin: Connection, person: str) -> None:
    admin.execute("DROP EXTENSION discreet")
    admin.execute(CREATE)
    assert admin.execute("SELECT FROM discreet.protected_tables").fetchall() == []
    admin.execute("SELECT discreet.protect('hr.person', 'id', epsilon => 1)")


def test_two_databases_of_a_cluster_have_it_side_by_side(database: Database, empty_database: Database) -> None:
    other = empty_database.connect()
    other.execute("SET client_min_messages = warning")
    other.execute(CREATE)
    database.connect().execute("SELECT discreet.create_dataset('people', 1)")
    assert other.execute("SELECT dataset FROM discreet.datasets").fetchall() == []
