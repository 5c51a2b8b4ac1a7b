"""Written below and prepared, for a later COMMIT or ROLLBACK that depends on what is read above."""

import psycopg
import pytest
from tests.attacks.mls.levels import Levels
from tests.databases import Connection

WRITE = "INSERT INTO employee (name, salary) VALUES ('bit', 1)"


def test_a_plain_table_lets_it_happen(levels: Levels, high: Connection, low: Connection) -> None:
    levels.admin.execute("CREATE TABLE plain (bit int); GRANT SELECT, INSERT ON plain TO mls_high, mls_low")
    high.execute("BEGIN; INSERT INTO plain VALUES (1); PREPARE TRANSACTION 'mls_plain'")
    ((secret,),) = high.execute("SELECT perf FROM employee WHERE name = 'Smith' AND perf_label = 'S'").fetchall()
    high.execute(f"{'COMMIT' if secret == 'Fair' else 'ROLLBACK'} PREPARED 'mls_plain'")
    assert low.execute("SELECT bit FROM plain").fetchall() == [(1,)]
    levels.admin.execute("DROP TABLE plain")


def test_what_has_written_to_a_multilevel_table_is_not_prepared(high: Connection, low: Connection) -> None:
    high.execute("SET discreet.level = 'U'")
    high.execute(f"BEGIN; {WRITE}")
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="cannot be prepared"):
        high.execute("PREPARE TRANSACTION 'mls_bit'")
    assert ("bit",) not in low.execute("SELECT name FROM employee").fetchall()
    assert low.execute("SELECT count(*) FROM pg_prepared_xacts").fetchall() == [(0,)]
