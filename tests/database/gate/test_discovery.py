"""Tools find the tables that an analyst may ask about; nobody is told more than pg_catalog tells everybody."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dev.cluster import Cluster
from tests.database.gate.staging import Staging, staged
from tests.databases import Connection, MakeRole

TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'shop' ORDER BY 1"
COLUMNS = (
    "SELECT column_name FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 'customer'"
    " ORDER BY ordinal_position"
)
PEOPLE = {"complaint", "customer", "item", "orders"}


@pytest.fixture
def staging(cluster: Cluster, template: str, make_role: MakeRole) -> Iterator[Staging]:
    with staged(cluster, template, make_role) as database:
        yield database


def listed(connection: Connection, question: str = TABLES) -> set[str]:
    return {name for (name,) in connection.execute(question.encode()).fetchall()}


def test_the_information_schema_lists_what_can_be_asked_about(staging: Staging) -> None:
    assert listed(staging.ana) >= PEOPLE
    assert listed(staging.ana, COLUMNS) == {"customer_id", "country_id", "balance", "segment", "phone"}


def test_its_columns_are_the_same_as_ever(staging: Staging) -> None:
    for view in ("tables", "columns"):
        ours = staging.ana.execute(f"SELECT * FROM information_schema.{view} LIMIT 0".encode()).description
        theirs = staging.admin.execute(f"SELECT * FROM information_schema.{view} LIMIT 0".encode()).description
        assert [(each.name, each.type_code) for each in ours or ()] == [
            (each.name, each.type_code) for each in theirs or ()
        ]


def test_what_a_tool_joins_and_prepares_is_answered(staging: Staging) -> None:
    joined = (
        "WITH t AS (SELECT * FROM information_schema.tables) SELECT count(*) FROM t"
        " JOIN information_schema.columns c USING (table_schema, table_name) WHERE t.table_name = 'customer'"
    )
    assert staging.ana.execute(joined.encode()).fetchall() == [(5,)]
    exists = "SELECT EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = %s AND table_name = %s)"
    assert staging.ana.execute(exists, ("shop", "customer"), prepare=True).fetchone() == (True,)


def test_a_table_is_listed_once_however_it_may_be_read(staging: Staging) -> None:
    staging.admin.execute(f"GRANT SELECT ON shop.customer TO {staging.role}")
    names = [name for (name,) in staging.ana.execute(TABLES.encode()).fetchall()]
    assert names.count("customer") == 1


def test_who_holds_no_budget_is_told_nothing_more(staging: Staging) -> None:
    bob = staging.database.connect(staging.other)
    assert not PEOPLE & listed(bob)
    staging.admin.execute("SELECT discreet.grant_budget('customers', %s, 1)", (staging.other,))
    bob = staging.database.connect(staging.other)
    assert listed(bob) >= PEOPLE
    staging.admin.execute("SELECT discreet.revoke_budget('customers', %s)", (staging.other,))
    assert not PEOPLE & listed(bob)


def test_a_schema_that_cannot_be_used_is_not_listed(staging: Staging) -> None:
    staging.admin.execute("REVOKE USAGE ON SCHEMA shop FROM PUBLIC")
    assert not PEOPLE & listed(staging.ana)


INTERNAL = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'discreet' AND table_name LIKE '\\_%'",
    "SELECT tablename FROM pg_tables WHERE schemaname = 'discreet'",
    "SELECT viewname FROM pg_views WHERE schemaname = 'discreet' AND viewname LIKE '\\_%'",
    "SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
    "WHERE nspname = 'discreet' AND relname LIKE '\\_%'",
    "SELECT n.nspname FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = '_charge' "
    "WHERE n.nspname = 'discreet' AND c.oid IS NOT NULL",
    "WITH c AS (SELECT * FROM pg_class c, pg_namespace n WHERE n.oid = relnamespace) "
    "SELECT relname FROM c WHERE relname = '_budget'",
)


@pytest.mark.parametrize("query", INTERNAL)
def test_the_tables_of_the_extension_itself_are_not_listed(staging: Staging, query: str) -> None:
    assert listed(staging.ana, query) == set()
    assert listed(staging.admin, query)


def test_public_views_and_other_tables_stay_in_the_catalog(staging: Staging) -> None:
    shown = "SELECT relname FROM pg_class c, pg_namespace n WHERE relnamespace = n.oid AND nspname = 'discreet'"
    assert listed(staging.ana, shown) >= {"charges", "catalog", "last_answer"}
    staging.ana.execute("CREATE TABLE mine._own (a int)")
    own = "SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relname = '_own'"
    assert listed(staging.ana, own) == {"_own"}
    # what is joined by numbers is whole, as pg_dump wants it
    assert listed(staging.ana, "SELECT relname FROM pg_class WHERE relname = '_charge'") == {"_charge"}


OF_SHOP = "WHERE relnamespace = 'shop'::regnamespace AND relkind = 'r'"
LISTINGS = (
    f"SELECT relname FROM pg_class {OF_SHOP} AND has_table_privilege(oid, 'SELECT')",
    "SELECT tablename FROM pg_tables WHERE schemaname = 'shop' "
    "AND has_table_privilege(schemaname || '.' || tablename, 'select')",
    "SELECT t.t FROM (SELECT tablename AS t FROM pg_tables WHERE schemaname = 'shop') t, pg_namespace n "
    "WHERE n.nspname = 'shop' AND has_any_column_privilege(current_user, n.nspname || '.' || t.t, 'select')",
    f"SELECT relname FROM pg_class c {OF_SHOP} AND has_any_column_privilege(c.oid, ' Select ')",
)


@pytest.mark.parametrize("query", LISTINGS)
def test_listings_by_privilege_show_what_can_be_asked_about(staging: Staging, query: str) -> None:
    bob = staging.database.connect(staging.other)
    assert not PEOPLE & listed(bob, query)
    assert listed(staging.ana, query) >= PEOPLE
    staging.admin.execute("SELECT discreet.revoke_budget('customers', %s)", (staging.role,))
    assert not PEOPLE & listed(staging.ana, query)


def test_no_other_privilege_and_nobody_elses_is_shown(staging: Staging) -> None:
    for privilege in ("insert", "update", "delete", "references", "select with grant option", "select, insert"):
        rows = f"SELECT relname FROM pg_class WHERE relname = 'customer' AND has_table_privilege(oid, '{privilege}')"
        assert listed(staging.ana, rows) == set(), privilege
    of_bob = f"SELECT relname FROM pg_class {OF_SHOP} AND has_table_privilege('{staging.other}', oid, 'select')"
    assert not PEOPLE & listed(staging.ana, of_bob)


def test_outside_of_listings_privileges_are_what_they_are(staging: Staging) -> None:
    assert staging.ana.execute("SELECT has_table_privilege('shop.customer', 'select')").fetchone() == (False,)
    with staging.free():
        count = staging.ana.execute("SELECT count(*) FROM pg_class WHERE has_table_privilege(oid, 'select')").fetchone()
        assert count is not None
        assert count[0] > 100


def test_views_keep_the_name_that_was_written(staging: Staging) -> None:
    staging.ana.execute("CREATE VIEW mine.listing AS SELECT * FROM information_schema.tables")
    row = staging.admin.execute("SELECT pg_get_viewdef('mine.listing')").fetchone()
    assert row is not None
    assert "information_schema.tables" in row[0]


def test_the_catalog_for_people_says_what_can_be_asked(staging: Staging) -> None:
    rows = staging.ana.execute(
        "SELECT column_name, lower, upper, categories, can_be_asked FROM discreet.catalog"
        " WHERE table_name = 'shop.customer'::regclass"
    ).fetchall()
    said = {row[0]: row[1:] for row in rows}
    assert "name" not in said
    assert said["balance"][:2] == ("-1000", "2000")
    assert said["segment"][2] == ["home", "work"]
    assert "names the person" in said["customer_id"][3]
    assert "sums need bounds" in said["country_id"][3]
    staging.admin.execute(
        "SELECT discreet.describe_column('shop.orders', 'ordered', date '2024-01-01', date '2025-12-31')"
    )
    bounds = "SELECT lower, upper FROM discreet.catalog WHERE column_name = 'ordered'"
    assert staging.ana.execute(bounds.encode()).fetchall() == [("2024-01-01", "2025-12-31")]


def test_the_catalog_for_people_says_what_types_and_checks_declare(staging: Staging) -> None:
    staging.admin.execute(
        "CREATE TYPE shop.tier AS ENUM ('gold', 'tin'); CREATE DOMAIN shop.stars AS int CHECK (VALUE BETWEEN 1 AND 5);"
        "CREATE TABLE shop.vote (customer_id int PRIMARY KEY CHECK (customer_id > 0 AND customer_id < 9),"
        " tier shop.tier, stars shop.stars, seen date CHECK (seen >= '2024-01-01' AND seen <= '2024-12-31'), kind text"
        " CHECK (kind IN ('a', 'b')), own text CHECK (own IN ('a', 'b')));"
        "SELECT discreet.protect('shop.vote', 'customer_id', dataset => 'customers');"
        "SELECT discreet.describe_column('shop.vote', 'own', categories => '{a}')"
    )
    rows = staging.ana.execute(
        "SELECT column_name, lower, upper, categories, can_be_asked FROM discreet.catalog"
        " WHERE table_name = 'shop.vote'::regclass"
    ).fetchall()
    said = {row[0]: row[1:] for row in rows}
    assert said["customer_id"][:3] == (None, None, None)
    assert said["tier"] == (None, None, ["gold", "tin"], "filters, GROUP BY")
    assert said["stars"][:3] == ("1", "5", None)
    assert "sum, avg" in said["stars"][3]
    assert said["seen"][:2] == ("2024-01-01", "2024-12-31")
    assert (said["kind"][2], said["own"][2]) == (["a", "b"], ["a"])


def test_the_catalog_for_people_shows_nothing_of_other_datasets(staging: Staging) -> None:
    staging.admin.execute(
        "CREATE TABLE shop.staff (id int PRIMARY KEY); SELECT discreet.protect('shop.staff', 'id', epsilon => 1)"
    )
    assert "staff" not in " ".join(
        name for (name,) in staging.ana.execute("SELECT table_name::text FROM discreet.catalog")
    )
    assert "staff" not in listed(staging.ana)
