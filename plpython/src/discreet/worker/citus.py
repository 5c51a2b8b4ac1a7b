"""Where the tables of a question are distributed by Citus: what must hold for its promises to hold.

Citus runs the native SQL on the workers. Its settings decide how, and with some of them it depends on rows whether a
question fails (`citus.max_intermediate_result_size`), or numbers are approximated (`citus.count_distinct_error_rate`):
a session that changed one gets no answer. Only where rows are placed by the hash of a column, or are everywhere, does a
unique key hold over all workers; and what the other policies remember of rows, their place and transaction, means
nothing there.
"""

from __future__ import annotations

from collections.abc import Iterable

from discreet.core.errors import RefusedShapeError
from discreet.core.syntax import Json
from discreet.worker.session import Session, Statement

CHANGED = """
    SELECT pg_catalog.string_agg(name, ', ' ORDER BY name) AS names FROM pg_catalog.pg_settings
    WHERE name LIKE 'citus.%' AND source NOT IN (
        'default', 'environment variable', 'configuration file', 'command line', 'global', 'database')
"""
DISTRIBUTED = """
    SELECT p.partmethod AS method FROM pg_catalog.pg_dist_partition p
    WHERE p.logicalrelid = pg_catalog.to_regclass(pg_catalog.format('%I.%I', $1, $2))
"""


def refuse_what_does_not_hold(session: Session, relations: Iterable[dict[str, Json]]) -> None:
    if not session.facts["citus"]:
        return
    distributed = False
    for relation in relations:
        found = session.execute(Statement(DISTRIBUTED, ("text", "text")), [relation["schema"], relation["name"]])
        if not len(found):
            continue
        distributed = True
        policy = (relation["protection"] or {}).get("policy", "noisy")
        if found[0]["method"] not in ("h", "n"):
            refuse(relation, "distributed, but not by the hash of a column", "Distribute it by the unit.")
        if policy != "noisy":
            refuse(relation, f"distributed, and policy {policy} is not for distributed tables", "Use policy noisy.")
    if distributed and (names := session.execute(Statement(CHANGED))[0]["names"]) is not None:
        raise RefusedShapeError(
            f"the session or its role has changed settings of Citus: {names}",
            "RESET them; what an administrator sets for the database or the server holds.",
        )


def refuse(relation: dict[str, Json], why: str, hint: str) -> None:
    raise RefusedShapeError(f"{relation['schema']}.{relation['name']} is {why}", hint)
