"""Policy 'audited': exact answers. Run, decide, write down, and only then answer."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from discreet.core.errors import AuditDenialError, DiscreetError, RefusedShapeError
from discreet.core.syntax import Json, Node
from discreet.gate.moving import taken_for_now
from discreet.gate.question import Context
from discreet.gate.refusal import quoting
from discreet.gate.schema import Protection, Schema
from discreet.gate.together import Rows
from discreet.worker.analysis import analysed
from discreet.worker.asker import LONGEST_QUESTION
from discreet.worker.audit_history import Kept, refreshed, remember
from discreet.worker.meaning import Meaning
from discreet.worker.policy import Asking, Charge, DeclinedError
from discreet.worker.session import run
from discreet.worker.telling import refusal

if TYPE_CHECKING:  # numpy, which only they need
    from discreet.audited.decision import Denial, Span
    from discreet.audited.history import Event, History, Part
    from discreet.audited.question import AuditedPlan


@dataclass(frozen=True)
class Found:
    """What the native statement found, before the decision; `known`: the people whom it was told to leave out."""

    everybody: int
    rows: Rows
    parts: list[Part]
    known: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Decided:
    """Denial, or an event and what the history is after it; `kept`: the history that this was decided on."""

    kept: Kept
    denial: Denial | None
    event: Event | None
    history: History
    spans: dict[tuple[int, bool], Span]


class Audited:
    """A question whose answer is exact, and depends on the audit of all answers so far."""

    acting: int
    plan: AuditedPlan
    protection: Protection
    found: Found
    decided: Decided

    def __init__(self, meaning: Meaning, asking: Asking, tree: Node, context: Context, as_of: datetime | None) -> None:
        self.meaning, self.asking, self.tree, self.context, self.as_of = meaning, asking, tree, context, as_of
        self.asker, self.session = meaning.asker, meaning.asker.session

    @property
    def quantum(self) -> float | None:
        return self.plan.dataset.response_quantum

    @property
    def may_decline(self) -> bool:
        return self.protection.fallback is not None

    # -- admit

    def admit(self) -> None:
        """By text and catalog. Where the audit cannot answer it, the noisy policy may stand in."""
        from discreet.audited.run import statement_sql

        if self.asker.setting("transaction_isolation") not in ("read committed", "read uncommitted"):
            raise RefusedShapeError(
                "exact answers need READ COMMITTED: an older snapshot would not be the one that is decided on",
                "Ask outside of REPEATABLE READ and SERIALIZABLE transactions.",
            )
        self.protection = audited_alone(self.context.schema)
        seed = refreshed(self.asker, self.protection.relation).seed if self.protection.may_ask else 0
        try:
            with quoting(self.asking.text):
                self.plan = self.planned(seed)
        except DiscreetError as error:
            if not (self.may_decline and self.protection.may_ask):
                raise
            raise DeclinedError(error) from None
        self.acting = self.meaning.acting()
        native, finish = [statement_sql(self.plan, ())], [self.asking.finish(self.plan)]
        analysed(self.session, [], native, self.acting, finish, len(self.plan.levels))

    def planned(self, seed: int) -> AuditedPlan:
        from discreet.audited.question import audited_plan

        schema = replace(self.context.schema, policies=frozenset(["audited"]))
        return audited_plan(self.tree, schema, self.context.harmless, self.context.parameters, seed)

    # -- price

    def price(self) -> Charge | None:
        """No budget pays: the audit bounds what can be known."""
        return None

    # -- run

    def run(self) -> None:
        self.found = self.looked(refreshed(self.asker, self.protection.relation))

    def looked(self, kept: Kept) -> Found:
        """Reads numbers, and who is in each set, in one statement."""
        from discreet.audited.history import Part
        from discreet.audited.run import MOST_GROUPS, statement_sql

        plan = self.plan
        new = {column for filtered in plan.filters for column in plan.columns(filtered)} - kept.numbers.keys()
        if new:
            names = ", ".join(column.name for column in plan.relation.columns.values() if column.number in new)
            table = f"{plan.relation.schema}.{plan.relation.name}"
            raise RefusedShapeError(f"the audit of {table} does not know {names} yet", "Ask again.")
        statement = statement_sql(plan, tuple(value for _, value in kept.known))
        with self.asker.touching_data():
            shown = run(
                self.session,
                "SELECT t.answer, t.people FROM discreet._run_audited(:role::oid, :sql::text) AS t",
                role=self.acting,
                sql=statement,
            )
            found = [(json.loads(row["answer"]), row["people"]) for row in shown]
            self.meaning.refuse_changed()
        if len(found) > MOST_GROUPS:
            raise RefusedShapeError(f"more than {MOST_GROUPS} groups", "Ask about fewer and larger ones.")
        sets: dict[tuple[int, int], list[bytes]] = {}
        rows: Rows = []
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
        return Found(found[0][0][0] if found else 0, rows, parts, kept.known)

    # -- decide

    def decide(self) -> None:
        """By the history as it stands now. A denial is written down, and the noisy policy may stand in."""
        self.decided = self.judged()
        denial = self.decided.denial
        if denial is not None:
            error = AuditDenialError(denial.message, denial.hint)
            try:
                with self.asker.refusals_written_down(self.asking.text):
                    raise error
            except AuditDenialError:
                if not self.may_decline:
                    raise
                raise DeclinedError(error) from None

    def judged(self) -> Decided:
        kept = refreshed(self.asker, self.protection.relation)
        if kept.known != self.found.known:
            self.found = self.looked(kept)
        return decided(kept, self.found, self.protection.min_group)

    # -- record

    def record(self, left: Json) -> Rows | None:
        """Writes the answer down, unless something came in between."""
        kept, event, relation = self.decided.kept, self.decided.event, self.protection.relation
        counts: dict[int, int] = {}
        for part in self.found.parts:
            for column in part.columns:
                counts[column] = counts.get(column, 0) + len(part.sets)
        request = {
            "role": self.asker.user,
            "relation": relation,
            "dataset": self.plan.dataset.name,
            "position": kept.position,
            "event": None if event is None else b64encode(event.packed()).decode(),
            "columns": list(counts),
            "questions": list(counts.values()),
            "question": self.asking.text[:LONGEST_QUESTION],
            "details": {"policy": "audited", "query_sets": sum(len(part.sets) for part in self.found.parts)},
        }
        done = self.asker.ledger("audit_record", request)
        if not done["recorded"]:
            return None
        remember(self.asker, relation, kept, done["position"], self.decided.history, self.decided.spans)
        self.asker.wait_for_quantum(self.quantum)
        clock = "" if self.as_of is None else f"; {taken_for_now(self.as_of)}"
        self.session.notice(f"the answer is exact, and remembered by the audit{clock}")
        return self.found.rows

    # -- without an answer

    def explained(self) -> dict[str, Json]:
        """Whether the question would be answered now. Nothing is written down."""
        self.run()
        denial = self.judged().denial
        told: dict[str, Json] = {"policy": "audited", "dataset": self.plan.dataset.name, "answered": denial is None}
        if denial is not None:
            told["refused"] = refusal(AuditDenialError(denial.message, denial.hint))
        return told

    def explained_to_curators(self) -> dict[str, Json]:
        return {}

    def as_text(self, told: dict[str, Json]) -> str:
        return json.dumps(told, indent=2)

    def findings(self) -> list[tuple[str, str, str]]:
        return []


def audited_alone(schema: Schema) -> Protection:
    """The protection of the one table about people that is named."""
    protected = {r.protection.relation: r.protection for r in schema.relations.values() if r.protection is not None}
    if len(protected) > 1:
        raise RefusedShapeError("an audited table together with other people", "Ask about it alone.")
    (protection,) = protected.values()
    return protection


def under_noise(schema: Schema) -> Schema:
    """The schema in which audited tables with a fallback are under the noisy policy."""
    relations = {
        name: replace(relation, protection=replace(relation.protection, policy="noisy"))
        if relation.protection is not None and relation.protection.fallback == "noisy"
        else relation
        for name, relation in schema.relations.items()
    }
    return replace(schema, relations=relations)


def decided(kept: Kept, found: Found, least: int) -> Decided:
    import numpy as np

    from discreet.audited.decision import judged, refined_spans, size_denial
    from discreet.audited.history import unknown_people

    history = kept.so_far
    known = np.array([person % 2**64 for person, _ in kept.known], dtype=np.uint64)
    sizes = (unknown_people(some, known) for part in found.parts for some in part.sets)
    denial = size_denial(sizes, found.everybody, least)
    columns = sorted({column for part in found.parts for column in part.columns})
    if denial is not None or not columns:
        return Decided(kept, denial, None, history, kept.spans)
    event = history.event(found.parts)
    after = history.after(event)
    if all(after.rows(column).asked == history.rows(column).asked for column in columns):
        return Decided(kept, None, None, history, kept.spans)
    verdict = judged(after, columns, known, least, kept.spans)
    if verdict.denial is not None:
        return Decided(kept, verdict.denial, None, history, {})
    spans = refined_spans(kept.spans, verdict.spans, after)
    return Decided(kept, None, replace(event, dropped=verdict.dropped), after.without(verdict.dropped), spans)
