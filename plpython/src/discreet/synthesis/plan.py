"""The plan of a synthetic table, or of several that share their people: what is counted, modelled and written.

From the text of the request, the catalog and the declarations alone, so that refusals and prices tell nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.core.errors import InvalidParameterError, RefusedShapeError
from discreet.dp.composition import gaussian_rho
from discreet.dp.price import Accounting, Price, parse_delta, parse_epsilon
from discreet.gate import schema as gate
from discreet.gate.names import TEXT_TYPES, WHOLE_TYPES
from discreet.gate.schema import Dataset, Family, Relation
from discreet.gate.tree import SHOWN_TYPES
from discreet.synthesis.aim import CHOICE_PART, ROUNDS
from discreet.synthesis.columns import (
    Category,
    Coarse,
    Column,
    Dependent,
    Empty,
    Filler,
    Generated,
    Key,
    Kind,
    Number,
    Reference,
    kinds,
)  # fmt: skip
from discreet.synthesis.junction import Clique, cells
from discreet.synthesis.problem import Layout
from discreet.synthesis.statements import Coded, Counted, Link, Parent, SourceTable, Target

MOST_TABLES = 8
# rows of one person that are looked at
MOST_ROWS = 1000
# cells of a dependency
MOST_PAIRS = 200_000


@dataclass(frozen=True)
class Constraint:
    """A CHECK of the source; `plain`: it calls nothing but what PostgreSQL brings, on columns `of`.

    Others are not kept: the code of the table's owner would run in the name of who writes the synthetic table.
    """

    name: str
    definition: str
    expression: str
    of: frozenset[str]
    plain: bool


@dataclass(frozen=True)
class TablePlan:
    """One table: where its rows come from, what each column becomes, and what is made.

    `most_rows`: of a person; 1 for the table of the people. `left_out`: constraints that are not kept.
    """

    source: SourceTable
    columns: Mapping[str, Column]
    kinds: Mapping[str, Kind]
    target: Target
    conditions: tuple[str, ...]
    most_rows: int
    single: bool
    left_out: tuple[str, ...] = ()

    def coded(self, spreads: Mapping[str, Coarse]) -> list[Coded]:
        """The columns that are modelled, by their codes."""
        return [
            Coded(self.columns[name], kind, spreads.get(name))
            for name, kind in self.kinds.items()
            if isinstance(kind, Category | Number)
        ]

    @property
    def most_keys(self) -> int:
        """How many rows the table can have, by the types of its keys."""
        keys = [self.columns[name] for name, kind in self.kinds.items() if isinstance(kind, Key | Reference)]
        return min((column.most_keys for column in keys), default=2**53)

    def first_coded(self) -> list[Coded]:
        """What is looked at before: numbers in fine bins, and the columns of dependencies."""
        named = dict.fromkeys(
            name
            for name, kind in self.kinds.items()
            if isinstance(kind, Dependent) or (isinstance(kind, Number) and kind.is_coarsened)
        )
        named |= dict.fromkeys(kind.on for kind in self.kinds.values() if isinstance(kind, Dependent))
        return [Coded(self.columns[name], self.kinds[name]) for name in named]

    def first_cliques(self) -> list[Clique]:
        """The marginals of these that are measured."""
        names = [each.column.name for each in self.first_coded()]
        found: list[Clique] = []
        for place, name in enumerate(names):
            kind = self.kinds[name]
            if isinstance(kind, Number):
                found.append((place,))
            elif isinstance(kind, Dependent):
                found.append((names.index(kind.on), place))
        return found

    def first_layout(self) -> Layout:
        return Layout(tuple(each.size for each in self.first_coded()), tuple(self.first_cliques()))


@dataclass(frozen=True)
class SynthesisPlan:
    """All tables, that of the people first where `has_people`, and the price of the whole."""

    tables: tuple[TablePlan, ...]
    has_people: bool
    dataset: Dataset
    epsilon: Fraction
    delta: Fraction
    price: Price
    target: str | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def people(self) -> TablePlan | None:
        return self.tables[0] if self.has_people else None

    @property
    def others(self) -> tuple[TablePlan, ...]:
        """Tables with several rows of a person."""
        return self.tables[1:] if self.has_people else self.tables

    @property
    def counted(self) -> tuple[Counted, ...]:
        least = 0 if self.has_people else 1
        return tuple(Counted(table.source, table.most_rows, least) for table in self.others)

    def parent_of(self, table: TablePlan) -> int | None:
        """The number of the model that makes the parents of a table's rows, where it has them by path."""
        link = table.target.link
        if not table.source.path or link is None:
            return None
        made = next(n for n, each in enumerate(self.tables) if each.target == link.table)
        return made if self.has_people else made + 1

    def shares(self) -> tuple[Price, Price]:
        """Of each model: for what is looked at before, and for the rest. All models cost the same."""
        models = 1 + len(self.others)
        each = self.price.amount / models
        first = each / 10
        accounting = self.price.accounting
        return Price(accounting, first), Price(accounting, each - first)

    def refuse_small_price(self) -> None:
        """Refuses a price whose parts would be none, before it is paid."""
        attributes = len(self.others) + sum(len(table.coded({})) for table in self.tables)
        looks = max(len(table.first_cliques()) for table in self.tables)
        try:
            first, rest = self.shares()
            for amount in (first.amount / max(looks, 1), rest.amount / attributes / ROUNDS[rest.accounting]):
                Price(rest.accounting, amount * CHOICE_PART)
        except InvalidParameterError:
            raise InvalidParameterError(
                "epsilon is too small for a synthetic table", "Usual values lie between 0.1 and 10."
            ) from None


