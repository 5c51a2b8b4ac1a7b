"""What other sessions pay for the library: pgbench's lookups with and without it."""

from __future__ import annotations

import itertools
import os
import re
import select
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

from dev.cluster import Cluster
from dev.postgresql import pg_config

from bench.clusters import throw_away_cluster
from bench.measure import Line, Sample, Subject

MOST = 1.02
# Two sessions of pgbench take turns of a slice: what else the machine does meets both alike. Many pairs, since the
# place of a session in memory makes more of a difference than the library.
SLICE = 0.02
# Two roles that may read the table, and hold no budget; the sessions of one load the library when they begin.
WITHOUT, WITH = "reader", "reader_with_discreet"
ROLES = f"""
CREATE ROLE {WITHOUT} LOGIN;
CREATE ROLE {WITH} LOGIN;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO {WITHOUT}, {WITH};
ALTER ROLE {WITH} SET session_preload_libraries = 'discreet';
"""


@dataclass(frozen=True)
class Way:
    """Where client and backend work. On one core the one clears the other's cache: there is no worse place."""

    name: str
    client: int
    backend: int
    lookups: int
    pairs: int


WAYS = (
    Way("client and backend on two cores", 1, 0, 20_000, 16),
    Way("both on one core", 0, 0, 40_000, 8),
)


def load(subject: Subject) -> None:
    """Nothing: the library must not be in this server from the start, so it has one of its own."""


@dataclass
class Session:
    """A client that is stopped, and how long it has run in its turns."""

    client: subprocess.Popen[str]
    lookups: int
    ran: float = 0
    ended: bool = False

    def take_turn(self) -> None:
        """One who has ended leaves its turn empty, so that nothing changes for the other."""
        begun = time.perf_counter()
        if self.ended:
            time.sleep(SLICE)
            return
        process = os.pidfd_open(self.client.pid)
        self.client.send_signal(signal.SIGCONT)
        self.ended = bool(select.select([process], [], [], SLICE)[0])
        if not self.ended:
            self.client.send_signal(signal.SIGSTOP)
            # it may have ended just now, which the signal finds out
            self.ended = self.client.returncode is not None
        self.ran += time.perf_counter() - begun
        os.close(process)

    def rate(self) -> float:
        told, trouble = self.client.communicate()
        assert re.search(rf"actually processed: {self.lookups}/{self.lookups}", told), trouble
        return self.lookups / self.ran


def pgbench(cluster: Cluster, role: str, *arguments: str) -> subprocess.Popen[str]:
    program = os.path.join(pg_config("--bindir"), "pgbench")
    place = ["-h", str(cluster.socket), "-p", str(cluster.port), "-U", role, "postgres"]
    return subprocess.Popen(
        [program, *arguments, *place],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def begun(cluster: Cluster, role: str, protocol: str, way: Way) -> Session:
    """Stopped as soon as it is at work; before, it looks at its tables by another backend."""
    client = pgbench(cluster, role, "-S", "-n", "-M", protocol, "-t", str(way.lookups))
    os.sched_setaffinity(client.pid, {way.client})
    at_work, found = f"usename = '{role}' AND query LIKE 'SELECT abalance%'", ""
    while not found:
        found = cluster.sql(f"SELECT pid FROM pg_stat_activity WHERE {at_work}")
    client.send_signal(signal.SIGSTOP)
    os.sched_setaffinity(int(found), {way.backend})
    return Session(client, way.lookups)


def pair(cluster: Cluster, protocol: str, way: Way, order: tuple[str, str]) -> dict[str, float]:
    """Lookups a second of a session without the library and one with it, of the time that each has run."""
    sessions = {role: begun(cluster, role, protocol, way) for role in order}
    while not all(session.ended for session in sessions.values()):
        for session in sessions.values():
            session.take_turn()
    return {role: session.rate() for role, session in sessions.items()}


def lookups(subject: Subject) -> Iterator[Line]:
    with throw_away_cluster(shared_preload_libraries="") as cluster:
        pgbench(cluster, "postgres", "-i", "-q", "-s", "10").communicate()
        cluster.sql("SELECT discreet.protect('pgbench_tellers', 'tid', epsilon => 1)")
        cluster.sql(ROLES)
        for way, protocol in itertools.product(WAYS, ("simple", "extended", "prepared")):
            orders = [(WITHOUT, WITH), (WITH, WITHOUT)] * (way.pairs // 2)
            pairs = [pair(cluster, protocol, way, order) for order in orders]
            without, loaded = (Sample(tuple(rates[name] for rates in pairs)) for name in (WITHOUT, WITH))
            slower = statistics.median(rates[WITHOUT] / rates[WITH] for rates in pairs)
            yield Line(
                f"hook: lookups of pgbench, {protocol} protocol, {way.name}; native: without the library",
                without.rate(), loaded.rate(), f"{slower:.3f}",
                f"<= {MOST}", slower <= MOST,
            )  # fmt: skip
