"""Only the owner of a table who is a curator, or a superuser, decides about it; the rights cannot be lent."""

from __future__ import annotations

import psycopg
import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused

PROTECT = "SELECT discreet.protect('hr.person', 'id', epsilon => 1)"
UNPROTECT = "SELECT discreet.unprotect('hr.person')"
CURATING = [
    "create_dataset('people', 1)",
    "protect('hr.person', 'id', epsilon => 1)",
    "describe_column('hr.person', 'salary', 0, 1)",
    "unprotect('hr.person')",
    "grant_budget('people', 'discreet_analyst', 1)",
    "revoke_budget('people', 'discreet_analyst')",
]


def protected(connection: Connection) -> bool:
    return connection.execute("SELECT EXISTS (SELECT FROM discreet._protected_table)").fetchone() == (True,)


@pytest.mark.usefixtures("curator")
def test_an_owner_who_is_no_curator_does_not_protect(
    admin: Connection, database: Database, make_role: MakeRole
) -> None:
    owner = make_role("owner")
    admin.execute(f"ALTER TABLE hr.person OWNER TO {owner}")
    with refused("42501", "permission denied for", None):
        database.connect(owner).execute(PROTECT)


@pytest.mark.usefixtures("curator")
@pytest.mark.parametrize("group", ["discreet_analyst", "discreet_auditor", "discreet_trusted"])
def test_members_of_other_groups_do_not_curate(
    admin: Connection, database: Database, make_role: MakeRole, group: str
) -> None:
    member = make_role("member", group)
    admin.execute(f"GRANT ALL ON SCHEMA hr TO {member}; ALTER TABLE hr.person OWNER TO {member}")
    connection = database.connect(member)
    for function in CURATING:
        with refused("42501", f"permission denied for function {function.partition('(')[0]}", None):
            connection.execute(f"SELECT discreet.{function}")


@pytest.mark.usefixtures("person")
def test_a_curator_who_does_not_own_the_table_does_not_decide_about_it(database: Database, make_role: MakeRole) -> None:
    other = make_role("mallory", "discreet_curator")
    admin = database.connect()
    admin.execute(f"GRANT USAGE ON SCHEMA hr TO {other}; GRANT SELECT ON hr.person TO {other}")
    connection = database.connect(other)
    for act in (PROTECT, UNPROTECT, "SELECT discreet.describe_column('hr.person', 'salary', 0, 1)"):
        with refused(
            "42501",
            f"{other} does not own hr.person",
            "Its owner, being a curator, or a superuser can do this.",
        ):
            connection.execute(act)
    assert protected(admin)


@pytest.mark.usefixtures("person")
def test_a_curator_does_not_touch_the_budgets_of_other_owners(database: Database, make_role: MakeRole) -> None:
    other = make_role("mallory", "discreet_curator")
    connection = database.connect(other)
    connection.execute("CREATE TEMP TABLE mine (id int)")
    for act in (
        "grant_budget('people', 'discreet_analyst', 1)",
        "revoke_budget('people', 'discreet_analyst')",
    ):
        with refused("42501", f'{other} does not own dataset "people"', "Who created it, or a superuser, can do this."):
            connection.execute(f"SELECT discreet.{act}")


@pytest.mark.usefixtures("curator")
def test_a_member_of_the_owning_role_owns_the_table(admin: Connection, database: Database, make_role: MakeRole) -> None:
    group = make_role("team", options="NOLOGIN")
    member = make_role("member", "discreet_curator", group)
    admin.execute(f"GRANT USAGE ON SCHEMA hr TO {group}; ALTER TABLE hr.person OWNER TO {group}")
    database.connect(member).execute(PROTECT)
    assert protected(admin)


def test_who_takes_another_role_acts_as_that_role(database: Database, curator: str) -> None:
    connection = database.connect()
    connection.execute("GRANT USAGE ON SCHEMA hr TO discreet_curator, discreet_analyst")
    connection.execute(f"SET ROLE {curator}")
    connection.execute(PROTECT)
    connection.execute("SET ROLE discreet_curator")
    with refused("42501", "discreet_curator does not own hr.person", "Its owner, being a curator,"):
        connection.execute(UNPROTECT)
    connection.execute("SET ROLE discreet_analyst")
    with refused("42501", "permission denied for function unprotect", None):
        connection.execute(UNPROTECT)
    connection.execute("RESET ROLE")
    connection.execute(UNPROTECT)


def test_a_superuser_who_became_somebody_else_is_somebody_else(
    database: Database, curator: str, make_role: MakeRole
) -> None:
    other = make_role("mallory", "discreet_curator")
    connection = database.connect()
    connection.execute(f"GRANT USAGE ON SCHEMA hr TO {other}; SET SESSION AUTHORIZATION {other}")
    with refused("42501", f"{other} does not own hr.person", "Its owner, being a curator,"):
        connection.execute(PROTECT)


def test_a_curator_by_set_role_only_acts_after_set_role(database: Database, curator: str, make_role: MakeRole) -> None:
    deputy = make_role("deputy", curator, options="LOGIN NOINHERIT")
    connection = database.connect(deputy)
    with refused("42501", "permission denied for", None):
        connection.execute(PROTECT)
    connection.execute(f"SET ROLE {curator}")
    connection.execute(PROTECT)


