"""The attacker of the gate: blind may not read the tables, but holds a budget of 1 for the people."""

from __future__ import annotations

import pytest
from tests.attacks.target import Target
from tests.databases import Connection

BOUNDS = "SELECT discreet.describe_column('hr.person', 'salary', 0, 2000)"

VOTERS = """
    CREATE TABLE extra.voter (
        id int PRIMARY KEY, dob date, zip text, gender text, region text, roll_no int, voted boolean, salary int,
        UNIQUE (dob, zip, gender), UNIQUE (region, roll_no));
    INSERT INTO extra.voter
    SELECT n, date '1950-01-01' + n / 8, 'zip ' || n % 4, CASE WHEN n % 8 < 4 THEN 'F' ELSE 'M' END,
           'region ' || n % 5, n / 5, n % 3 = 0, 1000 + n * 7 % 100
    FROM generate_series(1, 800) n;
    SELECT discreet.protect('extra.voter', 'id', dataset => 'people');
    SELECT discreet.describe_column('extra.voter', 'roll_no', 0, 1000),
           discreet.describe_column('extra.voter', 'salary', 0, 2000);
"""


@pytest.fixture
def gated(target: Target) -> Target:
    """The attacked database, with nothing stored and a budget for blind and for eve."""
    target.admin.execute(f"TRUNCATE discreet._answer; {BOUNDS}; SELECT discreet.grant_budget('people', 'blind', 1)")
    return target


@pytest.fixture
def blind(gated: Target) -> Connection:
    return gated.connect("blind")


@pytest.fixture
def voters(gated: Target) -> Target:
    """Beside it people of whom (dob, zip, gender) and (region, roll_no) are unique."""
    gated.admin.execute(f"SET client_min_messages = warning; {VOTERS}; RESET client_min_messages")
    return gated
