"""MAINTAIN (PostgreSQL 17) on the table that holds the rows of all labels: LOCK makes others wait, ANALYZE counts."""

from collections.abc import Iterator

import pytest
from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection
from tests.versions import since

pytestmark = since(17)


@pytest.fixture
def maintainer(levels: Levels, low: Connection) -> Iterator[Connection]:
    levels.admin.execute("GRANT MAINTAIN ON employee_mls TO mls_low")
    yield low
    levels.admin.execute("REVOKE MAINTAIN ON employee_mls FROM mls_low")


@pytest.mark.parametrize(
    "command", ["LOCK TABLE employee_mls", "ANALYZE VERBOSE employee_mls", "VACUUM VERBOSE employee_mls", "ANALYZE"]
)
def test_it_cannot_be_maintained_from_below(maintainer: Connection, command: str) -> None:
    assert refusal(maintainer, command) == ("42501", "permission denied to maintain table employee_mls")


def test_the_multilevel_table_cannot_be_locked(maintainer: Connection) -> None:
    assert refusal(maintainer, "LOCK TABLE employee")[0] == "0A000"
