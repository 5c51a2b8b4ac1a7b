"""Statements of a question may be run by parallel workers of the session."""

from __future__ import annotations

import pytest
from tests.database.worker.asking import Town
from tests.databases import Connection

ALWAYS = """
    SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
    SET max_parallel_workers_per_gather = 2
"""
# two numbers, each with a scale of at most 1 / 22: any of them is off with a probability below 1e-8
QUESTIONS = {
    "SELECT count(*), count(*) FILTER (WHERE badge > 500) FROM town.hermit": (1000, 995),
    "SELECT count(badge), count(DISTINCT badge) FROM town.hermit WHERE badge <= 50000": (500, 500),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_numbers_are_those_of_one_process(town: Town, admin: Connection, question: str) -> None:
    for several_rows in (False, True):
        if several_rows:
            admin.execute("SELECT discreet.unprotect('town.hermit')")
            admin.execute("ALTER TABLE town.hermit DROP CONSTRAINT hermit_pkey")
            admin.execute("SELECT discreet.protect('town.hermit', 'id', 'hermits', max_rows => 1)")
            admin.execute("SELECT discreet.describe_column('town.hermit', 'badge', 0, 1000000000)")
        session = town.asker("query()")
        session.execute(ALWAYS)
        sql = f"SELECT * FROM discreet.query($${question}$$, 45, fresh => true) AS t(a bigint, b bigint)"
        assert session.execute(sql).fetchone() == QUESTIONS[question]
