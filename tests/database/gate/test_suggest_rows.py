"""discreet.suggest_rows: limits for a table whose people have many rows, paid by the dataset.

At epsilon 20 each half has 10. The bin chosen is more than 0.1 * 20 (ln 49 + 18) < 5 ranks, times 20 for the
denominator of 95/100, from holding the rank wanted with probability below exp(-18) < 2e-8; noise of scale 0.1 exceeds 2
with probability exp(-20).
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from tests.database.gate.conftest import Asker
from tests.databases import MakeRole
from tests.messages import notices, refused

MANY = """
    CREATE TABLE hr.trip (who int, n int);
    -- of 2000 people 1800 have 1 to 4 rows, 150 have 10, and 50 have 700
    INSERT INTO hr.trip SELECT p, n FROM generate_series(1, 1800) p, generate_series(1, 1 + p % 4) n;
    INSERT INTO hr.trip SELECT p, n FROM generate_series(2001, 2150) p, generate_series(1, 10) n;
    INSERT INTO hr.trip SELECT p, n FROM generate_series(3001, 3050) p, generate_series(1, 700) n;
    INSERT INTO hr.trip SELECT NULL, n FROM generate_series(1, 5000) n;
    CREATE TABLE hr.never (who int);
    SELECT discreet.create_dataset('travellers', 100);
"""
AWAY = "DROP TABLE hr.trip, hr.never"
SPENT = "SELECT epsilon_spent FROM discreet.budget_status WHERE dataset = 'travellers' AND role IS NULL"


@pytest.fixture(scope="module")
def trips(gate_database: Asker) -> Iterator[Asker]:
    gate_database.admin.execute(MANY)
    yield gate_database
    gate_database.admin.execute(AWAY)


def spent(asker: Asker) -> Decimal:
    row = asker.admin.execute(SPENT).fetchone()
    assert row is not None
    return Decimal(row[0])


def test_nearly_everybody_keeps_all_rows(trips: Asker) -> None:
    before = spent(trips)
    told = notices(trips.admin)
    rows = trips.admin.execute("SELECT * FROM discreet.suggest_rows('hr.trip', 'who', 'travellers', 20)").fetchall()
    ((most, groups, total, cut),) = rows
    assert (most, groups, total) == (10, 10, 10)
    assert abs(cut - 50) <= 2
    assert spent(trips) == before + 20
    assert told[-1][1] == f"epsilon 20 spent; epsilon left for dataset travellers {100 - before - 20:f}"


def test_an_empty_table_has_a_proposal_too(trips: Asker) -> None:
    row = trips.admin.execute("SELECT max_rows >= 1 FROM discreet.suggest_rows('hr.never', 'who', 'travellers', 1)")
    assert row.fetchone() == (True,)


def test_the_hint_of_protect_is_the_call(trips: Asker) -> None:
    missing = "max_rows is missing: column who of hr.trip is not unique and NOT NULL"
    call = "SELECT * FROM discreet.suggest_rows('hr.trip', 'who', 'travellers', 0.1);"
    with refused("22023", missing, call):
        trips.admin.execute("SELECT discreet.protect('hr.trip', 'who', 'travellers')")


@pytest.mark.parametrize(
    ("arguments", "state", "message", "hint"),
    [
        ("'hr.trip', 'whom', 'travellers', 1", "42703", 'hr.trip has no column "whom"', "Its columns are: who, n."),
        ("'hr.trip', 'who', 'nobody', 1", "42704", 'there is no dataset "nobody"', "create_dataset"),
        ("'hr.trip', 'who', 'travellers', 0", "22023", "epsilon", ""),
        ("'hr.trip', 'who', 'travellers', NULL", "22023", "epsilon must not be NULL", "Give a value"),
        ("'hr.trip', 'who', 'travellers', 99.5", "DP003", "the budget of dataset travellers is exhausted", "left"),
    ],
)
def test_nothing_is_spent_on_what_is_refused(trips: Asker, arguments: str, state: str, message: str, hint: str) -> None:
    before = spent(trips)
    with refused(state, message, hint):
        trips.admin.execute(f"SELECT * FROM discreet.suggest_rows({arguments})")
    assert spent(trips) == before


def test_only_the_owner_of_a_table_is_told(trips: Asker, make_role: MakeRole) -> None:
    call = "SELECT * FROM discreet.suggest_rows('hr.trip', 'who', 'travellers', 1)"
    with refused("42501", "permission denied", None):
        trips.connection.execute(call)
    curator = trips.database.connect(make_role("other", "discreet_curator"))
    with refused("42501", "does not own hr.trip", "The owner of the table"):
        curator.execute(call)
