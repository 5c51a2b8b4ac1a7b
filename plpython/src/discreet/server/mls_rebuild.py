"""After an update: the code of multilevel tables as this version makes it. Rows, grants and owners stay."""

from __future__ import annotations

from discreet.mls import conversion, triggers, view
from discreet.mls.table import Table, identifier
from discreet.server import rules
from discreet.server.entry import sql_errors
from discreet.server.mls import create_functions, named_table
from discreet.server.plpy import Plpy, run

# triggers that keep rules: their texts are arguments of the triggers
KEPT = """
    SELECT t.tgname AS name, p.oid::regprocedure::text AS function,
           convert_from(substring(t.tgargs FROM 1 FOR a.ends - 1), getdatabaseencoding()) AS text,
           NULLIF(convert_from(substring(t.tgargs FROM a.ends + 1 FOR length(t.tgargs) - a.ends - 1), 'SQL_ASCII'),
                  '')::int AS at_most
    FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
    CROSS JOIN LATERAL (SELECT position('\\x00'::bytea IN t.tgargs)) a(ends)
    WHERE t.tgrelid = to_regclass(:view::text) AND t.tgnargs = 2 AND t.tgname ~ '^(rule|limit|update limit) '
    ORDER BY t.tgname
"""


@sql_errors
def rebuild_all(plpy: Plpy) -> None:
    for row in run(plpy, "SELECT relation::regclass::text AS name FROM discreet._multilevel_table ORDER BY 1"):
        rebuild_table(plpy, named_table(plpy, row["name"]))


def rebuild_table(plpy: Plpy, table: Table) -> None:
    kept = list(run(plpy, KEPT, view=table.view))
    for each in kept:
        plpy.execute(f"DROP TRIGGER {identifier(each['name'])} ON {table.view}")
    for function in dict.fromkeys(each["function"] for each in kept):
        plpy.execute(f"DROP FUNCTION {function}")
    run(plpy, "DELETE FROM discreet._multilevel_trigger WHERE relation = to_regclass(:view::text)", view=table.view)
    owner = run(
        plpy, "SELECT relowner::regrole::text AS name FROM pg_class WHERE oid = to_regclass(:view::text)",
        view=table.view,
    )[0]["name"]  # fmt: skip
    for name, statement in view.create_views(table).items():
        plpy.execute(statement.replace("CREATE VIEW", "CREATE OR REPLACE VIEW", 1))
        plpy.execute(f"ALTER VIEW {name} OWNER TO {owner}")
    for part in ("several", "others"):  # of 0.1.0
        plpy.execute(f"DROP VIEW IF EXISTS {table.part(part)}")
    indexes = {"sources": conversion.index_of_sources(table), "whole": conversion.index_of_whole_rows(table)}
    for part, statement in indexes.items():
        if not run(plpy, "SELECT FROM pg_class WHERE oid = to_regclass(:index::text)", index=table.part(part)):
            plpy.execute(statement)
    for statement in view.defaults(table):
        plpy.execute(statement)
    create_functions(plpy, table, owner, "CREATE OR REPLACE")
    for act in triggers.ACTS:
        plpy.execute(f"DROP TRIGGER IF EXISTS {triggers.trigger_name(act)} ON {table.view}")
        run(
            plpy, "INSERT INTO discreet._multilevel_trigger (relation, name, function)"
                  " VALUES (to_regclass(:view::text), :name::name, :function::name)",
            view=table.view, name=triggers.trigger_name(act), function=f"{table.base_name}_{act}",
        )  # fmt: skip
    for statement in triggers.create_triggers(table):
        plpy.execute(statement)
    for each in kept:
        prefix, _, name = str(each["name"]).partition(" ")
        if prefix == "rule":
            rules.add_rule(plpy, table.view, name, each["text"])
        elif prefix == "limit":
            rules.add_limit(plpy, table.view, name, each["text"], each["at_most"])
