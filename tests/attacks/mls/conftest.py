"""One database with levels for all attacks on them; each begins with Smith and Brown as they were loaded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dev.cluster import Cluster
from tests.attacks.mls.levels import Levels
from tests.databases import Connection, created


@pytest.fixture(scope="session")
def levels_database(cluster: Cluster, template: str) -> Iterator[Levels]:
    with created(cluster, "attacked_levels", template) as database:
        levels = Levels(database)
        levels.build()
        yield levels
        levels.drop_roles()


@pytest.fixture
def levels(levels_database: Levels) -> Iterator[Levels]:
    levels_database.reset()
    yield levels_database
    for connection in levels_database.database._opened[1:]:
        connection.close()
    del levels_database.database._opened[1:]


@pytest.fixture
def statistics(levels: Levels) -> Iterator[Levels]:
    """Table employee, protected; mls_asks_low, mls_asks_high and mls_asks_nato have clearances and budgets only."""
    asks = {"mls_asks_low": "U", "mls_asks_high": "S", "mls_asks_nato": "S:NATO"}
    levels.admin.execute("SELECT discreet.protect('employee', 'name', epsilon => 1000, max_rows => 1)")
    levels.admin.execute("SELECT discreet.describe_column('employee', 'salary', 0, 100000)")
    for role, label in asks.items():
        levels.admin.execute(f"CREATE ROLE {role} LOGIN")
        levels.admin.execute("SELECT discreet.mls_clear(%s, %s)", [role, label])
        levels.admin.execute("SELECT discreet.grant_budget('public.employee', %s, 300)", [role])
    yield levels
    levels.admin.execute("SELECT discreet.unprotect('employee')")
    for role in asks:
        levels.admin.execute("SELECT discreet.mls_clear(%s, NULL)", [role])
    levels.admin.execute(
        "DELETE FROM discreet._budget; DELETE FROM discreet._dataset; DELETE FROM discreet._past_protection"
    )
    levels.admin.execute(f"DROP OWNED BY {', '.join(asks)}; DROP ROLE {', '.join(asks)}")


@pytest.fixture
def low(levels: Levels) -> Connection:
    return levels.at("low")


@pytest.fixture
def middle(levels: Levels) -> Connection:
    return levels.at("middle")


@pytest.fixture
def high(levels: Levels) -> Connection:
    return levels.at("high")


@pytest.fixture
def naive(levels: Levels) -> Iterator[Connection]:
    """Where labels are row security on one plain table: mls_low sees rows of label U only. The owner's connection."""
    levels.admin.execute(
        """
        CREATE TABLE naive (id serial, name text PRIMARY KEY, label text DEFAULT 'U', secret text);
        INSERT INTO naive (name, label, secret) VALUES ('Smith', 'U', ''), ('Brown', 'S', 'spy');
        ALTER TABLE naive ENABLE ROW LEVEL SECURITY;
        CREATE POLICY labels ON naive USING (label = 'U' OR current_user = 'mls_high');
        GRANT ALL ON naive, naive_id_seq TO mls_low, mls_high;
        """
    )
    yield levels.admin
    levels.admin.execute("DROP TABLE naive CASCADE")
