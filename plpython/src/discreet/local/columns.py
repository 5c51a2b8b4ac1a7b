"""Columns that hold randomised responses: what a curator declares, checked before a trigger is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from discreet.core import curation
from discreet.core.curation import Column, Relation, check_categories, existing_column, own_table
from discreet.core.declarations import given
from discreet.core.errors import DuplicateObjectError, InvalidParameterError, WrongObjectTypeError

LEAST_EPSILON, MOST_EPSILON = 1e-6, 100.0
MOST_CHOICES = 65536
TRUTH_VALUES = ("f", "t")
WHOLE_NUMBERS = ("smallint", "integer", "bigint")
TEXTS = ("text", "character varying")
# equal values of these have equal texts, by which a person is known again
UNIT_TYPES = (*WHOLE_NUMBERS, *TEXTS, "uuid")


@dataclass(frozen=True)
class Placement:
    """What a trigger on this column, with this unit, would have to cope with."""

    domain_types: bool
    generated: bool
    partition_key: bool
    inherits: bool
    has_responses: bool
    earlier_triggers: tuple[str, ...]


@dataclass(frozen=True)
class ResponseColumn:
    """How the responses of a column are drawn; *domain* in the spelling in which the column's type prints."""

    column: str
    unit: str
    epsilon: float
    domain: tuple[str, ...]


class Catalog(curation.Catalog, Protocol):
    """What is needed beside the catalog of protections."""

    def usual_unit(self, relation: Relation) -> str | None:
        """The unit of a protected table, or else the only column of the primary key."""
        ...

    def placement(self, relation: Relation, column: Column, unit: Column) -> Placement: ...
    def printed(self, column: Column, values: tuple[str, ...]) -> tuple[str, ...]: ...
    def stop_writers(self, relation: Relation) -> None:
        """Until the end of the transaction no other session writes to the table."""
        ...

    def has_rows(self, relation: Relation) -> bool: ...
    def add_responses(self, relation: Relation, responses: ResponseColumn) -> None: ...


def rr_column(
    catalog: Catalog,
    name: str | None,
    column_name: str | None,
    epsilon: float | None,
    domain: tuple[str | None, ...] | None,
    unit_name: str | None,
) -> None:
    """Declares that the column holds responses from now on.

    Guarantee: all that the table, and whatever the extension keeps, will ever hold of a person's values in this column
    is one randomised response, so it satisfies local differential privacy of this epsilon, however often the person's
    row is written, deleted and written anew, and with whatever values.
    """
    relation = own_table(catalog, name)
    column = existing_column(catalog, relation, given("column_name", column_name))
    unit = unit_of(catalog, relation, unit_name)
    if unit.name == column.name:
        raise InvalidParameterError("a column cannot be randomised and name the person", "Name another unit.")
    check_placement(relation, column, unit, catalog.placement(relation, column, unit))
    responses = ResponseColumn(
        column.name, unit.name, checked_epsilon(epsilon), checked_domain(catalog, column, domain)
    )
    catalog.stop_writers(relation)
    if catalog.has_rows(relation):
        raise WrongObjectTypeError(
            f"{relation.quoted_name} has rows, which hold the truth",
            "Make a new table, call rr_column() for it, then INSERT … SELECT and drop the old one.",
        )
    catalog.add_responses(relation, responses)


def unit_of(catalog: Catalog, relation: Relation, name: str | None) -> Column:
    """The column that names the person, if people can be known again by it."""
    name = name or catalog.usual_unit(relation)
    if name is None:
        raise InvalidParameterError(
            f"it is not known which column of {relation.quoted_name} names the person",
            "Give unit => that column: a person's response stays the same.",
        )
    unit = existing_column(catalog, relation, name)
    if unit.base_type not in UNIT_TYPES:
        raise InvalidParameterError(
            f'column "{unit.name}" of type {unit.base_type} cannot name the person of a response',
            f"Take a column of type {', '.join(UNIT_TYPES[:-1])} or {UNIT_TYPES[-1]}.",
        )
    return unit


def check_placement(relation: Relation, column: Column, unit: Column, placement: Placement) -> None:
    of_table = f'column "{column.name}" of {relation.quoted_name}'
    if placement.has_responses:
        raise DuplicateObjectError(
            f"{of_table} holds randomised responses already",
            "A second draw would tell more; drop its trigger first if that is meant.",
        )
    if placement.domain_types:
        raise InvalidParameterError(
            f'"{column.name}" or "{unit.name}" is of a domain type, whose checks would run in our name',
            "Take the type below.",
        )
    if placement.generated:
        raise InvalidParameterError(f"{of_table} is generated from others", "Randomise those instead.")
    if placement.partition_key:
        raise InvalidParameterError(
            f"{of_table} decides on the partition of a row, which would tell the truth",
            "Partition by another column.",
        )
    if placement.inherits:
        raise WrongObjectTypeError(
            f"{relation.quoted_name} inherits from another table or is inherited from",
            "Triggers are not inherited; use partitions, or one table.",
        )
    if placement.earlier_triggers:
        listed = ", ".join(placement.earlier_triggers)
        raise InvalidParameterError(
            f"a trigger of {relation.quoted_name} would see the truth before it is randomised: {listed}",
            "Triggers run in the order of their names; rename it to one that begins with a letter.",
        )


def checked_epsilon(epsilon: float | None) -> float:
    epsilon = given("epsilon", epsilon)
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise InvalidParameterError(
            f"epsilon of a randomised response must be from {LEAST_EPSILON:g} to {MOST_EPSILON:g}",
            "At epsilon 1, a yes or no is true with a probability of 73 %; at 3, of 95 %.",
        )
    return epsilon


def checked_domain(catalog: Catalog, column: Column, domain: tuple[str | None, ...] | None) -> tuple[str, ...]:
    """The values that can be reported, as the column's type prints them."""
    if column.base_type == "boolean":
        if domain is not None:
            raise InvalidParameterError("the values of a boolean column are known", "Leave domain out.")
        return TRUTH_VALUES
    if column.labels is not None and domain is None:
        domain = column.labels
    if column.labels is None and column.base_type not in (*WHOLE_NUMBERS, *TEXTS):
        raise InvalidParameterError(
            f'column "{column.name}" is of type {column.base_type}, whose values cannot be randomised',
            "Columns of type boolean, text, character varying, whole numbers and enums can.",
        )
    listed = tuple(given("a value of the domain", value) for value in given("domain", domain))
    if not 2 <= len(listed) <= MOST_CHOICES:
        raise InvalidParameterError(f"{len(listed)} values are listed, but must be from 2 to {MOST_CHOICES}")
    check_categories(catalog, column, listed)
    if len(set(listed)) < len(listed):
        raise InvalidParameterError("a value of the domain is listed twice", "Name each value once.")
    return listed if column.labels is not None else catalog.printed(column, listed)
