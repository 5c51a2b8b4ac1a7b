"""From nothing to the first useful dashboard: whole schemas are proposed and adopted from the catalog."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import psycopg
import pytest
from dev.cluster import Cluster
from tests.database.adopt.schemas import CLINIC, DECISIONS, MAPPED
from tests.databases import Connection, Database, MakeRole, created
from tests.shop import TABLES

DECLARED = {
    "protected_tables": "unit, max_rows, max_groups, max_total_rows",
    "protected_columns": "column_name, lower, upper, categories, visibility",
}
Proposed = list[tuple[int, str, str, bool]]


@pytest.fixture
def carol(database: Database, admin: Connection, make_role: MakeRole) -> Connection:
    """A curator who owns what she makes."""
    role = make_role("carol", "discreet_curator")
    admin.execute(f"GRANT CREATE ON DATABASE {database.name} TO {role}")
    return database.connect(role)


@pytest.fixture
def analyst(database: Database, make_role: MakeRole) -> Callable[[Connection, str, str], Connection]:
    """After adopt(): grant_budget and GRANT USAGE, and an analyst's connection."""

    def granted(carol: Connection, dataset: str, schema: str) -> Connection:
        role = make_role("ana")
        carol.execute("SELECT discreet.grant_budget(%s, %s, 1.5, 1e-7)", (dataset, role))
        carol.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        return database.connect(role)

    return granted


def proposed(carol: Connection, person: str) -> Proposed:
    return carol.execute("SELECT * FROM discreet.propose(%s)", (person,)).fetchall()


def adopted(carol: Connection, person: str, epsilon: int = 3) -> Proposed:
    return carol.execute("SELECT * FROM discreet.adopt(%s, %s, 1e-6)", (person, epsilon)).fetchall()


def protected_units(carol: Connection) -> dict[str, str]:
    return dict(carol.execute("SELECT relation::text, unit FROM discreet.protected_tables ORDER BY 1").fetchall())


def test_three_statements_lead_from_nothing_to_a_dashboard(
    carol: Connection, analyst: Callable[[Connection, str, str], Connection]
) -> None:
    carol.execute(DECISIONS)
    adopted(carol, "dss.customer.c_custkey")
    ana = analyst(carol, "dss.customer", "dss")
    ((people,),) = ana.execute("SELECT count(*) FROM dss.customer").fetchall()
    assert 2500 < people < 3500
    segments = "SELECT c_mktsegment, count(*), avg(c_acctbal) FROM dss.customer GROUP BY 1"
    assert len(ana.execute(segments).fetchall()) == 5
    assert len(ana.execute("SELECT o_orderstatus, count(*) FROM dss.orders GROUP BY 1").fetchall()) == 3
    assert ana.execute("SELECT l_returnflag, sum(l_quantity) FROM dss.lineitem GROUP BY 1").fetchall()


