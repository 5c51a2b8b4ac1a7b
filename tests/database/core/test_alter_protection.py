"""discreet.alter_protection: limits change, and what was declared stays."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import refused

LIMITS = "SELECT max_rows, max_groups, max_total_rows, max_epsilon, max_delta FROM discreet.protected_tables"
COLUMNS = "SELECT column_name::text, lower, upper, categories, others FROM discreet.protected_columns ORDER BY 1"

pytestmark = pytest.mark.usefixtures("person")


def test_what_is_given_changes_and_all_else_stays(carol: Connection) -> None:
    carol.execute("SELECT discreet.describe_column('hr.person', 'salary', 0, 9)")
    carol.execute("SELECT discreet.describe_column('hr.person', 'dept', categories => '{a}', others => 'rest')")
    before = carol.execute(COLUMNS).fetchall()
    assert before == [("dept", None, None, ["a"], "rest"), ("salary", Decimal(0), Decimal(9), None, None)]
    carol.execute("SELECT discreet.alter_protection('hr.person', max_total_rows => 12, max_epsilon => 0.5)")
    assert carol.execute(LIMITS).fetchall() == [(1, 12, 12, Decimal("0.5"), None)]
    carol.execute("SELECT discreet.alter_protection('hr.person', 4, 3, max_delta => 1e-9)")
    assert carol.execute(LIMITS).fetchall() == [(4, 3, 12, Decimal("0.5"), Decimal("1e-9"))]
    assert carol.execute(COLUMNS).fetchall() == before


def test_nobody_else_alters_limits(carol: Connection, database: Database, make_role: MakeRole) -> None:
    other = make_role("other", "discreet_curator")
    carol.execute(f"GRANT USAGE ON SCHEMA hr TO {other}")
    with refused("42501", "does not own hr.person", "Its owner, being a curator, or a superuser can do this."):
        database.connect(other).execute("SELECT discreet.alter_protection('hr.person', 5)")
    with refused("22023", "max_groups is 0, but must be at least 1", "Give a whole number from 1 on."):
        carol.execute("SELECT discreet.alter_protection('hr.person', max_groups => 0)")
