"""Stage resolve: names to relations and columns, as the ledger's connection sees the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from discreet.core.checks import SAYS_NOTHING, Implied, implied
from discreet.core.errors import NoAccessError, RefusedShapeError, UndefinedObjectError
from discreet.core.syntax import Json, Node
from discreet.gate.parse import nodes, parse
from discreet.gate.refusal import located, quoting, refuse


class Family(StrEnum):
    """Types that behave alike."""

    INT = "int"
    NUMERIC = "numeric"
    FLOAT = "float"
    TEXT = "text"
    BOOL = "bool"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMPTZ = "timestamptz"
    OTHER = "other"


NUMBERS = frozenset([Family.INT, Family.NUMERIC, Family.FLOAT])
TIMES = frozenset([Family.DATE, Family.TIMESTAMP, Family.TIMESTAMPTZ])
FAMILY_OF_TYPE = {
    "smallint": Family.INT,
    "integer": Family.INT,
    "bigint": Family.INT,
    "numeric": Family.NUMERIC,
    "real": Family.FLOAT,
    "double precision": Family.FLOAT,
    "text": Family.TEXT,
    "character varying": Family.TEXT,
    "character": Family.TEXT,
    "boolean": Family.BOOL,
    "date": Family.DATE,
    "timestamp without time zone": Family.TIMESTAMP,
    "timestamp with time zone": Family.TIMESTAMPTZ,
}


@dataclass(frozen=True)
class Column:
    """A column of a table; `identifies`: it is the unit, or unique by itself; `public`: declared so.

    `others`: the group of all values outside the categories. `implied`: what type and CHECKs declare;
    caveats rely on it that no other values come in, and nothing that is private does. `listed_by`: schema, name and key
    of the public table whose keys are its values.
    """

    name: str
    type_name: str
    bounds: tuple[Fraction, Fraction] | None = None
    categories: tuple[str, ...] | None = None
    hidden: bool = False
    identifies: bool = False
    public: bool = False
    not_null: bool = False
    number: int = 0
    others: str | None = None
    implied: Implied = SAYS_NOTHING
    listed_by: tuple[str, str, str] | None = None

    @property
    def family(self) -> Family:
        return FAMILY_OF_TYPE.get(self.type_name, Family.OTHER)

    @property
    def complete(self) -> bool:
        """Whether no constraint lets a value outside the categories in."""
        values = self.implied.categories
        return values is not None and self.categories is not None and set(values) <= set(self.categories)


@dataclass(frozen=True)
class PathStep:
    """A step from a row to its person: a foreign key references the unique `key` of a table; its `column` leads on."""

    schema: str
    name: str
    key: str
    column: str


@dataclass(frozen=True)
class Protection:
    """What the policy of a protected table says; `single`: a person has at most one row.

    `path`: the way from the column `unit`, which is then a foreign key, to the column that names the person.

    `people`: the columns by which foreign keys know the people, None where no key tells; `wrong_unit`: why the unit
    names something else, if they show that; `indexed`: an index on the unit leads to all rows of a person. `time`: the
    column that tells the period of a row; `keeps_periods`: a trigger lets no row move to another.
    """

    dataset: str
    unit: str
    policy: str
    max_groups: int
    max_rows: int
    max_epsilon: Fraction | None
    max_delta: Fraction | None
    single: bool
    may_ask: bool
    min_group: int = 10
    fallback: str | None = None
    relation: int = 0
    max_total_rows: int | None = None
    people: frozenset[str] | None = None
    wrong_unit: str | None = None
    path: tuple[PathStep, ...] = ()
    indexed: bool = False
    time: str | None = None
    keeps_periods: bool = True


@dataclass(frozen=True)
class Combination:
    """Columns that are unique together, perhaps in part of the rows; `nulls`: also where they are NULL."""

    columns: frozenset[str]
    nulls: bool = False


@dataclass(frozen=True)
class Relation:
    """A table that a question names; without protection it is public, or the asker may read it.

    `unique_keys` hold for all rows at any moment, `combinations` single a person out in some; `row_security`: policies
    may hide rows from their reader.
    """

    schema: str
    name: str
    columns: Mapping[str, Column]
    protection: Protection | None = None
    unique_keys: tuple[frozenset[str], ...] = ()
    combinations: tuple[Combination, ...] = ()
    row_security: bool = False


@dataclass(frozen=True)
class View:
    """A view that a question names: its definition, as text and as a tree."""

    schema: str
    name: str
    definition: str
    select: Node = field(repr=False, compare=False)

    @contextmanager
    def quoted(self) -> Iterator[None]:
        """Refusals within are told as the view's."""
        with quoting(self.definition, f"view {self.schema}.{self.name}: "):
            yield


