"""The owner of a protected table, without the key, puts code where it runs while the gate reads by the server's key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from dev.cluster import Cluster
from tests.database.sealed.test_gate import PROTECT, TABLES
from tests.databases import Connection, throw_away_cluster
from tests.sealed import one

STEAL = """
    CREATE TABLE shop.stolen (value text);
    CREATE FUNCTION shop.put() RETURNS int LANGUAGE plpgsql AS $$
        BEGIN
            -- to plan this reads the index, too
            IF coalesce(current_setting('shop.busy', true), '') = '' THEN
                PERFORM set_config('shop.busy', 'yes', false);
                INSERT INTO shop.stolen SELECT max(ssn) FROM shop.customer;
                PERFORM set_config('shop.busy', '', false);
            END IF;
            RETURN 1;
        END $$;
    CREATE FUNCTION shop.steal() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1';
"""
ARM = "CREATE OR REPLACE FUNCTION shop.steal() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT shop.put()'"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with throw_away_cluster(**{"discreet.key_command": "echo secret of %k"}) as running:
        running.sql(TABLES)
        running.sql(PROTECT)
        yield running


def ask(cluster: Cluster, statement: str) -> None:
    with closing(psycopg.connect(cluster.dsn(user="anna"), autocommit=True)) as anna:
        anna.execute(statement.encode())


def owner(cluster: Cluster) -> Connection:
    return psycopg.connect(cluster.dsn(user="carol"), autocommit=True)


def test_code_that_planning_runs_reads_null(cluster: Cluster) -> None:
    with closing(owner(cluster)) as carol:
        carol.execute(STEAL)
        carol.execute("CREATE INDEX ON shop.customer_sealed (name) WHERE shop.steal() = 1 AND name > 'a'")
        carol.execute(ARM)
        ask(cluster, "SELECT sum(salary) FROM shop.customer WHERE salary > 5")
        assert one(carol, "SELECT count(*) > 0, count(value) FROM shop.stolen") == (True, 0), "it ran, and read nothing"


@pytest.mark.parametrize(
    "column",
    [
        "shop.seen(discreet._unseal({}))",
        "(SELECT min(ssn::text) FROM shop.customer_sealed)",
        "discreet._unseal(ssn, (shop.steal())::bigint, 'e0000000-0000-0000-0000-000000000000'::uuid, NULL::text)",
    ],
)
def test_a_replaced_view_is_not_read(cluster: Cluster, column: str) -> None:
    with closing(owner(cluster)) as carol:
        carol.execute(STEAL)
        carol.execute("CREATE FUNCTION shop.seen(text) RETURNS text LANGUAGE sql AS 'SELECT $1'")
        definition = one(carol, "SELECT pg_get_viewdef('shop.customer'::regclass)")
        call = definition.split("_unseal(")[1].split(") AS ssn")[0]
        replaced = definition.replace(f"discreet._unseal({call})", column.format(call), 1)
        assert replaced != definition
        carol.execute(f"CREATE OR REPLACE VIEW shop.customer AS {replaced}".encode())
        with pytest.raises(psycopg.Error):
            ask(cluster, "SELECT sum(salary) FROM shop.customer")
