"""The page on migrations: its scripts can be run again, and change nothing the second time."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from dev.cluster import ROOT, Cluster
from tests.database.docs.test_documentation import blocks, hidden, run
from tests.databases import Database, created

PAGE = ROOT / "docs" / "migrations.md"
DECLARED = (
    "SELECT dataset, epsilon_limit, delta_limit FROM discreet.datasets",
    "SELECT relation::text, unit, dataset, policy, max_rows, max_groups FROM discreet.protected_tables ORDER BY 1",
    "SELECT relation::text, column_name, lower, upper, categories, visibility FROM discreet.protected_columns"
    " ORDER BY 1, 2",
    "SELECT role, epsilon_limit, epsilon_spent, delta_limit FROM discreet.budget_status ORDER BY 1",
)


@pytest.fixture
def clinic(cluster: Cluster, template: str) -> Iterator[Database]:
    with created(cluster, "of_migrations", template) as database:
        for sql in hidden(PAGE, "before"):
            cluster.sql(sql.replace("discreet_demo", database.name), database.name)
        yield database
        for sql in hidden(PAGE, "after"):
            cluster.sql(sql, database.name)


def test_scripts_of_migrations_can_be_run_again(clinic: Database) -> None:
    admin = clinic.connect()
    seen = []
    for _ in range(3):
        for role, sql, _ in blocks(PAGE):
            printed = run(clinic, role, sql)
            assert not re.search("ERROR|WARNING", printed), printed
        seen.append([admin.execute(query).fetchall() for query in DECLARED])
    assert seen[0] == seen[1] == seen[2]
    assert all(seen[0])
