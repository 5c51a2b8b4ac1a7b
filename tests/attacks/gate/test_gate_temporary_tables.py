"""Temporary tables, or tables in front of search_path, that shadow the name of another."""

from tests.attacks.gate.asking import COUNT, how_it_ends, number
from tests.attacks.target import Target
from tests.databases import Connection

UNQUALIFIED = COUNT.replace("hr.", "")


def test_a_temporary_table_shadows_the_name_in_plain_sql(target: Target, mallory: Connection) -> None:
    mallory.execute("SET search_path = hr; CREATE TEMP TABLE person (id int)")
    assert mallory.execute(UNQUALIFIED).fetchall() == [(0,)]


def test_a_temporary_table_of_the_same_name_is_not_read(gated: Target, blind: Connection) -> None:
    """At epsilon 0.5 noise is beyond 500 with probability below 1e-100."""
    blind.execute("CREATE TEMP TABLE person (id int, salary int); SET search_path = pg_temp, hr")
    assert number(blind, UNQUALIFIED, "0.5") > 500
    assert how_it_ends(blind, "SELECT count(*) FROM pg_temp.person") == "42704"


def test_a_table_of_the_attacker_in_front_of_the_path_is_not_read(gated: Target, blind: Connection) -> None:
    """It is what the name means there, and cannot be asked about."""
    blind.execute("CREATE TABLE extra.person (id int, salary int); SET search_path = extra, hr")
    with gated.free():
        assert how_it_ends(blind, UNQUALIFIED) == "42704"


def test_a_temporary_table_does_not_stand_for_the_released_numbers(gated: Target, blind: Connection) -> None:
    blind.execute("CREATE TEMP TABLE measured (a0 int, k0 int); INSERT INTO measured VALUES (-5, -5)")
    assert number(blind, COUNT) >= 0
