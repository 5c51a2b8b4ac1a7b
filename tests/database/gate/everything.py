"""A protected table with a column of every type, and an analyst who may ask about it in plain SQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dev.cluster import Cluster
from tests.database.gate.conftest import Asker
from tests.databases import created

# Noise of a count at this epsilon is 0, but for a chance of 2 e**-50 < 1e-21.
HARDLY_NOISY = 50

TABLE = """
    CREATE SCHEMA kinds;
    CREATE TYPE kinds.mood AS ENUM ('sad', 'glad', 'Très "odd"');
    CREATE DOMAIN kinds.shoe AS numeric(4, 1) CHECK (VALUE > 0);
    CREATE TABLE kinds.person (
        id int PRIMARY KEY, i2 smallint, i4 int, i8 bigint, n numeric(10, 2), f4 real, f8 float8, t text, v varchar(10),
        c char(4), b boolean, d date, ts timestamp, tz timestamptz, u uuid, m kinds.mood, s kinds.shoe, y bytea,
        iv interval, j jsonb, a int[], q "char", nm name, bi bit(3), tm time);
    INSERT INTO kinds.person
    SELECT n, n % 10, n, n, n / 3.0, n / 4.0, n / 4.0, 'a' || n % 3, 'v' || n % 3, 'c' || n % 3, n % 2 = 0,
           date '2024-01-01' + n % 3, timestamp '2024-01-01 10:00' + n % 3 * interval '1 day',
           timestamptz '2024-01-01 01:00+02' + n % 3 * interval '1 day',
           ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1' || n % 3)::uuid,
           (CASE WHEN n % 2 = 0 THEN 'sad' ELSE 'glad' END)::kinds.mood, 40 + n % 2, decode('0' || n % 3, 'hex'),
           n % 3 * interval '1 day', jsonb_build_object('k', n % 3), ARRAY[n % 3], 'x', 'nam', B'101', time '10:00'
    FROM generate_series(1, 300) n;
    INSERT INTO kinds.person (id) SELECT n FROM generate_series(301, 330) n;
    GRANT USAGE ON SCHEMA kinds TO PUBLIC;
    SET client_min_messages = warning;
    SELECT discreet.create_dataset('kinds', 1000, 1e-3), discreet.protect('kinds.person', 'id', dataset => 'kinds');
    SELECT discreet.describe_column('kinds.person', c, 0, 300) FROM unnest('{i2,i4,i8,n,f4,f8,s}'::name[]) c;
    SELECT discreet.describe_column('kinds.person', 'd', 19000, 20000),
           discreet.describe_column('kinds.person', 'ts', 1.6e9, 1.8e9),
           discreet.describe_column('kinds.person', 'tz', 1.6e9, 1.8e9);
"""


@contextmanager
def asker_of_everything(cluster: Cluster, template: str, name: str) -> Iterator[Asker]:
    role = f"asker_of_{name}"
    cluster.sql(f"CREATE ROLE {role} LOGIN IN ROLE discreet_analyst")
    with created(cluster, name, template) as database:
        cluster.sql(TABLE, database.name)
        asker = Asker(database, role)
        asker.admin.execute("SELECT discreet.grant_budget('kinds', %s, 1000, 1e-3)", [role])
        asker.connection.prepare_threshold = None
        yield asker
    cluster.sql(f"DROP ROLE {role}")
