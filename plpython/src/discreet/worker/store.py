"""The store of measurements: what of a question was measured before, and what is kept of it now."""

from __future__ import annotations

import secrets
from dataclasses import replace
from fractions import Fraction

from discreet.core.syntax import Json
from discreet.gate.accuracy import accuracy
from discreet.gate.exactness import widest_error
from discreet.gate.excluded import groups_sql
from discreet.gate.measure import Group, Released, domain_groups
from discreet.gate.pricing import Asked
from discreet.gate.stored import (
    Found,
    Wider,
    cells_in,
    covers,
    found_in,
    from_averages,
    narrowed,
    store_keys,
    terms_with,
    wider,
    written,
    written_groups,
)
from discreet.gate.together import Rows
from discreet.gate.wish import Wish
from discreet.worker.asker import Asker
from discreet.worker.session import Session, Statement


def recalled(asker: Asker, asked: Asked, wish: Wish) -> tuple[Asked, Found]:
    """What of a question is stored, and the question in the form in which most of it is."""
    if wish.fresh or not asked.plan.measurements:
        return asked, {}
    plan = asked.plan
    ways = [(plan, store_keys(plan, asked.declared))]
    other = from_averages(plan)
    if other is not None:
        ways.append((other, store_keys(other, asked.declared)))
    broader = [(wide, store_keys(wide.plan, asked.declared)) for wide in wider(plan)]
    wanted = {key for _, keys in [*ways, *broader] for key in keys.values()}
    request = {"role": asker.user, "keys": sorted(wanted), "dataset": plan.dataset.name}
    entries: dict[str, Json] = asker.ledger("recall", request) or {}
    known = [domain_groups(plan, keys, asked.texts) for keys in plan.grouping.sets]
    first: Found = {}
    found: Found
    for place, (way, keys) in enumerate(ways):
        found = found_in(way, keys, entries, known)
        first = found if place == 0 else first
        if covers(way, found) and is_exact_enough(replace(asked, plan=way), found, wish):
            return replace(asked, plan=way), found
    for wide, keys in broader:
        found = cells(asker.session, wide, cells_in(wide.plan, keys, entries), known)
        if covers(plan, found) and is_exact_enough(asked, found, wish):
            return asked, found
    return asked, {} if wish.accuracy is not None else first


def cells(session: Session, wide: Wider, found: Found, known: list[list[Group] | None]) -> Found:
    """The cells of a wider question that are the answer of this one, where they are."""
    if not covers(wide.plan, found):
        return {}
    if wide.cell is not None:
        sql = groups_sql(wide.cell, wide.plan.source, wide.conditions)
        groups = [row["text"] for row in session.execute(Statement(sql))]
        if len(groups) != 1:
            return {}
        found = narrowed(found, groups[0])
    for stored in found.values():
        for one, groups_of_set in zip(stored, known, strict=True):
            if groups_of_set is None or not one.numbers.keys() >= set(groups_of_set):
                return {}
    return found


def is_exact_enough(asked: Asked, found: Found, wish: Wish) -> bool:
    if wish.accuracy is None:
        return True
    terms = [terms_with(some, place, found, None) for place, some in enumerate(asked.terms)]
    error = widest_error(asked.plan, terms, wish.smallest)
    return error is not None and error <= Fraction(wish.accuracy)


def keep(asker: Asker, asked: Asked, due: Asked, drawn: list[Released], rows: Rows) -> None:
    """Keeps what was measured now."""
    exact = [found.told() for found in accuracy(asked.plan, rows)]
    run = secrets.token_hex(8)
    # two measurements may have one key, as the number of rows and that of people where each has one row
    entries = {
        key: {
            "key": key,
            "set": place,
            "answer": written(due.terms[place], measurement, drawn[place][measurement], run),
        }
        for (measurement, place), key in store_keys(due.plan, asked.declared).items()
    }
    groups = [
        written_groups(due.plan, keys, numbers[due.plan.measurements[0]])
        for keys, numbers in zip(due.plan.grouping.sets, drawn, strict=True)
    ]
    kept = {"measurements": list(entries.values()), "groups": groups, "accuracy": exact}
    asker.ledger("store", {"role": asker.user, "dataset": asked.plan.dataset.name} | kept)
