"""Who wrote which version of a row: what the functions mls_history and mls_keep_history call."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.core.declarations import given
from discreet.core.syntax import SqlValue
from discreet.mls import history as texts
from discreet.mls import triggers
from discreet.server.entry import sql_errors
from discreet.server.mls import history_is_kept, history_number, keep, log, named_table, owned_table
from discreet.server.mls_acts import execute, parsed_key, require_right
from discreet.server.plpy import Plpy, run


@sql_errors
def history(plpy: Plpy, relation: str | None, key: str | None) -> Iterable[tuple[SqlValue, ...]]:
    """A session without a clearance sees nothing, as of the rows."""
    table = named_table(plpy, relation)
    require_right(plpy, table, "SELECT")
    wanted = parsed_key(table, key)
    label = run(plpy, "SELECT discreet._session_label() AS label")[0]["label"]
    if label is None:
        return []
    number = history_number(plpy, table)
    return [
        tuple(row[name] for name in ("at", "role", "label", "act", "row_id", "key_label", "version", "borrowed"))
        for row in execute(plpy, texts.entries(table), texts.TYPES, wanted, number, label)
    ]


@sql_errors
def keep_history(plpy: Plpy, relation: str | None, wanted: bool | None) -> None:
    table, _ = owned_table(plpy, relation)
    is_wanted = given("keep", wanted)
    if is_wanted == history_is_kept(plpy, table):
        return
    log(plpy, "mls_keep_history", table.view, keep=is_wanted)
    if is_wanted:
        keep(plpy, table)
    else:
        plpy.execute(f"DROP TRIGGER {triggers.HISTORY} ON {table.base}")
