"""discreet.synthesize: what a synthetic table keeps of its source, and what it costs."""

from __future__ import annotations

from decimal import Decimal
from itertools import combinations

import psycopg
import pytest
from tests.database.synthesis.clinic import spent, value
from tests.databases import Connection, Database, MakeRole

SHAPE = """
    SELECT array_agg((a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull)::text ORDER BY a.attnum)
    FROM pg_attribute a WHERE a.attrelid = '{}'::regclass AND a.attnum > 0
"""


def test_a_synthetic_table_has_the_columns_and_constraints_of_its_source(clinic: Connection) -> None:
    report = value(
        clinic,
        "SELECT discreet.synthesize('clinic.patient', 'clinic.copy', 5, 1e-7, dependencies => ARRAY['zip -> city'])",
    )
    assert value(clinic, SHAPE.format("clinic.copy")) == value(clinic, SHAPE.format("clinic.patient"))
    rows = value(clinic, "SELECT count(*) FROM clinic.copy")
    assert report["tables"]['"clinic"."copy"']["rows"] == rows
    assert 3500 < rows < 4500
    assert value(clinic, "SELECT count(DISTINCT id) FROM clinic.copy") == rows
    cities = "SELECT max(n) FROM (SELECT count(DISTINCT city) n FROM clinic.copy GROUP BY zip) t"
    assert value(clinic, cities) == 1
    wrong = (
        "old <> (age >= 65) OR last_seen < first_seen OR age NOT BETWEEN 0 AND 110 OR weight NOT BETWEEN 30 AND 120"
        " OR note IS NOT NULL OR name NOT LIKE 'name %' OR email NOT LIKE 'person%@example.org'"
    )
    assert value(clinic, f"SELECT count(*) FROM clinic.copy WHERE {wrong}") == 0
    assert 0 < value(clinic, "SELECT count(*) FROM clinic.copy WHERE smoker IS NULL") < rows / 4
    assert spent(clinic) == (1, Decimal(5), Decimal("1e-7"))
    (model,) = report["models"]
    named = [tuple(each["columns"]) for each in (*model["measured"], *model["expected"]) if len(each["columns"]) == 2]
    attributes = model["attributes"]
    assert set(named) == set(combinations(attributes, 2)), "every pair has an error"
    assert all(0 <= each["error"] <= 1 for each in model["expected"])


def test_a_synthetic_table_is_close_to_its_source(clinic: Connection) -> None:
    """At epsilon 30 noise on a count has a scale far below 10: a share that is off by 0.05 is off by 200 of 4,000."""
    wanted = "ARRAY['id', 'zip', 'city', 'mood', 'age']"
    clinic.execute(f"SELECT discreet.synthesize('clinic.patient', 'clinic.copy', 30, 1e-6, {wanted})")
    shares = "SELECT zip, city, mood, count(*) / sum(count(*)) OVER () AS share FROM {} GROUP BY 1, 2, 3"
    apart = f"""
        SELECT max(abs(a.share - coalesce(b.share, 0)))
        FROM ({shares.format("clinic.patient")}) a LEFT JOIN ({shares.format("clinic.copy")}) b USING (zip, city, mood)
    """
    assert value(clinic, apart) < 0.05
    ages = "(SELECT avg(age) FROM clinic.patient) - (SELECT avg(age) FROM clinic.copy)"
    assert abs(value(clinic, f"SELECT {ages}")) < 3
    names = "FROM pg_attribute WHERE attrelid = 'clinic.copy'::regclass AND attnum > 0"
    assert value(clinic, f"SELECT string_agg(attname, ' ' ORDER BY attnum) {names}") == "id zip city age mood"


