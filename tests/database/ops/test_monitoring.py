"""The queries of docs/monitoring.yaml run as an auditor, and give each metric a number."""

from __future__ import annotations

import re
from decimal import Decimal

import psycopg
import pytest
from dev.cluster import ROOT
from tests.databases import Connection, Database, MakeRole

SOURCE = (ROOT / "docs" / "monitoring.yaml").read_text()
METRICS = re.findall(r"^(\w+):\n  query: \"(.+)\"\n((?:  .*\n)+)", SOURCE, re.MULTILINE)


@pytest.mark.parametrize(("name", "query", "rest"), METRICS, ids=[name for name, _, _ in METRICS])
def test_every_metric_is_there_for_an_auditor(
    person: str, admin: Connection, database: Database, make_role: MakeRole, name: str, query: str, rest: str
) -> None:
    alice, monitor = make_role("alice"), make_role("monitor", "discreet_auditor")
    admin.execute("SELECT discreet.grant_budget('people', %s, 1)", [alice])
    admin.execute(f"GRANT USAGE ON SCHEMA hr TO {alice}")
    asker = database.connect(alice)
    asker.execute("SELECT count(*) FROM hr.person")
    with pytest.raises(psycopg.Error):
        asker.execute("SELECT count(*) FROM hr.person WHERE id = 1")
    columns = dict(re.findall(r"- (\w+): {usage: \"(\w+)\", description: \".+\"}", rest))
    cursor = database.connect(monitor).execute(query)
    assert [column.name for column in cursor.description or ()] == list(columns)
    rows = cursor.fetchall()
    assert rows, name
    for row in rows:
        for usage, value in zip(columns.values(), row, strict=True):
            assert isinstance(value, str if usage == "LABEL" else int | float | Decimal)


def test_there_is_a_query_for_each_metric() -> None:
    assert len(METRICS) == SOURCE.count("query:") == 5
