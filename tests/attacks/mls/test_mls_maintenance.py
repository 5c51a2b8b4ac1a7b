"""Code of a low user that runs when a higher one maintains her tables: functions in indexes, materialized views.

It runs in the session of who maintains, or of autovacuum, which is the first superuser's.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.attacks.mls.levels import Levels
from tests.databases import Connection

PLANTED = """
    CREATE TABLE planted.loot (found text);
    CREATE TABLE planted.bait (a int);
    CREATE FUNCTION planted.steal() RETURNS int LANGUAGE plpgsql AS $$
    BEGIN
        IF session_user <> 'mls_low' THEN
            INSERT INTO planted.loot SELECT e::text FROM public.employee e;
        END IF;
        RETURN 1;
    EXCEPTION WHEN OTHERS THEN
        INSERT INTO planted.loot VALUES (SQLERRM);
        RETURN 1;
    END $$;
    CREATE FUNCTION planted.pretends(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
        'BEGIN RETURN $1 + planted.steal(); END';
    INSERT INTO planted.bait SELECT generate_series(1, 10);
    CREATE INDEX ON planted.bait (planted.pretends(a));
    CREATE MATERIALIZED VIEW planted.copied AS SELECT name, salary, perf FROM public.employee WITH NO DATA;
"""


@pytest.fixture
def maintainer(levels: Levels) -> Iterator[Connection]:
    """A superuser with the highest clearance, beside what the low user has planted."""
    levels.reset()
    levels.admin.execute("CREATE SCHEMA planted AUTHORIZATION mls_low; CREATE ROLE mls_keeper LOGIN SUPERUSER")
    levels.admin.execute("SELECT discreet.mls_clear('mls_keeper', 'S')")
    levels.at("low").execute(PLANTED)
    yield levels.database.connect("mls_keeper")
    levels.admin.execute("DROP SCHEMA planted CASCADE; DROP OWNED BY mls_keeper; DROP ROLE mls_keeper")


def test_functions_in_indexes_read_nothing_that_has_labels(levels: Levels, maintainer: Connection) -> None:
    assert len(maintainer.execute("SELECT * FROM employee").fetchall()) == 2
    maintainer.execute("ANALYZE planted.bait")
    loot = levels.admin.execute("SELECT DISTINCT found FROM planted.loot").fetchall()
    assert loot == [("what has labels cannot be read within a security-restricted operation",)]


def test_nor_does_a_materialized_view(levels: Levels, maintainer: Connection) -> None:
    with pytest.raises(Exception, match="within a security-restricted operation"):
        maintainer.execute("REFRESH MATERIALIZED VIEW planted.copied")


def test_nor_do_they_read_lines_of_the_ledger_at_higher_labels(levels: Levels, maintainer: Connection) -> None:
    levels.admin.execute("GRANT discreet_auditor TO mls_low")
    try:
        levels.admin.execute("TRUNCATE planted.loot")
        levels.at("low").execute(
            """
            CREATE OR REPLACE FUNCTION planted.steal() RETURNS int LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO planted.loot SELECT 'line ' || count(*) FROM discreet.charges;
                RETURN 1;
            EXCEPTION WHEN OTHERS THEN
                INSERT INTO planted.loot VALUES (SQLERRM);
                RETURN 1;
            END $$
            """
        )
        maintainer.execute("ANALYZE planted.bait")
        loot = levels.admin.execute("SELECT DISTINCT found FROM planted.loot").fetchall()
        assert loot == [("what has labels cannot be read within a security-restricted operation",)]
    finally:
        levels.admin.execute("REVOKE discreet_auditor FROM mls_low")
