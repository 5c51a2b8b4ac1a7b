"""The curator's acts: each checks who calls, what is named and what it would mean, then writes the catalog.

The catalog is a Protocol; `discreet.server.catalog` implements it on the database.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Protocol

from discreet.core.declarations import (
    ENCODING,
    OTHER_DATABASE,
    PERSONAL_UNITS,
    ColumnDescription,
    Dataset,
    Policy,
    delta_limit,
    epsilon_limit,
    given,
)
from discreet.core.errors import (
    DiscreetError,
    DuplicateObjectError,
    InsufficientPrivilegeError,
    InvalidParameterError,
    UndefinedColumnError,
    UndefinedObjectError,
    WrongObjectTypeError,
)
from discreet.core.path import Step, UnitPath, is_path
from discreet.core.quoting import literal as quoted_literal

# pg_type: what can be put between two numbers, and what can be listed
BOUNDED_TYPES = frozenset(
    ["smallint", "integer", "bigint", "numeric", "real", "double precision", "date",
     "timestamp without time zone", "timestamp with time zone"]
)  # fmt: skip
KINDS = {
    "v": "a view",
    "m": "a materialized view",
    "f": "a foreign table",
    "i": "an index",
    "I": "an index",
    "S": "a sequence",
    "t": "a TOAST table",
    "c": "a composite type",
}


# the budget of people about whom answers are exact: nothing is spent of it, who holds a part of it may ask
KEY = Decimal(1)
# pays for tables that are not protected
EVERYBODYS = "default"


@dataclass(frozen=True)
class Caller:
    name: str
    superuser: bool
    curator: bool


@dataclass(frozen=True)
class Column:
    """`base_type` is the type below all domains, `collation` what its values are compared with; `labels` are those of
    an enum; a `virtual` one is computed from others when it is read."""

    name: str
    base_type: str
    built_in: bool
    labels: tuple[str, ...] | None
    collation: str | None = None
    virtual: bool = False


@dataclass(frozen=True)
class Relation:
    """`key`: of a multilevel table, the columns that name an entity; `rows_of`: the one whose rows this table holds;
    `sealed_rows_of`: the table with sealed columns whose ciphertext it holds; `sealed`: it is such a table."""

    oid: int
    schema: str
    name: str
    quoted_name: str
    kind: str
    temporary: bool
    system: bool
    owned_by_caller: bool
    key: tuple[str, ...] | None = None
    rows_of: str | None = None
    sealed_rows_of: str | None = None
    sealed: bool = False


@dataclass(frozen=True)
class Neighbour:
    """A protected table that is linked by a foreign key, or by inheritance.

    `people`: the rows of the table at hand are about its people, for they inherit, point to it, or are what its unit
    points to; otherwise it only looks something up in the table at hand.
    """

    quoted_name: str
    dataset: str
    people: bool


@dataclass(frozen=True)
class WrongUnit:
    """A protected table whose unit does not name people, as foreign keys show: why, and what the curator can do."""

    quoted_name: str
    problem: str
    hint: str


@dataclass(frozen=True)
class Parent:
    """The table over which rows of another have their person, and the unique key by which they hold it."""

    relation: Relation
    key: str


@dataclass(frozen=True)
class Past:
    """A protection that was: its dataset; the column that named people who pay for themselves, where they did."""

    dataset: str
    unit: str | None
    time: str | None = None


class Catalog(Protocol):
    """What the curator's acts need to know and to write."""

    def caller(self) -> Caller: ...
    def require_server_keys(self, relation: Relation) -> None:
        """Fails unless the server holds the keys of all sealed columns."""
        ...

    def sealed_obstacle(self, relation: Relation) -> str | None:
        """Why questions about a table with sealed columns cannot run in the name of its owner."""
        ...

    def lock(self) -> None:
        """Until the end of the transaction no other session adds datasets or protections."""
        ...

    def encoding(self) -> str:
        """That of the texts of the database."""
        ...

    def relation(self, name: str) -> Relation: ...
    def column(self, relation: Relation, name: str) -> Column | None: ...
    def column_names(self, relation: Relation) -> list[str]: ...
    def hashable(self, column: Column) -> bool: ...
    def accepts(self, column: Column, value: str) -> bool: ...
    def compares_bytes(self, column: Column) -> bool: ...
    def equal_values(self, column: Column, values: tuple[str, ...]) -> tuple[str, str] | None: ...
    def policy(self, relation: Relation) -> str | None: ...
    def protection(self, relation: Relation) -> Policy | None:
        """What is declared of a protected table."""
        ...

    def one_row_per_person(self, relation: Relation) -> bool:
        """Whether the unit of a protected table is unique and NOT NULL."""
        ...

    def unit(self, relation: Relation) -> str | None:
        """The declared unit of a protected table, a column or a path."""
        ...

    def referenced_key(self, relation: Relation, column: str, parent: Relation) -> str | None:
        """The unique column of the parent that a foreign key of this column alone references.

        It is validated, enforced and not deferrable.
        """
        ...

    def children(self, relation: Relation) -> list[str]:
        """The protected tables whose rows have their person over this one."""
        ...

    def linked(self, relation: Relation) -> list[Neighbour]: ...
    def wrong_unit(self, relation: Relation) -> WrongUnit | None:
        """That of the table, or of one that is linked to it, by what is declared now."""
        ...

    def references_others(self, relation: Relation) -> bool:
        """Whether rows of a protected table reference people of others, and its unit references nothing."""
        ...

    def dataset(self, name: str) -> Dataset | None: ...
    def dataset_names(self) -> list[str]: ...
    def policies(self, dataset: str) -> set[str]:
        """Those of the tables that a dataset holds."""
        ...

    def has_labels(self, dataset: str) -> bool | None:
        """Whether the tables that a dataset holds are multilevel ones; None where it holds none."""
        ...

    def manages(self, dataset: str) -> bool: ...
    def past(self, relation: Relation) -> Past | None: ...
    def epsilon_spent(self, dataset: str) -> Decimal: ...
    def has_plain_parts(self, relation: Relation) -> bool:
        """Whether only partitions inherit from a table."""
        ...

    def has_payers(self, dataset: str) -> bool:
        """Whether people of this dataset have paid for questions themselves."""
        ...

    def lock_table(self, relation: Relation) -> None: ...
    def direct_readers(self, relation: Relation) -> list[str]: ...
    def add_dataset(self, dataset: Dataset) -> None: ...
    def set_limits(self, relation: Relation, policy: Policy) -> None:
        """Those of a protected table; all else that is declared of it stays."""
        ...

    def add_protection(
        self, relation: Relation, dataset: str | None, policy: Policy, parent: Parent | None
    ) -> None: ...
    def begin_audit(self, relation: Relation) -> bool:
        """Begins the history of a table, or goes on with it; False where people cannot be told apart by rows."""
        ...

    def set_column(self, relation: Relation, column: str, description: ColumnDescription) -> None: ...
    def remove_protection(self, relation: Relation) -> None: ...
    def set_budget(self, dataset: Dataset, role: str, epsilon: Decimal, delta: Decimal, forever: bool) -> None: ...
    def revoke_budget(self, dataset: str, role: str) -> bool: ...
    def holds_budget(self, dataset: str, role: str) -> bool:
        """Whether a role, or a group that it is a member of, may ask about a dataset."""
        ...

    def is_ahead(self, moment: str) -> bool: ...
    def keep_reserve(self, dataset: Dataset, role: str, epsilon: Decimal, until: str) -> Decimal | None:
        """Keeps a part of the dataset's budget for a role; where there is too little, it says how much there is."""
        ...

    def end_reserve(self, dataset: str, role: str) -> bool: ...
    def notice(self, message: str, hint: str) -> None: ...


