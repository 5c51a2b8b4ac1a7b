"""TRUNCATE removes rows that the session does not see."""

import pytest
from tests.attacks.mls.levels import refusal
from tests.databases import Connection


def test_truncate_removes_everything_where_labels_are_row_security(naive: Connection, low: Connection) -> None:
    low.execute("TRUNCATE naive")
    assert naive.execute("SELECT count(*) FROM naive").fetchone() == (0,)


@pytest.mark.parametrize("relation", ["employee", "employee_mls", "employee, employee_mls CASCADE"])
def test_a_multilevel_table_cannot_be_truncated(low: Connection, high: Connection, relation: str) -> None:
    assert refusal(low, f"TRUNCATE {relation}")[0] in ("42501", "42809")
    assert high.execute("SELECT count(*) FROM employee").fetchone() == (2,)
