"""Questions about sealed columns, by keys of the server; releases and synthetic tables, by those of the publisher."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
from dev.cluster import Cluster
from tests.databases import Connection, throw_away_cluster
from tests.sealed import one

TABLES = """
    SET client_min_messages = warning;
    CREATE EXTENSION discreet CASCADE;
    CREATE ROLE carol LOGIN; GRANT discreet_curator TO carol;
    CREATE ROLE anna LOGIN; CREATE ROLE reader LOGIN;
    CREATE SCHEMA shop AUTHORIZATION carol; GRANT USAGE ON SCHEMA shop TO PUBLIC;
    SET ROLE carol;
    CREATE TABLE shop.customer (id int PRIMARY KEY, name text, ssn text UNIQUE, salary numeric(10, 2), city text);
    INSERT INTO shop.customer
    SELECT n, 'name ' || n, 'ssn-' || n, n % 100, CASE n % 2 WHEN 0 THEN 'Bern' ELSE 'Basel' END
    FROM generate_series(1, 4000) n;
    GRANT SELECT ON shop.customer TO reader;
    SELECT discreet.create_key('k', 'secret of k'), discreet.open_key('k', 'secret of k');
    SELECT discreet.create_dataset('d', 1000);
    SELECT discreet.seal_column('shop.customer', 'ssn', 'k', true);
    SELECT discreet.seal_column('shop.customer', 'salary', 'k'), discreet.seal_column('shop.customer', 'city', 'k');
"""
PROTECT = """
    SET ROLE carol;
    SELECT discreet.protect('shop.customer', dataset => 'd', unit => 'id', max_rows => 1);
    SELECT discreet.describe_column('shop.customer', 'salary', lower => 0, upper => 100);
    SELECT discreet.describe_column('shop.customer', 'city', categories => ARRAY['Bern', 'Basel']);
    SELECT discreet.grant_budget('d', 'anna', 700);
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with throw_away_cluster() as running:
        (running.folder / "secret_of_k").write_text("secret of k\n")
        running.sql(f"ALTER SYSTEM SET discreet.key_command = 'cat {running.folder}/secret_of_%k'")
        running.sql("SELECT pg_reload_conf()")
        running.sql(TABLES)
        running.sql(PROTECT)
        yield running


@pytest.fixture
def anna(cluster: Cluster) -> Iterator[Connection]:
    with closing(psycopg.connect(cluster.dsn(user="anna"), autocommit=True)) as session:
        session.execute("SET discreet.quiet = on; SET discreet.epsilon = 20")
        yield session


def spent(cluster: Cluster) -> Decimal:
    return Decimal(cluster.sql("SELECT coalesce(sum(epsilon), 0) FROM discreet.charges"))


def test_an_analyst_gets_noisy_statistics(anna: Connection) -> None:
    """Noise of counts has a scale of 0.1 at most, of sums one of 10: a bound fails with a probability below 1e-20."""
    count, total = one(anna, "SELECT count(*), sum(salary) FROM shop.customer")
    assert abs(count - 4000) < 5
    assert abs(float(total) - 198000) < 500
    by_city: dict[str, int] = dict(anna.execute("SELECT city, count(*) FROM shop.customer GROUP BY city").fetchall())
    assert {"Bern", "Basel"} <= set(by_city)
    assert all(abs(by_city[city] - 2000) < 5 for city in ("Bern", "Basel"))
    assert abs(one(anna, "SELECT count(*) FROM shop.customer WHERE salary > 49.5 AND city = 'Bern'") - 1000) < 5


def test_no_value_and_no_ciphertext_is_read(anna: Connection) -> None:
    one(anna, "SELECT count(*) FROM shop.customer")
    for statement in (
        "SELECT salary FROM shop.customer",
        "SELECT * FROM shop.customer_sealed",
        "SELECT count(*) FROM shop.customer WHERE ssn = 'ssn-5'",
        "SELECT min(ssn) FROM shop.customer",
        "SELECT discreet._run_as('carol'::regrole, 'SELECT ssn FROM shop.customer')",
        "COPY shop.customer TO STDOUT",
        "EXPLAIN ANALYZE SELECT count(*) FROM shop.customer",
    ):
        with pytest.raises(psycopg.Error):
            anna.execute(statement.encode())


def test_others_who_may_read_the_table_still_read_null(cluster: Cluster, anna: Connection) -> None:
    one(anna, "SELECT sum(salary) FROM shop.customer")
    with closing(psycopg.connect(cluster.dsn(user="reader"), autocommit=True)) as reader:
        assert one(reader, "SELECT count(*), count(salary) FROM shop.customer") == (4000, 0)
    with closing(psycopg.connect(cluster.dsn(user="carol"), autocommit=True)) as carol:
        assert one(carol, "SELECT count(salary) FROM shop.customer") == 0


