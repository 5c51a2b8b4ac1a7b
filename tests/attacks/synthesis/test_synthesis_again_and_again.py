"""Many synthetic tables of the same people would average their noise out: each is paid for, none is free."""

from __future__ import annotations

import psycopg
import pytest
from tests.attacks.synthesis.conftest import ASKED
from tests.attacks.target import Target
from tests.databases import Connection


def test_every_table_is_paid_for_until_the_budget_is_spent(target: Target, publisher: Connection) -> None:
    for _ in range(2):
        with target.costs("0.4"):
            publisher.execute(ASKED.format(0.4))
        publisher.execute("DROP TABLE extra.copy")
    with target.free(), pytest.raises(psycopg.Error) as error:
        publisher.execute(ASKED.format(0.4))
    assert error.value.sqlstate == "DP003"
    assert target.value("SELECT to_regclass('extra.copy')") is None


def test_a_rollback_gives_nothing_back(target: Target, publisher: Connection) -> None:
    with target.costs("0.4"), publisher.transaction(force_rollback=True):
        publisher.execute(ASKED.format(0.4))
        assert publisher.execute("SELECT count(*) > 0 FROM extra.copy").fetchone() == (True,)