def create_dataset(catalog: Catalog, dataset: Dataset) -> None:
    caller = require_curator(catalog)
    if dataset.name == EVERYBODYS and not caller.superuser:
        raise InsufficientPrivilegeError(
            f'dataset "{EVERYBODYS}" pays for all tables that are not protected', "A superuser can create it."
        )
    catalog.lock()
    if catalog.dataset(dataset.name) is not None:
        raise DuplicateObjectError(
            f'dataset "{dataset.name}" exists already',
            "Protect tables with dataset => its name; its limits and what was spent stay as they are.",
        )
    catalog.add_dataset(dataset)


def protect(
    catalog: Catalog,
    name: str | None,
    dataset: str | None,
    epsilon: Decimal | None,
    delta: Decimal | None,
    policy: Policy,
) -> None:
    relation = own_table(catalog, name, multilevel=True)
    if relation.sealed_rows_of is not None:
        raise WrongObjectTypeError(
            f"{relation.quoted_name} holds ciphertext of {relation.sealed_rows_of}",
            f"Protect {relation.sealed_rows_of}.",
        )
    if relation.sealed:
        refuse_sealed(catalog, relation, policy)
    if relation.rows_of is not None:
        raise WrongObjectTypeError(
            f"{relation.quoted_name} holds the rows of multilevel table {relation.rows_of}, of all labels",
            f"Protect {relation.rows_of}.",
        )
    if policy.policy != "public" and catalog.encoding() != ENCODING:
        raise InvalidParameterError(
            f"the database is in {catalog.encoding()}; people are protected in {ENCODING} only: a text that cannot "
            "be converted would make a question fail, and so tell of a row",
            f"To protect tables, {OTHER_DATABASE}",
        )
    catalog.lock()
    if catalog.policy(relation) is not None:
        raise DuplicateObjectError(
            f"{relation.quoted_name} is protected already",
            "To change its policy, call discreet.unprotect() first.",
        )
    parent = None
    if policy.unit is not None:
        policy, parent = with_parent(catalog, relation, policy)
        assert policy.unit is not None
        unit = existing_column(catalog, relation, policy.unit)
        if unit.virtual:
            raise InvalidParameterError(
                f"column {unit.name} is generated when it is read, which may fail, so it cannot be the unit",
                "Take a column that is stored.",
            )
        if not catalog.hashable(unit):
            raise InvalidParameterError(
                f"column {unit.name} of type {unit.base_type} cannot tell people apart: its values have no hash",
                "Take a column of numbers, text, uuid or the like.",
            )
        if policy.policy in ("personal", "audited") and not unit.built_in:
            # their ledgers write a person down as text, and a cast of a user's type may run code of any role
            raise InvalidParameterError(
                f"column {unit.name} is of type {unit.base_type}; under policy '{policy.policy}' people are named by "
                "values of built-in types",
                "Take a column of numbers, text, uuid or the like.",
            )
    if relation.key is not None:
        refuse_other_than_noisy(relation, relation.key, policy)
    if policy.policy == "public":
        if dataset is not None or epsilon is not None or delta is not None:
            raise InvalidParameterError(
                "a public table belongs to no dataset and has no budget",
                "Leave dataset, epsilon and delta out.",
            )
        refuse_public(catalog.linked(relation), relation)
    else:
        if policy.policy == "personal" and dataset is None and epsilon is None:
            epsilon = policy.unit_epsilon
        if policy.policy == "audited" and policy.fallback is None and dataset is None and epsilon is None:
            epsilon = KEY
        dataset = dataset_for(catalog, relation, dataset, epsilon, delta)
        refuse_fresh_budget(catalog, relation, dataset, policy)
        refuse_two_budgets(catalog, relation, dataset, policy)
        refuse_mixed_labels(catalog, relation, dataset)
        check_time(catalog, relation, dataset, policy)
    catalog.add_protection(relation, dataset, policy, parent)
    refuse_wrong_unit(catalog, relation)
    refuse_unknown_rows(catalog, relation, dataset, epsilon, policy)
    if policy.policy == "audited" and not catalog.begin_audit(relation):
        raise InvalidParameterError(
            f"{relation.quoted_name} cannot be audited: a person may have several rows, or rows are in parts of it",
            "The unit must be unique and NOT NULL, of an ordinary table that none inherits from.",
        )
    if policy.policy != "public":
        report_readers(catalog, relation)


