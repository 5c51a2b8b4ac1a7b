"""Exact answers under audit, on the database: run, decide, write down, and only then answer."""

from __future__ import annotations

import json
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from discreet.core.declarations import given
from discreet.core.errors import (
    AuditDenialError,
    DiscreetError,
    RefusedShapeError,
    TouchedDataError,
    UndefinedObjectError,
)
from discreet.worker.session import run

Answer = TypeVar("Answer")

# Events after which a history is put together for who comes new; people up to whom that fits into one request.
EVENTS_PER_BASE = 16
MOST_IN_A_BASE = 5_000_000
# answers of others may come in between so often
MOST_TRIES = 50


@dataclass(frozen=True)
class AuditedAsked:
    """A question about an audited table; its answer depends on the audit."""

    plan: Any
    acting: int
    protection: Any


@dataclass(frozen=True)
class Kept:
    """The history of a table as far as this session has read it; a cancel at any moment leaves the one before."""

    position: int = 0
    seed: int = 0
    history: Any = None
    known: tuple[tuple[int, str], ...] = ()
    numbers: dict[int, int] = field(default_factory=dict)
    spans: dict[tuple[int, bool], Any] = field(default_factory=dict)
    since_base: int = 0


KEPT: dict[int, Kept] = {}


@dataclass(frozen=True)
class Found:
    """What the native statement found, before anybody may see it."""

    everybody: int
    rows: list[list[object]]
    parts: list[Any]


# -- asking


def question(
    gate: Any,
    tree: Any,
    schema: Any,
    harmless: frozenset[str],
    parameters: tuple[str | None, ...],
    described: Any,
    noisily: Callable[[], Any],
) -> Any:
    """The question, found answerable by text and catalog; or what stands in for it under the noisy policy."""
    from discreet.audited.question import audited_plan
    from discreet.audited.run import statement_sql

    if gate.setting("transaction_isolation") not in ("read committed", "read uncommitted"):
        raise RefusedShapeError(
            "exact answers need READ COMMITTED: an older snapshot would not be the one that is decided on",
            "Ask outside of REPEATABLE READ and SERIALIZABLE transactions.",
        )
    protected = {r.protection.relation: r.protection for r in schema.relations.values() if r.protection is not None}
    audited = [protection for protection in protected.values() if protection.policy == "audited"]
    if len(protected) > 1:
        raise RefusedShapeError("an audited table together with other people", "Ask about it alone.")
    (protection,) = audited
    kept = refreshed(gate, protection.relation) if protection.may_ask else Kept()
    try:
        plan = audited_plan(tree, replace(schema, policies=frozenset(["audited"])), harmless, parameters, kept.seed)
    except DiscreetError as error:
        if protection.fallback is None or not protection.may_ask:
            raise
        return instead(error, noisily)
    asked = AuditedAsked(plan, gate.acting(described), protection)
    gate.check([statement_sql(asked.plan, ())], asked, [])
    return asked


def instead(error: DiscreetError, noisily: Callable[[], Answer]) -> Answer:
    """What the noisy policy makes of a question that is not answered exactly; its own refusal would not help."""
    try:
        return noisily()
    except DiscreetError:
        raise error from None


def under_noise(schema: Any) -> Any:
    """The schema in which audited tables with a fallback are under the noisy policy."""
    relations = {
        name: replace(relation, protection=replace(relation.protection, policy="noisy"))
        if relation.protection is not None and relation.protection.fallback == "noisy"
        else relation
        for name, relation in schema.relations.items()
    }
    return replace(schema, relations=relations)


def released(
    gate: Any, sql: str, asked: AuditedAsked, noisily: Callable[[], tuple[Any, list[list[object]]]]
) -> tuple[Any, list[list[object]]]:
    """The question with its exact numbers, written down before they leave; or what stands in for it."""
    started = time.monotonic()
    try:
        rows = answered(gate, sql, asked)
    except AuditDenialError as error:
        gate.wait_for_quantum(asked, started)
        if asked.protection.fallback is None:
            raise
        return instead(error, noisily)
    except TouchedDataError:
        gate.wait_for_quantum(asked, started)
        raise
    gate.wait_for_quantum(asked, started)
    gate.session.notice("the answer is exact, and remembered by the audit")
    return asked, rows


