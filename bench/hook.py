"""What everybody else pays for the library: pgbench's lookups with and without it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator

from dev.cluster import Cluster
from dev.interpreter import pg_config

from bench.clusters import throw_away_cluster
from bench.measure import Line, Sample, Subject

MOST = 1.02
SECONDS, TURNS = 2, 15
WITHOUT, WITH = "lookups_without", "lookups_with"


def load(subject: Subject) -> None:
    """Nothing: the library must not be in this server from the start, so it has one of its own."""


def pgbench(cluster: Cluster, database: str, *arguments: str) -> str:
    program = os.path.join(pg_config("--bindir"), "pgbench")
    done = subprocess.run(
        [program, *arguments, "-h", str(cluster.socket), "-p", str(cluster.port), "-U", "postgres", database],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def transactions(cluster: Cluster, database: str, protocol: str) -> float:
    """Lookups a second of one session."""
    told = pgbench(cluster, database, "-S", "-n", "-M", protocol, "-T", str(SECONDS))
    found = re.search(r"tps = ([0-9.]+) \(without", told)
    assert found is not None, told
    return float(found[1])


def lookups(subject: Subject) -> Iterator[Line]:
    with throw_away_cluster(shared_preload_libraries="") as cluster:
        for database in (WITHOUT, WITH):
            cluster.sql(f"CREATE DATABASE {database}")
            pgbench(cluster, database, "-i", "-q", "-s", "10")
        cluster.sql("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE", WITH)
        cluster.sql("SELECT discreet.protect('pgbench_tellers', 'tid', epsilon => 1)", WITH)
        cluster.sql(f"ALTER DATABASE {WITH} SET session_preload_libraries = 'discreet'")
        for protocol in ("simple", "extended", "prepared"):
            turns = [
                (transactions(cluster, WITHOUT, protocol), transactions(cluster, WITH, protocol)) for _ in range(TURNS)
            ]
            without, loaded = (Sample(rates) for rates in zip(*turns, strict=True))
            slower = without.median / loaded.median
            yield Line(
                f"hook: lookups of pgbench, {protocol} protocol; native: without the library",
                without.rate(), loaded.rate(), f"{slower:.3f}", f"<= {MOST}", slower <= MOST,
            )  # fmt: skip
