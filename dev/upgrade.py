"""Makes the script that takes an install of a released version to this one.

Most of it follows from the two install scripts: what is new is made, what can be replaced is replaced, what is gone is
dropped. The rest, changes of tables and what becomes of their rows, is written by hand in
extension/upgrades/discreet--OLD--NEW.sql, before and after the mark.

A function whose arguments have changed keeps its number (see REPLACE), and with it the views of users that call it and
the roles that may execute it.
"""

from __future__ import annotations

import re

MARK = "/* @EVERYTHING_ELSE@ */\n"

TOKEN = re.compile(
    r"""--[^\n]* | /\*.*?\*/ | '(?:[^']|'')*' | "[^"]*" | \$(?P<tag>[A-Za-z_]*)\$.*?\$(?P=tag)\$
        | ; | [^;'"$/-]+ | .""",
    re.DOTALL | re.VERBOSE,
)
FUNCTION = re.compile(r"CREATE FUNCTION discreet\.(\w+)")
REPLACEABLE = re.compile(r"CREATE (?=(FUNCTION|AGGREGATE|VIEW|TRIGGER)\b)")
LAST = re.compile(r"(COMMENT|GRANT|REVOKE)\b")
DROPPED = {
    re.compile(r"CREATE EVENT TRIGGER (\w+)"): "DROP EVENT TRIGGER {}",
    re.compile(r"CREATE TRIGGER (\w+) .*? ON ([\w.]+)", re.DOTALL): "DROP TRIGGER {} ON {}",
    re.compile(r"CREATE VIEW ([\w.]+)"): "DROP VIEW {}",
    re.compile(r"CREATE TABLE ([\w.]+)"): "DROP TABLE {}",
}

# What administrators granted, and what they took from roles to which the extension had granted it. The script runs
# without these grants: PostgreSQL would take them for grants of the extension, which dumps leave out. Then they are
# made again.
SAVE_GRANTS = """\
DO $plpgsql$
DECLARE
    saved pg_catalog.jsonb := '[]';
    each record;
BEGIN
    FOR each IN
        WITH object AS (
            SELECT 'FUNCTION' AS kind, p.oid, p.oid::pg_catalog.regprocedure::pg_catalog.text AS name, i.initprivs,
                   COALESCE(p.proacl, pg_catalog.acldefault('f', p.proowner)) AS acl,
                   pg_catalog.acldefault('f', p.proowner) AS normal
            FROM pg_catalog.pg_proc p
            LEFT JOIN pg_catalog.pg_init_privs i
                ON i.objoid = p.oid AND i.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass
            WHERE p.pronamespace = 'discreet'::pg_catalog.regnamespace
            UNION ALL
            SELECT 'TABLE', c.oid, c.oid::pg_catalog.regclass::pg_catalog.text, i.initprivs,
                   COALESCE(c.relacl, pg_catalog.acldefault('r', c.relowner)), pg_catalog.acldefault('r', c.relowner)
            FROM pg_catalog.pg_class c
            LEFT JOIN pg_catalog.pg_init_privs i
                ON i.objoid = c.oid AND i.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND i.objsubid = 0
            WHERE c.relnamespace = 'discreet'::pg_catalog.regnamespace AND c.relkind IN ('r', 'v')),
        granted AS (
            SELECT o.kind, o.oid, o.name, g.grantee, g.privilege_type AS privilege, g.is_grantable AS passes_on
            FROM object o, LATERAL pg_catalog.aclexplode(o.acl) g),
        ours AS (
            SELECT o.kind, o.oid, o.name, g.grantee, g.privilege_type, g.is_grantable
            FROM object o, LATERAL pg_catalog.aclexplode(COALESCE(o.initprivs, o.normal)) g)
        SELECT 'GRANT' AS act, g.* FROM (TABLE granted EXCEPT TABLE ours) g
        UNION ALL SELECT 'REVOKE', t.* FROM (TABLE ours EXCEPT TABLE granted) t
    LOOP
        saved := saved || pg_catalog.jsonb_build_array(pg_catalog.to_jsonb(each) || pg_catalog.jsonb_build_object(
            'role', CASE each.grantee WHEN 0 THEN 'PUBLIC' ELSE each.grantee::pg_catalog.regrole::pg_catalog.text END));
        IF each.act = 'GRANT' THEN
            EXECUTE pg_catalog.format('REVOKE %s ON %s %s FROM %s', each.privilege, each.kind, each.name,
                                      saved->-1->>'role');
        END IF;
    END LOOP;
    PERFORM pg_catalog.set_config('discreet_update.grants', saved::pg_catalog.text, true);
END
$plpgsql$"""
RESTORE_GRANTS = """\
DO $plpgsql$
DECLARE
    each pg_catalog.jsonb;
    name pg_catalog.text;
BEGIN
    FOR each IN SELECT pg_catalog.jsonb_array_elements(
                    pg_catalog.current_setting('discreet_update.grants')::pg_catalog.jsonb) LOOP
        -- a function that has changed keeps its number, a view that was made anew its name
        IF each->>'kind' = 'FUNCTION' THEN
            SELECT p.oid::pg_catalog.regprocedure::pg_catalog.text INTO name FROM pg_catalog.pg_proc p
            WHERE p.oid = (each->>'oid')::pg_catalog.oid;
        ELSE
            name := pg_catalog.to_regclass(each->>'name')::pg_catalog.text;
        END IF;
        IF name IS NOT NULL THEN
            PERFORM discreet._outside_update(pg_catalog.format(
                '%s %s ON %s %s %s %s%s', each->>'act', each->>'privilege', each->>'kind', name,
                CASE each->>'act' WHEN 'GRANT' THEN 'TO' ELSE 'FROM' END, each->>'role',
                CASE WHEN each->>'act' = 'GRANT' AND (each->>'passes_on')::pg_catalog.bool
                     THEN ' WITH GRANT OPTION' END));
        END IF;
    END LOOP;
END
$plpgsql$"""

