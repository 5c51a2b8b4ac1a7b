"""pg_stats and planner estimates: frequent values and histograms of every column."""

import psycopg
import pytest
from tests.attacks.target import Target
from tests.databases import Connection

SALARIES = "SELECT most_common_vals FROM pg_stats WHERE schemaname = 'hr' AND tablename = 'person'"


def test_whoever_may_read_the_table_reads_its_statistics(target: Target, mallory: Connection) -> None:
    target.admin.execute("ANALYZE hr.person")
    assert len(mallory.execute(SALARIES).fetchall()) == 5


@pytest.mark.parametrize("view", ["pg_stats", "pg_stats_ext", "pg_stats_ext_exprs"])
def test_an_analyst_reads_no_statistics(gated: Target, blind: Connection, view: str) -> None:
    gated.admin.execute("CREATE STATISTICS extra.both ON dept, salary FROM hr.person; ANALYZE hr.person")
    assert blind.execute(f"SELECT * FROM {view} WHERE schemaname = 'hr'").fetchall() == []


@pytest.mark.parametrize("relation", ["pg_statistic", "pg_statistic_ext_data"])
def test_nor_the_tables_below(blind: Connection, relation: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        blind.execute(f"SELECT * FROM {relation}")


def test_nor_estimates_of_the_planner(blind: Connection) -> None:
    """What is planned for an analyst is a call of the gate, of which PostgreSQL always expects as many rows."""
    told = {
        str(blind.execute(f"EXPLAIN SELECT count(*) FROM hr.person WHERE salary = {salary}").fetchall())
        for salary in (1007, 5000)
    }
    assert len(told) == 1
    assert "Function Scan on query" in told.pop()