@dataclass(frozen=True)
class Dataset:
    """The people of a question, and how their budget is kept; `has_one_table`: nothing else is kept of them.

    `diagnose`: the share of a price that tells how many people were cut. `period`: the months and the days of a period,
    where each has a budget of its own; `opened`: the first and the last that the ledger has opened, that of the day on
    which the dataset was made, and that of today.
    """

    name: str
    accounting: str
    neighbours: str
    delta_limit: Fraction
    response_quantum: float | None = None
    has_one_table: bool = False
    diagnose: Fraction = Fraction(0)
    period: tuple[int, int] | None = None
    opened: tuple[date, ...] | None = None


@dataclass(frozen=True)
class Schema:
    """The relations that a question names, and the datasets they belong to; `policies`: those it is answered under."""

    relations: Mapping[tuple[str | None, str], Relation]
    datasets: Mapping[str, Dataset] = field(default_factory=dict)
    views: Mapping[tuple[str | None, str], View] = field(default_factory=dict)
    policies: frozenset[str] = frozenset(["noisy", "personal"])

    def with_opened(self, opened: Mapping[str, tuple[date, ...]]) -> Schema:
        """With what the ledger knows of the periods of datasets that have some."""
        found = {name: replace(kept, opened=opened.get(name)) for name, kept in self.datasets.items()}
        return replace(self, datasets=found)

    def with_values(self, listed: Mapping[tuple[str, str, str], tuple[str, tuple[str, ...]]]) -> Schema:
        """With the keys of public tables, and their types, as categories of the columns whose values they are."""

        def of_column(column: Column) -> Column:
            known = None if column.listed_by is None else listed.get(column.listed_by)
            if known is None or known[0] != column.type_name or column.categories is not None:
                return column
            _, values = known
            return replace(column, categories=values, implied=replace(column.implied, categories=values))

        def of_relation(relation: Relation) -> Relation:
            return replace(relation, columns={name: of_column(one) for name, one in relation.columns.items()})

        if not listed:
            return self
        return replace(self, relations={name: of_relation(one) for name, one in self.relations.items()})

    def view(self, node: Node) -> View | None:
        """The view that a RangeVar means, if it is one."""
        return None if node.catalogname else self.views.get((node.schemaname, node.relname))

    def relation(self, node: Node) -> Relation:
        """The relation of a RangeVar, if the asker may ask about it."""
        if node.catalogname:
            refuse("a name with a database", node)
        found = self.relations.get((node.schemaname, node.relname))
        if found is None:
            written = f"{node.schemaname}.{node.relname}" if node.schemaname else node.relname
            hint = (
                "Write the schema too. Temporary tables, copies and tables of who is no curator cannot be asked about;"
                " SELECT * FROM discreet.catalog lists those that can."
            )
            raise located(UndefinedObjectError(f"there is no table {written} that can be asked about", hint), node)
        protection = found.protection
        if protection is not None and not protection.may_ask:
            raise NoAccessError(
                f"you hold no budget for the people of {found.schema}.{found.name}",
                f"A curator can give one: discreet.grant_budget('{protection.dataset}', role, epsilon).",
            )
        if protection is not None and protection.wrong_unit is not None:
            raise RefusedShapeError(
                protection.wrong_unit,
                f"A curator has to protect {found.schema}.{found.name} anew, by the column that names the person of "
                "each row.",
            )
        if protection is not None and not protection.keeps_periods:
            raise RefusedShapeError(
                f"rows of {found.schema}.{found.name} are not kept in their periods: a trigger is missing or disabled",
                f"A curator has to protect {found.schema}.{found.name} anew, or enable trigger ~discreet_period.",
            )
        if protection is not None and protection.policy not in self.policies:
            raise RefusedShapeError(
                f"{found.name} is under policy '{protection.policy}', other tables of the question are not",
                "Ask about it alone.",
            )
        return found


