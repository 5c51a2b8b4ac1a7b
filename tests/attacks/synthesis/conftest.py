"""Mallory holds the budget, and a schema to write to; columns of the people are declared."""

from __future__ import annotations

import pytest
from tests.attacks.target import Target
from tests.databases import Connection

DECLARED = """
    SELECT discreet.describe_column('hr.person', 'dept', categories => '{dept 0,dept 1,dept 2,dept 3,dept 4}'),
           discreet.describe_column('hr.person', 'salary', 1000, 1100)
"""
ASKED = "SELECT discreet.synthesize('hr.person', 'extra.copy', {}, columns => '{{id,dept,salary,smoker}}')"


@pytest.fixture
def publisher(target: Target) -> Connection:
    target.admin.execute(DECLARED)
    return target.connect("mallory")
