"""`python -m bench.suite SOURCE`: PostgreSQL's own regression suite with and without the extension, in one run.

SOURCE is src/test/regress of the sources of the PostgreSQL that is installed, as `apt-get source postgresql-15` unpacks
them. None of the suite's tables is protected, so all that the extension adds is overhead. What the server's processes
have worked is compared: others on the machine take none of it.
"""

from __future__ import annotations

import argparse
import os
import pwd
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dev.cluster import Cluster, throw_away
from dev.postgresql import pg_config

MOST = 1.05
# what pg_regress creates in the database of the suite
WAYS: dict[str, tuple[str, ...]] = {"with the library": (), "with the extension": ("plpython3u", "discreet")}


@dataclass(frozen=True)
class Outcome:
    """What the server worked, in seconds, and the tests whose output is not what PostgreSQL expects."""

    worked: float
    differing: set[str]


def worked(cluster: Cluster) -> float:
    """Seconds of processor time of the server, those of processes that have ended among them."""
    postmaster = int((cluster.data / "postmaster.pid").read_text().split("\n")[0])
    fields = Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def put_down(source: Path, place: Path, user: str) -> None:
    """The suite with its functions in C, where the server's user can write."""
    shutil.copytree(source, place)
    include = pg_config("--includedir-server")
    library = str(place / "regress.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-I", include, "-o", library, str(place / "regress.c")], check=True)
    account = pwd.getpwnam(user)
    for path in (place, *place.rglob("*")):
        os.chown(path, account.pw_uid, account.pw_gid)


def run(source: Path, libraries: str, extensions: tuple[str, ...]) -> Outcome:
    with throw_away(shared_preload_libraries=libraries, fsync="off") as cluster:
        place = cluster.folder / "regress"
        put_down(source, place, cluster.user)
        program = Path(pg_config("--pgxs")).parents[1] / "test" / "regress" / "pg_regress"
        options = {
            "inputdir": place,
            "outputdir": place,
            "dlpath": place,
            "bindir": pg_config("--bindir"),
            "host": cluster.socket,
            "port": cluster.port,
            "user": "postgres",
            "max-connections": 10,
        }
        command = [str(program), *(f"--{name}={value}" for name, value in options.items())]
        if os.getuid() == 0:
            command = ["runuser", "-u", cluster.user, "--", *command]
        # the database first, with the extension: that it is created there is no part of the suite
        (place / "nothing").touch()
        created = [*command, f"--schedule={place / 'nothing'}", *(f"--load-extension={name}" for name in extensions)]
        subprocess.run(created, capture_output=True, cwd=place, check=True)
        before = worked(cluster)
        suite = [*command, f"--schedule={place / 'parallel_schedule'}", "--use-existing"]
        done = subprocess.run(suite, capture_output=True, text=True, cwd=place)
        spent = worked(cluster) - before
        if not re.search(r"All \d+ tests passed|\d+ of \d+ tests", done.stdout):
            raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
        return Outcome(spent, set(re.findall(r"^(?:test)?\s+(\S+)\s+\.\.\. FAILED", done.stdout, re.MULTILINE)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.suite", description=__doc__)
    parser.add_argument("source", type=Path)
    source = parser.parse_args().source.resolve()
    native = run(source, "", ())
    for way, extensions in WAYS.items():
        outcome = run(source, "discreet", extensions)
        value = outcome.worked / native.worked
        print(f"PostgreSQL's regression suite {way}; native: without the library", end="  ")
        print(
            f"{native.worked:.1f} s  {outcome.worked:.1f} s  {value:.3f}  <= {MOST}  {'yes' if value <= MOST else 'no'}"
        )
        print(f"  tests with another outcome than without: {sorted(outcome.differing ^ native.differing)}", flush=True)


if __name__ == "__main__":
    main()
