"""One attacked database for all attacks; each begins with an untouched budget and ends with a check of the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from dev.cluster import Cluster
from tests.attacks.target import Target
from tests.databases import Connection, created, throw_away_cluster


@contextmanager
def attacked(cluster: Cluster, template: str | None) -> Iterator[Target]:
    with created(cluster, "attacked", template) as database:
        if template is None:
            cluster.sql("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE", database.name)
        target = Target(database)
        target.build()
        yield target
        target.close()


def fresh(target: Target) -> Iterator[Target]:
    target.reset()
    yield target
    target.give_back()
    target.check()


@pytest.fixture(scope="session")
def attacked_database(cluster: Cluster, template: str) -> Iterator[Target]:
    with attacked(cluster, template) as target:
        yield target


@pytest.fixture
def target(attacked_database: Target) -> Iterator[Target]:
    """The attacked database, with a budget of 1 for the people and nothing spent."""
    yield from fresh(attacked_database)


@pytest.fixture
def mallory(target: Target) -> Connection:
    """The attacker: an analyst who may read the table."""
    return target.connect("mallory")


@pytest.fixture(scope="session")
def own_cluster() -> Iterator[Cluster]:
    """A cluster that may be crashed, with room for 50 sessions and their ledgers."""
    with throw_away_cluster(max_connections="150") as running:
        yield running


@pytest.fixture(scope="session")
def lonely_database(own_cluster: Cluster) -> Iterator[Target]:
    with attacked(own_cluster, None) as target:
        yield target


@pytest.fixture
def lonely_target(lonely_database: Target) -> Iterator[Target]:
    """The same in a cluster of its own."""
    yield from fresh(lonely_database)
