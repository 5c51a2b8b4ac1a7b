"""Objects and settings of the session that change what a question means."""

import psycopg
import pytest
from tests.attacks.gate.asking import COUNT, ask, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

DAYS = (
    "SELECT extract(dow FROM day) AS d, count(*), count(*) / 3.0 AS third, '1\\2' AS t FROM hr.visit"
    " WHERE day > '01-02-2024' OR day = NULL OR day::text LIKE '2024%' GROUP BY 1"
)


def test_a_temporary_table_of_the_same_name_is_not_read(gated: Target, blind: Connection) -> None:
    blind.execute("CREATE TEMP TABLE person (id int, salary int); SET search_path = pg_temp, hr")
    assert ask(blind, COUNT.replace("hr.", ""), "0.5")[0]["count"] != 0
    assert how_it_ends(blind, "SELECT count(*) FROM pg_temp.person") == "42704"


def test_a_table_of_the_attacker_in_front_of_the_path_is_not_read(gated: Target, blind: Connection) -> None:
    blind.execute("CREATE TABLE extra.person (id int, salary int); SET search_path = extra, hr")
    assert how_it_ends(blind, COUNT.replace("hr.", "")) in ("42704", "answer")


@pytest.mark.parametrize(
    "setting",
    [
        "TimeZone = 'Pacific/Apia'", "DateStyle = 'German'", "standard_conforming_strings = off",
        "IntervalStyle = iso_8601",
        "extra_float_digits = -15", "transform_null_equals = on", "search_path = extra", "bytea_output = escape",
        "quote_all_identifiers = on", "backslash_quote = off", "lc_numeric = 'C'", "enable_hashagg = off",
        "array_nulls = off", "client_encoding = 'LATIN1'",
        "plan_cache_mode = force_generic_plan", "row_security = off", "work_mem = '64kB'",
    ],
)  # fmt: skip
def test_settings_change_neither_question_nor_answer(gated: Target, blind: Connection, setting: str) -> None:
    """The same stored answer: the question has the same meaning, to the last digit."""
    question = DAYS.replace("'01-02-2024'", "'2024-01-02'")
    with gated.costs("0.001"):
        first = ask(blind, question)
        blind.execute(f"SET {setting}")
        assert ask(blind, question) == first


@pytest.mark.parametrize("wish", ["100", "NaN", "-1", "0", "Infinity", "1e-400", "x"])
def test_the_wish_for_a_price_is_no_way_around_the_budget(gated: Target, blind: Connection, wish: str) -> None:
    question = f"SELECT set_config('discreet.epsilon', '{wish}', false), discreet.query_json('{COUNT}')"
    with gated.free(), pytest.raises(psycopg.Error) as caught:
        blind.execute(question)
    assert caught.value.sqlstate in ("22023", "DP003")


def test_ambiguous_dates_are_refused_not_guessed(blind: Connection) -> None:
    assert how_it_ends(blind, DAYS) == "DP001"
