"""A clinic: patients with columns of every kind, and their visits."""

from __future__ import annotations

from typing import Any

from tests.databases import Connection

TABLES = """
    CREATE SCHEMA clinic AUTHORIZATION {curator};
    SET ROLE {curator};
    CREATE TYPE clinic.mood AS ENUM ('sad', 'calm', 'glad');
    CREATE TABLE clinic.patient (
        id int PRIMARY KEY, name text NOT NULL, zip text NOT NULL, city text, age int CHECK (age BETWEEN 0 AND 110),
        born date, weight numeric(5,1), smoker boolean, mood clinic.mood NOT NULL, email varchar(40), note jsonb,
        first_seen timestamptz NOT NULL, last_seen timestamptz NOT NULL,
        old boolean GENERATED ALWAYS AS (age >= 65) STORED, CHECK (last_seen >= first_seen));
    INSERT INTO clinic.patient
    SELECT n, 'name ' || n, 'z' || n % 6, 'c' || n % 6 / 2, n * 7 % 90, date '1950-01-01' + n * 13 % 20000,
           50 + n % 60 / 2.0, CASE WHEN n % 10 > 0 THEN n % 3 = 0 END,
           (ARRAY['sad', 'calm', 'glad'])[1 + n % 6 / 2]::clinic.mood, 'x' || n || '@y.z', '{{}}',
           timestamptz '2020-01-01' + n % 300 * interval '1 day',
           timestamptz '2020-01-01' + (n % 300 + n % 40) * interval '1 day'
    FROM generate_series(1, 4000) n;
    CREATE TABLE clinic.visit (
        visit_id bigint PRIMARY KEY, patient_id int NOT NULL REFERENCES clinic.patient, ward text NOT NULL,
        cost int NOT NULL CHECK (cost >= 0));
    INSERT INTO clinic.visit
    SELECT row_number() OVER (), n,
           CASE WHEN n % 3 = 0 THEN 'lungs' ELSE (ARRAY['heart', 'bones'])[1 + v % 2] END, n % 3 * 100 + v
    FROM generate_series(1, 4000) n, generate_series(1, 3) v WHERE v <= n % 4;
    RESET ROLE;
"""

DECLARED = """
    SELECT discreet.create_dataset('clinic', 100, 1e-5);
    SELECT discreet.protect('clinic.patient', 'id', dataset => 'clinic');
    SELECT discreet.protect('clinic.visit', 'patient_id', dataset => 'clinic', max_rows => 3);
    SELECT discreet.describe_column('clinic.patient', 'zip', categories => '{{z0,z1,z2,z3,z4,z5,z9}}');
    SELECT discreet.describe_column('clinic.patient', 'city', categories => ARRAY['c0', 'c1', 'c2']);
    SELECT discreet.describe_column('clinic.patient', 'age', 0, 110);
    SELECT discreet.describe_column('clinic.patient', 'born', -7305, 14000);
    SELECT discreet.describe_column('clinic.patient', 'weight', 30, 120);
    SELECT discreet.describe_column('clinic.patient', 'first_seen', 1577836800, 1609459200);
    SELECT discreet.describe_column('clinic.patient', 'last_seen', 1577836800, 1612000000);
    SELECT discreet.describe_column('clinic.visit', 'ward', categories => ARRAY['heart', 'lungs', 'bones']);
    SELECT discreet.describe_column('clinic.visit', 'cost', 0, 300);
    SELECT discreet.grant_budget('clinic', '{curator}', 100, 1e-5)
"""


def value(connection: Connection, sql: str) -> Any:
    row = connection.execute(sql).fetchone()
    assert row is not None
    return row[0]


def spent(connection: Connection) -> tuple[Any, ...]:
    """Charges, epsilon and delta of the dataset."""
    row = connection.execute(
        "SELECT count(*), coalesce(sum(epsilon), 0), coalesce(sum(delta), 0) FROM discreet.charges"
    ).fetchone()
    assert row is not None
    return row
