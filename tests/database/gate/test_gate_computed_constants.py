"""Constants of a question that is given as a text are computed by PostgreSQL, and by nothing of any user."""

from __future__ import annotations

import pytest
from tests.database.gate.conftest import Asker

COUNT = "SELECT count(*) AS n FROM hr.employee WHERE "
COMPUTED = [
    "hired > DATE '2020-01-01' - 2 * INTERVAL '1 year'",
    "hired > to_date('01 Feb 2020', 'DD Mon YYYY')",
    "hired > to_timestamp('2015-05-05', 'YYYY-MM-DD')",
    "hired > make_date(2015, 5, 5) + make_interval(days => 10)",
    "hired > interval '90' day + DATE '2015-05-05'",
    "salary > power(10, 4) * 5",
    "salary > 1.5::numeric(3, 1)",
    "dept = initcap('sales')",
    "dept = ANY (string_to_array('Sales,Legal', ','))",
    "dept IN (initcap('sales'), 'Le' || lower('GAL'))",
    "age(dob) > interval '30 years'",
    "hired > date_trunc('day', now()) - interval '9 years'",
    "extract(year FROM hired) > extract(year FROM now()) - 5",
]


@pytest.mark.parametrize("condition", COMPUTED)
def test_a_constant_is_what_postgresql_computes(asker: Asker, condition: str) -> None:
    (row,) = asker.json(COUNT + condition, 100)
    ((truth,),) = asker.truth(COUNT + condition)
    assert abs(row["n"] - truth) <= 3


def test_names_of_columns_stay(asker: Asker) -> None:
    (row,) = asker.json("SELECT upper('x'), count(*) FROM hr.employee", 100)
    assert row.keys() == {"upper", "count"}
    assert row["upper"] == "X"


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("salary > own.pay()", "function own.pay()"),
        ("dept = current_setting('x.y')", "function current_setting()"),
        ("dept = current_user", "time or user"),
        ("dept = table_to_xml('hr.employee', true, true, '')::text", "function table_to_xml()"),
        ("dept = query_to_xml('SELECT name FROM hr.employee', true, true, '')::text", "function query_to_xml()"),
        ("salary > random()", "function random()"),
        ("salary > 1 / length('')", "division by zero"),
        ("dept = pg_read_file('x')", "function pg_read_file()"),
        ("dept = ANY (ARRAY(SELECT lower('x')))", "ANY or ALL"),
    ],
)
def test_what_is_not_postgresqls_own_is_not_run(asker: Asker, condition: str, words: str) -> None:
    asker.admin.execute(
        "CREATE SCHEMA IF NOT EXISTS own; GRANT USAGE ON SCHEMA own TO PUBLIC;"
        "CREATE OR REPLACE FUNCTION own.pay() RETURNS numeric IMMUTABLE LANGUAGE plpgsql"
        " AS $$ BEGIN RAISE EXCEPTION 'it ran'; END $$"
    )
    refusal = asker.explain(COUNT + condition)["refused"]
    assert words in refusal["message"]
    assert asker.charges() == []
