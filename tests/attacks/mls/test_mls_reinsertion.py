"""Delete and insert again: an entity of the same key must not meet what others left of the first."""

from tests.attacks.mls.levels import Levels
from tests.databases import Connection

SECRETS = [
    "UPDATE employee SET perf = 'Poor' WHERE name = 'Smith'",
    "UPDATE employee SET salary = 7 WHERE name = 'Smith' AND tc = 'S'",
]
AGAIN = [
    "DELETE FROM employee WHERE name = 'Smith'",
    "INSERT INTO employee (name, perf) VALUES ('Smith', 'new') RETURNING *",
    "SELECT * FROM employee",
    "UPDATE employee SET salary = 2 WHERE name = 'Smith' RETURNING *",
    "DELETE FROM employee WHERE name = 'Smith' RETURNING *",
    "INSERT INTO employee (name) VALUES ('Smith') RETURNING *",
    "SELECT * FROM employee",
]


def test_a_row_that_is_inserted_again_is_a_new_one(levels: Levels) -> None:
    told = levels.tell_nothing(SECRETS, AGAIN)
    assert told[-1] == ("SELECT 1", [("Smith", "U", None, "U", None, "U", "U")])


def test_above_both_entities_are_seen(low: Connection, high: Connection) -> None:
    high.execute("UPDATE employee SET perf = 'Poor' WHERE name = 'Smith'")
    low.execute("DELETE FROM employee WHERE name = 'Smith'; INSERT INTO employee (name, perf) VALUES ('Smith', 'new')")
    rows = high.execute("SELECT perf, row_id FROM employee WHERE name = 'Smith'").fetchall()
    assert {"Poor", "new"} <= {str(perf) for perf, _ in rows}
