"""INSERT … ON CONFLICT does one thing where a key exists and another where it does not."""

import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection

CONFLICTS = [
    "DO NOTHING",
    "(name) DO NOTHING",
    "(name) DO UPDATE SET salary = 1",
    "ON CONSTRAINT employee_pkey DO NOTHING",
]


def test_on_conflict_tells_where_labels_are_row_security(naive: Connection, low: Connection) -> None:
    assert low.execute("INSERT INTO naive (name) VALUES ('Brown') ON CONFLICT DO NOTHING").rowcount == 0
    assert low.execute("INSERT INTO naive (name) VALUES ('Grey') ON CONFLICT DO NOTHING").rowcount == 1


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_it_is_refused_before_any_row_is_looked_at(levels: Levels, low: Connection, conflict: str) -> None:
    for name in ("Brown", "Smith", "Grey"):
        assert refusal(low, f"INSERT INTO employee (name) VALUES ('{name}') ON CONFLICT {conflict}")[0] in (
            "0A000",
            "42P10",
            "42704",
        )
    statement = f"INSERT INTO employee (name) VALUES ('Grey') ON CONFLICT {conflict}"
    levels.tell_nothing(["INSERT INTO employee (name) VALUES ('Grey')"], [statement, "SELECT * FROM employee"])
