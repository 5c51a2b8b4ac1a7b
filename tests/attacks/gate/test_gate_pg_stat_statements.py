"""pg_stat_statements shows to everybody how many rows and buffers every statement needed."""

import pytest
from tests.attacks.gate.asking import FEW, NAIVE_GATE
from tests.attacks.target import Target
from tests.databases import Connection, Row

BY_TOWN = "SELECT dept, count(DISTINCT name) FROM hr.person WHERE salary > {} GROUP BY dept"
COUNTERS = """
    SELECT toplevel, rows, shared_blks_hit + shared_blks_read, temp_blks_written, local_blks_hit, wal_bytes
    FROM public.pg_stat_statements WHERE userid = 'blind'::regrole AND query LIKE '%noisy%' OR query LIKE '%query_json%'
"""


@pytest.fixture
def reader(watched: Target) -> Connection:
    watched.admin.execute("ALTER ROLE blind SET pg_stat_statements.track = 'all'")
    connection = watched.connect("blind", new=True)
    connection.execute(f"SELECT discreet.query_json('{FEW}', 0.001)")
    return connection


def counted(watched: Target, reader: Connection, statement: str) -> list[Row]:
    watched.admin.execute("SELECT public.pg_stat_statements_reset()")
    reader.execute(statement)
    return reader.execute(COUNTERS).fetchall()


def test_it_tells_of_a_naive_design(watched: Target, reader: Connection) -> None:
    watched.admin.execute(NAIVE_GATE)
    buffers = {
        counted(watched, reader, f"SELECT extra.noisy('SELECT count(*) FROM {table}')")[0][2]
        for table in ("hr.person", "hr.person, hr.visit", "hr.visit")
    }
    assert len(buffers) > 1


def test_the_statement_around_a_question_tells_nothing_of_its_rows(watched: Target, reader: Connection) -> None:
    reader.execute("SET work_mem = '64kB'")
    few = FEW.replace("hr.person", "hr.person p JOIN hr.visit v ON p.id = v.person")
    told = [
        counted(watched, reader, f"SELECT discreet.query_json('{q}', 0.001)") for q in (few, few.replace("1090", "0"))
    ]
    assert told[0] == told[1]
    assert [row[0] for row in told[0]] == [True]


def test_no_statement_of_the_gate_itself_is_kept(watched: Target, reader: Connection) -> None:
    """Their texts would be hidden, but not how many groups they found."""
    watched.admin.execute("SELECT public.pg_stat_statements_reset()")
    reader.execute(f"SELECT discreet.query_json('{FEW}', 0.001, fresh => true)")
    assert reader.execute("SELECT * FROM public.pg_stat_statements WHERE NOT toplevel").fetchall() == []


def test_that_analysts_can_read_it_at_all_is_named(watched: Target) -> None:
    finding = "SELECT status, finding FROM discreet.check_installation() WHERE item = 'statement statistics'"
    ((status, text),) = watched.admin.execute(finding).fetchall()
    assert status == "warning"
    assert "REVOKE SELECT ON" in str(text)
    watched.admin.execute("REVOKE SELECT ON public.pg_stat_statements FROM PUBLIC")
    try:
        assert watched.admin.execute(finding).fetchall() == []
    finally:
        watched.admin.execute("GRANT SELECT ON public.pg_stat_statements TO PUBLIC")
