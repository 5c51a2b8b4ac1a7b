"""Views over protected tables that a curator lets analysts read as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from discreet.core.curation import KINDS, Catalog, Relation, manageable_dataset, require_curator
from discreet.core.declarations import given
from discreet.core.errors import (
    InsufficientPrivilegeError,
    InvalidParameterError,
    UndefinedObjectError,
    WrongObjectTypeError,
)


@dataclass(frozen=True)
class Below:
    """A protected table that a view names."""

    quoted_name: str
    dataset: str
    owned_by_caller: bool


class ViewCatalog(Catalog, Protocol):
    def protected_below(self, view: Relation) -> list[Below]: ...
    def is_union(self, view: Relation) -> bool:
        """Whether the view is a UNION, INTERSECT or EXCEPT as a whole."""
        ...

    def exempt(self, view: Relation) -> None: ...
    def guard(self, view: Relation) -> bool:
        """Whether the view was exempt before."""
        ...


def exempt_view(catalog: ViewCatalog, name: str | None, exempt: bool | None) -> None:
    """Who opens a protected table, in part or as a whole, must be the one who could unprotect it."""
    caller = require_curator(catalog)
    view = catalog.relation(given("view", name))
    if view.kind != "v":
        raise WrongObjectTypeError(
            f"{view.quoted_name} is {KINDS.get(view.kind, 'a table')}; only views are exempted",
            "What a role may read of a table, or of a copy, is decided by GRANT alone.",
        )
    below = catalog.protected_below(view)
    for table in below:
        manageable_dataset(catalog, table.dataset)
        if not (table.owned_by_caller or caller.superuser):
            raise InsufficientPrivilegeError(
                f"{caller.name} does not own {table.quoted_name}, which {view.quoted_name} names",
                "Its owner, being a curator, or a superuser can do this.",
            )
    if not given("exempt", exempt):
        if not catalog.guard(view):
            raise UndefinedObjectError(
                f"{view.quoted_name} is not exempt", "View discreet.exempt_views shows which views are."
            )
    elif not below:
        raise InvalidParameterError(
            f"{view.quoted_name} names no protected table",
            "Exempt the views that name one; what is read through them is decided by GRANT.",
        )
    elif catalog.is_union(view):
        # PostgreSQL takes a UNION ALL apart, though it is a barrier, and asks its readers' conditions first
        raise InvalidParameterError(
            f"{view.quoted_name} is a UNION, which is no barrier to functions in WHERE",
            "Write it as SELECT * FROM (… UNION ALL …) AS part.",
        )
    else:
        catalog.exempt(view)
