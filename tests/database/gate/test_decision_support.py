"""Twenty-two questions of decision support, as they are written: answered in plain SQL, or refused for a theorem."""

from __future__ import annotations

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


@pytest.mark.parametrize("number", REFUSED)
def test_it_is_refused_for_its_reason(shop: Asker, number: int) -> None:
    charged = shop.charges()
    with pytest.raises(psycopg.Error) as error:
        shop.plain(asked(number).sql)
    assert error.value.sqlstate == asked(number).code
    assert asked(number).words in str(error.value)
    assert shop.charges() == charged
