"""Trusted operations and the settling of versions: what the functions mls_declassify to mls_purge call."""

from __future__ import annotations

import json
from collections.abc import Iterable

from discreet.core.declarations import document, given
from discreet.core.errors import (
    BrokenRuleError,
    InsufficientPrivilegeError,
    InvalidParameterError,
    UndefinedObjectError,
)
from discreet.core.syntax import SqlValue
from discreet.mls import acts
from discreet.mls.labels import dominates, joins
from discreet.mls.table import OWN, Table
from discreet.server.entry import sql_errors
from discreet.server.mls import lattice, log, named_table
from discreet.server.plpy import Plpy, run


def label_of_session(plpy: Plpy) -> int:
    return int(run(plpy, "SELECT discreet._written_label() AS label")[0]["label"])


def bits(plpy: Plpy, label: str) -> int:
    return int(run(plpy, "SELECT discreet._label_bits(:label::text) AS bits", label=label)[0]["bits"])


def require_trust(plpy: Plpy, table: Table, act: str) -> None:
    if not run(plpy, "SELECT discreet._is_trusted() AS trusted")[0]["trusted"]:
        log(plpy, f"denied {act}", table.view, reason="not an act of a trusted session's own")
        raise InsufficientPrivilegeError(
            f"{act} is refused: the session is not trusted, or code of others calls it",
            "The session user must be a member of discreet_trusted and have a clearance, and call it by a statement of "
            "its own, or by a function that a superuser or a trusted role owns.",
        )


def require_writable(plpy: Plpy, label: int, text: str) -> None:
    if not run(plpy, "SELECT discreet._may_write_at(:label::bigint) AS may", label=label)[0]["may"]:
        raise InsufficientPrivilegeError(
            f"the role may not write at label {text}",
            "View discreet.clearances shows to security officers from which label on it may.",
        )


def require_right(plpy: Plpy, table: Table, right: str) -> None:
    row = run(
        plpy, "SELECT has_table_privilege(discreet._caller(), to_regclass(:view::text), :right::text) AS may",
        view=table.view, right=right,
    )[0]  # fmt: skip
    if not row["may"]:
        raise InsufficientPrivilegeError(f"permission denied for {table.view}", f"Who may {right} it may do this.")


def require_top(plpy: Plpy, label: int) -> None:
    """Whether there are rows above, the session must not be told: so there must be no label that it does not see."""
    known = lattice(plpy)
    if known is None or not dominates(label, known.top):
        raise InsufficientPrivilegeError(
            "the label of the session is not the highest there is",
            "What rows above borrow must stay: purge at the highest level, with all compartments.",
        )


def execute(plpy: Plpy, statement: str, types: list[str], *values: SqlValue) -> SqlValue:
    return plpy.execute(plpy.prepare(statement, types), list(values))


def parsed_key(table: Table, key: str | None) -> str:
    text = given("key", key)
    acts.key_columns(table, document("key", text))
    return text


def own_row(plpy: Plpy, table: Table, key: str, label: int) -> SqlValue:
    execute(plpy, acts.held(table), ["jsonb", "bigint"], key, label)
    rows = execute(plpy, acts.own_row(table), ["jsonb", "bigint"], key, label)
    if len(rows) == 0:
        raise UndefinedObjectError(
            "the session has no row of this key at its own label", "Rows of other labels are not its to change."
        )
    if len(rows) > 1:
        raise InvalidParameterError(
            "several entities have this key, each with a row at the label of the session",
            "They differ in the labels of their keys; delete what is not meant.",
        )
    return rows[0]


def own_cells(table: Table, row: SqlValue, names: list[str]) -> list[SqlValue]:
    columns = [acts.cell(table, name) for name in names]
    for column in columns:
        source = row["source"]
        if source is not None and source[table.cells.index(column)] != OWN:
            raise InvalidParameterError(
                f'column "{column.name}" is not the own of the row at the label of the session',
                "Only what was written at this label can be changed here.",
            )
    return columns


