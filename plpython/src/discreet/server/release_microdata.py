"""Microdata: discreet.microaggregate and swap write tables, with the rights of who calls."""

from __future__ import annotations

import json
from collections.abc import Iterable

from discreet.core.declarations import given
from discreet.core.errors import InvalidParameterError, LimitExceededError, UnsafeReleaseError
from discreet.core.syntax import SqlValue
from discreet.server.entry import sql_errors
from discreet.server.plpy import Plpy, run
from discreet.server.release_publish import Column, Original, Progress, array, new_table

# each of which becomes some numbers of Python
MOST_ROWS = 5_000_000
NUMBERED = "pg_temp.discreet_numbered_rows"
# what a type is as a number, and what a mean of such numbers is in the type
DATES = {
    "date": ("({c} - date '2000-01-01')", "(date '2000-01-01' + round({m})::int)"),
    "timestamp without time zone": (
        "extract(epoch FROM {c})",
        "(timestamp '1970-01-01' + make_interval(secs => {m}::float8))",
    ),
    "timestamp with time zone": ("extract(epoch FROM {c})", "to_timestamp({m}::float8)"),
}


class Rows:
    """The rows of a relation, copied and numbered, so that what is computed for each finds its row again."""

    def __init__(self, plpy: Plpy, source: Original) -> None:
        self.plpy = plpy
        self.source = source
        names = {column.name for column in source.columns}
        self.number = next(name for name in (f"row_number{'_' * n}" for n in range(99)) if name not in names)
        plpy.execute(
            f"CREATE TEMPORARY TABLE {NUMBERED.partition('.')[2]} ON COMMIT DROP AS"
            f" SELECT s.*, row_number() OVER () AS {self.number} FROM {source.name} s"
        )
        self.size = int(plpy.execute(f"SELECT count(*) AS rows FROM {NUMBERED}")[0]["rows"])
        if self.size == 0:
            raise InvalidParameterError(f"{source.name} has no rows", "Give a relation that has rows.")
        if self.size > MOST_ROWS:
            raise LimitExceededError(
                f"{source.name} has {self.size} rows, but no more than {MOST_ROWS} can be changed at a time",
                "Give parts of it, by views.",
            )

    def vectors(self, expressions: Iterable[str], send: str) -> list[bytes]:
        """Numbers of all rows in their order, as PostgreSQL sends them: most significant byte first."""
        listed = list(expressions)
        inner = ", ".join(f"{each} AS v{n}" for n, each in enumerate(listed))
        sent = ", ".join(f"string_agg({send}(v{n}), ''::bytea) AS v{n}" for n in range(len(listed)))
        row = self.plpy.execute(
            f"SELECT {sent} FROM (SELECT {inner} FROM {NUMBERED} ORDER BY {self.number} OFFSET 0) AS rows"
        )[0]
        return [row[f"v{n}"] for n in range(len(listed))]

    def write(self, release: str, columns: str, joined: str, numbers: Iterable[SqlValue]) -> None:
        """A row for each row, in an order that says nothing; `joined` is what a row gets by its number."""
        self.plpy.execute(
            f"CREATE TABLE {release} AS SELECT {self.all_columns('s')} FROM {self.source.name} s WITH NO DATA"
        )
        run(
            self.plpy,
            f"""
            INSERT INTO {release}
            WITH given AS MATERIALIZED (
                SELECT t.given, t.number
                FROM unnest(:numbers::int8[]) WITH ORDINALITY AS t(given, number))
            SELECT {columns} FROM {NUMBERED} a JOIN given ON given.number = a.{self.number} {joined}
            ORDER BY gen_random_uuid()
            """,
            numbers=array(numbers),
        )
        self.plpy.execute(f"DROP TABLE {NUMBERED}")

    def all_columns(self, alias: str) -> str:
        return ", ".join(f"{alias}.{column.quoted}" for column in self.source.columns)


def as_number(column: Column) -> str:
    if column.type in DATES:
        return f"({DATES[column.type][0].format(c=column.quoted)})::float8"
    if column.category != "N":
        raise InvalidParameterError(
            f"column {column.name} is of type {column.type}", "Only numbers, dates and times have a mean."
        )
    return f"{column.quoted}::float8"


def finite(column: Column) -> str:
    """Whether a value takes part in a mean: NULL, NaN and infinities do not."""
    return f"{as_number(column)} > '-Infinity' AND {as_number(column)} < 'Infinity'"


