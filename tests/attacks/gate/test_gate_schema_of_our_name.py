"""A schema named discreet, in a database without the extension: its dp_ functions are not ours.

Ours are known to the C module, down to what their arguments are: taken for ours, others would read any address.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dev.cluster import Cluster
from tests.attacks.target import Target
from tests.databases import Connection, created

FAKE = """
    CREATE SCHEMA discreet;
    CREATE AGGREGATE discreet.dp_x(int) (sfunc = int4pl, stype = int, initcond = '0');
    CREATE FUNCTION discreet.take(bigint, bigint, bytea, bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 17::bigint';
    CREATE AGGREGATE discreet.dp_sum(bigint, bytea, bigint) (sfunc = discreet.take, stype = bigint);
    CREATE FUNCTION discreet.take(numeric, numeric, bigint, numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 18.0';
    CREATE AGGREGATE discreet.dp_sum(numeric, bigint, numeric) (sfunc = discreet.take, stype = numeric);
"""


@pytest.fixture
def elsewhere(cluster: Cluster, target: Target) -> Iterator[Connection]:
    """A session of an ordinary user, in a database of the same server that has no extension."""
    with created(cluster, "elsewhere") as database:
        cluster.sql(f"GRANT CREATE ON DATABASE {database.name} TO blind")
        yield database.connect("blind")


def test_functions_of_others_are_aggregates_like_any(elsewhere: Connection) -> None:
    elsewhere.execute(FAKE)
    assert elsewhere.execute("SELECT discreet.dp_x(1)").fetchall() == [(1,)]
    assert elsewhere.execute("SELECT discreet.dp_x(1) OVER ()").fetchall() == [(1,)]
    text = "SELECT discreet.dp_sum(1::bigint, %s::bytea, 0::bigint)"
    assert elsewhere.execute(text, [b"\x01\x80\xd2"]).fetchall() == [(17,)]
    assert elsewhere.execute("SELECT discreet.dp_sum(1::numeric, 4096::bigint, -5)").fetchall() == [(18,)]


def test_a_query_in_that_schema_is_nobodys_gate(elsewhere: Connection) -> None:
    elsewhere.execute(FAKE)
    elsewhere.execute(
        """
        CREATE TABLE discreet._multilevel_table (a oid, b oid);
        CREATE FUNCTION discreet._guards(oid, oid, oid) RETURNS boolean LANGUAGE plpgsql AS
            'BEGIN RAISE EXCEPTION ''called''; END';
        CREATE TABLE discreet.person (id int);
        """
    )
    assert elsewhere.execute("SELECT count(*) FROM discreet.person").fetchall() == [(0,)]
