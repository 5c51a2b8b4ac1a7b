"""People come, go and change; what they have spent stays theirs."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.databases import MakeRole
from tests.messages import refused
from tests.village import Village


def test_new_people_come_with_a_fresh_budget(village: Village) -> None:
    village.ask("SELECT count(*) FROM person", "0.6")
    village.admin.execute("INSERT INTO person VALUES ('dan', 40, 'A')")
    village.ask("SELECT count(*) FROM person", "0.6")
    assert village.left() == {
        "ann": Decimal("0.4"),
        "bob": Decimal("0.4"),
        "cid": Decimal("0.4"),
        "dan": Decimal("0.4"),
    }


def test_another_session_knows_people_who_came_after_its_first_question(village: Village) -> None:
    other = village.connect()
    village.ask("SELECT count(*) FROM person", connection=other)
    village.admin.execute("INSERT INTO person SELECT 'x' || n, n, 'A' FROM generate_series(1, 6000) n")
    village.ask("SELECT count(*) FROM person")
    village.ask("SELECT count(*) FROM person", connection=other)
    left = village.left()
    assert (len(left), left["ann"], left["x1"], left["x6000"]) == (6003, Decimal("0.7"), Decimal("0.8"), Decimal("0.8"))


def test_deleted_people_keep_their_history(village: Village) -> None:
    village.ask("SELECT count(*) FROM person", "0.7")
    village.admin.execute("DELETE FROM person WHERE name = 'ann'")
    village.ask("SELECT count(*) FROM person", "0.1")
    village.admin.execute("INSERT INTO person VALUES ('ann', 20, 'A')")
    village.ask("SELECT count(*) FROM person", "0.1")
    assert village.left() == {"ann": Decimal("0.2"), "bob": Decimal("0.1"), "cid": Decimal("0.1")}


def test_a_truncated_table_filled_again_has_the_same_people(village: Village) -> None:
    village.ask("SELECT count(*) FROM person", "0.7")
    village.admin.execute("TRUNCATE person; INSERT INTO person VALUES ('ann', 20, 'A'), ('bob', 30, '0')")
    village.ask("SELECT count(*) FROM person", "0.7")
    assert set(village.left().values()) == {Decimal("0.3")}


def test_unprotected_and_protected_again_they_have_what_they_had(village: Village) -> None:
    village.ask("SELECT count(*) FROM person", "0.7")
    village.admin.execute("SELECT discreet.unprotect('person')")
    village.admin.execute(
        "SELECT discreet.protect('person', 'name', 'people', policy => 'personal', unit_epsilon => 2)"
    )
    village.ask("SELECT count(*) FROM person", "0.1")
    assert set(village.left().values()) == {Decimal("1.2")}


def test_a_unit_of_another_type_names_the_same_people(village: Village) -> None:
    village.protect("someone", "id int", "VALUES (1), (2), (-3)")
    village.ask("SELECT count(*) FROM someone", 10)
    village.admin.execute("ALTER TABLE someone ALTER id TYPE text; INSERT INTO someone VALUES ('01')")
    village.ask("SELECT count(*) FROM someone", 10)
    assert village.left("someone") == {"1": 80, "2": 80, "-3": 80, "01": 90}
    village.admin.execute(
        "DELETE FROM someone WHERE id = '01'; ALTER TABLE someone ALTER id TYPE bigint USING id::bigint"
    )
    village.ask("SELECT count(*) FROM someone", 10)
    assert village.left("someone") == {"1": 70, "2": 70, "-3": 70, "01": 90}


def test_rows_without_a_person_take_no_part(rich_village: Village) -> None:
    rich_village.protect("someone", "id int, n int", "VALUES (1, 1), (NULL, 1), (2, 1)")
    assert rich_village.exact("SELECT count(*) FROM someone") == [{"count": 2}]


def test_people_whom_no_filter_selects_get_their_numbers_too(village: Village) -> None:
    """Otherwise the size of the ledger would tell how many are selected."""
    village.ask("SELECT count(*) FROM person WHERE age > 90")
    assert village.left() == {"ann": 1, "bob": 1, "cid": 1}
    village.ask("SELECT count(*) FROM (SELECT age FROM person WHERE age > 90) p")
    village.admin.execute("INSERT INTO person VALUES ('dan', 40, 'A')")
    village.ask("SELECT count(*) FROM (SELECT age FROM person WHERE age > 90) p")
    assert len(village.left()) == 4


@pytest.mark.parametrize(("given", "kept"), [("0.5", "0.5"), ("0.123456", "0.12345"), ("0", "0"), ("100", "100")])
def test_a_curator_sets_a_budget(village: Village, given: str, kept: str) -> None:
    village.admin.execute("SELECT discreet.set_personal_budget('person', 'ann', %s)", [Decimal(given)])
    village.ask("SELECT count(*) FROM person WHERE age > 90")
    assert village.left() == {"ann": Decimal(kept), "bob": 1, "cid": 1}


def test_a_date_names_a_person_whatever_the_style_of_the_curator(rich_village: Village) -> None:
    rich_village.protect("someone", "id date", "VALUES ('2001-02-03'), ('2001-03-02')")
    rich_village.admin.execute("SET DateStyle = 'SQL, DMY'")
    rich_village.admin.execute("SELECT discreet.set_personal_budget('someone', '2001-02-03', 0)")
    rich_village.ask("SELECT count(*) FROM someone", 1)
    assert rich_village.left("someone") == {"2001-02-03": 0, "2001-03-02": 99}


def test_another_budget_forgives_nothing(village: Village) -> None:
    village.ask("SELECT count(*) FROM person", "0.4")
    for budget, left in (("0.5", "0.1"), ("0.1", "0"), ("2", "1.6")):
        village.admin.execute("SELECT discreet.set_personal_budget('person', 'ann', %s)", [Decimal(budget)])
        assert village.left() == {"ann": Decimal(left), "bob": Decimal("0.6"), "cid": Decimal("0.6")}
    village.ask("SELECT count(*) FROM person", "0.7")
    assert village.left() == {"ann": Decimal("0.9"), "bob": Decimal("0.6"), "cid": Decimal("0.6")}


def test_a_budget_may_be_set_before_the_person_comes(village: Village) -> None:
    village.admin.execute("SELECT discreet.set_personal_budget('person', 'dan', 0.05)")
    village.admin.execute("INSERT INTO person VALUES ('dan', 40, 'A')")
    village.ask("SELECT count(*) FROM person")
    assert village.left() == {
        "ann": Decimal("0.9"),
        "bob": Decimal("0.9"),
        "cid": Decimal("0.9"),
        "dan": Decimal("0.05"),
    }


def test_a_budget_that_is_rolled_back_was_never_set(village: Village) -> None:
    village.ask("SELECT count(*) FROM person")
    village.admin.execute("BEGIN; SELECT discreet.set_personal_budget('person', 'ann', 5)")
    village.admin.execute("SELECT discreet.set_personal_budget('person', 'eve', 5); ROLLBACK")
    village.ask("SELECT count(*) FROM person")
    assert set(village.left().items()) == {(name, Decimal("0.8")) for name in ("ann", "bob", "cid")}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("'person', 'ann', 101", "22023", "not a personal budget"),
        ("'person', 'ann', -1", "22023", "not a personal budget"),
        ("'person', 'ann', 'NaN'", "22023", "not a personal budget"),
        ("'person', 'ann', NULL", "22023", "epsilon must not be NULL"),
        ("'person', NULL, 1", "22023", "unit_value must not be NULL"),
        ("NULL, 'ann', 1", "22023", "relation must not be NULL"),
        ("'other', '1', 1", "42809", "not protected by policy 'personal'"),
        ("'open', '1', 1", "42809", "not protected by policy 'personal'"),
        ("'counted', 'one', 1", "22023", "unit_value 'one' is no value of column \"id\""),
    ],
)
def test_a_budget_without_sense_is_refused(village: Village, arguments: str, code: str, message: str) -> None:
    village.protect("counted", "id int", "VALUES (1)")
    village.admin.execute(
        "CREATE TABLE other (id int); SELECT discreet.protect('other', 'id', epsilon => 1, max_rows => 1);"
        "CREATE TABLE open (id int)"
    )
    with refused(code, message, ""):
        village.admin.execute(f"SELECT discreet.set_personal_budget({arguments})".encode())


def test_curators_see_how_much_is_left_for_how_many(village: Village) -> None:
    village.admin.execute("INSERT INTO person SELECT 'x' || n, 50 + n % 2, 'A' FROM generate_series(1, 100) n")
    village.ask("SELECT count(*) FROM person WHERE age < 51", "0.25")
    village.ask("SELECT count(*) FROM person WHERE age = 50", "0.72")
    village.admin.execute("SELECT discreet.set_personal_budget('person', 'x1', 3)")
    rows = village.admin.execute("SELECT * FROM discreet.personal_status('person')").fetchall()
    tenths = [(Decimal(n) / 10, Decimal(n + 1) / 10 if n < 10 else None) for n in range(11)]
    counts = {0: 50, 7: 3, 10: 50}
    assert rows == [(low, high, counts.get(n, 0)) for n, (low, high) in enumerate(tenths)]


CURATORS_ONLY = ["set_personal_budget('person', 'ann', 1)", "personal_status('person')"]


@pytest.mark.parametrize("call", CURATORS_ONLY)
def test_analysts_may_neither_set_nor_see(village: Village, call: str) -> None:
    with refused("42501", "permission denied for function", None):
        village.nora.execute(f"SELECT discreet.{call}".encode())


@pytest.mark.parametrize("call", CURATORS_ONLY)
def test_curators_who_do_not_own_the_table_may_not_either(village: Village, make_role: MakeRole, call: str) -> None:
    stranger = village.database.connect(make_role("stan", "discreet_curator"))
    with refused("42501", "does not own public.person", ""):
        stranger.execute(f"SELECT discreet.{call}".encode())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("'t', 'id', 'mixed', policy => 'personal', unit_epsilon => 1", "has tables of policy 'noisy'"),
        ("'t', 'id', 'people'", "has tables of policy 'personal'"),
        ("'t', 'id', 'rho', policy => 'personal', unit_epsilon => 1", "its accounting is 'zcdp'"),
        ("'t', 'id', 'both', policy => 'personal', unit_epsilon => 1", "its neighbours are 'bounded'"),
        ("'t', 'place', policy => 'personal', unit_epsilon => 1", "column place of type double precision cannot name"),
        ("'t', 'spelled', policy => 'personal', unit_epsilon => 1", "column spelled of type text cannot name"),
        ("'t', 'id', policy => 'personal', unit_epsilon => 101", "unit_epsilon is 101"),
        ("'t', 'id', policy => 'personal', unit_epsilon => 0.000001", "not a personal budget"),
    ],
)
def test_a_table_that_cannot_have_personal_budgets_is_refused(village: Village, arguments: str, message: str) -> None:
    village.admin.execute(
        """
        CREATE COLLATION alike (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
        CREATE TABLE t (id int, place float8, spelled text COLLATE alike);
        CREATE TABLE u (id int);
        SELECT discreet.create_dataset('mixed', 1), discreet.create_dataset('rho', 1, 1e-6, 'zcdp'),
               discreet.create_dataset('both', 1, 0, 'pure', 'bounded'),
               discreet.protect('u', 'id', 'mixed', max_rows => 1);
        """
    )
    with refused("22023", message, ""):
        village.admin.execute(f"SELECT discreet.protect({arguments})".encode())


def test_without_a_dataset_one_is_made_whose_epsilon_is_the_personal_one(village: Village) -> None:
    village.admin.execute(
        "CREATE TABLE t (id int); SELECT discreet.protect('t', 'id', policy => 'personal', unit_epsilon => 0.5)"
    )
    made = village.admin.execute("SELECT epsilon_limit FROM discreet.datasets WHERE dataset = 'public.t'").fetchall()
    assert made == [(Decimal("0.5"),)]
