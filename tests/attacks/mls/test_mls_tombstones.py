"""What is deleted below stays for those above who borrow from it; below it must be gone without a trace."""

from tests.attacks.mls.levels import Levels
from tests.databases import Connection

PROBES = [
    "DELETE FROM employee WHERE name = 'Smith' RETURNING *",
    "SELECT * FROM employee",
    "SELECT count(*) FROM employee WHERE name = 'Smith'",
    "UPDATE employee SET salary = 1 WHERE name = 'Smith' RETURNING *",
    "DELETE FROM employee WHERE name = 'Smith' RETURNING *",
    "INSERT INTO employee (name, salary) VALUES ('Smith', 2) RETURNING *",
    "SELECT * FROM employee",
    "DELETE FROM employee",
    "INSERT INTO employee (name, salary) VALUES ('Smith', 2), ('Smith', 3)",
]


def test_a_tombstone_is_not_noticed_below(levels: Levels) -> None:
    told = levels.tell_nothing(["UPDATE employee SET perf = 'Poor', salary = 1 WHERE name = 'Smith'"], PROBES)
    assert told[0] == ("DELETE 1", [("Smith", "U", None, "U", None, "U", "U")])
    assert told[5] == ("INSERT 0 1", [("Smith", "U", 2, "U", None, "U", "U")])


def test_above_the_entity_lives_on(low: Connection, high: Connection) -> None:
    low.execute("UPDATE employee SET perf = 'Low' WHERE name = 'Smith'; DELETE FROM employee WHERE name = 'Smith'")
    shown = high.execute("SELECT name, salary, perf FROM employee WHERE name = 'Smith' AND name_label = 'U'").fetchall()
    assert ("Smith", 40000, "Fair") in shown
