"""A history in the words of the writer means something else to whoever reads it, or cannot be read by anybody above."""

from collections.abc import Iterator

import psycopg
import pytest
from tests.attacks.mls.levels import Levels

TABLE = """
    CREATE TABLE passing (i int);
    GRANT SELECT ON passing TO mls_low;
    CREATE TABLE worded (
        id int PRIMARY KEY, held tsrange, paid money, raw bytea, k regclass, size float8, lasts interval);
    GRANT SELECT, INSERT, UPDATE, DELETE ON worded TO mls_low, mls_high;
    SELECT discreet.mls_table('worded', ARRAY['id']);
"""
SETTINGS = {
    "DateStyle": "SQL, DMY", "bytea_output": "escape", "extra_float_digits": "-15", "IntervalStyle": "sql_standard",
    "search_path": "public", "lc_monetary": "C",
}  # fmt: skip
INSERT = """
    INSERT INTO worded (id, held, paid, raw, k, size, lasts)
    SELECT 1, tsrange('2026-02-01', '2026-03-02'), 12.34::money, '\\x0001ff', 'public.passing', 0.1::float8 + 0.2,
           interval '1 day -2:00'
"""
UPDATE = "UPDATE worded SET held = tsrange('2026-04-05', '2026-05-06'), size = 1e-20"
HISTORY = """SELECT act, version::text FROM discreet.mls_history('worded', '{"id": 1}')"""


@pytest.fixture
def worded(levels: Levels) -> Iterator[Levels]:
    levels.admin.execute(TABLE)
    yield levels
    levels.admin.execute("SELECT discreet.mls_drop('worded'); DROP TABLE IF EXISTS passing")


def test_words_of_the_writer_are_read_otherwise(worded: Levels) -> None:
    with psycopg.connect(worded.database.dsn("mls_low"), autocommit=True) as writer:
        writer.execute("SET DateStyle = 'SQL, DMY'")
        ((written,),) = writer.execute("SELECT tsrange('2026-02-01', '2026-03-02')::text").fetchall()
    ((read,),) = worded.admin.execute("SELECT (%s::tsrange)::text", [written]).fetchall()
    assert read == '["2026-01-02 00:00:00","2026-02-03 00:00:00")'


def test_settings_of_the_writer_change_no_version(worded: Levels) -> None:
    def written(settings: dict[str, str]) -> list[tuple[object, ...]]:
        with psycopg.connect(worded.database.dsn("mls_low"), autocommit=True) as writer:
            for name, value in settings.items():
                writer.execute("SELECT set_config(%s, %s, false)", [name, value])
            writer.execute(INSERT.encode())
            writer.execute(UPDATE)
            writer.execute("DELETE FROM worded")
        return worded.at("high").execute(HISTORY).fetchall()

    plain = written({})
    assert [act for act, _ in plain] == ["insert", "update", "delete"]
    assert '"held": "[\\"2026-02-01 00:00:00\\",\\"2026-03-02 00:00:00\\")"' in str(plain[0][1])
    assert '"k": "public.passing"' in str(plain[0][1])
    assert '"size": 0.30000000000000004' in str(plain[0][1])
    assert written(SETTINGS) == plain + plain


def test_a_version_that_is_no_value_any_more_is_still_shown(worded: Levels) -> None:
    worded.at("low").execute(INSERT.encode())
    high = worded.at("high")
    before = high.execute(HISTORY).fetchall()
    assert before != []
    worded.admin.execute("DROP TABLE passing")
    assert worded.at("high").execute(HISTORY).fetchall() == before