def test_a_clinic_needs_three_statements(
    carol: Connection, analyst: Callable[[Connection, str, str], Connection]
) -> None:
    """An average of 3,000 ages is off by more than 10 with a probability below 1e-20.

    A month has 500 people. Its threshold is 250, and the scale of its noise 14, even with twice the limits of rows that
    are suggested: a month is missing with a probability below 1e-6.
    """
    carol.execute(CLINIC)
    steps = adopted(carol, "clinic.patient.id")
    assert protected_units(carol) == {
        "clinic.dose": "visit_id -> clinic.visit.patient_id",
        "clinic.patient": "id",
        "clinic.visit": "patient_id",
    }
    undecided = " ".join(statement for _, statement, _, decide in steps if decide)
    assert "discreet.protect('clinic.insurer', unit => NULL, policy => 'public')" in undecided
    ana = analyst(carol, "clinic.patient", "clinic")
    by_sex = ana.execute("SELECT sex, count(*), avg(age) FROM clinic.patient GROUP BY sex ORDER BY sex").fetchall()
    assert [sex for sex, _, _ in by_sex] == ["f", "m", "x"]
    ((age,),) = ana.execute("SELECT avg(age) FROM clinic.patient").fetchall()
    assert abs(float(age) - 49.5) < 10
    wards = ana.execute("SELECT ward, count(*), avg(cost) FROM clinic.visit GROUP BY ward").fetchall()
    assert {ward for ward, _, _ in wards} == {"surgery", "children", "emergency", "closed"}
    ana.execute("SET discreet.epsilon = 0.9")
    months = ana.execute("SELECT date_trunc('month', seen), count(*) FROM clinic.visit GROUP BY 1").fetchall()
    assert len(months) == 12
    ana.execute("RESET discreet.epsilon")
    ((dose,),) = ana.execute("SELECT avg(milligrams) FROM clinic.dose").fetchall()
    assert 1 <= dose <= 500
    for hidden in (
        "SELECT count(*) FROM clinic.patient WHERE phone LIKE '555%'",
        "SELECT min(notes) FROM clinic.visit",
    ):
        with pytest.raises(psycopg.Error) as refused:
            ana.execute(hidden.encode())
        assert str(refused.value.sqlstate).startswith("DP")


def test_the_shop_is_asked_after_it_was_adopted(
    carol: Connection, analyst: Callable[[Connection, str, str], Connection]
) -> None:
    """No column of the shop has a CHECK: counts and thresholded groups are what the catalog alone allows."""
    carol.execute(TABLES)
    adopted(carol, "shop.customer.customer_id", epsilon=10)
    ana = analyst(carol, "shop.customer", "shop")
    ana.execute("SET discreet.epsilon = 0.2")
    ((people,),) = ana.execute("SELECT count(*) FROM shop.customer").fetchall()
    # noise of scale 5: beyond 150 with a probability of exp(-30)
    assert abs(people - 300) < 150
    ((orders,),) = ana.execute("SELECT count(*) FROM shop.orders JOIN shop.customer USING (customer_id)").fetchall()
    assert orders is not None
    with pytest.raises(psycopg.Error) as unbounded:
        ana.execute("SELECT avg(balance) FROM shop.customer")
    assert unbounded.value.sqlstate == "DP005"
    carol.execute("SELECT discreet.describe_column('shop.customer', 'balance', lower => -500, upper => 1500)")
    ((balance,),) = ana.execute("SELECT avg(balance) FROM shop.customer").fetchall()
    assert -500 <= balance <= 1500
    with pytest.raises(psycopg.Error) as single:
        ana.execute("SELECT phone FROM shop.customer WHERE customer_id = 1")
    assert str(single.value.sqlstate).startswith("DP")


def described(ana: Connection, question: str) -> list[str]:
    """The groups of an answer."""
    return sorted(str(group) for group, _ in ana.execute(question.encode()).fetchall())


@pytest.mark.parametrize("type_name", ["clinic.years", "int"])
def test_a_domain_is_a_declaration(
    carol: Connection, analyst: Callable[[Connection, str, str], Connection], type_name: str
) -> None:
    carol.execute(CLINIC)
    carol.execute(f"ALTER TABLE clinic.patient ALTER age TYPE {type_name}".encode())
    carol.execute("SELECT discreet.protect('clinic.patient', 'id', epsilon => 3, delta => 1e-6)")
    ana = analyst(carol, "clinic.patient", "clinic")
    question = "SELECT avg(age) FROM clinic.patient"
    if type_name == "int":
        with pytest.raises(psycopg.Error) as unbounded:
            ana.execute(question.encode())
        assert unbounded.value.sqlstate == "DP005"
    else:
        ((age,),) = ana.execute(question.encode()).fetchall()
        assert 0 <= age <= 120


