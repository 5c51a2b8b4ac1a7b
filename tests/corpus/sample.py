"""The sample data as the gate's planner sees them, with declared bounds and categories, and some tables more."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.gate.parse import parse
from discreet.gate.plan import Plan, plan
from discreet.gate.schema import Column, Combination, Dataset, Protection, Relation, Schema
from discreet.gate.times import with_moment

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)

SEXES = ("F", "M")
DEPARTMENTS = ("Executive", "Production", "Engineering", "Sales", "Support", "Finance", "Research", "Legal")
POSITIONS = ("Assistant", "Specialist", "Senior specialist", "Team lead", "Manager", "Director", "CEO")
INSURERS = ("Commonwealth Mutual", "Harbor Health", "State Plan", "Charles River Care", "Seamen's Fund")
WARDS = ("Oncology", "Surgery", "Emergency", "Radiology", "Cardiology", "General practice")
PARTIES = ("Left", "Centre", "Right", "None")
REGIONS = ("Capital", "Coast", "Plains", "Lakes", "Highlands", "Islands")

# Built-in functions that look at nothing but their arguments; tests/database/gate compares this with the server.
HARMLESS = frozenset((
    "abs", "array_agg", "avg", "bool_or", "ceil", "ceiling", "char_length", "count", "dense_rank", "every", "exp",
    "floor", "lag", "lead", "left", "lower", "max", "min", "mod", "mode", "ntile", "percent_rank", "position", "rank",
    "right", "round", "row_number", "sign", "sqrt", "stddev", "string_agg", "strpos", "substring", "sum", "trunc",
    "upper",
))  # fmt: skip


def number(name: str, type_name: str, lower: int, upper: int) -> Column:
    return Column(name, type_name, (Fraction(lower), Fraction(upper)))


def text(name: str, *categories: str) -> Column:
    return Column(name, "text", categories=categories or None)


def protection(dataset: str, unit: str, single: bool, **limits: Any) -> Protection:
    usual = Protection(dataset, unit, "noisy", 1, 1, None, None, single, True)
    return replace(usual, **limits)


def table(
    name: str,
    protected: Protection | None,
    *columns: Column,
    keys: tuple[str, ...] = (),
    combinations: tuple[str, ...] = (),
) -> Relation:
    """`keys` are unique by themselves, each of `combinations`, columns with blanks between them, together."""
    schema, _, relation = name.rpartition(".")
    unique = tuple(frozenset([key]) for key in keys)
    together = tuple(Combination(frozenset(columns.split())) for columns in combinations)
    return Relation(schema, relation, {column.name: column for column in columns}, protected, unique, together)


DAYS = (-20_000, 30_000)  # 1915 to 2052
TABLES = (
    table(
        "hr.employee", protection("staff", "id", True),
        Column("id", "integer", identifies=True), text("name"), text("gender", "F", "M", "X"),
        number("dob", "date", *DAYS), text("zip"), text("dept", *DEPARTMENTS), text("position", *POSITIONS),
        number("salary", "numeric", 0, 200_000), number("hired", "date", *DAYS), keys=("id",),
    ),
    table(
        "clinic.patient", protection("patients", "id", True),
        Column("id", "integer", identifies=True), Column("name", "text", hidden=True), text("zip"),
        number("age", "integer", 0, 120), text("sex", *SEXES), text("diagnosis"), text("insurer", *INSURERS),
        Column("smoker", "boolean"), keys=("id",),
    ),
    table(
        "clinic.visit", protection("patients", "patient_id", False, max_groups=3, max_rows=5),
        Column("id", "bigint", identifies=True), Column("patient_id", "integer", identifies=True),
        number("day", "date", *DAYS), text("ward", *WARDS), number("cost", "numeric", 0, 2000),
        keys=("id",),
    ),
    table(
        "census.person", protection("inhabitants", "id", True),
        Column("id", "integer", identifies=True), text("region", *REGIONS), text("district"),
        number("age", "integer", 0, 120), text("sex", *SEXES), number("income", "numeric", 0, 500_000),
        Column("household", "integer"), keys=("id",),
    ),
    table(
        "census.voter", protection("inhabitants", "id", True),
        Column("id", "integer", identifies=True), number("dob", "date", *DAYS), text("zip"), text("gender", *SEXES),
        text("region", *REGIONS), number("roll_no", "integer", 1, 10_000), Column("voted", "boolean"),
        text("party", *PARTIES), number("donation", "numeric", 0, 1000), number("registered", "date", *DAYS),
        keys=("id",), combinations=("dob gender zip", "region roll_no"),
    ),
    table("hr.secret", protection("others", "id", True, may_ask=False), Column("id", "integer", identifies=True)),
    table(
        "public.zip_area", None,
        text("zip"), text("city"), number("population", "integer", 1, 1_000_000), keys=("zip",),
    ),
    table("public.club", None, text("member"), Column("dob", "date"), text("zip"), text("gender"), text("sport")),
    table("public.calendar", None, Column("day", "date"), text("holiday"), keys=("day",)),
    table("hr.visit", None, text("ward"), number("minutes", "integer", 0, 60), keys=("ward",)),
    table("public.ward_floor", None, text("ward"), number("floor", "integer", 0, 9), number("beds", "integer", 0, 99)),
)  # fmt: skip

SCHEMA = Schema(
    {(relation.schema, relation.name): relation for relation in TABLES}
    | {(None, relation.name): relation for relation in TABLES if relation.schema == "public"},
    {
        name: Dataset(name, accounting, "unbounded", Fraction(1, 10**6))
        for name, accounting in {"staff": "pure", "patients": "pure", "inhabitants": "zcdp", "others": "pure"}.items()
    },
)


@dataclass(frozen=True)
class Question:
    """A statement of the corpus; `code` and `words` are those of its refusal."""

    sql: str
    code: str | None
    words: str
    parameters: tuple[str | None, ...]


def questions(name: str) -> Iterator[Question]:
    """The statements of a file of this folder."""
    code, words, parameters, lines = None, "", (), []
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        refusal = re.fullmatch(r"-- (DP\d{3}|\d{5}): (.*)", line)
        if refusal:
            code, words = refusal.groups()
        elif line.startswith("-- params: "):
            parameters = tuple(json.loads(line.removeprefix("-- params: ")))
        elif line and not line.startswith("--"):
            lines.append(line)
            if line.endswith(";"):
                yield Question("\n".join(lines).removesuffix(";"), code, words, parameters)
                code, words, parameters, lines = None, "", (), []


def planned(sql: str, parameters: tuple[str | None, ...] = (), schema: Schema = SCHEMA) -> Plan:
    return plan(with_moment(parse(sql), lambda: NOON), schema, HARMLESS, parameters)
