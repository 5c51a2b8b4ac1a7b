"""The SQL of a synthetic table: how its source is counted, and how it is made and filled.

Statements that read people's rows are total: no value of a row makes one fail, and a row without a code takes no part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.core.quoting import identifier, literal
from discreet.gate.schema import Family
from discreet.synthesis.columns import Category, Coarse, Column, Dependent, Kind, Number


@dataclass(frozen=True)
class Parent:
    """A table on the way from a row to its person: its unique `key`, and the `column` that leads on."""

    schema: str
    name: str
    key: str
    column: str

    @property
    def written(self) -> str:
        return f"{identifier(self.schema)}.{identifier(self.name)}"


@dataclass(frozen=True)
class SourceTable:
    """A table that is read, and the column of its person; over a path, that of the key of its first parent.

    A parent is found by its unique key, so a row has at most one parent at each step, and at most one person.
    """

    schema: str
    name: str
    unit: str
    path: tuple[Parent, ...] = ()

    @property
    def written(self) -> str:
        return f"{identifier(self.schema)}.{identifier(self.name)}"

    @property
    def rows(self) -> str:
        """What stands in FROM: the table as t, and its parents. A row without a parent takes no part."""
        joined, held = f"{self.written} AS t", f"t.{identifier(self.unit)}"
        for n, parent in enumerate(self.path):
            joined += f" JOIN {parent.written} AS s{n} ON s{n}.{identifier(parent.key)} = {held}"
            held = f"s{n}.{identifier(parent.column)}"
        return joined

    @property
    def person(self) -> str:
        """The person of a row of `rows`."""
        if not self.path:
            return f"t.{identifier(self.unit)}"
        return f"s{len(self.path) - 1}.{identifier(self.path[-1].column)}"


@dataclass(frozen=True)
class Coded:
    """A column as a code."""

    column: Column
    kind: Kind
    spread: Coarse | None = None

    def sql(self, alias: str) -> str:
        """An integer for each row, from 0; the code of NULL is the last where there is one."""
        value = f"{alias}.{identifier(self.column.name)}"
        if isinstance(self.kind, Number):
            bounds = f"{self.kind.lower!r}::pg_catalog.float8, {self.kind.upper!r}::pg_catalog.float8, {self.kind.fine}"
            code = f"discreet._bin({value}, {bounds})"
            if self.spread is not None:
                code = f"({numbers(self.spread.bins)})[1 + {code}]"
            last = self.kind.fine if self.spread is None else self.spread.number
        else:
            assert isinstance(self.kind, Category | Dependent)
            last = len(self.kind.texts)
            if self.column.family is Family.BOOL:
                code = f"{value}::pg_catalog.int4"
            else:
                texts = ", ".join(literal(text) for text in self.kind.texts)
                code = f"discreet._synthesis_code({self.text(value)}, ARRAY[{texts}]::pg_catalog.text[])"
        return f"COALESCE({code}, {last})" if self.kind.null else code

    def text(self, value: str) -> str:
        """A value as its category is written."""
        if self.column.base == "character":
            return f"pg_catalog.rtrim(discreet._text({value}))"
        if self.column.family is Family.NUMERIC:
            return f"discreet._text(pg_catalog.trim_scale({value}))"
        return f"discreet._text({value})"

    @property
    def size(self) -> int:
        if isinstance(self.kind, Number):
            return (self.kind.fine if self.spread is None else self.spread.number) + self.kind.null
        assert isinstance(self.kind, Category | Dependent)
        return self.kind.size


@dataclass(frozen=True)
class Counted:
    """How many rows a person has in another table, at most `most`; `least` is 1 where every person has one."""

    source: SourceTable
    most: int
    least: int = 0

    @property
    def size(self) -> int:
        return self.most - self.least + 1

    def sql(self) -> str:
        person = self.source.person
        return (
            f"SELECT {person} AS u, LEAST(pg_catalog.count(*), {self.most})::pg_catalog.int4 - {self.least} AS n"
            f" FROM {self.source.rows} WHERE {person} IS NOT NULL GROUP BY {person}"
        )


def numbers(values: Sequence[int]) -> str:
    return f"'{{{','.join(map(str, values))}}}'::pg_catalog.int4[]"


def people_sql(
    source: SourceTable | None, coded: Sequence[Coded], counted: Sequence[Counted], spec: Sequence[int]
) -> str:
    """Counts people, each once: by the codes of their row, and by how many rows they have elsewhere.

    Precondition: `source` has at most one row of each person.
    """
    if source is None:
        (only,) = counted
        return _packed(spec, ["c0"], f"SELECT k.n AS c0 FROM ({only.sql()}) AS k")
    unit = identifier(source.unit)
    codes = [each.sql("t") for each in coded] + [f"COALESCE(k{n}.n, 0)" for n in range(len(counted))]
    listed = ", ".join(f"{code} AS c{n}" for n, code in enumerate(codes))
    joins = "".join(f" LEFT JOIN ({each.sql()}) AS k{n} ON k{n}.u = t.{unit}" for n, each in enumerate(counted))
    rows = f"SELECT {listed} FROM {source.written} AS t{joins} WHERE t.{unit} IS NOT NULL"
    return _packed(spec, [f"c{n}" for n in range(len(codes))], rows)


def rows_sql(
    source: SourceTable,
    coded: Sequence[Coded],
    most: int,
    of_person: tuple[SourceTable, Sequence[Coded]] | None,
    spec: Sequence[int],
    seed: int,
) -> str:
    """Counts rows, at most so many of a person, with the codes of the person's own row first.

    Which rows are taken of who has more depends on that person's codes and on a secret, never on others: equal codes
    count alike, so ties change nothing.
    """
    unit = source.person
    codes = [each.sql("t") for each in coded]
    joined = ""
    if of_person is not None:
        person, more = of_person
        codes = [each.sql("p") for each in more] + codes
        joined = f" JOIN {person.written} AS p ON p.{identifier(person.unit)} = {unit}"
    names = [f"c{n}" for n in range(len(codes))]
    listed = ", ".join(f"{code} AS {name}" for code, name in zip(codes, names, strict=True))
    rows = f"SELECT {unit} AS u, {listed} FROM {source.rows}{joined} WHERE {unit} IS NOT NULL"
    known = " AND ".join(f"s.{name} IS NOT NULL" for name in names)
    mixed = f"pg_catalog.concat_ws('|', {', '.join(names)})"
    order = f"pg_catalog.hashtextextended({mixed}, pg_catalog.hash_record_extended(ROW(u), {seed}))"
    placed = (
        f"SELECT s.*, pg_catalog.row_number() OVER (PARTITION BY s.u ORDER BY {order}) AS place"
        f" FROM ({rows}) AS s WHERE {known}"
    )
    return _packed(spec, names, f"SELECT * FROM ({placed}) AS b WHERE b.place <= {most}")


def _packed(spec: Sequence[int], names: Sequence[str], rows: str) -> str:
    counted = f"discreet._synthesis_count({numbers(spec)}, {', '.join(f'r.{name}' for name in names)})"
    return f"SELECT pg_catalog.encode({counted}, 'base64') FROM ({rows}) AS r"


# -- the table that is made


@dataclass(frozen=True)
class Link:
    """A foreign key of a table that is made: our `column` holds the `key` of another one that is made."""

    column: str
    table: Target
    key: str


@dataclass(frozen=True)
class Target:
    """A table that is made: its name, its columns with their kinds, and the constraints that it keeps."""

    schema: str
    name: str
    columns: Mapping[str, Column]
    not_null: frozenset[str]
    generated: Mapping[str, str]
    checks: Mapping[str, str]
    keys: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    link: Link | None = None

    @property
    def written(self) -> str:
        return f"{identifier(self.schema)}.{identifier(self.name)}"

    def create_sql(self) -> str:
        parts = []
        for name, column in self.columns.items():
            made = f" GENERATED ALWAYS AS ({self.generated[name]}) STORED" if name in self.generated else ""
            parts.append(f"{identifier(name)} {column.type}{made}{' NOT NULL' if name in self.not_null else ''}")
        parts += [f"UNIQUE ({identifier(key)})" for key in self.keys]
        parts += [f"CONSTRAINT {identifier(name)} {check}" for name, check in self.checks.items()]
        if self.link is not None:
            referenced = f"{self.link.table.written} ({identifier(self.link.key)})"
            parts.append(f"FOREIGN KEY ({identifier(self.link.column)}) REFERENCES {referenced}")
        return f"CREATE TABLE {self.written} ({', '.join(parts)})"

    def insert_sql(self, conditions: Sequence[str]) -> str:
        """Writes rows that come as an array for each column; those that a condition does not hold for are left out.

        A condition may name any column of the table: those that are always NULL, or computed, are beside the others.
        """
        names = ", ".join(identifier(name) for name in self.filled)
        arrays = ", ".join(f"($1[{n}])::{self.columns[name].type}[]" for n, name in enumerate(self.filled, 1))
        null, computed = (
            "".join(
                f", ({self.generated.get(name, 'NULL')})::{column.type} AS {identifier(name)}"
                for name, column in self.columns.items()
                if name not in self.filled and (name in self.generated) == is_computed
            )
            for is_computed in (False, True)
        )
        where = [f"({condition}) IS NOT FALSE" for condition in conditions]
        if self.link is not None:
            referenced = f"p.{identifier(self.link.key)} = t.{identifier(self.link.column)}"
            where.append(f"EXISTS (SELECT FROM {self.link.table.written} AS p WHERE {referenced})")
        kept = f" WHERE {' AND '.join(where)}" if where else ""
        rows = f"SELECT t.*{computed} FROM (SELECT t.*{null} FROM unnest({arrays}) AS t({names})) AS t"
        return f"INSERT INTO {self.written} ({names}) SELECT {names} FROM ({rows}) AS t{kept}"
