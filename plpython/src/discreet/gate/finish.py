"""SQL that makes the rows of an answer from its released numbers, which come as $1, an array of arrays in JSON."""

from __future__ import annotations

from typing import Protocol

from discreet.core.errors import RefusedShapeError
from discreet.gate.column_names import unique_names
from discreet.gate.values import literal

WHOLE_NUMBERS = {"smallint": 2**15 - 1, "integer": 2**31 - 1, "bigint": 2**63 - 1}


class Answered(Protocol):
    """A plan: the columns of what was measured, with their types; the SELECT over them; and the names it gives."""

    @property
    def answer_columns(self) -> list[tuple[str, str]]: ...
    @property
    def answer_sql(self) -> str: ...
    @property
    def output(self) -> tuple[str, ...]: ...


def rows_sql(plan: Answered, rows: str = "$1") -> str:
    """The answer, in types of its own; `rows`: where the released numbers are."""
    columns = ", ".join(
        f"(r OPERATOR(pg_catalog.->>) {place})::{kind} AS {name}"
        for place, (name, kind) in enumerate(plan.answer_columns)
    )
    measured = f"SELECT {columns} FROM pg_catalog.jsonb_array_elements({rows}) AS r"
    return f"WITH measured AS ({measured}) {plan.answer_sql}"


def finished_sql(plan: Answered, types: list[str | None]) -> str:
    """The answer in the types that the caller named for it; None: as a text, which the type's own code reads."""
    columns = [f"c{n}" for n in range(len(plan.output))]
    if len(types) != len(columns):
        raise RefusedShapeError(
            f"the answer has {len(columns)} columns, and {len(types)} are named", "Name all of them after AS."
        )
    shown = (
        f"{f'({column})::pg_catalog.text' if kind is None else cast_to(kind, column)} AS {column}"
        for column, kind in zip(columns, types, strict=True)
    )
    return f"SELECT {', '.join(shown)} FROM ({rows_sql(plan)}) AS t({', '.join(columns)})"


def json_sql(plan: Answered) -> str:
    """The answer as a JSON object per row. Columns may share a name in SQL, not in JSON: the second is count_2."""
    columns = [f"c{n}" for n in range(len(plan.output))]
    pairs = [f"{literal(name)}, {column}" for name, column in zip(unique_names(plan.output), columns, strict=True)]
    shown = built("jsonb_build_object", pairs)
    return f"SELECT {shown} FROM ({rows_sql(plan)}) AS t({', '.join(columns)})"


def cast_to(kind: str, column: str) -> str:
    """The cast of a released value to a built-in type; with noise a number may be beyond the last one of its type."""
    last = WHOLE_NUMBERS.get(kind)
    if last is None:
        return f"({column})::{kind}"
    number = f"LEAST(GREATEST(pg_catalog.round(({column})::pg_catalog.numeric), -{last}), {last})::{kind}"
    # PostgreSQL rounds halves of doubles to the even number, those of numerics away from 0
    double = f"({column})::pg_catalog.float8"
    floating = (
        f"CASE WHEN {double} >= {last} THEN ({last})::{kind} WHEN {double} <= -{last} THEN (-{last})::{kind}"
        f" ELSE ({double})::{kind} END"
    )
    is_floating = f"pg_catalog.pg_typeof({column}) = ANY ('{{real,double precision}}'::pg_catalog.regtype[])"
    # LEAST and GREATEST take no notice of NULL
    return f"CASE WHEN {column} IS NULL THEN NULL WHEN {is_floating} THEN {floating} ELSE {number} END"


def built(function: str, items: list[str]) -> str:
    """An array or object of many items: a function takes no more than 100 arguments, an item may be two."""
    parts = (items[first : first + 50] for first in range(0, len(items), 50))
    return " OPERATOR(pg_catalog.||) ".join(f"pg_catalog.{function}({', '.join(part)})" for part in parts)