def labels_below(plpy: Plpy, table: Table, key: str, lower: int, label: int) -> list[int]:
    """Labels below that of the session that may see an entity otherwise once a cell is lowered.

    What a label sees depends on which rows it dominates. So the label to which is lowered is enough, and each join of
    it with labels of rows. Those that the session does not dominate are not asked for: it would be told of them.
    """
    rows = execute(plpy, acts.live_labels(table), ["jsonb", "bigint"], key, label)
    return [each for each in joins(lower, [int(row["label"]) for row in rows]) if each != label]


# rules over NEW alone, which judge rows that are inserted, too (bit 2 of tgtype)
RULES = """
    SELECT r.name, r.rule FROM discreet.rules r
    JOIN pg_trigger t ON t.tgrelid = r.relation AND t.tgname = 'rule ' || r.name
    WHERE r.relation = to_regclass(:view::text) AND r.kind = 'rule' AND t.tgtype & 4 <> 0
"""


class Judge:
    """Refuses an act after which a label is shown a row that violates a CHECK or a rule, and was not shown it before.

    `keys`: SQL that gives the keys of the rows, with `values` of types `types` in it.
    """

    def __init__(self, plpy: Plpy, table: Table, labels: list[int], keys: str, types: list[str], *values: str) -> None:
        self._plpy, self._table, self._labels = plpy, table, labels
        self._keys, self._types, self._values = keys, types, values
        rules = {row["name"]: row["rule"] for row in run(plpy, RULES, view=table.view)}
        self._conditions = acts.conditions(table, rules)
        self._before = self._broken()

    def _broken(self) -> set[tuple[int, str, str]]:
        if not self._conditions:
            return set()
        return {
            (label, row["what"], row["text"])
            for label in self._labels
            for row in execute(
                self._plpy,
                acts.broken_rows(self._table, self._conditions, label, self._keys),
                self._types,
                *self._values,
            )
        }

    def refuse_broken(self) -> None:
        for label, what, _ in sorted(self._broken() - self._before):
            shown = run(self._plpy, "SELECT discreet._label(:label::bigint) AS text", label=label)[0]["text"]
            raise BrokenRuleError(
                f"label {shown} would see a row of multilevel table {self._table.view} that violates {what}",
                "Change other columns with it, or before.",
            )


def judge_of_key(plpy: Plpy, table: Table, key: str, labels: list[int]) -> Judge:
    return Judge(plpy, table, labels, acts.key_given(table), ["jsonb"], key)


@sql_errors
def declassify(
    plpy: Plpy,
    relation: str | None,
    key: str | None,
    columns: list[str] | None,
    to_label: str | None,
    reason: str | None,
) -> None:
    table = named_table(plpy, relation)
    require_trust(plpy, table, "mls_declassify")
    require_right(plpy, table, "UPDATE")
    label, lower = label_of_session(plpy), bits(plpy, given("to_label", to_label))
    if not given("reason", reason).strip():
        raise InvalidParameterError("no reason is given", "Give the reason: the log keeps it.")
    if lower == label or not dominates(label, lower):
        raise InvalidParameterError(
            f"label {to_label} is not below that of the session", "Declassify to a label that it dominates."
        )
    require_writable(plpy, lower, str(to_label))
    wanted = parsed_key(table, key)
    row = own_row(plpy, table, wanted, label)
    cells = own_cells(table, row, given("columns", columns))
    if not cells:
        raise InvalidParameterError("no columns are given", "Name the columns whose values shall be lowered.")
    if not dominates(lower, int(row["key_label"])):
        raise InvalidParameterError(
            f"label {to_label} does not dominate that of the key", "Sessions at that label cannot see the entity."
        )
    judge = judge_of_key(plpy, table, wanted, labels_below(plpy, table, wanted, lower, label))
    log(plpy, "mls_declassify", table.view, key=json.loads(wanted), columns=columns, to=to_label, reason=reason)
    types = ["jsonb", "bigint", "bigint"]
    if lower == int(row["key_label"]):
        below = execute(plpy, acts.row_at(table), types, wanted, row["entity"], lower)
        if len(below) == 0:
            raise UndefinedObjectError(
                f"the entity was deleted at label {to_label}", "Insert it there anew, and then declassify."
            )
        lowered = execute(plpy, acts.lower_to_root(table, cells), types[:2], wanted, row["id"])
    else:
        lowered = execute(plpy, acts.lower_to_row(table, cells), types, wanted, row["id"], lower)
    if (
        lowered.nrows() != 1  # the value would be in no row
        or execute(plpy, acts.borrow(table, cells), types, wanted, row["id"], lower).nrows() != 1
    ):
        raise UndefinedObjectError(f"the entity has no row at label {to_label}", "mls_report() shows the versions.")
    judge.refuse_broken()