def price_of(dataset: Dataset, epsilon: object, delta: object) -> tuple[Fraction, Fraction, Price]:
    """Epsilon, the delta that is charged, and what the mechanisms may spend.

    A dataset under zcdp is charged rho: the largest that is worth epsilon at this delta, or at the half of the
    dataset's own that is bound in the conversion. Under pure accounting, a delta buys Gaussian noise of the same rho,
    which is (epsilon, delta)-private and charged as that; without delta the noise is Laplace's.
    """
    worth = parse_epsilon(epsilon)  # type: ignore[arg-type]
    chance = Fraction(0) if delta is None else parse_delta(delta)  # type: ignore[arg-type]
    if dataset.accounting == Accounting.ZCDP:
        rho = gaussian_rho(worth, chance or dataset.delta_limit / 2)
        return worth, Fraction(0), Price(Accounting.ZCDP, Fraction(rho))
    if chance == 0:
        return worth, chance, Price(Accounting.PURE, worth)
    return worth, chance, Price(Accounting.ZCDP, Fraction(gaussian_rho(worth, chance)))


def most_rows(relation: Relation) -> int:
    """Of one person, in all: what the policy says of groups and rows of an answer."""
    kept = relation.protection
    assert kept is not None
    if is_single(relation):
        return 1
    most = kept.max_total_rows or kept.max_rows * kept.max_groups
    if most > MOST_ROWS:
        raise RefusedShapeError(
            f"a person may have {most} rows in {relation.name}, and at most {MOST_ROWS} are synthesised",
            "A curator can protect it with a smaller max_total_rows or max_rows.",
        )
    return most


def is_single(relation: Relation) -> bool:
    """Whether a person has at most one row, which names the person itself."""
    kept = relation.protection
    return kept is not None and kept.single and not kept.path


def refuse_other_people(left: Relation, right: Relation) -> None:
    """Refuses two tables whose rows would be linked, and whose units may name different people.

    Where foreign keys know the people of both, they must know them by the same column. Otherwise one person could be
    linked to the rows of another, and two people's rows would follow from one.
    """
    ours, theirs = left.protection, right.protection
    assert ours is not None
    assert theirs is not None
    if ours.people is not None and theirs.people is not None and not ours.people & theirs.people:
        raise RefusedShapeError(
            f"{min(ours.people)} and {min(theirs.people)} name different people",
            "Where they are the same, a curator can say so by a foreign key, which may be NOT VALID.",
        )


