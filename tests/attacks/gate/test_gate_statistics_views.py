"""pg_stat_*: how many rows a table has, and how many blocks and temporary files a statement needed."""

import psycopg
import pytest
from tests.attacks.gate.asking import ask, protect
from tests.attacks.target import PEOPLE, Target
from tests.databases import Connection, Row

# more names than fit into 64 kB, in a table that nobody else reads: other sessions flush their counts when they like
TABLE = "id int PRIMARY KEY, name text", "SELECT n, 'name ' || n FROM generate_series(1, 5000) n"
SPILLING = "SELECT count(DISTINCT name) FROM extra.seen WHERE name <> ''"
USED = """
    SELECT (SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()),
           (SELECT heap_blks_read + heap_blks_hit FROM pg_statio_all_tables WHERE relid = 'extra.seen'::regclass)
"""


def used(*connections: Connection) -> Row:
    for connection in connections:
        connection.execute("SELECT pg_stat_force_next_flush()")
    (row,) = connections[0].execute(USED).fetchall()
    return row


def test_they_tell_of_a_naive_definer_function(target: Target) -> None:
    protect(target, "seen", *TABLE)
    target.admin.execute(f"CREATE FUNCTION extra.f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $${SPILLING}$$")
    attacker = target.connect("blind")
    attacker.execute("SET work_mem = '64kB'")
    before = used(attacker, target.admin)
    attacker.execute("SELECT extra.f()")
    assert all(new > old for old, new in zip(before, used(attacker), strict=True))


def test_they_tell_nothing_of_a_question(gated: Target, blind: Connection) -> None:
    protect(gated, "seen", *TABLE)
    blind.execute("SET work_mem = '64kB'")
    before = used(blind, gated.admin)
    ask(blind, SPILLING)
    assert used(blind) == before


def test_how_many_rows_a_table_has_is_told_and_named(gated: Target, blind: Connection) -> None:
    """Out of the box PostgreSQL shows it to everybody; check_installation() says so."""
    gated.admin.execute("ANALYZE hr.person; SELECT pg_stat_force_next_flush()")
    rows = "SELECT n_live_tup FROM pg_stat_all_tables WHERE relid = 'hr.person'::regclass"
    assert blind.execute(rows).fetchall() == [(PEOPLE,)]
    found = gated.admin.execute("SELECT status FROM discreet.check_installation() WHERE item = 'side doors'")
    assert found.fetchall() == [("warning",)]


@pytest.mark.parametrize(
    "view",
    [
        "pg_stat_all_tables", "pg_stat_user_tables", "pg_stat_xact_all_tables", "pg_statio_all_tables",
        "pg_stat_database", "pg_stat_user_indexes", "pg_statio_user_indexes", "pg_stat_user_functions",
        "pg_stat_xact_user_functions",
        "pg_stat_wal", "pg_stat_bgwriter", "pg_stat_slru",
    ],
)  # fmt: skip
def test_the_statements_of_the_documentation_close_them(shut_out: Connection, view: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        shut_out.execute(f"SELECT * FROM {view}")


def test_then_nothing_is_left_to_name(closed: Target) -> None:
    found = closed.admin.execute("SELECT status FROM discreet.check_installation() WHERE item = 'side doors'")
    assert found.fetchall() == []
