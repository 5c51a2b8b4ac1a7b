"""Triggers that are named like rules: mls_drop, mls_plain and drop_rule took their functions for those of rules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection

SETUP = """
    CREATE SCHEMA low AUTHORIZATION mls_low;
    CREATE FUNCTION precious() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
    CREATE TABLE named (name text PRIMARY KEY, salary int);
    SELECT discreet.mls_table('named', ARRAY['name']);
    SELECT discreet.add_rule('named', 'pay', 'NEW.salary > 0');
    GRANT ALL ON named TO mls_low;
"""


@pytest.fixture(autouse=True)
def named(levels: Levels, low: Connection) -> Iterator[None]:
    levels.admin.execute(SETUP)
    for name in ("rule x", "limit x", "update limit x"):
        each = "AFTER UPDATE ON named" if name.startswith("up") else "INSTEAD OF UPDATE ON named FOR EACH ROW"
        low.execute(f"CREATE TRIGGER \"{name}\" {each} EXECUTE FUNCTION precious('a', '1')")
    yield
    levels.admin.execute("DROP TABLE IF EXISTS named; DROP FUNCTION precious; DROP SCHEMA low")


def names_of_rules(levels: Levels) -> list[tuple[str]]:
    return levels.admin.execute("SELECT name FROM discreet.rules WHERE relation = 'named'::regclass").fetchall()


@pytest.mark.parametrize("end", ["mls_drop", "mls_plain"])
def test_functions_of_others_stay(levels: Levels, end: str) -> None:
    assert names_of_rules(levels) == [("pay",)]
    assert refusal(levels.admin, "SELECT discreet.drop_rule('named', 'x')")[0] == "42704"
    levels.admin.execute(f"SELECT discreet.{end}('named')")
    left = "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname ~ '^(precious|named_)'"
    assert levels.admin.execute(left).fetchall() == [("precious",)]
    assert levels.admin.execute("SELECT count(*) FROM discreet._multilevel_trigger t WHERE NOT EXISTS"
                                " (SELECT FROM pg_class c WHERE c.oid = t.relation)").fetchall() == [(0,)]  # fmt: skip


def test_a_rule_is_dropped_by_what_was_made_for_it(levels: Levels) -> None:
    levels.admin.execute("SELECT discreet.drop_rule('named', 'pay')")
    assert names_of_rules(levels) == []
    kept = "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'named'::regclass AND tgfoid = 'precious'::regproc"
    assert levels.admin.execute(kept).fetchall() == [(3,)]
    levels.admin.execute("SELECT discreet.mls_drop('named')")


def test_nobody_registers_a_trigger_on_a_table_of_others(levels: Levels, low: Connection) -> None:
    levels.admin.execute("GRANT discreet_curator TO mls_low")
    try:
        call = "SELECT discreet._keep_trigger('named'::regclass, '{rule x}', 'precious', 'x')"
        assert refusal(low, call)[0] == "42501"
        assert refusal(low, "SELECT discreet._forget_trigger('named'::regclass, 'pay')")[0] == "42501"
    finally:
        levels.admin.execute("REVOKE discreet_curator FROM mls_low")
        levels.admin.execute("SELECT discreet.mls_drop('named')")
