"""What DDL on other tables pays for the extension: the same commands in a database without it and in one with it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Connection, Line, Sample, Subject

MOST = 1.05
# Where a session lies in memory makes more of a difference than the extension, so there are many pairs of sessions.
SESSIONS = 15
TURNS = 60
WITHOUT, WITH = "without_discreet", "postgres"
TABLE = "CREATE TABLE others (a int, b text)"
COMMANDS = {
    "CREATE TEMP TABLE, DROP": ("CREATE TEMP TABLE scratch (a int, b text)", "DROP TABLE scratch"),
    "GRANT, REVOKE": ("GRANT SELECT ON others TO PUBLIC", "REVOKE SELECT ON others FROM PUBLIC"),
    "ALTER TABLE": ("ALTER TABLE others RENAME a TO c", "ALTER TABLE others RENAME c TO a"),
    "CREATE INDEX, DROP": ("CREATE INDEX others_a ON others (a)", "DROP INDEX others_a"),
    "CREATE FUNCTION": ("CREATE OR REPLACE FUNCTION others() RETURNS int LANGUAGE sql AS 'SELECT 1'",),
    "CREATE VIEW, DROP": ("CREATE VIEW others_view AS SELECT a FROM others", "DROP VIEW others_view"),
}


def load(subject: Subject) -> None:
    """A database without the extension; in the one with it a table is protected, and others are not."""
    subject.cluster.sql(f"CREATE DATABASE {WITHOUT}")
    for database in (WITHOUT, WITH):
        subject.cluster.sql(TABLE, database)
    subject.cluster.sql("CREATE TABLE people (id int PRIMARY KEY)")
    subject.cluster.sql("SELECT discreet.protect('people', 'id', epsilon => 1)")


def processor_seconds(connection: Connection) -> float:
    """What the server's process has worked so far: others on the machine take none of it."""
    return int(Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text().split()[0]) / 1e9


def spent(connection: Connection, commands: tuple[str, ...]) -> float:
    """What the commands take. They are rolled back: the catalogs of both databases stay alike."""
    before = processor_seconds(connection)
    for command in ("BEGIN", *commands, "ROLLBACK"):
        connection.execute(command)
    return processor_seconds(connection) - before


def measured(subject: Subject, commands: tuple[str, ...]) -> tuple[Sample, Sample]:
    """A pair of new sessions, by turns; who comes first changes."""
    with subject.connect(database=WITHOUT) as without, subject.connect(database=WITH) as loaded:
        spent(without, commands), spent(loaded, commands)
        native: list[float] = []
        discreet: list[float] = []
        for number in range(TURNS):
            pair = [(native, without), (discreet, loaded)]
            for values, connection in pair if number % 2 == 0 else reversed(pair):
                values.append(spent(connection, commands))
    return Sample(tuple(native)), Sample(tuple(discreet))


def commands_of_others(subject: Subject) -> Iterator[Line]:
    for name, commands in COMMANDS.items():
        pairs = [measured(subject, commands) for _ in range(SESSIONS)]
        native, discreet = (Sample(tuple(sample.median for sample in column)) for column in zip(*pairs, strict=True))
        value = statistics.median(discreet.median / native.median for native, discreet in pairs)
        yield Line(
            f"{name}; native: a database without the extension",
            native.milliseconds(), discreet.milliseconds(), f"{value:.3f}", f"<= {MOST}", value <= MOST,
        )  # fmt: skip
