"""How the time of a question grows with rows, people, groups, columns, partitions and sessions: docs/growth.svg.

A curve is linear or flat when no point jumps: between neighbours the time grows by at most `JUMP` times as much as the
size. Growth of the ledger (charges, stored answers, roles, tables) is in bench/budget.py.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Line, Subject, rate, seconds

JUMP = 1.5
TIMES, SECONDS = 5, 3
ASKER = "growth_asker"
DRAWING = Path(__file__).resolve().parent.parent / "docs" / "growth.svg"
WIDTH, HEIGHT, MARGIN = 300, 200, 44


@dataclass(frozen=True)
class Curve:
    """Milliseconds for each size; `flat`: the time should not grow with the size at all."""

    what: str
    points: tuple[tuple[int, float], ...]
    flat: bool = False

    @property
    def largest_jump(self) -> float:
        """The most by which the time grows between neighbours, beyond what the size does."""
        pairs = zip(self.points, self.points[1:], strict=False)
        return max(later / before / (1 if self.flat else more / fewer) for (fewer, before), (more, later) in pairs)

    def line(self) -> Line:
        shown = ", ".join(f"{size:,}: {time:.1f} ms" for size, time in self.points)
        jump = self.largest_jump
        name = f"growth with {self.what}: the largest jump between neighbours"
        return Line(name, "", shown, f"{jump:.2f}", f"<= {JUMP}", jump <= JUMP)


def load(subject: Subject) -> None:
    subject.cluster.sql(f"CREATE ROLE {ASKER} LOGIN; SELECT discreet.create_dataset('growth', 1000, 1e-3)")
    subject.cluster.sql(f"SELECT discreet.grant_budget('growth', '{ASKER}', 1000, 1e-3)")


def milliseconds(subject: Subject, question: str) -> float:
    """The median time of a question that is not answered from the store, in a session that has asked before."""
    statement = f"SELECT count(*) FROM discreet.query_json($${question}$$, 0.001, fresh => true)"
    with subject.connect(ASKER) as connection:
        connection.execute(statement)
        return 1000 * statistics.median(seconds(lambda: connection.execute(statement)) for _ in range(TIMES))


def sizes(most: int, least: int = 100_000) -> list[int]:
    """From `least` to `most`, each about three times the one before."""
    steps = max(2, round(math.log(most / least, 3)) + 1)
    return sorted({round(least * (most / least) ** (step / (steps - 1))) for step in range(steps)})


def made(subject: Subject, table: str, columns: str, rows: int, max_rows: int = 1, unit: str = "id") -> None:
    """A protected table of so many rows; `columns` are expressions of n."""
    subject.cluster.sql(f"CREATE TABLE {table} AS SELECT {columns} FROM generate_series(1, {rows}) n")
    if unit == "id":
        subject.cluster.sql(f"ALTER TABLE {table} ADD PRIMARY KEY (id)")
    subject.cluster.sql(f"VACUUM (ANALYZE) {table}")
    subject.cluster.sql(f"SELECT discreet.protect('{table}', '{unit}', 'growth', max_rows => {max_rows})")


def over_rows(subject: Subject) -> Curve:
    points = []
    for rows in sizes(subject.rows):
        table = f"rows_{rows}"
        made(subject, table, "n AS id, n % 1000 AS value", rows)
        subject.cluster.sql(f"SELECT discreet.describe_column('{table}', 'value', 0, 1000)")
        points.append((rows, milliseconds(subject, f"SELECT count(*), sum(value) FROM {table}")))
        subject.cluster.sql(f"DROP TABLE {table}")
    return Curve("rows", tuple(points))


def over_people(subject: Subject) -> Curve:
    """As many rows of ever more people; time per row shall stay."""
    points = []
    for people in sizes(subject.rows, 1000):
        table = f"people_{people}"
        made(subject, table, f"n % {people} AS person, n % 1000 AS value", subject.rows, 10, "person")
        subject.cluster.sql(f"SELECT discreet.describe_column('{table}', 'value', 0, 1000)")
        points.append((people, milliseconds(subject, f"SELECT count(*), sum(value) FROM {table}")))
        subject.cluster.sql(f"DROP TABLE {table}")
    return Curve(f"people of {subject.rows:,} rows", tuple(points))


def over_groups(subject: Subject) -> Curve:
    rows = min(subject.rows, 1_000_000)
    made(subject, "grouped", "n AS id, n AS number", rows)
    subject.cluster.sql(f"SELECT discreet.describe_column('grouped', 'number', 0, {rows})")
    points = [
        (groups, milliseconds(subject, f"SELECT number % {groups} AS part, count(*) FROM grouped GROUP BY 1"))
        for groups in sizes(min(100_000, rows), 10)
    ]
    return Curve("groups that are not declared", tuple(points))


def over_columns(subject: Subject) -> Curve:
    """A table of 100 columns; ever more of them are summed up in one question."""
    columns = [f"c{number}" for number in range(100)]
    listed = ", ".join(["n AS id", *(f"n % 100 AS {column}" for column in columns)])
    made(subject, "wide", listed, min(subject.rows // 10, 500_000))
    for column in columns:
        subject.cluster.sql(f"SELECT discreet.describe_column('wide', '{column}', 0, 100)")
    points = []
    for number in (1, 2, 5, 10, 20, 50):
        summed = ", ".join(f"sum({column}) AS {column}" for column in columns[:number])
        points.append((number, milliseconds(subject, f"SELECT {summed} FROM wide")))
    return Curve("sums in one question", tuple(points))


def over_partitions(subject: Subject) -> Curve:
    """As many rows in ever more partitions."""
    points = []
    for partitions in (1, 5, 50, 500):
        table = f"parted_{partitions}"
        subject.cluster.sql(
            f"CREATE TABLE {table} (id int PRIMARY KEY, value int) PARTITION BY HASH (id);"
            + "".join(
                f"CREATE TABLE {table}_{part} PARTITION OF {table}"
                f" FOR VALUES WITH (MODULUS {partitions}, REMAINDER {part});"
                for part in range(partitions)
            )
            + f"INSERT INTO {table} SELECT n, n % 1000 FROM generate_series(1, {min(subject.rows, 1_000_000)}) n;"
            f"ANALYZE {table}; SELECT discreet.protect('{table}', 'id', 'growth')"
        )
        points.append((partitions, milliseconds(subject, f"SELECT count(*) FROM {table} WHERE value < 500")))
    return Curve("partitions", tuple(points))


def over_sessions(subject: Subject) -> Curve:
    """Time per question, of all sessions together."""
    made(subject, "shared", "n AS id", 10)
    statement = "SELECT n FROM discreet.query('SELECT count(*) FROM shared', 0.001, fresh => true) AS t(n bigint)"
    points = []
    for sessions in (1, 2, 5, 20, 50, 100, 200):
        found = rate(lambda: subject.connect(ASKER), sessions, SECONDS, statement)
        points.append((sessions, 1000 / found))
    return Curve("sessions, a question of all together", tuple(points), flat=True)


CURVES = (over_rows, over_people, over_groups, over_columns, over_partitions, over_sessions)


def curves(subject: Subject) -> Iterator[Line]:
    found = []
    for measured in CURVES:
        found.append(measured(subject))
        yield found[-1].line()
    DRAWING.write_text(drawn(found))


def drawn(found: list[Curve]) -> str:
    """One small drawing for each curve, both axes logarithmic."""
    high = -(-len(found) // 3) * HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {3 * WIDTH} {high}"'
        ' font-family="sans-serif" font-size="11">',
        "<style>text { fill: #222 } .paper { fill: #fff } .axis { stroke: #999 } .curve { stroke: #1b6ca8; fill: none }"
        " @media (prefers-color-scheme: dark) { text { fill: #ddd } .paper { fill: #1b1e24 } .axis { stroke: #777 }"
        " .curve { stroke: #6db6ee } }</style>",
        '<rect class="paper" width="100%" height="100%"/>',
    ]
    for number, curve in enumerate(found):
        parts.append(f'<g transform="translate({number % 3 * WIDTH}, {number // 3 * HEIGHT})">{pictured(curve)}</g>')
    return "\n".join([*parts, "</svg>", ""])


def pictured(curve: Curve) -> str:
    sizes_, times = zip(*curve.points, strict=True)
    low, high = min(times) / 1.5, max(times) * 1.5

    def across(size: int) -> float:
        share = math.log(size / sizes_[0]) / math.log(sizes_[-1] / sizes_[0])
        return MARGIN + share * (WIDTH - 2 * MARGIN)

    def up(time: float) -> float:
        return HEIGHT - MARGIN - math.log(time / low) / math.log(high / low) * (HEIGHT - 2 * MARGIN)

    points = " ".join(f"{across(size):.1f},{up(time):.1f}" for size, time in curve.points)
    ground = HEIGHT - MARGIN
    return (
        f'<text x="{MARGIN}" y="24" font-weight="bold">{curve.what}</text>'
        f'<path class="axis" fill="none" d="M{MARGIN},{MARGIN} V{ground} H{WIDTH - MARGIN}"/>'
        f'<polyline class="curve" stroke-width="2" points="{points}"/>'
        f'<text x="{MARGIN}" y="{ground + 16}">{sizes_[0]:,}</text>'
        f'<text x="{WIDTH - MARGIN}" y="{ground + 16}" text-anchor="end">{sizes_[-1]:,}</text>'
        f'<text x="{MARGIN + 4}" y="{up(times[0]) - 6:.1f}">{times[0]:.1f} ms</text>'
        f'<text x="{WIDTH - MARGIN}" y="{up(times[-1]) - 6:.1f}" text-anchor="end">{times[-1]:.1f} ms</text>'
    )
