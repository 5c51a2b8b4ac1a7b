"""`python -m bench`: measures on a throw-away cluster and prints a table; a complete one goes to bench/results.md."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from dataclasses import astuple, fields
from pathlib import Path

from bench import budget, cells, dp, gate, hook, local, mls, personal
from bench.clusters import throw_away_cluster
from bench.measure import Line, Subject

RESULTS = Path(__file__).with_name("results.md")
Benchmark = Callable[[Subject], Iterable[Line]]
FEATURES: dict[str, tuple[Callable[[Subject], None], tuple[Benchmark, ...]]] = {
    "dp": (dp.load, (dp.counts_sums_averages, dp.other_estimators, dp.fixed_cost)),
    "gate": (gate.load, (gate.row_level, gate.person_level, gate.fixed_cost, gate.exactness)),
    "cells": (cells.load, (cells.suppression, cells.rounding, cells.records)),
    "hook": (hook.load, (hook.lookups,)),
    "local": (local.load, (local.estimators, local.responses)),
    "mls": (mls.load, (mls.scans, mls.statements, mls.copy)),
    "personal": (personal.load, (personal.everybody, personal.size, personal.wasteful_global_budget)),
    "budget": (budget.load, (budget.charge, budget.concurrent_charges, budget.charge, budget.accounting)),
}


def shown_cells(line: Line) -> list[str]:
    shown = {None: "", True: "yes", False: "no"}
    return [*astuple(line)[:-1], shown[line.met]]


def table(lines: Iterable[Line]) -> str:
    """The lines as a table that is plain text and Markdown."""
    rows = [[field.name for field in fields(Line)], *map(shown_cells, lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return "".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |\n" for row in rows
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", choices=FEATURES, help="measure one feature")
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows that the aggregates read (5000000)")
    parser.add_argument("--repetitions", type=int, default=9, help="of each question over these rows (9)")
    arguments = parser.parse_args()

    os.environ.setdefault("PG_CONFIG", "/usr/lib/postgresql/15/bin/pg_config")
    lines: list[Line] = []
    with throw_away_cluster() as cluster:
        subject = Subject(cluster, arguments.rows, arguments.repetitions)
        version = cluster.sql("SHOW server_version")
        for load, benchmarks in [FEATURES[name] for name in FEATURES if arguments.only in (None, name)]:
            load(subject)
            for benchmark in benchmarks:
                for line in benchmark(subject):
                    print("  ".join(filter(None, shown_cells(line))), flush=True)
                    lines.append(line)
    heading = (
        f"PostgreSQL {version}, {os.cpu_count()} cores; {arguments.rows} rows in 50 groups, "
        f"{arguments.repetitions} times, native and discreet in turn.\n"
        "Medians; in brackets the middle half of the durations, or the range of the rates.\n"
    )
    print(f"\n{heading}\n{table(lines)}", end="")
    if arguments.only is None:
        RESULTS.write_text(f"# What discreet costs\n\nWritten by `make bench`.\n\n{heading}\n{table(lines)}")


if __name__ == "__main__":
    main()
