"""In whose name the native SQL of a question runs.

Planning a query may run code of who owns a table (see extension/gate_run.c). So it runs in the name of the owner: a
role that is no superuser, and the only such one among the owners of the protected tables, of their parts, and of public
tables that carry code. Other public tables belong to curators (trusted.py) and have nothing to run.
"""

from __future__ import annotations

from typing import NoReturn

from discreet.core.errors import RefusedShapeError
from discreet.core.syntax import Json
from discreet.worker.session import Session, SessionError, Statement, kept

# Nothing but pg_catalog is in the search path. The first object that is not PostgreSQL's own has the number 16384.
OWNERS = """
    WITH RECURSIVE part(relation, protected) AS (
        SELECT c.oid, asked.protected
        FROM ROWS FROM (unnest($1), unnest($2), unnest($3)) AS asked(schema, name, protected)
        JOIN pg_namespace n ON n.nspname = asked.schema
        JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = asked.name
        UNION SELECT i.inhrelid, p.protected FROM part p JOIN pg_inherits i ON i.inhparent = p.relation)
    SELECT DISTINCT r.oid AS owner, r.rolname::text AS name
    FROM part p JOIN pg_class c ON c.oid = p.relation JOIN pg_roles r ON r.oid = c.relowner
    WHERE NOT r.rolsuper
      AND (p.protected OR EXISTS (
          SELECT FROM pg_depend d
          WHERE d.refobjid >= 16384
            AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
            AND (d.classid = 'pg_class'::regclass
                 AND (d.objid = p.relation
                      OR d.objid IN (SELECT i.indexrelid FROM pg_index i WHERE i.indrelid = p.relation))
                 OR d.classid = 'pg_constraint'::regclass
                 AND d.objid IN (SELECT k.oid FROM pg_constraint k WHERE k.conrelid = p.relation))))
"""

# what the owner may not read of the other tables, or may read in part only
UNREADABLE = """
    SELECT format('%I.%I', asked.schema, asked.name) AS name, access.denied
    FROM ROWS FROM (unnest($1), unnest($2)) AS asked(schema, name)
    JOIN pg_namespace n ON n.nspname = asked.schema
    JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = asked.name
    CROSS JOIN LATERAL (SELECT NOT (has_table_privilege($3, c.oid, 'SELECT')
                                    AND has_schema_privilege($3, n.oid, 'USAGE'))) AS access(denied)
    WHERE access.denied OR c.relrowsecurity AND (c.relforcerowsecurity OR c.relowner <> $3)
"""

RUN_AS = "SELECT t.text FROM discreet._run_as($1, $2) AS t(text)"


def acting_role(session: Session, relations: list[dict[str, Json]]) -> int:
    """The role that reads these relations; 0: a superuser may, as the extension's owner is one."""
    names = [[relation["schema"] for relation in relations], [relation["name"] for relation in relations]]
    protected = [relation["protection"] is not None for relation in relations]
    owners = session.execute(Statement(OWNERS, ("text[]", "text[]", "bool[]")), [*names, protected])
    if len(owners) == 0:
        return 0
    if len(owners) > 1:
        listed = ", ".join(sorted(owner["name"] for owner in owners))
        raise RefusedShapeError(
            f"the tables of the question, or parts of them, belong to several roles: {listed}",
            "Ask about them one by one, or let a DBA give them one owner.",
        )
    owner = owners[0]
    labelled = [relation["name"] for relation in relations if relation["multilevel"]]
    if labelled:
        raise RefusedShapeError(
            f"multilevel table {labelled[0]} cannot be asked together with a table"
            f" for which code of {owner['name']} runs",
            "Ask about it alone, or let a DBA drop the function, index or constraint of the other table.",
        )
    unreadable = session.execute(Statement(UNREADABLE, ("text[]", "text[]", "oid")), [*names, owner["owner"]])
    if len(unreadable) > 0:
        table = unreadable[0]
        if table["denied"]:
            hint = f"A DBA can help: GRANT SELECT ON {table['name']} TO {owner['name']}, and USAGE on its schema."
        else:
            hint = "A DBA can help: its row security stands in the way."
        raise RefusedShapeError(
            f"{owner['name']}, in whose name the question would run, cannot read all of {table['name']}", hint
        )
    return int(owner["owner"])


def starts(role: int, statements: list[str]) -> list[tuple[Statement, list[object]]]:
    """Calls that fail where the executor would not let the role do what the statements say."""
    return [(kept("SELECT discreet._start_as($1, $2)", "oid", "text"), [role, sql]) for sql in statements if role != 0]


def refuse_unstartable(session: Session, error: SessionError) -> NoReturn:
    """Refuses what could not be started, before anything is charged.

    Planning may run code of the table's owner, whose words could come from the data: they go to the log only.
    """
    session.log(f"discreet: a question cannot be run in the name of its table's owner: {error}")
    raise RefusedShapeError(
        "the owner of the tables, in whose name the question would run, may not run it",
        "A DBA finds the reason in the server's log.",
    ) from None


def run_as(session: Session, role: int, sql: str) -> list[str]:
    """Runs a SELECT of one text column in the name of the role that acting_role found."""
    if role == 0:
        return [text for row in session.execute(sql) for text in row.values()]
    return [row["text"] for row in session.execute(Statement(RUN_AS, ("oid", "text")), [role, sql])]


def run_as_joined(session: Session, role: int, sql: str) -> str:
    """The same, with commas between the texts."""
    # by itself it is run as it was analysed
    return session.joined(sql) if role == 0 else session.joined(RUN_AS, ("oid", "text"), [role, sql])
