"""Checks a release against what was published of the same table before, and remembers it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.core.errors import UndefinedColumnError, UnsafeReleaseError
from discreet.release.classes import Ints, with_null
from discreet.release.differencing import Isolated, isolated
from discreet.release.hierarchy import Values
from discreet.release.memory import Column, Published, classes, shown
from discreet.server import tabulation
from discreet.server.plpy import Plpy, run
from discreet.server.tabulation import Source, identifier

NAMED = 3


def remembered(plpy: Plpy, source: str) -> list[Published]:
    rows = run(plpy, "SELECT * FROM discreet._earlier_releases(:source::text)", source=source)
    return [
        Published(
            row["release"], row["quasi_identifiers"], row["k"], row["l"], row["sensitive"],
            json.loads(row["definition"]), row["labels"], np.array(row["sizes"], dtype=np.int64),
        )
        for row in rows
    ]  # fmt: skip


def remember(
    plpy: Plpy, kind: str, table: Source, made: Published, t: float | None, report: Mapping[str, object]
) -> None:
    published = {
        "release": made.release,
        "source": table.name,
        "kind": kind,
        "quasi_identifiers": made.quasi_identifiers,
        "sensitive": made.sensitive,
        "k": made.k,
        "l": made.l,
        "t": t,
        "definition": made.definition,
        "report": report,
    }
    plan = plpy.prepare(
        "SELECT discreet._remember_release($1::pg_catalog.jsonb, $2, $3::pg_catalog.int8[])",
        ["pg_catalog.text", "pg_catalog.text[]", "pg_catalog.text"],
    )
    sizes = "{" + ",".join(map(str, made.sizes.tolist())) + "}"
    plpy.execute(plan, [tabulation.written(published), made.labels, sizes])


def check(plpy: Plpy, table: Source, made: Published) -> None:
    """Refuses a release from which an earlier one can be subtracted, so that fewer than k people are left."""
    for earlier in remembered(plpy, table.name):
        columns, sensitive, count = _rows(plpy, table, earlier, made)
        old, before = classes(earlier, columns, sensitive, count)
        new, now = classes(made, columns, sensitive, count)
        k = min(earlier.k, made.k)
        found = isolated(old, new, count, before.sizes, now.sizes, k)
        if found:
            listed = "; ".join(_told(each, before, now) for each in found[:NAMED])
            more = f"; and {len(found) - NAMED} more" if len(found) > NAMED else ""
            raise UnsafeReleaseError(
                f"together with release {earlier.release} fewer than {k} people can be told apart: {listed}{more}",
                "Publish with the same levels, or fewer columns. If the other was never given away: forget_release().",
            )


def _told(each: Isolated, before: Published, now: Published) -> str:
    rows = f"{each.rows} row{'' if each.rows == 1 else 's'}"
    if each.inside == "old":
        return f"{shown(before, each.old)} of {before.release} less what is inside it leaves {rows}"
    if each.inside == "new":
        return f"{shown(now, each.new)} of {now.release} less what is inside it leaves {rows}"
    old = "left out" if each.old < 0 else shown(before, each.old)
    new = "left out" if each.new < 0 else shown(now, each.new)
    return f"{rows} {old} in {before.release} and {new} in {now.release}"


def _rows(plpy: Plpy, table: Source, earlier: Published, made: Published) -> tuple[dict[str, Column], Ints, Ints]:
    """The combinations of all columns by which people are put into classes."""
    names = list(dict.fromkeys([*made.quasi_identifiers, *earlier.quasi_identifiers]))
    by_value = {
        each.sensitive for each in (earlier, made) if each.l is not None and each.definition["method"] == "view"
    }
    others = [name for name in by_value if name is not None and name not in names]
    for name in names:
        if name not in table.types:
            raise UndefinedColumnError(
                f"{table.name} has no column {identifier(name)} any more, by which {earlier.release} was made",
                "What cannot be checked is not published. Was it never given away, forget_release().",
            )
    tabulation.source(plpy, table.name, ("quasi_identifiers", [*names, *others]))
    cuts: dict[str, list[str]] = {}
    for each in (earlier, made):
        for name, texts in each.cuts().items():
            cuts[name] = sorted({*cuts.get(name, []), *texts})
    extra = {place: (table.types[name], cuts[name]) for place, name in enumerate(names) if name in cuts}
    rows = tabulation.coded(plpy, table, [*names, *others], True, extra)
    coded = [with_null(codes, values) for codes, values in zip(rows.codes, rows.values, strict=True)]
    columns = {
        name: Column(
            coded[place][0], Values(name, table.types[name], rows.texts[place], coded[place][1] > rows.values[place])
        )
        for place, name in enumerate(names)
    }
    return columns, coded[len(names)][0] if others else 0 * rows.count, rows.count


def create_view(
    plpy: Plpy, target: str, table: Source, keys: list[str], k: int, sensitive: str | None, l_wanted: int | None,
    keep: Sequence[str],
) -> None:  # fmt: skip
    """Window functions count each class whenever somebody reads: what the view shows is right as the data changes."""
    named = [*keys, *([sensitive] if sensitive else []), *keep]
    inner = ", ".join(f"{identifier(name)} AS c{place}" for place, name in enumerate(named))
    part = "PARTITION BY " + ", ".join(f"c{place}" for place in range(len(keys)))
    rows = f"SELECT {inner} FROM {table.name}"
    if l_wanted is not None:
        rows = f"SELECT *, dense_rank() OVER ({part} ORDER BY c{len(keys)}) AS rank FROM ({rows}) AS r"
    values = f", max(rank) OVER ({part}) AS variety" if l_wanted is not None else ""
    counted = f"SELECT *, count(*) OVER ({part}) AS size{values} FROM ({rows}) AS v"
    shown_columns = ", ".join(f"c{place} AS {identifier(name)}" for place, name in enumerate(named))
    enough = f"size >= {k}" + ("" if l_wanted is None else f" AND variety >= {l_wanted}")
    plpy.execute(
        f"CREATE VIEW {target} WITH (security_barrier) AS SELECT {shown_columns} FROM ({counted}) AS t WHERE {enough}"
    )
    made = Published(target, keys, k, l_wanted, sensitive, {"method": "view"}, [], np.zeros(0, dtype=np.int64))
    check(plpy, table, made)
    sizes = tabulation.class_sizes(plpy, replace(table, name=target), keys)
    published = sum(size * number for size, number in sizes)
    before = tabulation.class_sizes(plpy, table, keys)
    total = sum(size * number for size, number in before)
    report = {"published": published, "suppressed": total - published, "rows": total}
    remember(plpy, "view", table, made, None, report)
    if run(plpy, "SELECT FROM discreet.protected_tables WHERE relation = :oid::oid", oid=table.oid):
        plpy.notice(
            f"{table.name} is protected: analysts read {target} through the gate",
            hint=f"SELECT discreet.exempt_view('{target}') lets those who may read the view see its rows.",
        )
