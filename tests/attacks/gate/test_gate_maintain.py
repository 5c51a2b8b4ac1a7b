"""MAINTAIN and pg_maintain (PostgreSQL 17): messages of ANALYZE, VACUUM and CLUSTER tell how many rows a table has."""

from collections.abc import Iterator

import psycopg
import pytest
from tests.attacks.target import PEOPLE, Target
from tests.databases import Connection
from tests.versions import since

pytestmark = since(17)

COMMANDS = ["ANALYZE VERBOSE hr.person", "VACUUM VERBOSE hr.person", "VACUUM (ANALYZE) hr.person", "ANALYZE",
            "ANALYZE hr.person (id)", "VACUUM VERBOSE", "CLUSTER VERBOSE hr.person USING person_pkey"]  # fmt: skip


@pytest.fixture(params=["GRANT MAINTAIN ON hr.person TO blind", "GRANT pg_maintain TO blind"])
def maintainer(gated: Target, blind: Connection, request: pytest.FixtureRequest) -> Iterator[Connection]:
    gated.admin.execute(request.param)
    yield blind
    gated.admin.execute("REVOKE MAINTAIN ON hr.person FROM blind; REVOKE pg_maintain FROM blind")


def test_messages_tell_the_number_of_people(gated: Target) -> None:
    told: list[str] = []
    gated.admin.add_notice_handler(lambda notice: told.append(str(notice.message_primary)))
    gated.admin.execute("ANALYZE VERBOSE hr.person")
    assert f"{PEOPLE} live rows" in " ".join(told)


@pytest.mark.parametrize("command", COMMANDS)
def test_analysts_may_not_maintain_what_they_may_not_read(maintainer: Connection, command: str) -> None:
    told: list[str] = []
    maintainer.add_notice_handler(lambda notice: told.append(str(notice.message_primary)))
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied to maintain table"):
        maintainer.execute(command)
    assert told == []


def test_their_own_tables_they_may(maintainer: Connection) -> None:
    maintainer.execute("CREATE TABLE extra.own (a int); ANALYZE VERBOSE extra.own")
