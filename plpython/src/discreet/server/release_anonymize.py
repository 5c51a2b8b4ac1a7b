"""Writes an anonymous copy of a table: counts, searches, writes, measures what was written, and remembers it.

All in the caller's transaction and with the caller's rights: whatever fails leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.declarations import given, given_name
from discreet.core.errors import DuplicateObjectError, InvalidParameterError, UndefinedObjectError, UnsafeReleaseError
from discreet.core.quoting import identifier
from discreet.release import closeness, diversity, risk
from discreet.release.classes import Ints, People, numbered, summed, with_null
from discreet.release.hierarchy import USAGE, Hierarchy, Values
from discreet.release.memory import Published, label
from discreet.release.problem import Claim, Table
from discreet.release.recoding import Recoding, recode
from discreet.server import release_guard, release_tabulation
from discreet.server.plpy import Plpy, run
from discreet.server.release_publish import Progress
from discreet.server.release_tabulation import Readable

CELL, CLASS = "pg_temp._discreet_cell", "pg_temp._discreet_class"
# what is written, with whose each row is
WHOSE, PERSON, PLACE = "pg_temp._discreet_whose", "_discreet_person", "_discreet_place"
# the planner takes the comparisons that follow equal hashes for filters, and would loop; ends with the function
HASHED = "SELECT set_config('enable_nestloop', 'off', true)"
NAME = """
    SELECT quote_ident(coalesce(part[array_length(part, 1) - 1], n.nspname)) || '.'
           || quote_ident(part[array_length(part, 1)]) AS name, array_length(part, 1) <= 2 AS short,
           part[array_length(part, 1) - 1] IS NULL OR to_regnamespace(quote_ident(part[1])) IS NOT NULL AS there
    FROM (SELECT parse_ident(:name::text) AS part) AS p, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = :oid::oid