def refuse_unknown_rows(
    catalog: Catalog, relation: Relation, dataset: str | None, epsilon: Decimal | None, policy: Policy
) -> None:
    """How many rows of a person count is the curator's to say: a default would cut most people without a word.

    Audited tables have one row a person; under policy 'personal' each row is paid by itself. `epsilon`: that of a
    dataset which this call would make, and which is to be made before.
    """
    known = policy.policy != "noisy" or policy.max_rows is not None
    if known or catalog.one_row_per_person(relation):
        return
    named = ", ".join(quoted_literal(value) for value in (relation.quoted_name, str(policy.unit), str(dataset)))
    before = "" if epsilon is None else f"SELECT discreet.create_dataset({quoted_literal(str(dataset))}, {epsilon}); "
    proposal = f"{before}SELECT * FROM discreet.suggest_rows({named}, 0.1);"  # noqa: S608
    raise InvalidParameterError(
        f"max_rows is missing: column {policy.unit} of {relation.quoted_name} is not unique and NOT NULL,"
        " so a person may have many rows",
        f"Give max_rows, the most rows of one person that count in a group. For a private proposal: {proposal}",
    )


def alter_protection(
    catalog: Catalog,
    name: str | None,
    max_rows: int | None,
    max_groups: int | None,
    max_total_rows: int | None,
    max_epsilon: Decimal | None,
    max_delta: Decimal | None,
) -> None:
    """Changes limits; what is None stays."""
    relation = own_table(catalog, name, multilevel=True)
    catalog.lock()
    policy = catalog.protection(relation)
    if policy is None:
        raise not_protected(relation)
    if policy.policy == "public":
        raise InvalidParameterError(
            f"{relation.quoted_name} is public, and has no limits", "Only tables about people have limits."
        )
    changed = replace(
        policy,
        max_rows=policy.max_rows if max_rows is None else max_rows,
        max_groups=policy.max_groups if max_groups is None else max_groups,
        max_total_rows=policy.max_total_rows if max_total_rows is None else max_total_rows,
        max_epsilon=policy.max_epsilon if max_epsilon is None else max_epsilon,
        max_delta=policy.max_delta if max_delta is None else max_delta,
    )
    catalog.set_limits(relation, changed)


