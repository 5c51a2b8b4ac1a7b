"""A row that breaks its CHECK or its foreign key, as a superuser can make one, where these declare bounds or groups."""

from decimal import Decimal

import pytest
from tests.attacks.gate.asking import ask, number, protect
from tests.attacks.target import Target
from tests.databases import Connection

COLUMNS = """
    id int PRIMARY KEY, town text REFERENCES extra.town,
    pay numeric CHECK (pay >= 0 AND pay <= 100), kind text CHECK (kind IN ('a', 'b'))"""
ROWS = "SELECT n, 'Here', 50, 'a' FROM generate_series(1, 1000) n"
# the constraints hold by the catalog, and not of this row
BREAK = """
    ALTER TABLE extra.citizen DROP CONSTRAINT citizen_pay_check, DROP CONSTRAINT citizen_kind_check;
    SET session_replication_role = replica;
    INSERT INTO extra.citizen VALUES (7777, 'Nowhere', 1e12, 'alone');
    RESET session_replication_role;
    ALTER TABLE extra.citizen ADD CONSTRAINT p CHECK (pay >= 0 AND pay <= 100) NOT VALID,
        ADD CONSTRAINT k CHECK (kind IN ('a', 'b')) NOT VALID;
    UPDATE pg_constraint SET convalidated = true WHERE conname IN ('p', 'k')
"""
SUM = "SELECT sum(pay) AS pay FROM extra.citizen"
BY_KIND, BY_TOWN = (f"SELECT {key}, count(*) FROM extra.citizen GROUP BY {key}" for key in ("kind", "town"))


@pytest.fixture
def citizens(gated: Target) -> Target:
    gated.admin.execute("CREATE TABLE extra.town (town text PRIMARY KEY); INSERT INTO extra.town VALUES ('Here')")
    gated.admin.execute("SELECT discreet.protect('extra.town', NULL, policy => 'public')")
    protect(gated, "citizen", COLUMNS, ROWS)
    return gated


def test_whoever_takes_the_constraints_for_facts_tells_of_the_row(citizens: Target) -> None:
    citizens.admin.execute(BREAK)
    assert citizens.value(SUM) > 1e11
    assert citizens.value("SELECT count(DISTINCT kind) FROM extra.citizen") == 2


def test_the_value_is_clamped(citizens: Target, blind: Connection) -> None:
    citizens.admin.execute(BREAK)
    # the noise of one person, of scale 100 / 0.9: beyond thirty times of it with a probability of 1e-13
    assert abs(number(blind, SUM, "0.9") - 50_100) < Decimal(30 * 100 / 0.9)


@pytest.mark.parametrize(("question", "groups"), [(BY_KIND, {"a", "b", None}), (BY_TOWN, {"Here", None})])
def test_the_value_is_no_group(citizens: Target, blind: Connection, question: str, groups: set[str | None]) -> None:
    assert {row.get("kind", row.get("town")) for row in ask(blind, question, fresh=True)} == groups
    citizens.admin.execute(BREAK)
    assert {row.get("kind", row.get("town")) for row in ask(blind, question, fresh=True)} == groups
