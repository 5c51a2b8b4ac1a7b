"""After a purge: is the tombstone gone, or does somebody above borrow from it?

Each probe is played with and without a row above that borrows. Ids are compared, too: not with each other, for they are
random, but with the id that the row had before it was deleted.
"""

from __future__ import annotations

from tests.attacks.mls.levels import Levels, outcome
from tests.databases import Connection

PURGE = "SELECT discreet.mls_purge('employee', 'tidy')"
BORROW = "UPDATE employee SET salary = 9 WHERE name = 'Rossi'"


def told_after_a_purge(levels: Levels, borrowed: bool) -> list[object]:
    """What sessions at U, C and C:NATO are told of rows that they deleted, once a purge has been."""
    levels.admin.execute("DELETE FROM employee_mls")
    low, middle, nato, trusted = (levels.at(name) for name in ("low", "middle", "nato", "trusted"))
    low.execute("INSERT INTO employee (name, salary, perf) VALUES ('Rossi', 1, 'Fair')")
    middle.execute("UPDATE employee SET perf = 'Good'")
    ((old,),) = middle.execute("SELECT row_id FROM employee WHERE tc = 'C'").fetchall()
    nato.execute("SET discreet.level = 'C:NATO'")  # beside S, where the borrower is
    nato.execute("UPDATE employee SET salary = 5, perf = 'Great' WHERE tc = 'C'")
    if borrowed:
        levels.at("high").execute(BORROW)
    middle.execute("DELETE FROM employee WHERE tc = 'C'")
    trusted.execute(PURGE)
    told: list[object] = [
        outcome(nato, """SELECT discreet.mls_uplevel('employee', '{"name": "Rossi"}', 'perf', 'C')""")
    ]
    told += [outcome(session, "SELECT * FROM employee") for session in (low, middle, nato)]
    ((new,),) = middle.execute("UPDATE employee SET perf = 'Bad' RETURNING row_id").fetchall()
    told += [new == old, outcome(middle, "SELECT * FROM employee")]
    middle.execute("DELETE FROM employee WHERE tc = 'C'")
    low.execute("DELETE FROM employee")
    trusted.execute(PURGE)
    told += [outcome(session, "SELECT * FROM employee") for session in (low, middle)]
    told += [outcome(low, "INSERT INTO employee (name, salary) VALUES ('Rossi', 2) RETURNING *")]
    return told


def test_nothing_tells_whether_a_tombstone_was_purged_or_is_borrowed_from(levels: Levels) -> None:
    alone = told_after_a_purge(levels, borrowed=False)
    assert told_after_a_purge(levels, borrowed=True) == alone
    assert False in alone
    assert True not in alone


def tombstones(levels: Levels) -> int:
    ((count,),) = levels.admin.execute("SELECT count(*) FROM employee_mls WHERE _dead").fetchall()
    return int(count)


def test_nobody_waits_for_a_purge_under_way(levels: Levels, low: Connection, middle: Connection) -> None:
    """Who waits where a tombstone is purged, and not where one is borrowed from, can tell them apart."""
    levels.admin.execute("DELETE FROM employee_mls")
    low.execute("INSERT INTO employee (name, salary, perf) VALUES ('Rossi', 1, 'Fair')")
    middle.execute("UPDATE employee SET perf = 'Good'")
    middle.execute("DELETE FROM employee WHERE tc = 'C'")
    trusted = levels.at("trusted")
    for end in ("ROLLBACK", "COMMIT"):
        trusted.execute("BEGIN")
        assert trusted.execute(PURGE).fetchall() == [(tombstones(levels),)]
        middle.execute("SET lock_timeout = '100ms'")
        low.execute("SET lock_timeout = '100ms'")
        for isolation in ("READ COMMITTED", "REPEATABLE READ"):
            middle.execute(f"BEGIN ISOLATION LEVEL {isolation}")
            assert middle.execute("UPDATE employee SET perf = 'Bad'").rowcount == 1
            assert middle.execute("DELETE FROM employee WHERE tc = 'C'").rowcount == 1
            middle.execute("COMMIT")
        assert low.execute("UPDATE employee SET salary = 3").rowcount == 1
        trusted.execute(end)
    assert middle.execute("SELECT perf, salary FROM employee").fetchall() == [("Fair", 3)]
    assert trusted.execute(PURGE).fetchall() == [(2,)]
    assert tombstones(levels) == 0


def test_a_purge_between_the_reads_of_an_old_snapshot_is_no_failure(levels: Levels, middle: Connection) -> None:
    low = levels.at("low")
    levels.admin.execute("DELETE FROM employee_mls")
    low.execute("INSERT INTO employee (name, salary, perf) VALUES ('Rossi', 1, 'Fair')")
    middle.execute("UPDATE employee SET perf = 'Good'")
    middle.execute("DELETE FROM employee WHERE tc = 'C'")
    middle.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM employee")
    levels.at("trusted").execute(PURGE)
    assert middle.execute("UPDATE employee SET perf = 'Bad'").rowcount == 1
    middle.execute("COMMIT")
    assert ("Bad",) in middle.execute("SELECT perf FROM employee").fetchall()