def answered(gate: Any, sql: str, asked: AuditedAsked) -> list[list[object]]:
    relation = asked.protection.relation
    kept = refreshed(gate, relation)
    found, known = look(gate, asked, kept), kept.known
    for _ in range(MOST_TRIES):
        if kept.known != known:
            found, known = look(gate, asked, kept), kept.known
        denial, event, history, spans = decided(kept, found, asked.protection.min_group)
        if denial is not None:
            error = AuditDenialError(denial.message, denial.hint)
            gate.refusable(sql, lambda error=error: raise_error(error))
        if recorded(gate, sql, asked, kept, found, event, history, spans):
            return found.rows
        kept = refreshed(gate, relation)
    raise AuditDenialError("too many others are asking about this table", "Ask again.")


def raise_error(error: DiscreetError) -> None:
    raise error


def look(gate: Any, asked: AuditedAsked, kept: Kept) -> Found:
    """Runs the statement; whatever goes wrong may depend on the data, and is told to the log only."""
    from discreet.audited.history import Part
    from discreet.audited.run import MOST_GROUPS, statement_sql

    plan, session = asked.plan, gate.session
    new = {column for filtered in plan.filters for column in plan.columns(filtered)} - kept.numbers.keys()
    if new:
        names = ", ".join(column.name for column in plan.relation.columns.values() if column.number in new)
        table = f"{plan.relation.schema}.{plan.relation.name}"
        raise RefusedShapeError(f"the audit of {table} does not know {names} yet", "Ask again.")
    statement = statement_sql(plan, tuple(value for _, value in kept.known))
    try:
        shown = run(
            session,
            "SELECT t.answer, t.people FROM discreet._run_audited(:role::oid, :sql::text) AS t",
            role=asked.acting,
            sql=statement,
        )
        found = [(json.loads(row["answer"]), row["people"]) for row in shown]
        gate.refuse_changed()
    except Exception as error:
        session.log(f"discreet: {type(error).__name__} after the data was touched: {error}")
        raise TouchedDataError from None
    if len(found) > MOST_GROUPS:
        raise RefusedShapeError(f"more than {MOST_GROUPS} groups", "Ask about fewer and larger ones.")
    sets: dict[tuple[int, int], list[bytes]] = {}
    rows: list[list[object]] = []
    for (_, place, *values), people in found:
        keys = plan.grouping.sets[place]
        texts = dict(zip(keys, values[: len(keys)], strict=True))
        lengths, numbers = values[len(keys) :][: len(plan.filters)], values[len(keys) + len(plan.filters) :]
        rows.append([texts.get(position) for position in range(len(plan.grouping.keys))] + numbers)
        begin = 0
        for number, length in enumerate(lengths):
            sets.setdefault((place, number), []).append(people[begin : begin + length])
            begin += length
    parts = [
        Part.of(groups, [kept.numbers[column] for column in plan.columns(plan.filters[number])])
        for (_, number), groups in sets.items()
    ]
    return Found(found[0][0][0] if found else 0, rows, parts)


def decided(kept: Kept, found: Found, least: int) -> tuple[Any, Any, Any, dict[tuple[int, bool], Any]]:
    """Denial, or event, history after it and spans."""
    import numpy as np

    from discreet.audited.decision import judged, refined_spans, size_denial
    from discreet.audited.history import unknown_people

    known = np.array([person % 2**64 for person, _ in kept.known], dtype=np.uint64)
    sizes = (unknown_people(some, known) for part in found.parts for some in part.sets)
    denial = size_denial(sizes, found.everybody, least)
    columns = sorted({column for part in found.parts for column in part.columns})
    if denial is not None or not columns:
        return denial, None, kept.history, kept.spans
    event = kept.history.event(found.parts)
    after = kept.history.after(event)
    if all(after.rows(column).asked == kept.history.rows(column).asked for column in columns):
        return None, None, kept.history, kept.spans
    verdict = judged(after, columns, known, least, kept.spans)
    if verdict.denial is not None:
        return verdict.denial, None, None, {}
    spans = refined_spans(kept.spans, verdict.spans, after)
    return None, replace(event, dropped=verdict.dropped), after.without(verdict.dropped), spans


# -- the history