@pytest.mark.parametrize("type_name", ["clinic.ward", "text"])
def test_an_enum_is_a_declaration(
    carol: Connection, analyst: Callable[[Connection, str, str], Connection], type_name: str
) -> None:
    """A label that no row has is a group, where the type has it."""
    carol.execute(CLINIC)
    carol.execute(f"ALTER TABLE clinic.visit ALTER ward TYPE {type_name}".encode())
    carol.execute("SELECT discreet.protect('clinic.visit', 'patient_id', epsilon => 3, delta => 1e-6, max_rows => 3)")
    ana = analyst(carol, "clinic.visit", "clinic")
    groups = described(ana, "SELECT ward, count(*) FROM clinic.visit GROUP BY ward")
    assert ("closed" in groups) == (type_name == "clinic.ward")
    assert {"surgery", "children", "emergency"} <= set(groups)


@pytest.mark.parametrize("public", [True, False])
def test_keys_of_a_public_parent_are_groups(
    carol: Connection, analyst: Callable[[Connection, str, str], Connection], public: bool
) -> None:
    carol.execute(CLINIC)
    carol.execute("SELECT discreet.protect('clinic.patient', 'id', epsilon => 3, delta => 1e-6)")
    if public:
        carol.execute("SELECT discreet.protect('clinic.insurer', unit => NULL, policy => 'public')")
    ana = analyst(carol, "clinic.patient", "clinic")
    groups = described(ana, "SELECT insurer, count(*) FROM clinic.patient GROUP BY insurer")
    assert groups == (["a", "b", "c", "none"] if public else ["a", "b", "c"])


def test_constraints_are_declarations(carol: Connection) -> None:
    carol.execute(DECISIONS)
    adopted(carol, "dss.customer.c_custkey")
    declared = {
        (name, column): (lower, upper, categories and len(categories), visibility)
        for name, column, lower, upper, categories, visibility in carol.execute(
            "SELECT relation::text, column_name, lower, upper, categories, visibility FROM discreet.protected_columns"
        )
    }
    assert declared["dss.customer", "c_acctbal"] == (-1000, 10000, None, "sensitive")
    assert declared["dss.customer", "c_mktsegment"] == (None, None, 5, "sensitive")
    assert declared["dss.orders", "o_orderdate"] == (8035, 10591, None, "sensitive")
    assert declared["dss.lineitem", "l_discount"] == (0, Decimal("9.99"), None, "sensitive")
    assert {column for (_, column), said in declared.items() if said[3] == "hidden"} == {
        "c_name", "c_address", "c_phone", "c_comment", "o_comment",
    }  # fmt: skip


def test_adopting_again_does_and_pays_nothing(carol: Connection) -> None:
    carol.execute(TABLES)
    adopted(carol, "shop.customer.customer_id")
    charges = carol.execute("SELECT count(*), sum(epsilon) FROM discreet.charges").fetchone()
    assert charges == (4, Decimal("0.3"))
    assert not [step for step in adopted(carol, "shop.customer.customer_id") if not step[3]]
    assert carol.execute("SELECT count(*), sum(epsilon) FROM discreet.charges").fetchone() == charges


def test_only_what_is_new_is_proposed_later(carol: Connection) -> None:
    carol.execute(TABLES)
    adopted(carol, "shop.customer.customer_id")
    carol.execute("ALTER TABLE shop.customer ADD email text")
    carol.execute(
        "CREATE TABLE shop.visit (id int PRIMARY KEY, customer_id int UNIQUE NOT NULL REFERENCES shop.customer)"
    )
    clear = [statement for _, statement, _, decide in proposed(carol, "shop.customer.customer_id") if not decide]
    assert clear == [
        "SELECT discreet.describe_column('shop.customer', 'email', visibility => 'hidden');",
        "SELECT discreet.protect('shop.visit', unit => 'customer_id', dataset => 'shop.customer');",
    ]
    adopted(carol, "shop.customer.customer_id")
    assert "shop.visit" in protected_units(carol)


