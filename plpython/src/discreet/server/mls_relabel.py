"""Labels of many rows changed in one act: what mls_relabel calls."""

from __future__ import annotations

from discreet.core.declarations import given
from discreet.core.errors import InvalidParameterError
from discreet.core.parser import load_parser
from discreet.mls import acts, history, relabelling
from discreet.mls.labels import dominates, joins
from discreet.mls.table import Column, Table
from discreet.rules.expressions import predicate, refuse_foreign_types
from discreet.server.entry import sql_errors
from discreet.server.mls import history_number, lattice, log, named_table
from discreet.server.mls_acts import (
    Judge,
    bits,
    execute,
    label_of_session,
    require_right,
    require_trust,
    require_writable,
)
from discreet.server.plpy import Plpy
from discreet.server.rules import computes

ACT = "mls_relabel"
# others may change rows in between so often
MOST_ROUNDS = 20


@sql_errors
def relabel(
    plpy: Plpy,
    relation: str | None,
    predicate_text: str | None,
    columns: list[str] | None,
    to_label: str | None,
    reason: str | None,
) -> int:
    """How many entities have other labels now; all of them, or none."""
    table = named_table(plpy, relation)
    require_trust(plpy, table, ACT)
    require_right(plpy, table, "UPDATE")
    label, to = label_of_session(plpy), bits(plpy, given("to_label", to_label))
    if not given("reason", reason).strip():
        raise InvalidParameterError("no reason is given", "Give the reason: the log keeps it.")
    if not dominates(label, to):
        raise InvalidParameterError(
            f"label {to_label} is not dominated by that of the session", "Relabel in a session at or above that label."
        )
    require_writable(plpy, to, str(to_label))
    cells = wanted_cells(table, given("columns", columns))
    meant = checked_predicate(plpy, table, given("predicate", predicate_text))
    hold(plpy, table, meant, label)
    found = int(plpy.execute(relabelling.count_of(relabelling.AFFECTED))[0]["count"])
    log(
        plpy, ACT, table.view, predicate=predicate_text, columns=columns, to=to_label, reason=reason, entities=found
    )  # fmt: skip
    judge = judge_of_affected(plpy, table, to, label)
    changed = raised(plpy, table, meant, to, label) if cells is None else moved(plpy, table, cells, to, label)
    judge.refuse_broken()
    plpy.execute(relabelling.ended(raised=cells is None))
    return changed


def hold(plpy: Plpy, table: Table, meant: str, label: int) -> None:
    """Finds the rows that are meant, and keeps others from changing them: what is copied is what was committed last."""
    known = lattice(plpy)
    if known is not None and dominates(label, known.top):
        plpy.execute(
            f"LOCK TABLE {table.base} IN SHARE ROW EXCLUSIVE MODE"
        )  # no session is above that this would wait for
    plpy.execute(relabelling.begun())
    plpy.execute(relabelling.affected(table, meant))
    for _ in range(MOST_ROUNDS):
        before = plpy.execute(relabelling.fingerprint())[0]["text"]
        plpy.execute(relabelling.locked(table, label))
        plpy.execute(f"DROP TABLE {relabelling.AFFECTED}")
        plpy.execute(relabelling.affected(table, meant))
        if plpy.execute(relabelling.fingerprint())[0]["text"] == before:
            return
    raise InvalidParameterError("the rows that are meant are being changed", "Try again.")


def wanted_cells(table: Table, names: list[str]) -> list[Column] | None:
    """The columns whose labels change; None: a key, and so whole rows."""
    if not names:
        raise InvalidParameterError("no columns are given", "Name the columns whose labels shall change.")
    keys = {key.name for key in table.key}
    if not keys & set(names):
        return [acts.cell(table, name) for name in dict.fromkeys(names)]
    for name in names:
        if name not in keys:
            acts.cell(table, name)
    return None


def checked_predicate(plpy: Plpy, table: Table, text: str) -> str:
    """It runs with the rights of the extension, so only PostgreSQL's own functions may be in it."""
    if text.strip().lower() == "true":
        return "true"
    load_parser()
    columns = [*table.key, *table.cells]
    generated = [each.column for each in table.generated]
    names = [name for column in (*columns, *generated) for name in (column.name, f"{column.name}_label")]
    checked = predicate("the predicate", text, (*names, "tc", "row_id"), lambda name: computes(plpy, name)).sql
    refuse_foreign_types("the predicate", checked)
    return checked


def judge_of_affected(plpy: Plpy, table: Table, to: int, label: int) -> Judge:
    """Of all labels that may see an affected row otherwise and that the session dominates."""
    live = [int(row["label"]) for row in plpy.execute(relabelling.live_labels(table, label))]
    return Judge(plpy, table, joins(to, live), relabelling.keys_affected(table), [])


def moved(plpy: Plpy, table: Table, cells: list[Column], to: int, label: int) -> int:
    for cell in cells:
        move = relabelling.Move(table, cell, to, label)
        plpy.execute(move.find())
        for what, condition in move.refusals().items():
            count = int(plpy.execute(move.refused(condition))[0]["count"])
            if count:
                raise InvalidParameterError(
                    f'cells of column "{cell.name}" in {count} rows {what}',
                    "Name fewer rows in the predicate; mls_report() shows versions, mls_uplevel() settles them.",
                )
        for statement in move.statements():
            plpy.execute(statement)
        hide(plpy, table, history.raised_cells(table, relabelling.MOVED, cell, f"NOT ({move.is_down})", to))
        for statement in move.noted():
            plpy.execute(statement)
    return int(plpy.execute(relabelling.count_of(relabelling.CHANGED))[0]["count"])


def raised(plpy: Plpy, table: Table, meant: str, to: int, label: int) -> int:
    for what, query in (
        ("have several versions", relabelling.several_versions()),
        ("have keys whose label is not below the one that is given", relabelling.keys_not_below(to)),
        ("have keys at labels at which the role may not write", relabelling.keys_not_writable()),
    ):
        count = int(plpy.execute(query)[0]["count"])
        if count:
            raise InvalidParameterError(
                f"{count} rows {what}",
                "The label of a key can only be raised; mls_report() shows versions, mls_uplevel() settles them.",
            )
    plpy.execute(relabelling.raised_rows(table, meant, to))
    count = int(plpy.execute(relabelling.count_of(relabelling.RAISED))[0]["count"])
    for statement in relabelling.raise_rows(table, label):
        plpy.execute(statement)
    hide(plpy, table, history.raised_rows(table, relabelling.AFFECTED, to, label))
    return count


def hide(plpy: Plpy, table: Table, statement: str) -> None:
    """What went up is not shown below by the history either."""
    execute(plpy, statement, ["uuid"], history_number(plpy, table))