def with_parent(catalog: Catalog, relation: Relation, policy: Policy) -> tuple[Policy, Parent | None]:
    """The policy with a column as its unit, and the parent, where the unit is a way to the person.

    The parent must be protected, by the rest of the way: then it has the same people and the same budget.
    """
    assert policy.unit is not None
    if not is_path(policy.unit) or catalog.column(relation, policy.unit) is not None:
        return policy, None
    way = UnitPath.parse(policy.unit)
    if policy.policy != "noisy" or relation.key is not None:
        raise InvalidParameterError(
            f"the unit of {relation.quoted_name} is a path, which only policy 'noisy' can follow",
            "Take a column of the table itself, or policy => 'noisy'.",
        )
    existing_column(catalog, relation, way.column)
    first, *rest = way.steps
    parent = catalog.relation(first.relation)
    existing_column(catalog, parent, first.column)
    for each in (relation, parent):
        if each.sealed or each.sealed_rows_of is not None:
            raise InvalidParameterError(
                f"the unit of {relation.quoted_name} is a path, which cannot begin or end at {each.quoted_name}:"
                " it has sealed columns, and foreign keys are those of its base table",
                f"Take a column of {relation.quoted_name} that names the person itself, as unit => '{way.column}'.",
            )
    key = catalog.referenced_key(relation, way.column, parent)
    if key is None:
        raise InvalidParameterError(
            f"column {way.column} of {relation.quoted_name} is no validated foreign key to {parent.quoted_name}",
            f"First ALTER TABLE {relation.quoted_name} ADD FOREIGN KEY ({way.column}) REFERENCES {parent.quoted_name}; "
            "it must not be NOT VALID, DEFERRABLE or disabled.",
        )
    declared = catalog.unit(parent)
    if declared is None or not same_way(catalog, declared, first.column, rest):
        raise InvalidParameterError(
            f"{parent.quoted_name} is not protected by {first.column}"
            if declared is None
            else f"the people of {parent.quoted_name} are named by {declared}",
            f"First protect {parent.quoted_name} by the rest of the way, in the same dataset."
            if declared is None
            else f"Give unit => '{way.column} -> {parent.quoted_name}.{declared}'.",
        )
    return replace(policy, unit=way.column), Parent(parent, key)


def same_way(catalog: Catalog, declared: str, column: str, rest: list[Step]) -> bool:
    if not is_path(declared):
        return declared == column and not rest
    known = UnitPath.parse(declared)
    steps = [(catalog.relation(step.relation).oid, step.column) for step in rest]
    return known.column == column and steps == [
        (catalog.relation(step.relation).oid, step.column) for step in known.steps
    ]


def dataset_for(
    catalog: Catalog, relation: Relation, name: str | None, epsilon: Decimal | None, delta: Decimal | None
) -> str:
    """The dataset that shall hold the table: an existing one, or one of its own when its people are new."""
    linked = catalog.linked(relation)
    if name is not None:
        if epsilon is not None or delta is not None:
            raise InvalidParameterError(
                "dataset and epsilon are both given",
                "The limits are those of the dataset; leave epsilon and delta out.",
            )
        manageable_dataset(catalog, name)
        refuse_linked(linked, relation, name)
        return name
    refuse_linked(linked, relation, None)
    if epsilon is None:
        raise InvalidParameterError(
            "neither a dataset nor an epsilon is given",
            "Give dataset => the name of an existing one, or epsilon => the total budget of a new one.",
        )
    own = Dataset(f"{relation.schema}.{relation.name}", epsilon, Decimal(0) if delta is None else delta)
    if catalog.dataset(own.name) is not None:
        raise DuplicateObjectError(
            f'dataset "{own.name}" exists already, with what was spent on it',
            f"Give dataset => '{own.name}' to go on with it, or create a dataset of another name for other people.",
        )
    catalog.add_dataset(own)
    return own.name


def refuse_linked(linked: list[Neighbour], relation: Relation, dataset: str | None) -> None:
    """The people of linked tables are the same, so their budget must be: a second one would be spent twice."""
    for neighbour in linked:
        if neighbour.dataset != dataset:
            raise InvalidParameterError(
                f"the people of {relation.quoted_name} are those of {neighbour.quoted_name}, "
                f'which is protected in dataset "{neighbour.dataset}"',
                f"A second budget would be spent on the same people: give dataset => '{neighbour.dataset}'.",
            )


