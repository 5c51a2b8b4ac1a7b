"""The store on a cluster that is also reached by TCP; the tools are programs that dev/clients/setup installs."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from dev.cluster import ROOT, Cluster, throw_away_folder
from tests import store
from tests.databases import FAST_AND_FORGETFUL
from tests.office import CANARY, Office

PROGRAMS = Path(__file__).parent / "programs"
INSTALLED = ROOT / "build" / "clients"
PYTHON = INSTALLED / "python" / "bin"


def free_port() -> int:
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return int(some.getsockname()[1])


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with throw_away_folder(in_memory=True) as folder:
        running = Cluster(folder / "cluster", free_port(), FAST_AND_FORGETFUL | {"listen_addresses": "127.0.0.1"})
        try:
            running.start()
            yield running
        finally:
            running.remove()


@pytest.fixture(scope="session")
def store_database(cluster: Cluster, template: str) -> Iterator[Office]:
    with store.opened(cluster, template) as opened:
        yield opened


@pytest.fixture
def shop(store_database: Office) -> Office:
    """The store, about which nothing was asked."""
    store_database.reset()
    return store_database


def environment(shop: Office, **more: str) -> dict[str, str]:
    cluster = shop.database.cluster
    return {
        "PATH": os.environ["PATH"], "HOME": str(INSTALLED), "LANG": "C.UTF-8", "PGHOST": str(cluster.socket),
        "PGPORT": str(cluster.port), "PGUSER": store.ANALYST, "PGDATABASE": "store",
        "NODE_FOLDER": str(INSTALLED / "node"), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "MPLCONFIGDIR": "/tmp",
    } | more  # fmt: skip


def run(shop: Office, command: list[str], cwd: Path | None = None, **more: str) -> str:
    """What a program prints, which holds nobody's name."""
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600, env=environment(shop, **more), cwd=cwd, check=False
    )
    assert not CANARY.search(done.stdout + done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def played(shop: Office, command: list[str], phase: str, **more: str) -> dict[str, object]:
    printed = run(shop, [*command, phase], None, **more)
    told: dict[str, object] = json.loads(next(line for line in reversed(printed.splitlines()) if line[:1] == "{"))
    return told
