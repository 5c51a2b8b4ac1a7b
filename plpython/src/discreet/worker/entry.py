"""What the SQL functions of language discreet_worker call: takes SQL values, gives rows of texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial

from discreet.core.declarations import given
from discreet.core.errors import RefusedShapeError
from discreet.dp.price import parse_epsilon
from discreet.dp.wire import released
from discreet.gate.column_names import unique_names
from discreet.gate.finish import finished_sql, json_sql
from discreet.gate.values import identifier
from discreet.worker.audited import audit_state
from discreet.worker.explain import explain
from discreet.worker.gate import Gate
from discreet.worker.messages import parameter
from discreet.worker.selftest import PASSED_OF, findings
from discreet.worker.session import Finish, Session
from discreet.worker.statement import check_questions
from discreet.worker.suggest import BoundsGate

Texts = Sequence[str | None]


def query(
    session: Session,
    sql: str,
    epsilon: Decimal | None,
    params: list[str | None] | None,
    fresh: bool,
    accuracy: Decimal | None,
    with_error: bool,
) -> Finish:
    types = session.types
    if types is None:
        raise RefusedShapeError(
            "the columns of the answer have no names", "SELECT * FROM discreet.query(…) AS t(dept text, count bigint)."
        )
    gate = Gate(session, partial(finished_sql, types=types))
    return gate.answer(sql, epsilon, params, fresh, accuracy, with_error)


def query_json(
    session: Session, sql: str, epsilon: Decimal | None, params: list[str | None] | None, fresh: bool
) -> Finish:
    return Gate(session, json_sql).answer(sql, epsilon, params, fresh)


def ask(session: Session, sql: str, epsilon: Decimal | None, cursor_name: str | None) -> list[Texts]:
    cursor = given("cursor_name", cursor_name)
    Gate(session).opened(sql, epsilon, cursor)
    return [[cursor]]


def answer_columns(session: Session, sql: str, epsilon: Decimal | None) -> list[Texts]:
    if epsilon is not None:  # a view keeps it, and would be refused whenever it is read
        parse_epsilon(epsilon)
    names, types = zip(*Gate(session).columns(sql), strict=True)
    columns = zip(unique_names(names), types, strict=True)
    return [[", ".join(f"{identifier(name)} {type_name}" for name, type_name in columns)]]


def suggest_bounds(
    session: Session, relation: str | None, column_name: str | None, epsilon: Decimal | None
) -> list[Texts]:
    lower, upper = BoundsGate(session, relation, column_name).bounds(epsilon)
    return [[f"[{lower:f},{upper:f}]"]]


def checked(session: Session, questions: str) -> list[Texts]:
    check_questions(session, questions)
    return []


def texts(rows: Iterable[Iterable[object]]) -> list[Texts]:
    return [[parameter(value) for value in row] for row in rows]


# by the bodies of the SQL functions
ENTRIES: Mapping[str, Callable[..., Sequence[Texts] | Finish]] = {
    "query": query,
    "query_json": query_json,
    "ask": ask,
    "answer_columns": answer_columns,
    "suggest_bounds": suggest_bounds,
    "explain": lambda session, sql, epsilon: [[json.dumps(explain(session, sql, epsilon))]],
    "lint": lambda session, sql: texts(Gate(session).lint(sql)),
    "check_questions": checked,
    "release": lambda session, function, totals: [[released(function, totals)]],
    "audit_state": lambda session, relation: texts(audit_state(Gate(session), relation)),
    "selftest": lambda session: texts(
        (item, status, finding, PASSED_OF[status]) for item, status, finding in findings(session)
    ),
}
