"""Which columns are unique together: by the catalog, in whatever way it was declared."""

from __future__ import annotations

import pytest
from tests.database.gate.conftest import Asker
from tests.databases import Database, MakeRole

WHOLE_KEY = "SELECT count(*) FROM people WHERE a = 1 AND b = 'x'"
TEXT_ALONE = "SELECT count(*) FROM people WHERE b = 'x'"
WITH_NULL = "SELECT count(*) FROM people WHERE a = 1 AND b IS NULL"


@pytest.fixture
def people(database: Database, make_role: MakeRole) -> Asker:
    """An analyst who may ask about a table without unique columns but the unit."""
    asker = Asker(database, make_role("asker", "discreet_analyst"))
    asker.admin.execute("CREATE TABLE people (id int PRIMARY KEY, a int, b text, c int)")
    asker.admin.execute("SELECT discreet.create_dataset('people', 10)")
    asker.admin.execute("SELECT discreet.protect('people', 'id', dataset => 'people')")
    asker.admin.execute("SELECT discreet.grant_budget('people', %s, 10)", [asker.role])
    return asker


def verdict(asker: Asker, question: str) -> str | None:
    refusal = asker.explain(question).get("refused")
    return None if refusal is None else refusal["code"]


def test_columns_that_are_not_declared_unique_may_be_compared(people: Asker) -> None:
    assert verdict(people, WHOLE_KEY) is None


@pytest.mark.parametrize(
    "declared",
    [
        "ALTER TABLE people ADD UNIQUE (a, b)",
        "ALTER TABLE people ADD UNIQUE (b, a) DEFERRABLE INITIALLY DEFERRED",
        "CREATE UNIQUE INDEX ON people (a, b)",
        "CREATE UNIQUE INDEX ON people (a, b) INCLUDE (c)",
        "CREATE UNIQUE INDEX ON people (a, b) WHERE c > 0",
        "CREATE UNIQUE INDEX ON people (a, lower(b))",
        "CREATE UNIQUE INDEX ON people ((a::text || lower(b)))",
        "CREATE TABLE heirs (UNIQUE (a, b)) INHERITS (people)",
    ],
)
def test_what_is_unique_together_may_not_be_compared_together(people: Asker, declared: str) -> None:
    people.admin.execute(declared)
    assert verdict(people, WHOLE_KEY) == "DP002"
    assert verdict(people, TEXT_ALONE) is None
    assert verdict(people, WITH_NULL) is None


def test_nulls_that_are_not_distinct_are_unique_too(people: Asker) -> None:
    people.admin.execute("CREATE UNIQUE INDEX ON people (a, b) NULLS NOT DISTINCT")
    assert verdict(people, WITH_NULL) == "DP002"


@pytest.mark.parametrize(
    "declared",
    [
        "CREATE UNIQUE INDEX ON people (b)",
        "CREATE UNIQUE INDEX ON people (lower(b))",
        'CREATE UNIQUE INDEX ON people (lower(b) COLLATE "C") WHERE a > 0',
        "CREATE TABLE heirs (UNIQUE (b)) INHERITS (people)",
    ],
)
def test_a_column_that_is_unique_by_itself_names_people(people: Asker, declared: str) -> None:
    people.admin.execute(declared)
    assert verdict(people, TEXT_ALONE) == "DP002"
    assert verdict(people, "SELECT count(b) FROM people") is None


@pytest.mark.parametrize("declared", ["CREATE INDEX ON people (a, b)", "CREATE UNIQUE INDEX ON people (a, b, c)"])
def test_what_is_not_unique_may_be_compared(people: Asker, declared: str) -> None:
    people.admin.execute(declared)
    assert verdict(people, WHOLE_KEY) is None


def test_an_index_that_is_dropped_is_forgotten(people: Asker) -> None:
    people.admin.execute("CREATE UNIQUE INDEX together ON people (a, b)")
    assert verdict(people, WHOLE_KEY) == "DP002"
    people.admin.execute("DROP INDEX together")
    assert verdict(people, WHOLE_KEY) is None


def test_the_index_of_a_partitioned_table_counts(people: Asker) -> None:
    people.admin.execute(
        "CREATE TABLE sorted (id int NOT NULL, a int, b text, UNIQUE (a, b)) PARTITION BY LIST (a);"
        "CREATE TABLE sorted_1 PARTITION OF sorted FOR VALUES IN (1);"
        "SELECT discreet.protect('sorted', 'id', dataset => 'people', max_rows => 1)"
    )
    assert verdict(people, WHOLE_KEY.replace("people", "sorted")) == "DP002"
