"""The parser of pglast, its printer and the server's parser: what one reads, the others must read too.

Never the attacker's text is run, only what was printed from the checked tree; so a tree that is printed wrongly would
be another question than the one that was checked and paid.
"""

import pytest
from tests.attacks.gate.asking import ask, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

# read by the server directly, and through pglast and its printer
EXPRESSIONS = [
    r"'a\'::text", r"'a\' || 'b'", r"E'a\'b'::text", r"E'\\'::text", r"U&'d\0061t'::text", "$$a'b\\c$$::text",
    "$x$ -- $x$::text", "'a''b'::text", "'/* no */ -- comment'::text", "'a'\n'b'::text", "'$1'::text", "'é' = 'é'",
    "1 - - 1", "1 - (-1)", "-(- 2)", "-2 * -3", "2 - (3 - 4)", "2 / (3 * 4.0)", "-(2 + 3)", "-2 ^ 2", "2 ^ 3 ^ 2",
    "-1::int", "(-1)::text", "- 1::text::int", "10 / 4", "10 / 4.0", "-7 / 2", "-7 % 3", "2 * (3 % 2)", "1 << 2 + 1",
    "(2 < 3) = true", "NOT (true AND false) OR true", "NOT true = false", "(NOT true) = false", "1.", ".5", "1e3",
    "true AND (false OR true)", "1 BETWEEN 0 AND 2 AND false", "NOT 1 BETWEEN 2 AND 3", "1 NOT BETWEEN 2 AND 3",
    "1 IN (1, 2) AND false", "NOT (1 IN (2, 3))", "1 NOT IN (2, 3)", "(1 = ANY (ARRAY[1, 2])) IS TRUE",
    "1 <> ALL (ARRAY[1, 2])", "CASE WHEN true THEN 1 ELSE 2 END + 1", "(CASE 1 WHEN 1 THEN 2 END) * 3",
    "1::text || 2::text", "'a' || 'b' = 'ab'", r"'a_' LIKE 'a\_'", "'a' !~~ 'b'", "'A' ILIKE 'a'", "'a' NOT LIKE 'b'",
    "NULLIF(1, 1) IS NULL", "(1 IS DISTINCT FROM 2) = true", "(1 = 1) IS NOT FALSE", "(true IS UNKNOWN) IS FALSE",
    "1 OPERATOR(pg_catalog.+) 2 * 3", "2 * 3 OPERATOR(pg_catalog.+) 2", "9223372036854775807", "-9223372036854775808",
    "cast('1.239' AS numeric(5,2))", "'abc'::varchar(2)", "true::int", "interval '1' day", "1 /* a /* b */ c */ + 1",
    "trim(both 'x' from 'xax')", "overlay('abc' placing 'x' from 2)", "position('b' in 'abc')", "1 -- a\n + 1",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_gate_reads_as_the_server_does(gated: Target, blind: Connection, expression: str) -> None:
    server = gated.admin.execute(f"SELECT to_jsonb({expression})".encode()).fetchone()
    (row,) = ask(blind, f"SELECT {expression} AS x, count(*) FROM hr.person")
    assert (row["x"],) == server


@pytest.mark.parametrize(
    "name", ['a"b', "a'b", "select", "A b", "; DROP TABLE x; --", "é", "$1", "%s", "a\\", "x" * 63]
)
def test_names_are_printed_as_they_were_read(blind: Connection, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    ((row,), outer) = (
        ask(blind, f"SELECT count(*) AS {quoted} FROM hr.person {quoted}"),
        f"SELECT t.{quoted} FROM (SELECT count(*) AS {quoted} FROM hr.person) t",
    )
    assert list(row) == [name]
    assert list(ask(blind, outer)[0]) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM hr.person; SELECT * FROM hr.person", "", ";", "--",
        "SELECT count(*) FROM hr.person /* open", "SELECT 'open FROM hr.person", "\\d hr.person", "SELECT $$open",
        "TABLE hr.person", "EXPLAIN SELECT 1",
    ],
)  # fmt: skip
def test_what_is_no_single_question_is_refused(gated: Target, blind: Connection, text: str) -> None:
    with gated.free():
        assert how_it_ends(blind, text) == "DP001"


def test_a_backslash_ends_no_text(gated: Target, blind: Connection) -> None:
    """Whatever the session says, strings are read as the standard has it: a person's key is compared here."""
    blind.execute("SET standard_conforming_strings = off; SET backslash_quote = on")
    with gated.free():
        assert how_it_ends(blind, "SELECT count(*) FROM hr.person WHERE name = 'a\\' OR id = 7 --'") == "DP002"
