"""Multilevel tables against plain ones with the same indexes, in several variants.

A share of the entities has several versions: the shares in between tell a curve from a cliff. Other variants have rows
that were inserted with a NULL, or one column at a higher label. History is kept in one variant only. Questions by the
gate are measured beside the same question about a plain protected table.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.measure import Connection, Line, Subject, alternate, ratio, samples, seconds

MOST_ENTITIES = 1_000_000
COLUMNS = 19
VALUES = 250
WIDTH = 5
ROLES = {"mls_below": "U", "mls_above": "S"}
ASKERS = {"mls_asks_below": "U", "mls_asks_above": "S"}
SETTINGS = ("work_mem = '4MB'", "work_mem = '64kB'", "jit = on, work_mem = '4MB'")
MANY = 10_000
COPIED = 50_000
SHORT, LONG = 9, 3
EPSILON = 0.01
PLAIN, MULTI = "levels_plain", "levels_multi"


@dataclass(frozen=True)
class Variant:
    """What is in both tables.

    share: percentage of entities with a second version; nulls: each nulls-th row is inserted with a NULL; labels: of
    the rows when the table becomes a multilevel one.
    """

    name: str
    share: int = 0
    every_setting: bool = False
    nulls: int = 0
    labels: str | None = None
    history: bool = False
    reads: bool = True
    writes: bool = True
    asks: bool = False


VARIANTS = (
    *(
        Variant(f"{share} % with versions", share, every_setting=share in (0, 10, 50), asks=share in (0, 10, 50))
        for share in (0, 1, 5, 10, 25, 50)
    ),
    Variant("10 % with versions, with history", 10, history=True, reads=False),
    Variant("each tenth row with a NULL", nulls=10, writes=False),
    Variant("each row with a NULL", nulls=1, writes=False),
    Variant("one column at C", labels='{"c4": "C"}', writes=False),
)


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


def load(subject: Subject) -> None:
    """Roles and labels; each variant makes its tables."""
    subject.cluster.sql("SELECT discreet.mls_define(ARRAY['U', 'C', 'S'])")
    for role, label in (*ROLES.items(), ("mls_between", "C"), *ASKERS.items()):
        subject.cluster.sql(f"CREATE ROLE {role} LOGIN; SELECT discreet.mls_clear('{role}', '{label}')")


@contextmanager
def loaded(subject: Subject, variant: Variant) -> Iterator[None]:
    """Both tables, and none of them afterwards."""
    columns = ", ".join(f"c{n} int" for n in range(COLUMNS))
    for table in (PLAIN, MULTI):
        subject.cluster.sql(f"""
            CREATE TABLE {table} (id bigint PRIMARY KEY, {columns});
            CREATE INDEX ON {table} (c0);
            CREATE INDEX ON {table} (c1, c2);
            GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO mls_below, mls_between, mls_above;
        """)
    labels = "NULL" if variant.labels is None else f"'{variant.labels}'"
    convert = (
        f"SELECT discreet.mls_table('{MULTI}', ARRAY['id'], labels => {labels});"
        f"SELECT discreet.mls_keep_history('{MULTI}', {variant.history})"
    )
    # a NULL of a row that is there becomes a value, one that is inserted is an absent cell
    if variant.nulls:
        subject.cluster.sql(convert)
    with subject.connect("mls_below") as connection:
        for table in (PLAIN, MULTI):
            connection.execute(rows_of(table, entities(subject), variant.nulls).encode())
    if not variant.nulls:
        subject.cluster.sql(convert)
    for role, rest in (("mls_between", 0), ("mls_above", 1)):
        with subject.connect(role) as connection:
            connection.execute(f"UPDATE {MULTI} SET c5 = c5 + 1 WHERE {has_version(variant.share, rest)}".encode())
    subject.cluster.sql(f"VACUUM ANALYZE {PLAIN}")
    subject.cluster.sql(f"VACUUM ANALYZE {MULTI}_mls")
    try:
        yield
    finally:
        subject.cluster.sql(f"SELECT discreet.mls_drop('{MULTI}'); DROP TABLE {PLAIN}")


def rows_of(table: str, count: int, nulls: int) -> str:
    values = [f"(n::bigint * {7919 + 2 * place} / 7) % {VALUES}" for place in range(COLUMNS)]
    if nulls:
        values[-1] = f"CASE WHEN n % {nulls} <> 0 THEN {values[-1]} END"
    return f"INSERT INTO {table} ({names()}) SELECT n, {', '.join(values)} FROM generate_series(1, {count}) AS g(n)"


def names() -> str:
    return ", ".join(["id", *(f"c{place}" for place in range(COLUMNS))])


def has_version(share: int, rest: int) -> str:
    """Above, of every second entity; between, of the others."""
    return f"id % 2 = {rest} AND id / 2 % 100 < {share}"


def levels(subject: Subject) -> Iterator[Line]:
    """Each variant with all that is measured of it."""
    for variant in VARIANTS:
        with loaded(subject, variant):
            if variant.reads:
                yield from reads(subject, variant)
            if variant.writes:
                yield from writes(subject, variant)
                yield from copies(subject, variant)
            if variant.asks:
                yield from questions(subject, variant)


def reads(subject: Subject, variant: Variant) -> Iterator[Line]:
    settings = SETTINGS if variant.every_setting else SETTINGS[:1]
    for (role, label), setting in itertools.product(ROLES.items(), settings):
        with subject.connect(role) as connection:
            connection.execute("SET jit = off")
            for each in setting.split(", "):
                connection.execute(f"SET {each}".encode())
            for read in READS:
                yield from both(subject, connection, read, variant, label, setting)


def both(
    subject: Subject, connection: Connection, read: Read, variant: Variant, label: str, setting: str
) -> Iterator[Line]:
    """Unprepared, and where that is a goal of its own prepared."""
    where = f"{read.name}, {variant.name}, at {label}, {setting}"
    for prepared, goal in ((False, goal_of(read, variant, label)), (True, read.prepared)):
        if goal is None:
            continue
        times = LONG if read.draw is nothing else SHORT
        native, discreet = alternate(
            times, *(asked(subject, connection, read, table, prepared) for table in (PLAIN, MULTI))
        )
        yield ratio(f"{where}{', prepared' if prepared else ''}", native, discreet, goal)


def goal_of(read: Read, variant: Variant, label: str) -> float:
    if variant.share >= 50 and read.at_half is not None:
        return read.at_half
    return read.unprepared[label != "U"]


def asked(subject: Subject, connection: Connection, read: Read, table: str, prepared: bool) -> Callable[[], object]:
    statement = read.sql.format(table).encode()

    def ask() -> object:
        return connection.execute(statement, read.draw(entities(subject)) or None, prepare=prepared).fetchall()

    for _ in range(7 if prepared else 1):
        ask()
    return ask


BY_KEY = {
    "INSERT": ("INSERT INTO {} (id, c0, c1) VALUES (%s, 1, 2)", lambda count: [count + random.randrange(1, 10**9)]),
    "UPDATE by key": ("UPDATE {} SET c7 = c7 + 1 WHERE id = %s", key),
    "DELETE by key": ("DELETE FROM {} WHERE id = %s", key),
}
OWN = f"INSERT INTO {{}} ({names()}) SELECT -n{', n % 250' * COLUMNS} FROM generate_series(1, {MANY}) n"
OF_MANY = {
    "INSERT": (None, f"INSERT INTO {{}} (id, c0, c1) SELECT -n, 1, 2 FROM generate_series(1, {MANY}) n"),
    "UPDATE": (None, f"UPDATE {{}} SET c7 = c7 + 1 WHERE id BETWEEN 1000 AND {999 + MANY}"),
    "DELETE": (None, f"DELETE FROM {{}} WHERE id BETWEEN 1000 AND {999 + MANY}"),
    "DELETE of own rows, of": (OWN, "DELETE FROM {} WHERE id < 0"),
    "DELETE of own versions, of": (f"UPDATE {{}} SET c7 = c7 + 1 WHERE id BETWEEN 1000 AND {999 + MANY}", None),
}
NOT_AT = {"DELETE": "S", "DELETE of own rows, of": "U", "DELETE of own versions, of": "U"}
# a session deletes rows of its own label alone
VERSIONS = {
    PLAIN: f"DELETE FROM {PLAIN} WHERE id BETWEEN 1000 AND {999 + MANY}",
    MULTI: f"DELETE FROM {MULTI} WHERE id BETWEEN 1000 AND {999 + MANY} AND tc = 'S'",
}


def writes(subject: Subject, variant: Variant) -> Iterator[Line]:
    """By key, and 10,000 rows in one statement, each rolled back."""
    for role, label in ROLES.items():
        with subject.connect(role) as connection:
            for name, (sql, draw) in BY_KEY.items():
                if name.startswith("DELETE") and label != "U":
                    continue

                def by_key(table: str, sql: str = sql, draw: Callable[[int], list[int]] = draw) -> float:
                    values = draw(entities(subject))
                    return rolled_back(connection, None, lambda: connection.execute(sql.format(table).encode(), values))

                yield written(f"{name}, {variant.name}, at {label}", by_key, SHORT, 2.5 if label == "U" else 3.5)
            for name, (before, many) in OF_MANY.items():
                if label == NOT_AT.get(name):
                    continue

                def of_many(table: str, before: str | None = before, many: str | None = many) -> float:
                    statement = (VERSIONS[table] if many is None else many.format(table)).encode()
                    first = None if before is None else before.format(table)
                    return rolled_back(connection, first, lambda: connection.execute(statement))

                yield written(f"{name} {MANY} rows, {variant.name}, at {label}", of_many, LONG, 5)


def copies(subject: Subject, variant: Variant) -> Iterator[Line]:
    rows = "".join("\t".join(map(str, (-n, *[n % VALUES] * COLUMNS))) + "\n" for n in range(1, COPIED + 1))
    for role, label in ROLES.items():
        with subject.connect(role) as connection:

            def copy(table: str) -> float:
                def run() -> None:
                    with connection.cursor().copy(f"COPY {table} ({names()}) FROM STDIN".encode()) as into:
                        into.write(rows)

                return rolled_back(connection, None, run)

            yield written(f"COPY of {COPIED} rows, {variant.name}, at {label}", copy, LONG, 2.5)


def rolled_back(connection: Connection, before: str | None, action: Callable[[], object]) -> float:
    """How long the action takes, after a statement that is not measured."""
    connection.execute("BEGIN")
    if before is not None:
        connection.execute(before.encode())
    took = seconds(action)
    connection.execute("ROLLBACK")
    return took


def written(name: str, once: Callable[[str], float], times: int, at_most: float) -> Line:
    pairs = [(once(PLAIN), once(MULTI)) for _ in range(times + 1)][1:]
    return ratio(name, *samples(pairs), at_most)


# at the lowest and the top label; the last with half of the entities in several versions
QUESTIONS = {
    "count(*)": ("SELECT count(*) FROM {}", "n bigint", (2.0, 2.0), 3.0),
    "sum": ("SELECT sum(c5) FROM {}", "s bigint", (1.5, 2.0), 2.0),
    "GROUP BY": ("SELECT c0, count(*), sum(c5) FROM {} GROUP BY c0", "c0 int, n bigint, s bigint", (1.5, 2.0), 2.0),
}


def questions(subject: Subject, variant: Variant) -> Iterator[Line]:
    """By the gate, in the name of analysts who read neither table."""
    for table in (PLAIN, MULTI):
        subject.cluster.sql(f"""
            SELECT discreet.protect('{table}', 'id', epsilon => 1000, max_rows => 1);
            SELECT discreet.describe_column('{table}', 'c5', 0, {VALUES});
            SELECT discreet.describe_column('{table}', 'c0', categories => array_agg(n::text))
                FROM generate_series(0, {VALUES - 1}) n;
        """)
        for role in ASKERS:
            subject.cluster.sql(f"SELECT discreet.grant_budget('public.{table}', '{role}', 1000)")
    for role, label in ASKERS.items():
        with subject.connect(role) as connection:
            for name, (question, columns, goals, at_half) in QUESTIONS.items():

                def ask(table: str, question: str = question, columns: str = columns) -> float:
                    asked = f"$${question.format(table)}$$, {EPSILON}, fresh => true"
                    statement = f"SELECT * FROM discreet.query({asked}) AS t({columns})".encode()
                    return seconds(lambda: connection.execute(statement).fetchall())

                goal = at_half if variant.share >= 50 else goals[label != "U"]
                yield written(f"gate: {name}, {variant.name}, at {label}", ask, LONG, goal)
    for table in (PLAIN, MULTI):
        subject.cluster.sql(f"SELECT discreet.unprotect('{table}')")
