"""The questions of one statement, checked together before the first of them is charged."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import partial
from typing import Any

from discreet.gate.finish import finished_sql, rows_sql
from discreet.worker.audited import AuditedAsked
from discreet.worker.gate import Gate, wish_of
from discreet.worker.session import Session


def check_questions(session: Session, questions: str) -> None:
    """Raises, and writes down, the first refusal. A budget that is not enough for all refuses all.

    Nothing is charged or held back here: what another session spends meanwhile may still refuse the last of them. The
    audit decides when a question about an audited table is run.
    """
    asked_for = json.loads(questions)
    dues = [due for question in asked_for if (due := checked(session, question)) is not None]
    gate = Gate(session)
    with gate.own_search_path():
        text = "; ".join(str(question["sql"]) for question in asked_for)
        gate.refusable(text, lambda: gate.refuse_shortage(dues))


def checked(session: Session, question: dict[str, Any]) -> dict[str, Any] | None:
    """What a question costs; None where nothing is to be paid, or the audit decides."""
    types, sql = question["types"], question["sql"]
    gate = Gate(session, partial(finished_sql, types=types) if types else rows_sql)
    with gate.own_search_path() as path:

        def ask() -> Any:
            wish = wish_of(
                number(question.get("epsilon")),
                number(question.get("accuracy")),
                question.get("params"),
                bool(question.get("with_error")),
            )
            return gate.question(sql, wish, path)

        asked = gate.refusable(sql, ask)
        if isinstance(asked, AuditedAsked) or (not question.get("fresh") and gate.recalled(asked) is not None):
            return None
        return gate.due(asked) | {"key": asked.key, "fresh": bool(question.get("fresh"))}


def number(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