# Functions that have changed in more than their bodies make place for the new ones.
MAKE_PLACE = """\
DO $plpgsql$
DECLARE
    old pg_catalog.regprocedure;
BEGIN
    FOR old IN SELECT p.oid FROM pg_catalog.pg_proc p
               WHERE p.pronamespace = 'discreet'::pg_catalog.regnamespace AND p.proname = ANY ('{%s}') LOOP
        EXECUTE pg_catalog.format('ALTER FUNCTION %%s RENAME TO %%I', old,
            (SELECT 'before ' || p.proname FROM pg_catalog.pg_proc p WHERE p.oid = old));
    END LOOP;
END
$plpgsql$"""

# A function with the same result, and with all arguments of the old one before its own, takes the place of the old one.
REPLACE = """\
DO $plpgsql$
DECLARE
    old pg_catalog.pg_proc;
    new pg_catalog.pg_proc;
BEGIN
    FOR old IN SELECT p.* FROM pg_catalog.pg_proc p
               WHERE p.pronamespace = 'discreet'::pg_catalog.regnamespace AND p.proname LIKE 'before %'
               ORDER BY p.oid LOOP
        SELECT p.* INTO new FROM pg_catalog.pg_proc p
        WHERE p.pronamespace = old.pronamespace
          AND p.proname = pg_catalog.substr(old.proname, pg_catalog.length('before ') + 1)
          AND p.prorettype = old.prorettype AND p.proretset = old.proretset
          AND p.proargmodes IS NULL AND old.proargmodes IS NULL
          AND (p.proargtypes::pg_catalog.text || ' ') LIKE (old.proargtypes::pg_catalog.text || ' %')
          AND p.proargnames[:old.pronargs] IS NOT DISTINCT FROM old.proargnames
        ORDER BY p.pronargs LIMIT 1;
        IF new.oid IS NULL THEN
            EXECUTE pg_catalog.format('DROP FUNCTION %s', old.oid::pg_catalog.regprocedure);
        ELSE
            EXECUTE pg_catalog.format('DROP FUNCTION %s', new.oid::pg_catalog.regprocedure);
            UPDATE pg_catalog.pg_proc p
            SET proname = new.proname, prolang = new.prolang, procost = new.procost, prorows = new.prorows,
                provariadic = new.provariadic, prosupport = new.prosupport, prosecdef = new.prosecdef,
                proleakproof = new.proleakproof, proisstrict = new.proisstrict, provolatile = new.provolatile,
                proparallel = new.proparallel, pronargs = new.pronargs, pronargdefaults = new.pronargdefaults,
                proargtypes = new.proargtypes, proargnames = new.proargnames, proargdefaults = new.proargdefaults,
                prosrc = new.prosrc, probin = new.probin, proconfig = new.proconfig
            WHERE p.oid = old.oid;
        END IF;
    END LOOP;
END
$plpgsql$"""


