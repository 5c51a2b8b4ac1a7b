"""Tables distributed by Citus: workers add up, the coordinator charges and draws noise. Runs with DISCREET_CITUS=1."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest
from dev.cluster import ROOT, Cluster, throw_away_folder
from tests.databases import FAST_AND_FORGETFUL, Connection
from tests.messages import refused

pytestmark = pytest.mark.skipif(
    os.environ.get("DISCREET_CITUS") != "1", reason="DISCREET_CITUS=1 runs this, where the extension citus is installed"
)

GUIDE = ROOT / "docs" / "operations.md"
PEOPLE, VISITS = 20_000, 40_000
# a replica identity, slots and prepared transactions are what Citus wants of a node
SETTINGS = FAST_AND_FORGETFUL | {
    "shared_preload_libraries": "citus, discreet",
    "listen_addresses": "127.0.0.1",
    "wal_level": "logical",
    "max_wal_senders": "10",
    "max_prepared_transactions": "20",
}
TABLES = f"""
    SET citus.shard_count = 8;
    CREATE SCHEMA hr;
    CREATE TABLE hr.person (id int PRIMARY KEY, dept text NOT NULL, salary numeric(12,2) NOT NULL);
    CREATE TABLE hr.visit (person_id int NOT NULL, id bigint, cost numeric(8,2) NOT NULL, PRIMARY KEY (person_id, id));
    CREATE TABLE hr.city (dept text PRIMARY KEY, city text NOT NULL);
    SELECT create_distributed_table('hr.person', 'id');
    SELECT create_distributed_table('hr.visit', 'person_id', colocate_with => 'hr.person');
    SELECT create_reference_table('hr.city');
    INSERT INTO hr.person SELECT n, 'dept ' || n % 4, n % 5000 FROM generate_series(1, {PEOPLE}) n;
    INSERT INTO hr.visit SELECT 1 + n % {PEOPLE}, n, n % 100 FROM generate_series(1, {VISITS}) n;
    INSERT INTO hr.city SELECT 'dept ' || n, CASE WHEN n < 2 THEN 'Salem' ELSE 'Bonn' END FROM generate_series(0, 3) n;
    CREATE ROLE ann LOGIN IN ROLE discreet_analyst;
    GRANT USAGE ON SCHEMA hr TO ann;
    SELECT discreet.create_dataset('people', 1000);
    SELECT discreet.protect('hr.person', 'id', 'people'),
           discreet.protect('hr.visit', 'person_id', 'people', max_groups => 2, max_rows => 2, max_total_rows => 2),
           discreet.protect('hr.city', NULL, policy => 'public');
    SELECT discreet.describe_column('hr.person', 'dept', categories => '{{dept 0,dept 1,dept 2,dept 3}}'),
           discreet.describe_column('hr.city', 'city', categories => '{{Salem,Bonn}}'),
           discreet.describe_column('hr.person', 'salary', 0, 5000),
           discreet.describe_column('hr.visit', 'cost', 0, 100);
    SELECT discreet.grant_budget('people', 'ann', 900), discreet.grant_budget('people', 'postgres', 900);
    ALTER ROLE ann SET discreet.epsilon = 20;
