"""What is said of a synthetic table: every number comes from paid measurements, or from the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from discreet.core.syntax import Json
from discreet.dp.exact import decimal_above
from discreet.synthesis.aim import Taken
from discreet.synthesis.junction import Clique
from discreet.synthesis.plan import SynthesisPlan
from discreet.synthesis.problem import Problem


@dataclass(frozen=True)
class Part:
    """One model, with the names of its attributes, what was measured of it, and what its last fit has told."""

    names: tuple[str, ...]
    problem: Problem
    taken: tuple[Taken, ...]
    settled: Mapping[str, Json]

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
    """Measured marginals, each with its mean error; those that were not measured follow from the model."""
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
    known = {each.measured.clique for each in part.taken}
    inferred = [
        part.named(clique) for clique in part.problem.candidates if len(clique) == 2 and not _within(clique, known)
    ]
    return {
        "attributes": list(part.names),
        "rows_per_person": part.problem.most_rows,
        "rows": round(part.total),
        "measured": measured,
        "inferred_pairs": inferred,
        "model_cells": part.settled["cells"],
    }


def _within(clique: Clique, known: set[Clique]) -> bool:
    return any(set(clique) <= set(other) for other in known)


def _number(amount: Fraction) -> float:
    return float(decimal_above(amount, 12)) if amount else float(Decimal(0))
