"""discreet.suggest_bounds: a question to the gate whose plan comes from the name of a column instead of a text."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from discreet.core.declarations import given
from discreet.core.errors import UndefinedObjectError
from discreet.worker.gate import Asked, Gate, Names, Wish
from discreet.worker.session import Session, run

NAMES = """
    SELECT n.nspname AS schema, c.relname AS name
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = :relation::pg_catalog.regclass
"""


class BoundsGate(Gate):
    """The gate, for one column: every stage but parsing is that of a question."""

    def __init__(self, session: Session, relation: str | None, column: str | None) -> None:
        super().__init__(session)
        self._relation = given("relation", relation)
        self._column = given("column_name", column)

    def bounds(self, epsilon: Decimal | None) -> tuple[Decimal, Decimal]:
        """Lower and upper bound; of hardly any values, one may come out as the other."""
        from discreet.gate.values import literal

        price = given("epsilon", epsilon)
        sql = f"SELECT discreet.suggest_bounds({literal(self._relation)}, {literal(self._column)}, {price})"
        with self.own_search_path() as path:
            _, ((first, second, *_),) = self.released(sql, Wish(price), path, fresh=False)
        ends = Decimal(str(first)), Decimal(str(second))
        return min(ends), max(ends)

    def question(self, sql: str, wish: Wish, path: tuple[str, ...]) -> Asked:
        from discreet.gate.schema import schema_from_json
        from discreet.gate.suggest import bounds_plan

        found: list[Any] = list(run(self.session, NAMES, relation=self._relation))
        if not found:
            raise UndefinedObjectError(f"there is no table {self._relation}", "Name a protected table.")
        name = found[0]["schema"], found[0]["name"]
        names = Names(path, (name,), ())
        described = self.looked_up(names)
        self._planned_on = names, described
        plan = bounds_plan(schema_from_json(described.meaning), *name, self._column)
        return self.checked(self.priced(plan, described, wish), described)
