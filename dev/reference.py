"""Writes docs/reference.md from the comments in a database that has the extension: `make reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "plpython" / "src")]

from dev.cluster import Cluster, own_cluster  # noqa: E402

HEAD = """# Reference

Written by `make reference` from the comments in the database and the tables of the gate.
"""

FUNCTIONS = r"""
    SELECT '| `' || p.proname || '('
           || CASE WHEN p.prokind = 'a' AND p.pronargs = 0 THEN '*' ELSE pg_get_function_arguments(p.oid) END || ')'
           || CASE pg_get_function_result(p.oid) WHEN 'void' THEN '' ELSE ' → ' || pg_get_function_result(p.oid) END
           || '` | ' || obj_description(p.oid, 'pg_proc') || ' |'
    FROM pg_proc p
    WHERE p.pronamespace = 'discreet'::regnamespace AND p.proname !~ '^_' AND (p.prokind = 'a') = {aggregate}
    ORDER BY p.proname, p.pronargs, pg_get_function_identity_arguments(p.oid) COLLATE "C"
"""
VIEWS = r"""
    SELECT '| `' || c.relname || '` | ' || obj_description(c.oid, 'pg_class') || ' | '
           || (SELECT string_agg('`' || a.attname || '`', ', ' ORDER BY a.attnum) FROM pg_attribute a
               WHERE a.attrelid = c.oid AND a.attnum > 0) || ' |'
    FROM pg_class c WHERE c.relnamespace = 'discreet'::regnamespace AND c.relkind = 'v' AND c.relname !~ '^_' ORDER BY 1
"""
SETTINGS = r"""
    SELECT '| `' || name || '` | ' || short_desc || ' | '
           || CASE context WHEN 'user' THEN 'all roles' ELSE 'superusers' END || ' |'
    FROM pg_settings WHERE name LIKE 'discreet.%' ORDER BY name
"""
ROLES = r"""
    SELECT '| `' || rolname || '` | ' || substr(shobj_description(oid, 'pg_authid'), 11) || ' |'
    FROM pg_roles WHERE rolname LIKE 'discreet\_%' ORDER BY rolname
"""
# characters of a question
LONGEST_SHOWN = 120
FOLDED = r"SELECT regexp_replace(line, '\s+', ' ', 'g') FROM ({}) AS found(line)"
SECTIONS = [
    ("Aggregates", "| aggregate | |\n|---|---|", FUNCTIONS.format(aggregate="true")),
    ("Functions", "| function | |\n|---|---|", FUNCTIONS.format(aggregate="false")),
    ("Views", "| view | | columns |\n|---|---|---|", VIEWS),
    ("Settings", "| setting | | set by |\n|---|---|---|", SETTINGS),
    ("Group roles", "| role | |\n|---|---|", ROLES),
]


def allowed_sql() -> str:
    """What a question may use, from the tables that the checker uses."""
    from discreet.gate.aggregates import AGGREGATES
    from discreet.gate.functions import FUNCTIONS

    lines = ["## SQL of the gate", "", "| aggregates | functions of a row |", "|---|---|"]
    aggregates = ", ".join(f"`{rule.usage}`" for rule in AGGREGATES.values())
    functions = ", ".join(f"`{rule.usage}`" for rule in FUNCTIONS.values())
    return "\n".join([*lines, f"| {aggregates} | {functions} |", ""])


def error_codes() -> str:
    """The SQLSTATEs of discreet, from the table that its errors use."""
    from discreet.core.codes import CODES

    lines = ["## Error codes", "", "| SQLSTATE | meaning | what to do |", "|---|---|---|"]
    rows = (f"| `{each.sqlstate}` | {each.meaning} | {each.what_to_do} |" for each in CODES.values())
    return "\n".join([*lines, *rows, ""])


def lint_codes() -> str:
    """What discreet.lint() may find, from the table that it uses."""
    from discreet.gate.lint import CODES

    lines = ["## Codes of lint", "", "| code | finding | hint |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| `{each.code}` | {each.finding} | {each.hint} |" for each in CODES), ""])


def refusals() -> str:
    """The messages of refusals, each with a question that has it, asked now, by the planner itself; and the others."""
    from tests.corpus.messages import not_asked
    from tests.corpus.messages import refusals as asked

    lines = ["## Refusals", "", "| SQLSTATE | message | hint | a question |", "|---|---|---|---|"]
    found: dict[tuple[str, str], str] = {}
    for refusal in asked():
        told = refusal.code, refusal.message.partition(" (in: ")[0]
        question = " ".join(refusal.question.split())
        shown = question if len(question) <= LONGEST_SHOWN else question[:LONGEST_SHOWN] + "…"
        cells = (f"`{told[0]}`", told[1], refusal.hint or "", f"`{shown}`")
        found.setdefault(told, row(cells))
    for places in not_asked().values():
        code = "DP002" if places[0].error == "refuse_tracker" else "DP001"
        message = places[0].message
        found.setdefault((code, message), row((f"`{code}`", message, "", places[0].why_not_asked or "")))
    return "\n".join([*lines, *(found[told] for told in sorted(found)), ""])


def row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def rows(cluster: Cluster, database: str, query: str) -> str:
    """A line each: white space within a row is folded, since a comment may have more than one line."""
    return cluster.sql(FOLDED.format(query), database)


def reference(cluster: Cluster, database: str) -> str:
    sections = [f"## {title}\n\n{head}\n{rows(cluster, database, query)}\n" for title, head, query in SECTIONS]
    return "\n".join([HEAD, *sections, allowed_sql(), error_codes(), refusals(), lint_codes()])


if __name__ == "__main__":
    (ROOT / "docs" / "reference.md").write_text(reference(own_cluster(), "discreet"))
