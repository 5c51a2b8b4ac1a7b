"""Multilevel tables against plain ones: a million entities, five columns, three levels, 2 % polyinstantiated.

No history is kept of them; what it costs is measured by itself, against multilevel tables without.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from bench.measure import Connection, Line, Subject, alternate, ratio, samples, seconds

MOST_ENTITIES = 1_000_000
COPIED = 100_000
COPIES = 5
CLASSIFIED = 3
STATEMENTS = 300
KEPT = 10_000
ROLES = {"mls_low": "U", "mls_middle": "C", "mls_high": "S"}

SCAN = "SELECT count(id), count(name), sum(salary), count(perf), max(born) FROM {}"
LOOKUP = "SELECT name, salary, perf, born FROM {} WHERE id = %s"
INSERT = "INSERT INTO {} (id, name, salary, perf, born) VALUES (%s, 'somebody', 1, 'fair', '2000-01-01')"
UPDATE = "UPDATE {} SET salary = salary + 1 WHERE id = %s"


def entities(subject: Subject) -> int:
    return min(subject.rows, MOST_ENTITIES)


def load(subject: Subject) -> None:
    for table in ("mls_plain", "mls_multi"):
        subject.cluster.sql(f"""
            CREATE TABLE {table} (id bigint PRIMARY KEY, name text, salary int, perf text, born date);
            INSERT INTO {table} SELECT n, 'name ' || n, n % 5000, 'perf ' || n % 10, '2000-01-01'::date + n % 9000
            FROM generate_series(1, {entities(subject)}) AS g(n);
        """)
    subject.cluster.sql("SELECT discreet.mls_define(ARRAY['U', 'C', 'S'])")
    for role, label in ROLES.items():
        subject.cluster.sql(f"""
            CREATE ROLE {role} LOGIN;
            GRANT SELECT, INSERT, UPDATE, DELETE ON mls_plain, mls_multi TO {role};
            SELECT discreet.mls_clear('{role}', '{label}');
        """)
    subject.cluster.sql("SELECT discreet.mls_table('mls_multi', ARRAY['id'])")
    subject.cluster.sql("SELECT discreet.mls_keep_history('mls_multi', false)")
    for role, rest in (("mls_middle", 0), ("mls_high", 50)):
        with subject.connect(role) as connection:
            connection.execute(f"UPDATE mls_multi SET perf = 'other' WHERE id % 100 = {rest}")
    subject.cluster.sql("VACUUM ANALYZE mls_plain")
    subject.cluster.sql("VACUUM ANALYZE mls_multi_mls")


def scans(subject: Subject) -> Iterator[Line]:
    for role, at_most in (("mls_high", 2.0), ("mls_low", 1.5)):
        with subject.connect(role) as connection:
            native, discreet = alternate(
                subject.repetitions,
                lambda: connection.execute(SCAN.format("mls_plain")).fetchall(),
                lambda: connection.execute(SCAN.format("mls_multi")).fetchall(),
            )
        yield ratio(
            f"multilevel: scan of {entities(subject)} entities at label {ROLES[role]}", native, discreet, at_most
        )


def statements(subject: Subject) -> Iterator[Line]:
    """Single statements, one transaction each, on prepared plans as psycopg makes them."""
    last = [entities(subject)]

    def known() -> int:
        return random.randrange(1, entities(subject))

    def fresh() -> int:
        last[0] += 1
        return last[0]

    for name, statement, key, at_most in (
        ("lookup by key", LOOKUP, known, 1.5),
        ("INSERT", INSERT, fresh, 2.5),
        ("UPDATE", UPDATE, known, 2.5),
    ):
        with subject.connect("mls_low") as connection:
            native, discreet = alternate(
                STATEMENTS, once(connection, statement, "mls_plain", key), once(connection, statement, "mls_multi", key)
            )
        yield ratio(f"multilevel: {name}", native, discreet, at_most)


def once(connection: Connection, statement: str, table: str, key: Callable[[], int]) -> Callable[[], object]:
    return lambda: connection.execute(statement.format(table).encode(), [key()])


def copy(subject: Subject) -> Iterator[Line]:
    batches = [rows_from(10 * MOST_ENTITIES + batch * COPIED) for batch in range(2 * COPIES)]

    def into(table: str) -> Callable[[], object]:
        def run() -> None:
            with connection.cursor().copy(f"COPY {table} (id, name, salary, perf, born) FROM STDIN") as rows:
                rows.write(batches.pop())

        return run

    with subject.connect("mls_low") as connection:
        native, discreet = alternate(COPIES, into("mls_plain"), into("mls_multi"))
    yield ratio(f"multilevel: COPY of {COPIED} rows", native, discreet, 2.5)


def classifying(subject: Subject) -> Iterator[Line]:
    """A table of 20 columns becomes a multilevel one, beside a copy of it: as it is, and with a label above for two."""
    columns = ", ".join(f"c{n} int" for n in range(19))
    values = ", ".join(f"n % {n + 2}" for n in range(19))
    subject.cluster.sql(f"""
        CREATE TABLE mls_wide (id bigint PRIMARY KEY, {columns});
        INSERT INTO mls_wide SELECT n, {values} FROM generate_series(1, {entities(subject)}) AS g(n);
    """)
    subject.cluster.sql("VACUUM ANALYZE mls_wide")
    for name, labels in (("at the lowest level", "NULL"), ("two columns at C", '\'{"c0": "C", "c1": "C"}\'')):
        with subject.connect() as connection:
            native, discreet = samples([beside_a_copy(connection, labels) for _ in range(CLASSIFIED)])
        yield ratio(f"multilevel: mls_table of 20 columns, {name}, beside CREATE TABLE AS", native, discreet, 3.0)


def beside_a_copy(connection: Connection, labels: str) -> tuple[float, float]:
    """How long a copy of the table takes, and how long another copy takes to become a multilevel table."""
    connection.execute("CREATE TABLE mls_source AS SELECT * FROM mls_wide")
    connection.execute("ALTER TABLE mls_source ADD PRIMARY KEY (id)")
    copied = seconds(lambda: connection.execute("CREATE TABLE mls_copied AS SELECT * FROM mls_wide"))
    statement = f"SELECT discreet.mls_table('mls_source', '{{id}}', labels => {labels})"
    classified = seconds(lambda: connection.execute(statement.encode()))
    connection.execute("DROP TABLE mls_copied; SELECT discreet.mls_drop('mls_source')")
    return copied, classified


def keeping(subject: Subject) -> Iterator[Line]:
    """What a history costs: statements over many rows, and an INSERT with its commit."""
    tables = ("mls_unkept", "mls_kept")
    for table in tables:
        subject.cluster.sql(f"""
            CREATE TABLE {table} (id bigint PRIMARY KEY, name text, salary int, perf text, born date);
            GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO mls_low;
        """)
        subject.cluster.sql(f"SELECT discreet.mls_table('{table}', ARRAY['id'])")
    subject.cluster.sql("SELECT discreet.mls_keep_history('mls_unkept', false)")
    with subject.connect("mls_low") as connection:
        for name, statement in (
            ("INSERT", f"INSERT INTO {{}} (id, name, salary) SELECT n, 'n', n FROM generate_series(1, {KEPT}) n"),
            ("UPDATE", "UPDATE {} SET salary = salary + 1"),
            ("DELETE", "DELETE FROM {}"),
        ):
            unkept, kept = (seconds(run(connection, statement, table)) for table in tables)
            yield ratio(
                f"multilevel: {name} of {KEPT} rows, with history beside without", *samples([(unkept, kept)]), 3.0
            )
        numbers = iter(range(10 * MOST_ENTITIES, 20 * MOST_ENTITIES))
        native, discreet = alternate(
            STATEMENTS, *(once(connection, INSERT, table, lambda: next(numbers)) for table in tables)
        )
        yield ratio("multilevel: INSERT, with history beside without", native, discreet, 2.0)


def run(connection: Connection, statement: str, table: str) -> Callable[[], object]:
    return lambda: connection.execute(statement.format(table).encode())


def rows_from(first: int) -> str:
    return "".join(f"{first + n}\tname {n}\t{n}\tfair\t2000-01-01\n" for n in range(COPIED))
