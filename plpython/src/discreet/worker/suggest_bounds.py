"""discreet.suggest_bounds: a question to the gate whose plan comes from the name of a column instead of a text."""

from __future__ import annotations

from decimal import Decimal

from discreet.core.declarations import given
from discreet.core.errors import UndefinedObjectError
from discreet.core.quoting import literal
from discreet.core.syntax import SqlValue
from discreet.gate.pricing import priced
from discreet.gate.schema import schema_from_json
from discreet.gate.suggest import bounds_plan
from discreet.gate.wish import Wish
from discreet.worker.asker import Asker
from discreet.worker.gate import admitted, released
from discreet.worker.meaning import Meaning, Names
from discreet.worker.noisy import Noisy
from discreet.worker.personal import with_noise
from discreet.worker.policy import Asking
from discreet.worker.session import Session, run

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
    asker = Asker(session)
    with asker.own_search_path() as path:
        with asker.refusals_written_down(text):
            policy = admitted(asker, BoundsQuestion(asker, path, Asking(text, Wish(price)), table, name))
        ((first, second, *_),) = released(asker, policy)
    ends = Decimal(str(first)), Decimal(str(second))
    return min(ends), max(ends)


class BoundsQuestion:
    """For bounds of a column of a table."""

    def __init__(self, asker: Asker, path: tuple[str, ...], asking: Asking, relation: str, column: str) -> None:
        self.asking, self._path, self._column = asking, path, column
        self._name = name_of(asker.session, relation)

    @property
    def text(self) -> str:
        return self.asking.text

    def names(self) -> Names:
        return Names(self._path, (self._name,))

    def under(self, meaning: Meaning) -> Noisy:
        described, usual = meaning.described, meaning.asker.setting("discreet.epsilon")
        plan = bounds_plan(schema_from_json(described.meaning), *self._name, self._column)
        asked = priced(plan, described.declared, self.asking.wish, usual)
        return with_noise(meaning, self.asking, asked)


def name_of(session: Session, relation: str) -> tuple[str, str]:
    """Schema and name of a table."""
    found: list[SqlValue] = list(run(session, NAMES, relation=relation))
    if not found:
        raise UndefinedObjectError(f"there is no table {relation}", "Name a table about people.")
    return found[0]["schema"], found[0]["name"]