def test_linked_tables_have_new_keys_that_fit(clinic: Connection) -> None:
    both = "ARRAY['clinic.visit', 'clinic.patient'], ARRAY['visit_copy', 'patient_copy']"
    clinic.execute(f"SELECT discreet.synthesize({both}, 30, 1e-6)")
    assert value(clinic, SHAPE.format("clinic.visit_copy")) == value(clinic, SHAPE.format("clinic.visit"))
    people = value(clinic, "SELECT count(*) FROM clinic.patient_copy")
    visits = value(clinic, "SELECT count(*) FROM clinic.visit_copy")
    assert 3500 < people < 4500
    assert 5000 < visits < 7000
    assert value(clinic, "SELECT count(DISTINCT visit_id) FROM clinic.visit_copy") == visits
    lost = "SELECT count(*) FROM clinic.visit_copy WHERE patient_id NOT IN (SELECT id FROM clinic.patient_copy)"
    assert value(clinic, lost) == 0
    most = "SELECT max(n) FROM (SELECT count(*) n FROM clinic.visit_copy GROUP BY patient_id) t"
    assert value(clinic, most) == 3
    # smokers are those with n % 3 = 0, who were in ward lungs only
    share = """
        SELECT avg((v.ward = 'lungs')::int) FROM {} v JOIN {} p ON p.id = v.patient_id WHERE p.smoker
    """
    assert value(clinic, share.format("clinic.visit", "clinic.patient")) == 1
    assert value(clinic, share.format("clinic.visit_copy", "clinic.patient_copy")) > 0.8


def test_rows_of_a_person_stay_together_without_the_table_of_the_people(clinic: Connection) -> None:
    clinic.execute("SELECT discreet.synthesize('clinic.visit', 'clinic.visit_copy', 10, 1e-6)")
    assert value(clinic, "SELECT max(n) FROM (SELECT count(*) n FROM clinic.visit_copy GROUP BY patient_id) t") == 3
    assert 5000 < value(clinic, "SELECT count(*) FROM clinic.visit_copy") < 7000


@pytest.mark.parametrize("accounting", ["pure", "zcdp"])
def test_a_budget_is_charged_once_in_its_own_currency(clinic: Connection, curator: str, accounting: str) -> None:
    clinic.execute(f"""
        CREATE TABLE clinic.small (id int PRIMARY KEY, a boolean, b boolean NOT NULL);
        INSERT INTO clinic.small SELECT n, n % 2 = 0, n % 3 = 0 FROM generate_series(1, 100) n;
        SELECT discreet.create_dataset('small', 3, 1e-6, '{accounting}');
        SELECT discreet.protect('clinic.small', 'id', dataset => 'small');
        SELECT discreet.grant_budget('small', '{curator}', 3, 1e-6)
    """)
    clinic.execute("SELECT discreet.synthesize('clinic.small', 'clinic.small_copy', 2, rows => 50)")
    assert value(clinic, "SELECT count(*) FROM clinic.small_copy") == 50
    used = value(clinic, "SELECT epsilon_spent FROM discreet.budget_status WHERE dataset = 'small' AND role IS NULL")
    assert 1.99 < used <= 2


REFUSED = [
    ("'clinic.patient', 'clinic.visit', 1", "42710"),
    ("'clinic.patient', 'nowhere.copy', 1", "3F000"),
    ("'clinic.patient', 'a.b.c', 1", "22023"),
    ("'clinic.patient', 'copy', 0", "22023"),
    ("'clinic.patient', 'copy', 101", "22023"),
    ("'clinic.patient', 'copy', NULL", "22023"),
    ("'clinic.patient', 'copy', 1, 0.5", "22023"),
    ("'clinic.patient', 'copy', 1, columns => ARRAY['nothing']", "42703"),
    ("'clinic.patient', 'copy', 1, columns => '{}'", "22023"),
    ("'clinic.patient', 'copy', 1, rows => 0", "22023"),
    ("'clinic.patient', 'copy', 1, target => 'nothing'", "42703"),
    ("'clinic.patient', 'copy', 1, dependencies => ARRAY['zip']", "22023"),
    ("'clinic.patient', 'copy', 1, dependencies => ARRAY['age -> city']", "22023"),
    ("'clinic.patient', 'copy', 1, max_model_mb => 'NaN'", "22023"),
    ("ARRAY['clinic.patient', 'clinic.visit']::regclass[], ARRAY['copy'], 1", "22023"),
    ("ARRAY['clinic.visit', 'clinic.other']::regclass[], ARRAY['copy', 'copy2'], 1", "DP001"),
    ("'pg_catalog.pg_class', 'copy', 1", "DP001"),
    ("'clinic.bare', 'copy', 1", "DP005"),
]


