"""A table that is protected by the orders of its rows: one customer with many orders moves the number of many."""

from __future__ import annotations

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import refused

# orders 1 to 400 are those of person 1
TABLES = """
    CREATE TABLE extra.orders (order_id int PRIMARY KEY, person int NOT NULL REFERENCES hr.person);
    INSERT INTO extra.orders SELECT n, 1 FROM generate_series(1, 400) n;
    CREATE TABLE extra.shipments (order_id int PRIMARY KEY);
    INSERT INTO extra.shipments SELECT order_id FROM extra.orders;
    SELECT discreet.protect('extra.orders', 'person', 'people', max_rows => 1)
"""
KEY = "ALTER TABLE extra.shipments ADD FOREIGN KEY (order_id) REFERENCES extra.orders ON DELETE CASCADE"
JOIN = "SELECT count(*) FROM hr.person p JOIN extra.shipments s ON p.id = s.order_id"
EXACT = f"SELECT ({JOIN}), (SELECT count(*) FROM extra.shipments)"


@pytest.fixture
def shop(gated: Target) -> Target:
    gated.admin.execute(TABLES)
    return gated


def test_person_1_moves_both_numbers_by_400(shop: Target) -> None:
    shop.admin.execute(KEY)
    before = shop.admin.execute(EXACT).fetchone()
    with shop.admin.transaction(force_rollback=True):
        shop.admin.execute("DELETE FROM extra.orders WHERE person = 1")
        after = shop.admin.execute(EXACT).fetchone()
    assert (before, after) == ((400, 400), (0, 0))


def test_a_unit_that_names_orders_is_refused(shop: Target) -> None:
    shop.admin.execute(KEY)
    way = "order_id -> extra.orders.person"
    with refused("22023", "it references extra.orders, whose people are named by person", way):
        shop.admin.execute("SELECT discreet.protect('extra.shipments', 'order_id', 'people', max_rows => 1)")


def test_a_key_that_comes_later_ends_questions(shop: Target, blind: Connection) -> None:
    shop.admin.execute("SELECT discreet.protect('extra.shipments', 'order_id', 'people', max_rows => 1)")
    questions = (JOIN, "SELECT count(*) FROM extra.shipments")
    assert {how_it_ends(blind, question) for question in questions} == {"answer"}
    shop.admin.execute(KEY)
    assert {how_it_ends(blind, question) for question in questions} == {"DP001"}


def test_people_whom_keys_know_apart_are_not_joined(shop: Target, blind: Connection) -> None:
    """Protected by a number of its own, which names nobody of hr.person."""
    shop.admin.execute(KEY)
    shop.admin.execute("ALTER TABLE extra.shipments ADD number int UNIQUE")
    shop.admin.execute("SELECT discreet.protect('extra.shipments', 'number', 'people', max_rows => 1)")
    assert how_it_ends(blind, JOIN.replace("s.order_id", "s.number")) == "DP001"
