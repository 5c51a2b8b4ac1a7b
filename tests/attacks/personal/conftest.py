"""A village of three."""

from __future__ import annotations

import pytest
from tests.databases import Database, MakeRole
from tests.village import Village


@pytest.fixture
def village(database: Database, make_role: MakeRole) -> Village:
    """Budgets of 1."""
    return Village(database, make_role)


@pytest.fixture
def rich_village(database: Database, make_role: MakeRole) -> Village:
    """Budgets of 100: questions at epsilon 40, whose answers are as good as exact, can be paid twice."""
    return Village(database, make_role, 100)