@pytest.mark.parametrize(("arguments", "code"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused_costs_nothing(clinic: Connection, arguments: str, code: str) -> None:
    clinic.execute("""
        CREATE TABLE clinic.other (id int, x boolean);
        CREATE TABLE clinic.bare (id int PRIMARY KEY, x int);
        SELECT discreet.protect('clinic.other', 'id', dataset => 'clinic', max_rows => 2);
        SELECT discreet.protect('clinic.bare', 'id', dataset => 'clinic')
    """)
    with pytest.raises(psycopg.Error) as error:
        clinic.execute(f"SELECT discreet.synthesize({arguments})")
    assert error.value.sqlstate == code
    assert spent(clinic)[0] == 0
    assert value(clinic, "SELECT to_regclass('clinic.copy')") is None


def test_who_holds_no_budget_gets_no_table(clinic: Connection, database: Database, make_role: MakeRole) -> None:
    role = make_role("eve", "discreet_analyst")
    clinic.execute(f"GRANT USAGE ON SCHEMA clinic TO {role}")
    eve = database.connect(role)
    with pytest.raises(psycopg.Error) as error:
        eve.execute("SELECT discreet.synthesize('clinic.patient'::regclass, 'public.copy', 1)")
    assert error.value.sqlstate == "DP004"


def test_the_table_belongs_to_who_asked_and_is_written_with_their_rights(
    clinic: Connection, admin: Connection, database: Database, make_role: MakeRole
) -> None:
    role = make_role("ann", "discreet_analyst")
    clinic.execute(f"SELECT discreet.grant_budget('clinic', '{role}', 5, 1e-6)")
    clinic.execute(f"GRANT USAGE ON SCHEMA clinic TO {role}")
    ann = database.connect(role)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ann.execute("SELECT discreet.synthesize('clinic.visit'::regclass, 'clinic.copy', 1)")
    assert spent(clinic)[0] == 0
    admin.execute(f"CREATE SCHEMA own AUTHORIZATION {role}")
    ann.execute("SELECT discreet.synthesize('clinic.visit', 'own.copy', 1)")
    assert value(admin, "SELECT relowner::regrole::text FROM pg_class WHERE oid = 'own.copy'::regclass") == role
    assert value(ann, "SELECT count(*) > 0 FROM own.copy")


def test_a_rolled_back_table_stays_charged(clinic: Connection) -> None:
    with clinic.transaction(force_rollback=True):
        clinic.execute("SELECT discreet.synthesize('clinic.visit', 'clinic.copy', 1)")
    assert value(clinic, "SELECT to_regclass('clinic.copy')") is None
    assert spent(clinic) == (1, Decimal(1), Decimal(0))


@pytest.mark.parametrize("unit", ["uuid", "text", "smallint"])
def test_an_empty_table_of_any_people_gives_a_table_too(clinic: Connection, curator: str, unit: str) -> None:
    """Under bounded neighbours; that nobody is there must not show as an error."""
    clinic.execute(f"""
        CREATE TABLE clinic.nobody (who {unit} PRIMARY KEY, "Odd ""name" boolean, t numeric, CHECK (t <> 5));
        SELECT discreet.create_dataset('nobodies', 3, neighbours => 'bounded');
        SELECT discreet.protect('clinic.nobody', 'who', dataset => 'nobodies');
        SELECT discreet.describe_column('clinic.nobody', 't', -1, 1);
        SELECT discreet.grant_budget('nobodies', '{curator}', 3)
    """)
    clinic.execute("SELECT discreet.synthesize('clinic.nobody', 'clinic.nobody_copy', 1, rows => 20)")
    assert value(clinic, "SELECT count(DISTINCT who) FROM clinic.nobody_copy") == 20
    assert value(clinic, "SELECT count(*) FROM clinic.nobody_copy WHERE abs(t) > 1") == 0


@pytest.mark.parametrize("policy", ["policy => 'audited'", "policy => 'personal', unit_epsilon => 1"])
def test_other_policies_are_refused(clinic: Connection, curator: str, policy: str) -> None:
    clinic.execute(f"""
        CREATE TABLE clinic.other (id int PRIMARY KEY, x boolean);
        SELECT discreet.create_dataset('others', 3);
        SELECT discreet.protect('clinic.other', 'id', dataset => 'others', {policy});
        SELECT discreet.grant_budget('others', '{curator}', 3)
    """)
    with pytest.raises(psycopg.Error) as error:
        clinic.execute("SELECT discreet.synthesize('clinic.other', 'clinic.copy', 1)")
    assert error.value.sqlstate == "DP001"
    assert spent(clinic)[0] == 0
