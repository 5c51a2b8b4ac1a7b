"""The history of exact answers about a table, as the ledger has it and as this worker has read it."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from discreet.core.declarations import given
from discreet.core.errors import RefusedShapeError, UndefinedObjectError
from discreet.worker.asker import Asker
from discreet.worker.session import run

if TYPE_CHECKING:  # numpy, which only they need
    from discreet.audited.decision import Span
    from discreet.audited.history import History

# Events after which a history is put together for who comes new; people up to whom that fits into one request.
EVENTS_PER_BASE = 16
MOST_IN_A_BASE = 5_000_000


@dataclass(frozen=True)
class Kept:
    """The history of a table as far as this worker has read it; a cancel at any moment leaves the one before."""

    position: int = 0
    seed: int = 0
    history: History | None = None
    known: tuple[tuple[int, str], ...] = ()
    numbers: dict[int, int] = field(default_factory=dict)
    spans: dict[tuple[int, bool], Span] = field(default_factory=dict)
    since_base: int = 0

    @property
    def so_far(self) -> History:
        assert self.history is not None, "nothing was read of this history"
        return self.history


KEPT: dict[int, Kept] = {}


def refreshed(asker: Asker, relation: int) -> Kept:
    """The history as the ledger has it now."""
    from discreet.audited.history import Event, History

    kept = KEPT.get(relation) or Kept(history=History.empty())
    while True:
        told = asker.ledger("audit_read", {"relation": relation, "after": kept.position})
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
            history = kept.so_far.after(event).without(event.dropped)
            since = kept.since_base + 1
            kept = replace(kept, position=entry["position"], history=history, spans={}, since_base=since)
        if not told["events"]:
            kept = replace(kept, position=told["position"])
        KEPT[relation] = kept
        if not told["events"]:
            return kept


def remember(
    asker: Asker, relation: int, kept: Kept, position: int, history: History, spans: dict[tuple[int, bool], Span]
) -> None:
    """The history with an answer that was written down.

    Together, and before anything that can fail: a worker that missed an event of its own would answer too much.
    """
    since = kept.since_base + (history is not kept.history)
    now = replace(kept, position=position, history=history, spans=spans, since_base=since)
    KEPT[relation] = now
    if since >= EVENTS_PER_BASE and len(history.people) <= MOST_IN_A_BASE:
        base = b64encode(history.packed()).decode()
        asker.ledger("audit_base", {"relation": relation, "position": position, "base": base})
        KEPT[relation] = replace(now, since_base=0)


def audit_state(asker: Asker, relation: str | None) -> list[tuple[object, ...]]:
    from discreet.audited.decision import state_of

    session = asker.session
    oid = int(run(session, "SELECT :relation::regclass::oid AS oid", relation=given("relation", relation))[0]["oid"])
    if not len(run(session, "SELECT FROM discreet._audit WHERE relation = :oid::oid", oid=oid)):
        raise UndefinedObjectError(f"{relation} is not under policy 'audited'", "Call discreet.protect() first.")
    kept = refreshed(asker, oid)
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
        (row["column_name"], row["questions"], *state_of(kept.so_far, int(row["number"]), known), row["roles"])
        for row in told
    ]