def test_a_wrapper_that_runs_as_its_owner_does_not_lend_the_owners_rights(
    carol: Connection, database: Database, make_role: MakeRole
) -> None:
    """Somebody calls a SECURITY DEFINER function of the curator: the caller is still not a curator."""
    somebody = make_role("somebody")
    carol.execute(PROTECT)
    carol.execute(
        f"""
        CREATE FUNCTION hr.open() RETURNS void LANGUAGE sql SECURITY DEFINER AS $$ {UNPROTECT} $$;
        GRANT USAGE ON SCHEMA hr TO {somebody};
        """
    )
    with refused("42501", f"{somebody} is not a curator", f"GRANT discreet_curator TO {somebody};"):
        database.connect(somebody).execute("SELECT hr.open()")
    assert protected(database.connect())


@pytest.fixture
def trap(database: Database, make_role: MakeRole, person: str) -> str:
    """A curator's table; a superuser who evaluates its index unprotects somebody else's table."""
    mallory = make_role("mallory", "discreet_curator")
    database.connect().execute(f"CREATE SCHEMA trap AUTHORIZATION {mallory}; GRANT USAGE ON SCHEMA hr TO {mallory}")
    database.connect(mallory).execute(
        f"""
        CREATE FUNCTION trap.spring(value int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
        BEGIN
            IF session_user = 'postgres' THEN PERFORM discreet.unprotect('hr.person'); END IF;
            RETURN value;
        END $$;
        CREATE TABLE trap.bait (value int);
        INSERT INTO trap.bait SELECT generate_series(1, 10);
        CREATE INDEX spring ON trap.bait (trap.spring(value));
        CREATE MATERIALIZED VIEW trap.picture AS SELECT trap.spring(value) FROM trap.bait WITH NO DATA;
        GRANT ALL ON SCHEMA trap TO {mallory};
        """
    )
    return mallory


@pytest.mark.parametrize(
    "maintenance",
    [
        "ANALYZE trap.bait",
        "REINDEX TABLE trap.bait",
        "VACUUM FULL trap.bait",
        "REFRESH MATERIALIZED VIEW trap.picture",
    ],
)
@pytest.mark.usefixtures("trap")
def test_a_superusers_maintenance_does_not_act_for_the_superuser(admin: Connection, maintenance: str) -> None:
    """Maintenance runs code of the table's owner as that owner, but in the session of a superuser."""
    with refused("42501", "discreet cannot be used within a security-restricted operation", None):
        admin.execute(maintenance)
    assert protected(admin)


@pytest.mark.usefixtures("person")
def test_a_temporary_table_does_not_pass_for_the_catalog(carol: Connection, curator: str) -> None:
    """A curator makes own copies of catalog tables, in which she is a superuser."""
    carol.execute(
        f"""
        CREATE TEMP TABLE pg_roles AS SELECT * FROM pg_catalog.pg_roles;
        UPDATE pg_temp.pg_roles SET rolsuper = true WHERE rolname = '{curator}';
        CREATE TEMP TABLE pg_class (oid oid, relkind "char");
        CREATE FUNCTION pg_temp.pg_has_role(oid, oid, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
        SET search_path = pg_temp, pg_catalog;
        """
    )
    with refused("42809", "pg_catalog.pg_authid is a system table", "decided by GRANT alone"):
        carol.execute("SELECT discreet.protect('pg_catalog.pg_authid', 'oid', epsilon => 1)")
    carol.execute("SELECT discreet.unprotect('hr.person')")


def test_tables_of_the_extension_are_written_by_its_functions_only(
    carol: Connection, database: Database, person: str, make_role: MakeRole
) -> None:
    auditor = database.connect(make_role("otto", "discreet_auditor", "discreet_analyst", "discreet_trusted"))
    for connection in (carol, auditor):
        for table in ("_dataset", "_protected_table", "_protected_column", "_budget", "_charge", "_refusal"):
            for act in (
                f"DELETE FROM discreet.{table}",
                f"SELECT * FROM discreet.{table}",
                f"TRUNCATE discreet.{table}",
            ):
                with refused("42501", f"permission denied for table {table}", None):
                    connection.execute(act)
        for view in (
            "datasets",
            "protected_tables",
            "protected_columns",
            "budget_status",
            "charges",
            "refusals",
        ):
            with pytest.raises(psycopg.Error) as caught:
                connection.execute(f"DELETE FROM discreet.{view}")
            assert caught.value.sqlstate in ("42501", "55000")


def test_nobody_but_a_superuser_makes_functions_in_the_language_of_the_extension(carol: Connection) -> None:
    with refused("42501", "permission denied for language discreet_python", None):
        carol.execute("CREATE FUNCTION hr.mine() RETURNS int LANGUAGE discreet_python AS 'return 1'")


def test_a_dataset_belongs_to_its_curator_even_while_it_is_empty(
    carol: Connection, database: Database, make_role: MakeRole
) -> None:
    """Another curator grants budgets in it before a table comes, and would hold them afterwards."""
    carol.execute("SELECT discreet.create_dataset('people', 1)")
    other = make_role("mallory", "discreet_curator")
    with refused("42501", f'{other} does not own dataset "people"', "Who created it, or a superuser, can do this."):
        database.connect(other).execute("SELECT discreet.grant_budget('people', %s, 1)", [other])


def test_the_dataset_that_pays_for_all_other_tables_is_made_by_a_superuser(
    carol: Connection, admin: Connection
) -> None:
    with refused("42501", 'dataset "default" pays for all tables that are not protected', "A superuser can create it."):
        carol.execute("SELECT discreet.create_dataset('default', 1000)")
    admin.execute("SELECT discreet.create_dataset('default', 1)")
