"""Rules of labels in the triggers of a multilevel table, as PL/pgSQL: see discreet.mls_rule()."""

from __future__ import annotations

from collections.abc import Callable

from discreet.mls.table import Column, Table, literal


def labels_by_rules(table: Table) -> str:
    """Before labels are looked at: in a trusted session, a column without a label gets that of its rule."""
    text = ""
    for rule in table.rules:
        columns = table.key if rule.column in table.key else (rule.column,)
        missing = " AND ".join(f"NEW.{column.label} IS NULL" for column in columns)
        given = f"coalesce(CASE WHEN discreet._is_trusted() THEN ({rule.sql})::text END, discreet._label(NULL))"
        text += (
            f"    IF {missing} THEN\n"
            + "".join(f"        NEW.{column.label} := {given};\n" for column in columns)
            + "    END IF;\n"
        )
    return text


def rules_kept(table: Table, own: Callable[[Column], str]) -> str:
    """That the label of the session, `_c`, dominates what the rules want for what it owns; told is what it wrote."""
    return "".join(
        f"    IF {own(rule.column)} AND (coalesce(discreet._label_bits(({rule.sql})::text), 0) & ~_c) <> 0 THEN\n"
        "        RAISE insufficient_privilege USING\n"
        f"            MESSAGE = {literal(beyond_message(table, rule.column))},\n"
        "            HINT = 'Write it in a session whose label dominates that label.';\n"
        "    END IF;\n"
        for rule in table.rules
    )


def beyond_message(table: Table, column: Column) -> str:
    return (
        f'the rule of column "{column.name}" of multilevel table {table.view} wants a label above that of the session'
    )
