"""The function by which the view shows versions of an entity, called by hand with a row that the attacker has made up.

Everybody may call it, since views call functions with the rights of their readers, and everybody may make a row of the
type of the hidden table. The number of an entity is what the view shows as its row_id.
"""

from __future__ import annotations

import struct

import psycopg
import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection

VERSIONS = """
    SELECT discreet._instances(
        'employee_mls', ROW({key}, NULL, NULL, 0, 0, row_id, 1, false, row_id, NULL)::employee_mls,
        ARRAY['salary', 'perf'], {label})
    FROM (SELECT {number} AS row_id) forged
"""
TOP = str(2**63 - 1)


def forged(low: Connection, key: str, label: str) -> str:
    """The call, with the number of Smith, whom everybody sees."""
    ((number,),) = low.execute("SELECT row_id FROM employee WHERE name = 'Smith'").fetchall()
    return VERSIONS.format(key=key, label=label, number=number)


def test_a_label_that_is_not_the_sessions_own(levels: Levels, low: Connection) -> None:
    call = forged(low, "'Smith'", TOP)
    assert "Fair" in str(levels.admin.execute(call).fetchall())
    assert refusal(low, call)[0] == "42501"
    assert refusal(levels.at("trusted"), call)[0] == "42501"


def test_the_label_of_the_session_shows_nothing_above_it(low: Connection, middle: Connection) -> None:
    call = forged(low, "'Smith'", "NULL")
    assert low.execute(call).fetchall() == []
    assert "Fair" not in str(middle.execute(call).fetchall())


@pytest.mark.parametrize("value", ["5::bigint", "'row'::text", "ARRAY[1, 2]", "ROW(1, 2)", "'smith'::name"])
def test_a_value_that_is_no_row_of_the_table(middle: Connection, value: str) -> None:
    call = f"SELECT discreet._instances('employee_mls', {value}, ARRAY['salary', 'perf'], NULL)"
    assert refusal(middle, call)[0] == "22023"
    assert middle.execute("SELECT count(*) FROM employee").fetchall() == [(2,)]


def test_bytes_that_look_like_a_row(levels: Levels, middle: Connection) -> None:
    """A header of the right type, before data that points into other tables."""
    ((kind,),) = levels.admin.execute("SELECT reltype::int FROM pg_class WHERE relname = 'employee_mls'").fetchall()
    header = struct.pack("<iI6sHHB", -1, kind, bytes(6), 10, 0x0C06, 24) + bytes(1)
    call = "SELECT discreet._instances('employee_mls', %s::bytea, ARRAY['salary', 'perf'], NULL)"
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        middle.execute(call, [header + bytes(200)])


def test_the_number_of_nobody(levels: Levels) -> None:
    """In the index, 0 stands for all entities: a role that may not read the table was shown one of them."""
    levels.admin.execute("CREATE ROLE mls_stranger LOGIN; SELECT discreet.mls_clear('mls_stranger', 'S:NATO')")
    try:
        stranger = levels.at("stranger")
        assert refusal(stranger, "SELECT * FROM employee")[0] == "42501"
        call = """
            SELECT discreet._instances(
                'employee_mls', ROW('x', NULL, NULL, 0, 0, 1, label, false, {number}, NULL)::employee_mls,
                ARRAY['salary', 'perf'], NULL)
            FROM unnest(discreet._above_labels('employee_mls')) label
        """
        for number in ("0", "-1", str(-(2**63))):
            assert stranger.execute(call.format(number=number)).fetchall() == []
    finally:
        stranger.close()
        levels.admin.execute("SELECT discreet.mls_clear('mls_stranger', NULL); DROP ROLE mls_stranger")


def test_a_row_without_a_key(low: Connection, middle: Connection) -> None:
    """Where a session sees rows above of one label only, the given row is not looked up again."""
    assert refusal(middle, forged(low, "NULL", "NULL"))[0] == "22023"
    assert middle.execute("SELECT count(*) FROM employee").fetchall() == [(2,)]
