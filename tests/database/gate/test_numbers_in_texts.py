"""A cast of a text to a number or a truth value is PostgreSQL's where that has one, and no value where it fails."""

from __future__ import annotations

import psycopg
import pytest
from tests.databases import Database

from discreet.gate.arithmetic import cast
from discreet.gate.printer import printed
from discreet.gate.schema import Family
from discreet.gate.tree import Column, Type

TEXTS = [
    "1", "-1", "+2", " 3 ", "\t4\n", ".5", "5.", "1e3", "1E-3", "1e", "e1", "", ".", "--1", "1 2", "1,5", "0x10",
    "1_000", "１", "999999999999999999", "4.9e-324", "1.7976931348623157e308", "1" + "0" * 60, "1\u00a0", "\u20031",
    "t", "TRUE", "tr", "yes", "y", "on", "o", "of", "OFF", "0", "2", "false", "F ", " no", "nope", "true\u00a0", "ſ",
    "NULL", "null",
]  # fmt: skip
# without a value, or with another one: what PostgreSQL refuses for being too large, and spellings of later versions
OTHERWISE = {("int4", "999999999999999999"), ("float8", "0x10"), ("numeric", "0x10")}
LONG = ["0" * 1001, "9223372036854775808", "1e9999", "NaN", "Infinity", "-inf"]


@pytest.mark.parametrize("target", ["int4", "int8", "numeric", "float8", "bool"])
def test_a_text_is_read_as_postgresql_reads_it(database: Database, target: str) -> None:
    connection = database.connect()
    connection.execute("CREATE TABLE said (v text)")
    connection.cursor().executemany("INSERT INTO said VALUES (%s)", [[text] for text in TEXTS + LONG])
    column = Column(1, "v", "said", "public.said", type=Type(Family.TEXT, "text"))
    sql = printed(cast(column, target, False, None))
    given: dict[str, str] = dict(connection.execute(f"SELECT v, ({sql})::text FROM said".encode()).fetchall())
    for text in TEXTS:
        try:
            wanted = connection.execute(f"SELECT (%s::text::{target})::text".encode(), [text]).fetchone()[0]  # type: ignore[index]
        except psycopg.errors.DataError:
            wanted = None
        if (target, text) not in OTHERWISE and not (wanted is not None and len(wanted) > 20):
            assert given[text] == wanted, text
    assert [given[text] for text in LONG[:1] + LONG[3:]] == [None] * 4
