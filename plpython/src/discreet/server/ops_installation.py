"""Findings of `discreet.check_installation()`: each a sentence that an administrator can act on."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module, metadata
from pathlib import Path

import discreet
from discreet.core.declarations import ENCODING, OTHER_DATABASE
from discreet.core.parser import load_parser
from discreet.server.entry import sql_errors
from discreet.server.mls_code import foreign_code
from discreet.server.ops_openings import PROBLEM, WARNING, Finding, closed_schemas, definer_functions, readable_views
from discreet.server.ops_way_in import encryption, logged_parameters, mighty_roles, passwords, row_security, way_in
from discreet.server.plpy import Plpy, run

OK = "ok"
# what plpython/requirements.in and pglast-NN.in name; what these need in turn is told only where it is wrong
DEPENDENCIES = ("pglast", "opendp", "numpy", "greenlet", "scipy")
# how many rows and blocks a table has, how many were read, how much was written: docs/threats.md closes them
SIDE_DOORS = (
    r"^pg_((relation|table|indexes|total_relation|database|tablespace)_size|current_wal_(insert_|flush_)?lsn|stat_get_("
    r"(xact_)?(numscans|tuples_\w+|blocks_\w+|function_\w+)|db_(tuples|blocks|blk|temp)_\w+|live_tuples|dead_tuples|"
    r"mod_since_analyze|ins_since_vacuum|buf_\w+|slru|wal|io|backend_io|backend_wal)|"
    r"wal_summary_contents|available_wal_summaries|get_wal_summarizer_state)$"
)
# The first minor version of each PostgreSQL in which a role that may ask neither reads the memory of the server
# (CVE-2026-16239, CVE-2026-2006) nor runs code there (CVE-2026-14669), nor sees samples of tables below views
# (CVE-2025-8713).
LEAST_MINOR = {15: 19, 16: 15, 17: 11, 18: 6}
GROUP_ROLES = (
    "discreet_curator",
    "discreet_analyst",
    "discreet_auditor",
    "discreet_trusted",
    "discreet_ledger",
)


@sql_errors
def check_installation(plpy: Plpy) -> Iterable[Finding]:
    return findings(plpy)


def findings(plpy: Plpy) -> Iterator[Finding]:
    checks: list[Callable[[Plpy], Iterator[Finding]]] = [
        version, minor_version, interpreter, dependencies, grammar, encoding, library, ledger, event_triggers,
        group_roles, direct_readers, missing_limits, published_tables,
        divided_people, wrong_units, watching_roles, cleared_roles, hidden_readers, trigger_holders,
        foreign_triggers, foreign_code_below_views, side_doors, statement_statistics,
        definer_functions, readable_views, closed_schemas,
        encryption, way_in, passwords, mighty_roles, row_security, logged_parameters,
    ]  # fmt: skip
    for check in checks:
        yield from check(plpy)


def version(plpy: Plpy) -> Iterator[Finding]:
    row = run(
        plpy,
        "SELECT e.extversion, x.default_version, current_setting('server_version') AS server"
        " FROM pg_extension e JOIN pg_available_extensions x ON x.name = e.extname WHERE e.extname = 'discreet'",
    )[0]
    if row["extversion"] == row["default_version"]:
        yield "version", OK, f"discreet {row['extversion']} on PostgreSQL {row['server']}"
    else:
        yield (
            "version",
            PROBLEM,
            f"the database has discreet {row['extversion']}, the installed files are {row['default_version']}: "
            "run ALTER EXTENSION discreet UPDATE",
        )


def minor_version(plpy: Plpy) -> Iterator[Finding]:
    number = int(str(run(plpy, "SELECT current_setting('server_version_num') AS number")[0]["number"]))
    major, minor = divmod(number, 10_000)
    least = LEAST_MINOR.get(major, 0)
    if minor < least:
        yield (
            "minor version",
            PROBLEM,
            f"PostgreSQL {major}.{minor} has known holes, which let a role that may ask read the memory of the server: "
            f"update it to {major}.{least} or later",
        )


def interpreter(plpy: Plpy) -> Iterator[Finding]:
    yield "interpreter", OK, f"Python {sys.version.split()[0]} of PL/Python"
    yield "package folder", OK, str(package_folder())


def package_folder() -> Path:
    assert discreet.__file__ is not None
    return Path(discreet.__file__).parent.parent


def dependencies(plpy: Plpy) -> Iterator[Finding]:
    load_parser()
    lock = package_folder() / "requirements.lock"
    pinned = locked_versions(lock.read_text(encoding="utf-8") if lock.exists() else "")
    for name in (*DEPENDENCIES, *sorted(pinned.keys() - set(DEPENDENCIES))):
        status, finding = dependency(name, pinned.get(name))
        if name in DEPENDENCIES or status != OK:
            yield name, status, finding


def grammar(plpy: Plpy) -> Iterator[Finding]:
    from pglast.parser import get_postgresql_version

    number = run(plpy, "SELECT current_setting('server_version_num')::int / 10000 AS major")[0]["major"]
    parsed = get_postgresql_version()[0]
    if parsed == number:
        yield "grammar", OK, f"pglast parses the SQL of PostgreSQL {parsed}"
    else:
        yield (
            "grammar",
            PROBLEM,
            f"pglast parses the SQL of PostgreSQL {parsed}, and the server is PostgreSQL {number}: "
            "run make install again with PG_CONFIG of this server",
        )


def locked_versions(lock: str) -> dict[str, str]:
    """The version of each package that the text of a lock file pins."""
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", lock, re.MULTILINE))


def dependency(name: str, pinned: str | None) -> tuple[str, str]:
    """Whether a package is that of the package folder, in the version that was locked."""
    try:
        package = metadata.distribution(name)
        module = import_module(name) if name in DEPENDENCIES else None
    except ImportError as error:
        return PROBLEM, f"cannot be imported ({error}): run make install again"
    where = Path(str(package.locate_file(""))) if module is None else Path(module.__file__ or "").parent.parent
    if package.version != pinned:
        return PROBLEM, f"version {package.version} is installed, {pinned or 'none'} is locked: run make install again"
    if where.resolve() != package_folder().resolve():
        return WARNING, f"{package.version} is imported from {where}, not from the package folder"
    return OK, package.version


def encoding(plpy: Plpy) -> Iterator[Finding]:
    found = run(plpy, "SELECT current_setting('server_encoding') AS encoding")[0]["encoding"]
    if found == ENCODING:
        yield "encoding", OK, f"{found}, as Python's"
    else:
        yield (
            "encoding",
            PROBLEM,
            f"the database is in {found}, so nothing can be protected and every question is refused: {OTHER_DATABASE}",
        )


def library(plpy: Plpy) -> Iterator[Finding]:
    row = run(
        plpy,
        "SELECT current_setting('shared_preload_libraries') AS shared,"
        " current_setting('session_preload_libraries') AS session",
    )[0]
    loaded = {
        setting: "discreet" in [name.strip(' "').removeprefix("$libdir/") for name in row[setting].split(",")]
        for setting in ("shared", "session")
    }
    if loaded["shared"]:
        yield "library", OK, "loaded by shared_preload_libraries"
        return
    yield (
        "library",
        PROBLEM,
        ("loaded by session_preload_libraries, which starts no workers" if loaded["session"] else "not preloaded")
        + ": every question is refused, multilevel tables cannot be read, and views over protected tables that analysts"
        " were granted are not guarded everywhere. Add discreet to shared_preload_libraries in postgresql.conf, and"
        " restart the server",
    )


def ledger(plpy: Plpy) -> Iterator[Finding]:
    try:
        reply = run(plpy, "SELECT a->>'role' AS role, a->>'synchronous_commit' AS commit,"
                          " a->>'read_only' AS read_only"
                          " FROM discreet._ledger('ping', '{}') a")[0]  # fmt: skip
    except plpy.SPIError as error:
        # PL/Python knows no SQLSTATE of ours
        if not getattr(error, "sqlstate", "DP").startswith("DP"):
            raise
        yield (
            "ledger",
            PROBLEM,
            "not reachable, so every question is refused with DP007; the server's log has the reason. The library must"
            " be in shared_preload_libraries, max_worker_processes must leave room for its workers, and discreet.ledger"
            " must name a server that can be reached, or none",
        )
        return
    if reply["role"] != "discreet_ledger":
        yield "ledger", PROBLEM, f"runs as {reply['role']}, not as discreet_ledger"
    elif reply["read_only"] == "true":
        yield "ledger", PROBLEM, "this server is a standby and cannot write: ask on the primary"
    elif reply["commit"] in ("off", "local"):
        yield "ledger", PROBLEM, f"synchronous_commit is {reply['commit']}: a crash could lose charges"
    else:
        yield "ledger", OK, "its worker answers, and commits durably"


def event_triggers(plpy: Plpy) -> Iterator[Finding]:
    # the hooks follow; sessions that begin without the library get it from this trigger
    rows = run(
        plpy,
        "SELECT FROM pg_event_trigger WHERE evtname = 'discreet_load_before_ddl' AND evtenabled = 'A'",
    )
    if len(rows) == 1:
        yield "event triggers", OK, "renamed and dropped tables and columns are followed"
    else:
        yield (
            "event triggers",
            PROBLEM,
            "sessions without the library do not follow renamed and dropped tables: "
            "run ALTER EVENT TRIGGER discreet_load_before_ddl ENABLE ALWAYS",
        )


def group_roles(plpy: Plpy) -> Iterator[Finding]:
    rows = run(
        plpy,
        "SELECT r.rolname, r.rolcanlogin OR r.rolsuper OR r.rolcreaterole OR r.rolbypassrls AS mighty,"
        " r.rolname = 'discreet_ledger' AND EXISTS (SELECT FROM pg_auth_members m WHERE m.roleid = r.oid) AS entered"
        " FROM pg_roles r WHERE r.rolname = ANY (:names::text[])",
        names=list(GROUP_ROLES),
    )
    wrong = [row["rolname"] for row in rows if row["mighty"] or row["entered"]]
    if wrong:
        yield (
            "group roles",
            PROBLEM,
            f"{', '.join(wrong)}: group roles must not log in nor hold privileges of their own, "
            "and discreet_ledger must have no members",
        )
    else:
        yield "group roles", OK, f"{len(rows)} group roles without login"


def direct_readers(plpy: Plpy) -> Iterator[Finding]:
    rows = run(
        plpy, "SELECT relation::text AS relation, array_to_string(direct_readers, ', ') AS readers"
              " FROM discreet.protected_tables WHERE policy <> 'public' AND direct_readers <> '{}' ORDER BY 1"
    )  # fmt: skip
    for row in rows:
        yield (
            "direct readers",
            WARNING,
            f"{row['relation']} can be read without a budget by: {row['readers']}",
        )


def missing_limits(plpy: Plpy) -> Iterator[Finding]:
    """As after a restore into a cluster that lacks a role."""
    rows = run(
        plpy,
        "SELECT d.dataset FROM discreet._dataset d WHERE NOT EXISTS"
        " (SELECT FROM discreet._budget b WHERE b.dataset = d.dataset AND b.role = 0) UNION"
        " SELECT p.dataset FROM discreet._protected_table p WHERE p.dataset IS NOT NULL AND NOT EXISTS"
        " (SELECT FROM discreet._dataset d WHERE d.dataset = p.dataset) ORDER BY 1",
    )
    for row in rows:
        yield (
            "missing limits",
            PROBLEM,
            f"dataset {row['dataset']} has no limit, so every question about it is refused: a restore was not "
            "complete; create the roles first (pg_dumpall --roles-only), and restore again",
        )


def published_tables(plpy: Plpy) -> Iterator[Finding]:
    """Logical replication copies rows, not what protects them; a publication of all tables has those of discreet."""
    rows = run(
        plpy,
        "WITH RECURSIVE part(relation, whole) AS ("
        " SELECT relation::oid, relation::oid FROM discreet._protected_table WHERE policy <> 'public' UNION"
        " SELECT base::oid, relation::oid FROM discreet._multilevel_table UNION"
        " SELECT i.inhrelid, p.whole FROM part p JOIN pg_inherits i ON i.inhparent = p.relation),"
        " sent AS (SELECT c.oid AS relation, c.relnamespace, t.pubname FROM pg_publication_tables t"
        " JOIN pg_namespace n ON n.nspname = t.schemaname"
        " JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename),"
        " found AS (SELECT p.whole::regclass::text AS relation, s.pubname FROM part p JOIN sent s USING (relation)"
        " UNION SELECT 'schema discreet', pubname FROM sent WHERE relnamespace = 'discreet'::regnamespace)"
        " SELECT relation, string_agg(pubname, ', ' ORDER BY pubname) AS publications FROM found"
        " GROUP BY relation ORDER BY relation",
    )
    for row in rows:
        what = (
            "keys and charges are sent with the other tables"
            if row["relation"] == "schema discreet"
            else "rows arrive without their protection, and a budget there would be a second one for the same people"
        )
        yield (
            "published tables",
            WARNING,
            f"{row['relation']} is sent to subscribers by publication {row['publications']}: {what}",
        )


def divided_people(plpy: Plpy) -> Iterator[Finding]:
    """A link that was made after both tables were protected, or came with a restored dump."""
    rows = run(
        plpy,
        "WITH RECURSIVE above(child, parent) AS (SELECT inhrelid, inhparent FROM pg_inherits UNION"
        " SELECT a.child, i.inhparent FROM above a JOIN pg_inherits i ON i.inhrelid = a.parent)"
        " SELECT DISTINCT k.child::regclass::text AS child, k.parent::regclass::text AS parent, c.dataset,"
        " p.dataset AS other, k.link"
        " FROM (SELECT conrelid, confrelid, 'a foreign key links' FROM pg_constraint WHERE contype = 'f' UNION ALL"
        " SELECT child, parent, 'a foreign key links' FROM discreet._multilevel_reference UNION ALL"
        " SELECT child, parent, 'inheritance links' FROM above UNION ALL"
        # a child of both
        " SELECT a.parent, b.parent, 'a common child links' FROM above a JOIN above b USING (child)"
        " WHERE a.parent < b.parent) k(child, parent, link)"
        " JOIN discreet._protected_table c ON c.relation = k.child"
        " JOIN discreet._protected_table p ON p.relation = k.parent WHERE c.dataset <> p.dataset ORDER BY 1, 2",
    )
    for row in rows:
        yield (
            "divided people",
            WARNING,
            f"{row['link']} {row['child']} (dataset {row['dataset']}) "
            f"to {row['parent']} (dataset {row['other']}): "
            "the same people have two budgets",
        )


def wrong_units(plpy: Plpy) -> Iterator[Finding]:
    """A foreign key made after the table was protected, or a declaration that is older than the check of protect()."""
    rows = run(
        plpy,
        "SELECT w.problem, w.hint, p.relation::text AS relation"
        " FROM discreet._protected_table p, discreet._wrong_unit(p) w ORDER BY p.relation::text",
    )
    for row in rows:
        yield (
            "wrong units",
            PROBLEM,
            f"{row['problem']}; questions about {row['relation']} are refused. Call discreet.unprotect() and protect "
            f"it anew. {row['hint']}",
        )


def watching_roles(plpy: Plpy) -> Iterator[Finding]:
    """Analysts who can see statistics or all data beside the budget."""
    rows = run(
        plpy,
        "SELECT r.rolname AS analyst, w.rolname AS through FROM pg_roles r, pg_roles w"
        " WHERE w.rolname IN ('pg_read_all_data', 'pg_read_all_stats', 'pg_stat_scan_tables', 'pg_read_server_files',"
        " 'pg_execute_server_program') AND NOT r.rolsuper AND r.rolname NOT LIKE 'pg\\_%'"
        " AND r.rolname <> 'discreet_analyst'"
        " AND pg_has_role(r.oid, w.oid, 'MEMBER') AND pg_has_role(r.oid, 'discreet_analyst', 'MEMBER') ORDER BY 1, 2",
    )
    for row in rows:
        yield (
            "watching roles",
            WARNING,
            f"analyst {row['analyst']} is a member of {row['through']} and sees past the budget",
        )


def cleared_roles(plpy: Plpy) -> Iterator[Finding]:
    """Cleared users who can copy what they see to where nothing has a label."""
    rows = run(
        plpy,
        "SELECT c.role::text AS role, string_agg(n.nspname, ', ' ORDER BY n.nspname) AS schemas"
        " FROM discreet._clearance c JOIN pg_roles r ON r.oid = c.role, pg_namespace n"
        " WHERE NOT r.rolsuper AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"
        " AND has_schema_privilege(c.role::oid, n.oid, 'CREATE') GROUP BY 1 ORDER BY 1",
    )
    for row in rows:
        yield (
            "cleared roles",
            WARNING,
            f"{row['role']} has a clearance and may create tables, which have no labels, in: {row['schemas']}",
        )
    for row in run(
        plpy,
        "SELECT c.role::text AS role, string_agg(g.rolname, ', ' ORDER BY g.rolname) AS groups"
        " FROM discreet._clearance c JOIN pg_roles r ON r.oid = c.role, pg_roles g"
        " WHERE NOT r.rolsuper AND g.rolname IN ('discreet_curator', 'discreet_auditor')"
        " AND pg_has_role(c.role::oid, g.oid, 'MEMBER') GROUP BY 1 ORDER BY 1",
    ):
        yield (
            "cleared roles",
            WARNING,
            f"{row['role']} has a clearance and, as a member of {row['groups']}, sees charges, refusals and budgets of "
            "all labels",
        )


def hidden_readers(plpy: Plpy) -> Iterator[Finding]:
    """Who reads rows of all labels, below the views of multilevel tables."""
    rows = run(
        plpy,
        "SELECT m.base::text AS base, m.relation::text AS view, string_agg(r.rolname, ', ' ORDER BY r.rolname) AS roles"
        " FROM discreet._multilevel_table m, pg_roles r"
        " WHERE NOT r.rolsuper AND r.rolname !~ '^pg_' AND has_any_column_privilege(r.oid, m.base::oid, 'SELECT')"
        " GROUP BY 1, 2 ORDER BY 1",
    )
    for row in rows:
        yield (
            "hidden readers",
            PROBLEM,
            f"{row['base']} holds rows of all labels of multilevel table {row['view']}, and can be read by: "
            f"{row['roles']}",
        )


# multilevel tables, what is hidden below them, and views over them; `beyond`: that are not multilevel tables themselves
LABELLED = """
    WITH RECURSIVE labelled(relation, beyond) AS (
        SELECT each, false FROM discreet._multilevel_table m, unnest(ARRAY[m.relation::oid, m.base::oid]) each
        UNION
        SELECT r.ev_class, true FROM labelled l
        JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = l.relation
             AND d.classid = 'pg_rewrite'::regclass
        JOIN pg_rewrite r ON r.oid = d.objid AND r.rulename = '_RETURN'
        WHERE r.ev_class NOT IN (SELECT m.relation FROM discreet._multilevel_table m))
