"""Proposals from a described catalog: who has which tables, what is clear, what a human must say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.adopt.catalog import Column, Person, Protection, Reference, Table, Tables
from discreet.adopt.columns import declared, words
from discreet.adopt.people import People
from discreet.adopt.proposal import Limits, Proposal, proposal
from discreet.core.errors import InvalidParameterError, UndefinedColumnError, UndefinedObjectError

PERSON = Person(("shop", "customer"), "id")


def column(name: str, type_name: str = "integer", **more: object) -> Column:
    return replace(Column(name, type_name, type_name, not_null=name == "id"), **more)  # type: ignore[arg-type]


def fk(name: str, parent: str, **more: object) -> Reference:
    return replace(Reference(f"{name}_fkey", ("shop", parent), (name,), ("id",)), **more)  # type: ignore[arg-type]


def table(name: str, *columns: Column, references: tuple[Reference, ...] = (), **more: object) -> Table:
    held = ["id", *(column for reference in references for column in reference.columns)]
    known = {each.name for each in columns}
    made = (*(column(each) for each in dict.fromkeys(held) if each not in known), *columns)
    return replace(Table("shop", name, made, frozenset(["id"]), references), **more)  # type: ignore[arg-type]


def tables(*listed: Table) -> Tables:
    return {each.key: each for each in listed}


CUSTOMER = table("customer", column("name", "text"), column("balance", "numeric"))
ORDERS = table("orders", references=(fk("customer_id", "customer"), fk("status_id", "status")))
ITEM = table("item", references=(fk("order_id", "orders"), fk("product_id", "product")))
SHOP = tables(
    CUSTOMER, ORDERS, ITEM, table("status"), table("product", references=(fk("kind_id", "kind"),)), table("kind")
)


def statements(found: Proposal, decide: bool) -> list[str]:
    return [step.statement for step in found.steps() if step.decide is decide]


def test_tables_with_one_way_to_the_person_are_protected_parents_first() -> None:
    found = proposal(SHOP, PERSON)
    units = [(each.table.name, each.way.unit) for each in found.about_people]
    assert units == [
        ("customer", "id"),
        ("orders", "customer_id"),
        ("item", "order_id -> shop.orders.customer_id"),
    ]


def test_the_script_without_decisions_needs_none_of_them() -> None:
    assert statements(proposal(SHOP, PERSON), decide=False) == [
        "SELECT discreet.create_dataset('shop.customer', epsilon => 1, delta => 1e-6);",
        "SELECT discreet.protect('shop.customer', unit => 'id', dataset => 'shop.customer');",
        "SELECT discreet.describe_column('shop.customer', 'name', visibility => 'hidden');",
    ]


def test_rows_per_person_and_lookups_are_decisions() -> None:
    decisions = statements(proposal(SHOP, PERSON), decide=True)
    assert sum("max_rows" in each for each in decisions) == 2
    public = [each for each in decisions if "'public'" in each]
    assert [each.split("'")[1] for each in public] == ["shop.status", "shop.product", "shop.kind"]


def test_limits_that_were_bought_are_no_decision() -> None:
    bought = {"shop.orders": Limits(8, 8, 8), "shop.item": Limits(20, 20, 20)}
    steps = proposal(SHOP, PERSON).steps(bought)
    settled = [step.statement for step in steps if not step.decide]
    assert any(
        "shop.orders" in each and "max_rows => 8, max_groups => 8, max_total_rows => 8" in each for each in settled
    )
    assert not any("max_rows" in step.statement for step in steps if step.decide)


def test_two_ways_to_a_person_are_a_decision_and_so_is_what_hangs_below() -> None:
    transfer = table("transfer", references=(fk("sender", "customer"), fk("receiver", "customer")))
    fee = table("fee", references=(fk("transfer_id", "transfer"),))
    found = proposal(tables(CUSTOMER, transfer, fee), PERSON)
    assert [each.table.name for each in found.clear] == ["customer"]
    reasons = {each.table.name: each.undecided for each in found.about_people}
    assert reasons["transfer"] is not None
    assert "receiver; sender" in reasons["transfer"]
    assert reasons["fee"] is not None


def test_a_column_that_names_somebody_else_is_hidden() -> None:
    employee = table("customer", references=(fk("manager_id", "customer"),))
    found = proposal(tables(employee), PERSON)
    (about,) = found.about_people
    assert [(each.column, each.description.visibility) for each in about.declarations] == [("manager_id", "hidden")]
    assert about.undecided is None


def test_rings_of_foreign_keys_end() -> None:
    one = table("one", references=(fk("two_id", "two"), fk("customer_id", "customer")))
    two = table("two", references=(fk("three_id", "three"),))
    three = table("three", references=(fk("one_id", "one"),))
    ways = People(tables(CUSTOMER, one, two, three), PERSON).ways
    assert [way.unit for way in ways["shop", "one"]] == ["customer_id"]
    assert [way.unit for way in ways["shop", "three"]] == ["one_id -> shop.one.customer_id"]
    assert [way.unit for way in ways["shop", "two"]] == ["three_id -> shop.three.one_id -> shop.one.customer_id"]


def test_the_order_of_tables_does_not_matter_in_rings() -> None:
    one = table("one", references=(fk("two_id", "two"), fk("customer_id", "customer")))
    two = table("two", references=(fk("one_id", "one"), fk("customer_id", "customer")))
    forward = People(tables(CUSTOMER, one, two), PERSON).ways
    backward = People(tables(two, one, CUSTOMER), PERSON).ways
    assert forward == backward
    assert len(forward["shop", "one"]) == len(forward["shop", "two"]) == 2


@pytest.mark.parametrize(
    ("broken", "mend"),
    [
        ({"deferrable": True}, "ALTER CONSTRAINT order_id_fkey NOT DEFERRABLE;"),
        ({"validated": False}, "VALIDATE CONSTRAINT order_id_fkey;"),
        ({"enforced": False}, None),
    ],
)
def test_a_key_that_does_not_always_hold_is_a_decision_with_its_mend(broken: dict[str, bool], mend: str | None) -> None:
    item = table("item", references=(fk("order_id", "orders", **broken),))
    found = proposal(tables(CUSTOMER, ORDERS, item), PERSON)
    (step,) = [step for step in found.steps() if "'shop.item'" in step.statement]
    assert step.decide
    assert ("ALTER TABLE shop.item" in step.statement) is (mend is not None)
    assert mend is None or mend in step.statement


def test_a_column_that_references_the_person_itself_needs_no_enforced_key() -> None:
    orders = table("orders", references=(fk("customer_id", "customer", deferrable=True),))
    assert [each.table.name for each in proposal(tables(CUSTOMER, orders), PERSON).clear] == ["customer", "orders"]


def test_keys_of_several_columns_lead_nowhere_but_to_the_person() -> None:
    orders = table("orders", references=(Reference("k", ("shop", "customer"), ("tenant", "who"), ("tenant", "id")),))
    line = table("line", references=(Reference("k", ("shop", "orders"), ("tenant", "order_id"), ("tenant", "id")),))
    found = proposal(tables(CUSTOMER, orders, line), PERSON)
    assert {each.table.name: each.undecided is None for each in found.about_people} == {
        "customer": True, "orders": True, "line": False,
    }  # fmt: skip


def test_one_row_for_each_person_needs_no_limits() -> None:
    profile = table("profile", column("customer_id", not_null=True), references=(fk("customer_id", "customer"),))
    profile = replace(profile, unique=frozenset(["id", "customer_id"]))
    (about,) = [
        each for each in proposal(tables(CUSTOMER, profile), PERSON).about_people if each.table.name == "profile"
    ]
    assert about.one_row


def test_what_is_declared_is_not_proposed_again() -> None:
    kept = Protection("people", "noisy", "id")
    done = [replace(each, declared=True) for each in CUSTOMER.columns]
    customer = replace(CUSTOMER, columns=tuple(done), protection=kept)
    orders = replace(ORDERS, protection=Protection("people", "noisy", "customer_id"))
    public = replace(table("status"), protection=Protection(None, "public", None))
    found = proposal(tables(customer, orders, public), PERSON, ["people"])
    assert found.steps() == []
    newer = replace(customer, columns=(*customer.columns, column("email", "text")))
    found = proposal(tables(newer, orders, public), PERSON, ["people"])
    assert [step.statement for step in found.steps()] == [
        "SELECT discreet.describe_column('shop.customer', 'email', visibility => 'hidden');"
    ]


def test_tables_of_others_are_left_to_them() -> None:
    orders = replace(ORDERS, owned=False)
    assert [each.table.name for each in proposal(tables(CUSTOMER, orders), PERSON).clear] == ["customer"]


DECLARED = [
    (column("age"), "lower => 0, upper => 120"),
    (column("discount", "numeric", written_type="numeric(3,2)"), "lower => -9.99, upper => 9.99"),
    (column("income", "numeric", written_type="numeric(12,2)"), None),
    (column("mood", "mood", built_in=False, labels=("sad", "glad")), "categories => ARRAY['sad', 'glad']"),
    (column("grade", checks=("((VALUE >= 1) AND (VALUE <= 5))",)), "lower => 1, upper => 5"),
    (column("smoker", "boolean"), None),
    (column("city", "text"), None),
    (column("mail", "text"), "visibility => 'hidden'"),
    (column("lastName", "text"), "visibility => 'hidden'"),
    (column("notes", "character varying"), "visibility => 'hidden'"),
    (column("extra", "jsonb"), "visibility => 'hidden'"),
    (column("seen_from", "inet"), "visibility => 'hidden'"),
    (column("shape", "geometry", built_in=False), "visibility => 'hidden'"),
    (column("latitude", "double precision"), "visibility => 'hidden'"),
    (column("x", "text", comment="Personal remark"), "visibility => 'hidden'"),
    (column("tags", "text[]"), "visibility => 'hidden'"),
]


@pytest.mark.parametrize(("held", "said"), DECLARED, ids=[each.name for each, _ in DECLARED])
def test_types_constraints_names_and_comments_declare_columns(held: Column, said: str | None) -> None:
    from discreet.adopt.proposal import described

    found = declared(table("t", held), held)
    assert (found and described(table("t"), found).removesuffix(");").split("', ", 1)[1].split(", ", 1)[1]) == said


def test_a_listed_text_is_a_category_whatever_its_name_is() -> None:
    held = column("file", "text", checks=("(VALUE = ANY (ARRAY['a'::text, 'b'::text]))",))
    found = declared(table("t", held), held)
    assert found is not None
    assert found.description.categories == ("a", "b")


def test_unique_texts_are_hidden() -> None:
    held = column("badge", "text")
    found = declared(replace(table("t", held), unique=frozenset(["badge"])), held)
    assert found is not None
    assert found.description.visibility == "hidden"


def test_words_of_names_are_found_in_every_style() -> None:
    assert {"first", "name"} <= words("first_name")
    assert {"first", "name"} <= words("firstName")
    assert "address" in words("addresses")
    assert "name" not in words("tournament")


def test_names_that_need_quotes_have_them() -> None:
    start = Table("My Shop", "user", (column("Id"),), frozenset(["Id"]))
    child = Table("My Shop", "order", (column("id"), column("User")), frozenset(["id"]),
                  (Reference("k", start.key, ("User",), ("Id",)),))  # fmt: skip
    leaf = Table("My Shop", "leaf", (column("id"), column("o")), frozenset(["id"]),
                 (Reference("k", child.key, ("o",), ("id",)),))  # fmt: skip
    found = proposal(tables(start, child, leaf), Person.parse('"My Shop"."user"."Id"'))
    text = "\n".join(step.statement for step in found.steps())
    assert """protect('"My Shop"."user"', unit => 'Id'""" in text
    assert """unit => 'o -> "My Shop"."order"."User"'""" in text


@pytest.mark.parametrize("person", ["customer", "shop.customer", "a.b.c.d", ""])
def test_a_person_is_a_column_of_a_table(person: str) -> None:
    with pytest.raises(InvalidParameterError):
        Person.parse(person)


def test_people_who_are_not_there_are_refused() -> None:
    with pytest.raises(UndefinedObjectError):
        proposal(SHOP, Person(("shop", "nobody"), "id"))
    with pytest.raises(UndefinedColumnError):
        proposal(SHOP, Person(("shop", "customer"), "nothing"))


def test_people_who_are_protected_otherwise_are_refused() -> None:
    for kept in (
        Protection("d", "noisy", "other"),
        Protection("d", "personal", "id"),
        Protection(None, "public", None),
    ):
        with pytest.raises(InvalidParameterError):
            proposal(tables(replace(CUSTOMER, protection=kept)), PERSON)
