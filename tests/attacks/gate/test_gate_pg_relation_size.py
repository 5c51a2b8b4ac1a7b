"""pg_relation_size and its kin: how many blocks the people fill; and WAL positions, how much is written about them."""

import psycopg
import pytest
from tests.attacks.target import Target
from tests.databases import Connection
from tests.versions import since

CALLS = [
    "pg_relation_size('hr.person')", "pg_relation_size('hr.person', 'main')", "pg_table_size('hr.person')",
    "pg_total_relation_size('hr.person')", "pg_indexes_size('hr.person')", "pg_database_size(current_database())",
    "pg_current_wal_lsn()", "pg_current_wal_insert_lsn()", "pg_stat_get_live_tuples('hr.person'::regclass)",
]  # fmt: skip


def test_out_of_the_box_everybody_reads_them(gated: Target, blind: Connection) -> None:
    for call in CALLS:
        assert blind.execute(f"SELECT {call}").fetchone() != (None,)
    named = gated.admin.execute(
        "SELECT finding FROM discreet.check_installation() WHERE item = 'side doors'"
    ).fetchall()
    assert "pg_relation_size" in str(named)


LATER = [
    pytest.param("reads FROM pg_stat_get_io()", marks=since(16)),
    pytest.param("reads FROM pg_stat_get_backend_io(pg_backend_pid())", marks=since(18)),
    pytest.param("* FROM pg_available_wal_summaries()", marks=since(17)),
    pytest.param("* FROM pg_wal_summary_contents(1, '0/0', '0/1000000')", marks=since(17)),
    pytest.param("* FROM pg_get_wal_summarizer_state()", marks=since(17)),
]


@pytest.mark.parametrize("call", [*CALLS, *LATER])
def test_the_statements_of_the_documentation_close_them(shut_out: Connection, call: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        shut_out.execute(f"SELECT {call}")
