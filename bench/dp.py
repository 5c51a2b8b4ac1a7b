"""The dp_ aggregates beside the native ones, over the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.measure import Connection, Line, Subject, alternate, ratio, samples, seconds

MOST_TIMES_NATIVE = 1.5

COLUMNS = {
    "age": ("int", "0, 120"),
    "height": ("double precision", "0.5, 2.5"),
    "salary": ("numeric", "0, 100000"),
}

PEOPLE = """
    CREATE TABLE people (
        id int PRIMARY KEY, department int NOT NULL, age int NOT NULL,
        height double precision NOT NULL, salary numeric NOT NULL);
    SELECT setseed(0.5);
    INSERT INTO people
        SELECT id, id % 50, 18 + 60 * random(), 1.5 + random() / 2, round((random() * 90000)::numeric, 2)
        FROM generate_series(1, {rows}) AS id;
    VACUUM (ANALYZE) people;
    CREATE EXTENSION pg_prewarm;
    SELECT pg_prewarm('people');
    SELECT discreet.create_dataset('people', 1000);
    SELECT discreet.protect('people', 'id', 'people');
"""


def load(subject: Subject) -> None:
    subject.cluster.sql(PEOPLE.format(rows=subject.rows))


def grouped(expression: str) -> str:
    return f"SELECT department, {expression} FROM people GROUP BY department"


def workers(connection: Connection, statement: str) -> int:
    """How many parallel workers took part."""
    rows = connection.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}").fetchall()
    document: Any = rows[0][0]
    nodes = [document[0]["Plan"]]
    for node in nodes:
        if "Workers Launched" in node:
            return int(node["Workers Launched"])
        nodes += node.get("Plans", [])
    return 0


def compare(
    subject: Subject, connection: Connection, name: str, native: str, discreet: str, most: float | None = None
) -> Line:
    """The line for two aggregates; asking about the workers also warms up."""
    ours, theirs = grouped(f"discreet.{discreet}"), grouped(native)
    label = f"{name}, {workers(connection, theirs)} and {workers(connection, ours)} workers"
    pair = alternate(subject.repetitions, lambda: connection.execute(theirs), lambda: connection.execute(ours))
    return ratio(label, *pair, most)


def counts_sums_averages(subject: Subject) -> Iterator[Line]:
    """GROUP BY of 50 groups, with the just-in-time compiler as the server has it, and without."""
    questions = {"dp_count(*)": ("count(*)", "dp_count(*)")} | {
        f"dp_{function}({type_name})": (f"{function}({column})", f"dp_{function}({column}, {bounds})")
        for column, (type_name, bounds) in COLUMNS.items()
        for function in ("sum", "avg")
    }
    with subject.connect() as connection:
        for jit in ("on", "off"):
            connection.execute(f"SET jit = {jit}")
            label = "" if jit == "on" else ", jit off"
            for name, (native, discreet) in questions.items():
                yield compare(subject, connection, name + label, native, discreet, MOST_TIMES_NATIVE)


def other_estimators(subject: Subject) -> Iterator[Line]:
    pairs = {
        "dp_stddev(double precision)": ("stddev(height)", "dp_stddev(height, 0.5, 2.5)"),
        "dp_stddev(numeric)": ("stddev(salary)", "dp_stddev(salary, 0, 100000)"),
        "dp_median(int)": ("percentile_disc(0.5) WITHIN GROUP (ORDER BY age)", "dp_median(age, 0, 120)"),
        "dp_median(double precision)": (
            "percentile_disc(0.5) WITHIN GROUP (ORDER BY height)",
            "dp_median(height, 0.5, 2.5)",
        ),
        "dp_count_distinct(int), 61 values": ("count(DISTINCT age)", "dp_count_distinct(age)"),
        "dp_count_distinct(int), all distinct": ("count(DISTINCT id)", "dp_count_distinct(id)"),
    }
    with subject.connect() as connection:
        for name, (native, discreet) in pairs.items():
            yield compare(subject, connection, name, native, discreet)


def fixed_cost(subject: Subject) -> Iterator[Line]:
    """What a question costs that has nothing to read."""
    native, discreet = "SELECT count(*) FROM village", "SELECT discreet.dp_count(*) FROM village"
    subject.cluster.sql("""
        CREATE TABLE village (id int PRIMARY KEY);
        INSERT INTO village SELECT generate_series(1, 10);
        SELECT discreet.create_dataset('village', 1000);
        SELECT discreet.protect('village', 'id', 'village');
    """)

    def first(statement: str) -> float:
        with subject.connect() as connection:
            return seconds(lambda: connection.execute(statement))

    pair = samples((first(native), first(discreet)) for _ in range(20))
    yield ratio("first question of a connection, 10 rows", *pair)
    with subject.connect() as connection:
        connection.execute(discreet)
        pair = alternate(500, lambda: connection.execute(native), lambda: connection.execute(discreet))
        yield ratio("further question of a connection, 10 rows", *pair)
