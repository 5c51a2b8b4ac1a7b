"""Noise of questions with several numbers, beside that of a part of the price for each: of each number, of each set."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from bench.gate import ASKER, laplace
from bench.measure import Line, Subject

ANSWERS, EPSILON = 200, 1
GROUPS, SUMS, HIGHEST = 50, 8, 100
DIGITS = 10
MOST_OF_SUMS, MOST_OF_TOTAL, MOST_OF_CELLS = 0.6, 0.5, 1.1

PEOPLE = """
    CREATE TABLE household (id int PRIMARY KEY, town int NOT NULL, {columns});
    INSERT INTO household SELECT id, id % {groups}, {values} FROM generate_series(1, 20000) AS id;
    CREATE TABLE dweller (id int PRIMARY KEY, a int NOT NULL, b int NOT NULL, c int NOT NULL);
    INSERT INTO dweller SELECT id, id % {digits}, id / {digits} % {digits}, id / {digits} / {digits} % {digits}
    FROM generate_series(0, 19999) AS id;
    SELECT discreet.create_dataset('quiet', 1000);
    SELECT discreet.protect('household', 'id', 'quiet'), discreet.protect('dweller', 'id', 'quiet');
    SELECT discreet.describe_column('household', 'town', categories => {towns});
    SELECT discreet.describe_column('dweller', key, categories => {all_digits}) FROM unnest('{{a,b,c}}'::text[]) AS key;
    SELECT discreet.describe_column('household', 's' || n, 0, {highest}) FROM generate_series(1, {sums}) AS n;
    CREATE ROLE {asker} LOGIN IN ROLE discreet_analyst;
    SELECT discreet.grant_budget('quiet', '{asker}', 1000);
"""


def texts(most: int) -> str:
    return "ARRAY[" + ", ".join(f"'{number}'" for number in range(most)) + "]"


def load(subject: Subject) -> None:
    numbers = range(1, SUMS + 1)
    subject.cluster.sql(
        PEOPLE.format(
            columns=", ".join(f"s{n} int NOT NULL" for n in numbers),
            values=", ".join(f"id * {n} % {HIGHEST + 1}" for n in numbers),
            groups=GROUPS, digits=DIGITS, towns=texts(GROUPS), all_digits=texts(DIGITS), highest=HIGHEST, sums=SUMS,
            asker=ASKER,
        )
    )  # fmt: skip


def line(name: str, before: float, found: Sequence[float], most: float | None) -> Line:
    """`before`: the root of the mean square of the noise of an even part of the price."""
    measured = math.sqrt(math.fsum(off**2 for off in found) / len(found))
    value = measured / before
    target, met = ("", None) if most is None else (f"<= {most:g}", value <= most)
    return Line(f"noise: {name}", f"even parts: {before:.4g}", f"{measured:.4g}", f"{value:.2f}", target, met)


def deviation(sensitivity: int, parts: int) -> float:
    """Of discrete Laplace noise of its own, for so many parts of the price."""
    return laplace(sensitivity, EPSILON / parts)


def differences(
    subject: Subject, sql: str, keys: int, columns: str
) -> Iterator[list[tuple[tuple[object, ...], list[float]]]]:
    """Of each answer the keys of every row, and by how much its numbers are off."""
    with subject.connect() as reading:
        exact = {row[:keys]: row[keys:] for row in reading.execute(sql.encode()).fetchall()}
    asking = f"SELECT * FROM discreet.query($${sql}$$, epsilon => {EPSILON}, fresh => true) AS t({columns})"
    with subject.connect(ASKER) as connection:
        for _ in range(ANSWERS):
            rows = connection.execute(asking.encode()).fetchall()
            yield [
                (
                    row[:keys],
                    [float(str(a)) - float(str(b)) for a, b in zip(row[keys:], exact[row[:keys]], strict=True)],
                )
                for row in rows
            ]


def several_sums(subject: Subject) -> Iterator[Line]:
    """Eight sums of one table, by groups."""
    numbers = range(1, SUMS + 1)
    sql = f"SELECT town, {', '.join(f'sum(s{n})' for n in numbers)} FROM household GROUP BY town"
    columns = ", ".join(["town int", *(f"s{n} bigint" for n in numbers)])
    found = [off for answer in differences(subject, sql, 1, columns) for _, offs in answer for off in offs]
    yield line(f"{SUMS} sums of one table, {GROUPS} groups", deviation(HIGHEST, SUMS), found, MOST_OF_SUMS)


def rollup(subject: Subject) -> Iterator[Line]:
    """Counts in three dimensions, at so much of the price for each set as all of them together have."""
    sql = "SELECT a, b, c, count(*) FROM dweller GROUP BY ROLLUP (a, b, c)"
    found: dict[int, list[float]] = {}
    for answer in differences(subject, sql, 3, "a int, b int, c int, n bigint"):
        for keys, (off,) in answer:
            found.setdefault(sum(key is not None for key in keys), []).append(off)
    names = {0: "grand total", 1: "groups of one key", 2: "groups of two keys", 3: "cells"}
    most = {0: MOST_OF_TOTAL, 3: MOST_OF_CELLS}
    before = deviation(1, 1)
    for size in sorted(found):
        yield line(f"ROLLUP of {DIGITS}^3 cells, {names[size]}", before, found[size], most.get(size))
