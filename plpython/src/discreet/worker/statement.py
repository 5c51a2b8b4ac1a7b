"""The questions of one statement, checked together before the first of them is charged."""

from __future__ import annotations

import json
from contextlib import suppress
from decimal import Decimal
from functools import partial

from discreet.core.errors import UndefinedObjectError
from discreet.core.syntax import Json
from discreet.gate.finish import finished_sql, rows_sql
from discreet.gate.wish import Wish, wish_of
from discreet.worker.asker import Asker
from discreet.worker.gate import understood
from discreet.worker.policy import Asking
from discreet.worker.session import Session
from discreet.worker.text import TextQuestion


def check_questions(session: Session, questions: str) -> None:
    """Raises, and writes down, the first refusal. A budget that is not enough for all refuses all.

    Nothing is charged or held back here: what another session spends meanwhile may still refuse the last of them. The
    audit decides when a question about an audited table is run.
    """
    asked_for = json.loads(questions)
    dues = [due for question in asked_for if (due := checked(session, question)) is not None]
    asker = Asker(session)
    text = "; ".join(str(question["sql"]) for question in asked_for)
    with asker.own_search_path(), asker.refusals_written_down(text):
        asker.refuse_shortage(dues)


def check_view(session: Session, question: str) -> None:
    """Raises, and writes down, the refusal of a question that is made of the definition of a view.

    Tables and views that are not committed yet cannot be looked at: then the view is checked when it is asked about.
    """
    asker = Asker(session)
    with asker.own_search_path() as path, suppress(UndefinedObjectError), asker.refusals_written_down(question):
        understood(asker, TextQuestion(asker, path, Asking(question, Wish(None))))


def checked(session: Session, question: dict[str, Json]) -> dict[str, Json] | None:
    """What a question costs; None where nothing is to be paid, or the audit decides."""
    types, sql = question["types"], question["sql"]
    asker = Asker(session)
    with asker.own_search_path() as path:
        with asker.refusals_written_down(sql):
            wish = wish_of(
                number(question.get("epsilon")),
                number(question.get("accuracy")),
                question.get("params"),
                bool(question.get("with_error")),
                bool(question.get("fresh")),
                number(question.get("sample")),
                question.get("as_of"),
                None if question.get("smallest_count") is None else int(question["smallest_count"]),
            )
            asking = Asking(sql, wish, partial(finished_sql, types=types) if types else rows_sql)
            policy = understood(asker, TextQuestion(asker, path, asking))
        charge = policy.price()
        return None if charge is None else charge.due


def number(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