def statements(script: str) -> list[str]:
    """The statements of a script, without psql's commands and without the comments between them."""
    script = "\n".join(line for line in script.split("\n") if not line.startswith("\\"))
    found, current = [], ""
    for token in TOKEN.finditer(script):
        if token[0] == ";":
            found.append(current.strip())
            current = ""
        elif not token[0].startswith(("--", "/*")):
            current += token[0]
    if current.strip():
        raise ValueError(f"a statement has no end: {current.strip()[:60]}")
    return [statement for statement in found if statement]


def signature(function: str) -> str:
    """Name, arguments and result of CREATE FUNCTION."""
    return " ".join(re.split(r"\sLANGUAGE\s", function)[0].split())


def functions(script: list[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for statement in script:
        if name := FUNCTION.match(statement):
            found.setdefault(name[1], set()).add(signature(statement))
    return found


def drops(old: list[str], new: list[str]) -> list[str]:
    """Statements that drop what the new version has not, last made first."""
    found = []
    for pattern, drop in DROPPED.items():
        kept = {match.groups() for statement in new if (match := pattern.match(statement))}
        gone = [match.groups() for statement in old if (match := pattern.match(statement))]
        found += [drop.format(*names) for names in reversed(gone) if names not in kept]
    return found


def made(old: list[str], new: list[str]) -> list[str]:
    """Statements that make or replace what the old version has not, or has otherwise."""
    tables = {match[1] for statement in old if (match := re.match(r"CREATE TABLE ([\w.]+)", statement))}
    found = []
    for statement in new:
        table = re.match(r"CREATE TABLE ([\w.]+)", statement)
        if LAST.match(statement) or (table and table[1] in tables):
            continue
        if FUNCTION.match(statement) or statement not in old:
            found.append(REPLACEABLE.sub("CREATE OR REPLACE ", statement, count=1))
    return found


def upgrade_script(old_script: str, new_script: str, by_hand: str) -> str:
    """Both install scripts with all marks replaced, and what is written by hand with its mark."""
    old, new = statements(old_script), statements(new_script)
    before, after = by_hand.split(MARK)
    were, are = functions(old), functions(new)
    changed = sorted(name for name in were if were[name] != are.get(name, set()))
    # tables go last: what is written by hand may take their rows elsewhere
    gone = drops(old, new)
    tables = [statement for statement in gone if statement.startswith("DROP TABLE")]
    first = [statement for statement in gone if statement not in tables]
    place = [MAKE_PLACE % ",".join(changed)] if changed else []
    middle = [*made(old, new), REPLACE, *(statement for statement in new if LAST.match(statement))]
    lines = [";\n".join([*part, ""]) for part in ([SAVE_GRANTS, *first, *place], middle, [*tables, RESTORE_GRANTS])]
    head = r"\echo Use \"ALTER EXTENSION discreet UPDATE\" to load this file. \quit"
    return "\n".join([head, lines[0], before.strip(), "", lines[1], after.strip(), "", lines[2]])
