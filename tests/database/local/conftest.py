"""A database for all tests that only compute: cloning one takes longer than they do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dev.cluster import Cluster
from tests.databases import Connection, created


@pytest.fixture(scope="session")
def calculator(cluster: Cluster, template: str) -> Iterator[Connection]:
    """The superuser, in a database with the extension and nothing else."""
    with created(cluster, "calculator", template) as database:
        yield database.connect()
