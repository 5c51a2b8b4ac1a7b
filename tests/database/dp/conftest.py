"""Two databases for all tests of the dp_ aggregates: one as it is, one that shows exact totals instead of noise."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dev.cluster import Cluster
from tests.database.dp.aggregating import TEST_DOUBLE, Exact
from tests.databases import Connection, Database, created

# 1001 rows in 7 groups; values from 0 to 100, every 13th NULL
ROWS = """
    CREATE SCHEMA data;
    CREATE TABLE data.t AS
    SELECT n AS id, 'group ' || n % 7 AS g, v::smallint AS i2, v AS i4, v::bigint AS i8, v::numeric AS n, v::real AS f4,
           v::float8 AS f8, date '2000-01-01' + v AS d, timestamp '2000-01-01' + v * interval '1 hour' AS ts,
           timestamptz '2000-01-01 00:00+00' + v * interval '1 hour' AS tz
    FROM (SELECT n, CASE WHEN n % 13 <> 0 THEN (n * 37) % 101 END AS v FROM generate_series(1, 1001) n) s;
    ALTER TABLE data.t ADD PRIMARY KEY (id);
    ANALYZE data.t;
    GRANT USAGE ON SCHEMA data TO PUBLIC;
    GRANT SELECT ON ALL TABLES IN SCHEMA data TO PUBLIC;
    SELECT discreet.create_dataset('default', 1000);
    UPDATE discreet._budget SET amount_limit = 1e12, epsilon_limit = 1e12;
"""


@pytest.fixture(scope="session")
def dp_database(cluster: Cluster, template: str) -> Iterator[Database]:
    """A database with table data.t and as much budget as anybody could want."""
    with created(cluster, "dp", template) as database:
        admin = database.connect()
        admin.execute("CREATE ROLE dora LOGIN IN ROLE discreet_analyst")
        admin.execute(ROWS)
        yield database


@pytest.fixture(scope="session")
def dora_session(dp_database: Database) -> Connection:
    connection = dp_database.connect("dora")
    connection.prepare_threshold = None
    return connection


@pytest.fixture
def dora(dora_session: Connection) -> Iterator[Connection]:
    """An analyst who may read data.t."""
    yield dora_session
    dora_session.rollback()
    dora_session.execute("DISCARD ALL")


@pytest.fixture(scope="session")
def dp_admin(dp_database: Database) -> Connection:
    return dp_database.connect()


@pytest.fixture(scope="session")
def exact_session(cluster: Cluster, template: str) -> Iterator[Exact]:
    with created(cluster, "dp_exact", template) as database:
        admin = database.connect()
        admin.prepare_threshold = None
        admin.execute(ROWS)
        admin.execute(TEST_DOUBLE)
        yield Exact(admin)


@pytest.fixture
def exact(exact_session: Exact) -> Iterator[Exact]:
    """The exact totals that the C module hands over: the noise is replaced by a test double."""
    yield exact_session
    exact_session.connection.rollback()
    exact_session.connection.execute("DISCARD ALL")
