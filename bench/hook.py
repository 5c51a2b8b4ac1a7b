"""What everybody else pays for the library: pgbench's lookups with and without it."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from dev.cluster import Cluster
from dev.interpreter import pg_config

from bench.clusters import throw_away_cluster
from bench.measure import Line, Sample, Subject

MOST = 1.02
# both at the same time, so that what else the machine does meets both alike; for so many seconds, so many times
SECONDS, TURNS = 2, 50
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


def turn(cluster: Cluster, protocol: str, order: tuple[str, ...]) -> dict[str, float]:
    """Lookups a second of one session without and one with the library, side by side."""

    def lookups_of(database: str) -> float:
        told = pgbench(cluster, database, "-S", "-n", "-M", protocol, "-T", str(SECONDS))
        found = re.search(r"tps = ([0-9.]+) \(without", told)
        assert found is not None, told
        return float(found[1])

    with ThreadPoolExecutor(len(order)) as sessions:
        return dict(zip(order, sessions.map(lookups_of, order), strict=True))


def lookups(subject: Subject) -> Iterator[Line]:
    with throw_away_cluster(shared_preload_libraries="") as cluster:
        for database in (WITHOUT, WITH):
            cluster.sql(f"CREATE DATABASE {database}")
            pgbench(cluster, database, "-i", "-q", "-s", "10")
        cluster.sql("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE", WITH)
        cluster.sql("SELECT discreet.protect('pgbench_tellers', 'tid', epsilon => 1)", WITH)
        cluster.sql(f"ALTER DATABASE {WITH} SET session_preload_libraries = 'discreet'")
        for protocol in ("simple", "extended", "prepared"):
            orders = [(WITHOUT, WITH), (WITH, WITHOUT)] * (TURNS // 2)
            turns = [turn(cluster, protocol, order) for order in orders]
            without, loaded = (Sample(tuple(rates[name] for rates in turns)) for name in (WITHOUT, WITH))
            slower = statistics.median(rates[WITHOUT] / rates[WITH] for rates in turns)
            yield Line(
                f"hook: lookups of pgbench, {protocol} protocol; native: without the library",
                without.rate(), loaded.rate(), f"{slower:.3f}", f"<= {MOST}", slower <= MOST,
            )  # fmt: skip
