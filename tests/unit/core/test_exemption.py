"""Who may exempt a view, on a catalog in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

import pytest
from tests.unit.core.test_curation import ANALYST, CURATOR, SUPERUSER, CatalogInMemory

from discreet.core.curation import Caller, Relation
from discreet.core.declarations import Dataset
from discreet.core.errors import DiscreetError
from discreet.core.exemption import Below, exempt_view

OWN = Below("hr.employee", "staff", owned_by_caller=True)


@dataclass
class CatalogOfViews(CatalogInMemory):
    below: list[Below] = field(default_factory=list)
    exempted: set[str] = field(default_factory=set)
    unions: set[str] = field(default_factory=set)

    def protected_below(self, view: Relation) -> list[Below]:
        return self.below

    def is_union(self, view: Relation) -> bool:
        return view.quoted_name in self.unions

    def exempt(self, view: Relation) -> None:
        self.exempted.add(view.quoted_name)

    def guard(self, view: Relation) -> bool:
        was = view.quoted_name in self.exempted
        self.exempted.discard(view.quoted_name)
        return was


def catalog(who: Caller = CURATOR, *below: Below) -> CatalogOfViews:
    made = CatalogOfViews(who=CURATOR, below=list(below))
    made.add("hr.names", kind="v")
    made.add("hr.employee")
    made.add_dataset(Dataset("staff", Decimal(1), Decimal(0)))
    made.who = who
    return made


@pytest.mark.parametrize("who", [CURATOR, SUPERUSER])
def test_who_owns_dataset_and_table_opens_and_shuts_a_view(who: Caller) -> None:
    views = catalog(who, OWN)
    exempt_view(views, "hr.names", True)
    assert views.exempted == {"hr.names"}
    exempt_view(views, "hr.names", False)
    assert views.exempted == set()


@pytest.mark.parametrize(
    ("who", "below", "name", "exempt", "words"),
    [
        (ANALYST, [OWN], "hr.names", True, "alice is not a curator"),
        (CURATOR, [Below("hr.employee", "staff", False)], "hr.names", True, "does not own hr.employee"),
        (Caller("cyril", False, True), [OWN], "hr.names", True, 'does not own dataset "staff"'),
        (CURATOR, [], "hr.names", True, "names no protected table"),
        (CURATOR, [OWN], "hr.names", False, "is not exempt"),
        (CURATOR, [OWN], "hr.employee", True, "is a table; only views"),
        (CURATOR, [OWN], None, True, "view must not be NULL"),
        (CURATOR, [OWN], "hr.names", None, "exempt must not be NULL"),
    ],
)
def test_all_else_is_refused(
    who: Caller, below: list[Below], name: str | None, exempt: bool | None, words: str
) -> None:
    views = catalog(who, *below)
    with pytest.raises(DiscreetError, match=words):
        exempt_view(views, name, exempt)
    assert views.exempted == set()


def test_a_union_is_not_exempted() -> None:
    views = catalog(CURATOR, OWN)
    views.unions.add("hr.names")
    with pytest.raises(DiscreetError, match="UNION"):
        exempt_view(views, "hr.names", True)
    assert views.exempted == set()
