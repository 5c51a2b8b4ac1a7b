"""The answer is seen, then all is rolled back, or the backend is killed: those who were selected have paid."""

from decimal import Decimal

import psycopg
import pytest
from tests.village import Village

QUESTION = "SELECT count(*) FROM person WHERE age > 18"
PAID = {"ann": Decimal("0.9"), "bob": Decimal("0.9"), "cid": Decimal(1)}


def test_a_naive_ledger_forgets(village: Village) -> None:
    village.admin.execute("CREATE TABLE naive AS SELECT name, 1.0 AS left_over FROM person")
    with village.admin.transaction(force_rollback=True):
        village.admin.execute("UPDATE naive SET left_over = left_over - 0.1")
    assert village.admin.execute("SELECT DISTINCT left_over FROM naive").fetchall() == [(1,)]


def test_rollback(village: Village) -> None:
    with village.nora.transaction(force_rollback=True):
        village.ask(QUESTION)
    assert village.left() == PAID


def test_savepoint_and_exception(village: Village) -> None:
    village.nora.execute(f"BEGIN; SAVEPOINT s; SELECT discreet.query_json('{QUESTION}', 0.1); ROLLBACK TO s; COMMIT")
    with pytest.raises(psycopg.errors.DivisionByZero):
        village.nora.execute(
            f"DO $$ BEGIN PERFORM discreet.query_json('{QUESTION}', 0.2, fresh => true); PERFORM 1 / 0; END $$"
        )
    assert village.left() == {"ann": Decimal("0.7"), "bob": Decimal("0.7"), "cid": Decimal(1)}


def test_killed_backend(village: Village) -> None:
    other = village.connect()
    other.autocommit = False
    village.ask(QUESTION, connection=other)
    village.admin.execute("SELECT pg_terminate_backend(%s, 10000)", [other.info.backend_pid])
    assert village.left() == PAID


def test_a_read_only_transaction_pays_too(village: Village) -> None:
    with village.nora.transaction():
        village.nora.execute("SET TRANSACTION READ ONLY")
        village.ask(QUESTION)
    assert village.left() == PAID
