"""Units by path: declared, shown, followed, and refused where they would lead to several people or to none."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from dev.cluster import Cluster
from tests.databases import Connection, created
from tests.shop import TABLES

CUSTOMERS = """
    SELECT discreet.create_dataset('customers', 10);
    SELECT discreet.protect('shop.customer', 'customer_id', 'customers');
    SELECT discreet.protect('shop.orders', 'customer_id', 'customers', max_rows => 8)
"""
ITEMS = "SELECT discreet.protect('shop.item', 'order_id -> shop.orders.customer_id', 'customers', max_rows => 30)"
COMPLAINTS = """SELECT discreet.protect('shop.complaint', 'item_id -> shop.item.order_id -> shop.orders.customer_id',
    'customers', max_rows => 9)"""
UNIT = "SELECT unit FROM discreet.protected_tables WHERE relation = %s::regclass"


@pytest.fixture
def shop(cluster: Cluster) -> Iterator[Connection]:
    with created(cluster, "paths") as database:
        admin = database.connect()
        admin.execute("CREATE EXTENSION discreet CASCADE")
        admin.execute(TABLES.encode())
        admin.execute(CUSTOMERS)
        yield admin
        database.close()


def unit(shop: Connection, table: str) -> object:
    ((found,),) = shop.execute(UNIT, [table]).fetchall()
    return found


def test_a_path_of_any_length_is_shown_as_it_was_given(shop: Connection) -> None:
    shop.execute(ITEMS)
    shop.execute(COMPLAINTS)
    assert unit(shop, "shop.orders") == "customer_id"
    assert unit(shop, "shop.item") == "order_id -> shop.orders.customer_id"
    assert unit(shop, "shop.complaint") == "item_id -> shop.item.order_id -> shop.orders.customer_id"


def test_it_follows_renames(shop: Connection) -> None:
    shop.execute(ITEMS)
    shop.execute(
        'ALTER TABLE shop.orders RENAME order_id TO "Order no"; ALTER TABLE shop.orders RENAME customer_id TO who'
    )
    shop.execute("ALTER TABLE shop.item RENAME order_id TO parent; ALTER TABLE shop.orders SET SCHEMA public")
    assert unit(shop, "shop.item") == "parent -> public.orders.who"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("order_id -> shop.orders.status", "the people of shop.orders are named by customer_id"),
        ("product_id -> shop.orders.customer_id", "no validated foreign key"),
        ("order_id -> shop.orders", "no way from a row to its person"),
        ("order_id -> orders.customer_id", "no way from a row to its person"),
        ("order_id -> shop.orders.nothing", "nothing"),
        ("nothing -> shop.orders.customer_id", "nothing"),
        ("order_id -> shop.nothing.customer_id", "there is no relation"),
        ("item_id -> shop.item.order_id -> shop.orders.customer_id", "no validated foreign key"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(shop: Connection, path: str, message: str) -> None:
    with pytest.raises(psycopg.Error, match=message):
        shop.execute("SELECT discreet.protect('shop.item', %s, 'customers', max_rows => 1)", [path])


def test_the_parent_is_protected_before(shop: Connection) -> None:
    with pytest.raises(psycopg.Error, match="item is not protected"):
        shop.execute(COMPLAINTS)


def test_it_has_the_budget_of_its_people(shop: Connection) -> None:
    shop.execute("SELECT discreet.create_dataset('others', 10)")
    with pytest.raises(psycopg.Error, match="which is protected in dataset"):
        shop.execute(ITEMS.replace("'customers'", "'others'"))


@pytest.mark.parametrize("policy", ["policy => 'personal', unit_epsilon => 1", "policy => 'audited'"])
def test_only_noisy_answers_follow_it(shop: Connection, policy: str) -> None:
    with pytest.raises(psycopg.Error, match="only policy 'noisy' can follow"):
        shop.execute(ITEMS.replace("max_rows => 30", f"max_rows => 30, {policy}"))


def test_the_key_of_a_parent_is_not_dropped(shop: Connection) -> None:
    shop.execute(ITEMS)
    with pytest.raises(psycopg.Error, match="names the people of a protected table"):
        shop.execute("ALTER TABLE shop.orders DROP COLUMN order_id CASCADE")
