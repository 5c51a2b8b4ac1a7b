"""A high session locks rows that low sessions write: their waiting is the signal."""

import psycopg
import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection

LOCKS = [
    "SELECT * FROM employee {}",
    "SELECT * FROM (SELECT * FROM employee) e {}",
    "WITH e AS (SELECT * FROM employee {}) SELECT count(*) FROM e",
    "SELECT * FROM employee a JOIN employee b USING (name) {} OF a",
    "DO $$ BEGIN PERFORM FROM employee {}; END $$",
    "SELECT (SELECT name FROM employee LIMIT 1 {})",
    "CREATE TEMP VIEW locked AS SELECT * FROM employee {}; SELECT * FROM locked",
    "CREATE TEMP VIEW around AS SELECT * FROM employee; SELECT * FROM around {}",
    "BEGIN; DECLARE locking CURSOR FOR SELECT * FROM employee {}; FETCH locking",
    "PREPARE locking AS SELECT * FROM employee {}; EXECUTE locking",
]


def test_a_row_lock_signals_where_labels_are_row_security(naive: Connection, high: Connection, low: Connection) -> None:
    high.execute("BEGIN; SELECT * FROM naive WHERE name = 'Smith' FOR UPDATE")
    low.execute("SET lock_timeout = '10ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        low.execute("UPDATE naive SET secret = 'x' WHERE name = 'Smith'")
    high.execute("ROLLBACK")


@pytest.mark.parametrize("strength", ["FOR UPDATE", "FOR NO KEY UPDATE", "FOR SHARE", "FOR KEY SHARE"])
@pytest.mark.parametrize("lock", LOCKS)
def test_rows_of_a_multilevel_table_cannot_be_locked(high: Connection, lock: str, strength: str) -> None:
    code, message = refusal(high, lock.format(strength))
    assert (code, "cannot be locked" in message) == ("0A000", True)


def test_a_function_cannot_lock_either(levels: Levels, high: Connection) -> None:
    code = "CREATE FUNCTION locks() RETURNS SETOF text LANGUAGE {} AS $$ {}SELECT name FROM employee FOR UPDATE{} $$"
    assert refusal(levels.admin, code.format("sql", "", ""))[0] == "0A000"
    levels.admin.execute(code.format("plpgsql", "BEGIN RETURN QUERY ", "; END"))
    assert refusal(high, "SELECT locks()")[0] == "0A000"
    levels.admin.execute("DROP FUNCTION locks()")
