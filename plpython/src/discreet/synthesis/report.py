"""What is said of a synthetic table: every number comes from paid measurements, or from the plan."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

from discreet.core.syntax import Json
from discreet.dp.exact import decimal_above
from discreet.synthesis.aim import Taken
from discreet.synthesis.junction import Clique, cells
from discreet.synthesis.plan import SynthesisPlan
from discreet.synthesis.problem import Problem


@dataclass(frozen=True)
class Part:
    """One model, with the names of its attributes, what was measured of it, and what its last fit has told.

    `expected`: by how much it misses pairs that were not measured, in L1, as far as the choices tell.
    """

    names: tuple[str, ...]
    problem: Problem
    taken: tuple[Taken, ...]
    settled: Mapping[str, Json]
    expected: Mapping[Clique, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return float(self.settled["total"])

    def named(self, clique: Clique) -> list[str]:
        return [self.names[attribute] for attribute in clique]


def report(
    plan: SynthesisPlan, parts: Sequence[Part], looked: Sequence[Taken], written: Mapping[str, int], seconds: float
) -> dict[str, Json]:
    """`written`: rows of each table, which follow from noisy counts or were asked for; `seconds`: since the data was
    read.
    """
    return {
        "tables": {name: {"rows": rows} for name, rows in written.items()},
        "dataset": plan.dataset.name,
        "epsilon": _number(plan.epsilon),
        "delta": _number(plan.delta),
        "accounting": str(plan.price.accounting),
        "price": _number(plan.price.amount),
        "models": [model(part) for part in parts],
        "bins": {"measured": len(looked), "price": _number(sum((each.amount for each in looked), Fraction(0)))},
        "notes": list(plan.notes),
        "seconds": round(seconds, 1),
    }


def model(part: Part) -> dict[str, Json]:
    """Measured marginals, each with its mean error, and the errors that are expected of all other pairs."""
    total = max(part.total, 1.0)
    measured = [
        {
            "columns": part.named(each.measured.clique),
            "cells": int(each.measured.counts.size),
            "error_per_cell": round(each.error, 3),
            "error": round(min(1.0, each.error * each.measured.counts.size / total / 2), 5),
            "price": _number(each.amount),
        }
        | ({"counts": [int(count) for count in each.measured.counts]} if len(each.measured.clique) == 1 else {})
        for each in part.taken
    ]
    return {
        "attributes": list(part.names),
        "rows_per_person": part.problem.most_rows,
        "rows": round(part.total),
        "measured": measured,
        "expected": list(expected(part)),
        "model_cells": part.settled["cells"],
    }


def expected(part: Part) -> Iterator[dict[str, Json]]:
    """The error to be expected of each pair that was not measured: half the L1 distance, as a part of all rows.

    `by` noise: the pair is part of a larger marginal that was measured, and its counts are sums of that marginal's.
    `by` choice: the model infers it, and the error is at most this in the mean, by what was chosen instead (aim.py).
    None: the pair has too many cells to be counted, or was never a candidate.
    """
    total = max(part.total, 1.0)
    known = {each.measured.clique for each in part.taken}
    for pair in combinations(range(len(part.names)), 2):
        if pair in known or part.problem.given.issuperset(pair):
            continue
        size = cells(part.problem.sizes, pair)
        sums = [
            size * math.sqrt(each.measured.variance * each.measured.counts.size / size)
            for each in part.taken
            if set(pair) < set(each.measured.clique)
        ]
        apart = min(sums) if sums else part.expected.get(pair)
        yield {
            "columns": part.named(pair),
            "error": None if apart is None else round(min(1.0, apart / total / 2), 5),
            "by": "noise" if sums else None if apart is None else "choice",
        }


def _number(amount: Fraction) -> float:
    return float(decimal_above(amount, 12)) if amount else float(Decimal(0))