@sql_errors
def microaggregate(
    plpy: Plpy, relation: str | None, names: list[str] | None, k: int | None, release: str | None
) -> str:
    import numpy as np

    from discreet.release.mdav import information_loss, mdav

    source = Original.of(plpy, relation)
    columns = source.some(names, "columns")
    if given("k", k) < 2:
        raise InvalidParameterError(f"k is {k}", "Give the least number of records that become alike, 2 or more.")
    least = given("k", k)
    numbers = [f"CASE WHEN {finite(column)} THEN {as_number(column)} ELSE 'NaN' END" for column in columns]
    written = new_table(plpy, release, source)
    rows = Rows(plpy, source)
    pulse = Progress(plpy).share("grouping records")
    points = np.stack(
        [np.frombuffer(each, dtype=">f8").astype(np.float64) for each in rows.vectors(numbers, "float8send")], axis=1
    )
    groups = np.full(rows.size, -1, dtype=np.int64)
    there = ~np.isnan(points)
    lost = 0.0
    patterns, pattern_of = np.unique(there, axis=0, return_inverse=True)
    for index, pattern in enumerate(patterns):
        members = np.flatnonzero(pattern_of.reshape(-1) == index)
        if pattern.any() and len(members) >= least:
            part = points[np.ix_(members, np.flatnonzero(pattern))]
            found = mdav(part, least, pulse)
            lost += information_loss(part, found) * len(members)
            groups[members] = found + groups.max() + 1
    kept = int((groups >= 0).sum())
    if kept == 0:
        raise InvalidParameterError(f"there are not {least} records with values to group", "Choose a smaller k.")
    shown = []
    for column in source.columns:
        if column not in columns:
            shown.append(f"a.{column.quoted}")
            continue
        value = DATES[column.type][0].format(c=column.quoted) if column.type in DATES else column.quoted
        mean = f"avg({value}) FILTER (WHERE {finite(column)}) OVER (PARTITION BY given.given)"
        mean = DATES[column.type][1].format(m=mean) if column.type in DATES else mean
        shown.append(f"CASE WHEN given.given >= 0 THEN ({mean})::{column.type} END")
    rows.write(written, ", ".join(shown), "", groups.tolist())
    keys = ", ".join(column.quoted for column in columns)
    some = " OR ".join(f"{column.quoted} IS NOT NULL" for column in columns)
    smallest = plpy.execute(
        f"SELECT min(size) AS size FROM (SELECT count(*) AS size FROM {written} WHERE {some} GROUP BY {keys}) t"
    )[0]["size"]
    if smallest is not None and smallest < least:
        raise UnsafeReleaseError("a group has fewer records than it must; nothing is published", "Please report it.")
    sizes = np.bincount(groups[groups >= 0])
    return json.dumps(
        {
            "rows": rows.size,
            "groups": len(sizes),
            "smallest_group": int(smallest),
            "largest_group": int(sizes.max()),
            "emptied": int((there.any(axis=1) & (groups < 0)).sum()),
            "variance_lost": round(lost / kept, 6),
        }
    )


@sql_errors
def swap(
    plpy: Plpy,
    relation: str | None,
    exchange: list[str] | None,
    match: list[str] | None,
    quasi_identifiers: list[str] | None,
    release: str | None,
    k: int | None,
    rate: float | None,
) -> str:
    import numpy as np

    from discreet.release.swapping import swap as swapped

    source = Original.of(plpy, relation)
    exchanged = source.some(exchange, "exchange")
    matched = source.some(match, "match_on") if given("match_on", match) else []
    risk = source.some(quasi_identifiers, "quasi_identifiers")
    both = {column.name for column in exchanged} & {column.name for column in matched}
    if both:
        raise InvalidParameterError(f"{min(both)} cannot be exchanged and stay the same", "Name it in one list.")
    if given("k", k) < 1:
        raise InvalidParameterError(f"k is {k}", "Records in classes smaller than k are at risk: give 1 or more.")
    if not 0 <= given("rate", rate) <= 1:
        raise InvalidParameterError(f"rate is {rate}, which is no share", "Give a share of all records from 0 to 1.")
    written = new_table(plpy, release, source)
    rows = Rows(plpy, source)
    numbers = [
        f"dense_rank() OVER (ORDER BY {', '.join(column.quoted for column in matched) or '1'})",
        f"dense_rank() OVER (ORDER BY {', '.join(column.quoted for column in exchanged)})",
        f"count(*) OVER (PARTITION BY {', '.join(column.quoted for column in risk)})",
    ]
    matching, places, sizes = (
        np.frombuffer(each, dtype=">i8").astype(np.int64) for each in rows.vectors(numbers, "int8send")
    )
    found = swapped(matching, places, sizes, given("k", k), given("rate", rate))
    shown = ", ".join(f"{'b' if column in exchanged else 'a'}.{column.quoted}" for column in source.columns)
    rows.write(written, shown, f"JOIN {NUMBERED} b ON b.{rows.number} = given.given", (found.partner + 1).tolist())
    keys = ", ".join(column.quoted for column in (*matched, *exchanged))
    same = plpy.execute(
        f"SELECT NOT EXISTS (SELECT {keys} FROM {source.name} EXCEPT ALL SELECT {keys} FROM {written}) AS same"
    )[0]["same"]
    if not same:
        raise UnsafeReleaseError("counts over the matched and exchanged columns have changed; nothing is published",
                              "The relation changed meanwhile: try again.")  # fmt: skip
    return json.dumps(
        {
            "rows": rows.size,
            "at_risk": found.at_risk,
            "swapped": found.swapped,
            "at_risk_without_partner": found.without_partner,
        }
    )
