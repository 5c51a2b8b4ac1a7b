"""The corpus in plain SQL: what is accepted by hand is accepted, at the same price; nothing refused is read raw."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import psycopg
import pytest
from psycopg import sql
from tests.corpus.sample import Question, questions
from tests.database.gate.conftest import Asker

# Refused by hand, and yet answered in plain SQL: PostgreSQL reads no people here …
WITHOUT_PEOPLE = ["SELECT count(*) FROM zip_area", "SELECT 1", "VALUES (1)", "", "DO $$BEGIN END$$"]
# … and these it has made a question of, or two, that is paid.
PAID = [
    "SELECT count(*) FROM hr.employee WHERE hired > 'now'",
    "SELECT count(*) FROM hr.employee UNION ALL SELECT count(*) FROM hr.employee",
    # PostgreSQL prints names that are told apart …
    "SELECT count(*) FROM clinic.visit WHERE EXISTS (SELECT 1 FROM clinic.visit visit\n"
    "WHERE clinic.visit.patient_id = visit.patient_id AND visit.cost > 100)",
    # … constants are computed in the session …
    "SELECT count(*) FROM hr.employee WHERE dept = ANY (string_to_array('a,b', ','))",
    "SELECT count(*) FROM hr.employee WHERE hired > DATE '2024-01-01' - 2 * INTERVAL '1 year'",
    "SELECT count(*) FROM hr.employee WHERE name = current_user",
    "SELECT dp_sum(salary, 0, 10 * 1000) FROM hr.employee",
    "SELECT count(*) FROM hr.employee WHERE name SIMILAR TO 'A%'",
    # … and so is what stands around the answer
    "SELECT set_config('x.y', 'z', false), count(*) FROM hr.employee",
    "SELECT count(*), xmlelement(name x) FROM hr.employee",
]


@pytest.fixture
def plain(asker: Asker) -> Iterator[Asker]:
    """An analyst who finds discreet.bucket() without writing its schema."""
    asker.connection.execute("SET search_path = public, discreet")
    yield asker
    asker.connection.execute("RESET search_path")


def ask_plainly(asker: Asker, question: Question) -> None:
    if not question.parameters:
        asker.plain(question.sql)
        return
    values = sql.SQL(", ").join(map(sql.Literal, question.parameters)).as_string(asker.connection)
    try:
        asker.plain(f"PREPARE asked AS {question.sql}")
        asker.plain(f"EXECUTE asked({values})")
    finally:
        asker.plain("DEALLOCATE ALL")


def paid_by_hand(asker: Asker, question: Question) -> tuple[Decimal, Decimal]:
    if not question.parameters:
        told = asker.explain(question.sql)
        assert "refused" not in told, told
        return Decimal(told["epsilon"]), Decimal(told["delta"])
    asker.json(question.sql, None, params=list(question.parameters))
    return asker.charges()[-1]


def test_what_is_accepted_by_hand_costs_the_same_in_plain_sql(plain: Asker) -> None:
    differ = []
    for question in questions("accepted.sql"):
        plain.reset()
        by_hand = paid_by_hand(plain, question)
        plain.reset()
        try:
            ask_plainly(plain, question)
            paid = plain.charges()
        except psycopg.Error as error:
            differ.append((question.sql, str(error)))
            continue
        # a subquery around the aggregates is a question of its own there, with its own line in the ledger
        if tuple(sum(parts) for parts in zip((Decimal(0), Decimal(0)), *paid, strict=True)) != by_hand:
            differ.append((question.sql, f"{paid} and not {by_hand}"))
    assert differ == []


def test_what_is_refused_by_hand_is_never_answered_raw(plain: Asker) -> None:
    answered = []
    for question in questions("refused.sql"):
        plain.reset()
        try:
            ask_plainly(plain, question)
        except psycopg.Error:
            continue
        answered.append((question.sql, len(plain.charges()) > 0))
    assert sorted(answered) == sorted([(sql, False) for sql in WITHOUT_PEOPLE] + [(sql, True) for sql in PAID])
