"""The SELECTs of an answer, one over the other, and how each column depends on released numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from pglast import ast

from discreet.gate.propagation import Columns, Dependence, dependence, unknown


@dataclass(frozen=True)
class Level:
    """A SELECT, checked and rewritten, over what is called `alias`; and what each of its columns depends on.

    `columns`: what the columns below depend on.
    """

    select: ast.SelectStmt
    alias: str
    dependences: tuple[Dependence, ...]
    columns: Columns | None = field(default=None, compare=False)

    @classmethod
    def of(cls, select: ast.SelectStmt, alias: str, columns: Columns) -> Level:
        found = [dependence(target.val, columns) for target in select.targetList]
        if select.groupClause:
            grouped = "grouped anew by a noisy number"
            found = [part if part.exact else unknown(part.unknown or grouped) for part in found]
        return cls(select, alias, tuple(found), columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(target.name for target in self.select.targetList)

    def column(self, node: ast.ColumnRef) -> Dependence:
        """What a column depends on, seen from the SELECT above."""
        wanted = getattr(node.fields[-1], "sval", None)
        found = [part for name, part in zip(self.names, self.dependences, strict=True) if name == wanted]
        if len(found) != 1:
            return unknown("a column that is not one of the subquery")
        if self.select.distinctClause is not None and not found[0].exact:
            return unknown("a noisy number after DISTINCT")
        return found[0]
