"""What a column's type, constraints, name and comment say of it: bounds, categories, or that it is to be hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from discreet.adopt.catalog import Column, Table
from discreet.core.checks import NUMBERS, TEXTS, TIMES, Known, implied, known_by
from discreet.core.declarations import ColumnDescription

# values that are rarely grouped or summed up, and that often identify a person
OPAQUE = frozenset(["json", "jsonb", "xml", "bytea", "inet", "cidr", "macaddr", "macaddr8", "tsvector", "point", "box"])

# words of a column's name, in the singular; a column of text that has one of them is hidden
NAMES = frozenset([
    "name", "firstname", "lastname", "surname", "forename", "fullname", "nickname", "username", "login", "alias",
    "maiden", "initials", "birthname",
])  # fmt: skip
CONTACTS = frozenset([
    "email", "mail", "phone", "telephone", "tel", "mobile", "cell", "fax", "address", "addr", "street", "house",
    "apartment", "iban", "bic", "account", "card", "pan", "ssn", "passport", "licence", "license", "plate", "vat",
    "insurance", "password", "passwd", "pwd", "hash", "salt", "token", "secret", "session", "cookie", "device", "agent",
    "useragent", "ip", "host", "url", "uri", "link", "website", "homepage", "avatar", "photo", "image", "picture",
    "file", "path", "handle", "twitter", "facebook", "instagram", "linkedin", "skype", "geom", "geometry", "location",
    "coordinate",
])  # fmt: skip
FREE_TEXTS = frozenset([
    "comment", "note", "remark", "description", "body", "message", "text", "content", "bio", "biography", "subject",
    "memo", "detail", "summary", "reason", "answer", "feedback", "review", "signature", "history", "log", "word",
    "story", "request", "transcript",
])  # fmt: skip
# where a person is, whatever the type
PLACES = frozenset(["lat", "latitude", "lon", "lng", "longitude"])
# words of a comment that say the same
TOLD = re.compile(r"\b(personal|confidential|free[ -]text|e-?mail|phone|name of|surname|contact|private|pii)\b", re.I)
# bounds that a name has by what it means
RANGES = {"age": (0, 120), "percent": (0, 100), "percentage": (0, 100), "pct": (0, 100)}
# a wider range, by the type alone, makes more noise than sums are worth
WIDEST_DIGITS = 4
PRECISION = re.compile(r"numeric\((\d+),(\d+)\)")


@dataclass(frozen=True)
class Declaration:
    """A describe_column() to make, and why."""

    column: str
    description: ColumnDescription
    reason: str
    type: str


def words(name: str) -> set[str]:
    """The words of a name that is written with_lines or inCamelCase; of plurals the singular, too."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    found = {part.lower() for part in parts}
    return (
        found | {word[:-2] for word in found if word.endswith("es")} | {word[:-1] for word in found if word[-1] == "s"}
    )


def declarations(table: Table, unit: str, person_keys: frozenset[str]) -> Iterator[Declaration]:
    """What to declare of the columns of a table about people that are not declared yet.

    `person_keys`: columns that reference people; beside the unit they name other people.
    """
    for column in table.columns:
        if column.declared or column.name == unit:
            continue
        if column.name in person_keys:
            yield hidden(column, "it names another person")
            continue
        found = declared(table, column)
        if found is not None:
            yield found


def declared(table: Table, column: Column) -> Declaration | None:
    known = known_by(column.checks, column.type)
    allowed = implied(column.type, column.labels, column.checks).categories
    if allowed is not None:
        why = f"type {column.written_type}" if known.values is None else "a CHECK lists its values"
        return Declaration(column.name, ColumnDescription(categories=allowed), why, column.type)
    referencing = any(column.name in reference.columns for reference in table.references)
    secret = None if referencing else why_hidden(table, column)
    if secret is not None:
        return hidden(column, secret)
    return bounded(column, known)


def why_hidden(table: Table, column: Column) -> str | None:
    """Why a column is not for questions; doubt hides it."""
    found = words(column.name)
    if column.comment is not None and TOLD.search(column.comment):
        return "its comment says that it is personal"
    if found & PLACES:
        return "it tells where a person is"
    if column.type in OPAQUE or column.type.endswith("[]") or not (column.built_in or column.labels):
        return f"values of type {column.written_type or column.type} can tell anything"
    if column.type not in TEXTS:
        return None
    if column.name in table.unique:
        return "its texts are unique"
    for kind, listed in (("a name", NAMES), ("a contact", CONTACTS), ("free text", FREE_TEXTS)):
        if found & listed:
            return f"by its name it holds {kind}"
    return None


def hidden(column: Column, reason: str) -> Declaration:
    return Declaration(column.name, ColumnDescription(visibility="hidden"), reason, column.type)


def bounded(column: Column, known: Known) -> Declaration | None:
    if column.type not in NUMBERS | TIMES:
        return None
    lower, upper = known.bounds(column.type)
    reason = "a CHECK bounds it"
    if (lower is None or upper is None) and (of_type := range_of_type(column)) is not None:
        reason = f"type {column.written_type}" if lower is None and upper is None else "a CHECK and its type bound it"
        lower, upper = (of_type[0] if lower is None else lower), (of_type[1] if upper is None else upper)
    if (lower is None or upper is None) and column.type in NUMBERS:
        named = next((RANGES[word] for word in sorted(words(column.name)) if word in RANGES), None)
        if named is not None:
            reason = "by its name"
            lower, upper = (
                (Decimal(named[0]) if lower is None else lower),
                (Decimal(named[1]) if upper is None else upper),
            )
    if lower is None or upper is None or lower > upper:
        return None
    return Declaration(column.name, ColumnDescription(lower, upper), reason, column.type)


def range_of_type(column: Column) -> tuple[Decimal, Decimal] | None:
    found = PRECISION.fullmatch(column.written_type)
    if found is None:
        return None
    precision, scale = int(found[1]), int(found[2])
    if not 0 <= precision - scale <= WIDEST_DIGITS:
        return None
    end = Decimal(10) ** (precision - scale) - Decimal(10) ** -scale
    return -end, end


def unbounded(table: Table, unit: str, found: tuple[Declaration, ...]) -> list[str]:
    """Columns of numbers that could be summed up if a curator declared their bounds."""
    keys = {column for reference in table.references for column in reference.columns} | table.unique | {unit}
    settled = {each.column for each in found}
    return [
        column.name
        for column in table.columns
        if column.type in NUMBERS and not column.declared and column.name not in keys | settled
        and not words(column.name) & {"id", "no", "number", "code", "zip"}
    ]  # fmt: skip
