"""Functions and operators that stand where those of a multilevel table are expected."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from tests.attacks.mls.levels import Levels
from tests.databases import Connection

PLANTED = "CREATE FUNCTION work.{}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'planted'; END$$"
HOSTILE = """
    CREATE SCHEMA hostile;
    GRANT USAGE ON SCHEMA hostile TO mls_middle;
    CREATE FUNCTION hostile.trap(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trap'; END$$;
    CREATE FUNCTION hostile.mask(bigint, bigint) RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RAISE 'trap'; END$$;
    CREATE FUNCTION hostile.pg_column_size(text) RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE 'trap'; END$$;
    CREATE OPERATOR hostile.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.trap);
    CREATE OPERATOR hostile.<> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.trap);
    CREATE OPERATOR hostile.& (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.mask);
    CREATE TABLE plain (name text PRIMARY KEY, salary int);
    GRANT SELECT, INSERT, UPDATE, DELETE ON plain TO mls_middle;
    SELECT discreet.mls_table('plain', ARRAY['name']);
"""


@pytest.fixture
def gardener(levels: Levels) -> Iterator[Connection]:
    """A role that may create functions beside the tables of others."""
    levels.admin.execute("CREATE ROLE mls_gardener LOGIN; CREATE SCHEMA work; GRANT ALL ON SCHEMA work TO mls_gardener")
    yield levels.database.connect("mls_gardener")
    levels.admin.execute("DROP SCHEMA work CASCADE; DROP ROLE mls_gardener")


def test_a_planted_function_does_not_become_a_trigger(levels: Levels, gardener: Connection) -> None:
    admin = levels.admin
    gardener.execute(PLANTED.format("job_mls_insert"))
    admin.execute("CREATE TABLE work.job (name text PRIMARY KEY, pay int)")
    admin.execute("SELECT discreet.mls_table('work.job', ARRAY['name'])")
    called = """
        SELECT count(*), bool_and(r.rolsuper) FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
        JOIN pg_roles r ON r.oid = p.proowner WHERE t.tgrelid = 'work.job'::regclass
    """
    assert admin.execute(called).fetchone() == (3, True)
    # the name of the function of a rule follows from both names
    admin.execute("SELECT discreet.add_rule('work.job', 'pay', 'NEW.pay > 0')")
    (rule,) = admin.execute("SELECT proname FROM pg_proc WHERE proname LIKE 'job_rule_%'").fetchone() or ("",)
    admin.execute("SELECT discreet.drop_rule('work.job', 'pay')")
    gardener.execute(PLANTED.format(rule))
    with pytest.raises(psycopg.Error, match="already exists"):
        admin.execute("SELECT discreet.add_rule('work.job', 'pay', 'NEW.pay > 0')")
    admin.execute("SELECT discreet.mls_drop('work.job')")


def test_a_search_path_changes_nothing(levels: Levels, middle: Connection) -> None:
    levels.admin.execute(HOSTILE)
    try:
        middle.execute("SET search_path = hostile, pg_catalog, public")
        middle.execute("INSERT INTO public.plain (name, salary) VALUES ('Rossi', 1)")
        middle.execute("UPDATE public.plain SET salary = 2")
        assert middle.execute("DELETE FROM public.plain").rowcount == 1
        with pytest.raises(psycopg.Error, match="trap"):
            middle.execute("SELECT 1::bigint = 1::bigint")
    finally:
        middle.close()
        levels.admin.execute("SELECT discreet.mls_drop('plain'); DROP SCHEMA hostile CASCADE")


INDEXED = """
    CREATE SCHEMA hostile;
    GRANT ALL ON SCHEMA hostile TO mls_middle;
    CREATE FUNCTION usual(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RETURN lower($1); END$$;
    CREATE TABLE indexed (name text PRIMARY KEY, salary int);
    CREATE INDEX ON indexed ({index});
    GRANT INSERT ON indexed TO mls_middle;
    SELECT discreet.mls_table('indexed', ARRAY['name']);
"""
LOWER = "CREATE FUNCTION hostile.lower(text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'as %', current_user; END$$"


@pytest.mark.parametrize("index", ["usual(name)", "salary) WHERE (usual(name) <> 'x'"])
def test_functions_of_an_index_look_up_names_in_no_path_of_the_writer(
    levels: Levels, middle: Connection, index: str
) -> None:
    """They run as the owner of the table, a superuser."""
    levels.admin.execute(INDEXED.format(index=index))
    try:
        middle.execute(LOWER)
        middle.execute("SET search_path = hostile, pg_catalog, public")
        with pytest.raises(psycopg.Error, match="as mls_middle"):
            middle.execute("SELECT usual('Rossi')")
        middle.execute("INSERT INTO public.indexed (name) VALUES ('Rossi')")
        assert middle.execute("SHOW search_path").fetchone() == ("hostile, pg_catalog, public",)
    finally:
        middle.close()
        levels.admin.execute("SELECT discreet.mls_drop('indexed'); DROP FUNCTION usual; DROP SCHEMA hostile CASCADE")
