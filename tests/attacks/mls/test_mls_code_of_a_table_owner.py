"""Triggers of a multilevel table run with rights that its owner may not have: code of others has no place in them."""

import psycopg
import pytest
from tests.attacks.mls.levels import Levels

TABLES = {
    "an owner who is no superuser": "ALTER TABLE planted OWNER TO planter",
    "a check of another": "ALTER TABLE planted ADD CHECK (planter.judge(x))",
    "a domain of another": "ALTER TABLE planted ADD y planter.d",
    "an index of another": "CREATE INDEX ON planted (planter.judge(x))",
    "an array of a domain of another": "ALTER TABLE planted ADD y planter.d[]",
    "a composite type with a domain of another": "CREATE TYPE own.c AS (d planter.d); ALTER TABLE planted ADD y own.c",
    "the row type of a table with one": "CREATE TABLE own.t (d planter.d); ALTER TABLE planted ADD y own.t",
    "an array of composite types in a composite type": """
        CREATE TYPE own.c AS (d planter.d); CREATE TYPE own.cc AS (c own.c[]); ALTER TABLE planted ADD y own.cc[]
    """,
    "a domain over a domain of another": "CREATE DOMAIN own.d AS planter.d; ALTER TABLE planted ADD y own.d",
    "a domain with a check of another": """
        CREATE DOMAIN own.d AS int CHECK (planter.judge(VALUE)); ALTER TABLE planted ADD y own.d
    """,
    "a range over a domain of another": """
        CREATE TYPE own.r AS RANGE (subtype = planter.d); ALTER TABLE planted ADD y own.r
    """,
    "a multirange with a function of another": """
        CREATE TYPE own.r AS RANGE (subtype = int, subtype_diff = planter.apart, multirange_type_name = own.m);
        ALTER TABLE planted ADD y own.m
    """,
    "a function that calls one of another": """
        CREATE FUNCTION own.judge(i int) RETURNS boolean IMMUTABLE RETURN planter.judge(i);
        ALTER TABLE planted ADD CHECK (own.judge(x))
    """,
    "a function over a view that calls one of another": """
        CREATE VIEW own.v AS SELECT planter.judge(1) AS judged;
        CREATE FUNCTION own.judge(i int) RETURNS boolean IMMUTABLE BEGIN ATOMIC SELECT judged FROM own.v; END;
        ALTER TABLE planted ADD CHECK (own.judge(x))
    """,
    "a function over a view over a view of another": """
        CREATE VIEW planter.v AS SELECT true AS judged; ALTER VIEW planter.v OWNER TO planter;
        CREATE VIEW own.v AS SELECT judged FROM planter.v;
        CREATE FUNCTION own.judge(i int) RETURNS boolean IMMUTABLE BEGIN ATOMIC SELECT judged FROM own.v; END;
        ALTER TABLE planted ADD CHECK (own.judge(x))
    """,
    "a function over a table with an index of another": """
        CREATE TABLE own.t (i int); CREATE INDEX ON own.t (i) WHERE planter.judge(i);
        CREATE FUNCTION own.judge(i int) RETURNS boolean IMMUTABLE BEGIN ATOMIC SELECT true FROM own.t; END;
        ALTER TABLE planted ADD CHECK (own.judge(x))
    """,
    "an operator class with a function of another": """
        CREATE OPERATOR CLASS own.k FOR TYPE int USING btree AS
            OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 planter.order(int, int);
        CREATE INDEX ON planted (x own.k)
    """,
}


# names in a string are looked up when it runs
FROM_A_STRING = {
    "a check": "ALTER TABLE planted ADD CHECK (query_to_xml('SELECT planter.judge(1)', true, true, '') IS NOT NULL)",
    "a default": "ALTER TABLE planted ADD y xml DEFAULT query_to_xml('SELECT planter.judge(1)', true, true, '')",
    "a view": "ALTER TABLE planted ADD CHECK (table_to_xml('pg_class', true, true, '') IS NOT NULL)",
    "a function": """
        CREATE FUNCTION own.judge(i int) RETURNS boolean IMMUTABLE
        RETURN query_to_xml('SELECT planter.judge(1)', true, true, '') IS NOT NULL;
        ALTER TABLE planted ADD CHECK (own.judge(x))
    """,
    "a domain": """
        CREATE DOMAIN own.d AS int CHECK (query_to_xml('SELECT planter.judge(1)', true, true, '') IS NOT NULL);
        ALTER TABLE planted ADD y own.d
    """,
    "words of a text": "ALTER TABLE planted ADD CHECK (ts_rewrite('a'::tsquery, 'SELECT planter.words()') IS NOT NULL)",
}
PLANTER = """
    CREATE ROLE planter;
    CREATE SCHEMA planter AUTHORIZATION planter;
    SET ROLE planter;
    CREATE FUNCTION planter.judge(int) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
    CREATE DOMAIN planter.d AS int CHECK (planter.judge(VALUE));
    CREATE FUNCTION planter.apart(int, int) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN 1; END';
    CREATE FUNCTION planter.order(int, int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN 0; END';
    RESET ROLE;
    CREATE SCHEMA own;
    CREATE TABLE planted (id int PRIMARY KEY, x int);
"""
GONE = "DROP TABLE planted; DROP SCHEMA own CASCADE; DROP OWNED BY planter CASCADE; DROP ROLE planter"


