"""Estimators over randomised responses beside a native average of the same rows, and what randomising takes."""

from __future__ import annotations

from collections.abc import Iterator

from bench.measure import Connection, Line, Sample, Subject, alternate, ratio

MOST_TIMES_NATIVE = 2
BATCH = 5000

TEN = "{" + ",".join(f"value {n}" for n in range(10)) + "}"
MANY = "{" + ",".join(f"value {n}" for n in range(256)) + "}"
FEW = "'{value 0,value 1,value 2,value 3}'"

# a report of each kind, randomised at epsilon 1
ANSWERS = """
    CREATE TABLE answer AS
        SELECT n AS id, n % 50 AS department, (n % 100)::int AS age, discreet.rr(n % 10 < 3, 1) AS yes,
               discreet.rr('value ' || n % 10, '{ten}', 1) AS choice
        FROM generate_series(1, {rows}) AS n;
    CREATE TABLE long_answer AS
        SELECT n % 50 AS department, (n % 100)::int AS age, discreet.rr_bits('value ' || n % 256, '{many}', 1) AS bits,
               discreet.cms_encode('value ' || n % 1000, 2, width => 256) AS sketch
        FROM generate_series(1, {rows} / 5) AS n;
    VACUUM (ANALYZE) answer, long_answer;
    CREATE TABLE plain (id int PRIMARY KEY, yes boolean);
    CREATE TABLE randomised (id int PRIMARY KEY, yes boolean);
    SELECT discreet.rr_column('randomised', 'yes', 1);
"""


def load(subject: Subject) -> None:
    subject.cluster.sql(ANSWERS.format(rows=subject.rows, ten=TEN, many=MANY))


def in_turn(subject: Subject, connection: Connection, native: str, ours: str) -> tuple[Sample, Sample]:
    for warming_up in (native, ours):
        connection.execute(warming_up)
    return alternate(subject.repetitions, lambda: connection.execute(native), lambda: connection.execute(ours))


def estimators(subject: Subject) -> Iterator[Line]:
    """GROUP BY of 50 groups; native: avg of an int of the same rows."""
    questions = {
        "rr_estimate": ("answer", "rr_estimate(yes, 1)"),
        "rr_frequencies, 10 values": ("answer", f"rr_frequencies(choice, '{TEN}', 1)"),
        "rr_bits_frequencies, 256 values": ("long_answer", f"rr_bits_frequencies(bits, '{MANY}', 1)"),
        "cms_estimate, 4 words": ("long_answer", f"cms_estimate(sketch, {FEW}, 2)"),
    }
    with subject.connect() as connection:
        for name, (table, estimator) in questions.items():
            native = f"SELECT department, avg(age) FROM {table} GROUP BY department"
            ours = f"SELECT department, discreet.{estimator} FROM {table} GROUP BY department"
            pair = in_turn(subject, connection, native, ours)
            yield ratio(f"{name}; native: avg(int)", *pair, MOST_TIMES_NATIVE)


def responses(subject: Subject) -> Iterator[Line]:
    """What it takes to randomise, without and with a response that stays."""
    draws = "SELECT count({}) FROM generate_series(1, 100000) n"
    with subject.connect() as connection:
        pair = in_turn(subject, connection, draws.format("n > 5"), draws.format("discreet.rr(n > 5, 1)"))
        yield ratio("100000 times rr(boolean); native: a comparison", *pair)
        batches = iter(range(0, 2 * BATCH * subject.repetitions, BATCH))
        insert = "INSERT INTO {} SELECT n, n % 3 = 0 FROM generate_series({} + 1, {} + {}) n"
        pair = alternate(
            subject.repetitions,
            lambda: connection.execute(insert.format("plain", start := next(batches), start, BATCH)),
            lambda: connection.execute(insert.format("randomised", start := next(batches), start, BATCH)),
        )
        yield ratio(f"INSERT of {BATCH} rows with a randomised column; native: without", *pair)
