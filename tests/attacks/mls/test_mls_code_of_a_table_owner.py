"""Triggers of a multilevel table run with rights that its owner may not have: code of others has no place in them."""

import psycopg
import pytest
from tests.attacks.mls.levels import Levels

TABLES = {
    "an owner who is no superuser": "ALTER TABLE planted OWNER TO planter",
    "a check of another": "ALTER TABLE planted ADD CHECK (planter.judge(x))",
    "a domain of another": "ALTER TABLE planted ADD y planter.d",
    "an index of another": "CREATE INDEX ON planted (planter.judge(x))",
}


@pytest.mark.parametrize("what", TABLES)
def test_a_table_with_code_of_others_is_refused(levels: Levels, what: str) -> None:
    admin = levels.database.connect()
    admin.execute(
        """
        CREATE ROLE planter;
        CREATE SCHEMA planter AUTHORIZATION planter;
        SET ROLE planter;
        CREATE FUNCTION planter.judge(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
        CREATE DOMAIN planter.d AS int CHECK (planter.judge(VALUE));
        RESET ROLE;
        CREATE TABLE planted (id int PRIMARY KEY, x int);
        """
    )
    try:
        admin.execute(TABLES[what])
        with pytest.raises(psycopg.Error, match="no superuser"):
            admin.execute("SELECT discreet.mls_table('planted', ARRAY['id'])")
    finally:
        admin.execute("DROP TABLE planted; DROP OWNED BY planter CASCADE; DROP ROLE planter")


def test_a_text_that_ends_the_body_of_a_function_is_refused(levels: Levels) -> None:
    admin = levels.database.connect()
    admin.execute("CREATE TABLE planted (id int PRIMARY KEY, x text CHECK (x <> '$trigger$; SELECT 1; $trigger$'))")
    try:
        with pytest.raises(psycopg.Error, match=r"has \$trigger\$ in it"):
            admin.execute("SELECT discreet.mls_table('planted', ARRAY['id'])")
    finally:
        admin.execute("DROP TABLE planted")