@sql_errors
def uplevel(plpy: Plpy, relation: str | None, key: str | None, column_name: str | None, from_label: str | None) -> None:
    table = named_table(plpy, relation)
    require_right(plpy, table, "UPDATE")
    label, lower = label_of_session(plpy), bits(plpy, given("from_label", from_label))
    if lower == label or not dominates(label, lower):
        raise InvalidParameterError(f"label {from_label} is not below that of the session", "Name a label below.")
    wanted = parsed_key(table, key)
    row = own_row(plpy, table, wanted, label)
    cells = [acts.cell(table, given("column_name", column_name))]
    if row["is_root"]:
        raise InvalidParameterError("the entity has no row below that of the session", "Nothing can be accepted.")
    below = execute(plpy, acts.row_at(table), ["jsonb", "bigint", "bigint"], wanted, row["entity"], lower)
    nothing = UndefinedObjectError(f"the entity has no row at label {from_label}", "mls_report() shows the versions.")
    if len(below) == 0:
        raise nothing
    judge = judge_of_key(plpy, table, wanted, [label])
    log(plpy, "mls_uplevel", table.view, key=json.loads(wanted), column=column_name, **{"from": from_label})
    borrowed = execute(plpy, acts.borrow(table, cells), ["jsonb", "bigint", "bigint"], wanted, row["id"], lower)
    if borrowed.nrows() != 1:  # it was deleted meanwhile
        raise nothing
    judge.refuse_broken()


@sql_errors
def report(plpy: Plpy, relation: str | None) -> Iterable[tuple[str, str, str]]:
    table = named_table(plpy, relation)
    return [(row["key"], row["column_name"], row["versions"]) for row in plpy.execute(acts.report(table))]


@sql_errors
def upsert(plpy: Plpy, relation: str | None, new_row: str | None) -> str:
    table = named_table(plpy, relation)
    row = document("new_row", given("new_row", new_row))
    acts.key_columns(table, {key.name: row.get(key.name) for key in table.key} if isinstance(row, dict) else None)
    known = {column.name for column in (*table.key, *table.cells)}
    for name in row:
        if name not in known:
            acts.cell(table, name)
    cells = [column.name for column in table.cells if column.name in row]
    if len(execute(plpy, acts.is_visible(table), ["jsonb"], new_row)) > 0:
        if cells:
            execute(plpy, acts.update_visible(table, cells), ["jsonb"], new_row)
        return "updated"
    execute(plpy, acts.insert_row(table, [key.name for key in table.key] + cells), ["jsonb"], new_row)
    return "inserted"


@sql_errors
def purge(plpy: Plpy, relation: str | None, reason: str | None) -> int:
    table = named_table(plpy, relation)
    require_trust(plpy, table, "mls_purge")
    require_right(plpy, table, "DELETE")
    require_top(plpy, label_of_session(plpy))
    if not given("reason", reason).strip():
        raise InvalidParameterError("no reason is given", "Give the reason: the log keeps it.")
    log(plpy, "mls_purge", table.view, reason=reason)
    return int(plpy.execute(acts.purge(table)).nrows())
