"""What is paid for becomes a table: no value, key or constraint of a synthetic row is one that its table refuses."""

from __future__ import annotations

import psycopg
import pytest
from tests.database.synthesis.clinic import spent, value
from tests.databases import Connection

# declared columns, with bounds or keys that the type cannot hold
COLUMNS = [
    "x numeric(3, 1)", "x numeric(3, -1)", "x smallint", "x real", "x double precision", "x numeric(4, 4)", "x date",
    "x timestamp", "x timestamptz(0)",
]  # fmt: skip
CONSTRAINTS = [
    "x int, y boolean GENERATED ALWAYS AS (x > 4) STORED, CHECK (y)",
    "x int, y jsonb, CHECK (y IS NULL AND x < 5)",
    "x int, y jsonb, z boolean GENERATED ALWAYS AS (y IS NULL) STORED, CHECK (z AND x > 2)",
]
KEYS = ["smallint", "integer", "bigint", "numeric(3)", "varchar(3)", "char(2)", "text", "uuid", "real"]


def protected(clinic: Connection, columns: str, lower: str = "0", upper: str = "9") -> None:
    clinic.execute(f"""
        CREATE TABLE clinic.typed (id int PRIMARY KEY, b boolean NOT NULL, {columns});
        INSERT INTO clinic.typed (id, b) SELECT n, n % 2 = 0 FROM generate_series(1, 100) n;
        SELECT discreet.protect('clinic.typed', 'id', dataset => 'clinic');
        SELECT discreet.describe_column('clinic.typed', 'x', {lower}, {upper})
    """)


@pytest.mark.parametrize("column", COLUMNS)
def test_bounds_beyond_a_type_are_narrowed_to_it(clinic: Connection, column: str) -> None:
    protected(clinic, column, "-1e20", "1e20")
    clinic.execute("SELECT discreet.synthesize('clinic.typed', 'clinic.copy', 1, rows => 500)")
    assert value(clinic, "SELECT count(*) FROM clinic.copy") == 500


def test_bounds_outside_of_a_type_are_refused(clinic: Connection) -> None:
    protected(clinic, "x smallint", "40000", "50000")
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        clinic.execute("SELECT discreet.synthesize('clinic.typed', 'clinic.copy', 1)")
    assert spent(clinic)[0] == 0


@pytest.mark.parametrize("columns", CONSTRAINTS)
def test_constraints_may_name_columns_that_are_computed_or_null(clinic: Connection, columns: str) -> None:
    protected(clinic, columns)
    clinic.execute("SELECT discreet.synthesize('clinic.typed', 'clinic.copy', 5, rows => 200)")
    assert value(clinic, "SELECT count(*) FROM clinic.copy") == 200


@pytest.mark.parametrize("key", KEYS)
def test_keys_fit_their_type(clinic: Connection, key: str) -> None:
    clinic.execute(f"""
        CREATE TABLE clinic.keyed (id {key} PRIMARY KEY, b boolean, odd {key} UNIQUE);
        SELECT discreet.protect('clinic.keyed', 'id', dataset => 'clinic')
    """)
    clinic.execute("SELECT discreet.synthesize('clinic.keyed', 'clinic.copy', 1, rows => 1200)")
    most = {"numeric(3)": 999, "varchar(3)": 999, "char(2)": 99}.get(key, 1200)
    assert value(clinic, "SELECT count(DISTINCT id) FROM clinic.copy") == most


def test_unique_columns_of_other_types_are_null_or_refused(clinic: Connection) -> None:
    clinic.execute("""
        CREATE TABLE clinic.keyed (id int PRIMARY KEY, b boolean, day date UNIQUE);
        SELECT discreet.protect('clinic.keyed', 'id', dataset => 'clinic');
        CREATE TABLE clinic.named (id inet PRIMARY KEY, b boolean);
        SELECT discreet.protect('clinic.named', 'id', dataset => 'clinic')
    """)
    clinic.execute("SELECT discreet.synthesize('clinic.keyed', 'clinic.copy', 1, rows => 10)")
    assert value(clinic, "SELECT count(day) FROM clinic.copy") == 0
    before = spent(clinic)[0]
    with pytest.raises(psycopg.Error) as error:
        clinic.execute("SELECT discreet.synthesize('clinic.named', 'clinic.other', 1)")
    assert error.value.sqlstate == "DP001"
    assert spent(clinic)[0] == before


def test_a_price_without_parts_is_refused(clinic: Connection) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="too small"):
        clinic.execute("SELECT discreet.synthesize('clinic.patient', 'clinic.copy', 1e-9, 1e-20)")
    assert spent(clinic)[0] == 0