def refuse_public(linked: list[Neighbour], relation: Relation) -> None:
    """What protected tables look up may be public; what is about their people may not."""
    for neighbour in linked:
        if neighbour.people:
            raise InvalidParameterError(
                f"the people of {relation.quoted_name} are those of {neighbour.quoted_name}, "
                f'which is protected in dataset "{neighbour.dataset}"',
                f"Made public, it would tell about them: give unit, and dataset => '{neighbour.dataset}'.",
            )


def refuse_fresh_budget(catalog: Catalog, relation: Relation, dataset: str, policy: Policy) -> None:
    """What the people of a table have spent stays spent when it is unprotected and protected again."""
    past = catalog.past(relation)
    if past is None:
        return
    if past.dataset != dataset:
        if not catalog.caller().superuser:
            raise InvalidParameterError(
                f'{relation.quoted_name} was protected in dataset "{past.dataset}" before, '
                "and its people have spent from that",
                f"Give dataset => '{past.dataset}'; only a superuser can move a table to another one.",
            )
    elif policy.policy == "personal" and past.unit not in (None, policy.unit):
        raise InvalidParameterError(
            f"the people of {relation.quoted_name} have paid by column {past.unit};"
            f" named by {policy.unit}, they would all be new",
            f"Give unit => '{past.unit}'; only a superuser can move a table to another dataset, with fresh budgets.",
        )


TIME_TYPES = ("date", "timestamp without time zone", "timestamp with time zone")


def check_time(catalog: Catalog, relation: Relation, name: str, policy: Policy) -> None:
    """The time of rows tells their period, and stays what it was once something was spent in it."""
    dataset = catalog.dataset(name)
    assert dataset is not None
    if dataset.period is None:
        if policy.time is not None:
            raise InvalidParameterError(
                f'time is given, and dataset "{name}" has no period',
                "Leave time out, or create the dataset with period => '1 month'.",
            )
        return
    if policy.policy != "noisy" or relation.key is not None or relation.sealed:
        kind = f"under policy '{policy.policy}'" if policy.policy != "noisy" else "multilevel or sealed"
        raise InvalidParameterError(
            f'dataset "{name}" has periods, and {relation.quoted_name} is {kind}',
            "Ordinary tables under policy 'noisy' have periods.",
        )
    if policy.time is not None:
        column = existing_column(catalog, relation, policy.time)
        if column.base_type not in TIME_TYPES or column.virtual:
            raise InvalidParameterError(
                f"column {column.name} of {relation.quoted_name} cannot be the time of its rows",
                f"Take a stored column of type {', '.join(TIME_TYPES)}.",
            )
        if not catalog.has_plain_parts(relation):
            raise InvalidParameterError(
                f"tables inherit from {relation.quoted_name}, whose rows no trigger of it watches",
                "Make them partitions, or protect it without a time.",
            )
    past = catalog.past(relation)
    if past is not None and past.dataset == name and past.time != policy.time and catalog.epsilon_spent(name) > 0:
        before = "had no time" if past.time is None else f"had their time in column {past.time}"
        raise InvalidParameterError(
            f"rows of {relation.quoted_name} {before} when questions about them were paid",
            "By another time they would be in periods of which less is spent: "
            + ("leave time out." if past.time is None else f"give \"time\" => '{past.time}'."),
        )


def refuse_wrong_unit(catalog: Catalog, relation: Relation) -> None:
    """A unit that names orders protects orders, and lets order 7 be joined with customer 7 as one person.

    The table may also show that the unit of another one, protected before, is wrong.
    """
    wrong = catalog.wrong_unit(relation)
    if wrong is not None and wrong.quoted_name == relation.quoted_name:
        raise InvalidParameterError(wrong.problem, wrong.hint)
    if wrong is not None:
        raise InvalidParameterError(
            wrong.problem, f"First call discreet.unprotect('{wrong.quoted_name}'); then protect it by another column."
        )
    if catalog.references_others(relation):
        catalog.notice(
            f"rows of {relation.quoted_name} reference people of other protected tables, and its unit does not",
            "If they are about those people, call discreet.unprotect(), and give the column that names them as the "
            "unit.",
        )