@pytest.mark.parametrize("memory", ["64kB", "64MB"])
def test_little_memory_tells_nothing_of_the_rows(anna: Connection, memory: str) -> None:
    anna.execute(f"SET work_mem = '{memory}'".encode())
    people = "SELECT id, max(city) AS c, max(salary) AS s FROM shop.customer GROUP BY id ORDER BY 2"
    assert abs(one(anna, f"SELECT count(*) FROM ({people}) t WHERE s > 49.5") - 2000) < 5


def test_workers_have_the_key_of_the_server(cluster: Cluster, anna: Connection) -> None:
    cluster.sql("ALTER TABLE shop.customer_sealed SET (parallel_workers = 2)")
    anna.execute(
        "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
        "SET parallel_leader_participation = off"
    )
    assert abs(one(anna, "SELECT count(*) FROM shop.customer WHERE salary < 29.5") - 1200) < 5
    cluster.sql("ALTER TABLE shop.customer_sealed RESET (parallel_workers)")


def test_without_the_secret_a_question_is_refused_and_costs_nothing(cluster: Cluster) -> None:
    file = cluster.folder / "secret_of_k"
    before = spent(cluster)
    for wrong in ("another secret\n", "", None):
        if wrong is None:
            file.unlink()
        else:
            file.write_text(wrong)
        with (
            closing(psycopg.connect(cluster.dsn(user="anna"), autocommit=True)) as session,
            pytest.raises(psycopg.Error),
        ):
            session.execute("SELECT count(*), 1 FROM shop.customer WHERE salary < 12")
    file.write_text("secret of k\n")
    assert spent(cluster) == before


def test_a_rotated_key_is_fetched_again(cluster: Cluster, anna: Connection) -> None:
    one(anna, "SELECT count(*) FROM shop.customer WHERE salary < 3")
    cluster.sql("SELECT discreet.rotate_key('k', 'secret of k', 'new')")
    with pytest.raises(psycopg.Error):
        anna.execute("SELECT count(*) FROM shop.customer WHERE salary < 4")
    (cluster.folder / "secret_of_k").write_text("new\n")
    assert abs(one(anna, "SELECT count(*) FROM shop.customer WHERE salary < 4") - 160) < 5
    cluster.sql("SELECT discreet.rotate_key('k', 'new', 'secret of k')")
    (cluster.folder / "secret_of_k").write_text("secret of k\n")


def test_policies_that_would_write_values_down_are_refused(cluster: Cluster) -> None:
    with closing(psycopg.connect(cluster.dsn(user="carol"), autocommit=True)) as carol:
        carol.execute("CREATE TABLE shop.other (id int PRIMARY KEY, x int)")
        carol.execute("SELECT discreet.open_key('k', 'secret of k'), discreet.seal_column('shop.other', 'x', 'k')")
        for policy in ("policy => 'personal', unit_epsilon => 1", "policy => 'audited'", "policy => 'public'"):
            unit = "unit => NULL, " if "public" in policy else "unit => 'id', "
            with pytest.raises(psycopg.errors.InvalidParameterValue, match="has sealed columns"):
                carol.execute(f"SELECT discreet.protect('shop.other', {unit}{policy})".encode())
        with pytest.raises(psycopg.errors.WrongObjectType, match="holds ciphertext"):
            carol.execute("SELECT discreet.protect('shop.other_sealed', dataset => 'd', unit => 'id')")
        carol.execute("SELECT discreet.create_key('odd; touch', 's'), discreet.open_key('odd; touch', 's')")
        carol.execute("CREATE TABLE shop.odd (id int PRIMARY KEY, x int)")
        carol.execute("SELECT discreet.seal_column('shop.odd', 'x', 'odd; touch')")
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="cannot be held by the server"):
            carol.execute("SELECT discreet.protect('shop.odd', dataset => 'd', unit => 'id', max_rows => 1)")
        carol.execute("CREATE DOMAIN shop.code AS text CHECK (length(value) < 9)")
        carol.execute("CREATE TABLE shop.coded (id int PRIMARY KEY, x shop.code)")
        carol.execute("SELECT discreet.seal_column('shop.coded', 'x', 'k')")
        with pytest.raises(psycopg.errors.WrongObjectType, match="domain"):
            carol.execute("SELECT discreet.protect('shop.coded', dataset => 'd', unit => 'id', max_rows => 1)")


def test_a_protected_table_is_neither_sealed_nor_unsealed(cluster: Cluster) -> None:
    with closing(psycopg.connect(cluster.dsn(user="carol"), autocommit=True)) as carol:
        carol.execute("SELECT discreet.open_key('k', 'secret of k')")
        for statement in (
            "SELECT discreet.unseal_column('shop.customer', 'salary')",
            "SELECT discreet.seal_column('shop.customer', 'name', 'k')",
        ):
            with pytest.raises(psycopg.errors.WrongObjectType, match="is protected"):
                carol.execute(statement.encode())


