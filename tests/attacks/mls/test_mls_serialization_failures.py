"""A low transaction that fails to serialize, or does not, learns whether a high one wrote in between."""

import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection

STATEMENTS = [
    "SELECT * FROM employee",
    "INSERT INTO employee (name) VALUES ('x')",
    "UPDATE employee SET salary = 1",
    "DELETE FROM employee",
    "COPY (SELECT * FROM employee) TO STDOUT",
    "DO $$ BEGIN PERFORM FROM employee; END $$",
]


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("who", ["low", "high"])
def test_serializable_is_refused(levels: Levels, who: str, statement: str) -> None:
    session = levels.at(who)
    assert refusal(session, f"BEGIN ISOLATION LEVEL SERIALIZABLE; {statement}")[0] == "0A000"
    session.execute("ROLLBACK")
    session.execute("SET default_transaction_isolation = serializable")
    assert refusal(session, statement)[0] == "0A000"


@pytest.mark.parametrize(
    "secret",
    [
        "UPDATE employee SET perf = 'x', salary = 5 WHERE name = 'Smith'",
        "DELETE FROM employee WHERE name = 'Smith'",
        "INSERT INTO employee (name) VALUES ('new')",
    ],
)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE employee SET salary = 3 WHERE name = 'Smith'",
        "DELETE FROM employee WHERE name = 'Smith'",
        "INSERT INTO employee (name) VALUES ('new')",
    ],
)
def test_a_repeatable_read_below_does_not_fail_for_what_is_above(
    low: Connection, high: Connection, secret: str, statement: str
) -> None:
    high.execute("UPDATE employee SET perf = 'y' WHERE name = 'Smith'")
    low.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM employee")
    high.execute(secret + " AND tc = 'S'" * ("WHERE" in secret))
    assert low.execute(statement).rowcount == 1
    low.execute("COMMIT")