"""
BY_DEPT = "SELECT dept, count(*), avg(salary) FROM hr.person GROUP BY dept ORDER BY dept"
# at epsilon 20, shared by two: noise of a count beyond 4 with a probability of 2 exp(-40) < 1e-17
NOISE = 4


@dataclass(frozen=True)
class Machines:
    coordinator: Cluster
    workers: tuple[Cluster, ...]

    def connect(self, user: str) -> Connection:
        return psycopg.connect(self.coordinator.dsn(user=user), autocommit=True)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    with throw_away_folder() as folder:
        nodes = [Cluster(folder / f"node{n}", port=free_port(), settings=SETTINGS) for n in range(3)]
        coordinator, *workers = nodes
        try:
            for node in nodes:
                node.start()
                node.sql("CREATE EXTENSION citus")
            coordinator.sql(f"SELECT citus_set_coordinator_host('127.0.0.1', {coordinator.port})")
            for worker in workers:
                coordinator.sql(f"SELECT citus_add_node('127.0.0.1', {worker.port})")
            coordinator.sql("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE")
            coordinator.sql("SET client_min_messages = warning;" + TABLES)
            yield Machines(coordinator, tuple(workers))
        finally:
            for node in nodes:
                node.remove()


@pytest.fixture
def ann(machines: Machines) -> Iterator[Connection]:
    with machines.connect("ann") as connection:
        yield connection


def test_plain_sql_is_answered(ann: Connection) -> None:
    rows = ann.execute(BY_DEPT).fetchall()
    assert [row[0] for row in rows] == [f"dept {n}" for n in range(4)]
    for _, count, average in rows:
        assert abs(int(str(count)) - PEOPLE / 4) <= NOISE
        # off by at most 5000 * (noise of the sum + that of the count) / n
        assert abs(float(str(average)) - 2499.5) < 25


def test_people_with_many_rows_and_joins_are_answered(ann: Connection) -> None:
    ((visits,),) = ann.execute("SELECT count(*) FROM hr.visit").fetchall()
    assert abs(int(str(visits)) - VISITS) <= 2 * NOISE
    joined = "SELECT dept, count(*) FROM hr.person JOIN hr.visit ON person.id = person_id GROUP BY dept"
    for _, count in ann.execute(joined).fetchall():
        assert abs(int(str(count)) - VISITS / 4) <= 2 * NOISE
    cities = "SELECT city, count(*) FROM hr.person JOIN hr.city USING (dept) GROUP BY city"
    for _, count in ann.execute(cities).fetchall():
        assert abs(int(str(count)) - PEOPLE / 2) <= NOISE


def test_the_workers_add_up(machines: Machines) -> None:
    with machines.connect("postgres") as curator:
        listed = "SELECT jsonb_array_elements_text(discreet.explain(%s) -> 'native_sql')"
        ((native,),) = curator.execute(listed, [BY_DEPT]).fetchall()
        plan = "\n".join(str(row[0]) for row in curator.execute(f"EXPLAIN (VERBOSE, COSTS OFF) {native}").fetchall())
    (task,) = re.findall(r"Query: (SELECT discreet\._cut\(dept.*)", plan)
    assert "Task Count: 8" in plan
    assert re.search(r"count\(\*\).* sum\(discreet\._on_grid\(.* FROM hr\.person_\d+ person .*GROUP BY .*dept", task)
    ports = {int(port) for port in re.findall(r"host=127.0.0.1 port=(\d+)", plan)}
    assert ports
    assert ports <= {worker.port for worker in machines.workers}


def test_charges_are_made_on_the_coordinator_alone(machines: Machines, ann: Connection) -> None:
    charges = "SELECT count(*) FROM discreet._charge"
    before = int(machines.coordinator.sql(charges))
    ann.execute("SELECT count(*) FROM hr.person WHERE salary > 17")
    ann.execute("SELECT count(*) FROM hr.person WHERE salary > 17")
    assert int(machines.coordinator.sql(charges)) == before + 1
    assert [worker.sql(charges) for worker in machines.workers] == ["0", "0"]
    assert machines.coordinator.sql("SELECT bool_and(intact) FROM discreet.verify_log()") == "t"


def test_no_worker_is_a_way_around(machines: Machines, ann: Connection) -> None:
    (around,) = {row[0] for row in ann.execute(
        "SELECT result FROM run_command_on_workers('SELECT count(*) FROM hr.person')"
    ).fetchall()}  # fmt: skip
    assert "permission denied" in str(around)
    with psycopg.connect(machines.workers[0].dsn(user="ann"), autocommit=True) as beside:
        tables = "SELECT c.oid::regclass::text FROM pg_class c WHERE relname ~ '^(person|visit)' AND relkind = 'r'"
        names = [str(row[0]) for row in beside.execute(tables).fetchall()]
        assert names
        for name in names:
            with refused("42501", "permission denied", None):
                beside.execute(f"SELECT count(*) FROM {name}")


def test_sizes_of_shards_can_be_closed(machines: Machines, ann: Connection) -> None:
    (statements,) = re.findall(r"```\n(REVOKE SELECT ON citus_shards.*?)```", GUIDE.read_text(), re.DOTALL)
    machines.coordinator.sql(statements)
    for shown in ("SELECT * FROM citus_shards", "SELECT * FROM citus_tables", "SELECT citus_table_size('hr.person')"):
        with refused("42501", "permission denied", None):
            ann.execute(shown)


def test_intermediate_results_are_not_the_askers(ann: Connection) -> None:
    """They stay until the transaction ends; Citus keeps those of each role apart."""
    with ann.transaction():
        assert ann.execute("SELECT dept, count(*) FROM hr.person WHERE salary > 3 GROUP BY dept").fetchall()
        for number in range(60):
            stolen = f"read_intermediate_result('{number}_1', 'binary') AS t(k text, n bigint)"
            assert ann.execute(f"SELECT * FROM {stolen}").fetchall() == []


@pytest.mark.parametrize(
    "setting", ["max_intermediate_result_size = 1", "count_distinct_error_rate = 0.1", "log_remote_commands = on"]
)
def test_settings_of_citus_are_no_oracle(machines: Machines, ann: Connection, setting: str) -> None:
    ann.execute(f"SET citus.{setting}")
    with refused("DP001", "has changed settings of Citus", "RESET"):
        ann.execute("SELECT sum(cost) FROM hr.visit WHERE cost > 50")
    ann.execute("RESET ALL")
    ann.execute(f"ALTER ROLE ann SET citus.{setting}")
    with machines.connect("ann") as again, refused("DP001", "has changed settings of Citus", "RESET"):
        again.execute("SELECT sum(cost) FROM hr.visit WHERE cost > 50")
    ann.execute(f"ALTER ROLE ann RESET citus.{setting.split()[0]}")


@pytest.mark.parametrize("policy", ["personal", "audited"])
def test_policies_that_remember_rows_are_refused(machines: Machines, ann: Connection, policy: str) -> None:
    table, unit_epsilon = f"hr.of_{policy}", {"personal": "1", "audited": "NULL"}[policy]
    machines.coordinator.sql(
        f"""
        CREATE TABLE {table} (id int PRIMARY KEY, value int NOT NULL);
        SELECT create_distributed_table('{table}', 'id');
        INSERT INTO {table} SELECT n, n FROM generate_series(1, 1000) n;
        SELECT discreet.protect('{table}', 'id', epsilon => 5, policy => '{policy}', unit_epsilon => {unit_epsilon});
        SELECT discreet.describe_column('{table}', 'value', 0, 1000), discreet.grant_budget('{table}', 'ann', 5);
        """
    )
    with refused("DP001", f"policy {policy} is not for distributed tables", "noisy"):
        ann.execute(f"SELECT sum(value) FROM {table}")


def test_dp_aggregates_are_refused(machines: Machines) -> None:
    with machines.connect("postgres") as reader:
        for call in ("dp_count(*)", "dp_count(salary, 1)", "dp_sum(salary, 0::numeric, 5000::numeric)"):
            for grouped in ("", "GROUP BY id", "GROUP BY dept"):
                with pytest.raises(psycopg.Error):
                    reader.execute(f"SELECT discreet.{call} FROM hr.person {grouped}")
