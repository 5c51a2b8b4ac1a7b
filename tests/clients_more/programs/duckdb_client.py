"""DuckDB: its extension attaches the database; answers are asked by postgres_query(), and joined with frames of its own."""

from pathlib import Path

import duckdb
import duckdb_extension_postgres_scanner as extension
from phases import play

(file,) = Path(extension.__file__).parent.rglob("*.duckdb_extension")
duckdb.sql(f"LOAD '{file}'")
duckdb.sql("ATTACH '' AS there (TYPE postgres)")


def rows(query: str) -> object:
    return duckdb.sql(query).fetchall()


def answer(question: str) -> str:
    return f"postgres_query('there', $${question}$$)"


GROUPS = answer("SELECT city, count(*) AS n, avg(rating) AS rating FROM store.customer GROUP BY city")
MONTHS = answer("SELECT date_trunc('month', bought) AS month, sum(amount) AS paid FROM store.purchase GROUP BY 1")
play(
    look={
        "tables": lambda: rows("SELECT table_name FROM duckdb_tables() WHERE database_name = 'there'"),
        "columns": lambda: rows("DESCRIBE there.store.purchase"),
        "schemas": lambda: rows("SELECT schema_name FROM information_schema.schemata WHERE catalog_name = 'there'"),
    },
    ask={
        "groups": lambda: rows(f"FROM {GROUPS} ORDER BY city"),
        "months": lambda: rows(f"SELECT count(*), max(paid) FROM {MONTHS}"),
        "join": lambda: rows(
            f"SELECT g.city, g.n, c.country FROM {GROUPS} g JOIN (VALUES ('Bath', 'England')) c(city, country) USING (city)"
        ),
        "public": lambda: rows("SELECT label FROM there.store.category ORDER BY id"),
    },
    rows={
        "FROM customer": lambda: rows("FROM there.store.customer"),
        "count(*) of an attached table": lambda: rows("SELECT count(*) FROM there.store.customer"),
    },
)
