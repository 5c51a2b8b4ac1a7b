"""What discreet.explain() tells, and whom. Nothing is spent, and nothing written down.

Everybody who may ask is told what follows from the text, the catalog and what was released before. The data are looked
at for a curator alone, and only those of tables that are the curator's own.
"""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.core.errors import DiscreetError
from discreet.worker import personal
from discreet.worker.acting import acting_role, run_as
from discreet.worker.audited import AuditedAsked, explained
from discreet.worker.gate import Asked, Gate, Wish, decimal_text
from discreet.worker.session import Session, run

OWNED = """
    SELECT pg_catalog.pg_has_role(discreet._caller(), c.relowner, 'USAGE') AS owned
    FROM pg_catalog.pg_class c
    WHERE c.oid = pg_catalog.to_regclass(pg_catalog.format('%I.%I', :schema::text, :name::text))
"""


def explain(session: Session, sql: str, epsilon: Decimal | None) -> dict[str, Any]:
    """Price and exactness, or the refusal."""
    gate = Gate(session)
    with gate.own_search_path() as path:
        try:
            asked = gate.question(sql, Wish(epsilon), path)
        except DiscreetError as error:
            return {"refused": refusal(error)}
        if isinstance(asked, AuditedAsked):
            return explained(
                gate, asked, lambda: for_everybody(gate, gate.question(sql, Wish(epsilon, noisily=True), path))
            )
        told = for_everybody(gate, asked)
        if gate.caller_is_curator():
            told |= for_curators(gate, asked) | {"clamped": clamped(session, *gate.resolved(sql, path))}
        return told


def for_everybody(gate: Gate, asked: Asked) -> dict[str, Any]:
    from discreet.gate.exactness import exactness, groups_told

    plan, terms = asked.plan, asked.terms
    # an answer in the store was paid for: whether it is there is history, and whoever may ask may have it
    stored = gate.recalled(asked) is not None
    return (
        {
            "dataset": plan.dataset.name,
            "epsilon": decimal_text(asked.epsilon),
            "delta": decimal_text(asked.delta),
            "accounting": plan.dataset.accounting,
            "measurements": len(plan.measurements),
            "outputs": [found.told() for found in exactness(plan, terms)],
            "groups": groups_told(plan, terms),
            "stored": stored,
        }
        | ({} if stored else shortage(gate, asked))
        | ({} if gate.label is None else {"label": gate.label.text})
        | (personal.told(plan.personal) if plan.personal is not None else {})
    )


def shortage(gate: Gate, asked: Asked) -> dict[str, Any]:
    """The refusal, where the limits do not leave the price."""
    try:
        gate.refuse_shortage([gate.due(asked)])
    except DiscreetError as error:
        return {"refused": refusal(error)}
    return {}


def refusal(error: DiscreetError) -> dict[str, Any]:
    return {"code": error.sqlstate, "message": error.message, "hint": error.hint}


def for_curators(gate: Gate, asked: Asked) -> dict[str, Any]:
    from discreet.gate.exactness import sensitivities

    return {
        "native_sql": [statement.sql for statement in gate.statements(asked, 0)],
        "sensitivities": sensitivities(asked.plan, asked.terms),
    }


def clamped(session: Session, tree: Any, described: dict[str, Any]) -> list[dict[str, Any]]:
    """The share of values that clamping cuts, of every bounded column that the question uses, over the whole table.

    Exact numbers: only the owner of a table, who may read it anyway, is told.
    """
    from discreet.gate.clamping import bounded_columns, clamping_sql
    from discreet.gate.schema import schema_from_json

    told: list[dict[str, Any]] = []
    for relation, columns in bounded_columns(tree, schema_from_json(described)):
        names = [f"{relation.schema}.{relation.name}.{column.name}" for column in columns]
        owned = run(session, OWNED, schema=relation.schema, name=relation.name)
        if not (len(owned) and owned[0]["owned"]):
            told += [{"column": name, "why": "the table is not yours"} for name in names]
            continue
        named = [
            some
            for some in described["relations"]
            if (some["schema"], some["name"]) == (relation.schema, relation.name)
        ]
        (text,) = run_as(session, acting_role(session, named), clamping_sql(relation, columns))
        counts = json.loads(text)
        for name, (values, cut) in zip(names, counts, strict=True):
            share = decimal_text(Fraction(cut, values), 6) if values else None
            told.append({"column": name, "values": values, "cut": cut, "share": share})
    return told