def test_the_script_of_what_is_clear_runs_as_it_is(carol: Connection) -> None:
    for script, person in ((TABLES, "shop.customer.customer_id"), (MAPPED, 'app."user".id')):
        carol.execute(script)
        for _, statement, _, decide in proposed(carol, person):
            if not decide:
                carol.execute(statement.encode())
        assert not [each for each in proposed(carol, person) if not each[3]]


def test_a_decision_is_one_statement(carol: Connection) -> None:
    carol.execute(TABLES)
    for _, statement, _, _ in proposed(carol, "shop.customer.customer_id"):
        carol.execute(statement.encode())
    assert protected_units(carol) == {
        "shop.complaint": "item_id -> shop.item.order_id -> shop.orders.customer_id",
        "shop.customer": "customer_id",
        "shop.event": "customer_id",
        "shop.item": "order_id -> shop.orders.customer_id",
        "shop.orders": "customer_id",
    }


def test_the_script_of_an_adoption_declares_the_same_elsewhere(
    carol: Connection, cluster: Cluster, template: str
) -> None:
    carol.execute(TABLES)
    done = adopted(carol, "shop.customer.customer_id")
    with created(cluster, "adopted_elsewhere", template) as elsewhere:
        other = elsewhere.connect()
        other.execute(TABLES)
        for _, statement, _, decide in done:
            if not decide:
                other.execute(statement.encode())
        for view, columns in DECLARED.items():
            declared = f"SELECT relation::text, {columns} FROM discreet.{view} ORDER BY 1, 2"
            assert other.execute(declared).fetchall() == carol.execute(declared).fetchall()


def test_sixty_tables_of_a_mapper(carol: Connection, analyst: Callable[[Connection, str, str], Connection]) -> None:
    carol.execute(MAPPED)
    tables = "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'app'::regnamespace"
    assert carol.execute(tables).fetchone() == (60,)
    steps = adopted(carol, 'app."user".id')
    # user, profile, and of each area five tables; the deferrable keys and follow(follower, followed) are decisions
    assert len(protected_units(carol)) == 2 + 7 * 5
    undecided = [statement for _, statement, _, decide in steps if decide and "policy => 'public'" not in statement]
    assert sum("NOT DEFERRABLE" in statement for statement in undecided) == 7
    assert sum("app.follow" in statement for statement in undecided) == 1
    assert sum("policy => 'public'" in statement for _, statement, _, decide in steps if decide) == 7 * 2
    assert not [statement for _, statement, _, _ in steps if "migration" in statement]
    (spent,) = carol.execute("SELECT sum(epsilon) FROM discreet.charges").fetchone() or (None,)
    assert spent is not None
    assert spent <= Decimal("0.3")
    ana = analyst(carol, "app.user", "app")
    plans = ana.execute('SELECT plan, count(*), avg(age) FROM app."user" GROUP BY 1 ORDER BY 1').fetchall()
    assert len(plans) == 3
    assert ana.execute("SELECT status, avg(rating) FROM app.billing GROUP BY 1").fetchall()


def test_what_fails_is_paid_by_nobody_and_declares_nothing(carol: Connection, admin: Connection) -> None:
    carol.execute(TABLES)
    # two categories that are equal in a collation: describe_column() refuses, after most of the work
    admin.execute("CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    carol.execute("ALTER TABLE shop.complaint ADD x text COLLATE ci CHECK (x IN ('a', 'A'))")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="the same value"):
        adopted(carol, "shop.customer.customer_id")
    assert carol.execute("SELECT count(*) FROM discreet.protected_tables").fetchone() == (0,)
    assert carol.execute("SELECT count(*) FROM discreet.datasets").fetchone() == (0,)
    assert carol.execute("SELECT count(*) FROM discreet.charges").fetchone() == (0,)


def test_a_rollback_takes_declarations_back_and_leaves_what_was_paid(database: Database, carol: Connection) -> None:
    carol.execute(TABLES)
    carol.autocommit = False
    adopted(carol, "shop.customer.customer_id")
    carol.rollback()
    carol.autocommit = True
    assert carol.execute("SELECT count(*) FROM discreet.protected_tables").fetchone() == (0,)
    assert carol.execute("SELECT epsilon_spent FROM discreet.budget_status").fetchone() == (Decimal("0.3"),)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="has epsilon 3"):
        adopted(carol, "shop.customer.customer_id", epsilon=4)
    adopted(carol, "shop.customer.customer_id")
    assert carol.execute("SELECT epsilon_spent FROM discreet.budget_status").fetchone() == (Decimal("0.6"),)


