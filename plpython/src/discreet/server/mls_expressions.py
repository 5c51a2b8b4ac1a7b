"""Expressions that give a label: checked as rules of integrity are, since they run as the role that writes."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.core.errors import InvalidRuleError
from discreet.core.parser import load_parser
from discreet.core.verdicts import judges
from discreet.rules.expressions import Predicate, predicate, refuse_foreign_types
from discreet.server.plpy import Plpy
from discreet.server.rules import computes, refuse_foreign_code

WHAT = "the rule of a label"


def label_rule(plpy: Plpy, table: str, oid: int, columns: Sequence[str], text: str) -> Predicate:
    """An expression over a row of the table that gives a label, made of PostgreSQL's own functions alone."""
    load_parser()
    checked = predicate(WHAT, text, tuple(columns), lambda function: computes(plpy, function))
    refuse_foreign_types(WHAT, checked.sql)
    try:
        plpy.execute(
            f"CREATE TRIGGER discreet_probe AFTER UPDATE ON {table} FOR EACH ROW"
            f" WHEN ((({checked.new_sql})::text) IS NULL) EXECUTE FUNCTION discreet._refuse_row()"
        )
    except plpy.SPIError as error:
        if not judges(error):
            raise
        raise InvalidRuleError(
            f"{WHAT} cannot be used: {str(error).removeprefix('SPIError: ')}",
            "Write an expression that gives a label as text, as CASE WHEN country = 'X' THEN 'S' ELSE 'C' END.",
        ) from None
    refuse_foreign_code(plpy, oid, WHAT, ["discreet_probe"])
    plpy.execute(f"DROP TRIGGER discreet_probe ON {table}")
    return checked