def refuse_two_budgets(catalog: Catalog, relation: Relation, name: str, policy: Policy) -> None:
    """People who pay for themselves do so for all tables of their dataset, in pure epsilon."""
    personal = policy.policy == "personal"
    others = {other for other in catalog.policies(name) if (other == "personal") != personal}
    if others:
        raise InvalidParameterError(
            f"dataset \"{name}\" has tables of policy '{min(others)}', and its people would have two budgets",
            "Tables of policy 'personal' share a dataset with each other only.",
        )
    if not personal:
        if (policy.policy == "noisy" or policy.fallback is not None) and catalog.has_payers(name):
            raise InvalidParameterError(
                f'people of dataset "{name}" have paid for questions themselves; its own budget would come on top',
                "Keep policy 'personal'; only a superuser can move a table to another dataset.",
            )
        return
    spent = catalog.epsilon_spent(name)
    if spent > 0:
        raise InvalidParameterError(
            f'all people of dataset "{name}" have lost epsilon {spent.normalize():f} already;'
            " budgets of their own would come on top",
            "Keep policy 'noisy'; only a superuser can move a table to another dataset.",
        )
    dataset = catalog.dataset(name)
    assert dataset is not None
    assert policy.unit is not None
    if dataset.accounting != "pure" or dataset.neighbours != "unbounded":
        raise InvalidParameterError(
            f"dataset \"{name}\" cannot hold personal budgets: its accounting is '{dataset.accounting}', "
            f"its neighbours are '{dataset.neighbours}'",
            "Personal budgets are pure epsilon, of people who are in the data or not: give another dataset.",
        )
    unit = existing_column(catalog, relation, policy.unit)
    if unit.base_type not in PERSONAL_UNITS or (unit.collation and not catalog.compares_bytes(unit)):
        raise InvalidParameterError(
            f"column {unit.name} of type {unit.base_type} cannot name people who have budgets of their own",
            "Take a column of whole numbers, numeric, text, uuid or date, compared byte by byte.",
        )


UNFIT_FOR_LABELS = {
    "personal": "who has no budget left would tell a session of questions above its label",
    "audited": "which questions are denied would tell a session of answers above its label",
    "public": "sessions of different labels see different rows of it",
}


def refuse_other_than_noisy(relation: Relation, key: tuple[str, ...], policy: Policy) -> None:
    """Rows of an entity are those of one person only when the key, which all versions share, names the person."""
    if policy.policy in UNFIT_FOR_LABELS:
        raise InvalidParameterError(
            f"multilevel table {relation.quoted_name} cannot be under policy '{policy.policy}': "
            f"{UNFIT_FOR_LABELS[policy.policy]}",
            "Multilevel tables are protected by policy 'noisy'.",
        )
    if policy.unit not in key:
        raise InvalidParameterError(
            f"column {policy.unit} of multilevel table {relation.quoted_name} cannot name the person: "
            "versions of one row may differ in it",
            f"Take a column of the key: {', '.join(key)}.",
        )


UNFIT_FOR_SEALED = {
    "personal": "its ledger would write people down in the clear",
    "audited": "its history would write values and people down in the clear",
    "public": "every reader would see it by the server's key",
}


def refuse_sealed(catalog: Catalog, relation: Relation, policy: Policy) -> None:
    """The gate reads sealed columns by keys that the server holds, in the name of the table's owner."""
    if policy.policy in UNFIT_FOR_SEALED:
        raise InvalidParameterError(
            f"{relation.quoted_name} has sealed columns and cannot be under policy '{policy.policy}': "
            f"{UNFIT_FOR_SEALED[policy.policy]}",
            "Tables with sealed columns are protected by policy 'noisy'.",
        )
    obstacle = catalog.sealed_obstacle(relation)
    if obstacle is not None:
        raise WrongObjectTypeError(
            f"{relation.quoted_name} {obstacle}",
            "Let a curator own the table; seal columns of built-in types.",
        )
    catalog.require_server_keys(relation)


def refuse_mixed_labels(catalog: Catalog, relation: Relation, name: str) -> None:
    """Budgets are kept per label for multilevel tables, and for all others once."""
    others = catalog.has_labels(name)
    if others is not None and others != (relation.key is not None):
        held, wanted = ("multilevel", "ordinary") if others else ("ordinary", "multilevel")
        raise InvalidParameterError(
            f'dataset "{name}" holds {held} tables, and {relation.quoted_name} is {wanted}',
            "Budgets of multilevel tables are kept per label: give them a dataset of their own.",
        )


def describe_column(
    catalog: Catalog, name: str | None, column_name: str | None, description: ColumnDescription
) -> None:
    relation = own_table(catalog, name, multilevel=True)
    if catalog.policy(relation) is None:
        raise not_protected(relation)
    column = existing_column(catalog, relation, given("column_name", column_name))
    if description.lower is not None and column.base_type not in BOUNDED_TYPES:
        raise InvalidParameterError(
            f'column "{column.name}" is of type {column.base_type}, which has no bounds',
            "Numbers, dates and timestamps have bounds: lower => 0, upper => 120, or lower => date '2020-01-01'.",
        )
    description = description.read_as(column.base_type)
    if description.categories is not None:
        check_categories(catalog, column, description.categories)
    if description.others is not None:
        check_others(catalog, column, description.others, description.categories or ())
    catalog.set_column(relation, column.name, description)


