"""pg_class.reltuples: the number of people, exact after every VACUUM or ANALYZE of a small table."""

import subprocess

import psycopg
import pytest
from tests.attacks.target import PEOPLE, Target
from tests.databases import Connection
from tests.versions import since

COUNTED = "SELECT reltuples::int FROM pg_class WHERE oid = 'hr.person'::regclass"


def test_out_of_the_box_everybody_reads_it(gated: Target, blind: Connection) -> None:
    gated.admin.execute("ANALYZE hr.person")
    assert blind.execute(COUNTED).fetchall() == [(PEOPLE,)]
    named = gated.admin.execute(
        "SELECT finding FROM discreet.check_installation() WHERE item = 'side doors'"
    ).fetchall()
    assert "pg_class.reltuples" in str(named)


@pytest.mark.parametrize(
    "column", ["reltuples", "relpages", "relallvisible", pytest.param("relallfrozen", marks=since(18)), "*"]
)
def test_the_statements_of_the_documentation_close_it(shut_out: Connection, column: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        shut_out.execute(f"SELECT {column} FROM pg_class")


@pytest.mark.parametrize("command", ["\\d hr.person", "\\dt hr.*", "\\dn", "\\df discreet.*"])
def test_psql_goes_on_working(closed: Target, command: str) -> None:
    done = subprocess.run(
        ["psql", "-X", closed.database.dsn("blind"), "-c", command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
