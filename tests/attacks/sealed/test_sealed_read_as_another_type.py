"""The owner of a table reads the bytes of a text as a number, whose code would trust them."""

from __future__ import annotations

import psycopg
import pytest
from tests.sealed import Shop, one


@pytest.mark.parametrize("type_name", ["numeric", "bytea", "json", "char(3)", "int", "uuid", "float8", "jsonb"])
def test_a_text_is_read_as_text_only(shop: Shop, type_name: str) -> None:
    carol = shop.connect(shop.curator)
    carol.execute("UPDATE shop.customer SET note = 'aa', ssn = 'aa' WHERE id = 1")
    identity = one(shop.database.connect(), "SELECT id FROM discreet._sealed_column WHERE column_name = 'note'")
    read = "SELECT discreet._unseal(note, _row_id, %s, NULL::{}) FROM shop.customer_sealed WHERE id = 1"
    assert one(carol, read.format("text"), [identity]) == "aa"
    with pytest.raises(psycopg.errors.DataCorrupted):
        carol.execute(read.format(type_name).encode(), [identity])


def test_a_number_that_was_sealed_as_bytes_is_not_read(shop: Shop) -> None:
    carol = shop.connect(shop.curator)
    identity = one(shop.database.connect(), "SELECT id FROM discreet._sealed_column WHERE column_name = 'salary'")
    carol.execute("ALTER TABLE shop.customer_sealed DROP CONSTRAINT customer_salary_check")
    carol.execute(
        "UPDATE shop.customer_sealed SET salary = discreet._seal('aa'::text, _row_id, %s) WHERE id = 1", [identity]
    )
    with pytest.raises(psycopg.errors.DataCorrupted):
        carol.execute("SELECT salary FROM shop.customer WHERE id = 1")


@pytest.mark.parametrize("type_name", ["regclass", "regtype", "regrole[]"])
def test_numbers_of_objects_are_not_sealed(shop: Shop, type_name: str) -> None:
    carol = shop.connect(shop.curator)
    carol.execute(f"CREATE TABLE shop.t (x {type_name})".encode())
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="cannot be sealed"):
        carol.execute("SELECT discreet.seal_column('shop.t', 'x', 'k')")
