"""A value that only one person has would tell that the person is there: only declared values are written."""

from __future__ import annotations

from tests.attacks.synthesis.conftest import ASKED
from tests.attacks.target import Target
from tests.databases import Connection

OUTSIDE = "SELECT count(*) FROM {} WHERE dept !~ '^dept [0-4]$' OR salary > 1100"


def test_a_value_that_nobody_declared_is_not_written(target: Target, publisher: Connection) -> None:
    target.admin.execute("UPDATE hr.person SET dept = 'the moon', salary = 99999 WHERE id = 7")
    try:
        assert target.value(OUTSIDE.format("hr.person")) == 1
        publisher.execute(ASKED.format(1))
        assert target.value("SELECT count(*) > 500 FROM extra.copy")
        assert target.value(OUTSIDE.format("extra.copy")) == 0
    finally:
        target.admin.execute("UPDATE hr.person SET dept = 'dept 2', salary = 1007 WHERE id = 7")
