"""The declarations for people and all tables about them: what is clear by the catalog, and what a human must say."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from discreet.adopt.catalog import Person, Reference, Table, Tables, written
from discreet.adopt.columns import Declaration, declarations, unbounded
from discreet.adopt.people import People, Way
from discreet.core.checks import TIMES
from discreet.core.errors import InvalidParameterError, UndefinedColumnError, UndefinedObjectError
from discreet.core.quoting import literal

# what a script proposes where no number is declared: to be reviewed
EPSILON, DELTA, MAX_ROWS = Decimal(1), Decimal("1e-6"), 10


@dataclass(frozen=True)
class Limits:
    """Rows of one person that count: in a group, groups, and rows in all."""

    max_rows: int
    max_groups: int | None = None
    max_total_rows: int | None = None


@dataclass(frozen=True)
class AboutPeople:
    """A table whose rows have a person. `new`: it is not protected yet; `one_row`: a person has one row at most.

    `undecided`: why a human must say whether, and by which way.
    """

    table: Table
    way: Way
    new: bool
    one_row: bool
    declarations: tuple[Declaration, ...]
    unbounded: tuple[str, ...]
    undecided: str | None = None

    @property
    def wants_limits(self) -> bool:
        return self.new and not self.one_row


@dataclass(frozen=True)
class Step:
    """A row of propose()."""

    statement: str
    reason: str
    decide: bool = False


@dataclass(frozen=True)
class Proposal:
    """`dataset_is_new`: it has to be created; `lookups`: tables without people that tables about people reference."""

    dataset: str
    dataset_is_new: bool
    about_people: tuple[AboutPeople, ...]
    lookups: tuple[tuple[Table, str], ...]

    @property
    def clear(self) -> tuple[AboutPeople, ...]:
        """What needs no decision, but perhaps limits."""
        return tuple(found for found in self.about_people if found.undecided is None)

    def steps(
        self, limits: dict[str, Limits] | None = None, money: tuple[Decimal, Decimal] = (EPSILON, DELTA)
    ) -> list[Step]:
        """The script. With limits, those of tables that are named there are decided."""
        decided = limits or {}
        settled: list[Step] = []
        open_ones: list[Step] = []
        if self.dataset_is_new:
            epsilon, delta = money
            settled.append(
                Step(
                    f"SELECT discreet.create_dataset({literal(self.dataset)}, epsilon => {epsilon:f}, "
                    f"delta => {number(delta)});",
                    "the people, and the most that all answers about them may cost",
                )
            )
        for found in self.about_people:
            name = found.table.written
            of_columns = [
                Step(described(found.table, each), f"{each.column}: {each.reason}") for each in found.declarations
            ]
            if found.undecided is not None or (found.wants_limits and name not in decided):
                reason = found.undecided or how_many_rows(found, self.dataset)
                script = [*mended(found), protected(found, self.dataset, Limits(MAX_ROWS))]
                open_ones.append(Step("\n".join([*script, *(each.statement for each in of_columns)]), reason, True))
                continue
            if found.new:
                settled.append(Step(protected(found, self.dataset, decided.get(name)), reason_of(found)))
            settled.extend(of_columns)
        for found in self.about_people:
            if found.unbounded and found.undecided is None:
                open_ones.append(bounds_to_say(found))
        for table, reason in self.lookups:
            statement = f"SELECT discreet.protect({literal(table.written)}, unit => NULL, policy => 'public');"
            open_ones.append(Step(statement, reason, True))
        return settled + open_ones


def proposal(tables: Tables, person: Person, datasets: Collection[str] = ()) -> Proposal:
    """What to declare; of what is declared already nothing is said again. `datasets`: those that exist."""
    start = tables.get(person.table)
    if start is None:
        raise UndefinedObjectError(
            f"there is no table {'.'.join(map(written, person.table))} in these schemas",
            "Write the schema, the table and the column that names the person: 'shop.customers.customer_id'.",
        )
    if start.column(person.column) is None:
        listed = ", ".join(column.name for column in start.columns)
        raise UndefinedColumnError(f'{start.written} has no column "{person.column}"', f"Its columns are: {listed}.")
    refuse_other_people(start, person)
    people = People(tables, person)
    dataset = f"{start.schema}.{start.name}" if start.protection is None else str(start.protection.dataset)
    found = tuple(about_people(tables, people, person))
    return Proposal(dataset, dataset not in datasets, found, tuple(lookups(tables, people)))


def refuse_other_people(start: Table, person: Person) -> None:
    kept = start.protection
    if kept is not None and (kept.policy != "noisy" or kept.unit != person.column):
        raise InvalidParameterError(
            f"{start.written} is protected already, by unit {kept.unit} under policy '{kept.policy}'",
            f"Name the column that names its people: '{start.written}.{kept.unit}'."
            if kept.policy == "noisy"
            else "Whole schemas are adopted under policy 'noisy'; protect the other tables one by one.",
        )


def about_people(tables: Tables, people: People, person: Person) -> Iterator[AboutPeople]:
    """Tables with a way to the person, each after those over which its way leads."""
    done: set[tuple[str, str]] = set()

    def in_order(key: tuple[str, str], below: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, str]]:
        if key in done or key in below:
            return
        for way in people.ways[key]:
            if way.parent is not None:
                yield from in_order(way.parent, (*below, key))
        done.add(key)
        yield key

    undecided: set[tuple[str, str]] = set()
    for key in [key for start in sorted(tables, key=lambda key: key != person.table) for key in in_order(start, ())]:
        ways, table = people.ways[key], tables[key]
        if not ways:
            continue
        found = with_columns(table, ways, person)
        if found.undecided is not None or (found.way.parent in undecided and found.way.parent != person.table):
            undecided.add(key)
            if found.undecided is None:
                parent = ".".join(map(written, found.way.parent or ()))
                found = replace(found, undecided=f"its person is found over {parent}, which is to be decided first")
        if found.new or found.declarations or found.unbounded:
            yield found


def with_columns(table: Table, ways: tuple[Way, ...], person: Person) -> AboutPeople:
    way = ways[0]
    keys = frozenset(each.column for each in ways) | others_named(table, person)
    found = tuple(declarations(table, way.column, keys - {way.column}))
    own = table.column(way.column)
    direct = way.parent in (None, person.table) and " -> " not in way.unit
    one_row = direct and way.column in table.unique and own is not None and own.not_null
    return AboutPeople(
        table,
        way,
        table.protection is None,
        one_row,
        found,
        tuple(unbounded(table, way.column, found)),
        why_undecided(table, ways) if table.protection is None else None,
    )


def others_named(table: Table, person: Person) -> frozenset[str]:
    """Columns that reference people, as that of an employee's manager does."""
    return frozenset(
        column
        for reference in table.references
        if reference.parent == person.table
        for key, column in zip(reference.keys, reference.columns, strict=True)
        if key == person.column or len(reference.keys) == 1
    )


