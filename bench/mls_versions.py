"""Multilevel tables against plain ones with the same indexes, where no, some or many entities have several versions.

No history is kept of them: bench/mls.py measures what it costs.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench.measure import Connection, Line, Subject, alternate, ratio, samples, seconds

MOST_ENTITIES = 1_000_000
COLUMNS = 19
VALUES = 250
WIDTH = 5
SHARES = (0, 10, 50)
ROLES = {"mls_below": "U", "mls_above": "S"}
SETTINGS = ("work_mem = '4MB'", "work_mem = '64kB'", "jit = on, work_mem = '4MB'")
MANY = 10_000
SHORT, LONG = 9, 3


@dataclass(frozen=True)
class Read:
    """A statement over a table, with values that are drawn; `at_most`: at the lowest and the top label, unprepared."""

    name: str
    sql: str
    draw: Callable[[int], list[int]]
    unprepared: tuple[float, float]
    prepared: float | None = None
    at_half: float | None = None


def value(_: int) -> list[int]:
    return [random.randrange(VALUES)]


def ranges(_: int) -> list[int]:
    first, second = random.randrange(VALUES - WIDTH), random.randrange(VALUES - 10 * WIDTH)
    return [first, first + WIDTH, second, second + 10 * WIDTH]


def key(entities: int) -> list[int]:
    return [random.randrange(1, entities)]


def nothing(_: int) -> list[int]:
    return []


READS = (
    Read("equality", "SELECT sum(c5) FROM {} WHERE c0 = %s", value, (2.5, 2.5), 1.5),
    Read(
        "range", "SELECT sum(c5) FROM {} WHERE c1 BETWEEN %s AND %s AND c2 BETWEEN %s AND %s", ranges, (2.5, 2.5), 1.5
    ),
    Read("key", "SELECT * FROM {} WHERE id = %s", key, (3, 3), 1.5),
    Read("first 20", "SELECT id, c0, c5 FROM {} WHERE id > %s ORDER BY id LIMIT 20", key, (3, 3)),
    Read("count(*)", "SELECT count(*) FROM {}", nothing, (2, 2), at_half=3),
    Read("scan", "SELECT sum(c3), max(c4), count(c5), sum(c18) FROM {}", nothing, (1.5, 2)),
    Read("GROUP BY", "SELECT c0, count(*), sum(c5) FROM {} GROUP BY c0", nothing, (1.5, 2)),
)


def entities(subject: Subject) -> int:
    return min(subject.rows, MOST_ENTITIES)


def plain(share: int) -> str:
    return f"levels_plain_{share}"


def multi(share: int) -> str:
    return f"levels_multi_{share}"


def load(subject: Subject) -> None:
    columns = ", ".join(f"c{n} int" for n in range(COLUMNS))
    values = ", ".join(f"(n::bigint * {7919 + 2 * place} / 7) % {VALUES}" for place in range(COLUMNS))
    subject.cluster.sql("SELECT discreet.mls_define(ARRAY['U', 'C', 'S'])")
    for role, label in (*ROLES.items(), ("mls_between", "C")):
        subject.cluster.sql(f"CREATE ROLE {role} LOGIN; SELECT discreet.mls_clear('{role}', '{label}')")
    for share in SHARES:
        for table in (plain(share), multi(share)):
            subject.cluster.sql(f"""
                CREATE TABLE {table} (id bigint PRIMARY KEY, {columns});
                INSERT INTO {table} SELECT n, {values} FROM generate_series(1, {entities(subject)}) AS g(n);
                CREATE INDEX ON {table} (c0);
                CREATE INDEX ON {table} (c1, c2);
                GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO mls_below, mls_between, mls_above;
            """)
        subject.cluster.sql(f"SELECT discreet.mls_table('{multi(share)}', ARRAY['id'])")
        subject.cluster.sql(f"SELECT discreet.mls_keep_history('{multi(share)}', false)")
        for role, rest in (("mls_between", 0), ("mls_above", 1)):
            with subject.connect(role) as connection:
                condition = f"id % 2 = {rest} AND id / 2 % 100 < {share}"
                connection.execute(f"UPDATE {multi(share)} SET c5 = c5 + 1 WHERE {condition}".encode())
        subject.cluster.sql(f"VACUUM ANALYZE {plain(share)}")
        subject.cluster.sql(f"VACUUM ANALYZE {multi(share)}_mls")


def reads(subject: Subject) -> Iterator[Line]:
    for share, (role, label), settings in itertools.product(SHARES, ROLES.items(), SETTINGS):
        with subject.connect(role) as connection:
            connection.execute("SET jit = off")
            for setting in settings.split(", "):
                connection.execute(f"SET {setting}".encode())
            for read in READS:
                yield from both(subject, connection, read, share, label, settings)


def both(subject: Subject, connection: Connection, read: Read, share: int, label: str, settings: str) -> Iterator[Line]:
    """Unprepared, and where that is a goal of its own prepared."""
    where = f"{read.name}, {share} % with versions, at {label}, {settings}"
    at_most = read.unprepared[label != "U"]
    if share == SHARES[-1] and read.at_half is not None:
        at_most = read.at_half
    for prepared, goal in ((False, at_most), (True, read.prepared)):
        if goal is None:
            continue
        times = LONG if read.draw is nothing else SHORT
        native, discreet = alternate(
            times,
            *(asked(subject, connection, read, table, prepared) for table in (plain(share), multi(share))),
        )
        yield ratio(f"{where}{', prepared' if prepared else ''}", native, discreet, goal)


def asked(subject: Subject, connection: Connection, read: Read, table: str, prepared: bool) -> Callable[[], object]:
    statement = read.sql.format(table).encode()

    def ask() -> object:
        return connection.execute(statement, read.draw(entities(subject)) or None, prepare=prepared).fetchall()

    for _ in range(7 if prepared else 1):
        ask()
    return ask


def writes(subject: Subject) -> Iterator[Line]:
    """By key, and 10,000 rows in one statement, each rolled back."""
    for share, (role, label) in itertools.product(SHARES, ROLES.items()):
        with subject.connect(role) as connection:
            for name, sql, draw in (
                ("INSERT", "INSERT INTO {} (id, c0, c1) VALUES (%s, 1, 2)", fresh),
                ("UPDATE by key", "UPDATE {} SET c7 = c7 + 1 WHERE id = %s", key),
                ("DELETE by key", "DELETE FROM {} WHERE id = %s", key),
            ):
                if name.startswith("DELETE") and label != "U":
                    continue
                yield written(subject, connection, name, sql, draw, share, label, SHORT, 2.5 if label == "U" else 3.5)
            for name, sql in (
                ("INSERT", f"INSERT INTO {{}} (id, c0, c1) SELECT -n, 1, 2 FROM generate_series(1, {MANY}) n"),
                ("UPDATE", f"UPDATE {{}} SET c7 = c7 + 1 WHERE id BETWEEN 1000 AND {999 + MANY}"),
                ("DELETE", f"DELETE FROM {{}} WHERE id BETWEEN 1000 AND {999 + MANY}"),
            ):
                if name == "DELETE" and label != "U":
                    continue
                yield written(subject, connection, f"{name} of {MANY} rows", sql, nothing, share, label, LONG, 5)


def fresh(entities: int) -> list[int]:
    return [entities + random.randrange(1, 10**9)]


def written(
    subject: Subject, connection: Connection, name: str, sql: str, draw: Callable[[int], list[int]], share: int,
    label: str, times: int, at_most: float,
) -> Line:  # fmt: skip
    def once(table: str) -> float:
        statement = sql.format(table).encode()
        connection.execute("BEGIN")
        took = seconds(lambda: connection.execute(statement, draw(entities(subject)) or None))
        connection.execute("ROLLBACK")
        return took

    pairs = [(once(plain(share)), once(multi(share))) for _ in range(times + 1)][1:]
    return ratio(f"{name}, {share} % with versions, at {label}", *samples(pairs), at_most)
