"""What multilevel tables mean, as a pure program: stored rows, what a label reads, what a write at a label does.

Written from the rules and not from the views and triggers, which are tested against it. One table, a key of one column.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property

LEVELS = ("U", "C", "S")
COMPARTMENTS = ("NATO", "CRYPTO")
# in the order in which the database numbers them, with the group above each
GROUPS = {"EU": None, "FR": "EU", "US": None}
WITHOUT = ""
EVERYBODY = frozenset([WITHOUT, *GROUPS])
COLUMNS = ("salary", "perf")

Value = int | str | None
Shown = tuple[Value, ...]
"""A row as it is shown: key, its label, then each cell with its label, then the tuple class."""


@dataclass(frozen=True)
class Label:
    """`readers`: the groups whose sessions may read it, and whether those without a group may."""

    level: int
    compartments: frozenset[str] = frozenset()
    readers: frozenset[str] = EVERYBODY

    def __str__(self) -> str:
        inside = ",".join(name for name in COMPARTMENTS if name in self.compartments)
        if WITHOUT in self.readers:
            return LEVELS[self.level] + (f":{inside}" if inside else "")
        named = [name for name in GROUPS if name in self.readers]
        lowest = [name for name in named if not any(GROUPS[other] == name for other in named)]
        return f"{LEVELS[self.level]}:{inside}:{','.join(lowest) or '-'}"

    def dominates(self, other: Label) -> bool:
        return self.level >= other.level and self.compartments >= other.compartments and self.readers <= other.readers

    def above(self, other: Label) -> bool:
        return self != other and self.dominates(other)

    @cached_property
    def rank(self) -> tuple[list[bool], int, int]:
        """An order of all labels, in which the tie between incomparable ones is settled."""
        place = sum(1 << COMPARTMENTS.index(name) for name in self.compartments)
        return ([name not in self.readers for name in (WITHOUT, *GROUPS)], place, self.level)


def lub(labels: list[Label]) -> Label:
    return Label(
        max(each.level for each in labels),
        frozenset().union(*(each.compartments for each in labels)),
        EVERYBODY.intersection(*(each.readers for each in labels)),
    )


def label(text: str) -> Label:
    level, inside, groups = (*text.split(":"), "", "")[:3]
    named = [name for name in groups.split(",") if name not in ("", "-")]
    readers = {above for name in named for above in (name, GROUPS[name]) if above is not None}
    return Label(
        LEVELS.index(level), frozenset(inside.split(",")) if inside else frozenset(),
        frozenset(readers) if groups else EVERYBODY,
    )  # fmt: skip


@dataclass(frozen=True)
class Own:
    value: Value


@dataclass(frozen=True)
class Borrowed:
    source: Label


Cell = Own | Borrowed | None
"""None: absent, never set."""


@dataclass
class Row:
    cells: dict[str, Cell]
    dead: bool = False


@dataclass
class Entity:
    key: str
    key_label: Label
    rows: dict[Label, Row] = field(default_factory=dict)

    def owner(self, at: Label, column: str) -> Label | None:
        """The label of the row that owns what the row at a label has in a column; tombstones keep what they own."""
        cell = self.rows[at].cells[column]
        while isinstance(cell, Borrowed):
            at = cell.source
            cell = self.rows[at].cells[column]
        return at if isinstance(cell, Own) else None

    def value(self, at: Label, column: str) -> Value:
        cell = self.rows[at].cells[column]
        assert isinstance(cell, Own)
        return cell.value

    def place(self, column: str, to: Label, cell: Cell, replaces: bool) -> None:
        """Makes a cell own at a label, in a row that is made if none lives there."""
        there = self.rows.get(to)
        if there is None or there.dead:
            basis = max((at for at in self.live(to) if at != to), key=lambda at: at.rank, default=None)
            there = Row(dict.fromkeys(COLUMNS) if basis is None else made_from(self, basis))
            self.rows[to] = there
        if replaces or not isinstance(there.cells[column], Own):
            there.cells[column] = cell

    def lower(self, found: set[Label], column: str, to: Label) -> None:
        if found:
            self.place(column, to, self.rows[lub(list(found))].cells[column], replaces=True)
        for at in found:
            borrow(self.rows[at], column, to)

    def lift(self, found: set[Label], column: str, to: Label, session: Label) -> None:
        if not found:
            return
        self.place(column, to, self.rows[lub(list(found))].cells[column], replaces=False)
        for at in self.live(session):
            if at.above(to) and self.live_owner(at, column) in found:
                self.rows[at].cells[column] = Borrowed(to)
        for at in found:
            if at == self.key_label:
                self.rows[at].cells[column] = None
            else:
                borrow(self.rows[at], column, self.key_label)

    def live_owner(self, at: Label, column: str) -> Label | None:
        """As owner(), through live rows alone."""
        cell = self.rows[at].cells[column]
        while isinstance(cell, Borrowed):
            at = cell.source
            if self.rows[at].dead:
                return None
            cell = self.rows[at].cells[column]
        return at if isinstance(cell, Own) else None

    def live(self, session: Label) -> list[Label]:
        return [at for at, row in self.rows.items() if not row.dead and session.dominates(at)]


@dataclass(frozen=True)
class Seen:
    """A row shown to a session, and where it lives."""

    entity: Entity
    at: Label
    values: dict[str, Value]

    @property
    def shown(self) -> Shown:
        return tuple(self.values.values())


class RefusedError(Exception):
    """A write that the session is told it cannot do."""


@dataclass
class Multilevel:
    entities: list[Entity] = field(default_factory=list)

    # ---- reading

    def rows(self, session: Label) -> list[Seen]:
        return [seen for entity in self.entities for seen in self._rows_of(entity, session)]

    def _rows_of(self, entity: Entity, session: Label) -> Iterator[Seen]:
        live = entity.live(session)
        owners = {at: {column: entity.owner(at, column) for column in COLUMNS} for at in live}
        for at in live:
            if any(said_by(at, owners[at], other, owners[other]) for other in live if other != at):
                continue
            values: dict[str, Value] = {"name": entity.key, "name_label": str(entity.key_label)}
            labels = [entity.key_label]
            for column in COLUMNS:
                source = owners[at][column]
                if source is None:
                    fillers = [
                        each for each in live if each.above(at) and isinstance(entity.rows[each].cells[column], Own)
                    ]
                    source = fillers[0] if len(fillers) == 1 else None
                values[column] = None if source is None else entity.value(source, column)
                values[f"{column}_label"] = str(source or session)
                labels.append(source or session)
            values["tc"] = str(lub(labels))
            yield Seen(entity, at, values)

    # ---- writing; whoever writes puts the copy back when a statement is refused

    def copy(self) -> Multilevel:
        return Multilevel(deepcopy(self.entities))

    def insert(self, session: Label, key: str, cells: dict[str, Value]) -> Shown:
        check(cells)
        if any(entity.key == key and entity.live(session) for entity in self.entities):
            raise RefusedError("duplicate key")
        own: dict[str, Cell] = {name: None if cells.get(name) is None else Own(cells[name]) for name in COLUMNS}
        self.entities.append(Entity(key, session, {session: Row(own)}))
        written: list[Value] = [key, str(session)]
        for name in COLUMNS:
            written += [cells.get(name), str(session)]
        return (*written, str(session))

    def update(self, session: Label, seen: Seen, cells: dict[str, Value]) -> Shown | None:
        """None: another version of the entity is the one to act on, and this one is not judged."""
        entity = seen.entity
        if seen.at == session:
            if entity.rows[session].dead:
                return None
            check(cells)
            entity.rows[session].cells.update({name: Own(value) for name, value in cells.items()})
        else:
            others = [each for each in entity.live(session) if each != seen.at]
            if any(each.above(seen.at) for each in others):
                return None
            if any(not seen.at.dominates(each) for each in others):
                raise RefusedError("several highest versions")
            check(cells)
            entity.rows[session] = Row(made_from(entity, seen.at))
            entity.rows[session].cells.update({name: Own(value) for name, value in cells.items()})
        values = dict(seen.values)
        for name, value in cells.items():
            values |= {name: value, f"{name}_label": str(session)}
        return tuple((values | {"tc": str(session)}).values())

    def delete(self, session: Label, seen: Seen) -> Shown:
        if seen.at != session:
            raise RefusedError("lives at a lower label")
        seen.entity.rows[session].dead = True
        return seen.shown

    def own(self, session: Label, key: str) -> tuple[Entity, Row]:
        """The one live row of a key at the label of the session."""
        found = [each for each in self.entities if each.key == key and session in each.live(session)]
        if len(found) != 1:
            raise RefusedError("no row, or several")
        return found[0], found[0].rows[session]

    def uplevel(self, session: Label, key: str, column: str, source: Label) -> None:
        """The session's cell is borrowed from a lower row again; a row that owns nothing then is gone."""
        entity, row = self.own(session, key)
        if session == entity.key_label or not session.above(source) or source not in entity.live(session):
            raise RefusedError("nothing to accept")
        borrow(row, column, source)

    def declassify(self, session: Label, key: str, column: str, to: Label) -> None:
        """The session's own cell is owned at a lower label, in a row that is made there if need be."""
        entity, row = self.own(session, key)
        cell = row.cells[column]
        if not isinstance(cell, Own) or not session.above(to) or not to.dominates(entity.key_label):
            raise RefusedError("nothing to lower")
        there = entity.rows.get(to)
        if to == entity.key_label:
            if there is None or there.dead:
                raise RefusedError("deleted there")
        elif there is None or there.dead:
            below = [each for each in entity.live(to) if each != to]
            basis = max(below, key=lambda each: each.rank, default=None)
            made: dict[str, Cell] = dict.fromkeys(COLUMNS) if basis is None else made_from(entity, basis)
            entity.rows[to] = there = Row(made)
        there.cells[column] = cell
        borrow(row, column, to)

    def relabel(self, session: Label, key: str, column: str, to: Label) -> int:
        """An officer gives the cells of a column that it sees another label; of how many entities."""
        if not session.dominates(to):
            raise RefusedError("above the session")
        moves = {
            id(entity): (entity, found)
            for entity in self.entities
            if entity.key == key and (found := self._owners_shown(entity, session, column) - {to})
        }
        for entity, found in moves.values():
            ways = [{at for at in found if at.dominates(to)}, {at for at in found if not at.dominates(to)}]
            gone = to == entity.key_label and entity.rows[to].dead
            if (
                not all(to.dominates(at) for at in ways[1])
                or not to.dominates(entity.key_label)
                or any(way and lub(list(way)) not in way for way in ways)
                or (ways[0] and gone)
            ):
                raise RefusedError("cannot be moved")
        for entity, found in moves.values():
            entity.lower({at for at in found if at.dominates(to)}, column, to)
            entity.lift({at for at in found if not at.dominates(to)}, column, to, session)
        return len(moves)

    def _owners_shown(self, entity: Entity, session: Label, column: str) -> set[Label]:
        """The labels that are shown of a column and at which a live row owns it."""
        shown = {label(str(seen.values[f"{column}_label"])) for seen in self._rows_of(entity, session)}
        live = [at for at in shown if at in entity.rows and not entity.rows[at].dead]
        return {at for at in live if isinstance(entity.rows[at].cells[column], Own)}

    def purge(self) -> None:
        """Nothing that anybody can notice."""

    def load(self, session: Label, key: str, key_label: Label, cells: dict[str, tuple[Value, Label]]) -> None:
        """A trusted session stores a row of mixed labels: a row at each of its labels, and at their upper bound."""
        labels = {key_label, *(at for _, at in cells.values())}
        entity = Entity(key, key_label)
        for at in sorted({*labels, lub(list(labels))}, key=lambda each: each.rank):
            made: dict[str, Cell] = {}
            for name in COLUMNS:
                value, owner = cells.get(name, (None, session))
                if name not in cells or (at != owner and (at == key_label or not at.dominates(owner))):
                    made[name] = None if at == key_label else Borrowed(key_label)
                else:
                    made[name] = Own(value) if at == owner else Borrowed(owner)
            entity.rows[at] = Row(made)
        self.entities.append(entity)


def said_by(at: Label, owners: dict[str, Label | None], other: Label, others: dict[str, Label | None]) -> bool:
    """Whether another row of the entity agrees with all that this one says; of equals the highest is kept."""
    if any(owner is not None and others[name] != owner for name, owner in owners.items()):
        return False
    if any(owner is None and others[name] is not None for name, owner in owners.items()):
        return True
    return other.above(at) or (not at.above(other) and other.rank > at.rank)


def made_from(entity: Entity, at: Label) -> dict[str, Cell]:
    """All cells borrowed: from where the row at a label borrows them, or else from it."""
    cells = entity.rows[at].cells
    return {name: cell if isinstance(cell, Borrowed) else Borrowed(at) for name, cell in cells.items()}


def borrow(row: Row, column: str, source: Label) -> None:
    row.cells[column] = Borrowed(source)
    row.dead = not any(isinstance(cell, Own) for cell in row.cells.values())


def check(cells: dict[str, Value]) -> None:
    salary = cells.get("salary")
    if isinstance(salary, int) and salary < 0:
        raise RefusedError("check")
