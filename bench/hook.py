"""What everybody else pays for the library: pgbench's lookups with and without it."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
from collections.abc import Iterator

from dev.cluster import Cluster
from dev.interpreter import pg_config

from bench.clusters import throw_away_cluster
from bench.measure import Line, Sample, Subject

MOST = 1.02
# many short turns: each pair is measured under the same noise of the machine
LOOKUPS, TURNS = 1000, 250
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
    told = pgbench(cluster, database, "-S", "-n", "-M", protocol, "-t", str(LOOKUPS))
    found = re.search(r"tps = ([0-9.]+) \(without", told)
    assert found is not None, told
    return float(found[1])


def turn(cluster: Cluster, protocol: str, loaded_last: bool) -> tuple[float, float]:
    """Lookups a second without and with the library, one after the other."""
    if loaded_last:
        without = transactions(cluster, WITHOUT, protocol)
        return without, transactions(cluster, WITH, protocol)
    loaded = transactions(cluster, WITH, protocol)
    return transactions(cluster, WITHOUT, protocol), loaded


def lookups(subject: Subject) -> Iterator[Line]:
    with throw_away_cluster(shared_preload_libraries="") as cluster:
        for database in (WITHOUT, WITH):
            cluster.sql(f"CREATE DATABASE {database}")
            pgbench(cluster, database, "-i", "-q", "-s", "10")
        cluster.sql("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE", WITH)
        cluster.sql("SELECT discreet.protect('pgbench_tellers', 'tid', epsilon => 1)", WITH)
        cluster.sql(f"ALTER DATABASE {WITH} SET session_preload_libraries = 'discreet'")
        for protocol in ("simple", "extended", "prepared"):
            turns = [turn(cluster, protocol, number % 2 == 0) for number in range(TURNS)]
            without, loaded = (Sample(rates) for rates in zip(*turns, strict=True))
            slower = statistics.median(alone / beside for alone, beside in turns)
            yield Line(
                f"hook: lookups of pgbench, {protocol} protocol; native: without the library",
                without.rate(), loaded.rate(), f"{slower:.3f}", f"<= {MOST}", slower <= MOST,
            )  # fmt: skip