def check_categories(catalog: Catalog, column: Column, categories: tuple[str, ...]) -> None:
    if column.labels is None and not column.built_in:
        raise InvalidParameterError(
            f'column "{column.name}" is of type {column.base_type}, for which categories cannot be listed',
            "Built-in types, domains over them and enums can have categories.",
        )
    for category in categories:
        fits = catalog.accepts(column, category) if column.labels is None else category in column.labels
        if not fits:
            raise InvalidParameterError(
                f"category '{category}' is no value of column \"{column.name}\", which is of type {column.base_type}",
                f"Its values are: {', '.join(column.labels)}."
                if column.labels
                else "Write it as that type is written.",
            )
    # a person would be counted in both groups
    equal = catalog.equal_values(column, categories) if column.labels is None else None
    if equal is not None:
        raise InvalidParameterError(
            f"categories '{equal[0]}' and '{equal[1]}' are the same value of column \"{column.name}\"",
            "Name each value once.",
        )


def check_others(catalog: Catalog, column: Column, others: str, categories: tuple[str, ...]) -> None:
    """The name of the group of all other values is shown in the column's type; labels of enums are shown as text."""
    if column.labels is None and not catalog.accepts(column, others):
        raise InvalidParameterError(
            f"others is '{others}', which is no value of column \"{column.name}\" of type {column.base_type}",
            "The group is shown in this type: give a value that no row has.",
        )
    equal = catalog.equal_values(column, (*categories, others)) if column.labels is None else None
    if equal is not None:
        raise InvalidParameterError(
            f"others is '{others}', the same value of column \"{column.name}\" as category '{equal[0]}'",
            "Give the group of all others a name of its own.",
        )


def unprotect(catalog: Catalog, name: str | None) -> None:
    relation = own_table(catalog, name, multilevel=True)
    if catalog.policy(relation) is None:
        raise not_protected(relation)
    children = catalog.children(relation)
    if children:
        raise InvalidParameterError(
            f"rows of {children[0]} have their person over {relation.quoted_name}",
            f"First call discreet.unprotect('{children[0]}').",
        )
    catalog.remove_protection(relation)


def grant_budget(
    catalog: Catalog,
    dataset_name: str | None,
    role: str | None,
    epsilon: Decimal | None,
    delta: Decimal | None,
    forever: bool | None = False,
) -> None:
    require_curator(catalog)
    dataset = manageable_dataset(catalog, given("dataset", dataset_name))
    wished = epsilon_limit("epsilon", epsilon), delta_limit("delta", delta)
    if given("forever", forever) and dataset.period is None:
        raise InvalidParameterError(
            f'forever is given, and dataset "{dataset.name}" has no period', "Every limit there is for ever."
        )
    # people who pay for themselves are not protected by what the dataset has: a role may ask more often than that
    capped = "personal" not in catalog.policies(dataset.name)
    if capped and (wished[0] > dataset.epsilon or wished[1] > dataset.delta):
        raise InvalidParameterError(
            f'epsilon {wished[0]}, delta {wished[1]} is more than dataset "{dataset.name}" has: '
            f"epsilon {dataset.epsilon}, delta {dataset.delta}",
            "A role's limit is a part of the dataset's; give less.",
        )
    catalog.set_budget(dataset, given("role", role), *wished, given("forever", forever))


def revoke_budget(catalog: Catalog, dataset_name: str | None, role: str | None) -> None:
    require_curator(catalog)
    dataset = manageable_dataset(catalog, given("dataset", dataset_name))
    if not catalog.revoke_budget(dataset.name, given("role", role)):
        raise UndefinedObjectError(
            f'{role} holds no budget in dataset "{dataset.name}"',
            "View discreet.budget_status shows who does.",
        )


def reserve_budget(
    catalog: Catalog, dataset_name: str | None, role: str | None, epsilon: Decimal | None, until: str | None
) -> None:
    """Who may spend how much of a dataset changes; all of it together stays what it is."""
    require_curator(catalog)
    dataset = manageable_dataset(catalog, given("dataset", dataset_name))
    holder, wished, end = given("role", role), epsilon_limit("epsilon", epsilon), given("until", until)
    if not catalog.is_ahead(end):
        raise InvalidParameterError(
            f"until is {end}, which has passed",
            "Give the moment until which no other role may spend it, or 'infinity': until discreet.release_budget().",
        )
    if "personal" in catalog.policies(dataset.name):
        raise InvalidParameterError(
            f'people of dataset "{dataset.name}" pay for themselves, and there is nothing to keep for a role',
            "Roles have the limits that discreet.grant_budget() gives.",
        )
    left = catalog.keep_reserve(dataset, holder, wished, end)
    if left is not None:
        raise InvalidParameterError(
            f'epsilon {wished} is more than dataset "{dataset.name}" has left to keep: {left.normalize():f}',
            "Give less; view discreet.budget_status shows what is spent, and what is kept for other roles.",
        )
    if not catalog.holds_budget(dataset.name, holder):
        catalog.notice(
            f'{holder} holds no budget in dataset "{dataset.name}", and cannot spend what is kept for it',
            f"Call discreet.grant_budget('{dataset.name}', '{holder}', {wished}).",
        )


