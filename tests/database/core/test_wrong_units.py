"""A unit names the person of each row: one that names something else, as foreign keys show, is refused."""

from __future__ import annotations

from typing import Any

import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import notices, refused

SHOP = """
    CREATE SCHEMA shop;
    CREATE TABLE shop.customers (
        customer_id int PRIMARY KEY, email text UNIQUE, referrer int REFERENCES shop.customers);
    CREATE TABLE shop.orders (order_id int PRIMARY KEY, customer_id int NOT NULL REFERENCES shop.customers,
                              UNIQUE (order_id, customer_id));
    CREATE TABLE shop.shipments (shipment_id int PRIMARY KEY, order_id int REFERENCES shop.orders);
    CREATE TABLE shop.shipment_items (shipment_id int REFERENCES shop.shipments, article int);
    INSERT INTO shop.customers SELECT n FROM generate_series(1, 30) n;
    INSERT INTO shop.orders SELECT n, n % 3 + 1 FROM generate_series(1, 30) n;
    INSERT INTO shop.shipments SELECT n, n FROM generate_series(1, 30) n;
    GRANT USAGE ON SCHEMA shop TO PUBLIC;
    SELECT discreet.create_dataset('shop', 100, 1e-6);
"""
BY_CUSTOMER = "it references shop.orders, whose people are named by customer_id"


@pytest.fixture
def shop(admin: Connection) -> Connection:
    """Customers, their orders, the shipments of these, and what is in them; nothing is protected."""
    admin.execute(SHOP)
    return admin


@pytest.fixture
def nina(shop: Connection, database: Database, make_role: MakeRole) -> Connection:
    """An analyst with a budget for the people of the shop."""
    role = make_role("nina", "discreet_analyst")
    shop.execute(f"SELECT discreet.grant_budget('shop', '{role}', 100, 1e-6)")
    return database.connect(role)


def protect(connection: Connection, *tables: tuple[str, str]) -> None:
    for table, unit in tables:
        connection.execute("SELECT discreet.protect(%s, %s, 'shop', max_rows => 1)", [f"shop.{table}", unit])


def wrong_units(connection: Connection) -> list[tuple[Any, ...]]:
    found = "SELECT status, finding FROM discreet.check_installation() WHERE item = 'wrong units'"
    return connection.execute(found).fetchall()


CUSTOMERS = ("customers", "customer_id")
ORDERS = ("orders", "customer_id")


def test_the_unit_of_a_child_names_no_rows_of_a_table_of_people(shop: Connection) -> None:
    protect(shop, CUSTOMERS, ORDERS)
    hint = "Give the way to the person: unit => 'order_id -> shop.orders.customer_id'."
    with refused("22023", f"column order_id of shop.shipments does not name people: {BY_CUSTOMER}", hint):
        protect(shop, ("shipments", "order_id"))
    assert (
        shop.execute("SELECT FROM discreet.protected_tables WHERE relation = 'shop.shipments'::regclass").rowcount == 0
    )


def test_what_the_hint_says_works(shop: Connection) -> None:
    protect(shop, CUSTOMERS, ORDERS)
    shop.execute("ALTER TABLE shop.shipments ADD customer_id integer")
    shop.execute(
        "UPDATE shop.shipments s SET customer_id = o.customer_id FROM shop.orders o WHERE o.order_id = s.order_id"
    )
    with refused("22023", BY_CUSTOMER, "Give unit => 'customer_id', if that column names the person of each row."):
        protect(shop, ("shipments", "order_id"))
    shop.execute("ALTER TABLE shop.shipments ADD FOREIGN KEY (customer_id) REFERENCES shop.customers")
    protect(shop, ("shipments", "customer_id"))


def test_a_column_with_a_key_to_the_people_is_hinted_at(shop: Connection) -> None:
    protect(shop, CUSTOMERS, ORDERS)
    shop.execute("ALTER TABLE shop.shipments ADD recipient int REFERENCES shop.customers")
    with refused("22023", BY_CUSTOMER, "Give unit => 'recipient'"):
        protect(shop, ("shipments", "order_id"))


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE shop.shipments DROP CONSTRAINT shipments_order_id_fkey, "
        "ADD FOREIGN KEY (order_id) REFERENCES shop.orders NOT VALID",
        "ALTER TABLE shop.shipments DROP CONSTRAINT shipments_order_id_fkey, ADD customer int, "
        "ADD FOREIGN KEY (customer, order_id) REFERENCES shop.orders (customer_id, order_id)",
        "ALTER TABLE shop.shipments RENAME order_id TO customer_id",
        "ALTER TABLE shop.orders RENAME order_id TO o; ALTER TABLE shop.shipments RENAME order_id TO o",
    ],
    ids=["not valid", "several columns", "named like the person", "renamed"],
)
def test_however_the_key_is_written(shop: Connection, change: str) -> None:
    protect(shop, CUSTOMERS, ORDERS)
    shop.execute(change.encode())
    ((unit,),) = shop.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = 'shop.shipments'::regclass AND attnum = 2"
    ).fetchall()
    with refused("22023", BY_CUSTOMER, ""):
        protect(shop, ("shipments", str(unit)))


