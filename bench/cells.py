"""Cross tables and microdata: how long a release takes, and whether it is safe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.measure import Connection, Line, Subject, alternate, ratio, seconds

MOST_SECONDS = 60.0
RECORDS = 100_000

# 34 x 19 x 16 = 10336 cells with margins and groups, many of them small
TABLE = """
    SELECT setseed(0.5);
    CREATE TABLE block AS
        SELECT 'a' || a AS area, 'region ' || a / 6 AS region, 'b' || b AS branch, 'sector ' || b / 5 AS sector,
               'c' || c AS class, 'kind ' || c / 4 AS kind, floor(30 * random() ^ 6 + 60 * random() ^ 12)::int AS people
        FROM generate_series(0, 27) a, generate_series(0, 14) b, generate_series(0, 11) c;
    CREATE TABLE record AS
        SELECT n AS id, 'name ' || n AS name, (20 + 60 * random())::int AS age,
               (90000 * random())::numeric(10, 2) AS income, 'd' || n % 40 AS district, n % 2 = 0 AS female
        FROM generate_series(1, {records}) n;
    VACUUM (ANALYZE) block, record;
    SELECT discreet.create_secret('bench');
"""
HIERARCHIES = """{"area": {"columns": ["region"]}, "branch": {"columns": ["sector"]}, "class": {"columns": ["kind"]}}"""


def load(subject: Subject) -> None:
    subject.cluster.sql(TABLE.format(records=RECORDS))


def suppression(subject: Subject) -> Iterator[Line]:
    """Of a 3-dimensional table with a hierarchy in each dimension; every hidden cell is proven."""
    with subject.connect() as connection:
        report: dict[str, Any] = {}

        def run() -> None:
            report.update(written(connection, f"""suppress('block', '{{area,branch,class}}', 'people', 5, 'safe',
                '{HIERARCHIES}', counts => true)"""))  # fmt: skip

        taken = seconds(run)
        hidden = report["primary"] + report["complementary"]
        yield Line(
            f"suppress, {report['cells']} cells, {report['primary']} unsafe, {hidden} hidden", "", f"{taken:.1f} s",
            f"{taken:.1f} s", f"<= {MOST_SECONDS:g} s", taken <= MOST_SECONDS,
        )  # fmt: skip
        told = report["audit"]["disclosed"] + hidden - report["audit"]["proven"]
        yield Line("suppress, hidden cells without a proof", "", str(told), str(told), "0", told == 0)


def rounding(subject: Subject) -> Iterator[Line]:
    with subject.connect() as connection:
        taken = seconds(
            lambda: written(connection, "controlled_round('block', '{area,branch}', 'people', 5, 'rounded', 'bench')")
        )
        yield Line("controlled_round, 464 cells", "", f"{taken:.2f} s", f"{taken:.2f} s")


def records(subject: Subject) -> Iterator[Line]:
    """Functions of one value beside a native hash; whole-table methods alone."""
    pairs = {
        "pseudonym(text)": ("sha256(name::bytea)", "discreet.pseudonym(name, 'bench')"),
        "record_key(text)": ("sha256(name::bytea)", "discreet.record_key(name, 'bench')"),
        "add_noise(float8)": ("sqrt(income::float8)", "discreet.add_noise(income::float8, 10)"),
        "top_code(int)": ("least(age, 70)", "discreet.top_code(age, 70)"),
        "mask(text)": ("left(name, 1) || repeat('*', length(name) - 1)", "discreet.mask(name)"),
    }
    with subject.connect() as connection:
        connection.execute("SET max_parallel_workers_per_gather = 0")
        for name, (native, discreet) in pairs.items():
            theirs, ours = (f"SELECT count({each}) FROM record" for each in (native, discreet))
            pair = alternate(5, lambda: connection.execute(theirs), lambda: connection.execute(ours))  # noqa: B023
            yield ratio(f"{name} beside {native.partition('(')[0]}", *pair)
        for name, call in {
            f"microaggregate, {RECORDS} records, k = 5": "microaggregate('record', '{age,income}', 5, 'means')",
            f"swap, {RECORDS} records": "swap('record', '{district}', '{female}', '{district,age}', 'swapped', 30)",
        }.items():
            taken = seconds(lambda: written(connection, call))  # noqa: B023
            yield Line(name, "", f"{taken:.1f} s", f"{taken:.1f} s")


def written(connection: Connection, call: str) -> dict[str, Any]:
    report: Any = connection.execute(f"SELECT discreet.{call}").fetchall()[0][0]
    return dict(report)