def release_budget(catalog: Catalog, dataset_name: str | None, role: str | None) -> None:
    require_curator(catalog)
    dataset = manageable_dataset(catalog, given("dataset", dataset_name))
    if not catalog.end_reserve(dataset.name, given("role", role)):
        raise UndefinedObjectError(
            f'nothing of dataset "{dataset.name}" is kept for {role}',
            "View discreet.budget_status shows what is kept for whom.",
        )


def require_curator(catalog: Catalog) -> Caller:
    caller = catalog.caller()
    if not (caller.curator or caller.superuser):
        raise InsufficientPrivilegeError(
            f"{caller.name} is not a curator", f"A superuser can: GRANT discreet_curator TO {caller.name};"
        )
    return caller


def own_table(catalog: Catalog, name: str | None, multilevel: bool = False) -> Relation:
    """The table of that name, if the caller is a curator who owns it, or a superuser, and it can be protected.

    `multilevel`: of views, those of multilevel tables, and of tables with sealed columns, are tables, too.
    """
    caller = require_curator(catalog)
    relation = catalog.relation(given("relation", name))
    if relation.kind not in ("r", "p") and not (multilevel and (relation.key is not None or relation.sealed)):
        if relation.sealed:
            raise WrongObjectTypeError(
                f"{relation.quoted_name} has sealed columns; this is not supported for such a table",
                "View discreet.sealed_columns shows its base table, which is an ordinary one.",
            )
        if relation.key is not None:
            raise WrongObjectTypeError(
                f"{relation.quoted_name} is a multilevel table; this is not supported for such a table",
                "Take an ordinary or partitioned table.",
            )
        raise WrongObjectTypeError(
            f"{relation.quoted_name} is {KINDS.get(relation.kind, 'no table')}; only tables are protected",
            "Protect the tables that it reads from."
            if relation.kind in ("v", "m")
            else "Name an ordinary or partitioned table.",
        )
    if relation.system:
        raise WrongObjectTypeError(
            f"{relation.quoted_name} is a system table; only tables of yours are protected",
            "Who may read a system table is decided by GRANT alone.",
        )
    if relation.temporary:
        raise WrongObjectTypeError(
            f"{relation.quoted_name} is a temporary table; only permanent tables are protected",
            "A temporary table is seen by its own session only.",
        )
    if not (relation.owned_by_caller or caller.superuser):
        raise InsufficientPrivilegeError(
            f"{caller.name} does not own {relation.quoted_name}",
            "Its owner, being a curator, or a superuser can do this.",
        )
    # until the end of the transaction no other session drops or alters what is being declared
    catalog.lock_table(relation)
    return relation


def existing_column(catalog: Catalog, relation: Relation, name: str) -> Column:
    column = catalog.column(relation, name)
    if column is None:
        listed = ", ".join(catalog.column_names(relation))
        raise UndefinedColumnError(f'{relation.quoted_name} has no column "{name}"', f"Its columns are: {listed}.")
    return column


def manageable_dataset(catalog: Catalog, name: str) -> Dataset:
    """The dataset of that name, if the caller is its owner, or is a superuser."""
    dataset = catalog.dataset(name)
    if dataset is None:
        known = catalog.dataset_names()
        raise UndefinedObjectError(
            f'there is no dataset "{name}"',
            f"There are: {', '.join(known)}." if known else "Make one with discreet.create_dataset(name, epsilon).",
        )
    if not (catalog.manages(name) or catalog.caller().superuser):
        raise InsufficientPrivilegeError(
            f'{catalog.caller().name} does not own dataset "{name}"', "Who created it, or a superuser, can do this."
        )
    return dataset


def not_protected(relation: Relation) -> DiscreetError:
    return UndefinedObjectError(f"{relation.quoted_name} is not protected", "Call discreet.protect() first.")


def report_readers(catalog: Catalog, relation: Relation) -> None:
    readers = catalog.direct_readers(relation)
    if readers:
        listed = ", ".join(readers)
        catalog.notice(
            f"{relation.quoted_name} is protected, but can still be read directly by: {listed}",
            f"Nothing was revoked. To close it: REVOKE SELECT ON {relation.quoted_name} FROM {listed};",  # noqa: S608
        )
