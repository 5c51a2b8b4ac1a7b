"""The function by which the view shows versions of an entity, called by hand with a row that the attacker has made up.

Everybody may call it, since views call functions with the rights of their readers, and everybody may make a row of the
type of the hidden table. The number of an entity is what the view shows as its row_id.
"""

from __future__ import annotations

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


def test_a_row_without_a_key(low: Connection, middle: Connection) -> None:
    """Where a session sees rows above of one label only, the given row is not looked up again."""
    assert refusal(middle, forged(low, "NULL", "NULL"))[0] == "22023"
    assert middle.execute("SELECT count(*) FROM employee").fetchall() == [(2,)]
