"""What everybody else pays for the library: pgbench's lookups with and without it."""

from __future__ import annotations

import os
import re
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator

from dev.cluster import Cluster
from dev.interpreter import pg_config

from bench.clusters import throw_away_cluster
from bench.measure import Line, Sample, Subject

MOST = 1.02
# Two sessions of pgbench on one core take turns of a slice: what else the machine does meets both alike. Many pairs,
# since the place of a session in memory makes more of a difference than the library.
PAIRS, SECONDS, SLICE = 20, 3, 0.02
WITHOUT, WITH = "", "discreet"
CORE = 0


def load(subject: Subject) -> None:
    """Nothing: the library must not be in this server from the start, so it has one of its own."""


def pgbench(cluster: Cluster, library: str, *arguments: str) -> subprocess.Popen[str]:
    """A session that loads this library when it begins."""
    program = os.path.join(pg_config("--bindir"), "pgbench")
    place = ["-h", str(cluster.socket), "-p", str(cluster.port), "-U", "postgres", "postgres"]
    settings = {"PGOPTIONS": f"-c session_preload_libraries={library}", "PGAPPNAME": f"lookups {library}"}
    return subprocess.Popen(
        [program, *arguments, *place],
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def stay_on_one_core(cluster: Cluster, library: str, client: int) -> None:
    """The client, and its backend, once it is at work: before, the client looks at its tables by another one."""
    os.sched_setaffinity(client, {CORE})
    at_work, found = f"application_name = 'lookups {library}' AND query LIKE 'SELECT abalance%'", ""
    while not found:
        found = cluster.sql(f"SELECT pid FROM pg_stat_activity WHERE {at_work}")
    os.sched_setaffinity(int(found), {CORE})


def pair(cluster: Cluster, protocol: str) -> dict[str, float]:
    """Lookups a second of a session without the library and one with it, of the time that each has run."""
    arguments = ("-S", "-n", "-M", protocol, "-T", str(2 * SECONDS))
    clients = {library: pgbench(cluster, library, *arguments) for library in (WITHOUT, WITH)}
    for library, client in clients.items():
        stay_on_one_core(cluster, library, client.pid)
        client.send_signal(signal.SIGSTOP)
    ran = dict.fromkeys(clients, 0.0)
    while sum(ran.values()) < 2 * SECONDS:
        for library, client in clients.items():
            client.send_signal(signal.SIGCONT)
            begun = time.perf_counter()
            time.sleep(SLICE)
            client.send_signal(signal.SIGSTOP)
            ran[library] += time.perf_counter() - begun
    return {library: lookups_of(client) / ran[library] for library, client in clients.items()}


def lookups_of(client: subprocess.Popen[str]) -> int:
    """How many there were, all in all; its time is over."""
    client.send_signal(signal.SIGCONT)
    told, trouble = client.communicate()
    found = re.search(r"actually processed: (\d+)", told)
    assert found is not None, trouble
    return int(found[1])


def lookups(subject: Subject) -> Iterator[Line]:
    with throw_away_cluster(shared_preload_libraries="") as cluster:
        pgbench(cluster, WITHOUT, "-i", "-q", "-s", "10").communicate()
        cluster.sql("SELECT discreet.protect('pgbench_tellers', 'tid', epsilon => 1)")
        for protocol in ("simple", "extended", "prepared"):
            pairs = [pair(cluster, protocol) for _ in range(PAIRS)]
            without, loaded = (Sample(tuple(rates[name] for rates in pairs)) for name in (WITHOUT, WITH))
            slower = statistics.median(rates[WITHOUT] / rates[WITH] for rates in pairs)
            yield Line(
                f"hook: lookups of pgbench, {protocol} protocol; native: without the library",
                without.rate(), loaded.rate(), f"{slower:.3f}", f"<= {MOST}", slower <= MOST,
            )  # fmt: skip
