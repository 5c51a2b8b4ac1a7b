"""`python -m bench`: measures each feature on a throw-away cluster; its table goes to bench/results/FEATURE.md."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, fields

from dev.markdown import table

from bench import (
    audited,
    budget,
    cells,
    ddl,
    dp,
    gate,
    growth,
    hook,
    local,
    mls,
    mls_versions,
    noise,
    people,
    periods,
    personal,
    release,
    sealed,
    synthesis,
    tools,
    worker,
)
from bench.clusters import throw_away_cluster
from bench.document import RESULTS, write_document
from bench.measure import Line, Subject


@dataclass(frozen=True)
class Feature:
    """What is measured of a feature, after its tables are loaded."""

    title: str
    load: Callable[[Subject], None]
    benchmarks: tuple[Callable[[Subject], Iterable[Line]], ...]


FEATURES = {
    "dp": Feature("Noisy aggregates", dp.load, (dp.counts_sums_averages, dp.other_estimators, dp.fixed_cost)),
    "gate": Feature(
        "The gate", gate.load, (gate.row_level, gate.person_level, gate.within_person, gate.fixed_cost, gate.exactness)
    ),
    "cells": Feature("Cross tables and microdata", cells.load, (cells.suppression, cells.rounding, cells.records)),
    "ddl": Feature("DDL on other tables", ddl.load, (ddl.commands_of_others,)),
    "growth": Feature("Growth", growth.load, (growth.curves,)),
    "hook": Feature("Statements of other sessions", hook.load, (hook.lookups,)),
    "local": Feature("Randomised responses", local.load, (local.estimators, local.responses)),
    "mls": Feature("Multilevel tables", mls.load, (mls.scans, mls.statements, mls.copy, mls.classifying, mls.keeping)),
    "mls_versions": Feature("Multilevel tables with several versions", mls_versions.load, (mls_versions.levels,)),
    "people": Feature(
        "Many rows, people, groups and aggregates",
        people.load,
        (people.many_rows, people.beyond_memory, people.many_aggregates, people.many_groups),
    ),
    "periods": Feature("Budgets of periods", periods.load, (periods.dashboards,)),
    "noise": Feature("Noise of several numbers", noise.load, (noise.several_sums, noise.rollup)),
    "personal": Feature(
        "Personal budgets", personal.load, (personal.everybody, personal.size, personal.wasteful_global_budget)
    ),
    "release": Feature("Releases", release.load, (release.measuring, release.anonymising, release.others)),
    "sealed": Feature("Sealed columns", sealed.load, (sealed.scans, sealed.inserts, sealed.lookups, sealed.storage)),
    "synthesis": Feature("Synthetic tables", synthesis.load, (synthesis.census, synthesis.survey)),
    "audited": Feature("Audited answers", audited.load, (audited.decision, audited.usefulness)),
    "budget": Feature(
        "The ledger",
        budget.load,
        (budget.charge, budget.concurrent_charges, budget.charge, budget.growth, budget.accounting),
    ),
    "tools": Feature("Connections of tools", tools.load, (tools.connections,)),
    "worker": Feature(
        "Sessions that ask", worker.load, (worker.memory, worker.one_session, worker.many_sessions, worker.many_groups)
    ),
}


def shown_cells(line: Line) -> list[str]:
    shown = {None: "", True: "yes", False: "no"}
    return [*astuple(line)[:-1], shown[line.met]]


def table_of(lines: Iterable[Line]) -> str:
    return table([[field.name for field in fields(Line)], *map(shown_cells, lines)])


def measure(name: str, rows: int, repetitions: int) -> str:
    """The page of one feature, measured in one run."""
    feature = FEATURES[name]
    lines: list[Line] = []
    with throw_away_cluster() as cluster:
        subject = Subject(cluster, rows, repetitions)
        version = cluster.sql("SHOW server_version")
        feature.load(subject)
        for benchmark in feature.benchmarks:
            for line in benchmark(subject):
                print("  ".join(filter(None, shown_cells(line))), flush=True)
                lines.append(line)
    return (
        f"# {feature.title}\n\nPostgreSQL {version}, {os.cpu_count()} cores; tables of {rows:,} rows where no number "
        f"is named; {repetitions} times.\n\n{table_of(lines)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", choices=FEATURES, help="measure one feature")
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows that the aggregates read (5000000)")
    parser.add_argument("--repetitions", type=int, default=9, help="of each question over these rows (9)")
    arguments = parser.parse_args()

    RESULTS.mkdir(exist_ok=True)
    for name in [arguments.only] if arguments.only else FEATURES:
        page = measure(name, arguments.rows, arguments.repetitions)
        (RESULTS / f"{name}.md").write_text(page)
        print(f"\n{page}", flush=True)
    write_document()


if __name__ == "__main__":
    main()