def test_a_key_of_several_columns_that_carries_the_person_is_right(shop: Connection) -> None:
    shop.execute(
        "CREATE TABLE shop.returns (order_id int, who int,"
        " FOREIGN KEY (order_id, who) REFERENCES shop.orders (order_id, customer_id))"
    )
    protect(shop, CUSTOMERS, ORDERS, ("returns", "who"))


def test_chains_of_keys_are_followed(shop: Connection) -> None:
    protect(shop, CUSTOMERS, ORDERS)
    with refused("22023", "references shop.shipments, which is not protected and references people of shop.customers",
                 "Protect shop.shipments first"):  # fmt: skip
        protect(shop, ("shipment_items", "shipment_id"))
    shop.execute("ALTER TABLE shop.shipments ADD UNIQUE (order_id)")
    shop.execute("CREATE TABLE shop.parcels (order_id int REFERENCES shop.shipments (order_id))")
    with refused("22023", f"column order_id of shop.parcels does not name people: {BY_CUSTOMER}", ""):
        protect(shop, ("parcels", "order_id"))


def test_a_chain_of_keys_that_ends_at_the_person_is_right(shop: Connection) -> None:
    shop.execute(
        "CREATE TABLE shop.vips (id int PRIMARY KEY REFERENCES shop.customers, sponsor int REFERENCES shop.customers)"
    )
    shop.execute("CREATE TABLE shop.gifts (vip int REFERENCES shop.vips)")
    protect(shop, CUSTOMERS, ("gifts", "vip"), ("vips", "id"))


def test_a_parent_that_is_not_protected_but_references_people(shop: Connection) -> None:
    protect(shop, CUSTOMERS)
    with refused("22023", "references shop.orders, which is not protected and references people of shop.customers",
                 "Protect shop.orders first, by the column that names its people."):  # fmt: skip
        protect(shop, ("shipments", "order_id"))


@pytest.mark.parametrize("parent", [ORDERS, CUSTOMERS])
def test_a_parent_that_is_protected_after_the_child(shop: Connection, parent: tuple[str, str]) -> None:
    protect(shop, ("shipments", "order_id"))
    with refused("22023", "column order_id of shop.shipments does not name people",
                 "First call discreet.unprotect('shop.shipments'); then protect it by another column."):  # fmt: skip
        protect(shop, parent)
    shop.execute("SELECT discreet.unprotect('shop.shipments')")
    protect(shop, parent)


def test_people_may_be_protected_after_what_references_them(shop: Connection) -> None:
    """Even where they reference it in turn."""
    shop.execute("ALTER TABLE shop.customers ADD last_order int REFERENCES shop.orders")
    protect(shop, ORDERS, CUSTOMERS)
    assert wrong_units(shop) == []


def test_a_unique_key_that_is_not_the_unit_of_the_people(shop: Connection) -> None:
    shop.execute("CREATE TABLE shop.letters (email text REFERENCES shop.customers (email))")
    protect(shop, CUSTOMERS)
    with refused(
        "22023",
        "references shop.customers, whose people are named by customer_id",
        "email -> shop.customers.customer_id",
    ):
        protect(shop, ("letters", "email"))


def test_a_unit_that_references_its_own_table(shop: Connection) -> None:
    with refused("22023", "column referrer of shop.customers does not name people: it references another column of "
                 "shop.customers", "Take the column that is referenced"):  # fmt: skip
        protect(shop, ("customers", "referrer"))
    protect(shop, CUSTOMERS)


PARTITIONED = """
    CREATE TABLE shop.sales (sale_id int, buyer int NOT NULL REFERENCES shop.customers, PRIMARY KEY (sale_id))
    PARTITION BY LIST (sale_id);
    CREATE TABLE shop.sales_1 PARTITION OF shop.sales FOR VALUES IN (1);
    CREATE TABLE shop.scans (sale int REFERENCES shop.sales{parent}, day int) PARTITION BY LIST (day);
    CREATE TABLE shop.scans_1 (day int, sale int);
    ALTER TABLE shop.scans ATTACH PARTITION shop.scans_1 FOR VALUES IN (1);
"""