def test_releases_and_synthesis_need_the_key_of_the_publisher(cluster: Cluster) -> None:
    with closing(psycopg.connect(cluster.dsn(user="carol"), autocommit=True)) as carol:
        measure = "SELECT discreet.k_anonymity('shop.customer', ARRAY['city'])"
        synthesize = "SELECT discreet.synthesize('shop.customer', 'shop.synthetic', 100, columns => ARRAY['city'])"
        for statement in (measure, synthesize):
            with pytest.raises(psycopg.Error, match='sealed under key "k", which is not open'):
                carol.execute(statement.encode())
        carol.execute("SELECT discreet.open_key('k', 'secret of k')")
        assert one(carol, measure) == 2000
        carol.execute("SELECT discreet.grant_budget('d', 'carol', 300)")
        carol.execute(synthesize.encode())
        cities = carol.execute("SELECT DISTINCT city FROM shop.synthetic").fetchall()
        assert {("Bern",), ("Basel",)} <= set(cities)


def test_only_a_superuser_sees_and_sets_the_command(cluster: Cluster, anna: Connection) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        anna.execute("SHOW discreet.key_command")
    with pytest.raises(psycopg.Error):
        anna.execute("SET discreet.key_command = 'echo'")
    assert Path(cluster.folder / "secret_of_k").exists()


VISITS = """
    SET ROLE carol;
    SELECT discreet.open_key('k', 'secret of k'), discreet.create_dataset('v', 1000);
    CREATE TABLE shop.visit (id int, patient int, kind text, cost numeric(10, 2));
    INSERT INTO shop.visit SELECT n, n % 300000, 'kind ' || n % 3, n % 100 FROM generate_series(1, 600000) n;
    CREATE TABLE shop.plain_visit AS SELECT * FROM shop.visit;
    SELECT discreet.seal_column('shop.visit', 'cost', 'k'), discreet.seal_column('shop.visit', 'kind', 'k');
    SELECT discreet.protect(t, dataset => 'v', unit => 'patient', max_rows => 6),
           discreet.describe_column(t, 'cost', lower => 0, upper => 100),
           discreet.describe_column(t, 'kind', categories => ARRAY['kind 0', 'kind 1', 'kind 2'])
    FROM unnest('{shop.visit,shop.plain_visit}'::regclass[]) t;
    SELECT discreet.grant_budget('v', 'anna', 900);
"""
# the cells of people are larger than the least memory of their pass; aggregates within a person hash or sort
OF_PEOPLE = (
    "SELECT count(*), avg(cost) FROM {}",
    "SELECT count(*), avg(s) FROM (SELECT patient, least(sum(cost), 600) AS s FROM {} GROUP BY patient) p",
    "SELECT count(*), avg(c) FROM (SELECT cost AS c, row_number() OVER (PARTITION BY patient ORDER BY cost, id) AS n"
    " FROM {}) p WHERE n <= 3",
)


def test_a_question_about_people_that_would_spill_takes_memory_instead(cluster: Cluster) -> None:
    """The same question about a table in the clear writes temporary files, which shows that this one would.

    Each number has a fifth of epsilon 10 at least. Noise of a count has a scale of 3 at most, of an average of 0.03:
    a bound fails with a probability below 1e-7.
    """
    log = cluster.folder / "log"
    cluster.sql("ALTER SYSTEM SET log_temp_files = 0")
    cluster.sql("ALTER SYSTEM SET discreet.people_memory = '64kB'")
    cluster.sql("SELECT pg_reload_conf()")
    cluster.sql(VISITS)

    def written(question: str) -> tuple[int, tuple[float, ...]]:
        before = log.read_bytes().count(b"temporary file: path")
        with closing(psycopg.connect(cluster.dsn(user="anna"), autocommit=True)) as anna:
            anna.execute("SET discreet.quiet = on; SET discreet.epsilon = 10; SET work_mem = '64kB'")
            answer = tuple(map(float, one(anna, question)))
        return log.read_bytes().count(b"temporary file: path") - before, answer

    try:
        for question in OF_PEOPLE:
            plain_files, plain = written(question.format("shop.plain_visit"))
            files, answer = written(question.format("shop.visit"))
            assert plain_files > 0, question
            assert files == 0, question
            assert abs(answer[0] - plain[0]) < 60, question
            assert abs(answer[1] - plain[1]) < 1, question
    finally:
        for setting in ("log_temp_files", "discreet.people_memory"):
            cluster.sql(f"ALTER SYSTEM RESET {setting}")
        cluster.sql("SELECT pg_reload_conf()")
