"""Servers that are measured, and gone afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dev.cluster import Cluster

SETTINGS = {
    "shared_buffers": "512MB",
    "max_parallel_workers_per_gather": "2",
    "max_wal_size": "4GB",
    "fsync": "on",
    "synchronous_commit": "on",
}


@contextmanager
def throw_away_cluster(**settings: str) -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="discreet-bench-", dir="/var/tmp"))
    folder.chmod(0o755)
    cluster = Cluster(folder / "cluster", settings=SETTINGS | settings)
    try:
        cluster.start()
        cluster.sql("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE")
        yield cluster
    finally:
        try:
            cluster.remove()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
