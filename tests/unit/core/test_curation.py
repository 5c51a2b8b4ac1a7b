"""The curator's acts, on a catalog in memory: who may do what to which table, and what is written then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal

import pytest

from discreet.core import curation
from discreet.core.curation import Caller, Catalog, Column, Neighbour, Parent, Past, Relation, WrongUnit
from discreet.core.declarations import ColumnDescription, Dataset, Policy
from discreet.core.errors import DiscreetError

ONE = Decimal(1)
CURATOR = Caller("carol", superuser=False, curator=True)
SUPERUSER = Caller("postgres", superuser=True, curator=False)
ANALYST = Caller("alice", superuser=False, curator=False)
EMPLOYEE = Relation(1, "hr", "employee", "hr.employee", "r", temporary=False, system=False, owned_by_caller=True)


@dataclass
class Table:
    relation: Relation
    columns: list[Column]
    linked_to: list[str] = field(default_factory=list)
    looked_up_by: list[str] = field(default_factory=list)
    references_others: bool = False
    readers: list[str] = field(default_factory=list)
    dataset: str | None = None
    past: Past | None = None
    policy: Policy | None = None
    parent: Parent | None = None
    references: dict[tuple[str, str], str] = field(default_factory=dict)
    descriptions: dict[str, ColumnDescription] = field(default_factory=dict)


@dataclass
class CatalogInMemory:
    """Keeps what the acts write, and finds tables that are linked by name."""

    who: Caller = CURATOR
    tables: dict[str, Table] = field(default_factory=dict)
    datasets: dict[str, Dataset] = field(default_factory=dict)
    budgets: dict[tuple[str, str], tuple[Decimal, Decimal]] = field(default_factory=dict)
    notices: list[tuple[str, str]] = field(default_factory=list)
    owners: dict[str, str] = field(default_factory=dict)
    locked: bool = False
    locked_tables: set[str] = field(default_factory=set)
    spent: dict[str, Decimal] = field(default_factory=dict)
    paying: set[str] = field(default_factory=set)
    server_encoding: str = "UTF8"
    wrong: WrongUnit | None = None
    reserves: dict[tuple[str, str], tuple[Decimal, str]] = field(default_factory=dict)

    def caller(self) -> Caller:
        return self.who

    def require_server_keys(self, relation: Relation) -> None:
        pass

    def sealed_obstacle(self, relation: Relation) -> str | None:
        return None

    def lock(self) -> None:
        self.locked = True

    def relation(self, name: str) -> Relation:
        return self.tables[name].relation

    def table(self, relation: Relation) -> Table:
        return self.tables[relation.quoted_name]

    def column(self, relation: Relation, name: str) -> Column | None:
        return next((column for column in self.table(relation).columns if column.name == name), None)

    def column_names(self, relation: Relation) -> list[str]:
        return [column.name for column in self.table(relation).columns]

    def encoding(self) -> str:
        return self.server_encoding

    def hashable(self, column: Column) -> bool:
        return column.base_type != "money"

    def accepts(self, column: Column, value: str) -> bool:
        return column.base_type != "integer" or value.lstrip("-").isdigit()

    def equal_values(self, column: Column, values: tuple[str, ...]) -> tuple[str, str] | None:
        seen: dict[object, str] = {}
        for value in values:
            first = seen.setdefault(int(value) if column.base_type == "integer" else value, value)
            if first is not value:
                return first, value
        return None

    def compares_bytes(self, column: Column) -> bool:
        return column.collation != "alike"

    def policies(self, dataset: str) -> set[str]:
        return {table.policy.policy for table in self.tables.values() if table.policy and table.dataset == dataset}

    def has_labels(self, dataset: str) -> bool | None:
        labels = {kept.relation.key is not None for kept in self.tables.values() if kept.dataset == dataset}
        return max(labels) if labels else None

    def policy(self, relation: Relation) -> str | None:
        policy = self.table(relation).policy
        return None if policy is None else policy.policy

    def protection(self, relation: Relation) -> Policy | None:
        return self.table(relation).policy

    def one_row_per_person(self, relation: Relation) -> bool:
        policy = self.table(relation).policy
        return policy is not None and policy.unit == "id"

    def set_limits(self, relation: Relation, policy: Policy) -> None:
        self.table(relation).policy = policy

    def linked(self, relation: Relation) -> list[Neighbour]:
        table = self.table(relation)
        people = [(name, True) for name in table.linked_to] + [(name, False) for name in table.looked_up_by]
        protected = [(name, self.tables[name].dataset, about) for name, about in people]
        return [Neighbour(name, dataset, about) for name, dataset, about in protected if dataset is not None]

    def wrong_unit(self, relation: Relation) -> WrongUnit | None:
        return self.wrong

    def references_others(self, relation: Relation) -> bool:
        return self.table(relation).references_others

    def dataset(self, name: str) -> Dataset | None:
        return self.datasets.get(name)

    def dataset_names(self) -> list[str]:
        return sorted(self.datasets)

    def manages(self, dataset: str) -> bool:
        return self.owners[dataset] == self.who.name

    def past(self, relation: Relation) -> Past | None:
        return self.table(relation).past

    def epsilon_spent(self, dataset: str) -> Decimal:
        return self.spent.get(dataset, Decimal(0))

    def has_payers(self, dataset: str) -> bool:
        return dataset in self.paying

    def has_plain_parts(self, relation: Relation) -> bool:
        return True

    def lock_table(self, relation: Relation) -> None:
        self.locked_tables.add(relation.quoted_name)

    def direct_readers(self, relation: Relation) -> list[str]:
        return self.table(relation).readers

    def add_dataset(self, dataset: Dataset) -> None:
        self.datasets[dataset.name] = dataset
        self.owners[dataset.name] = self.who.name

    def unit(self, relation: Relation) -> str | None:
        table = self.table(relation)
        if table.policy is None or table.policy.unit is None:
            return None
        if table.parent is None:
            return table.policy.unit
        (column, *way) = (self.unit(table.parent.relation) or "").split(" -> ", 1)
        return " -> ".join([table.policy.unit, f"{table.parent.relation.quoted_name}.{column}", *way])

    def referenced_key(self, relation: Relation, column: str, parent: Relation) -> str | None:
        return self.table(relation).references.get((column, parent.quoted_name))

    def children(self, relation: Relation) -> list[str]:
        return [name for name, table in self.tables.items() if table.parent and table.parent.relation == relation]

    def add_protection(self, relation: Relation, dataset: str | None, policy: Policy, parent: Parent | None) -> None:
        table = self.table(relation)
        table.dataset, table.policy, table.parent = dataset, policy, parent
        if dataset is not None:
            table.past = Past(dataset, policy.unit if policy.policy == "personal" else None)

    def begin_audit(self, relation: Relation) -> bool:
        return relation.kind == "r"

    def set_column(self, relation: Relation, column: str, description: ColumnDescription) -> None:
        self.table(relation).descriptions[column] = description

    def remove_protection(self, relation: Relation) -> None:
        self.table(relation).dataset = self.table(relation).policy = None

    def set_budget(self, dataset: Dataset, role: str, epsilon: Decimal, delta: Decimal, forever: bool) -> None:
        self.budgets[dataset.name, role] = epsilon, delta

    def revoke_budget(self, dataset: str, role: str) -> bool:
        return self.budgets.pop((dataset, role), None) is not None

    def holds_budget(self, dataset: str, role: str) -> bool:
        return (dataset, role) in self.budgets

    def is_ahead(self, moment: str) -> bool:
        return moment > "2026"

    def keep_reserve(self, dataset: Dataset, role: str, epsilon: Decimal, until: str) -> Decimal | None:
        if epsilon > dataset.epsilon:
            return dataset.epsilon
        self.reserves[dataset.name, role] = epsilon, until
        return None

    def end_reserve(self, dataset: str, role: str) -> bool:
        return self.reserves.pop((dataset, role), None) is not None

    def notice(self, message: str, hint: str) -> None:
        self.notices.append((message, hint))

    def add(self, name: str, *, linked_to: tuple[str, ...] = (), **changed: object) -> Table:
        schema, _, short = name.partition(".")
        relation = replace(EMPLOYEE, oid=len(self.tables) + 1, schema=schema, name=short, quoted_name=name)
        columns = [
            Column("id", "integer", built_in=True, labels=None),
            Column("dept", "text", built_in=True, labels=None),
            Column("mood", "hr.mood", built_in=False, labels=("sad", "glad")),
            Column("place", "hr.place", built_in=False, labels=None),
        ]
        self.tables[name] = Table(replace(relation, **changed), columns, list(linked_to))  # type: ignore[arg-type]
        for other in linked_to:
            self.tables[other].linked_to.append(name)
        return self.tables[name]


@pytest.fixture
def catalog() -> CatalogInMemory:
    made = CatalogInMemory()
    made.add("hr.employee")
    return made


def protect(
    catalog: Catalog,
    name: str | None = "hr.employee",
    dataset: str | None = None,
    epsilon: Decimal | None = None,
    delta: Decimal | None = None,
    policy: Policy = Policy("id"),  # noqa: B008 - frozen
) -> None:
    curation.protect(catalog, name, dataset, epsilon, delta, policy)


def describe(catalog: Catalog, column: str | None = "id", name: str = "hr.employee", **declared: object) -> None:
    curation.describe_column(catalog, name, column, ColumnDescription(**declared))  # type: ignore[arg-type]


def refusal(act: Callable[..., object], *arguments: object, **named: object) -> tuple[str, str, str | None]:
    with pytest.raises(DiscreetError) as caught:
        act(*arguments, **named)
    return caught.value.sqlstate, caught.value.message, caught.value.hint


def test_a_curator_creates_a_dataset(catalog: CatalogInMemory) -> None:
    people = Dataset("people", ONE, Decimal(0))
    curation.create_dataset(catalog, people)
    assert catalog.datasets == {"people": people}
    assert catalog.locked


def test_a_dataset_is_created_once(catalog: CatalogInMemory) -> None:
    people = Dataset("people", ONE, Decimal(0))
    curation.create_dataset(catalog, people)
    assert refusal(curation.create_dataset, catalog, replace(people, epsilon=Decimal(2))) == (
        "42710",
        'dataset "people" exists already',
        "Protect tables with dataset => its name; its limits and what was spent stay as they are.",
    )
    assert catalog.datasets["people"].epsilon == 1


def acts_of_a_curator(catalog: Catalog) -> list[Callable[[], None]]:
    return [
        lambda: curation.create_dataset(catalog, Dataset("people", ONE, Decimal(0))),
        lambda: protect(catalog, epsilon=ONE),
        lambda: describe(catalog, lower=ONE, upper=ONE),
        lambda: curation.unprotect(catalog, "hr.employee"),
        lambda: curation.grant_budget(catalog, "people", "bob", ONE, Decimal(0)),
        lambda: curation.reserve_budget(catalog, "people", "bob", ONE, "2999-01-01"),
        lambda: curation.release_budget(catalog, "people", "bob"),
        lambda: curation.revoke_budget(catalog, "people", "bob"),
    ]


def test_nobody_but_a_curator_or_a_superuser_does_what_curators_do(catalog: CatalogInMemory) -> None:
    catalog.who = ANALYST
    for act in acts_of_a_curator(catalog):
        assert refusal(act) == (
            "42501",
            "alice is not a curator",
            "A superuser can: GRANT discreet_curator TO alice;",
        )
    assert not catalog.locked


def test_a_superuser_does_what_curators_do(catalog: CatalogInMemory) -> None:
    catalog.who = SUPERUSER
    catalog.tables["hr.employee"].relation = replace(EMPLOYEE, owned_by_caller=False)
    create, protecting, describing, unprotecting, *budgets = acts_of_a_curator(catalog)
    for act in (create, protecting, describing, *budgets, unprotecting):
        act()


def test_protecting_makes_a_dataset_named_after_the_table(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE, delta=Decimal("1e-6"))
    assert catalog.datasets == {"hr.employee": Dataset("hr.employee", ONE, Decimal("1e-6"))}
    assert catalog.tables["hr.employee"].dataset == "hr.employee"
    assert catalog.tables["hr.employee"].policy == Policy("id")
    assert catalog.locked


def test_people_are_protected_in_databases_of_one_encoding(catalog: CatalogInMemory) -> None:
    catalog.server_encoding = "LATIN1"
    sqlstate, message, hint = refusal(protect, catalog, epsilon=ONE)
    assert (sqlstate, "the database is in LATIN1" in message, "ENCODING 'UTF8'" in str(hint)) == ("22023", True, True)
    assert catalog.datasets == {}


def test_the_dataset_of_a_table_has_delta_zero_unless_said_otherwise(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    assert catalog.datasets["hr.employee"].delta == 0


def test_protecting_can_name_an_existing_dataset(catalog: CatalogInMemory) -> None:
    catalog.add_dataset(Dataset("people", ONE, Decimal(0)))
    protect(catalog, dataset="people")
    assert catalog.tables["hr.employee"].dataset == "people"
    assert list(catalog.datasets) == ["people"]


@pytest.mark.parametrize("limit", [{"epsilon": ONE}, {"delta": Decimal(0)}])
def test_an_existing_dataset_keeps_its_limits(catalog: CatalogInMemory, limit: dict[str, Decimal]) -> None:
    catalog.add_dataset(Dataset("people", ONE, Decimal(0)))
    assert refusal(protect, catalog, dataset="people", **limit) == (
        "22023",
        "dataset and epsilon are both given",
        "The limits are those of the dataset; leave epsilon and delta out.",
    )


def test_protecting_needs_a_dataset_or_a_budget(catalog: CatalogInMemory) -> None:
    assert refusal(protect, catalog) == (
        "22023",
        "neither a dataset nor an epsilon is given",
        "Give dataset => the name of an existing one, or epsilon => the total budget of a new one.",
    )


@pytest.mark.parametrize(
    ("known", "hint"),
    [([], "Make one with discreet.create_dataset(name, epsilon)."), (["a", "b"], "There are: a, b.")],
)
def test_an_unknown_dataset_is_refused_with_those_there_are(
    catalog: CatalogInMemory, known: list[str], hint: str
) -> None:
    for name in known:
        catalog.add_dataset(Dataset(name, ONE, Decimal(0)))
    assert refusal(protect, catalog, dataset="people") == ("42704", 'there is no dataset "people"', hint)


def test_a_table_is_protected_once(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    assert refusal(protect, catalog, epsilon=ONE) == (
        "42710",
        "hr.employee is protected already",
        "To change its policy, call discreet.unprotect() first.",
    )


def test_protecting_again_does_not_forgive_what_was_spent(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    curation.unprotect(catalog, "hr.employee")
    assert refusal(protect, catalog, epsilon=ONE) == (
        "42710",
        'dataset "hr.employee" exists already, with what was spent on it',
        "Give dataset => 'hr.employee' to go on with it, or create a dataset of another name for other people.",
    )


def test_the_unit_is_a_column_of_the_table(catalog: CatalogInMemory) -> None:
    assert refusal(protect, catalog, epsilon=ONE, policy=Policy("person")) == (
        "42703",
        'hr.employee has no column "person"',
        "Its columns are: id, dept, mood, place.",
    )
    assert catalog.datasets == {}


def test_the_table_is_not_null(catalog: CatalogInMemory) -> None:
    assert refusal(protect, catalog, None, epsilon=ONE) == (
        "22023",
        "relation must not be NULL",
        "Give a value for relation.",
    )


@pytest.mark.parametrize(
    ("kind", "words", "hint"),
    [
        ("v", "a view", "Protect the tables that it reads from."),
        ("m", "a materialized view", "Protect the tables that it reads from."),
        ("f", "a foreign table", "Name an ordinary or partitioned table."),
        ("i", "an index", "Name an ordinary or partitioned table."),
        ("I", "an index", "Name an ordinary or partitioned table."),
        ("S", "a sequence", "Name an ordinary or partitioned table."),
        ("t", "a TOAST table", "Name an ordinary or partitioned table."),
        ("c", "a composite type", "Name an ordinary or partitioned table."),
        ("?", "no table", "Name an ordinary or partitioned table."),
    ],
)
def test_only_tables_are_protected(catalog: CatalogInMemory, kind: str, words: str, hint: str) -> None:
    catalog.add("hr.other", kind=kind)
    assert refusal(protect, catalog, "hr.other", epsilon=ONE) == (
        "42809",
        f"hr.other is {words}; only tables are protected",
        hint,
    )


def test_of_views_those_of_multilevel_tables_are_protected(catalog: CatalogInMemory) -> None:
    catalog.add("hr.staff", kind="v", key=("id",))
    protect(catalog, "hr.staff", epsilon=ONE)
    describe(catalog, "dept", "hr.staff", categories=("x",))
    assert catalog.has_labels("hr.staff") is True


@pytest.mark.parametrize(
    "policy",
    [Policy("id", "audited"), Policy("id", "personal", unit_epsilon=ONE), Policy(None, "public"), Policy("dept")],
)
def test_multilevel_tables_are_under_policy_noisy_by_a_column_of_the_key(
    catalog: CatalogInMemory, policy: Policy
) -> None:
    catalog.add("hr.staff", kind="v", key=("id",))
    epsilon = None if policy.policy == "public" else ONE
    assert refusal(protect, catalog, "hr.staff", epsilon=epsilon, policy=policy)[0] == "22023"
    assert catalog.datasets == {}


def test_a_dataset_holds_multilevel_tables_or_ordinary_ones(catalog: CatalogInMemory) -> None:
    catalog.add("hr.staff", kind="v", key=("id",))
    protect(catalog, epsilon=ONE)
    code, message, _ = refusal(protect, catalog, "hr.staff", dataset="hr.employee")
    assert (code, message) == ("22023", 'dataset "hr.employee" holds ordinary tables, and hr.staff is multilevel')


def test_what_holds_the_rows_of_a_multilevel_table_is_not_protected(catalog: CatalogInMemory) -> None:
    catalog.add("hr.staff_mls", rows_of="hr.staff")
    assert refusal(protect, catalog, "hr.staff_mls", epsilon=ONE)[2] == "Protect hr.staff."


def test_a_partitioned_table_is_protected(catalog: CatalogInMemory) -> None:
    catalog.add("hr.parts", kind="p")
    protect(catalog, "hr.parts", epsilon=ONE)
    assert catalog.tables["hr.parts"].policy


def test_a_system_table_is_not_protected(catalog: CatalogInMemory) -> None:
    catalog.add("pg_catalog.pg_authid", system=True)
    assert refusal(protect, catalog, "pg_catalog.pg_authid", epsilon=ONE) == (
        "42809",
        "pg_catalog.pg_authid is a system table; only tables of yours are protected",
        "Who may read a system table is decided by GRANT alone.",
    )


def test_a_temporary_table_is_not_protected(catalog: CatalogInMemory) -> None:
    catalog.add("pg_temp_3.scratch", temporary=True)
    assert refusal(protect, catalog, "pg_temp_3.scratch", epsilon=ONE) == (
        "42809",
        "pg_temp_3.scratch is a temporary table; only permanent tables are protected",
        "A temporary table is seen by its own session only.",
    )


def test_a_curator_protects_no_table_of_others(catalog: CatalogInMemory) -> None:
    catalog.add("hr.theirs", owned_by_caller=False)
    for act in (
        lambda: protect(catalog, "hr.theirs", epsilon=ONE),
        lambda: describe(catalog, name="hr.theirs"),
        lambda: curation.unprotect(catalog, "hr.theirs"),
    ):
        assert refusal(act) == (
            "42501",
            "carol does not own hr.theirs",
            "Its owner, being a curator, or a superuser can do this.",
        )


def test_a_curator_leaves_datasets_of_others_alone(catalog: CatalogInMemory) -> None:
    catalog.add_dataset(Dataset("people", ONE, Decimal(0)))
    catalog.owners["people"] = "dora"
    for act in (
        lambda: protect(catalog, dataset="people"),
        lambda: curation.grant_budget(catalog, "people", "bob", ONE, Decimal(0)),
        lambda: curation.revoke_budget(catalog, "people", "bob"),
        lambda: curation.reserve_budget(catalog, "people", "bob", ONE, "2999-01-01"),
        lambda: curation.release_budget(catalog, "people", "bob"),
    ):
        assert refusal(act) == (
            "42501",
            'carol does not own dataset "people"',
            "Who created it, or a superuser, can do this.",
        )


def test_a_superuser_manages_datasets_of_others(catalog: CatalogInMemory) -> None:
    catalog.add_dataset(Dataset("people", ONE, Decimal(0)))
    catalog.who = SUPERUSER
    protect(catalog, dataset="people")
    assert catalog.tables["hr.employee"].dataset == "people"


def test_the_dataset_that_pays_for_all_other_tables_is_made_by_a_superuser(catalog: CatalogInMemory) -> None:
    everybodys = Dataset("default", ONE, Decimal(0))
    assert refusal(curation.create_dataset, catalog, everybodys) == (
        "42501",
        'dataset "default" pays for all tables that are not protected',
        "A superuser can create it.",
    )
    catalog.who = SUPERUSER
    curation.create_dataset(catalog, everybodys)
    assert catalog.datasets == {"default": everybodys}


def test_a_table_goes_back_to_the_dataset_its_people_have_spent_from(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    curation.unprotect(catalog, "hr.employee")
    catalog.add_dataset(Dataset("fresh", ONE, Decimal(0)))
    assert refusal(protect, catalog, dataset="fresh") == (
        "22023",
        'hr.employee was protected in dataset "hr.employee" before, and its people have spent from that',
        "Give dataset => 'hr.employee'; only a superuser can move a table to another one.",
    )
    protect(catalog, dataset="hr.employee")
    assert catalog.tables["hr.employee"].dataset == "hr.employee"


def test_a_superuser_moves_a_table_to_another_dataset(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    curation.unprotect(catalog, "hr.employee")
    catalog.who = SUPERUSER
    catalog.add_dataset(Dataset("fresh", ONE, Decimal(0)))
    protect(catalog, dataset="fresh")
    assert catalog.tables["hr.employee"].dataset == "fresh"


def by_themselves(unit: str = "id") -> Policy:
    return Policy(unit, "personal", unit_epsilon=ONE, max_rows=1)


def test_people_who_have_paid_are_named_as_before(catalog: CatalogInMemory) -> None:
    catalog.tables["hr.employee"].columns.append(Column("badge", "integer", True, None))
    protect(catalog, policy=by_themselves())
    curation.unprotect(catalog, "hr.employee")
    catalog.who = SUPERUSER
    assert refusal(protect, catalog, dataset="hr.employee", policy=by_themselves("badge")) == (
        "22023",
        "the people of hr.employee have paid by column id; named by badge, they would all be new",
        "Give unit => 'id'; only a superuser can move a table to another dataset, with fresh budgets.",
    )
    protect(catalog, dataset="hr.employee", policy=by_themselves())
    curation.unprotect(catalog, "hr.employee")
    catalog.add_dataset(Dataset("fresh", ONE, Decimal(0)))
    protect(catalog, dataset="fresh", policy=by_themselves("badge"))
    assert catalog.tables["hr.employee"].dataset == "fresh"


def test_what_all_have_lost_together_is_not_given_to_each_anew(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    curation.unprotect(catalog, "hr.employee")
    catalog.spent["hr.employee"] = Decimal("0.250")
    _, message, _ = refusal(protect, catalog, dataset="hr.employee", policy=by_themselves())
    assert message.startswith('all people of dataset "hr.employee" have lost epsilon 0.25 already')


@pytest.mark.parametrize("policy", [Policy("id"), Policy("id", "audited", fallback="noisy")])
def test_what_people_have_paid_is_not_given_to_all_anew(catalog: CatalogInMemory, policy: Policy) -> None:
    protect(catalog, policy=by_themselves())
    curation.unprotect(catalog, "hr.employee")
    catalog.paying.add("hr.employee")
    _, message, _ = refusal(protect, catalog, dataset="hr.employee", policy=policy)
    assert "have paid for questions themselves" in message
    protect(catalog, dataset="hr.employee", policy=Policy("id", "audited"))


def test_a_table_is_held_still_while_it_is_declared(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    assert catalog.locked_tables == {"hr.employee"}


def test_linked_people_get_no_second_budget(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    catalog.add("hr.bonus", linked_to=("hr.employee",))
    catalog.add_dataset(Dataset("others", ONE, Decimal(0)))
    for wish in ({"epsilon": ONE}, {"dataset": "others"}):
        assert refusal(protect, catalog, "hr.bonus", **wish) == (
            "22023",
            'the people of hr.bonus are those of hr.employee, which is protected in dataset "hr.employee"',
            "A second budget would be spent on the same people: give dataset => 'hr.employee'.",
        )
    assert catalog.tables["hr.bonus"].policy is None


def test_linked_people_share_their_budget(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    catalog.add("hr.bonus", linked_to=("hr.employee",))
    protect(catalog, "hr.bonus", dataset="hr.employee")
    assert catalog.tables["hr.bonus"].dataset == "hr.employee"


def test_a_public_table_belongs_to_no_dataset(catalog: CatalogInMemory) -> None:
    protect(catalog, policy=Policy(None, "public"))
    assert catalog.tables["hr.employee"].dataset is None
    assert catalog.datasets == {}


@pytest.mark.parametrize("budget", [{"epsilon": ONE}, {"delta": ONE}, {"dataset": "people"}])
def test_a_public_table_has_no_budget(catalog: CatalogInMemory, budget: dict[str, object]) -> None:
    assert refusal(protect, catalog, policy=Policy(None, "public"), **budget) == (
        "22023",
        "a public table belongs to no dataset and has no budget",
        "Leave dataset, epsilon and delta out.",
    )


def test_a_table_about_protected_people_is_not_made_public(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    catalog.add("hr.bonus", linked_to=("hr.employee",))
    assert refusal(protect, catalog, "hr.bonus", policy=Policy(None, "public")) == (
        "22023",
        'the people of hr.bonus are those of hr.employee, which is protected in dataset "hr.employee"',
        "Made public, it would tell about them: give unit, and dataset => 'hr.employee'.",
    )


def test_what_a_protected_table_looks_up_can_be_public(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    catalog.add("hr.dept").looked_up_by.append("hr.employee")
    protect(catalog, "hr.dept", policy=Policy(None, "public"))
    assert catalog.tables["hr.dept"].policy == Policy(None, "public")


def test_protecting_tells_who_still_reads_the_table(catalog: CatalogInMemory) -> None:
    catalog.tables["hr.employee"].readers = ["PUBLIC", "bob"]
    protect(catalog, epsilon=ONE)
    assert catalog.notices == [
        (
            "hr.employee is protected, but can still be read directly by: PUBLIC, bob",
            "Nothing was revoked. To close it: REVOKE SELECT ON hr.employee FROM PUBLIC, bob;",
        )
    ]


def test_everybody_may_read_a_public_table(catalog: CatalogInMemory) -> None:
    catalog.tables["hr.employee"].readers = ["PUBLIC"]
    protect(catalog, policy=Policy(None, "public"))
    assert catalog.notices == []


@pytest.mark.parametrize(
    ("table", "hint"),
    [
        ("hr.employee", "Take another."),
        ("hr.bonus", "First call discreet.unprotect('hr.bonus'); then protect it by another column."),
    ],
)
def test_a_unit_that_names_something_else_is_refused(catalog: CatalogInMemory, table: str, hint: str) -> None:
    catalog.wrong = WrongUnit(table, "it names orders", "Take another.")
    assert refusal(protect, catalog, epsilon=ONE) == ("22023", "it names orders", hint)


def test_protecting_tells_of_references_to_other_people(catalog: CatalogInMemory) -> None:
    catalog.tables["hr.employee"].references_others = True
    protect(catalog, epsilon=ONE)
    ((message, _),) = catalog.notices
    assert message == "rows of hr.employee reference people of other protected tables, and its unit does not"


def test_protecting_says_nothing_when_nobody_else_reads_the_table(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    assert catalog.notices == []


def test_a_column_gets_bounds(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    describe(catalog, lower=Decimal(0), upper=ONE)
    assert catalog.tables["hr.employee"].descriptions == {"id": ColumnDescription(Decimal(0), ONE)}


def test_a_column_is_described_after_its_table_is_protected(catalog: CatalogInMemory) -> None:
    for act in (lambda: describe(catalog), lambda: curation.unprotect(catalog, "hr.employee")):
        assert refusal(act) == ("42704", "hr.employee is not protected", "Call discreet.protect() first.")


def test_only_existing_columns_are_described(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    assert refusal(describe, catalog, "salary") == (
        "42703",
        'hr.employee has no column "salary"',
        "Its columns are: id, dept, mood, place.",
    )
    assert refusal(describe, catalog, None) == (
        "22023",
        "column_name must not be NULL",
        "Give a value for column_name.",
    )


def test_text_has_no_bounds(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    assert refusal(describe, catalog, "dept", lower=ONE, upper=ONE) == (
        "22023",
        'column "dept" is of type text, which has no bounds',
        "Numbers, dates and timestamps have bounds: lower => 0, upper => 120, or lower => date '2020-01-01'.",
    )


@pytest.mark.parametrize(("column", "values"), [("id", ("1", "2")), ("dept", ("a", "")), ("mood", ("sad", "glad"))])
def test_a_column_gets_categories(catalog: CatalogInMemory, column: str, values: tuple[str, ...]) -> None:
    protect(catalog, epsilon=ONE)
    describe(catalog, column, categories=values)
    assert catalog.tables["hr.employee"].descriptions[column].categories == values


@pytest.mark.parametrize(
    ("column", "value", "words", "hint"),
    [
        ("id", "one", "integer", "Write it as that type is written."),
        ("mood", "bored", "hr.mood", "Its values are: sad, glad."),
    ],
)
def test_a_category_is_a_value_of_its_column(
    catalog: CatalogInMemory, column: str, value: str, words: str, hint: str
) -> None:
    protect(catalog, epsilon=ONE)
    assert refusal(describe, catalog, column, categories=(value,)) == (
        "22023",
        f"category '{value}' is no value of column \"{column}\", which is of type {words}",
        hint,
    )


def test_two_spellings_of_one_value_are_not_two_categories(catalog: CatalogInMemory) -> None:
    # a person would stand in two groups, while the price assumes one
    protect(catalog, epsilon=ONE)
    assert refusal(describe, catalog, "id", categories=("1", "2", "01")) == (
        "22023",
        "categories '1' and '01' are the same value of column \"id\"",
        "Name each value once.",
    )


def test_a_type_of_the_users_own_has_no_categories(catalog: CatalogInMemory) -> None:
    # to check them its input function would run with the rights of the extension's owner
    protect(catalog, epsilon=ONE)
    assert refusal(describe, catalog, "place", categories=("here",)) == (
        "22023",
        'column "place" is of type hr.place, for which categories cannot be listed',
        "Built-in types, domains over them and enums can have categories.",
    )


def test_unprotecting_keeps_the_dataset(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE)
    curation.unprotect(catalog, "hr.employee")
    assert catalog.tables["hr.employee"].policy is None
    assert list(catalog.datasets) == ["hr.employee"]


@pytest.fixture
def people(catalog: CatalogInMemory) -> CatalogInMemory:
    catalog.add_dataset(Dataset("people", ONE, Decimal("1e-6")))
    return catalog


def test_a_role_gets_a_budget(people: CatalogInMemory) -> None:
    curation.grant_budget(people, "people", "bob", ONE, Decimal("1e-6"))
    assert people.budgets == {("people", "bob"): (ONE, Decimal("1e-6"))}


@pytest.mark.parametrize(("epsilon", "delta"), [(Decimal("1.1"), Decimal(0)), (Decimal("0.1"), Decimal("2e-6"))])
def test_a_role_gets_no_more_than_the_dataset_has(people: CatalogInMemory, epsilon: Decimal, delta: Decimal) -> None:
    assert refusal(curation.grant_budget, people, "people", "bob", epsilon, delta) == (
        "22023",
        f'epsilon {epsilon}, delta {delta} is more than dataset "people" has: epsilon 1, delta 0.000001',
        "A role's limit is a part of the dataset's; give less.",
    )


@pytest.mark.parametrize("epsilon", [Decimal("NaN"), Decimal(-1), Decimal(0), Decimal("Infinity")])
def test_a_roles_budget_is_a_budget(people: CatalogInMemory, epsilon: Decimal) -> None:
    assert refusal(curation.grant_budget, people, "people", "bob", epsilon, Decimal(0)) == (
        "22023",
        f"epsilon is {epsilon}, which is not a budget",
        "Give a number from 1E-9 to 1000; usual totals are 0.1 to 10.",
    )


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((None, "bob", ONE, Decimal(0)), "dataset"),
        (("people", None, ONE, Decimal(0)), "role"),
        (("people", "bob", None, Decimal(0)), "epsilon"),
        (("people", "bob", ONE, None), "delta"),
    ],
)
def test_a_budget_has_no_nulls(people: CatalogInMemory, arguments: tuple[object, ...], name: str) -> None:
    assert refusal(curation.grant_budget, people, *arguments) == (
        "22023",
        f"{name} must not be NULL",
        f"Give a value for {name}.",
    )


def test_a_budget_is_taken_away(people: CatalogInMemory) -> None:
    curation.grant_budget(people, "people", "bob", ONE, Decimal(0))
    curation.revoke_budget(people, "people", "bob")
    assert people.budgets == {}


def test_only_a_budget_that_is_held_is_taken_away(people: CatalogInMemory) -> None:
    assert refusal(curation.revoke_budget, people, "people", "bob") == (
        "42704",
        'bob holds no budget in dataset "people"',
        "View discreet.budget_status shows who does.",
    )
    for arguments, name in (((None, "bob"), "dataset"), (("people", None), "role")):
        assert refusal(curation.revoke_budget, people, *arguments) == (
            "22023",
            f"{name} must not be NULL",
            f"Give a value for {name}.",
        )


def test_a_part_of_a_budget_is_kept_for_a_role(people: CatalogInMemory) -> None:
    curation.grant_budget(people, "people", "bob", ONE, Decimal(0))
    curation.reserve_budget(people, "people", "bob", ONE, "2999-01-01")
    assert people.reserves == {("people", "bob"): (ONE, "2999-01-01")}
    assert people.notices == []
    curation.release_budget(people, "people", "bob")
    assert people.reserves == {}
    assert refusal(curation.release_budget, people, "people", "bob") == (
        "42704",
        'nothing of dataset "people" is kept for bob',
        "View discreet.budget_status shows what is kept for whom.",
    )


def test_what_is_kept_for_a_role_without_a_budget_is_a_notice(people: CatalogInMemory) -> None:
    curation.reserve_budget(people, "people", "bob", ONE, "2999-01-01")
    assert people.notices == [
        (
            'bob holds no budget in dataset "people", and cannot spend what is kept for it',
            "Call discreet.grant_budget('people', 'bob', 1).",
        )
    ]


@pytest.mark.parametrize(
    ("epsilon", "until", "message"),
    [
        (Decimal(0), "2999-01-01", "epsilon is 0, which is not a budget"),
        (Decimal(2), "2999-01-01", 'epsilon 2 is more than dataset "people" has left to keep: 1'),
        (ONE, "1999-01-01", "until is 1999-01-01, which has passed"),
        (ONE, None, "until must not be NULL"),
        (None, "2999-01-01", "epsilon must not be NULL"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    people: CatalogInMemory, epsilon: Decimal | None, until: str | None, message: str
) -> None:
    assert refusal(curation.reserve_budget, people, "people", "bob", epsilon, until)[:2] == ("22023", message)
    assert people.reserves == {}


def test_a_budget_of_an_unknown_dataset_is_refused(catalog: CatalogInMemory) -> None:
    for act in (
        lambda: curation.grant_budget(catalog, "people", "bob", ONE, Decimal(0)),
        lambda: curation.revoke_budget(catalog, "people", "bob"),
        lambda: curation.reserve_budget(catalog, "people", "bob", ONE, "2999-01-01"),
        lambda: curation.release_budget(catalog, "people", "bob"),
    ):
        assert refusal(act) == (
            "42704",
            'there is no dataset "people"',
            "Make one with discreet.create_dataset(name, epsilon).",
        )


@pytest.mark.parametrize("policy", ["personal", "audited"])
def test_people_whose_names_are_written_down_have_names_of_built_in_types(policy: str) -> None:
    """A cast to text of a user's type is anybody's code."""
    catalog = CatalogInMemory(who=CURATOR)
    catalog.add("hr.employee")
    wished = Policy("mood", policy, unit_epsilon=Decimal(1) if policy == "personal" else None)
    told = refusal(protect, catalog, epsilon=ONE, policy=wished)
    assert "column mood is of type hr.mood" in str(told)


def test_how_many_rows_of_a_person_count_is_said_where_the_unit_is_not_unique(catalog: CatalogInMemory) -> None:
    assert refusal(protect, catalog, epsilon=ONE, policy=Policy("dept")) == (
        "22023",
        "max_rows is missing: column dept of hr.employee is not unique and NOT NULL, so a person may have many rows",
        "Give max_rows, the most rows of one person that count in a group. For a private proposal: "
        "SELECT discreet.create_dataset('hr.employee', 1); "
        "SELECT * FROM discreet.suggest_rows('hr.employee', 'dept', 'hr.employee', 0.1);",
    )


def test_the_proposal_of_rows_is_paid_by_the_dataset_that_is_named(catalog: CatalogInMemory) -> None:
    catalog.add_dataset(Dataset("people", ONE, Decimal(0)))
    _, _, hint = refusal(protect, catalog, dataset="people", policy=Policy("dept"))
    assert hint is not None
    assert hint.endswith("proposal: SELECT * FROM discreet.suggest_rows('hr.employee', 'dept', 'people', 0.1);")


def test_limits_are_altered_one_by_one(catalog: CatalogInMemory) -> None:
    protect(catalog, epsilon=ONE, policy=Policy("dept", max_rows=3, max_epsilon=ONE))
    describe(catalog, "id", lower=ONE, upper=ONE)
    curation.alter_protection(catalog, "hr.employee", None, None, 7, None, Decimal(0))
    kept = catalog.tables["hr.employee"]
    assert kept.policy == Policy("dept", max_rows=3, max_epsilon=ONE, max_total_rows=7, max_delta=Decimal(0))
    assert list(kept.descriptions) == ["id"]


def test_limits_are_altered_within_reason(catalog: CatalogInMemory) -> None:
    def alter(rows: int | None = None, total: int | None = None) -> None:
        curation.alter_protection(catalog, "hr.employee", rows, None, total, None, None)

    assert refusal(alter) == ("42704", "hr.employee is not protected", "Call discreet.protect() first.")
    protect(catalog, policy=by_themselves())
    assert refusal(alter, 0)[1] == "max_rows is 0, but must be at least 1"
    assert refusal(alter, 1, 5)[1] == "max_total_rows belongs to policy 'noisy', not to 'personal'"
    catalog.add("hr.dept")
    protect(catalog, "hr.dept", policy=Policy(None, "public"))
    public = refusal(curation.alter_protection, catalog, "hr.dept", 2, None, None, None, None)
    assert public[1] == "hr.dept is public, and has no limits"


@pytest.mark.parametrize(
    ("column", "declared", "problem"),
    [
        ("dept", {"others": "rest"}, "others is given without categories"),
        ("dept", {"others": "a", "categories": ("a",)}, "others is 'a', which is a category already"),
        ("id", {"others": "rest", "categories": ("1",)}, "others is 'rest', which is no value of column \"id\""),
        ("id", {"others": "01", "categories": ("1",)}, "others is '01', the same value of column \"id\" as"),
    ],
)
def test_the_group_of_all_others_has_a_name_of_its_own(
    catalog: CatalogInMemory, column: str, declared: dict[str, object], problem: str
) -> None:
    protect(catalog, epsilon=ONE)
    assert refusal(describe, catalog, column, **declared)[1].startswith(problem)


def test_bounds_are_read_as_the_type_of_the_column(catalog: CatalogInMemory) -> None:
    catalog.tables["hr.employee"].columns += [
        Column("born", "date", True, None),
        Column("seen", "timestamp with time zone", True, None),
    ]
    protect(catalog, epsilon=ONE)
    found = catalog.tables["hr.employee"].descriptions
    describe(catalog, "born", lower="1970-01-02", upper="2000-01-01 23:59:00+00")
    assert (found["born"].lower, found["born"].upper) == (Decimal(1), Decimal(10957))
    describe(catalog, "seen", lower="1970-01-02", upper="1970-01-02 01:00:00.5+01")
    assert (found["seen"].lower, found["seen"].upper) == (Decimal(86400), Decimal("86400.5"))
    describe(catalog, "id", lower="0", upper=" 12 ")
    assert (found["id"].lower, found["id"].upper) == (Decimal(0), Decimal(12))
    for end in ("infinity", "yesterday", "0044-03-15 BC"):
        assert refusal(describe, catalog, "born", lower=end, upper="2000-01-01")[1] == (
            f"lower is '{end}', which is no date"
        )
    reversed_ends = refusal(describe, catalog, "born", lower="2000-01-02", upper="2000-01-01")
    assert reversed_ends[1] == "lower 10958 is above upper 10957"
