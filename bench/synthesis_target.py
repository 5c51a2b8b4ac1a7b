"""`python -m bench.synthesis_target`: a logistic regression that is trained on a synthetic table, for every column.

The column is predicted from all others: whether it has its most frequent value. The regression is trained on the true
rows, on a synthetic table whose publisher named the column, and on one without a name; all are judged by fresh rows of
the same population, by the area under the curve (AUC). Takes half an hour; the table goes to
bench/results/synthesis_target.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from dev.markdown import table

from bench.clusters import throw_away_cluster
from bench.document import RESULTS
from bench.measure import Subject
from bench.synthesis import DELTA, NAMES, ROWS, SIZES, Columns, load, population, synthesized

EPSILON = 3
MOST_LOST = 0.02
TRAINED_ON = 100_000
STEPS, RIDGE = 12, 1.0

Table = npt.NDArray[np.float64]


def features(columns: Columns, target: int) -> Table:
    """A column of 0 and 1 for each value but the first of every other column, and one of 1."""
    parts = [np.ones((len(columns[0]), 1))]
    for place, (column, size) in enumerate(zip(columns, SIZES, strict=True)):
        if place != target:
            parts.append((column[:, None] == np.arange(1, size)).astype(np.float64))
    return np.hstack(parts)


def trained(rows: Table, wanted: Table) -> Table:
    """Weights, by Newton's method."""
    weights: Table = np.zeros(rows.shape[1])
    ridge = RIDGE * np.eye(rows.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (likely - wanted) + RIDGE * weights
        curve = rows.T @ (rows * (likely * (1 - likely))[:, None]) + ridge
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def area(scores: Table, wanted: Table) -> float:
    """The probability that a row with the value has a higher score than one without."""
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    values, first, times = np.unique(scores[order], return_index=True, return_counts=True)
    ranks[order] = np.repeat(first + (times + 1) / 2, times)
    del values
    number = wanted.sum()
    return float((ranks[wanted > 0].sum() - number * (number + 1) / 2) / (number * (len(wanted) - number)))


def auc(training: Columns, fresh: Columns, target: int, value: int) -> float:
    some = [column[:TRAINED_ON] for column in training]
    weights = trained(features(some, target), (some[target] == value).astype(np.float64))
    return area(features(fresh, target) @ weights, (fresh[target] == value).astype(np.float64))


def lines(subject: Subject) -> Iterator[list[str]]:
    number = min(subject.rows, ROWS)
    source, fresh = population(number, 1), [column[:TRAINED_ON] for column in population(number, 3)]
    with subject.connect() as connection:
        _, unnamed, _ = synthesized(connection, EPSILON)
    for target, name in enumerate(NAMES):
        value = int(np.bincount(source[target]).argmax())
        with subject.connect() as connection:
            _, named, _ = synthesized(connection, EPSILON, name)
        true, with_name, without = (auc(rows, fresh, target, value) for rows in (source, named, unnamed))
        met = "yes" if true - with_name <= MOST_LOST else "no"
        yield [name, f"{true:.4f}", f"{with_name:.4f}", f"{without:.4f}", f"{true - with_name:+.4f}", met]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    rows = parser.parse_args().rows
    found = []
    with throw_away_cluster() as cluster:
        subject = Subject(cluster, rows, 1)
        load(subject)
        for line in lines(subject):
            print("  ".join(line), flush=True)
            found.append(line)
    head = ["target", "AUC by true rows", "target named", "not named", f"lost (<= {MOST_LOST})", "met"]
    said = f"{rows:,} rows, epsilon {EPSILON}, delta {DELTA}; trained on {TRAINED_ON:,} rows, judged by fresh ones."
    (RESULTS / "synthesis_target.md").write_text(f"# Trained on synthetic tables\n\n{said}\n\n{table([head, *found])}")


if __name__ == "__main__":
    main()
