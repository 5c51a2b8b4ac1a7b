"""Whose rows these are: ways over foreign keys from each table to the person.

A table belongs to the people when exactly one way leads there. With two, a row can be about two people, and only a
human knows whose it is; with none it is about no person, as far as the keys tell.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.adopt.catalog import Person, Reference, Table, Tables, written
from discreet.core.path import UnitPath, is_path

# a table with more is undecided anyway
MOST_WAYS = 20


@dataclass(frozen=True)
class Way:
    """A unit as protect() takes it: the column of the row, and the tables that it passes; `parent` is the first.

    `broken`: a foreign key on the way that does not hold at every moment.
    """

    column: str
    unit: str
    parent: tuple[str, str] | None = None
    broken: Reference | None = None
    types_differ: bool = False
    passes: tuple[tuple[str, str], ...] = ()


class People:
    """The ways of all tables; `ways[key]` is empty where none leads to the person."""

    def __init__(self, tables: Tables, person: Person) -> None:
        self._tables, self._person = tables, person
        self.ways: dict[tuple[str, str], tuple[Way, ...]] = {}
        for key in tables:
            self._found(key, ())

    def _found(self, key: tuple[str, str], below: tuple[tuple[str, str], ...]) -> tuple[Way, ...]:
        """A way never passes a table twice; what is found below a table that is being looked at is not kept."""
        if key in self.ways:
            return self.ways[key]
        table = self._tables[key]
        if key == self._person.table:
            ways: tuple[Way, ...] = (Way(self._person.column, written(self._person.column)),)
        elif table.protection is not None:
            ways = self._declared(table)
        else:
            found = [way for reference in table.references for way in self._over(table, reference, (*below, key))]
            ways = tuple(sorted(found, key=lambda way: len(way.passes))[:MOST_WAYS])
        if not below or not self._reaches(key, below):
            self.ways[key] = ways
        return ways

    def _reaches(self, key: tuple[str, str], below: tuple[tuple[str, str], ...]) -> bool:
        """Whether foreign keys lead from a table to one of those that are being looked at: a ring of tables."""
        seen, waiting = {key}, [key]
        while waiting:
            table = self._tables.get(waiting.pop())
            for parent in {reference.parent for reference in table.references} - seen if table is not None else ():
                if parent in below:
                    return True
                seen.add(parent)
                waiting.append(parent)
        return False

    def _declared(self, table: Table) -> tuple[Way, ...]:
        """Of a table that is protected already the declared way is the one, if its people are these."""
        kept = table.protection
        assert kept is not None
        person = self._tables[self._person.table].protection
        if kept.unit is None or kept.policy == "public" or person is None or kept.dataset != person.dataset:
            return ()
        column = (
            UnitPath.parse(kept.unit).column if is_path(kept.unit) and table.column(kept.unit) is None else kept.unit
        )
        return (Way(column, kept.unit if is_path(kept.unit) else written(kept.unit)),)

    def _over(self, table: Table, reference: Reference, below: tuple[tuple[str, str], ...]) -> list[Way]:
        parent = self._tables.get(reference.parent)
        if parent is None or parent.key in below:
            return []
        held_as = dict(zip(reference.keys, reference.columns, strict=True))
        if parent.key == self._person.table and self._person.column in held_as:
            # the column names the person itself, whether the key is enforced or not
            column = held_as[self._person.column]
            return [Way(column, written(column), parent.key, passes=(parent.key,))]
        column = reference.columns[0]
        found = []
        for way in self._found(parent.key, below):
            if set(way.passes) & set(below):
                continue
            unit = f"{written(column)} -> {parent.written}.{way.unit}"
            broken = reference if not reference.leads_on else way.broken
            held, key = table.column(column), parent.column(reference.keys[0])
            differ = way.types_differ or held is None or key is None or held.type != key.type
            found.append(Way(column, unit, parent.key, broken, differ, (parent.key, *way.passes)))
        return found
