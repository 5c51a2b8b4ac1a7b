"""What the SQL functions of language discreet_worker call: takes SQL values, gives rows of texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial

from discreet.core.declarations import given
from discreet.core.errors import RefusedShapeError
from discreet.core.quoting import identifier
from discreet.core.syntax import SqlValue
from discreet.dp.price import parse_epsilon
from discreet.dp.wire import released
from discreet.gate.column_names import unique_names
from discreet.gate.finish import finished_sql, json_sql
from discreet.gate.wish import Wish, wish_of
from discreet.worker.answers import answer, columns, lint, open_cursor, types_of_errors
from discreet.worker.asker import Asker
from discreet.worker.audit_history import audit_state
from discreet.worker.explain import explain, explain_text
from discreet.worker.messages import parameter
from discreet.worker.selftest import PASSED_OF, findings
from discreet.worker.session import Finish, Session
from discreet.worker.statement import check_questions, check_view
from discreet.worker.suggest_bounds import suggested_bounds, suggested_bounds_of_all
from discreet.worker.suggest_rows import suggested_rows

Texts = Sequence[str | None]


def query(
    session: Session,
    sql: str,
    epsilon: Decimal | None,
    params: list[str | None] | None,
    fresh: bool,
    accuracy: Decimal | None,
    with_error: bool,
    sample: Decimal | None,
    as_of: str | None,
    smallest_count: int | None,
) -> Finish:
    types = session.types
    if types is None:
        raise RefusedShapeError(
            "the columns of the answer have no names", "SELECT * FROM discreet.query(…) AS t(dept text, count bigint)."
        )
    wish = wish_of(epsilon, accuracy, params, with_error, fresh, sample, as_of, smallest_count)
    return answer(session, sql, wish, partial(finished_sql, types=types))


def query_json(
    session: Session, sql: str, epsilon: Decimal | None, params: list[str | None] | None, fresh: bool
) -> Finish:
    return answer(session, sql, wish_of(epsilon, None, params, fresh=fresh), json_sql)


def ask(session: Session, sql: str, epsilon: Decimal | None, cursor_name: str | None) -> list[Texts]:
    cursor = given("cursor_name", cursor_name)
    open_cursor(session, sql, Wish(epsilon), cursor)
    return [[cursor]]


def answer_columns(session: Session, sql: str, epsilon: Decimal | None) -> list[Texts]:
    if epsilon is not None:  # a view keeps it, and would be refused whenever it is read
        parse_epsilon(epsilon)
    names, types = zip(*columns(session, sql), strict=True)
    shown = zip(unique_names(names), types, strict=True)
    return [[", ".join(f"{identifier(name)} {type_name}" for name, type_name in shown)]]


def error_types(session: Session, sql: str, parameters: int) -> list[Texts]:
    return [[";".join(types_of_errors(session, sql, parameters))]]


def suggest_bounds(
    session: Session, relation: str | None, column_name: str | None, epsilon: Decimal | None
) -> list[Texts]:
    lower, upper = suggested_bounds(session, relation, column_name, epsilon)
    return [[f"[{lower:f},{upper:f}]"]]


def suggest_all_bounds(session: Session, relation: str | None, epsilon: Decimal | None) -> list[Texts]:
    return texts(suggested_bounds_of_all(session, relation, epsilon))


def suggest_rows(
    session: Session, relation: str | None, unit: str | None, dataset: str | None, epsilon: Decimal | None
) -> list[Texts]:
    rows, cut = suggested_rows(session, relation, unit, dataset, epsilon)
    return texts([(rows, rows, rows, cut)])


def synthesize(
    session: Session, relations: list[str | None] | None, releases: SqlValue, *others: SqlValue
) -> list[Texts]:
    # numpy, which most workers never need
    from discreet.worker.synthesis import synthesized
    from discreet.worker.synthesis_request import Request

    return [[json.dumps(synthesized(session, Request.of(relations, releases, *others)))]]


def synthesize_one(session: Session, relation: str | None, release: str | None, *others: SqlValue) -> list[Texts]:
    return synthesize(session, [relation], [release], *others)


def checked(session: Session, questions: str) -> list[Texts]:
    check_questions(session, questions)
    return []


def view_checked(session: Session, question: str) -> list[Texts]:
    check_view(session, question)
    return []


def texts(rows: Iterable[Iterable[object]]) -> list[Texts]:
    return [[parameter(value) for value in row] for row in rows]


# by the bodies of the SQL functions
ENTRIES: Mapping[str, Callable[..., Sequence[Texts] | Finish]] = {
    "query": query,
    "query_json": query_json,
    "ask": ask,
    "answer_columns": answer_columns,
    "error_types": error_types,
    "suggest_bounds": suggest_bounds,
    "suggest_all_bounds": suggest_all_bounds,
    "suggest_rows": suggest_rows,
    "synthesize": synthesize,
    "synthesize_one": synthesize_one,
    "explain": lambda session, sql, epsilon: [[json.dumps(explain(session, sql, epsilon))]],
    "explain_text": lambda session, sql, epsilon, params, as_of: [
        [explain_text(session, sql, wish_of(epsilon, None, params, as_of=as_of))]
    ],
    "lint": lambda session, sql: texts(lint(session, sql)),
    "check_questions": checked,
    "check_view": view_checked,
    "release": lambda session, function, totals: [[released(function, totals)]],
    "audit_state": lambda session, relation: texts(audit_state(Asker(session), relation)),
    "selftest": lambda session: texts(
        (item, status, finding, PASSED_OF[status]) for item, status, finding in findings(session)
    ),
}
