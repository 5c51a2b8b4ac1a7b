"""`python -m attacks`: tries every attack in every setting on a throw-away cluster, and writes docs/attacks.md."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from dev.cluster import ROOT, Cluster, throw_away

from attacks import (
    averaging,
    beside,
    budget,
    code,
    levels,
    oracles,
    page,
    reconstruction,
    releases,
    sensitivity,
    synthesis,
    trackers,
)
from attacks.attack import Family, Missing, Outcome
from attacks.office import ROLES, Office
from attacks.reconstruction import Line

PAGE = ROOT / "docs" / "attacks.md"
TRIES = 10
FAMILIES: dict[str, Callable[[Office], Family]] = {
    "trackers": trackers.attacks,
    "averaging": averaging.attacks,
    "budget": budget.attacks,
    "sensitivity": sensitivity.attacks,
    "oracles": oracles.attacks,
    "code": code.attacks,
    "beside": beside.attacks,
    "levels": levels.attacks,
    "releases": releases.attacks,
    "synthesis": synthesis.attacks,
}


@contextmanager
def laboratory() -> Iterator[Cluster]:
    """A cluster with a database to be copied for each family."""
    with throw_away(in_memory=True, fsync="off", max_connections="100") as cluster:
        cluster.sql("CREATE DATABASE lab")
        cluster.sql("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE", "lab")
        cluster.sql(ROLES)
        yield cluster


@contextmanager
def office(cluster: Cluster, name: str) -> Iterator[Office]:
    """A database of its own."""
    cluster.sql(f"CREATE DATABASE lab_{name} TEMPLATE lab")
    opened = Office(cluster, f"lab_{name}")
    try:
        yield opened
    finally:
        opened.close()


def tried(cluster: Cluster, name: str, tries: int) -> tuple[Family, dict[str, dict[str, Outcome | Missing]]]:
    """Every attack of a family in each of its settings."""
    with office(cluster, name) as people:
        family = FAMILIES[name](people)
        cells: dict[str, dict[str, Outcome | Missing]] = {}
        for attack in family.attacks:
            cells[attack.name] = {setting: attack.measured(setting, tries) for setting in family.settings}
        return family, cells


def reconstructed(cluster: Cluster) -> list[Line]:
    with office(cluster, "reconstruction") as people:
        return list(reconstruction.measured(people))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m attacks", description=__doc__)
    parser.add_argument("--only", choices=FAMILIES, help="try one family, and write nothing")
    parser.add_argument("--tries", type=int, default=TRIES, help=f"of each attack in each setting ({TRIES})")
    arguments = parser.parse_args()

    # the cluster goes first, so that an interrupt ends the threads, too
    with ThreadPoolExecutor(2) as pool, laboratory() as cluster:
        if arguments.only:
            print(page.section(*tried(cluster, arguments.only, arguments.tries)))
            return
        version = cluster.sql("SHOW server_version").split()[0]
        solved = pool.submit(reconstructed, cluster)
        sections, names = [], set[str]()
        for family, cells in pool.map(lambda name: tried(cluster, name, arguments.tries), FAMILIES):
            sections.append(page.section(family, cells))
            names |= set(cells)
            print(sections[-1], flush=True)
        sections.append(page.reconstruction(solved.result()))
        print(sections[-1], flush=True)
    threats = (ROOT / "docs" / "threats.md").read_text()
    PAGE.write_text("\n".join([page.head(version, arguments.tries), *sections, page.not_tried(threats, names)]))


if __name__ == "__main__":
    main()