def refuse_other_types(held: gate.Column, key: gate.Column, table: str) -> None:
    """Refuses to find a row's parent, or its person, by values that are compared in another type than their own."""
    types = {held.type_name, key.type_name}
    alike = len(types) == 1 and (held.family is not Family.OTHER or types <= SHOWN_TYPES)
    if not (alike or types <= WHOLE_TYPES or types <= TEXT_TYPES):
        raise RefusedShapeError(
            f"{table} is linked by columns of several types, or of one that is not compared: "
            f"{held.name} of type {held.type_name}, {key.name} of type {key.type_name}",
            "Leave the table out, or let a DBA give both columns one type.",
        )


def link_of(source: SourceTable, kinds: Mapping[str, Kind], made: Sequence[TablePlan]) -> Link | None:
    """The foreign key to the table of the people, or over a path to the first parent, where that is made, too."""
    for table in made:
        key = table.source.unit
        if source.path:
            parent = source.path[0]
            if (parent.schema, parent.name) != (table.source.schema, table.source.name):
                continue
            key = parent.key
        own = kinds.get(source.unit)
        if isinstance(own, Key | Reference) and key in table.target.keys:
            return Link(source.unit, table.target, key)
    return None


def table_plan(
    relation: Relation,
    columns: Sequence[Column],
    constraints: Sequence[Constraint],
    release: tuple[str, str],
    wanted: Sequence[str] | None,
    dependencies: Mapping[str, str],
    made: Sequence[TablePlan],
) -> TablePlan:
    """`made`: the tables that are made before it, that of the people first where there is one."""
    kept = relation.protection
    assert kept is not None
    written = f"{relation.schema}.{relation.name}"
    if kept.unit not in relation.columns:
        raise RefusedShapeError(f"{written} has no column {kept.unit}", "A curator has to protect it anew.")
    own = [column.name for column in columns]
    found = kinds(
        written, columns, kept.unit,
        None if wanted is None else [name for name in wanted if name in own],
        {name: on for name, on in dependencies.items() if name in own and on in own}, bool(kept.path),
    )  # fmt: skip
    taken = {column.name: column for column in columns if column.name in found}
    for kind in found.values():
        if isinstance(kind, Dependent):
            on = found[kind.on]
            assert isinstance(on, Category)
            if cells([on.size, kind.size], (0, 1)) > MOST_PAIRS:
                raise InvalidParameterError(
                    f"the dependency of {kind.on} has too many combinations",
                    "Leave it out, or declare fewer categories.",
                )
    kept_checks = [each for each in constraints if each.plain and each.of <= found.keys()]
    single = is_single(relation)
    filled = tuple(name for name, kind in found.items() if not isinstance(kind, Empty | Generated))
    keys = tuple(name for name, kind in found.items() if isinstance(kind, Key) and (not kind.person or single))
    source = SourceTable(
        relation.schema, relation.name, kept.unit,
        tuple(Parent(step.schema, step.name, step.key, step.column) for step in kept.path),
    )  # fmt: skip
    target = Target(
        *release, taken,
        frozenset(column.name for column in taken.values() if column.not_null),
        {column.name: column.generated for column in taken.values() if column.generated is not None},
        {each.name: each.definition for each in kept_checks},
        keys, filled, link_of(source, found, made),
    )  # fmt: skip
    return TablePlan(
        source, taken, found, target,
        tuple(each.expression for each in kept_checks), most_rows(relation), single,
        tuple(each.name for each in constraints if each not in kept_checks),
    )  # fmt: skip


def notes(tables: Sequence[TablePlan]) -> tuple[str, ...]:
    """What is not as in the source, by declarations alone."""
    said = []
    for table in tables:
        name = table.source.name
        fillers = [column for column, kind in table.kinds.items() if isinstance(kind, Filler)]
        empty = [column for column, kind in table.kinds.items() if isinstance(kind, Empty)]
        if fillers:
            said.append(f"{name}: text without categories is filled with numbered texts: {', '.join(fillers)}")
        if empty:
            said.append(f"{name}: nothing is declared of these columns, they are NULL: {', '.join(empty)}")
        if table.left_out:
            said.append(
                f"{name}: constraints not kept, they call other functions or columns: {', '.join(table.left_out)}"
            )
        if not table.single:
            said.append(f"{name}: at most {table.most_rows} rows of a person are looked at")
    return tuple(said)