def refreshed(gate: Any, relation: int) -> Kept:
    """The history as the ledger has it now."""
    from discreet.audited.history import Event, History

    kept = KEPT.get(relation) or Kept(history=History.empty())
    while True:
        told = gate.ledger("audit_read", {"relation": relation, "after": kept.position})
        if told.get("unit_type") is not None:
            raise RefusedShapeError(
                f"people were named by values of type {told['unit_type']} when questions were answered, not now",
                "A curator calls discreet.audit_reset(), or gives the column its old type.",
            )
        if told["position"] is None:
            raise RefusedShapeError(
                "the table has no audit: it is a part of one that had",
                "A curator calls discreet.unprotect() and discreet.protect() for it.",
            )
        if told["start"] != kept.position:
            history = History.unpacked(b64decode(told["base"])) if told["base"] else History.empty()
            kept = replace(kept, position=told["start"], history=history, spans={}, since_base=0)
        kept = replace(
            kept,
            seed=told["seed"],
            numbers={int(attnum): number for attnum, number in (told["numbers"] or {}).items()},
            known=tuple(sorted((int(person), value) for person, value in told["known"])),
        )
        for entry in told["events"]:
            event = Event.unpacked(b64decode(entry["event"]))
            history = kept.history.after(event).without(event.dropped)
            since = kept.since_base + 1
            kept = replace(kept, position=entry["position"], history=history, spans={}, since_base=since)
        if not told["events"]:
            kept = replace(kept, position=told["position"])
        KEPT[relation] = kept
        if not told["events"]:
            return kept


def recorded(
    gate: Any,
    sql: str,
    asked: AuditedAsked,
    kept: Kept,
    found: Found,
    event: Any,
    history: Any,
    spans: dict[tuple[int, bool], Any],
) -> bool:
    """Writes the answer down, unless something came in between."""
    counts: dict[int, int] = {}
    for part in found.parts:
        for column in part.columns:
            counts[column] = counts.get(column, 0) + len(part.sets)
    request = {
        "role": gate.session_user(),
        "relation": asked.protection.relation,
        "dataset": asked.plan.dataset.name,
        "position": kept.position,
        "event": None if event is None else b64encode(event.packed()).decode(),
        "columns": list(counts),
        "questions": list(counts.values()),
        "question": sql[:8000],
        "details": {"policy": "audited", "query_sets": sum(len(part.sets) for part in found.parts)},
    }
    done = gate.ledger("audit_record", request)
    if not done["recorded"]:
        return False
    # together, and before anything that can fail: a session that missed an event of its own would answer too much
    since = kept.since_base + (event is not None)
    now = replace(kept, position=done["position"], history=history, spans=spans, since_base=since)
    KEPT[asked.protection.relation] = now
    if since >= EVENTS_PER_BASE and len(history.people) <= MOST_IN_A_BASE:
        base = b64encode(history.packed()).decode()
        gate.ledger("audit_base", {"relation": request["relation"], "position": now.position, "base": base})
        KEPT[asked.protection.relation] = replace(now, since_base=0)
    return True


# -- explain() and lint()


def explained(gate: Any, asked: AuditedAsked, noisily: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Whether the question would be answered now. Nothing is written down."""
    kept = refreshed(gate, asked.protection.relation)
    found = look(gate, asked, kept)
    denial, *_ = decided(kept, found, asked.protection.min_group)
    told: dict[str, Any] = {"policy": "audited", "dataset": asked.plan.dataset.name, "answered": denial is None}
    if denial is not None:
        told["refused"] = {"code": AuditDenialError.sqlstate, "message": denial.message, "hint": denial.hint}
        if asked.protection.fallback is not None:
            try:
                told["fallback"] = noisily()
            except DiscreetError as error:
                told["fallback"] = {"refused": {"code": error.sqlstate, "message": error.message, "hint": error.hint}}
    return told


def audit_state(gate: Any, relation: str | None) -> list[tuple[object, ...]]:
    from discreet.audited.decision import state_of

    session = gate.session
    oid = int(run(session, "SELECT :relation::regclass::oid AS oid", relation=given("relation", relation))[0]["oid"])
    if not len(run(session, "SELECT FROM discreet._audit WHERE relation = :oid::oid", oid=oid)):
        raise UndefinedObjectError(f"{relation} is not under policy 'audited'", "Call discreet.protect() first.")
    kept = refreshed(gate, oid)
    told = run(
        session,
        "SELECT c.number, a.column_name, sum(c.asked) AS questions, array_agg(DISTINCT e.role::text) AS roles"
        " FROM discreet._audit_event e, ROWS FROM (unnest(e.columns), unnest(e.questions)) AS c(number, asked)"
        " JOIN discreet._audit_column a ON a.relation = :oid::oid AND a.number = c.number"
        " WHERE e.relation = :oid::oid GROUP BY c.number, a.column_name ORDER BY c.number",
        oid=oid,
    )
    known = [person for person, _ in kept.known]
    return [
        (row["column_name"], row["questions"], *state_of(kept.history, int(row["number"]), known), row["roles"])
        for row in told
    ]
