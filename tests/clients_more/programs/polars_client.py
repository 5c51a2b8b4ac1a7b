"""Polars: frames by SQLAlchemy, by psycopg, and by ConnectorX."""

import os

import polars
import psycopg
import sqlalchemy
from phases import play

where = f"host={os.environ['PGHOST']}&port={os.environ['PGPORT']}"
engine = sqlalchemy.create_engine(f"postgresql+psycopg://{os.environ['PGUSER']}@/store?{where}")
GROUPS = "SELECT city, count(*) AS n, avg(rating) AS mean FROM store.customer GROUP BY city ORDER BY city"

play(
    look={"columns": lambda: polars.read_database("SELECT * FROM store.customer LIMIT 0", engine).columns},
    ask={
        "groups": lambda: polars.read_database(GROUPS, engine).rows(),
        "psycopg": lambda: polars.read_database(GROUPS, psycopg.connect("dbname=store")).rows(),
        "batches": lambda: [
            len(part) for part in polars.read_database(GROUPS, engine, iter_batches=True, batch_size=2)
        ],
        "connectorx": lambda: polars.read_database_uri(
            GROUPS, f"postgresql://{os.environ['PGUSER']}@127.0.0.1:{os.environ['PGPORT']}/store"
        ).rows(),
        "written": lambda: polars.read_database(GROUPS, engine).write_database(
            "tess.groups", engine, if_table_exists="replace"
        ),
    },
    rows={"a whole table": lambda: polars.read_database("SELECT * FROM store.customer", engine)},
)
