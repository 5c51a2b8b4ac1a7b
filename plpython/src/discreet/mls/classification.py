"""Labels of rows that are there already, when their table becomes a multilevel one.

A column has a label, or a rule: an expression over the row that gives one. A row whose cells have several labels is
stored as a load by a trusted session would store it: a root at the label of the key, a row at each other label, and one
at their least upper bound, so that a session above all of them sees one row.
"""

# ruff: noqa: S608 - names are quoted; rules are checked expressions

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from discreet.core.errors import InvalidParameterError, UndefinedColumnError
from discreet.mls.labels import Lattice
from discreet.mls.table import ABSENT, INTERNAL, OWN, Table, listed, literal, slot

EVERY = "*"
FORM = """Labels are given as {"*": "U", "salary": "C"}: of each column a label, or an expression that gives one."""


@dataclass(frozen=True)
class Given:
    """What is given for a column: a label, as bits, or the text of a rule."""

    bits: int | None = None
    rule: str | None = None

    def sql(self) -> str:
        """The label of a row, as bits."""
        return f"{self.bits}::bigint" if self.bits is not None else f"discreet._label_bits(({self.rule})::text)"


@dataclass(frozen=True)
class Labels:
    """The label of the key, and that of each cell in the order of the table."""

    key: Given
    cells: tuple[Given, ...]

    @property
    def rules(self) -> frozenset[str]:
        return frozenset(given.rule for given in (self.key, *self.cells) if given.rule is not None)

    def with_rules(self, checked: Mapping[str, str]) -> Labels:
        """The same with each rule as it was printed after it was checked."""

        def of(given: Given) -> Given:
            return given if given.rule is None else Given(rule=checked[given.rule])

        return Labels(of(self.key), tuple(map(of, self.cells)))

    @property
    def lowest(self) -> bool:
        """Whether all rows stay at the lowest level, where they are without labels."""
        return all(each.bits == 0 for each in (self.key, *self.cells))

    @property
    def fixed(self) -> tuple[int, ...] | None:
        """The labels of all rows above roots where no rule is given."""
        if any(each.bits is None for each in (self.key, *self.cells)):
            return None
        found = {each.bits or 0 for each in self.cells}
        found.add(reduce(or_, found, self.key.bits or 0))
        return tuple(sorted(found - {self.key.bits}))


def given_labels(table: Table, labels: object, lattice: Lattice) -> Labels:
    """What the argument says; a text that is no label is taken for a rule, which the caller checks."""
    if not isinstance(labels, Mapping) or not all(isinstance(value, str) for value in labels.values()):
        raise InvalidParameterError("labels is not an object of texts", FORM)
    names = [column.name for column in (*table.key, *table.cells)]
    for name in labels:
        if name != EVERY and name not in names:
            raise UndefinedColumnError(
                f'labels names column "{name}", which has no labels', f"There are: {', '.join(names)}."
            )
    keys = {labels[key.name] for key in table.key if key.name in labels}
    if len(keys) > 1:
        raise InvalidParameterError("the columns of a key have one label", "Give the same one for each, or for one.")
    every = labels.get(EVERY, lattice.levels[0])
    return Labels(
        parsed(keys.pop() if keys else every, lattice),
        tuple(parsed(labels.get(cell.name, every), lattice) for cell in table.cells),
    )


def parsed(text: str, lattice: Lattice) -> Given:
    try:
        return Given(bits=lattice.bits(text))
    except InvalidParameterError:
        level = text.partition(":")[0]
        if (level.isidentifier() and level == text) or level in lattice.levels:
            raise  # a misspelt label rather than an expression: a column alone is written as (column)
        return Given(rule=text)


def labelled(table: Table, labels: Labels, rows: str) -> str:
    """Rows with the label of the key, `_k`, and those of the cells, `_labels`."""
    return (
        f"(SELECT t.*, {labels.key.sql()} AS _k, ARRAY[{listed(each.sql() for each in labels.cells)}]::bigint[]"
        f" AS _labels FROM {rows} t)"
    )


