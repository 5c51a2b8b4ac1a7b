"""Sealed columns against plain ones: scans, INSERTs, lookups by a searchable column, bytes of a value."""

from __future__ import annotations

import random
from collections.abc import Iterator

from bench.measure import Connection, Line, Subject, alternate, ratio

MOST_ROWS = 5_000_000
INSERTED = 200_000
STATEMENTS = 1000
SECRET = b"a secret of the benchmark"
COLUMNS = "id bigint PRIMARY KEY, name text, ssn text, salary numeric(10, 2)"
ROW = "n, 'name ' || n, 'ssn-' || n, n % 90000 + 0.25"


def size(subject: Subject) -> int:
    return min(subject.rows, MOST_ROWS)


def load(subject: Subject) -> None:
    for table in ("plain", "hidden"):
        subject.cluster.sql(f"""
            CREATE TABLE {table} ({COLUMNS});
            INSERT INTO {table} SELECT {ROW} FROM generate_series(1, {size(subject)}) AS g(n);
            CREATE INDEX ON {table} (ssn);
            CREATE TABLE {table}_new ({COLUMNS});
            CREATE TABLE {table}_search ({COLUMNS});
            CREATE INDEX ON {table}_search (ssn);
        """)
    with opened(subject, create=True) as connection:
        for table in ("hidden", "hidden_new"):
            connection.execute(f"SELECT discreet.seal_column('{table}', 'salary', 'k')".encode())
        for table in ("hidden", "hidden_search"):
            connection.execute(f"SELECT discreet.seal_column('{table}', 'ssn', 'k', searchable => true)".encode())
    for table in ("plain", "hidden_sealed"):
        subject.cluster.sql(f"VACUUM ANALYZE {table}")


def opened(subject: Subject, create: bool = False) -> Connection:
    connection = subject.connect()
    if create:
        connection.execute("SELECT discreet.create_key('k', %s)", [SECRET])
    connection.execute("SELECT discreet.open_key('k', %s)", [SECRET])
    return connection


def scans(subject: Subject) -> Iterator[Line]:
    with opened(subject) as connection:
        native, discreet = alternate(
            subject.repetitions,
            lambda: connection.execute("SELECT sum(salary) FROM plain").fetchall(),
            lambda: connection.execute("SELECT sum(salary) FROM hidden").fetchall(),
        )
    yield ratio(f"sealed: parallel scan and sum of {size(subject)} numerics", native, discreet, 3.0)


def inserts(subject: Subject) -> Iterator[Line]:
    with opened(subject) as connection:
        yield from inserted(subject, connection, "new", "a randomised column")
        yield from inserted(subject, connection, "search", "a searchable column with its index")


def inserted(subject: Subject, connection: Connection, kind: str, what: str) -> Iterator[Line]:
    def bulk(table: str) -> None:
        connection.execute(f"TRUNCATE {table}".encode())
        rows = f"SELECT {ROW} FROM generate_series(1, {INSERTED}) AS g(n)"
        connection.execute(f"INSERT INTO {table} {rows}".encode())

    plain, hidden = f"plain_{kind}", f"hidden_{kind}"
    native, discreet = alternate(subject.repetitions, lambda: bulk(plain), lambda: bulk(hidden))
    yield ratio(f"sealed: INSERT of {INSERTED} rows, {what}", native, discreet, 1.5)
    last = INSERTED

    def single(table: str) -> None:
        nonlocal last
        last += 1
        statement = f"INSERT INTO {table} VALUES (%s, 'somebody', %s, 12.5)"
        connection.execute(statement.encode(), [last, f"ssn-{last}"], prepare=True)

    native, discreet = alternate(STATEMENTS, lambda: single(plain), lambda: single(hidden))
    yield ratio(f"sealed: INSERT of a row, a transaction each, {what}", native, discreet, 1.5)


def lookups(subject: Subject) -> Iterator[Line]:
    def lookup(table: str) -> None:
        wanted = f"ssn-{random.randrange(1, size(subject))}"
        found = connection.execute(f"SELECT id, name FROM {table} WHERE ssn = %s".encode(), [wanted], prepare=True)
        assert len(found.fetchall()) == 1

    with opened(subject) as connection:
        native, discreet = alternate(STATEMENTS, lambda: lookup("plain"), lambda: lookup("hidden"))
    yield ratio("sealed: lookup by a searchable column", native, discreet, 1.5)


def storage(subject: Subject) -> Iterator[Line]:
    """Bytes of a value as it is stored, with its length word; the row has eight more, for its id."""
    with opened(subject) as connection:
        for column in ("salary", "ssn"):
            measured = []
            for table in ("plain", "hidden_sealed"):
                row = connection.execute(f"SELECT avg(pg_column_size({column})) FROM {table}".encode()).fetchone()
                assert row is not None
                measured.append(float(str(row[0])))
            yield Line(
                f"sealed: bytes of a value, {'searchable' if column == 'ssn' else 'randomised'}",
                f"{measured[0]:.1f}", f"{measured[1]:.1f}", f"+ {measured[1] - measured[0]:.1f}",
            )  # fmt: skip
