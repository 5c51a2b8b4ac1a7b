"""What mls_history() must show after random acts, by the model alone: what of its stored rows changed."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tests.database.mls.mls_histories import Act
from tests.database.mls.mls_model import Borrowed, Label, Multilevel, Own, RefusedError, Row

Entry = tuple[str, str, dict[str, Any], dict[str, str]]
"""Whose label it is, what was done, the values of the version's own, and the labels from which others are borrowed."""
Recorded = dict[tuple[str, str, str], list[Entry]]
"""By key, label of the key and label."""


def entry(act: str, at: Label, key: str, row: Row) -> Entry:
    own = {name: cell.value for name, cell in row.cells.items() if isinstance(cell, Own)}
    borrowed = {name: str(cell.source) for name, cell in row.cells.items() if isinstance(cell, Borrowed)}
    return str(at), act, {"name": key, **own}, borrowed


def changes(before: Multilevel, after: Multilevel) -> Recorded:
    found: Recorded = defaultdict(list)
    for place, entity in enumerate(after.entities):
        old = before.entities[place].rows if place < len(before.entities) else {}
        for at, row in entity.rows.items():
            was = old.get(at)
            if was == row:
                continue
            if was is None or was.dead:
                act = "insert" if at == entity.key_label else "version"
            else:
                act = "delete" if row.dead else "update"
            found[entity.key, str(entity.key_label), str(at)].append(entry(act, at, entity.key, row))
    return found


def recorded(acts: list[Act]) -> Recorded:
    model = Multilevel()
    whole: Recorded = defaultdict(list)
    for act in acts:
        before, kept = model.copy(), []
        try:
            for statement in act.statements:
                then = model.copy()
                statement.apply(model, act.subject)
                kept.append(changes(then, model))
        except RefusedError:
            kept = []
            model.entities = before.entities
        if not act.commits:
            kept = []
            model.entities = before.entities
        for each in kept:
            for place, entries in each.items():
                whole[place] += entries
    return whole


def seen_by(observer: Label, whole: Recorded, labels: dict[str, Label]) -> Recorded:
    return {place: entries for place, entries in whole.items() if observer.dominates(labels[place[2]])}
