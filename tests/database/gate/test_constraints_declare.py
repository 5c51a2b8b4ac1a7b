"""CHECK constraints, domains, enums and booleans count as declarations, never as facts; nobody has to repeat them."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.database.gate.conftest import Asker
from tests.databases import Database, MakeRole
from tests.messages import refused

PEOPLE = """
    CREATE TYPE tier AS ENUM ('gold', 'silver', 'tin');
    CREATE DOMAIN stars AS int CHECK (VALUE BETWEEN 1 AND 5);
    CREATE DOMAIN few AS stars CHECK (VALUE IN (1, 2));
    CREATE TABLE person (
        id int PRIMARY KEY CHECK (id > 0 AND id < 1000000), age int CHECK (age BETWEEN 0 AND 120), tier tier,
        stars stars, few few NOT NULL, kind text NOT NULL CHECK (kind IN ('a', 'b')),
        wide numeric CHECK (wide >= 0 AND wide <= 1000),
        vip boolean, seen date CHECK (seen >= '2024-01-01' AND seen <= '2024-12-31'), low int, high int,
        code text CHECK (code IN ('x', 'y')) NO INHERIT, CHECK (low > 0 AND low < 10 AND low < high));
    INSERT INTO person SELECT n, 2 + n % 100, (ARRAY['gold', 'silver', NULL])[1 + n % 3]::tier, 1 + n % 5, 1 + n % 2,
        (ARRAY['a', 'b'])[1 + n % 2], n % 1000, n % 2 = 0, date '2024-01-01' + n % 300, 1 + n % 3, 20, 'x'
    FROM generate_series(1, 3000) n;
