"""Counts rows of a relation by columns, in one native statement, and brings the result over as arrays of numbers.

Everything is read with the caller's own rights. Values cross as codes, packed into bytes: a row of a PL/Python result
costs as much as a hundred of these.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType

import numpy as np

from discreet.core.declarations import given, one_of
from discreet.core.errors import (
    InsufficientPrivilegeError,
    InvalidParameterError,
    LimitExceededError,
    UndefinedColumnError,
    UndefinedObjectError,
    WrongObjectTypeError,
)
from discreet.core.quoting import element, identifier, literal
from discreet.core.syntax import Json
from discreet.release.classes import Composition, Ints, with_null
from discreet.release.hierarchy import plain
from discreet.release.measures import NULLS, wildcard_composition
from discreet.server.plpy import Plpy, run
from discreet.server.release_publish import refuse_sealed

RELATION = """
    SELECT c.oid, quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name,
           c.relkind IN ('r', 'p', 'v', 'm', 'f') AS tabular, has_schema_privilege(n.oid, 'USAGE') AS reachable
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = to_regclass(:name::text)
"""
# equal numbers may be written differently, as 1.0 and 1.00, and so may words of some collations: `many_looks`
COLUMNS = """
    WITH RECURSIVE base(name, place, type, readable, modifier, sorting) AS (
        SELECT attname, attnum, atttypid, has_column_privilege(attrelid, attnum, 'SELECT'), atttypmod, attcollation
        FROM pg_attribute WHERE attrelid = :oid::oid AND attnum > 0 AND NOT attisdropped
        UNION ALL
        SELECT b.name, b.place, t.typbasetype, b.readable, t.typtypmod, b.sorting
        FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd')
    SELECT b.name, b.readable, format_type(t.oid, -1) AS type,
           NOT (t.typtype = 'e'
                OR t.oid = ANY ('{bool,int2,int4,int8,oid,date,time,timestamp,timestamptz,uuid,bytea}'::regtype[])
                OR t.oid = ANY ('{text,varchar,name}'::regtype[]) AND c.collisdeterministic
                OR t.oid = ANY ('{numeric,bpchar}'::regtype[]) AND b.modifier >= 0
                   AND coalesce(c.collisdeterministic, true)) AS many_looks
    FROM base b JOIN pg_type t ON t.oid = b.type LEFT JOIN pg_collation c ON c.oid = b.sorting
    WHERE t.typtype <> 'd' ORDER BY b.place
"""

# grouping in memory is several times faster than on disk; the least that a measurement takes itself.
# Statements run once, so compiling them does not pay
MEMORY = """
    SELECT set_config('jit', 'off', true),
           CASE WHEN pg_size_bytes(current_setting('work_mem')) < pg_size_bytes('128MB')
                THEN set_config('work_mem', '128MB', true) END
"""
# a cell is packed as code * 2^40 + rows
ROWS_BITS = 40
# combinations of values times columns: several arrays of these are in memory at a time
MOST_CODES = 20_000_000


@dataclass(frozen=True)
class Readable:
    """A relation that the caller may read, and the types of its columns.

    `many_looks` are those whose equal values may look different; `as_texts` those that are told apart by their looks.
    """

    name: str
    oid: int
    types: dict[str, str]
    many_looks: frozenset[str]
    as_texts: frozenset[str] = frozenset()


def source(plpy: Plpy, relation: str | None, *groups: tuple[str, Sequence[str]]) -> Readable:
    """The relation, after a check that it has the columns of these arguments and that the caller may read them."""
    rows = run(plpy, RELATION, name=given("relation", relation))
    if not rows:
        raise UndefinedObjectError(f"there is no relation {relation}", "Name a table or a view.")
    found = rows[0]
    if not found["tabular"]:
        raise WrongObjectTypeError(f"{found['name']} has no rows", "Name a table or a view.")
    columns = {row["name"]: row for row in run(plpy, COLUMNS, oid=found["oid"])}
    used: list[str] = []
    for argument, names in groups:
        for name in names:
            if name not in columns:
                raise UndefinedColumnError(
                    f"{found['name']} has no column {identifier(name)}",
                    f"Its columns are {', '.join(map(identifier, columns))}.",
                )
            if name in used:
                raise InvalidParameterError(f"column {identifier(name)} is named twice", f"Name it once in {argument}.")
            used.append(name)
    denied = [name for name in used if not columns[name]["readable"]]
    if denied or not found["reachable"]:
        raise InsufficientPrivilegeError(
            f"permission denied for {found['name']}", "Releases are made with your own rights: you need SELECT on it."
        )
    refuse_sealed(plpy, found["oid"], found["name"])
    types = {name: row["type"] for name, row in columns.items()}
    many_looks = frozenset(name for name, row in columns.items() if row["many_looks"])
    return Readable(found["name"], int(found["oid"]), types, many_looks)


def as_seen(table: Readable, keys: Sequence[str]) -> Readable:
    """The relation in the eyes of a reader, to whom values that look different are not the same."""
    return replace(table, as_texts=table.many_looks & set(keys))


def named(argument: str, names: Sequence[str | None] | None) -> list[str]:
    """Names of columns, at least one."""
    listed = each_name(argument, given(argument, names))
    if not listed:
        raise InvalidParameterError(f"{argument} is empty", "Name at least one column.")
    return listed


def each_name(argument: str, names: Sequence[str | None] | None) -> list[str]:
    """Names of columns, perhaps none. Of an SQL array with several dimensions PL/Python makes lists in a list."""
    if any(isinstance(name, list) for name in names or []):
        raise InvalidParameterError(f"{argument} is a list of lists", "Give one plain list, such as '{a,b}'.")
    return [given(argument, name) for name in names or []]


def counted(table: Readable, columns: Sequence[str], keys: int, nulls: str) -> str:
    """Counts by columns, as c0, c1 … and n. A row with a conservative NULL in the first `keys` stands alone."""
    listed = ", ".join(_groups(columns, nulls))
    return f"SELECT {listed}, count(*) AS n FROM ({_shown(table, columns, keys, nulls)}) AS t GROUP BY {listed}"


def most_cells(columns: int) -> int:
    """So many combinations of this many columns are brought over, and no more."""
    return MOST_CODES // max(columns, 1)


def limited(cells: str, columns: int) -> str:
    """The statement with one combination more, at most, than are brought over: `require_few` sees it."""
    return f"{cells} LIMIT {most_cells(columns) + 1}"


def require_few(cells: int, columns: int) -> None:
    if cells > most_cells(columns):
        raise LimitExceededError(
            f"there are more than {most_cells(columns)} different combinations of values in {columns} columns",
            "Round the values first, or name fewer columns.",
        )


def _shown(table: Readable, columns: Sequence[str], keys: int, nulls: str, unit: str | None = None) -> str:
    looks = dict.fromkeys(table.as_texts, '::text COLLATE "C"')
    shown = [f"{identifier(name)}{looks.get(name, '')} AS c{place}" for place, name in enumerate(columns)]
    if nulls == "conservative":
        missing = " OR ".join(f"{identifier(name)} IS NULL" for name in columns[:keys])
        shown.append(f"CASE WHEN {missing} THEN row_number() OVER () ELSE 0 END AS alone")
    if unit is not None:
        shown.append(f"{identifier(unit)} AS u")
    return f"SELECT {', '.join(shown)} FROM {table.name}"


def _groups(columns: Sequence[str], nulls: str) -> list[str]:
    return [f"c{place}" for place in range(len(columns))] + ["alone"] * (nulls == "conservative")


def counted_people(table: Readable, keys: Sequence[str], nulls: str, unit: str) -> str:
    """Counts rows (n) and different people (people) by columns, as c0, c1 …: first rows by person, then persons."""
    listed = ", ".join(_groups(keys, nulls))
    return (
        f"SELECT {listed}, sum(n)::int8 AS n, count(*) AS people"
        f" FROM (SELECT {listed}, count(*) AS n FROM ({_shown(table, keys, len(keys), nulls, unit)}) AS t"
        f" GROUP BY {listed}, u) AS p GROUP BY {listed}"
    )


def require_people(plpy: Plpy, table: Readable, unit: str) -> None:
    """Every row has a person: a row without one could belong to a person who is counted already."""
    if plpy.execute(f"SELECT FROM {table.name} WHERE {identifier(unit)} IS NULL LIMIT 1"):
        raise InvalidParameterError(
            f"{table.name} has rows whose {identifier(unit)} is NULL", "Name a view that leaves them out."
        )


def _dictionary(place: int, cells: str = "cell", more: tuple[str, list[str]] | None = None) -> str:
    """The values of a column in their order, numbered from 1; 0 is for NULL. `more` adds some, by type and text."""
    added = "" if more is None else f" UNION SELECT unnest({_array(more[1])})::{more[0]}"
    return (
        f"value{place} AS MATERIALIZED (SELECT v, row_number() OVER (ORDER BY v) AS code"
        f" FROM (SELECT c{place} AS v FROM {cells} WHERE c{place} IS NOT NULL GROUP BY 1{added}) AS d)"
    )


def _codes(place: int, type_name: str, texts: list[str]) -> str:
    """The codes of texts that the dictionary was given, in their order."""
    return (
        f"(SELECT string_agg(int8send(d.code), '' ORDER BY t.number)"
        f" FROM unnest({_array(texts)}) WITH ORDINALITY AS t(text, number)"
        f" JOIN value{place} AS d ON d.v = t.text::{type_name})"
    )


def misread(plpy: Plpy, type_name: str, texts: list[str]) -> str | None:
    """What is wrong with texts that are no values of a type, if so."""
    try:
        plpy.execute(f"SELECT count(t.text::{type_name}) FROM unnest({_array(texts)}) AS t(text)")
    except plpy.SPIError as error:
        # data exceptions
        if not str(getattr(error, "sqlstate", "")).startswith("22"):
            raise
        return str(error)
    return None


def _array(texts: list[str]) -> str:
    """One literal: of a list of thousands PostgreSQL would make as many expressions."""
    return literal("{" + ",".join(map(element, texts)) + "}") + "::pg_catalog.text[]"


def smallest_class(
    plpy: Plpy, table: Readable, quasi_identifiers: list[str], nulls: str | None, unit: str | None
) -> int | None:
    """k, or None for an empty table."""
    semantics = one_of("nulls", nulls, NULLS)
    if unit is not None:
        require_people(plpy, table, unit)
    if semantics == "wildcard":
        rows = coded(plpy, table, [*quasi_identifiers, *([unit] if unit else [])])
        if not len(rows.count):
            return None
        keys, person = rows.split(len(quasi_identifiers), unit)
        return int(wildcard_composition(keys, 0 * rows.count, rows.count, 1, person).people.min())
    plpy.execute(MEMORY)
    cells = (
        counted(table, quasi_identifiers, len(quasi_identifiers), semantics)
        if unit is None
        else counted_people(table, quasi_identifiers, semantics, unit)
    )
    k = plpy.execute(f"SELECT min({'n' if unit is None else 'people'}) AS k FROM ({cells}) AS class")[0]["k"]
    return None if k is None else int(k)


@dataclass(frozen=True)
class Tabulated:
    """The classes, composed by each sensitive column; and the values of these in order, without NULL, when wanted."""

    compositions: list[Composition]
    texts: list[list[str]]


def tabulate(
    plpy: Plpy,
    table: Readable,
    quasi_identifiers: list[str],
    sensitive: list[str],
    nulls: str | None,
    texts: bool = False,
    unit: str | None = None,
) -> Tabulated | None:
    """Classes and what they are made of, or None for an empty table. The rows are read once.

    With a unit they are read once per sensitive column: people who share a value of one are not those of another.
    """
    semantics = one_of("nulls", nulls, NULLS)
    columns, keys = [*quasi_identifiers, *sensitive], len(quasi_identifiers)
    if unit is not None:
        require_people(plpy, table, unit)
    if semantics == "wildcard":
        return _tabulate_wildcard(coded(plpy, table, [*columns, *([unit] if unit else [])], texts), keys, unit)
    plpy.execute(MEMORY)
    if unit is not None:
        found = [_tabulate_people(plpy, table, quasi_identifiers, name, semantics, texts, unit) for name in sensitive]
        some = [each for each in found if each is not None]
        return Tabulated([each[0] for each in some], [each[1] for each in some]) if some else None
    counts = limited(counted(table, columns, keys, semantics), len(columns))
    cells = plpy.execute(_composing(counts, keys, len(columns), semantics, texts))[0]
    if cells["cells"] is None:
        return None
    per_class = np.frombuffer(cells["cells"], dtype=">i4").astype(np.int64)
    require_few(int(per_class.sum()), len(columns))
    class_of = np.repeat(np.arange(len(per_class), dtype=np.int64), per_class)
    compositions = []
    for place in range(keys, len(columns)):
        code, count, values = _cells(cells, place, per_class)
        compositions.append(Composition.of(class_of, len(per_class), code, count, values))
    return Tabulated(compositions, [cells.get(f"texts{place}") or [] for place in range(keys, len(columns))])


def _cells(found: Mapping[str, Json], place: int, per_class: Ints) -> tuple[Ints, Ints, int]:
    packed = unpacked(found[f"packed{place}"], per_class)
    code, values = with_null((packed >> ROWS_BITS) - 1, int(found[f"values{place}"]))
    return code, packed & ((1 << ROWS_BITS) - 1), values


def _tabulate_people(
    plpy: Plpy, table: Readable, quasi_identifiers: list[str], sensitive: str, nulls: str, texts: bool, unit: str
) -> tuple[Composition, list[str]] | None:
    """The classes by one column. Rows of a person are put together twice: by class and value, and by class alone."""
    keys = len(quasi_identifiers)
    classes = _groups(quasi_identifiers, nulls)
    value = f"c{keys}"
    rows = _shown(table, [*quasi_identifiers, sensitive], keys, nulls, unit)
    by = ", ".join(classes)
    cells = (
        f"SELECT {by}, {value}, whole, sum(n)::int8 AS n, count(*) AS people FROM (SELECT {by}, {value}, u,"
        f" grouping({value}) AS whole, count(*) AS n FROM ({rows}) AS t"
        f" GROUP BY GROUPING SETS (({by}, {value}, u), ({by}, u))) AS p GROUP BY {by}, {value}, whole"
    )
    sent = ", ".join(
        f"array_agg({what}) FILTER (WHERE whole = 0) AS {name}"
        for name, what in ((f"p{keys}", f"coalesce(value{keys}.code, 0) << {ROWS_BITS} | n"), ("holders", "people"))
    )
    shown = f", (SELECT array_agg(v::text ORDER BY code) FROM value{keys}) AS texts" if texts else ""
    found = plpy.execute(
        f"WITH cell AS MATERIALIZED ({limited(cells, keys + 2)}), {_dictionary(keys)}"
        f" SELECT string_agg(int4send(cells), '') AS cells, string_agg(int8send(people), '') AS people,"
        f" string_agg(array_send(p{keys}), '') AS packed{keys}, string_agg(array_send(holders), '') AS holders,"
        f" (SELECT count(*) FROM value{keys}) AS values{keys}{shown}"
        f" FROM (SELECT count(*)::int4 - 1 AS cells, max(people) FILTER (WHERE whole = 1) AS people, {sent}"
        f" FROM cell LEFT JOIN value{keys} ON value{keys}.v = {value} GROUP BY {by}) AS class"
    )[0]
    if found["cells"] is None:
        return None
    per_class = np.frombuffer(found["cells"], dtype=">i4").astype(np.int64)
    # beside its cells, each class has been counted as a whole
    require_few(int(per_class.sum()) + len(per_class), keys + 2)
    code, count, values = _cells(found, keys, per_class)
    class_of = np.repeat(np.arange(len(per_class), dtype=np.int64), per_class)
    order = np.lexsort((code, class_of))
    made = Composition.of(class_of, len(per_class), code, count, values)
    holders = unpacked(found["holders"], per_class)[order]
    return replace(made, known_people=(_long(found["people"]), holders)), found.get("texts") or []


def _composing(cells: str, keys: int, columns: int, nulls: str, texts: bool) -> str:
    """One row: per class how many cells, and the cells, each packed into a number, as an array."""
    places = range(keys, columns)
    dictionaries = "".join(f", {_dictionary(place)}" for place in places)
    joins = "".join(f" LEFT JOIN value{place} ON value{place}.v = c{place}" for place in places)
    packed = "".join(f", array_agg(coalesce(value{place}.code, 0) << {ROWS_BITS} | n) AS p{place}" for place in places)
    group = ", ".join([f"c{place}" for place in range(keys)] + ["alone"] * (nulls == "conservative"))
    shown = "".join(
        f", string_agg(array_send(p{place}), '') AS packed{place}, (SELECT count(*) FROM value{place}) AS values{place}"
        + (f", (SELECT array_agg(v::text ORDER BY code) FROM value{place}) AS texts{place}" if texts else "")
        for place in places
    )
    return (
        f"WITH cell AS MATERIALIZED ({cells}){dictionaries}"
        f" SELECT string_agg(int4send(cells), '') AS cells{shown}"
        f" FROM (SELECT count(*)::int4 AS cells{packed} FROM cell{joins} GROUP BY {group}) AS class"
    )


def unpacked(sent: bytes, lengths: Ints) -> Ints:
    """The elements of arrays of bigint that array_send wrote one after the other: 5 words each, and 3 per element."""
    words = np.frombuffer(sent, dtype=">u4").astype(np.int64)
    before = np.cumsum(lengths) - lengths
    within = np.arange(int(lengths.sum()), dtype=np.int64) - np.repeat(before, lengths)
    starts = np.repeat(5 * np.arange(len(lengths), dtype=np.int64) + 3 * before, lengths)
    place = starts + 5 + 3 * within
    return (words[place + 1] << 32) | words[place + 2]


@dataclass(frozen=True)
class Coded:
    """Distinct combinations of columns as codes, NULL as -1; how many rows have each, and the values of the columns."""

    codes: list[Ints]
    count: Ints
    values: list[int]
    texts: list[list[str]]
    id: Ints
    more: Mapping[int, list[int]]

    def split(self, columns: int, unit: str | None) -> tuple[list[Ints], Ints | None]:
        """The codes of the first columns; and, where a unit comes last, whose each combination is."""
        return self.codes[:columns], None if unit is None else self.codes[-1]


More = Mapping[int, tuple[str, list[str]]]


def coded(
    plpy: Plpy, table: Readable, columns: Sequence[str], texts: bool = False, more: More = MappingProxyType({})
) -> Coded:
    plpy.execute(MEMORY)
    cells = limited(counted(table, columns, len(columns), "own"), len(columns))
    return fetched(plpy, f"cell AS MATERIALIZED ({cells}), ", "cell", len(columns), texts, more=more)


@dataclass(frozen=True)
class Sizes:
    """How many classes there are of each size, in rows or people; and how many rows in all."""

    classes: list[tuple[int, int]]
    rows: int


def class_sizes(plpy: Plpy, table: Readable, keys: Sequence[str], unit: str | None = None) -> Sizes:
    cells = counted(table, keys, len(keys), "own") if unit is None else counted_people(table, keys, "own", unit)
    size = "n" if unit is None else "people"
    rows = plpy.execute(
        f"SELECT {size} AS size, count(*) AS classes, sum(n)::int8 AS n FROM ({cells}) AS class GROUP BY 1 ORDER BY 1"
    )
    return Sizes([(int(row["size"]), int(row["classes"])) for row in rows], sum(int(row["n"]) for row in rows))


def fetched(
    plpy: Plpy, cells: str, name: str, columns: int, texts: bool, number: str = "0", more: More = MappingProxyType({})
) -> Coded:
    """The cells of a table (c0, c1 … and n) that `cells` defines, or that is there; `number` names them."""
    places = range(columns)
    dictionaries = ", ".join(_dictionary(place, name, more.get(place)) for place in places)
    joins = "".join(f" LEFT JOIN value{place} ON value{place}.v = c{place}" for place in places)
    sent = "".join(
        f", string_agg(int4send(coalesce(value{place}.code, 0)::int4), '') AS codes{place}" for place in places
    )
    known = "".join(
        f", (SELECT array_agg(v::text ORDER BY code) FROM value{place}) AS texts{place}"
        if texts
        else f", (SELECT count(*) FROM value{place}) AS values{place}"
        for place in places
    )
    added = "".join(f", {_codes(place, *more[place])} AS more{place}" for place in more)
    found = plpy.execute(
        f"WITH {cells}{dictionaries} SELECT string_agg(int8send(n), '') AS n, string_agg(int8send({number}), '') AS id"
        f"{sent}{known}{added} FROM {name}{joins}"
    )[0]
    listed = [(found[f"texts{place}"] or []) if texts else [] for place in places]
    values = [len(listed[place]) if texts else int(found[f"values{place}"]) for place in places]
    codes = [np.frombuffer(found[f"codes{place}"] or b"", dtype=">i4").astype(np.int64) - 1 for place in places]
    require_few(len(codes[0]), columns)
    placed = {place: (_long(found[f"more{place}"]) - 1).tolist() for place in more}
    return Coded(codes, _long(found["n"]), values, listed, _long(found["id"]), placed)


def _long(sent: bytes | None) -> Ints:
    return np.frombuffer(sent or b"", dtype=">i8").astype(np.int64)


def _tabulate_wildcard(rows: Coded, keys: int, unit: str | None) -> Tabulated | None:
    if not len(rows.count):
        return None
    classes, person = rows.split(keys, unit)
    compositions = []
    places = range(keys, len(rows.codes) - (unit is not None))
    for place in places:
        sensitive, values = with_null(rows.codes[place], rows.values[place])
        compositions.append(wildcard_composition(classes, sensitive, rows.count, values, person))
    return Tabulated(compositions, [rows.texts[place] for place in places])


def written(document: Mapping[str, object]) -> str:
    """As JSON; numbers that were read exactly are written as such, those with a fraction as texts."""
    return json.dumps(document, default=_json_number)


def _json_number(value: object) -> object:
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else plain(value)
    raise TypeError(f"{type(value)} is not for JSON")
