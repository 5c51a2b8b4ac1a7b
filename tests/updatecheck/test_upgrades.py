"""An upgraded install equals a fresh one, and the comparison that says so sees every kind of difference."""

from __future__ import annotations

from pathlib import Path

import pytest
from dev.install import extension_version
from tests.databases import Connection, Database
from tests.updatecheck.snapshot import QUERIES, snapshot

ROOT = Path(__file__).resolve().parents[2]


def installed(database: Database, version: str) -> Connection:
    connection = database.connect()
    connection.execute("SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS plpython3u")
    connection.execute("DROP EXTENSION IF EXISTS discreet")
    connection.execute(f"CREATE EXTENSION discreet VERSION '{version}'")
    return connection


def test_an_install_of_every_released_version_upgrades_to_what_a_fresh_one_is(
    admin: Connection, empty_database: Database
) -> None:
    fresh = snapshot(admin)
    versions = admin.execute("SELECT version FROM pg_available_extension_versions WHERE name = 'discreet'").fetchall()
    assert {("0.1.0",), (extension_version(),)} <= set(versions)
    for (version,) in versions:
        upgraded = installed(empty_database, str(version))
        upgraded.execute("ALTER EXTENSION discreet UPDATE")
        assert snapshot(upgraded) == fresh, f"from {version}"


def test_every_upgrade_script_is_on_a_path_to_the_current_version(admin: Connection) -> None:
    paths = admin.execute("SELECT source, target FROM pg_extension_update_paths('discreet') WHERE path IS NOT NULL")
    reachable = {source for source, target in paths.fetchall() if target == extension_version()}
    scripts = (ROOT / "extension" / "upgrades").glob("discreet--*--*.sql")
    assert {script.name.split("--")[1] for script in scripts} == reachable


def test_two_fresh_installs_are_equal(admin: Connection, empty_database: Database) -> None:
    assert snapshot(installed(empty_database, extension_version())) == snapshot(admin)


def test_the_comparison_looks_at_every_kind_of_object(admin: Connection) -> None:
    kinds = {name.partition(":")[0] for name in snapshot(admin)}
    assert kinds == set(QUERIES)


@pytest.mark.parametrize(
    "change",
    [
        "CREATE OR REPLACE FUNCTION discreet.version() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE"
        " AS $$ SELECT '2' $$",
        "ALTER FUNCTION discreet.version() VOLATILE",
        "ALTER FUNCTION discreet.version() RESET search_path",
        "ALTER FUNCTION discreet.unprotect(regclass) SECURITY INVOKER",
        "COMMENT ON FUNCTION discreet.version() IS 'Something else.'",
        "COMMENT ON TABLE discreet._budget IS NULL",
        "GRANT EXECUTE ON FUNCTION discreet.version() TO PUBLIC",
        "REVOKE SELECT ON discreet.charges FROM discreet_auditor",
        "GRANT CREATE ON SCHEMA discreet TO PUBLIC",
        "ALTER TABLE discreet._dataset ADD COLUMN more int",
        "ALTER TABLE discreet._dataset ALTER created_at DROP DEFAULT",
        "ALTER TABLE discreet._dataset ALTER neighbours DROP NOT NULL",
        "ALTER TABLE discreet._budget DROP CONSTRAINT _budget_pkey",
        "ALTER TABLE discreet._budget ADD CHECK (delta_limit < 0.5)",
        "CREATE INDEX another ON discreet._refusal (role)",
        "ALTER VIEW discreet.charges RESET (security_barrier)",
        "CREATE OR REPLACE VIEW discreet.protected_columns WITH (security_barrier) AS"
        " SELECT relation, column_name, lower, upper, categories, visibility, others"
        " FROM discreet._protected_column WHERE true",
        "ALTER TABLE discreet._protected_table DISABLE TRIGGER _find_columns",
        "ALTER EVENT TRIGGER discreet_load_before_ddl DISABLE",
        "ALTER EXTENSION discreet DROP FUNCTION discreet.version()",
        "UPDATE pg_extension SET extcondition = NULL, extconfig = NULL WHERE extname = 'discreet'",
        "UPDATE pg_extension SET extversion = '9' WHERE extname = 'discreet'",
    ],
)
def test_the_comparison_sees_a_difference(admin: Connection, change: str) -> None:
    before = snapshot(admin)
    admin.execute(change)
    assert snapshot(admin) != before


def test_the_order_of_added_columns_is_no_difference(admin: Connection) -> None:
    # an upgrade adds columns at the end, wherever the fresh script has them
    before = snapshot(admin)
    admin.execute("ALTER TABLE discreet._refusal ADD COLUMN first int, ADD COLUMN second int")
    one = snapshot(admin)
    admin.execute("ALTER TABLE discreet._refusal DROP COLUMN first, DROP COLUMN second")
    assert snapshot(admin) == before
    admin.execute("ALTER TABLE discreet._refusal ADD COLUMN second int, ADD COLUMN first int")
    assert snapshot(admin) == one
