"""The attacker of the gate: blind may not read the tables, but holds a budget of 1 for the people."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.attacks.target import Target
from tests.databases import Connection

BOUNDS = "SELECT discreet.describe_column('hr.person', 'salary', 0, 2000)"


def with_a_budget(target: Target) -> Target:
    target.admin.execute(f"TRUNCATE discreet._answer; {BOUNDS}; SELECT discreet.grant_budget('people', 'blind', 1)")
    return target


@pytest.fixture
def gated(target: Target) -> Target:
    """The attacked database, with nothing stored and a budget for blind and for eve."""
    return with_a_budget(target)


@pytest.fixture
def blind(gated: Target) -> Connection:
    return gated.connect("blind")


@pytest.fixture
def delta(gated: Target) -> Iterator[None]:
    """A delta for the people, without which no unknown group key is shown; a question costs a hundredth, 1e-8."""
    give = "UPDATE discreet._budget SET delta_limit = %s WHERE dataset = 'people'"
    gated.admin.execute(give, [1e-6])
    yield
    gated.admin.execute(give, [0])


@pytest.fixture
def lonely_gated(lonely_target: Target) -> Target:
    """The same in a cluster of its own, which may be crashed."""
    return with_a_budget(lonely_target)
