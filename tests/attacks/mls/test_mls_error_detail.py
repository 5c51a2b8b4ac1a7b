"""The DETAIL of an error shows rows and keys; names of constraints show what is checked."""

from collections.abc import Iterator

import pytest
from tests.attacks.mls.levels import Levels, outcome

BAD = [
    "INSERT INTO employee (name) VALUES ('Smith')",
    "INSERT INTO employee (name) VALUES (NULL)",
    "INSERT INTO employee (name, salary) VALUES ('x', -1)",
    "INSERT INTO employee (name, salary_label) VALUES ('x', 'S')",
    "UPDATE employee SET salary = -1",
    "UPDATE employee SET name = 'x'",
    "UPDATE employee SET salary_label = 'U'",
    "DELETE FROM employee WHERE tc < 'A'",
    "INSERT INTO employee (name, perf) SELECT 'long', string_agg(md5(i::text), '') FROM generate_series(1, 999) i",
]


@pytest.fixture(autouse=True)
def plain_index(levels: Levels) -> Iterator[None]:
    """What the index of a column says of a long value would name its place in storage."""
    levels.admin.execute("CREATE INDEX employee_perf ON employee_mls (perf)")
    yield
    levels.admin.execute("DROP INDEX employee_perf")


@pytest.mark.parametrize("who", ["low", "middle", "high"])
def test_no_error_has_a_detail_or_names_what_holds_the_rows(levels: Levels, who: str) -> None:
    session = levels.at(who)
    for statement in BAD:
        told = outcome(session, statement)
        if len(told) == 7:
            _, message, detail, _, _, table, constraint = told
            assert (detail, table, constraint) == (None, None, None), statement
            assert "employee_mls" not in str(message)


def test_errors_are_the_same_whatever_is_above(levels: Levels) -> None:
    levels.tell_nothing(
        ["UPDATE employee SET salary = 1, perf = 'x' WHERE name = 'Smith'", "INSERT INTO employee (name) VALUES ('x')"],
        BAD,
    )