@pytest.mark.parametrize("what", TABLES)
def test_a_table_with_code_of_others_is_refused(levels: Levels, what: str) -> None:
    admin = levels.database.connect()
    admin.execute(PLANTER)
    try:
        admin.execute(TABLES[what])
        with pytest.raises(psycopg.Error, match="no superuser"):
            admin.execute("SELECT discreet.mls_table('planted', ARRAY['id'])")
    finally:
        admin.execute(GONE)


@pytest.mark.parametrize("what", FROM_A_STRING)
def test_a_table_that_runs_sql_from_a_string_is_refused(levels: Levels, what: str) -> None:
    admin = levels.database.connect()
    admin.execute(PLANTER)
    try:
        admin.execute(FROM_A_STRING[what])
        with pytest.raises(psycopg.Error, match="which may run SQL of others"):
            admin.execute("SELECT discreet.mls_table('planted', ARRAY['id'])")
    finally:
        admin.execute(GONE)


ADDED_LATER = {
    "ALTER TABLE planted_mls ADD CONSTRAINT later CHECK (planter.judge(x)) NOT VALID": "constraint later",
    "CREATE INDEX later ON planted_mls (planter.judge(x))": "index public.later",
    "ALTER TABLE planted_mls ALTER x SET DEFAULT planter.judge(1)::int": "default value for column x",
    "ALTER TABLE planted_mls ADD CONSTRAINT later CHECK (query_to_xml('SELECT 1', true, true, '') IS NOT NULL)":
        "constraint later",
}  # fmt: skip


@pytest.mark.parametrize("added", ADDED_LATER)
def test_what_is_added_to_the_hidden_table_later_is_named(levels: Levels, added: str) -> None:
    admin = levels.database.connect()
    admin.execute(PLANTER)
    found = "SELECT status, finding FROM discreet.check_installation() WHERE item = 'foreign code'"
    try:
        admin.execute("SELECT discreet.mls_table('planted', ARRAY['id'])")
        assert admin.execute(found).fetchall() == []
        admin.execute(added)
        ((status, finding),) = admin.execute(found).fetchall()
        assert status == "problem"
        assert str(finding).startswith(ADDED_LATER[added])
    finally:
        admin.execute("SELECT discreet.mls_drop('planted')")
        admin.execute(GONE.replace("DROP TABLE planted;", ""))


def test_types_and_functions_of_superusers_are_accepted(levels: Levels) -> None:
    admin = levels.database.connect()
    admin.execute(
        """
        CREATE SCHEMA own;
        CREATE FUNCTION own.judge(i int) RETURNS boolean IMMUTABLE RETURN i > 0;
        CREATE DOMAIN own.d AS int CHECK (own.judge(VALUE));
        CREATE TYPE own.c AS (d own.d[]);
        CREATE TYPE own.r AS RANGE (subtype = own.d);
        CREATE TABLE planted (id int PRIMARY KEY, x own.c, y own.r);
        SELECT discreet.mls_table('planted', ARRAY['id']);
        SELECT discreet.mls_drop('planted');
        DROP SCHEMA own CASCADE;
        """
    )


def test_a_text_that_ends_the_body_of_a_function_is_refused(levels: Levels) -> None:
    admin = levels.database.connect()
    admin.execute("CREATE TABLE planted (id int PRIMARY KEY, x text CHECK (x <> '$trigger$; SELECT 1; $trigger$'))")
    try:
        with pytest.raises(psycopg.Error, match=r"has \$trigger\$ in it"):
            admin.execute("SELECT discreet.mls_table('planted', ARRAY['id'])")
    finally:
        admin.execute("DROP TABLE planted")