def test_nothing_becomes_public(carol: Connection) -> None:
    carol.execute(DECISIONS)
    adopted(carol, "dss.customer.c_custkey")
    assert carol.execute("SELECT count(*) FROM discreet.protected_tables WHERE policy = 'public'").fetchone() == (0,)


def test_proposals_read_no_row(carol: Connection) -> None:
    """The same catalog over other rows has the same proposal."""
    carol.execute(TABLES)
    before = proposed(carol, "shop.customer.customer_id")
    carol.execute("TRUNCATE shop.customer, shop.orders, shop.item, shop.complaint, shop.event")
    assert proposed(carol, "shop.customer.customer_id") == before


def test_only_curators_propose_and_adopt(database: Database, carol: Connection, make_role: MakeRole) -> None:
    carol.execute(TABLES)
    mallory = database.connect(make_role("mallory", "discreet_analyst"))
    for call in ("propose('shop.customer.customer_id')", "adopt('shop.customer.customer_id', 1, 0)"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            mallory.execute(f"SELECT discreet.{call}")


def test_a_curator_does_not_adopt_tables_of_others(database: Database, carol: Connection, make_role: MakeRole) -> None:
    carol.execute(TABLES)
    other = database.connect(make_role("dora", "discreet_curator"))
    assert not [each for each in proposed(other, "shop.customer.customer_id") if not each[3] and "protect(" in each[1]]
    adopted(other, "shop.customer.customer_id")
    assert protected_units(carol) == {}


def test_older_snapshots_cannot_adopt(carol: Connection) -> None:
    carol.execute(TABLES)
    carol.autocommit = False
    carol.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="isolation level"):
        adopted(carol, "shop.customer.customer_id")


@pytest.mark.parametrize("share", ["0", "-1", "1.5", "NaN"])
def test_a_share_is_a_part_of_the_budget(carol: Connection, share: str) -> None:
    carol.execute(TABLES)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="share"):
        carol.execute("SELECT discreet.adopt('shop.customer.customer_id', 1, 0, share => %s)", (share,))


def test_schemas_bound_what_is_looked_at(carol: Connection) -> None:
    carol.execute(TABLES)
    carol.execute("CREATE SCHEMA crm; CREATE TABLE crm.call (id int PRIMARY KEY, who int REFERENCES shop.customer)")
    everywhere = " ".join(statement for _, statement, _, _ in proposed(carol, "shop.customer.customer_id"))
    rows = carol.execute("SELECT statement FROM discreet.propose('shop.customer.customer_id', '{shop}')").fetchall()
    assert "crm.call" in everywhere
    assert "crm.call" not in " ".join(statement for (statement,) in rows)


def test_limits_over_a_path_are_suggested_before_anything_is_protected(carol: Connection) -> None:
    carol.execute(TABLES)
    carol.execute("SELECT discreet.create_dataset('people', 100)")
    way = "order_id -> shop.orders.customer_id"
    row = carol.execute("SELECT max_rows FROM discreet.suggest_rows('shop.item', %s, 'people', 50)", (way,)).fetchone()
    # people have up to 6 orders of up to 4 items
    assert row is not None
    assert 8 <= row[0] <= 20
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="no validated foreign key"):
        carol.execute(
            "SELECT * FROM discreet.suggest_rows('shop.item', 'product_id -> shop.orders.customer_id', 'people', 1)"
        )