"""


def trigger_holders(plpy: Plpy) -> Iterator[Finding]:
    """Grants by which others put triggers on multilevel tables and views over them; what is refused then."""
    rows = run(
        plpy,
        LABELLED + "SELECT c.oid::regclass::text AS relation, l.beyond,"
        " string_agg(DISTINCT coalesce(r.rolname, 'PUBLIC'), ', ') AS grantees"
        " FROM labelled l JOIN pg_class c ON c.oid = l.relation"
        " CROSS JOIN aclexplode(c.relacl) a LEFT JOIN pg_roles r ON r.oid = a.grantee"
        " WHERE a.privilege_type = 'TRIGGER' AND a.grantee <> c.relowner AND r.rolsuper IS NOT TRUE"
        " GROUP BY c.oid, l.beyond ORDER BY 1",
    )
    for row in rows:
        told = (
            f"TRIGGER on {row['relation']}, a view over a multilevel table, is granted to: {row['grantees']}. With a"
            " trigger of theirs it cannot be written to"
            if row["beyond"]
            else f"TRIGGER on {row['relation']} of a multilevel table is granted to: {row['grantees']}. Their triggers"
            " do not run, but make COPY FROM fail"
        )
        yield "trigger holders", WARNING, f"{told}: REVOKE TRIGGER ON {row['relation']} FROM {row['grantees']}"


def foreign_triggers(plpy: Plpy) -> Iterator[Finding]:
    """What stands on multilevel tables beside the triggers that discreet made."""
    rows = run(
        plpy,
        "SELECT t.tgrelid::regclass::text AS relation, format('TRIGGER %I', t.tgname) AS what"
        " FROM discreet._multilevel_table m JOIN pg_trigger t ON t.tgrelid IN (m.relation, m.base)"
        " JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid"
        " JOIN pg_roles r ON r.oid = p.proowner"
        " WHERE NOT EXISTS (SELECT FROM discreet._multilevel_trigger o WHERE o.relation = t.tgrelid"
        " AND o.name = t.tgname AND o.function = p.proname AND (p.proowner = c.relowner OR r.rolsuper)"
        " AND t.tgqual IS NULL)"
        " AND NOT (t.tgrelid = m.base AND t.tgqual IS NULL"
        "          AND t.tgfoid = to_regprocedure('discreet._history_note()'))"
        " UNION ALL SELECT r.ev_class::regclass::text, format('RULE %I', r.rulename)"
        " FROM discreet._multilevel_table m JOIN pg_rewrite r ON r.ev_class IN (m.relation, m.base)"
        " WHERE r.rulename <> '_RETURN' ORDER BY 1, 2",
    )
    for row in rows:
        yield (
            "foreign triggers",
            PROBLEM,
            f"{row['relation']} of a multilevel table has {row['what']}, which is not discreet's and does not run: "
            f"DROP {row['what']} ON {row['relation']}",
        )


def foreign_code_below_views(plpy: Plpy) -> Iterator[Finding]:
    """CHECKs, indexes and defaults that were put on the hidden table of a multilevel one, and call code of others."""
    tables = run(plpy, "SELECT base::oid AS base, relation::text AS view FROM discreet._multilevel_table ORDER BY 2")
    for table in tables:
        for row in foreign_code(plpy, table["base"]):
            yield (
                "foreign code",
                PROBLEM,
                f"{row['root']}, below multilevel table {table['view']}, {row['problem']}: it runs with the rights of "
                "all writers, officers and superusers among them. Drop it, or let a superuser own what it calls",
            )


def side_doors(plpy: Plpy) -> Iterator[Finding]:
    """Statistics, sizes and WAL positions that every role can read, unless they are taken from PUBLIC."""
    row = run(
        plpy,
        "SELECT EXISTS (SELECT FROM discreet._protected_table WHERE policy <> 'public') AS people,"
        " ARRAY(SELECT p.proname::text FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace"
        " AND p.proname ~ :names::text AND has_function_privilege('discreet_analyst', p.oid, 'EXECUTE') ORDER BY 1)"
        " || ARRAY(SELECT 'pg_class.' || a.attname FROM pg_attribute a WHERE a.attrelid = 'pg_class'::regclass"
        " AND a.attname IN ('reltuples', 'relpages', 'relallvisible', 'relallfrozen')"
        " AND has_column_privilege('discreet_analyst', a.attrelid, a.attnum, 'SELECT') ORDER BY 1) AS seen",
        names=SIDE_DOORS,
    )[0]
    if row["people"] and row["seen"]:
        seen = list(dict.fromkeys(row["seen"]))
        yield (
            "side doors",
            WARNING,
            f"analysts can read how many rows and blocks tables have, by {len(seen)} functions and columns, among them "
            f"{seen[-1]} and pg_relation_size: docs/threats.md has the statements that close them",
        )


def statement_statistics(plpy: Plpy) -> Iterator[Finding]:
    """pg_stat_statements hides the texts of others, but not how many rows and blocks their statements needed."""
    rows = run(
        plpy,
        "SELECT c.oid::regclass::text AS view FROM pg_extension e JOIN pg_class c ON c.relnamespace = e.extnamespace"
        " WHERE e.extname = 'pg_stat_statements' AND c.relname = 'pg_stat_statements'"
        " AND has_table_privilege('discreet_analyst', c.oid, 'SELECT')",
    )
    for row in rows:
        yield (
            "statement statistics",
            WARNING,
            f"analysts see in {row['view']} how many rows and blocks the statements of all roles needed: "
            f"REVOKE SELECT ON {row['view']} FROM PUBLIC",
        )
