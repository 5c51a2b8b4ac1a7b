"""Servers that are measured, and gone afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dev.cluster import Cluster, throw_away

SETTINGS = {
    "shared_buffers": "512MB",
    "max_parallel_workers_per_gather": "2",
    "max_wal_size": "4GB",
    "fsync": "on",
    "synchronous_commit": "on",
    "max_connections": "250",
}


@contextmanager
def throw_away_cluster(**settings: str) -> Iterator[Cluster]:
    with throw_away(in_memory=False, **(SETTINGS | settings)) as cluster:
        cluster.sql("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE")
        yield cluster