@pytest.mark.parametrize("parent", ["", "_1"])
@pytest.mark.parametrize("child", ["scans", "scans_1"])
def test_partitions_on_either_side(shop: Connection, parent: str, child: str) -> None:
    shop.execute(PARTITIONED.format(parent=parent).encode())
    protect(shop, CUSTOMERS, ("sales", "buyer"))
    with refused("22023", f"column sale of shop.{child} does not name people", ""):
        protect(shop, (child, "sale"))


def test_a_key_of_a_partition_alone(shop: Connection) -> None:
    shop.execute("CREATE TABLE shop.scans (sale int, day int) PARTITION BY LIST (day)")
    shop.execute("CREATE TABLE shop.scans_1 (day int, sale int REFERENCES shop.orders)")
    shop.execute("ALTER TABLE shop.scans ATTACH PARTITION shop.scans_1 FOR VALUES IN (1)")
    protect(shop, CUSTOMERS, ORDERS)
    with refused("22023", f"column sale of shop.scans does not name people: {BY_CUSTOMER}", ""):
        protect(shop, ("scans", "sale"))


def test_tables_that_inherit(shop: Connection) -> None:
    shop.execute("CREATE TABLE shop.rush_orders (PRIMARY KEY (order_id)) INHERITS (shop.orders)")
    shop.execute("CREATE TABLE shop.couriers (order_id int REFERENCES shop.rush_orders)")
    shop.execute("CREATE TABLE shop.late () INHERITS (shop.couriers)")
    protect(shop, CUSTOMERS, ORDERS)
    for table in ("couriers", "late"):
        with refused("22023", f"column order_id of shop.{table} does not name people: {BY_CUSTOMER}", ""):
            protect(shop, (table, "order_id"))


def test_tables_that_inherit_from_what_all_have_in_common_are_no_people(shop: Connection) -> None:
    shop.execute("CREATE TABLE shop.thing (id int PRIMARY KEY)")
    shop.execute("CREATE TABLE shop.client (PRIMARY KEY (id)) INHERITS (shop.thing)")
    shop.execute("CREATE TABLE shop.bill (client int REFERENCES shop.client, PRIMARY KEY (id)) INHERITS (shop.thing)")
    protect(shop, ("client", "id"), ("bill", "client"))


def test_a_key_that_is_made_later_ends_all_questions(shop: Connection, nina: Connection) -> None:
    shop.execute("ALTER TABLE shop.shipments DROP CONSTRAINT shipments_order_id_fkey")
    protect(shop, CUSTOMERS, ORDERS, ("shipments", "order_id"))
    nina.execute("SELECT count(*) FROM shop.shipments")
    assert wrong_units(shop) == []
    shop.execute("ALTER TABLE shop.shipments ADD FOREIGN KEY (order_id) REFERENCES shop.orders NOT VALID")
    problem = f"column order_id of shop.shipments does not name people: {BY_CUSTOMER}"
    hint = "A curator has to protect shop.shipments anew, by the column that names the person of each row."
    for question in ("count(*) FROM shop.shipments", "count(*) FROM (SELECT 1 AS x FROM shop.shipments) s"):
        with refused("DP001", problem, hint):
            nina.execute(f"SELECT {question}".encode())
    nina.execute("SELECT count(*) FROM shop.orders")
    ((status, finding),) = wrong_units(shop)
    assert status == "problem"
    assert finding.startswith(f"{problem}; questions about shop.shipments are refused.")


def test_a_key_that_is_made_later_ends_dp_aggregates(shop: Connection) -> None:
    shop.execute("ALTER TABLE shop.shipments DROP CONSTRAINT shipments_order_id_fkey")
    shop.execute("ALTER TABLE shop.shipments ADD UNIQUE (order_id), ALTER order_id SET NOT NULL")
    protect(shop, CUSTOMERS, ORDERS, ("shipments", "order_id"))
    shop.execute("SELECT discreet.dp_count(*) FROM shop.shipments")
    shop.execute("ALTER TABLE shop.shipments ADD FOREIGN KEY (order_id) REFERENCES shop.orders")
    with refused("DP001", BY_CUSTOMER, "A curator has to protect the table anew"):
        shop.execute("SELECT discreet.dp_count(*) FROM shop.shipments")


@pytest.mark.parametrize("policy", ["policy => 'personal', unit_epsilon => 1", "policy => 'audited'"])
def test_every_policy_that_names_people_refuses_it(shop: Connection, policy: str) -> None:
    shop.execute("ALTER TABLE shop.shipments ADD UNIQUE (order_id), ALTER order_id SET NOT NULL")
    first = policy.replace("audited", "noisy")
    shop.execute(f"SELECT discreet.protect('shop.orders', 'customer_id', epsilon => 1, max_rows => 1, {first})")
    with refused("22023", BY_CUSTOMER, ""):
        shop.execute(
            f"SELECT discreet.protect('shop.shipments', 'order_id', dataset => 'shop.orders', {policy}, max_rows => 1)"
        )


