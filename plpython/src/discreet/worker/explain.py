"""What discreet.explain() tells, and whom. Nothing is spent, and nothing written down.

Every role that may ask is told what follows from the text, the catalog and earlier answers. The data are looked
at for a curator alone, and only those of tables that are the curator's own.
"""

from __future__ import annotations

import json
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction

from discreet.core.errors import DiscreetError
from discreet.core.syntax import Json, SqlValue
from discreet.dp.exact import decimal_text
from discreet.gate.clamping import bounded_columns, clamping_sql
from discreet.gate.readable import readable
from discreet.gate.schema import schema_from_json
from discreet.gate.wish import Wish
from discreet.worker.acting import acting_role, run_as
from discreet.worker.asker import Asker
from discreet.worker.gate import admitted, understood
from discreet.worker.meaning import Meaning
from discreet.worker.policy import Asking, TextPolicy
from discreet.worker.session import Session, run
from discreet.worker.telling import refusal
from discreet.worker.text import TextQuestion

OWNED = """
    SELECT pg_catalog.pg_has_role(discreet._caller(), c.relowner, 'USAGE') AS owned
    FROM pg_catalog.pg_class c
    WHERE c.oid = pg_catalog.to_regclass(pg_catalog.format('%I.%I', :schema::text, :name::text))
"""


def explain(session: Session, sql: str, epsilon: Decimal | None) -> dict[str, Json]:
    """Price and exactness, or the refusal."""
    asker = Asker(session)
    with asker.own_search_path() as path:
        question = TextQuestion(asker, path, Asking(sql, Wish(epsilon)))
        try:
            policy = understood(asker, question)
        except DiscreetError as error:
            return {"refused": refusal(error)}
        told = for_everybody(asker, question, policy)
        for_curators = policy.explained_to_curators()
        if for_curators and asker.is_curator():
            told |= for_curators | {"clamped": clamped(session, question.tree(), meaning_of(asker, question))}
        return told


def explain_text(session: Session, sql: str, wish: Wish) -> str:
    """The same as one readable text."""
    asker = Asker(session)
    with asker.own_search_path() as path:
        question = TextQuestion(asker, path, Asking(sql, wish))
        try:
            policy = understood(asker, question)
        except DiscreetError as error:
            return readable({"refused": refusal(error)}, None)
        return policy.as_text(for_everybody(asker, question, policy))


def for_everybody(asker: Asker, question: TextQuestion, policy: TextPolicy) -> dict[str, Json]:
    """What the policy tells, and the noisy one where it would stand in."""
    told = policy.explained()
    if "refused" in told and policy.may_decline:
        try:
            told["fallback"] = admitted(asker, question.noisily()).explained()
        except DiscreetError as error:
            told["fallback"] = {"refused": refusal(error)}
    return told


def meaning_of(asker: Asker, question: TextQuestion) -> dict[str, Json]:
    """What its names mean: a copy, which the caller may change."""
    return deepcopy(Meaning(asker, question.names()).described.meaning)


def clamped(session: Session, tree: SqlValue, described: dict[str, Json]) -> list[dict[str, Json]]:
    """The share of values that clamping cuts, of every bounded column that the question uses, over the whole table.

    Exact numbers: only the owner of a table, who may read it anyway, is told.
    """
    told: list[dict[str, Json]] = []
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