def why_undecided(table: Table, ways: tuple[Way, ...]) -> str | None:
    if not table.owned:
        return "it belongs to another role, which has to protect it"
    if len(ways) > 1:
        listed = "; ".join(sorted({way.unit for way in ways}))
        return f"{len(ways)} ways lead to a person: {listed}. Say whose rows these are, or leave it out"
    (way,) = ways
    if way.broken is not None:
        return f"foreign key {way.broken.constraint} does not hold at every moment: {why_broken(way.broken)}"
    if way.types_differ:
        return "a foreign key on its way is between columns of different types"
    return None


def why_broken(reference: Reference) -> str:
    if len(reference.columns) > 1:
        return "it has several columns, and a way leads over one; add a foreign key of one column"
    if reference.deferrable:
        return "it is deferrable"
    return "it is not validated" if not reference.validated else "it is not enforced"


def mended(found: AboutPeople) -> list[str]:
    """What makes a foreign key hold, where a statement can."""
    broken = found.way.broken
    if broken is None or broken not in found.table.references or len(broken.columns) > 1:
        return []
    alter = f"ALTER TABLE {found.table.written}"
    if broken.deferrable:
        return [f"{alter} ALTER CONSTRAINT {written(broken.constraint)} NOT DEFERRABLE;"]
    return [] if broken.validated else [f"{alter} VALIDATE CONSTRAINT {written(broken.constraint)};"]


