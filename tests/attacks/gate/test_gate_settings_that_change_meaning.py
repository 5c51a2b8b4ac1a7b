"""Settings of the session that change what a question means: TimeZone, DateStyle, search_path, and many more."""

import pytest
from tests.attacks.gate.asking import ask, how_it_ends, number
from tests.attacks.target import Target
from tests.databases import Connection

DAYS = (
    "SELECT extract(dow FROM day) AS d, count(*), count(*) / 3.0 AS third, '1\\2' AS t FROM hr.visit"
    " WHERE day > '2024-01-02' OR day = NULL OR day::text LIKE '2024%' GROUP BY 1"
)


def test_they_change_the_meaning_of_plain_sql(target: Target) -> None:
    for setting, expression in (
        ("TimeZone = 'Pacific/Apia'", "extract(dow FROM timestamptz '2024-01-02 11:00+00')"),
        ("DateStyle = 'German'", "(date '2024-01-02')::text"),
        ("standard_conforming_strings = off", "length('a\\'')"),
        ("transform_null_equals = on", "NULL = NULL"),
    ):
        usual = repr(how(target, expression))
        target.admin.execute(f"BEGIN; SET LOCAL {setting}")
        changed = repr(how(target, expression))
        target.admin.execute("ROLLBACK")
        assert usual != changed


def how(target: Target, expression: str) -> object:
    try:
        with target.admin.transaction():
            return target.value(f"SELECT {expression}")
    except Exception as error:
        return type(error)


@pytest.mark.parametrize(
    "setting",
    [
        "TimeZone = 'Pacific/Apia'", "DateStyle = 'German'", "standard_conforming_strings = off", "search_path = extra",
        "IntervalStyle = iso_8601", "extra_float_digits = -15", "transform_null_equals = on", "bytea_output = escape",
        "quote_all_identifiers = on", "backslash_quote = off", "lc_numeric = 'C'", "enable_hashagg = off",
        "array_nulls = off", "client_encoding = 'LATIN1'", "default_transaction_isolation = 'repeatable read'",
        "plan_cache_mode = force_generic_plan", "row_security = off", "work_mem = '64kB'", "exit_on_error = on",
        "xmloption = document", "timezone_abbreviations = 'India'", "geqo_threshold = 2", "enable_seqscan = off",
    ],
)  # fmt: skip
def test_settings_change_neither_question_nor_answer(gated: Target, blind: Connection, setting: str) -> None:
    """The same stored answer: the question has the same meaning, to the last digit."""
    with gated.costs("0.001"):
        first = ask(blind, DAYS)
        blind.execute(f"SET {setting}")
        assert ask(blind, DAYS) == first


def test_constants_of_plain_sql_keep_their_backslashes(gated: Target, blind: Connection) -> None:
    with gated.costs("0.1"):
        question = "SELECT count(*) FROM hr.person WHERE dept LIKE E'dept\\\\ 2'"
        first = blind.execute(question).fetchall()
        blind.execute("SET standard_conforming_strings = off")
        assert blind.execute(question).fetchall() == first


def test_ambiguous_dates_are_refused_not_guessed(blind: Connection) -> None:
    assert how_it_ends(blind, DAYS.replace("'2024-01-02'", "'01-02-2024'")) == "DP001"


def test_no_index_leaves_rows_out(gated: Target, blind: Connection) -> None:
    """gin_fuzzy_search_limit drops rows at random; noise at epsilon 0.9 is beyond 20 with probability below 1e-7."""
    names = "SELECT count(*) FROM hr.person WHERE name LIKE '%name 1%'"
    gated.admin.execute("CREATE EXTENSION pg_trgm SCHEMA extra")
    gated.admin.execute("CREATE INDEX fuzzy ON hr.person USING gin (name extra.gin_trgm_ops)")
    fuzzy = "SET LOCAL gin_fuzzy_search_limit = 1; SET LOCAL enable_seqscan = off"
    try:
        gated.admin.execute(f"BEGIN; {fuzzy}")
        assert int(str(gated.value(names))) < 50
        gated.admin.execute("ROLLBACK")
        blind.execute(fuzzy.replace("LOCAL ", ""))
        assert number(blind, names, "0.9") > 112 - 20
    finally:
        gated.admin.execute("ROLLBACK; DROP INDEX hr.fuzzy")
