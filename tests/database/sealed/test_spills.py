"""Temporary files: refused to transactions that have sealed or unsealed values, and to nobody else."""

from __future__ import annotations

import psycopg
import pytest
from tests.databases import Connection
from tests.sealed import Shop, one

REFUSED = "values of sealed columns cannot be written to a temporary file"
SORT = "SELECT count(*) FROM (SELECT md5(n::text) FROM generate_series(1, 50000) n ORDER BY 1 OFFSET 0) s"
ROWS = """
    CREATE FUNCTION shop.salaries() RETURNS SETOF numeric LANGUAGE plpgsql AS $$
    DECLARE one numeric := (SELECT max(salary) FROM shop.customer);
    BEGIN FOR n IN 1 .. 50000 LOOP RETURN NEXT one; END LOOP; END $$
"""


@pytest.fixture
def small(app: Connection) -> Connection:
    """The application, with little memory."""
    app.execute("SET work_mem = '64kB'")
    return app


def test_other_transactions_write_temporary_files(small: Connection) -> None:
    assert one(small, SORT) == 50000
    assert one(small, "SELECT count(salary) FROM shop.customer") == 20
    assert one(small, SORT) == 50000


def test_a_function_that_returns_what_it_read_is_refused(shop: Shop, small: Connection) -> None:
    shop.database.connect().execute(ROWS)
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match=REFUSED):
        small.execute("SELECT count(*) FROM shop.salaries()")


def test_a_cursor_that_is_held_after_its_sort_was_done_is_refused(small: Connection) -> None:
    small.execute("INSERT INTO shop.customer (name, salary) SELECT 'x', n FROM generate_series(1, 20000) n")
    small.execute("SET work_mem = '256MB'")
    small.execute("BEGIN")
    small.execute("DECLARE held CURSOR WITH HOLD FOR SELECT note, salary FROM shop.customer ORDER BY salary")
    small.execute("FETCH 1 FROM held")
    small.execute("SET work_mem = '64kB'")
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match=REFUSED):
        small.execute("COMMIT")


def test_the_refusal_ends_with_the_transaction_whatever_becomes_of_it(small: Connection) -> None:
    for end in ("COMMIT", "ROLLBACK"):
        small.execute("BEGIN")
        small.execute("SELECT salary FROM shop.customer")
        small.execute("SAVEPOINT s")
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match=REFUSED):
            small.execute(SORT)
        small.execute("ROLLBACK TO s")
        small.execute(end)
        assert one(small, SORT) == 50000
    assert one(small, "SHOW temp_file_limit") == "-1"


def test_room_that_is_given_back_meanwhile_is_not_used(shop: Shop) -> None:
    """By SET here, and so by a reload of the configuration between two statements of the transaction."""
    admin = shop.connect("postgres")
    admin.execute("INSERT INTO shop.customer (name, note) SELECT 'x', repeat('n', 30) FROM generate_series(1, 20000)")
    admin.execute("SET work_mem = '64kB'")
    admin.execute("BEGIN")
    admin.execute("SELECT count(note) FROM shop.customer")
    admin.execute("SET temp_file_limit = '1GB'")
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match=REFUSED):
        admin.execute("SELECT count(*) FROM (SELECT note FROM shop.customer ORDER BY note, id OFFSET 0) s")
    admin.execute("ROLLBACK")
    assert one(admin, "SHOW temp_file_limit") == "-1"
    admin.execute("BEGIN")
    admin.execute("SELECT count(note) FROM shop.customer")
    admin.execute("SET temp_file_limit = '1GB'")
    admin.execute("SELECT count(note) FROM shop.customer")
    admin.execute("COMMIT")
    assert one(admin, "SHOW temp_file_limit") == "1GB"


def test_a_leader_that_gets_values_of_its_workers_is_refused(shop: Shop, small: Connection) -> None:
    small.execute("INSERT INTO shop.customer (name, note) SELECT 'x', repeat('n', 30) FROM generate_series(1, 20000)")
    shop.database.connect().execute("ALTER TABLE shop.customer_sealed SET (parallel_workers = 2)")
    small.execute(
        "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
        "SET parallel_leader_participation = off"
    )
    statement = "WITH c AS MATERIALIZED (SELECT note FROM shop.customer) SELECT count(*) FROM c"
    assert "Gather" in str(small.execute(f"EXPLAIN {statement}".encode()).fetchall())
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match=REFUSED):
        small.execute(statement)


def test_a_column_whose_sealing_failed_lets_nothing_spill(shop: Shop) -> None:
    carol = shop.connect(shop.curator)
    carol.execute("INSERT INTO shop.customer (name, note) SELECT 'x', repeat('n', 30) FROM generate_series(1, 20000)")
    carol.execute("CREATE TABLE shop.t (x int)")
    carol.execute("SET work_mem = '64kB'")
    carol.execute("BEGIN")
    carol.execute("SAVEPOINT s")
    with pytest.raises(psycopg.errors.DivisionByZero):
        carol.execute("SELECT discreet.seal_column('shop.t', 'x', 'k'), 1 / (random() * 0)::int")
    carol.execute("ROLLBACK TO s")
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match=REFUSED):
        carol.execute("SELECT count(*) FROM (SELECT note FROM shop.customer ORDER BY note, id OFFSET 0) s")
