"""Temporary files: a limit for them that a DBA has set, or a tablespace of the asker's, tells how much was sorted."""

import psycopg
import pytest
from tests.attacks.gate.asking import NAIVE_GATE, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

QUESTION = "SELECT count(DISTINCT p.name) FROM hr.person p JOIN hr.visit v ON p.id = v.person WHERE p.salary {}"


@pytest.fixture
def limited(gated: Target) -> Connection:
    """No temporary files, and so little memory that a thousand names need one."""
    gated.admin.execute("ALTER ROLE blind SET temp_file_limit = 0")
    connection = gated.connect("blind", new=True)
    gated.admin.execute("ALTER ROLE blind RESET temp_file_limit")
    connection.execute("SET work_mem = '64kB'")
    return connection


def test_a_naive_design_fails_when_there_are_many_rows(gated: Target, limited: Connection) -> None:
    gated.admin.execute(NAIVE_GATE)
    limited.execute("SELECT extra.noisy(%s)", [QUESTION.format("= 1007")])
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
        limited.execute("SELECT extra.noisy(%s)", [QUESTION.format("> 0")])


def test_here_many_rows_are_answered_as_few_are(limited: Connection) -> None:
    assert [how_it_ends(limited, QUESTION.format(where)) for where in ("= 1007", "> 0")] == ["answer", "answer"]
