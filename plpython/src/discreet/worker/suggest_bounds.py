"""discreet.suggest_bounds: a question to the gate whose plan comes from the name of a column instead of a text."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from discreet.core.declarations import given
from discreet.core.errors import UndefinedObjectError
from discreet.core.quoting import literal
from discreet.core.syntax import SqlValue
from discreet.gate.pricing import priced
from discreet.gate.schema import NUMBERS, TIMES, Column, Family, schema_from_json
from discreet.gate.suggest import bounds_plan, has_unknown_bounds
from discreet.gate.wish import Wish
from discreet.worker.asker import Asker
from discreet.worker.gate import admitted, released
from discreet.worker.meaning import Meaning, Names
from discreet.worker.noisy import Noisy
from discreet.worker.personal import with_noise
from discreet.worker.policy import Asking
from discreet.worker.session import Session, run

EPOCH = datetime(1970, 1, 1)
NAMES = """
    SELECT n.nspname::pg_catalog.text AS schema, c.relname::pg_catalog.text AS name
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = :relation::pg_catalog.regclass
"""


def suggested_bounds(
    session: Session, relation: str | None, column: str | None, epsilon: Decimal | None
) -> tuple[Decimal, Decimal]:
    """Lower and upper bound of a column; of hardly any values, one may come out as the other."""
    table, name, price = given("relation", relation), given("column_name", column), given("epsilon", epsilon)
    text = f"SELECT discreet.suggest_bounds({literal(table)}, {literal(name)}, {price})"
    ((_, lower, upper),) = searched(session, text, table, name, price)
    return lower, upper


def suggested_bounds_of_all(
    session: Session, relation: str | None, epsilon: Decimal | None
) -> list[tuple[str, str, str, str]]:
    """Of all columns of a table that need bounds: name, bounds as its type writes them, and how to declare them.

    One question, whose price they share.
    """
    table, price = given("relation", relation), given("epsilon", epsilon)
    text = f"SELECT * FROM discreet.suggest_bounds({literal(table)}, {price})"
    found = []
    for column, *ends in searched(session, text, table, None, price):
        lower, upper = (written(end, column.family) for end in ends)
        quoted = [end if column.family in NUMBERS else literal(end) for end in (lower, upper)]
        names = f"{literal(table)}, {literal(column.name)}"
        call = f"SELECT discreet.describe_column({names}, lower => {quoted[0]}, upper => {quoted[1]});"
        found.append((column.name, lower, upper, call))
    return found


def written(number: Decimal, family: Family) -> str:
    """A bound as its type writes it; of dates it is days, of timestamps seconds since 1970."""
    if family not in TIMES:
        return f"{number:f}"
    moment = EPOCH + (timedelta(days=int(number)) if family is Family.DATE else timedelta(seconds=int(number)))
    if family is Family.DATE:
        return f"{moment:%Y-%m-%d}"
    return f"{moment:%Y-%m-%d %H:%M:%S}" + ("+00" if family is Family.TIMESTAMPTZ else "")


def searched(
    session: Session, text: str, table: str, name: str | None, price: Decimal
) -> list[tuple[Column, Decimal, Decimal]]:
    """Columns with their bounds."""
    asker = Asker(session)
    with asker.own_search_path() as path:
        with asker.refusals_written_down(text):
            question = BoundsQuestion(asker, path, Asking(text, Wish(price)), table, name)
            policy = admitted(asker, question)
        (row,) = released(asker, policy)
    ends = [Decimal(str(end)) for end in row[: 2 * len(question.columns)]]
    pairs = zip(question.columns, ends[::2], ends[1::2], strict=True)
    return [(column, min(first, second), max(first, second)) for column, first, second in pairs]


class BoundsQuestion:
    """For bounds of a column of a table, or of all that need some; `columns`: those that it is about."""

    columns: tuple[Column, ...]

    def __init__(self, asker: Asker, path: tuple[str, ...], asking: Asking, relation: str, column: str | None) -> None:
        self.asking, self._path, self._column = asking, path, column
        self._name = name_of(asker.session, relation)

    @property
    def text(self) -> str:
        return self.asking.text

    def names(self) -> Names:
        return Names(self._path, (self._name,))

    def under(self, meaning: Meaning) -> Noisy:
        described, usual = meaning.described, meaning.asker.setting("discreet.epsilon")
        schema = schema_from_json(described.meaning)
        known = schema.relations[self._name].columns.values() if self._name in schema.relations else ()
        self.columns = tuple(one for one in known if self._column in (None, one.name))
        if self._column is None:
            self.columns = tuple(filter(has_unknown_bounds, self.columns))
        names = [one.name for one in self.columns] if self._column is None else [self._column]
        plan = bounds_plan(schema, *self._name, names)
        asked = priced(plan, described.declared, self.asking.wish, usual)
        return with_noise(meaning, self.asking, asked)


def name_of(session: Session, relation: str) -> tuple[str, str]:
    """Schema and name of a table."""
    found: list[SqlValue] = list(run(session, NAMES, relation=relation))
    if not found:
        raise UndefinedObjectError(f"there is no table {relation}", "Name a table about people.")
    return found[0]["schema"], found[0]["name"]
