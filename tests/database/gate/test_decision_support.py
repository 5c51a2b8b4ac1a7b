"""Twenty-two questions of decision support, as they are written: answered in plain SQL, or refused for a theorem."""

from __future__ import annotations

import re

import psycopg
import pytest
from tests.corpus.sample import Question, questions
from tests.database.gate.conftest import Asker
from tests.database.gate.test_shop import compared, shop, truth
from tests.exactly import columns

__all__ = ["shop"]

ALL = list(questions("decision.sql"))
# 2, 11 and 16 read public tables alone, and are PostgreSQL's own
PUBLIC = (2, 11, 16)
# what is around the answer of 15 is the asker's own query, in plain SQL
AROUND = (15,)
ANSWERED = [number for number, question in enumerate(ALL, start=1) if question.code is None]
REFUSED = [number for number, question in enumerate(ALL, start=1) if question.code is not None]


def asked(number: int) -> Question:
    return ALL[number - 1]


def test_as_many_are_answered_as_promised() -> None:
    assert len(ALL) == 22
    assert len(set(ANSWERED) - set(PUBLIC)) >= 12


@pytest.mark.parametrize("number", ANSWERED)
def test_it_is_answered_in_plain_sql(shop: Asker, number: int) -> None:
    shop.admin.execute("UPDATE discreet._budget SET amount_spent = 0, delta_spent = 0")
    shop.plain("SET discreet.epsilon = 50")
    cursor = shop.connection.execute(asked(number).sql.encode())
    told, rows = truth(shop.admin, asked(number).sql)
    assert columns(cursor) == told
    found = cursor.fetchall()
    if number in PUBLIC:
        assert found == rows
    assert bool(found) == bool(rows)


@pytest.mark.parametrize("number", [number for number in ANSWERED if number not in PUBLIC + AROUND])
def test_without_noise_it_is_what_postgresql_answers(shop: Asker, number: int) -> None:
    assert compared(shop.admin, asked(number).sql) == []


@pytest.mark.parametrize("number", AROUND)
def test_what_is_around_the_answer_is_computed_by_postgresql(shop: Asker, number: int) -> None:
    """Of the same released rows, which the store gives again, PostgreSQL makes the same answer."""
    shop.admin.execute("UPDATE discreet._budget SET amount_spent = 0, delta_spent = 0")
    shop.plain("SET discreet.epsilon = 50")
    question = asked(number).sql
    found = shop.plain(question)
    charges = shop.charges()
    parts = re.fullmatch(r"WITH revenue \(supplier_no, total\) AS \((.*?GROUP BY supplier_id)\)(.*)", question, re.S)
    assert parts is not None
    inner, outer = parts.groups()
    released = shop.plain(inner)
    assert shop.charges() == charges
    assert len(released) > 10
    rows = ", ".join(f"({supplier}, {total}::numeric)" for supplier, total in released)
    over = f"WITH revenue (supplier_no, total) AS (VALUES {rows}){outer}"
    assert found == shop.admin.execute(over.encode()).fetchall()
    assert len(found) == 1


@pytest.mark.parametrize("number", REFUSED)
def test_it_is_refused_for_its_reason(shop: Asker, number: int) -> None:
    charged = shop.charges()
    with pytest.raises(psycopg.Error) as error:
        shop.plain(asked(number).sql)
    assert error.value.sqlstate == asked(number).code
    assert asked(number).words in str(error.value)
    assert shop.charges() == charged
