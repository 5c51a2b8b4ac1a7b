"""What rr_column declares, on a catalog in memory: which columns, units and domains it takes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from discreet.core.curation import Caller, Column, Relation
from discreet.core.errors import DiscreetError
from discreet.local.columns import Catalog, Placement, ResponseColumn, rr_column

CAROL = Caller("carol", superuser=False, curator=True)
POLL = Relation(1, "hr", "poll", "hr.poll", "r", temporary=False, system=False, owned_by_caller=True)
PLAIN = Placement(
    domain_types=False, generated=False, partition_key=False, inherits=False, has_responses=False, earlier_triggers=()
)
COLUMNS = [
    Column("id", "integer", True, None),
    Column("smoker", "boolean", True, None),
    Column("dept", "text", True, None),
    Column("grade", "integer", True, None),
    Column("mood", "hr.mood", False, ("sad", "glad")),
    Column("born", "date", True, None),
    Column("code", "numeric", True, None),
]


@dataclass
class CatalogInMemory:
    """One table, and what was declared about it."""

    unit: str | None = "id"
    place: Placement = PLAIN
    rows: bool = False
    who: Caller = CAROL
    stopped: bool = False
    added: list[ResponseColumn] = field(default_factory=list)

    def caller(self) -> Caller:
        return self.who

    def relation(self, name: str) -> Relation:
        return POLL

    def lock_table(self, relation: Relation) -> None: ...

    def column(self, relation: Relation, name: str) -> Column | None:
        return next((column for column in COLUMNS if column.name == name), None)

    def column_names(self, relation: Relation) -> list[str]:
        return [column.name for column in COLUMNS]

    def accepts(self, column: Column, value: str) -> bool:
        return column.base_type != "integer" or value.strip().isdigit()

    def equal_values(self, column: Column, values: tuple[str, ...]) -> tuple[str, str] | None:
        return None

    def usual_unit(self, relation: Relation) -> str | None:
        return self.unit

    def placement(self, relation: Relation, column: Column, unit: Column) -> Placement:
        return self.place

    def printed(self, column: Column, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(value.strip() for value in values)

    def stop_writers(self, relation: Relation) -> None:
        self.stopped = True

    def has_rows(self, relation: Relation) -> bool:
        assert self.stopped, "a row could come in between"
        return self.rows

    def add_responses(self, relation: Relation, responses: ResponseColumn) -> None:
        self.added.append(responses)


def declare(memory: CatalogInMemory, column: str | None, epsilon: Any = 1.0, *domain: str, unit: Any = None) -> None:
    rr_column(cast(Catalog, memory), "hr.poll", column, epsilon, domain or None, unit)


@pytest.mark.parametrize(
    ("column", "domain", "kept"),
    [
        ("smoker", (), ("f", "t")),
        ("dept", ("a", "b"), ("a", "b")),
        ("grade", (" 1", "2"), ("1", "2")),
        ("mood", (), ("sad", "glad")),
        ("mood", ("glad", "sad"), ("glad", "sad")),
    ],
)
def test_a_column_gets_its_domain(column: str, domain: tuple[str, ...], kept: tuple[str, ...]) -> None:
    memory = CatalogInMemory()
    declare(memory, column, 1.5, *domain)
    assert memory.added == [ResponseColumn(column, "id", 1.5, kept)]


def refusal(memory: CatalogInMemory, *arguments: Any, **named: Any) -> str:
    with pytest.raises(DiscreetError) as caught:
        declare(memory, *arguments, **named)
    assert memory.added == []
    return caught.value.message


@pytest.mark.parametrize("epsilon", [None, 0.0, -1.0, 1e-7, 101.0, float("nan"), float("inf")])
def test_an_epsilon_out_of_range_is_refused(epsilon: float | None) -> None:
    assert "epsilon" in refusal(CatalogInMemory(), "smoker", epsilon)


@pytest.mark.parametrize(
    ("column", "domain", "message"),
    [
        (None, (), "column_name must not be NULL"),
        ("gone", (), 'has no column "gone"'),
        ("smoker", ("t", "f"), "values of a boolean column are known"),
        ("dept", (), "domain must not be NULL"),
        ("dept", ("a",), "1 values are listed"),
        ("dept", ("a", "a"), "listed twice"),
        ("grade", ("1", "x"), "is no value of column"),
        ("mood", ("sad", "mad"), "is no value of column"),
        ("born", ("2000-01-01", "2000-01-02"), "cannot be randomised"),
    ],
)
def test_a_domain_that_does_not_fit_is_refused(column: str | None, domain: tuple[str, ...], message: str) -> None:
    assert message in refusal(CatalogInMemory(), column, 1.0, *domain)


def test_a_null_in_the_domain_is_refused() -> None:
    with pytest.raises(DiscreetError, match="must not be NULL"):
        rr_column(cast(Catalog, CatalogInMemory()), "hr.poll", "dept", 1.0, ("a", None), None)


def test_the_person_must_be_known_by_a_column_with_one_spelling() -> None:
    assert "names the person" in refusal(CatalogInMemory(unit=None), "smoker")
    assert "cannot name the person" in refusal(CatalogInMemory(), "smoker", unit="code")
    assert "randomised and name" in refusal(CatalogInMemory(), "dept", 1.0, "a", "b", unit="dept")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (replace(PLAIN, domain_types=True), "domain type"),
        (replace(PLAIN, generated=True), "generated"),
        (replace(PLAIN, partition_key=True), "partition of a row"),
        (replace(PLAIN, inherits=True), "inherits"),
        (replace(PLAIN, has_responses=True), "already"),
        (replace(PLAIN, earlier_triggers=("!first",)), "would see the truth before it is randomised: !first"),
    ],
)
def test_a_column_on_which_a_trigger_would_not_hold_is_refused(place: Placement, message: str) -> None:
    assert message in refusal(CatalogInMemory(place=place), "smoker")


def test_rows_that_hold_the_truth_already_are_refused() -> None:
    assert "has rows, which hold the truth" in refusal(CatalogInMemory(rows=True), "smoker")


def test_only_a_curator_declares() -> None:
    memory = CatalogInMemory(who=Caller("alice", superuser=False, curator=False))
    assert "is not a curator" in refusal(memory, "smoker")