def wrong_rows(table: Table) -> list[tuple[str, str]]:
    """What may be wrong with rows, each with a condition that finds them in `labelled`."""
    names = [cell.name for cell in table.cells]
    found = [("the rule of the key gives no label", "_k IS NULL")]
    for place, name in enumerate(names, 1):
        found.append((f'the rule of column "{name}" gives no label', f"_labels[{place}] IS NULL"))
        found.append((
            f'the label of column "{name}" does not dominate that of the key', f"(_k & ~_labels[{place}]) <> 0"
        ))  # fmt: skip
    return found


def wrong_counts(table: Table, labels: Labels, rows: str) -> str:
    """How many rows each of these conditions finds."""
    counts = listed(f"count(*) FILTER (WHERE {condition})" for _, condition in wrong_rows(table))
    return f"SELECT ARRAY[{counts}] AS counts FROM {labelled(table, labels, rows)} r"


def wrong_keys(table: Table, labels: Labels, rows: str, condition: str, most: int) -> str:
    keys = listed(f"{literal(key.name)}, {key.quoted}" for key in table.key)
    order = listed(key.quoted for key in table.key)
    return (
        f"SELECT jsonb_build_object({keys})::text AS key FROM {labelled(table, labels, rows)} r"
        f" WHERE {condition} ORDER BY {order} LIMIT {most}"
    )


ASIDE = "pg_temp.discreet_labelled_rows"


def statements(table: Table, labels: Labels) -> list[str]:
    """What gives the rows of a base table their labels. They are put aside and written anew, each once."""
    columns = f"{table.columns()}, {', '.join(INTERNAL)}"
    return [
        f"CREATE TEMPORARY TABLE {ASIDE.removeprefix('pg_temp.')} ON COMMIT DROP AS {stored_rows(table, labels)}",
        f"TRUNCATE {table.base}",
        f"INSERT INTO {table.base} ({columns}) SELECT {columns} FROM {ASIDE}",
        f"DROP TABLE {ASIDE}",
    ]


def stored_rows(table: Table, labels: Labels) -> str:
    """A row at each label of an old row: its own are the cells of that label. The root, at the label of the key, has no
    other cell; a row above borrows cells of lower labels, and all others from the root, where they are absent."""
    cells = list(enumerate(table.cells, 1))
    own = listed(
        f"CASE WHEN r._labels[{place}] = a.l THEN r.{cell.quoted} END AS {cell.quoted}" for place, cell in cells
    )
    of_root = listed(f"CASE WHEN r._labels[{place}] = r._k THEN {OWN} ELSE {ABSENT} END" for place, _ in cells)
    of_above = listed(
        f"CASE WHEN r._labels[{place}] = a.l THEN {OWN} WHEN (r._labels[{place}] & ~a.l) = 0 THEN r._labels[{place}]"
        " ELSE r._k END"
        for place, _ in cells
    )
    upper = " | ".join(["r._k", *(f"r._labels[{place}]" for place, _ in cells)])
    every = f"SELECT DISTINCT l FROM unnest(r._labels || r._k || ({upper})) l"
    if labels.fixed is not None:
        every = f"SELECT unnest(ARRAY[{listed(map(str, (labels.key.bits, *labels.fixed)))}]::bigint[]) AS l"
    return (
        f"SELECT {listed('r.' + key.quoted for key in table.key)}, {own},"
        " CASE WHEN a.l = r._k THEN r._root ELSE discreet._random_id() END AS _row_id,"
        " CASE WHEN a.l <> r._k THEN r._root END AS _entity, r._k AS _key_label, a.l AS _label,"
        f" CASE WHEN a.l = r._k THEN 0 ELSE {slot('r._root', 'a.l')} END AS _slot, false AS _dead,"
        f" CASE WHEN a.l <> r._k THEN ARRAY[{of_above}]::bigint[]"
        f" WHEN r._k <> ({upper}) THEN ARRAY[{of_root}]::bigint[] END AS _source"
        f" FROM (SELECT r.*, discreet._random_id() AS _root FROM {labelled(table, labels, table.base)} r) r"
        f" CROSS JOIN LATERAL ({every}) a"
    )