def named_relations(tree: Node) -> Iterator[tuple[str | None, str]]:
    """Schema and name of every RangeVar of a tree, names of WITH queries included."""
    from pglast import ast

    named = ((node.schemaname, node.relname) for node in nodes(tree) if isinstance(node, ast.RangeVar))
    return iter(dict.fromkeys(named))


def schema_from_json(described: Mapping[str, Json]) -> Schema:
    """The answer of discreet._ledger_describe as a Schema."""
    relations = {(entry["asked_schema"], entry["asked_name"]): _relation(entry) for entry in described["relations"]}
    datasets = {
        entry["dataset"]: Dataset(
            entry["dataset"],
            entry["accounting"],
            entry["neighbours"],
            Fraction(entry["delta_limit"]),
            None if entry["response_quantum"] is None else float(entry["response_quantum"]),
            entry["tables"] == 1,
            Fraction(entry["diagnose"]),
            None if entry.get("period") is None else (entry["period"][0], entry["period"][1]),
        )
        for entry in described["datasets"]
    }
    views = {(entry["asked_schema"], entry["asked_name"]): _view(entry) for entry in described.get("views", ())}
    return Schema(relations, datasets, views)


def _view(entry: Mapping[str, Json]) -> View:
    with quoting(entry["definition"], f"view {entry['schema']}.{entry['name']}: "):
        return View(entry["schema"], entry["name"], entry["definition"], parse(entry["definition"]))


def _relation(entry: Mapping[str, Json]) -> Relation:
    columns = {column["name"]: _column(column) for column in entry["columns"]}
    kept = entry["protection"]
    protection = kept and Protection(
        kept["dataset"], kept["unit"], kept["policy"], kept["max_groups"], kept["max_rows"],
        _fraction(kept["max_epsilon"]), _fraction(kept["max_delta"]), kept["single"], kept["may_ask"],
        kept["min_group"], kept["fallback"], kept["relation"], kept["max_total_rows"],
        None if kept["people"] is None else frozenset(kept["people"]), kept["wrong_unit"],
        tuple(PathStep(step["schema"], step["name"], step["key"], step["column"]) for step in kept.get("path", ())),
        kept.get("indexed", False), kept.get("time"), kept.get("keeps_periods", True),
    )  # fmt: skip
    keys = tuple(frozenset(key) for key in entry["unique_keys"])
    combinations = tuple(Combination(frozenset(each["columns"]), each["nulls"]) for each in entry["combinations"])
    return Relation(entry["schema"], entry["name"], columns, protection, keys, combinations, entry["row_security"])


def _column(entry: Mapping[str, Json]) -> Column:
    """What type and CHECKs say counts where nothing is declared of the column."""
    said = SAYS_NOTHING
    if not entry["identifies"]:
        labels, checks = entry.get("labels"), entry.get("checks")
        said = implied(entry["type"], labels and tuple(labels), tuple(checks or ()))
    bounds = said.bounds and (Fraction(said.bounds[0]), Fraction(said.bounds[1]))
    categories = said.categories
    if entry["lower"] is not None:
        bounds = Fraction(entry["lower"]), Fraction(entry["upper"])
    if entry["categories"] is not None:
        categories = tuple(entry["categories"])
    return Column(
        entry["name"], entry["type"], bounds, categories, entry["hidden"], entry["identifies"],
        entry["public"], entry["not_null"], entry["number"], entry["others"], said,
        entry.get("listed_by") and tuple(entry["listed_by"]),
    )  # fmt: skip


def _fraction(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(Decimal(text))