"""
# with a chance of 1e-9 per number, noise of epsilon 10 on a count is not more than this
NOISE = 3


@pytest.fixture
def people(database: Database, make_role: MakeRole) -> Asker:
    """A dataset without delta, so that groups that are not known are refused."""
    asker = Asker(database, make_role("asker", "discreet_analyst"))
    asker.admin.execute(PEOPLE.encode())
    asker.admin.execute("SELECT discreet.protect('person', 'id', epsilon => 1000)")
    asker.admin.execute("SELECT discreet.grant_budget('public.person', %s, 1000)", [asker.role])
    asker.connection.execute("SET discreet.quiet = on; SET discreet.epsilon = 10")
    return asker


def caveats(asker: Asker) -> list[str]:
    ((found,),) = asker.plain("SELECT caveats FROM discreet.last_answer")
    return list(found or [])


def counted(asker: Asker, column: str) -> dict[Any, int]:
    return dict(asker.plain(f"SELECT {column}, count(*) FROM person GROUP BY 1"))


@pytest.mark.parametrize(
    ("column", "groups"),
    [
        ("tier", {"gold": 1000, "silver": 1000, "tin": 0, None: 1000}),
        ("few", {1: 1500, 2: 1500}),
        ("kind", {"a": 1500, "b": 1500}),
        ("vip", {True: 1500, False: 1500, None: 0}),
        ("discreet.bucket(wide, 500)", {0: 1500, 500: 1500, 1000: 0, None: 0}),
        ("coalesce(tier::text, 'none')", None),
    ],
)
def test_groups_are_known_by_type_and_checks(people: Asker, column: str, groups: dict[Any, int] | None) -> None:
    if groups is None:
        with refused("DP001", "needs delta", ""):
            counted(people, column)
        return
    found = counted(people, column)
    assert found.keys() == groups.keys()
    assert all(abs(found[key] - number) <= NOISE for key, number in groups.items())
    assert caveats(people) == []


@pytest.mark.parametrize("column", ["age", "stars", "few", "wide", "seen - date '2024-01-01'", "low"])
def test_bounds_are_known_by_domains_and_checks(people: Asker, column: str) -> None:
    ((mean,),) = people.plain(f"SELECT avg({column}) FROM person")
    ((truth,),) = people.truth(f"SELECT avg({column}) FROM person")
    ((columns, found),) = people.plain("SELECT columns, caveats FROM discreet.last_answer")
    # averages of 3000 values: a hundred times the error of 19 of 20
    assert abs(float(mean) - float(truth)) <= 100 * float(columns[0]["error_95"])
    assert found == []


@pytest.mark.parametrize("column", ["high", "low + high"])
def test_a_check_of_several_columns_says_nothing_of_them_alone(people: Asker, column: str) -> None:
    with refused("DP005", "high has no bounds", ""):
        people.plain(f"SELECT sum({column}) FROM person")


def test_constraints_that_do_not_hold_for_all_rows_declare_nothing(people: Asker) -> None:
    with refused("DP001", "needs delta", ""):
        counted(people, "code")  # NO INHERIT
    people.admin.execute("ALTER TABLE person ADD CHECK (code IN ('x', 'y')) NOT VALID")
    with refused("DP001", "needs delta", ""):
        counted(people, "code")
    people.admin.execute("ALTER TABLE person VALIDATE CONSTRAINT person_code_check1")
    assert counted(people, "code").keys() == {"x", "y", None}


def test_what_changes_is_followed(people: Asker) -> None:
    counted(people, "tier")
    people.admin.execute("ALTER TYPE tier ADD VALUE 'brass'")
    assert counted(people, "tier").keys() == {"gold", "silver", "tin", "brass", None}
    people.admin.execute("ALTER TABLE person DROP CONSTRAINT person_age_check")
    with refused("DP005", "age has no bounds", ""):
        people.plain("SELECT sum(age) FROM person")
    people.plain("SELECT sum(stars) FROM person")
    people.admin.execute("ALTER DOMAIN stars DROP CONSTRAINT stars_check")
    with refused("DP005", "stars has no bounds", ""):
        people.plain("SELECT sum(stars) FROM person")
    people.admin.execute("ALTER DOMAIN stars ADD CONSTRAINT few_stars CHECK (VALUE > 0 AND VALUE < 9)")
    people.plain("SELECT sum(stars) FROM person")


def test_a_curator_knows_better(people: Asker) -> None:
    people.admin.execute(
        "SELECT discreet.describe_column('person', 'age', 10, 20),"
        " discreet.describe_column('person', 'wide', -5, 5000),"
        " discreet.describe_column('person', 'kind', categories => '{a}'),"
        " discreet.describe_column('person', 'tier', categories => '{gold,silver}')"
    )
    people.plain("SELECT avg(age) FROM person")
    assert caveats(people) == ["values of age clamped to 10..20"]
    people.plain("SELECT avg(wide) FROM person")
    assert caveats(people) == []
    assert counted(people, "kind").keys() == {"a"}
    assert caveats(people) == ["values of kind outside its categories left out"]
    assert counted(people, "tier").keys() == {"gold", "silver", None}
    assert caveats(people) == ["values of tier outside its categories left out"]


def test_a_constraint_is_never_a_fact(people: Asker) -> None:
    """What a superuser makes of the catalog does not widen what a person adds to an answer."""
    people.admin.execute(
        "ALTER TABLE person DROP CONSTRAINT person_wide_check, DROP CONSTRAINT person_kind_check;"
        "INSERT INTO person VALUES (999999, 5, 'tin', 1, 1, 'elsewhere', 1e12, true, '2024-02-01', 1, 20, 'x');"
        "ALTER TABLE person ADD CONSTRAINT w CHECK (wide >= 0 AND wide <= 1000) NOT VALID,"
        " ADD CONSTRAINT k CHECK (kind IN ('a', 'b')) NOT VALID;"
        "UPDATE pg_constraint SET convalidated = true WHERE conname IN ('w', 'k');"
        "ALTER TABLE person ALTER low SET NOT NULL"  # which makes other sessions look again
    )
    ((total,),) = people.plain("SELECT sum(wide) FROM person")
    ((truth,),) = people.truth("SELECT sum(least(wide, 1000)) FROM person")
    # the noise of one clamped value, twenty-one times its scale: beyond it with a probability of 1e-9
    assert abs(float(total) - float(truth)) <= 21 * 1000 / 10
    assert counted(people, "kind").keys() == {"a", "b"}


def test_the_person_is_not_described_by_its_check(people: Asker) -> None:
    with refused("DP002", "singles out a person", ""):
        people.plain("SELECT sum(id) FROM person")
    with refused("DP002", "singles out a person", ""):
        people.plain("SELECT count(*) FROM person WHERE id = 7")


def test_a_day_and_a_whole_number_of_the_answer(people: Asker) -> None:
    days = "max(least(greatest(seen - date '2024-01-01', 0), 400))"
    with refused("DP001", "date pg_catalog.+ bigint", "around the answer"):
        people.plain(f"SELECT date '2024-01-01' + {days} FROM person")
    ((day,),) = people.plain(f"SELECT date '2024-01-01' + n FROM (SELECT {days} AS n FROM person) AS t")
    assert date(2024, 1, 1) <= day <= date(2024, 12, 31)


def test_the_hint_for_a_date_is_what_to_type(people: Asker) -> None:
    people.admin.execute("ALTER TABLE person DROP CONSTRAINT person_seen_check")
    with refused("DP005", "seen has no bounds", "least(greatest(value - date '2020-01-01', 0), 1500)"):
        people.plain("SELECT max(seen) FROM person")
    ((days,),) = people.plain("SELECT max(least(greatest(seen - date '2020-01-01', 0), 1500)) FROM person")
    assert 0 <= days <= 1500


def test_conditions_on_values_of_an_enum_that_can_be_null(people: Asker) -> None:
    assert dict(people.plain("SELECT tier, count(*) FROM person WHERE tier <> 'gold' GROUP BY 1")).keys() == {
        "silver",
        "tin",
    }
    ((number,),) = people.plain("SELECT count(*) FROM person WHERE tier = 'silver'")
    assert abs(number - 1000) <= NOISE
