"""The SQL that makes an answer of released numbers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from discreet.core.errors import RefusedShapeError
from discreet.gate.finish import finished_sql, json_sql, rows_sql

PLAN: Any = SimpleNamespace(
    answer_columns=[("m0", "text"), ("m1", "numeric")],
    answer_sql="SELECT m0, m1 FROM measured",
    output=("dept", "count"),
)


def test_released_numbers_become_the_columns_that_were_measured() -> None:
    sql = rows_sql(PLAN)
    assert "(r OPERATOR(pg_catalog.->>) 0)::text AS m0, (r OPERATOR(pg_catalog.->>) 1)::numeric AS m1 FROM" in sql
    assert sql.endswith("SELECT m0, m1 FROM measured")


def test_more_columns_than_a_function_takes_are_joined() -> None:
    wide: Any = SimpleNamespace(answer_columns=[], answer_sql="", output=tuple(f"m{n}" for n in range(120)))
    assert json_sql(wide).count("jsonb_build_object") == 3


def test_a_number_beyond_its_type_becomes_the_last_one_of_it() -> None:
    assert "-32767), 32767)::smallint" in finished_sql(PLAN, [None, "smallint"])


def test_a_value_without_a_type_stays_as_it_is() -> None:
    assert "(c0)::pg_catalog.text AS c0" in finished_sql(PLAN, [None, None])


def test_all_columns_of_an_answer_must_be_named() -> None:
    with pytest.raises(RefusedShapeError, match="has 2 columns, and 1 are named"):
        finished_sql(PLAN, ["text"])
