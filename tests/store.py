"""A store that was adopted, as tools of an analyst meet it: three statements, and a public table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dev.cluster import Cluster
from tests.databases import created
from tests.office import Office

CUSTOMERS = 3000
ANALYST, CURATOR = "tess", "tobias"

TABLES = f"""
    CREATE ROLE {CURATOR} LOGIN IN ROLE discreet_curator;
    CREATE ROLE {ANALYST} LOGIN;
    CREATE SCHEMA store AUTHORIZATION {CURATOR};
    CREATE SCHEMA {ANALYST} AUTHORIZATION {ANALYST};
    SET ROLE {CURATOR};
    CREATE TYPE store.segment AS ENUM ('home', 'work');
    CREATE TABLE store.category (id int PRIMARY KEY, label text NOT NULL UNIQUE);
    CREATE TABLE store.customer (
        id int PRIMARY KEY, name text NOT NULL, email text UNIQUE,
        city text NOT NULL CHECK (city IN ('Bath', 'Leeds', 'York')), segment store.segment NOT NULL,
        born date NOT NULL CHECK (born BETWEEN '1930-01-01' AND '2009-12-31'), active boolean NOT NULL,
        rating int CHECK (rating BETWEEN 1 AND 5), height double precision CHECK (height >= 0 AND height <= 3));
    CREATE TABLE store.purchase (
        id bigint PRIMARY KEY, customer_id int NOT NULL REFERENCES store.customer,
        category_id int NOT NULL REFERENCES store.category,
        bought timestamptz NOT NULL CHECK (bought BETWEEN '2025-01-01 00:00+00' AND '2026-12-31 00:00+00'),
        amount numeric(8,2) NOT NULL CHECK (amount BETWEEN 0 AND 500),
        paid_by text NOT NULL CHECK (paid_by IN ('card', 'cash', 'voucher')), note text);
    INSERT INTO store.category VALUES (1, 'tools'), (2, 'toys'), (3, 'books');
    INSERT INTO store.customer
    SELECT n, 'canary ' || n, n || '@canary.example', (ARRAY['Bath', 'Leeds', 'York'])[1 + n % 3],
           (ARRAY['home', 'work'])[1 + n % 2]::store.segment, date '1950-01-01' + n * 5, n % 4 > 0, 1 + n % 5,
           1.5 + n % 50 / 100.0
    FROM generate_series(1, {CUSTOMERS}) n;
    INSERT INTO store.purchase
    SELECT c * 4 + k, c, 1 + (c + k) % 3, timestamptz '2026-01-15 12:00+00' + (c + k * 70) % 330 * interval '1 day',
           (c * 7 + k) % 500, (ARRAY['card', 'cash', 'voucher'])[1 + (c / 2 + k) % 3], 'canary'
    FROM generate_series(1, {CUSTOMERS}) c, generate_series(0, 2) k;
    COMMENT ON TABLE store.customer IS 'Everybody who has bought something.';
    ANALYZE store.category, store.customer, store.purchase;
    SELECT statement FROM discreet.adopt('store.customer.id', epsilon => 1000, delta => 1e-3, share => 0.02);
    SELECT discreet.grant_budget('store.customer', '{ANALYST}', epsilon => 900, delta => 9e-4);
    GRANT USAGE ON SCHEMA store TO PUBLIC;
    SELECT discreet.protect('store.category', unit => NULL, policy => 'public');
    GRANT SELECT ON store.category TO PUBLIC;
    RESET ROLE;
    ALTER ROLE {ANALYST} IN DATABASE store SET discreet.epsilon = 1;
"""


@contextmanager
def opened(cluster: Cluster, template: str) -> Iterator[Office]:
    """The store, seen by its analyst and by a superuser."""
    with created(cluster, "store", template) as database:
        cluster.sql(TABLES, database.name)
        yield Office(database, ANALYST)
    cluster.sql(f"DROP ROLE {ANALYST}, {CURATOR}")
