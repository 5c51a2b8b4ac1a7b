"""A question over a derived table or a view is the same question over the rows below, where that only filters and maps.

Theorem. Let V be the rows of R that meet conditions C, with columns e1 … en. A question that counts rows of V that meet
conditions D counts those rows of R that meet C and D with every column of V in D replaced by its expression: the rows
of V correspond one by one to these rows of R, a column of V is its expression there, and the person of a row of V is
that of its row of R. The same holds of what is added up, compared or grouped by. So both have the same exact numbers
over every database, and where a person counts for the same number of rows in both, they are one measurement.

An expression with a window is none of a row alone: it depends on which rows meet C, and D takes none of them away from
it. So a query with windows stays as it is.

Only keys of the store are made of this (gate/keys.py); the native SQL is that of the question.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from operator import is_
from typing import TypeVar, cast

from discreet.gate.names import Source
from discreet.gate.people import windows_of
from discreet.gate.schema import Relation
from discreet.gate.tree import Derived, Expression, HasPerson, Map, Output, Rows

Thing = TypeVar("Thing")


class Inlined:
    """The rows and conditions of a question without the derived tables around; `of`: what else is asked about them."""

    def __init__(self, source: Source, conditions: tuple[Expression, ...]) -> None:
        self._places: list[int] = []
        self.source, self.conditions = source, conditions
        while source.listed is None and (found := mapped(self.source.rows)) is not None:
            place, query = found
            below = Source(moved(query.rows, place), ())
            if (below.single, below.public, below.limits) != (source.single, source.public, source.limits):
                return
            self._places.append(place)
            self.source = below
            met = moved((*self.conditions, *query.conditions), place)
            # rows without a person take no part anyway
            self.conditions = tuple(one for one in met if not (isinstance(one, HasPerson) and one.unit == below.unit))

    def of(self, thing: Thing) -> Thing:
        for place in self._places:
            thing = moved(thing, place)
        return thing


def mapped(rows: Rows) -> tuple[int, Map] | None:
    """The place and query of a derived table that only filters and maps rows."""
    if not isinstance(rows, Derived) or rows.lateral or not isinstance(rows.query, Map):
        return None
    query = rows.query
    whole = query.most is None and not (query.first or query.order or query.ties or query.skip)
    by_row = not any(windows_of(value for _, value in query.columns))
    return (rows.place, query) if whole and by_row else None


def moved(thing: Thing, place: int) -> Thing:
    """With the columns of the derived table at a place written out, and without that place.

    Trees can be deeper than the stack, and share their parts: each part is visited once, from below.
    """
    done: dict[int, object] = {}
    waiting: list[object] = [thing]
    while waiting:
        missing = [part for part in parts_of(waiting[-1], place) if id(part) not in done]
        waiting += missing
        if not missing:
            part = waiting.pop()
            if id(part) not in done:
                done[id(part)] = rebuilt(part, place, done)
    return cast(Thing, done[id(thing)])


def parts_of(thing: object, place: int) -> list[object]:
    """What it holds that may name a place."""
    if isinstance(thing, Output) and thing.place == place:
        return [thing.origin]
    if isinstance(thing, tuple | list | frozenset):
        return list(filter(has_parts, thing))
    return list(filter(has_parts, held_by(thing).values()))


def held_by(thing: object) -> dict[str, object]:
    if not is_dataclass(thing) or isinstance(thing, type | Relation):
        return {}
    return {each.name: getattr(thing, each.name) for each in fields(thing)}


def has_parts(thing: object) -> bool:
    return isinstance(thing, tuple | list | frozenset) or (
        is_dataclass(thing) and not isinstance(thing, type | Relation)
    )


def rebuilt(thing: object, place: int, done: dict[int, object]) -> object:
    """The same of the parts that are done."""
    if isinstance(thing, Output) and thing.place == place:
        return done[id(thing.origin)]
    if isinstance(thing, tuple | list | frozenset):
        new = [done[id(part)] if has_parts(part) else part for part in thing]
        return thing if all(map(is_, new, thing)) else type(thing)(new)
    parts = {name: held for name, held in held_by(thing).items() if has_parts(held)}
    changed = {name: done[id(held)] for name, held in parts.items() if done[id(held)] is not held}
    own = getattr(thing, "place", None)
    if isinstance(own, int) and own > place:
        changed["place"] = own - 1
    return replace(thing, **changed) if changed else thing  # type: ignore[type-var]
