"""COPY … (ON_ERROR ignore) skips lines and tells which (PostgreSQL 17): a line must not fail by a row above."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from tests.attacks.mls.levels import Levels
from tests.databases import Connection, Row
from tests.versions import since

pytestmark = since(17)

COPY = "COPY {} FROM STDIN (ON_ERROR ignore, LOG_VERBOSITY verbose)"
# well formed; a number that is none, twice; a key that only higher rows have; a key that all see
LINES = ["Grey\t7\n", "Black\tseven\n", "Brown\tseven\n", "Brown\t8\n", "Smith\t9\n"]


def copied(session: Connection, into: str, lines: list[str]) -> Row:
    """What the client is told: skipped lines, the number of rows, or the error."""
    told: list[Any] = []
    session.add_notice_handler(lambda notice: told.append((notice.message_primary, notice.context)))
    cursor = session.cursor()
    try:
        with cursor.copy(COPY.format(into).encode()) as copy:
            for line in lines:
                copy.write(line)
    except psycopg.Error as error:
        return error.sqlstate, error.diag.message_primary, error.diag.message_detail, error.diag.context, told
    return cursor.statusmessage, told


def test_a_table_with_labels_in_its_check_fails_by_a_row_above(levels: Levels) -> None:
    """Where the key is unique whatever the label is: bad lines are skipped, and one that is good fails."""
    levels.admin.execute("CREATE TABLE naive (name text PRIMARY KEY, salary int); GRANT ALL ON naive TO mls_low")
    levels.admin.execute("INSERT INTO naive VALUES ('Brown', 1)")
    told = copied(levels.at("low"), "naive (name, salary)", LINES[1:4])
    levels.admin.execute("DROP TABLE naive")
    assert told[0] == "23505"
    assert len(told[4]) == 2


@pytest.mark.parametrize("lines", [LINES[:1], LINES[:3], LINES[:4], LINES], ids=len)
def test_what_is_told_does_not_depend_on_higher_rows(levels: Levels, lines: list[str]) -> None:
    told = []
    for happens in (False, True):
        levels.reset()
        if happens:
            high = levels.at("high")
            high.execute("INSERT INTO employee (name, salary) VALUES ('Grey', 1), ('Black', 2), ('White', 3)")
            high.execute("DELETE FROM employee WHERE name = 'Brown'")
        low = levels.at("low")
        told.append((copied(low, "employee (name, salary)", lines),
                     low.execute("SELECT name, salary, tc FROM employee ORDER BY 1").fetchall()))  # fmt: skip
    assert told[0] == told[1]


def test_only_lines_that_are_no_values_are_skipped(levels: Levels) -> None:
    low = levels.at("low")
    answer = copied(low, "employee (name, salary)", LINES[:4])
    assert answer[0] == "COPY 2"
    assert low.execute("SELECT name, salary FROM employee WHERE salary IS NOT NULL ORDER BY 1").fetchall() == [
        ("Brown", 8),
        ("Grey", 7),
    ]


@pytest.mark.parametrize("label", ["U", "S", "no label"])
def test_lines_with_labels_are_errors_and_not_skipped(levels: Levels, label: str) -> None:
    answer = copied(levels.at("middle"), "employee (name, salary, salary_label)", [f"Grey\t7\t{label}\n"])
    assert answer[0] in ("22023", "22P02", "42501")
