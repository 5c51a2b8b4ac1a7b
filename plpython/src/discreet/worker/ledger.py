"""Calls of the ledger, discreet._ledger_<operation>.

What writes is done by the ledger worker, in a transaction of its own, committed when the reply comes. What only
reads is done here, in the transaction of the step under way, unless the ledger is on another server.
"""

from __future__ import annotations

import json

from discreet.core import codes
from discreet.core.syntax import Json, SqlValue
from discreet.server.plpy import Plpy, prepared
from discreet.worker.session import Session, SessionError

READING = frozenset(["describe", "recall", "left", "shortage", "audit_read"])
# what gives numbers away, or leads to it
GIVING = frozenset(["charge_question", "charge_personal", "recall", "audit_read", "audit_record", "audit_base"])

LOCK_NOT_AVAILABLE = "55P03"
UNREACHABLE = (
    codes.LEDGER_UNREACHABLE.sqlstate,
    "the ledger is not reachable: no charge, no answer",
    "Try again. If it stays so, an administrator finds the reason with discreet.check_installation()"
    " and in the server's log.",
)


def call_ledger(session: Session, operation: str, request: dict[str, Json]) -> SqlValue:
    """What the ledger answers. Its refusals are raised; it has written them down."""
    if operation in GIVING and session.facts["explained"]:
        raise SessionError(
            codes.REFUSED_SHAPE.sqlstate,
            "EXPLAIN ANALYZE of a question would tell of the rows",
            "SELECT discreet.explain('…') says what a question costs and how exact it is.",
        )
    text = json.dumps(request)
    if operation in READING and not session.facts["remote"]:
        told = read_here(session, operation, text)
    else:
        told = session.charge(operation, text)
    answer = None if told is None else json.loads(told)
    if isinstance(answer, dict) and "refused" in answer:
        refused = answer["refused"]
        raise SessionError(refused["code"], refused["message"], refused["hint"])
    return answer


def sqlstate(code: int) -> str:
    """As PostgreSQL packs them: six bits a character. PL/Python has names only for those it knows."""
    return "".join(chr((code >> 6 * place & 0x3F) + ord("0")) for place in range(5))


def read_here(session: Session, operation: str, request: str) -> str | None:
    plpy: Plpy = session.worker
    call = prepared(plpy, f"SELECT discreet._ledger_{operation}($1) AS answer", ["pg_catalog.jsonb"])
    try:
        answer: str | None = plpy.execute(call, [request])[0]["answer"]
    except plpy.SPIError as error:
        code, _, hint, *_ = error.spidata  # type: ignore[attr-defined]
        if sqlstate(code).startswith("DP"):
            raise SessionError(sqlstate(code), str(error), hint) from None
        if sqlstate(code) == LOCK_NOT_AVAILABLE:
            raise SessionError(
                codes.LEDGER_UNREACHABLE.sqlstate,
                "a table or view of the question is locked by another transaction: no charge, no answer",
                "Try again.",
            ) from None
        session.log(f"discreet: ledger: {error}")
        raise SessionError(*UNREACHABLE) from None
    return answer
