"""The attacker of the gate: blind may not read the tables, but holds a budget of 1 for the people."""

from __future__ import annotations

import pytest
from tests.attacks.target import Target
from tests.databases import Connection

BOUNDS = "SELECT discreet.describe_column('hr.person', 'salary', 0, 2000)"


@pytest.fixture
def gated(target: Target) -> Target:
    """The attacked database, with nothing stored and a budget for blind and for eve."""
    target.admin.execute(f"TRUNCATE discreet._answer; {BOUNDS}; SELECT discreet.grant_budget('people', 'blind', 1)")
    return target


@pytest.fixture
def blind(gated: Target) -> Connection:
    return gated.connect("blind")
