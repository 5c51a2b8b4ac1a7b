"""Checks a release against what was published of the same table before, and remembers it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.core.errors import InvalidParameterError, UndefinedColumnError, UnsafeReleaseError
from discreet.core.quoting import identifier
from discreet.release.classes import Ints, People, with_null
from discreet.release.differencing import Isolated, isolated
from discreet.release.hierarchy import INTEGERS, Values
from discreet.release.memory import Column, Published, classes, shown
from discreet.server import release_tabulation
from discreet.server.plpy import Plpy, run
from discreet.server.release_tabulation import Readable

NAMED = 3
WORDS = {"text", "character varying", "name"}


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
    plpy: Plpy, kind: str, table: Readable, made: Published, t: float | None, report: Mapping[str, object]
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
    plpy.execute(plan, [release_tabulation.written(published), made.labels, sizes])


def check(plpy: Plpy, table: Readable, made: Published) -> None:
    """Refuses a release from which an earlier one can be subtracted, so that fewer than k people are left."""
    for earlier in remembered(plpy, table.name):
        _require_comparable(plpy, table, earlier)
        rows = _rows(plpy, table, earlier, made)
        try:
            old, before = rows.classes(earlier)
        except InvalidParameterError as error:
            raise _incomparable(table, earlier, error.message) from None
        new, now = rows.classes(made)
        k = min(earlier.k, made.k)
        people = rows.people_of(made.unit or earlier.unit)
        found = isolated(old, new, rows.count, before.sizes, now.sizes, k, people)
        if found:
            listed = "; ".join(_told(each, before, now, people is not None) for each in found[:NAMED])
            more = f"; and {len(found) - NAMED} more" if len(found) > NAMED else ""
            raise UnsafeReleaseError(
                f"together with release {earlier.release} fewer than {k} people can be told apart: {listed}{more}",
                "Publish with the same levels, or fewer columns. If the other was never given away: forget_release().",
            )


def circumstances(table: Readable, keys: Sequence[str], unit: str | None) -> dict[str, object]:
    """What belongs to the definition of every release: by which types values are what they are, and who is a person."""
    return {"types": {name: table.types[name] for name in keys}} | ({} if unit is None else {"unit": unit})


def _require_comparable(plpy: Plpy, table: Readable, earlier: Published) -> None:
    """Raises unless the columns of an earlier release are there, and what it knows of them can be read as values.

    A value that no row has any more is one still: its class is empty, and nothing stands in the way of comparing it.
    """
    for name in earlier.quasi_identifiers:
        if name not in table.types:
            raise _lacks(table, name, earlier)
        then, now = earlier.definition.get("types", {}).get(name, "unknown"), table.types[name]
        if _alike(then) != _alike(now):
            raise _incomparable(table, earlier, f"column {identifier(name)} was of type {then}, and is of type {now}")
    for name, texts in earlier.looks.items():
        wrong = release_tabulation.misread(plpy, table.types[name], texts)
        if wrong is not None:
            raise _incomparable(table, earlier, f"column {identifier(name)}: {wrong}")


def _alike(type_name: str) -> str:
    """Types between which a column can change without a change of what is made from its values."""
    return "integer" if type_name in INTEGERS else "text" if type_name in WORDS else type_name


def _lacks(table: Readable, name: str, earlier: Published) -> UndefinedColumnError:
    return UndefinedColumnError(
        f"{table.name} has no column {identifier(name)} any more, by which {earlier.release} was made",
        "What cannot be checked is not published. Was it never given away, forget_release().",
    )


def _incomparable(table: Readable, earlier: Published, why: str) -> UnsafeReleaseError:
    return UnsafeReleaseError(
        f"{table.name} cannot be compared with release {earlier.release}: {why}",
        "What cannot be checked is not published. Was it never given away, forget_release().",
    )


def _told(each: Isolated, before: Published, now: Published, people: bool) -> str:
    one, many = ("person", "people") if people and each.inside == "both" else ("row", "rows")
    rows = f"{each.rows} {one if each.rows == 1 else many}"
    if each.inside == "old":
        return f"{shown(before, each.old)} of {before.release} less what is inside it leaves {rows}"
    if each.inside == "new":
        return f"{shown(now, each.new)} of {now.release} less what is inside it leaves {rows}"
    old = "left out" if each.old < 0 else shown(before, each.old)
    new = "left out" if each.new < 0 else shown(now, each.new)
    return f"{rows} {old} in {before.release} and {new} in {now.release}"


@dataclass(frozen=True)
class Rows:
    """Combinations of all columns by which people are put into classes; and of units, where releases name them."""

    table: Readable
    columns: dict[str, Column]
    code_of: Mapping[str, Mapping[str, int]]
    sensitive: Ints
    count: Ints
    persons: Mapping[str, Ints]

    def classes(self, published: Published) -> tuple[Ints, Published]:
        """The class of each combination in a release, by values that look as they did when it was made."""
        columns = dict(self.columns)
        for name, texts in published.looks.items():
            looks = {self.code_of[name][text]: text for text in texts}
            if len(looks) < len(texts):
                raise _incomparable(self.table, published, f"different values of {identifier(name)} are equal by now")
            columns[name] = columns[name].seen(looks)
        return classes(published, columns, self.sensitive, self.count, self.people_of(published.unit))

    def people_of(self, unit: str | None) -> People | None:
        if unit is None:
            return None
        return People.of(len(self.count), np.arange(len(self.count)), self.persons[unit])


def _rows(plpy: Plpy, table: Readable, earlier: Published, made: Published) -> Rows:
    names = list(dict.fromkeys([*made.quasi_identifiers, *earlier.quasi_identifiers]))
    by_value = {
        each.sensitive for each in (earlier, made) if each.l is not None and each.definition["method"] == "view"
    }
    others = [name for name in by_value if name is not None and name not in names]
    units = list(dict.fromkeys(each.unit for each in (earlier, made) if each.unit is not None))
    # a unit may be a column of the other release
    more = [name for name in units if name not in [*names, *others]]
    for name in [*names, *others, *more]:
        if name not in table.types:
            raise _lacks(table, name, earlier)
    release_tabulation.source(plpy, table.name, ("quasi_identifiers", [*names, *others, *more]))
    looks: dict[str, list[str]] = {name: [] for name in names}
    for each in (earlier, made):
        for name, texts in each.looks.items():
            looks[name] = list(dict.fromkeys([*looks[name], *texts]))
    extra = {place: (table.types[name], looks[name]) for place, name in enumerate(names) if looks[name]}
    used = [*names, *others, *more]
    rows = release_tabulation.coded(plpy, table, used, True, extra)
    coded = [with_null(codes, values) for codes, values in zip(rows.codes, rows.values, strict=True)]
    columns = {
        name: Column(
            coded[place][0], Values(name, table.types[name], rows.texts[place], coded[place][1] > rows.values[place])
        )
        for place, name in enumerate(names)
    }
    code_of = {name: dict(zip(looks[name], rows.more.get(place, ()), strict=True)) for place, name in enumerate(names)}
    persons = {name: rows.codes[used.index(name)] for name in units}
    return Rows(table, columns, code_of, coded[len(names)][0] if others else 0 * rows.count, rows.count, persons)


def create_view(
    plpy: Plpy, target: str, table: Readable, keys: list[str], k: int, sensitive: str | None, l_wanted: int | None,
    keep: Sequence[str], unit: str | None,
) -> None:  # fmt: skip
    """Window functions count each class at each reading: what the view shows is right as the data changes."""
    named = [*keys, *([sensitive] if sensitive else []), *keep]
    inner = ", ".join(f"{identifier(name)} AS c{place}" for place, name in enumerate(named))
    part = "PARTITION BY " + ", ".join(f"c{place}" for place in range(len(keys)))
    value = f"c{len(keys)}"
    ranks, counts, conditions = [], [], []
    if unit is None:
        rows = f"SELECT {inner} FROM {table.name}"
        counts.append(f"count(*) OVER ({part}) AS size")
    else:
        # a row without a person could belong to any person
        rows = f"SELECT {inner}, {identifier(unit)} AS u FROM {table.name} WHERE {identifier(unit)} IS NOT NULL"
        ranks.append(f"dense_rank() OVER ({part} ORDER BY u) AS person")
        counts.append(f"max(person) OVER ({part}) AS size")
    conditions.append(f"size >= {k}")
    if l_wanted is not None:
        ranks.append(f"dense_rank() OVER ({part} ORDER BY {value}) AS rank")
        counts.append(f"max(rank) OVER ({part}) AS variety")
        conditions.append(f"variety >= {l_wanted}")
        if unit is not None:
            ranks.append(f"dense_rank() OVER ({part}, {value} ORDER BY u) AS holder")
            counts.append(f"max(holder) OVER ({part}) AS holders")
            conditions.append("holders < size")
    # values that are equal may look different: a class shows those of one row
    seen = {f"c{place}": f"l{place}" for place, name in enumerate(named) if name in keys and name in table.many_looks}
    counts += [f"first_value({value}) OVER ({part}) AS {look}" for value, look in seen.items()]
    ranked = f"SELECT {', '.join(['*', *ranks])} FROM ({rows}) AS r"
    counted = f"SELECT {', '.join(['*', *counts])} FROM ({ranked}) AS v"
    shown_columns = ", ".join(
        f"{seen.get(f'c{place}', f'c{place}')} AS {identifier(name)}" for place, name in enumerate(named)
    )
    plpy.execute(
        f"CREATE VIEW {target} WITH (security_barrier) AS"
        f" SELECT {shown_columns} FROM ({counted}) AS t WHERE {' AND '.join(conditions)}"
    )
    definition = {"method": "view"} | circumstances(table, keys, unit)
    made = Published(target, keys, k, l_wanted, sensitive, definition, [], np.zeros(0, dtype=np.int64))
    check(plpy, table, made)
    published = release_tabulation.class_sizes(plpy, replace(table, name=target), keys).rows
    total = release_tabulation.class_sizes(plpy, table, keys).rows
    report = {"published": published, "suppressed": total - published, "rows": total, "unit": unit}
    remember(plpy, "view", table, made, None, report)
    if run(plpy, "SELECT FROM discreet.protected_tables WHERE relation = :oid::oid", oid=table.oid):
        plpy.notice(
            f"{table.name} is protected: analysts read {target} through the gate",
            hint=f"SELECT discreet.exempt_view('{target}') lets those who may read the view see its rows.",
        )
