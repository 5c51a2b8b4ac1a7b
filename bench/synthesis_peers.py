"""`python -m bench.synthesis_peers`: AIM and MST of smartnoise-synth, OpenDP and dpmm beside synthesize().

All have the same rows. Each peer is installed into an environment of its own (smartnoise-synth takes 6 GB), and each
mechanism is given an hour and one core; nothing else should run meanwhile. The table goes to
bench/results/synthesis_peers.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from dev.markdown import table

from bench.clusters import throw_away_cluster
from bench.document import RESULTS
from bench.measure import Subject
from bench.peers.__main__ import environments, installed
from bench.synthesis import DELTA, NAMES, ROWS, SIZES, Closeness, Columns, load, population, synthesized

PEERS = {"dpmm": "dpmm", "opendp_mbi": "OpenDP", "smartnoise_synth": "smartnoise-synth"}
EPSILON = 1
HOUR = 3600
RUNNER = Path(__file__).parent / "peers" / "synthesis_peer.py"
HEAD = ["by", "seconds", "memory, MB", "error of pairs / triples"]


def of_peer(python: Path, peer: str, mechanism: str, source: Columns, limit: int, cores: int) -> list[str]:
    """A line of the table; why there is no number, if there is none."""
    name = f"{PEERS[peer]}, {mechanism}"
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        given, made = Path(folder, "in.npz"), Path(folder, "out.npz")
        np.savez(given, sizes=SIZES, **dict(zip(NAMES, source, strict=True)))  # type: ignore[arg-type]
        command = [str(python), str(RUNNER), peer, mechanism, str(EPSILON), DELTA, str(given), str(made)]
        threads = {name: str(cores) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=limit, env=os.environ | threads, cwd=folder
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return [name, f"more than {limit}", "", ""]
        if done.returncode != 0:
            return [name, "does not run: " + (done.stderr.strip().splitlines() or ["no reason"])[-1][:100], "", ""]
        held = np.load(made)
        rows = [np.minimum(held[column], size - 1) for column, size in zip(NAMES, SIZES, strict=True)]
        found = Closeness.of(source, rows)
        return [name, f"{float(held['seconds']):.0f}", f"{float(held['megabytes']):.0f}", str(found)]


def of_discreet(source: Columns, rows: int) -> list[str]:
    with throw_away_cluster() as cluster:
        subject = Subject(cluster, rows, 1)
        load(subject)
        with subject.connect() as connection:
            taken, made, peaks = synthesized(connection, EPSILON)
    memory = f"+{peaks['session']} session, {peaks['fitting']} fit"
    return ["discreet", f"{taken:.0f}", memory, str(Closeness.of(source, made))]


def lines(rows: int, limit: int, folder: Path | None, peers: list[str]) -> Iterator[list[str]]:
    source = population(rows, 1)
    yield ["a fresh sample of the population", "", "", str(Closeness.of(source, population(rows, 2)))]
    yield of_discreet(source, rows)
    with environments(folder) as places:
        for peer in peers:
            python = installed(peer, places)
            for mechanism in ("MST", "AIM"):
                if isinstance(python, str):
                    yield [f"{PEERS[peer]}, {mechanism}", python, "", ""]
                else:
                    yield of_peer(python, peer, mechanism, source, limit, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--limit", type=int, default=HOUR, help="seconds for each mechanism")
    parser.add_argument("--environments", type=Path, help="a folder that keeps what was installed")
    parser.add_argument("--only", nargs="*", choices=PEERS, default=list(PEERS))
    given = parser.parse_args()
    found = []
    for line in lines(given.rows, given.limit, given.environments, given.only):
        print("  ".join(line), flush=True)
        found.append(line)
    said = (
        f"{given.rows:,} rows × {len(SIZES)} columns, epsilon {EPSILON}, delta {DELTA}, one core, {given.limit} s each."
    )
    if given.rows == ROWS:
        page = f"# Synthetic tables beside peers\n\n{said}\n\n{table([HEAD, *found])}"
        (RESULTS / "synthesis_peers.md").write_text(page)


if __name__ == "__main__":
    main()
