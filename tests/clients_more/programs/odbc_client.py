"""ODBC: psqlODBC by pyodbc, with cursors of the server as well."""

import datetime

import pyodbc
from phases import play


def connected(options: str = "") -> pyodbc.Cursor:
    import os

    where = f"Server={os.environ['PGHOST']};Port={os.environ['PGPORT']};Database=store;Uid={os.environ['PGUSER']}"
    return pyodbc.connect(f"Driver=PostgreSQL Unicode;{where};{options}", autocommit=True).cursor()


cursor = connected()
GROUPS = "SELECT city, count(*) AS n, avg(rating) FROM store.customer GROUP BY city"
play(
    look={
        "tables": lambda: [row.table_name for row in cursor.tables(schema="store")],
        "columns": lambda: [row.column_name for row in cursor.columns(table="purchase", schema="store")],
        "keys": lambda: [row.column_name for row in cursor.primaryKeys(table="customer", schema="store")],
        "no rows": lambda: [
            column[0] for column in cursor.execute("SELECT * FROM store.customer WHERE 0 = 1").description
        ],
    },
    ask={
        "groups": lambda: [tuple(row) for row in cursor.execute(GROUPS).fetchall()],
        "parameters": lambda: cursor.execute(
            "SELECT count(*) FROM store.customer WHERE rating > ? AND city = ?", 2, "Bath"
        ).fetchval(),
        "moments": lambda: cursor.execute(
            "SELECT count(*) FROM store.purchase WHERE bought >= ?", datetime.datetime(2026, 3, 1)
        ).fetchval(),
        "escapes": lambda: len(
            cursor.execute(
                "SELECT {fn month(bought)}, count(*) FROM store.purchase GROUP BY {fn month(bought)}"
            ).fetchall()
        ),
        "fetched in parts": lambda: len(connected("UseDeclareFetch=1;Fetch=2").execute(GROUPS).fetchall()),
    },
    rows={"SELECT *": lambda: cursor.execute("SELECT * FROM store.customer").fetchmany(1)},
)