"""


def target_name(plpy: Plpy, argument: str, name: str | None, beside: Readable) -> str:
    """The quoted name of a relation to be made; without a schema it goes where the original is."""
    found = run(plpy, NAME, name=given_name(argument, name), oid=beside.oid)[0]
    if not found["short"]:
        raise InvalidParameterError(f"{argument} is {name}, which is no name", "Give schema.name, or a name.")
    if not found["there"]:
        raise UndefinedObjectError(f"there is no schema for {found['name']}", "Make it first, with CREATE SCHEMA.")
    if run(plpy, "SELECT WHERE to_regclass(:name::text) IS NOT NULL", name=found["name"]):
        raise DuplicateObjectError(f"{found['name']} is there already", "Choose another name, or drop it first.")
    return str(found["name"])


@dataclass(frozen=True)
class Measured:
    """What the functions of measuring say about the written table."""

    sizes: list[tuple[int, int]]
    rows: int
    l: int | None  # noqa: E741
    t: Fraction | None

    @property
    def k(self) -> int:
        return self.sizes[0][0]


def measured(
    plpy: Plpy, table: Readable, keys: list[str], sensitive: str | None, distance: str, unit: str | None
) -> Measured:
    table = release_tabulation.as_seen(table, keys)
    sizes = release_tabulation.class_sizes(plpy, table, keys, unit)
    found = None if sensitive is None else release_tabulation.tabulate(plpy, table, keys, [sensitive], "own", unit=unit)
    if found is None:
        return Measured(sizes.classes, sizes.rows, None, None)
    composition = found.compositions[0]
    distances = (closeness.equal if distance == "equal" else closeness.ordered)(composition)
    return Measured(sizes.classes, sizes.rows, diversity.distinct(composition), distances.largest())


def require(claim: Claim, reached: Measured) -> None:
    """Raises unless the claim holds: the release then goes with the transaction, or the savepoint."""
    missed = []
    if not reached.sizes or reached.k < claim.k:
        missed.append(f"k = {claim.k}")
    if claim.l is not None and (reached.l is None or reached.l < claim.l):
        missed.append(f"l = {claim.l}")
    if claim.t is not None and (reached.t is None or reached.t > claim.t):
        missed.append(f"t = {float(claim.t):g}")
    if missed:
        raise UnsafeReleaseError(
            f"the release misses {', '.join(missed)}",
            "Nothing was written. If the table was changed meanwhile, try again.",
        )


@dataclass(frozen=True)
class Wish:
    """What is to be published of which relation."""

    table: Readable
    target: str
    hierarchies: Mapping[str, object]
    sensitive: str | None
    keep: list[str]
    unit: str | None

    @property
    def keys(self) -> list[str]:
        """In the order of the table."""
        return [name for name in self.table.types if name in self.hierarchies]


def wish(
    plpy: Plpy,
    relation: str | None,
    release: str | None,
    quasi_identifiers: object,
    sensitive: str | None,
    keep: Sequence[str | None] | None,
    unit: str | None,
) -> Wish:
    given("quasi_identifiers", quasi_identifiers)
    if not isinstance(quasi_identifiers, dict) or not quasi_identifiers:
        raise InvalidParameterError("quasi_identifiers is an object: a hierarchy for each column", USAGE)
    values = [] if sensitive is None else [sensitive]
    kept = release_tabulation.each_name("keep", keep)
    table = release_tabulation.source(
        plpy, relation, ("quasi_identifiers", list(quasi_identifiers)), ("sensitive", values), ("keep", kept),
        ("unit", [] if unit is None or unit in kept else [unit]),
    )  # fmt: skip
    if unit is not None:
        release_tabulation.require_people(plpy, table, unit)
    return Wish(table, target_name(plpy, "release", release, table), quasi_identifiers, sensitive, kept, unit)


def anonymize(plpy: Plpy, wanted: Wish, claim: Claim, method: str | None) -> dict[str, object]:
    tick = Progress(plpy)
    # a sensitive column without a claim is published, but does not matter to the search
    searched = wanted.sensitive is not None and (claim.l is not None or claim.t is not None)
    columns = [*wanted.keys, *([wanted.sensitive] if searched and wanted.sensitive else [])]
    plpy.execute(release_tabulation.MEMORY)
    _count(plpy, wanted.table, columns)
    rows = release_tabulation.fetched(plpy, "", CELL, len(columns), True, "id")
    if not len(rows.count):
        raise InvalidParameterError(f"{wanted.table.name} is empty", "There are no rows to publish.")
    coded = [with_null(codes, values) for codes, values in zip(rows.codes, rows.values, strict=True)]
    hierarchies = [
        Hierarchy.of(
            Values(name, wanted.table.types[name], rows.texts[place], coded[place][1] > rows.values[place]),
            wanted.hierarchies[name],
        )
        for place, name in enumerate(wanted.keys)
    ]
    sensitive, values = coded[-1] if searched else (0 * rows.count, 1)
    people = None if wanted.unit is None else _people(plpy, wanted.table, columns, wanted.unit, rows.id)
    table = Table([codes for codes, _ in coded[: len(wanted.keys)]], sensitive, values, rows.count, people)
    number, classes = numbered(table.codes)
    before = summed(number, table.count, classes) if people is None else people.within(number, classes)
    made = recode(method, claim, table, hierarchies, tick)
    tick(f"writing {made.classes} classes to {wanted.target}")
    labels = [label(list(texts)) for texts in zip(*made.texts, strict=True)]
    _write(plpy, wanted, columns, made, labels, rows)
    tick(f"measuring {wanted.target}")
    reached = _measured_again(plpy, wanted, claim)
    require(claim, reached)
    tick("comparing with earlier releases")
    published = _published(wanted, claim, made, labels, table)
    release_guard.check(plpy, wanted.table, published)
    report = _report(wanted, claim, method, table, made, reached, before)
    release_guard.remember(plpy, "table", wanted.table, published, None if claim.t is None else float(claim.t), report)
    plpy.execute(f"DROP TABLE {CELL}, {CLASS}{'' if wanted.unit is None else ', ' + WHOSE}")
    return report


def _published(wanted: Wish, claim: Claim, made: Recoding, labels: list[str], table: Table) -> Published:
    kept = made.class_of >= 0
    sizes = summed(made.class_of[kept], table.count[kept], made.classes)
    definition = {**made.definition, **release_guard.circumstances(wanted.table, wanted.keys, wanted.unit)}
    return Published(wanted.target, wanted.keys, claim.k, claim.l, wanted.sensitive, definition, labels, sizes)


def _people(plpy: Plpy, table: Readable, columns: Sequence[str], unit: str, cell_ids: Ints) -> People:
    """Who is in which combination."""
    shown = ", ".join(f"{identifier(name)} AS c{place}" for place, name in enumerate(columns))
    listed = ", ".join(f"c{place}" for place in range(len(columns)))
    same = " AND ".join(f"p.c{place} IS NOT DISTINCT FROM c.c{place}" for place in range(len(columns)))
    people = release_tabulation.limited(
        f"SELECT {listed}, hash_record_extended(ROW({listed}), 0) AS key, dense_rank() OVER (ORDER BY u) - 1 AS person"
        f" FROM (SELECT {shown}, {identifier(unit)} AS u FROM {table.name}) AS t GROUP BY {listed}, u",
        len(columns) + 1,
    )
    plpy.execute(HASHED)
    found = plpy.execute(
        "SELECT string_agg(int8send(c.id), '') AS cell, string_agg(int8send(p.person), '') AS person"
        f" FROM ({people}) AS p JOIN {CELL} AS c ON c.key = p.key AND {same}"
    )[0]
    place = np.zeros(len(cell_ids), dtype=np.int64)
    place[cell_ids - 1] = np.arange(len(cell_ids))
    cell, person = (np.frombuffer(found[name] or b"", dtype=">i8").astype(np.int64) for name in ("cell", "person"))
    release_tabulation.require_few(len(cell), len(columns) + 1)
    return People.of(len(cell_ids), place[cell - 1], person)


def _measured_again(plpy: Plpy, wanted: Wish, claim: Claim) -> Measured:
    """The written table by the functions of measuring; people by a copy that knows whose each row is."""
    written = release_tabulation.source(plpy, wanted.target)
    if wanted.unit is None:
        return measured(plpy, written, wanted.keys, wanted.sensitive, claim.distance, None)
    whose = release_tabulation.source(plpy, WHOSE)
    compared = ", ".join(identifier(name) for name in [*wanted.keys, *([wanted.sensitive] if wanted.sensitive else [])])
    one, other = (f"SELECT {compared}, count(*) FROM {each.name} GROUP BY {compared}" for each in (written, whose))
    if plpy.execute(f"({one} EXCEPT {other}) UNION ALL ({other} EXCEPT {one}) LIMIT 1"):
        raise UnsafeReleaseError("what was written is not what was measured", "Nothing was written. Try again.")
    return measured(plpy, whose, wanted.keys, wanted.sensitive, claim.distance, PERSON)


def _count(plpy: Plpy, table: Readable, columns: Sequence[str]) -> None:
    cells = release_tabulation.counted(table, columns, len(columns), "own")
    cells = release_tabulation.limited(cells, len(columns))
    listed = ", ".join(f"c{place}" for place in range(len(columns)))
    plpy.execute(
        f"CREATE TEMPORARY TABLE _discreet_cell ON COMMIT DROP AS"
        f" SELECT row_number() OVER () AS id, hash_record_extended(ROW({listed}), 0) AS key, t.* FROM ({cells}) AS t"
    )
    plpy.execute(f"ANALYZE {CELL} (id, key)")


def _write(
    plpy: Plpy,
    wanted: Wish,
    columns: Sequence[str],
    made: Recoding,
    class_labels: list[str],
    rows: release_tabulation.Coded,
) -> None:
    """One statement writes the rows of each combination with the labels of its class.

    Where all that is published of a row is in its combination, the number of its rows says how often to write it; else
    rows are joined with their combinations. Equal hashes are compared value by value. What is joined with rows is one
    subquery, since the planner takes these comparisons for filters that leave a single row.

    Rows are ordered by what is published of them, so that their order tells nothing: by their class's place in the
    order of labels, then by the other columns.
    """
    by_id = np.empty(len(rows.id), dtype=np.int64)
    by_id[rows.id - 1] = made.class_of
    recoded = [(place, labels) for place, labels in enumerate(made.labels) if labels is not None]
    shown = "".join(f", l{place} text" for place, _ in recoded)
    plpy.execute(f"CREATE TEMPORARY TABLE _discreet_class (class int4, place int4 {shown}) ON COMMIT DROP")
    arrays = ", ".join(["$1::int4[]", "$2::int4[]", *(f"${number + 3}" for number in range(len(recoded)))])
    types = ["text", "text", *["text[]"] * len(recoded)]
    plan = plpy.prepare(f"INSERT INTO {CLASS} SELECT * FROM unnest({arrays})", types)
    place_of = {text: place for place, text in enumerate(sorted(set(class_labels)))}
    numbers, places = (
        "{" + ",".join(map(str, each)) + "}"
        for each in (range(made.classes), (place_of[text] for text in class_labels))
    )
    plpy.execute(plan, [numbers, places, *(labels for _, labels in recoded)])
    plpy.execute(f"ANALYZE {CLASS}")
    values = [*([wanted.sensitive] if wanted.sensitive else []), *wanted.keep]
    cell = {name: f"c{place}" for place, name in enumerate(columns)}
    # of equal values that look different, a combination has one
    counted = wanted.unit is None and cell.keys() >= set(values) and not wanted.table.many_looks & set(values)
    labelled = {place for place, _ in recoded}
    source = {name: f"k.{cell[name]}" if counted else f"r.{identifier(name)}" for name in [*wanted.keys, *values]}
    published = [
        f"{f'k.l{place}' if place in labelled else _one_look(wanted.table, name, source[name])} AS {identifier(name)}"
        for place, name in enumerate(wanted.keys)
    ] + [f"{source[name]} AS {identifier(name)}" for name in values]
    classes = (
        f"SELECT c.*, k.class, k.place{''.join(f', k.l{place}' for place, _ in recoded)}"
        f" FROM {CELL} AS c JOIN {CLASS} AS k ON k.class = ($1::int4[])[c.id]"
    )
    if counted:
        joined = f" FROM ({classes}) AS k, LATERAL generate_series(1, k.n)"
    else:
        record = ", ".join(f"r.{identifier(name)}" for name in columns)
        same = " AND ".join(f"r.{identifier(name)} IS NOT DISTINCT FROM k.{place}" for name, place in cell.items())
        joined = (
            f" FROM {wanted.table.name} AS r"
            f" JOIN ({classes} OFFSET 0) AS k ON hash_record_extended(ROW({record}), 0) = k.key AND {same}"
        )
    order = "".join(f", {place + 1}" for place in range(len(wanted.keys), len(published)))
    plpy.execute(HASHED)
    if wanted.unit is None:
        made_of = f"CREATE TABLE {wanted.target} AS SELECT {', '.join(published)}{joined} ORDER BY k.place{order}"
        plpy.execute(plpy.prepare(made_of, ["int4[]"]), [by_id.tolist()])
    else:
        made_of = (
            "CREATE TEMPORARY TABLE _discreet_whose ON COMMIT DROP AS"
            f" SELECT {', '.join(published)}, r.{identifier(wanted.unit)} AS {PERSON}, k.place AS {PLACE}{joined}"
        )
        plpy.execute(plpy.prepare(made_of, ["int4[]"]), [by_id.tolist()])
        shown = ", ".join(identifier(name) for name in [*wanted.keys, *values])
        plpy.execute(f"CREATE TABLE {wanted.target} AS SELECT {shown} FROM {WHOSE} ORDER BY {PLACE}{order}")
    plpy.execute(f"ANALYZE {wanted.target}")


def _one_look(table: Readable, name: str, value: str) -> str:
    """The value; where equal ones may look different, that of one row for all of its class."""
    return f"first_value({value}) OVER (PARTITION BY k.class)" if name in table.many_looks else value


def _report(
    wanted: Wish,
    claim: Claim,
    method: str | None,
    table: Table,
    made: Recoding,
    reached: Measured,
    before: Ints,
) -> dict[str, object]:
    published = reached.rows
    counted = "rows" if wanted.unit is None else "people"
    after = np.repeat([size for size, _ in reached.sizes], [classes for _, classes in reached.sizes])
    sizes, times = np.unique(before, return_counts=True)
    return {
        "release": wanted.target,
        "relation": wanted.table.name,
        "method": method,
        "unit": wanted.unit,
        "rows": table.rows,
        "published": published,
        "suppressed": table.rows - published,
        "classes": made.classes,
        "k": reached.k,
        "l": reached.l,
        "t": None if reached.t is None else float(reached.t),
        "claim": {"k": claim.k, "l": claim.l, "t": None if claim.t is None else float(claim.t)},
        "loss": sum(made.losses) / len(made.losses),
        "columns": [
            {"column": name, "level": level, "loss": loss}
            for name, level, loss in zip(wanted.keys, made.levels, made.losses, strict=True)
        ],
        "sizes_before": [[int(size), int(number)] for size, number in zip(sizes, times, strict=True)],
        "sizes": [list(pair) for pair in reached.sizes],
        "risk_before": dict(risk.measures(before, None, counted)),
        "risk": dict(risk.measures(after, None, counted)),
        "why": made.why,
    }
