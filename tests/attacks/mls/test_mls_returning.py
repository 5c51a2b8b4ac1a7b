"""RETURNING shows rows as they were written: nothing that the session does not see may be in them."""

from tests.attacks.mls.levels import Levels
from tests.versions import since

STATEMENTS = [
    "UPDATE employee SET perf = 'Low' RETURNING *",
    "WITH changed AS (UPDATE employee SET salary = 2 RETURNING *) SELECT * FROM changed",
    "UPDATE employee e SET perf = 'x' FROM employee f WHERE e.name = f.name RETURNING e.*, f.*",
    "INSERT INTO employee (name, perf) SELECT 'Brown', perf FROM employee RETURNING *",
    "INSERT INTO employee (name) VALUES ('Grey') RETURNING *, (SELECT count(*) FROM employee)",
    "DELETE FROM employee WHERE name = 'Smith' RETURNING *",
    "DELETE FROM employee RETURNING *, (SELECT string_agg(perf, ',') FROM employee)",
]


def test_what_is_returned_does_not_depend_on_higher_rows(levels: Levels) -> None:
    told = levels.tell_nothing(
        [
            "UPDATE employee SET perf = 'Poor', salary = 1 WHERE name = 'Smith'",
            "INSERT INTO employee (name) VALUES ('Grey')",
        ],
        STATEMENTS,
    )
    assert told[0] == ("UPDATE 1", [("Smith", "U", None, "U", "Low", "U", "U")])


def test_what_is_returned_has_labels_that_the_session_dominates(levels: Levels) -> None:
    for who, dominated in (("low", {"U"}), ("middle", {"U", "C"}), ("high", {"U", "C", "S"})):
        session = levels.at(who)
        for statement in STATEMENTS[:3]:
            for row in session.execute(statement).fetchall():
                assert {str(label) for label in (row[1], row[3], row[5], row[6])} <= dominated


@since(18)
def test_rows_as_they_were_do_not_depend_on_higher_rows(levels: Levels) -> None:
    told = levels.tell_nothing(
        [
            "UPDATE employee SET perf = 'Poor', salary = 1 WHERE name = 'Smith'",
            "INSERT INTO employee (name) VALUES ('Grey')",
        ],
        [
            "UPDATE employee SET perf = 'Low' RETURNING old.name, old.salary, old.perf, old.perf_label, new.perf",
            "UPDATE employee SET perf = 'Less' RETURNING old.perf, new.perf, new.perf_label",
            "INSERT INTO employee (name, perf) VALUES ('Brown', 'x') RETURNING old.name, old.perf, new.name",
            "DELETE FROM employee RETURNING old.name, old.perf, new.name",
        ],
    )
    assert told[:3] == [
        ("UPDATE 1", [("Smith", None, None, "U", "Low")]),
        ("UPDATE 1", [("Low", "Less", "U")]),
        ("INSERT 0 1", [(None, None, "Brown")]),
    ]
