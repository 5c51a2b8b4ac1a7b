"""Somebody who can write the files, or the base table, moves ciphertext to where it does not belong, or damages it."""

from __future__ import annotations

import psycopg
import pytest
from tests.sealed import Shop, one

DAMAGED = "is damaged, or was sealed for another place"


@pytest.mark.parametrize(
    "move",
    [
        "UPDATE shop.customer_sealed SET salary = (SELECT salary FROM shop.customer_sealed WHERE id = 20) WHERE id = 1",
        "UPDATE shop.customer_sealed SET salary = note WHERE id = 1",
        "UPDATE shop.customer_sealed SET salary = ssn WHERE id = 1",
        "UPDATE shop.customer_sealed SET salary = set_byte(salary, 20, get_byte(salary, 20) # 1) WHERE id = 1",
        "UPDATE shop.customer_sealed SET salary = substr(salary, 1, length(salary) - 1) WHERE id = 1",
        "UPDATE shop.customer_sealed SET salary = '' WHERE id = 1",
        "UPDATE shop.customer_sealed SET salary = '\\x01' WHERE id = 1",
        "UPDATE shop.customer_sealed SET salary = set_byte(salary, 2, 255 - get_byte(salary, 2)) WHERE id = 1",
        "UPDATE shop.customer_sealed SET _row_id = 5 WHERE id = 1",
    ],
)
def test_a_moved_or_damaged_value_is_an_error(shop: Shop, move: str) -> None:
    app = shop.connect(shop.app)
    assert one(app, "SELECT salary FROM shop.customer WHERE id = 1") == 100
    shop.database.connect().execute(move)
    with pytest.raises(psycopg.errors.DataCorrupted, match=DAMAGED):
        app.execute("SELECT salary FROM shop.customer WHERE id = 1")
    assert one(app, "SELECT sum(salary) FROM shop.customer WHERE id > 1") == 20900, "other rows can be read"
    assert one(app, "SELECT name FROM shop.customer WHERE id = 1") == "name 1"


def test_a_value_of_another_table_is_an_error(shop: Shop) -> None:
    carol = shop.connect(shop.curator)
    carol.execute("CREATE TABLE shop.staff (id int, salary numeric(10, 2)); INSERT INTO shop.staff VALUES (1, 9999)")
    carol.execute("SELECT discreet.seal_column('shop.staff', 'salary', 'k')")
    shop.database.connect().execute(
        "UPDATE shop.customer_sealed c SET salary = s.salary, _row_id = s._row_id"
        " FROM shop.staff_sealed s WHERE c.id = 1"
    )
    with pytest.raises(psycopg.errors.DataCorrupted, match=DAMAGED):
        carol.execute("SELECT salary FROM shop.customer WHERE id = 1")


def test_a_data_key_that_was_moved_is_an_error(shop: Shop) -> None:
    shop.database.connect().execute(
        "UPDATE discreet._data_key d SET wrapped = o.wrapped FROM discreet._data_key o, discreet._sealed_column s,"
        " discreet._sealed_column t WHERE d.owner = s.id AND s.column_name = 'salary' AND o.owner = t.id"
        " AND t.column_name = 'note'"
    )
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        shop.connect(shop.app).execute("SELECT salary FROM shop.customer")


def test_values_outlive_what_moves_rows(shop: Shop) -> None:
    admin = shop.database.connect()
    app = shop.connect(shop.app)
    app.execute("UPDATE shop.customer SET name = name || '.'")
    admin.execute("VACUUM FULL shop.customer_sealed")
    admin.execute("CLUSTER shop.customer_sealed USING customer_pkey")
    admin.execute("ALTER TABLE shop.customer_sealed RENAME TO elsewhere")
    assert one(app, "SELECT sum(salary), count(ssn) FROM shop.customer") == (21000, 20)