def test_a_table_that_references_people_by_another_column_is_noticed(shop: Connection) -> None:
    protect(shop, CUSTOMERS, ORDERS)
    heard = notices(shop)
    protect(shop, ("shipments", "shipment_id"))
    assert [message for _, message, _ in heard] == [
        "rows of shop.shipments reference people of other protected tables, and its unit does not"
    ]


# -- who is the same person

APART = "name different people"
JOINED = [
    ("customers c JOIN shop.orders o ON c.customer_id = o.customer_id", None),
    ("orders a JOIN shop.orders b ON a.customer_id = b.customer_id", None),
    ("customers c JOIN shop.staff s ON c.customer_id = s.staff_id", "customers.customer_id and shop.staff.staff_id"),
    ("orders o JOIN shop.shifts s ON o.customer_id = s.staff", APART),
    ("customers c, shop.staff s WHERE c.customer_id = s.staff_id", APART),
    ("customers c LEFT JOIN shop.staff s ON c.customer_id = s.staff_id", APART),
    ("customers c JOIN shop.shipments s ON c.customer_id = s.shipment_id", APART),
    ("(SELECT customer_id AS x FROM shop.customers UNION ALL SELECT customer_id FROM shop.orders) u", None),
    ("(SELECT customer_id AS x FROM shop.customers UNION ALL SELECT staff_id FROM shop.staff) u", APART),
    # no key tells about the list: that it is in the dataset says who is in it
    ("customers c JOIN shop.list l ON c.customer_id = l.id", None),
    ("staff s JOIN shop.list l ON s.staff_id = l.id", None),
    ("customers c JOIN shop.list l ON c.customer_id = l.id JOIN shop.staff s ON s.staff_id = l.id", APART),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "refusal"), JOINED)
def test_people_are_the_same_unless_keys_tell_them_apart(
    shop: Connection, nina: Connection, rows: str, refusal: str | None
) -> None:
    shop.execute("CREATE TABLE shop.staff (staff_id int PRIMARY KEY)")
    shop.execute("CREATE TABLE shop.shifts (staff int REFERENCES shop.staff)")
    shop.execute("ALTER TABLE shop.orders ADD seller int REFERENCES shop.staff")
    shop.execute("CREATE TABLE shop.list (id int PRIMARY KEY)")
    protect(shop, CUSTOMERS, ("staff", "staff_id"), ORDERS, ("shifts", "staff"), ("list", "id"))
    protect(shop, ("shipments", "shipment_id"))
    question = f"SELECT count(*) FROM {rows if rows.startswith('(') else f'shop.{rows}'}".encode()
    if refusal is None:
        nina.execute(question)
    else:
        with refused("DP001", refusal, "a curator can say so by a foreign key, which may be NOT VALID"):
            nina.execute(question)


def test_a_key_that_is_not_valid_says_that_people_are_the_same(shop: Connection, nina: Connection) -> None:
    shop.execute("CREATE TABLE shop.details (id int PRIMARY KEY)")
    shop.execute("CREATE TABLE shop.history (id int REFERENCES shop.details)")
    protect(shop, CUSTOMERS, ("details", "id"), ("history", "id"))
    question = "SELECT count(*) FROM shop.customers c JOIN shop.history h ON c.customer_id = h.id"
    with refused("DP001", APART, "foreign key"):
        nina.execute(question)
    shop.execute("ALTER TABLE shop.details ADD FOREIGN KEY (id) REFERENCES shop.customers NOT VALID")
    nina.execute(question)


def test_partitions_and_children_hold_people_of_their_whole(shop: Connection, nina: Connection) -> None:
    shop.execute("CREATE TABLE shop.people (id int PRIMARY KEY) PARTITION BY LIST (id)")
    for number in (1, 2):
        shop.execute(f"CREATE TABLE shop.people_{number} PARTITION OF shop.people FOR VALUES IN ({number})")
        shop.execute(f"CREATE TABLE shop.notes_{number} (who int REFERENCES shop.people_{number})")
    shop.execute("CREATE TABLE shop.regulars (PRIMARY KEY (customer_id)) INHERITS (shop.customers)")
    shop.execute("CREATE TABLE shop.visits (who int REFERENCES shop.regulars)")
    protect(shop, ("people", "id"), ("notes_1", "who"), ("notes_2", "who"))
    protect(shop, CUSTOMERS, ("visits", "who"))
    nina.execute("SELECT count(*) FROM shop.notes_1 a JOIN shop.notes_2 b ON a.who = b.who")
    nina.execute("SELECT count(*) FROM shop.visits v JOIN shop.customers c ON v.who = c.customer_id")