def lookups(tables: Tables, people: People) -> Iterator[tuple[Table, str]]:
    """Tables without a way to the person that tables about people reference, directly or not."""
    about = [key for key, ways in people.ways.items() if ways]
    seen, waiting = set(about), list(about)
    while waiting:
        child = tables[waiting.pop(0)]
        for reference in child.references:
            parent = tables.get(reference.parent)
            if parent is None or parent.key in seen:
                continue
            seen.add(parent.key)
            waiting.append(parent.key)
            if parent.protection is None:
                yield parent, f"{child.written} looks something up here; public only if its rows describe no person"


def protected(found: AboutPeople, dataset: str, limits: Limits | None) -> str:
    named = f"{literal(found.table.written)}, unit => {literal(unit_text(found.way))}, dataset => {literal(dataset)}"
    if found.one_row or limits is None:
        return f"SELECT discreet.protect({named});"
    given = {"max_rows": limits.max_rows, "max_groups": limits.max_groups, "max_total_rows": limits.max_total_rows}
    bounds = ", ".join(f"{name} => {value}" for name, value in given.items() if value is not None)
    return f"SELECT discreet.protect({named}, {bounds});"


def unit_text(way: Way) -> str:
    """A column stands for itself, a way is written with identifiers."""
    return way.unit if " -> " in way.unit else way.column


def how_many_rows(found: AboutPeople, dataset: str) -> str:
    named = ", ".join(map(literal, (found.table.written, unit_text(found.way), dataset)))
    asked = f"SELECT * FROM discreet.suggest_rows({named}, 0.1);"  # noqa: S608
    return f"a person can have several rows: say how many count. For a proposal: {asked}"


def reason_of(found: AboutPeople) -> str:
    if found.way.parent is None:
        return "the people themselves"
    return "one row for each person" if found.one_row else f"rows of a person, by {found.way.unit}"


def described(table: Table, found: Declaration) -> str:
    said = found.description
    named = f"{literal(table.written)}, {literal(found.column)}"
    if said.visibility == "hidden":
        return f"SELECT discreet.describe_column({named}, visibility => 'hidden');"
    if said.categories is not None:
        listed = ", ".join(literal(category) for category in said.categories)
        return f"SELECT discreet.describe_column({named}, categories => ARRAY[{listed}]);"
    lower, upper = said.lower, said.upper
    assert isinstance(lower, Decimal)
    assert isinstance(upper, Decimal)
    noted = f" -- {'days' if found.type == 'date' else 'seconds'} since 1970" if found.type in TIMES else ""
    return f"SELECT discreet.describe_column({named}, lower => {lower:f}, upper => {upper:f});{noted}"


def bounds_to_say(found: AboutPeople) -> Step:
    """Sums need bounds, and no catalog has them: lines to fill in, which do nothing as they are."""
    named = literal(found.table.written)
    lines = [
        f"-- SELECT discreet.describe_column({named}, {literal(column)}, lower => …, upper => …);"
        for column in found.unbounded
    ]
    reason = f"sums and averages of {', '.join(found.unbounded)} need bounds: say what is known without looking"
    return Step("\n".join(lines), reason, True)


def number(value: Decimal) -> str:
    """As short as it can be: 1e-6."""
    text = f"{value.normalize():e}".replace("e+0", "").replace("E", "e")
    return text if abs(value) < Decimal("0.001") and value else f"{value:f}"
