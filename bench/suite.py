"""`python -m bench.suite SOURCES`: PostgreSQL's own regression and isolation suites, with and without discreet.

SOURCES is the tree of the PostgreSQL that is installed, as `apt-get source postgresql-15` unpacks it. The suites run
without the library, and in three ways with it. What they print must be the same, but for the tests in EXPLAINED; what
the server's processes have worked is compared: others on the machine take none of it. `--only regress`, or
`--only isolation`, runs one of them. Outputs that differ go to build/suite.
"""

from __future__ import annotations

import argparse
import os
import pwd
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from dev.cluster import ROOT, Cluster, throw_away
from dev.postgresql import pg_config

MOST = 1.05
# with an analyst who has a budget, so that every statement is looked at
TABLES = """
    SET client_min_messages = warning;
    CREATE SCHEMA kept;
    CREATE TABLE kept.person (id int PRIMARY KEY, name text, salary int);
    INSERT INTO kept.person SELECT n, 'name ' || n, n FROM generate_series(1, 100) n;
    SELECT discreet.protect('kept.person', 'id', epsilon => 1);
    CREATE ROLE suite_analyst IN ROLE discreet_analyst;
    SELECT discreet.grant_budget('kept.person', 'suite_analyst', 1);
    CREATE TABLE kept.ship (name text PRIMARY KEY, cargo text);
    SELECT discreet.mls_define(ARRAY['U', 'S']);
    SELECT discreet.mls_table('kept.ship', ARRAY['name']);
"""


@dataclass(frozen=True)
class Way:
    libraries: str = "discreet"
    extensions: tuple[str, ...] = ()
    tables: str = ""


EXTENSIONS = ("plpython3u", "discreet")
WITHOUT = Way("")
WAYS = {
    "with the library": Way(),
    "with the extension": Way(extensions=EXTENSIONS),
    "with a protected and a multilevel table": Way(extensions=EXTENSIONS, tables=TABLES),
}
SCHEDULES = {"regress": "parallel_schedule", "isolation": "isolation_schedule"}
# tests that list what is in the catalog, where discreet is in the database, and what they find of it
EXPLAINED = {
    "event_trigger": "lists event triggers: discreet has one, which loads the library",
    "opr_sanity": "lists functions, of which discreet has definer's ones and others that PostgreSQL's own never are",
    "type_sanity": "lists types and columns, of which discreet has some that are stored or named unlike PostgreSQL's",
}


@dataclass(frozen=True)
class Outcome:
    """What the server worked, in seconds, and what each test printed that PostgreSQL does not expect."""

    worked: float
    differing: dict[str, str]

    def against(self, other: Outcome) -> dict[str, str]:
        """What tests print otherwise than there."""
        names = sorted({*self.differing, *other.differing})
        return {name: self.differing.get(name, "as expected\n") for name in names
                if self.differing.get(name) != other.differing.get(name)}  # fmt: skip


def worked(cluster: Cluster) -> float:
    """Seconds of processor time of the server, those of processes that have ended among them."""
    postmaster = int((cluster.data / "postmaster.pid").read_text().split("\n")[0])
    fields = Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def put_down(source: Path, place: Path, user: str) -> None:
    """The suite with its functions in C, where the server's user can write."""
    shutil.copytree(source, place)
    if (place / "regress.c").exists():
        for module in ("autoinc.so", "refint.so"):
            shutil.copy(Path(pg_config("--pkglibdir")) / module, place)
        include = pg_config("--includedir-server")
        library = str(place / "regress.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-I", include, "-o", library, str(place / "regress.c")], check=True)
    account = pwd.getpwnam(user)
    for path in (place, *place.rglob("*")):
        os.chown(path, account.pw_uid, account.pw_gid)


def differences(place: Path) -> dict[str, str]:
    """The changed lines of each test, from the file in which the suite collects them."""
    file = place / "regression.diffs"
    found: dict[str, str] = {}
    for part in re.split(
        r"^diff (?=\S)", file.read_text(errors="replace") if file.exists() else "", flags=re.MULTILINE
    )[1:]:
        header, _, lines = part.partition("\n")
        found[Path(header.split()[-1]).stem] = "\n".join(
            line for line in lines.splitlines() if not line.startswith(("---", "+++", "@@"))
        )
    return found


def run(suite: str, sources: Path, way: Way) -> Outcome:
    with throw_away(shared_preload_libraries=way.libraries, fsync="off") as cluster:
        place = cluster.folder / suite
        put_down(sources / "src" / "test" / suite, place, cluster.user)
        programs = Path(pg_config("--pgxs")).parents[1] / "test" / suite
        program = programs / ("pg_regress" if suite == "regress" else "pg_isolation_regress")
        options = {
            "inputdir": place,
            "outputdir": place,
            "dlpath": place,
            "bindir": pg_config("--bindir"),
            "host": cluster.socket,
            "port": cluster.port,
            "user": "postgres",
            "dbname": "regression",
            "max-connections": 10,
        }
        command = [str(program), *(f"--{name}={value}" for name, value in options.items())]
        if os.getuid() == 0:
            command = ["runuser", "-u", cluster.user, "--", *command]
        # the database first, with the extension: that it is created there is no part of the suite
        (place / "nothing").touch()
        loaded = [f"--load-extension={name}" for name in way.extensions]
        subprocess.run(
            [*command, f"--schedule={place / 'nothing'}", *loaded], capture_output=True, cwd=place, check=True
        )
        if way.tables:
            cluster.sql(way.tables, "regression")
        before = worked(cluster)
        schedule = f"--schedule={place / SCHEDULES[suite]}"
        done = subprocess.run([*command, schedule, "--use-existing"], capture_output=True, text=True, cwd=place)
        spent = worked(cluster) - before
        if not re.search(r"All \d+ tests passed|\d+ of \d+ tests", done.stdout):
            raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
        return Outcome(spent, differences(place))


def compare(suite: str, sources: Path) -> bool:
    """Prints a line for each way; whether all of them print the same within the time."""
    good = True
    native = run(suite, sources, WITHOUT)
    for name, way in WAYS.items():
        outcome = run(suite, sources, way)
        ratio = outcome.worked / native.worked
        others = outcome.against(native)
        unexplained = others.keys() - (EXPLAINED.keys() if way.extensions else set())
        good &= ratio <= MOST and not unexplained
        quick = "yes" if ratio <= MOST else "no"
        print(
            f"{suite} {name}: {native.worked:.1f} s without, {outcome.worked:.1f} s with it, {ratio:.3f} <= {MOST}:"
            f" {quick}; catalog listings that differ: {', '.join(sorted(others.keys() - unexplained)) or 'none'};"
            f" other outputs that differ: {', '.join(sorted(unexplained)) or 'none'}",
            flush=True,
        )
        folder = ROOT / "build" / "suite" / suite / name.replace(" ", "-")
        shutil.rmtree(folder, ignore_errors=True)
        for test, lines in others.items():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{test}.diff").write_text(
                f"without:\n{native.differing.get(test, 'as expected')}\n\nwith:\n{lines}\n"
            )
    return good


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.suite", description=__doc__)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--only", choices=SCHEDULES)
    given = parser.parse_args()
    suites = [given.only] if given.only else list(SCHEDULES)
    good = [compare(suite, given.sources.resolve()) for suite in suites]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
