"""Keys of a table that a curator declared public are known groups of what references them: no threshold, no delta."""

from __future__ import annotations

from typing import Any

import pytest
from tests.database.gate.conftest import Asker
from tests.databases import Database, MakeRole
from tests.messages import refused

PEOPLE = """
    CREATE TABLE country (code text PRIMARY KEY, name text, continent int UNIQUE);
    INSERT INTO country VALUES ('CH', 'Switzerland', 1), ('DE', 'Germany', 2), ('NZ', 'New Zealand', 3);
    CREATE TABLE depot (id int PRIMARY KEY);
    INSERT INTO depot SELECT generate_series(1, 1001);
    CREATE TABLE person (id int PRIMARY KEY, country text REFERENCES country, depot int REFERENCES depot,
        kind text NOT NULL CHECK (kind IN ('a', 'b')), born varchar(2) REFERENCES country);
    INSERT INTO person SELECT n, (ARRAY['CH', 'DE', NULL])[1 + n % 3], n % 9 + 1, (ARRAY['a', 'b'])[1 + n % 2], 'CH'
    FROM generate_series(1, 3000) n;
"""
# noise of epsilon 10 on a count: beyond it with a probability of 1e-9
NOISE = 3
BY_COUNTRY = "SELECT country, count(*) FROM person GROUP BY country"


@pytest.fixture
def people(database: Database, make_role: MakeRole) -> Asker:
    """A dataset without delta, so that groups that are not known are refused; the countries are public."""
    asker = Asker(database, make_role("asker", "discreet_analyst"))
    asker.admin.execute(PEOPLE.encode())
    asker.admin.execute(
        "SELECT discreet.protect('person', 'id', epsilon => 1000),"
        " discreet.protect('country', NULL, policy => 'public'), discreet.protect('depot', NULL, policy => 'public')"
    )
    asker.admin.execute("SELECT discreet.grant_budget('public.person', %s, 1000)", [asker.role])
    asker.connection.execute("SET discreet.quiet = on; SET discreet.epsilon = 10")
    return asker


def groups(asker: Asker, question: str = BY_COUNTRY) -> dict[Any, Any]:
    return {row[0] if len(row) == 2 else row[:-1]: row[-1] for row in asker.plain(question)}


def told(asker: Asker) -> tuple[bool, list[str]]:
    ((from_store, caveats),) = asker.plain("SELECT from_store, caveats FROM discreet.last_answer")
    return from_store, list(caveats or [])


def test_a_foreign_key_has_the_keys_of_its_public_table_as_groups(people: Asker) -> None:
    found = groups(people)
    assert found.keys() == {"CH", "DE", "NZ", None}
    assert all(abs(found[key] - number) <= NOISE for key, number in {"CH": 1000, "DE": 1000, "NZ": 0}.items())
    assert told(people) == (False, [])
    assert groups(people, "SELECT country AS c, count(1) FROM person AS p GROUP BY 1 ORDER BY 2") == found
    assert told(people) == (True, [])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("SELECT c.code, count(*) FROM person p JOIN country c ON c.code = p.country GROUP BY c.code",
         {"CH", "DE", "NZ"}),
        ("SELECT country, kind, count(*) FROM person GROUP BY 1, 2",
         {(c, k) for c in ("CH", "DE", "NZ", None) for k in "ab"}),
        ("SELECT country, count(*) FROM person WHERE country <> 'DE' GROUP BY 1", {"CH", "NZ"}),
        ("SELECT c, count(*) FROM (SELECT country AS c FROM person) q GROUP BY c", {"CH", "DE", "NZ", None}),
        ("SELECT DISTINCT country, 1 FROM person", {"CH", "DE", "NZ", None}),
        ("SELECT c.continent, count(*) FROM person p JOIN country c ON c.code = p.country GROUP BY 1",
         {1, 2, 3, None}),
    ],
)  # fmt: skip
def test_however_it_is_asked(people: Asker, question: str, expected: set[Any]) -> None:
    assert groups(people, question).keys() == expected


@pytest.mark.parametrize(
    "question",
    [
        "SELECT depot, count(*) FROM person GROUP BY depot",  # more than 1000
        "SELECT born, count(*) FROM person GROUP BY born",  # of another type than the key
        "SELECT lower(country), count(*) FROM person GROUP BY 1",
        "SELECT c.name, count(*) FROM person p JOIN country c ON c.code = p.country GROUP BY 1",  # no key
    ],
)
def test_what_is_not_listed_is_not_known(people: Asker, question: str) -> None:
    with refused("DP001", "needs delta", ""):
        people.plain(question)


def test_only_what_a_curator_declared_public_counts(people: Asker) -> None:
    people.admin.execute("SELECT discreet.unprotect('country'); GRANT SELECT ON country TO PUBLIC")
    with refused("DP001", "needs delta", ""):
        people.plain(BY_COUNTRY)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE person DROP CONSTRAINT person_country_fkey",
        "ALTER TABLE person DROP CONSTRAINT person_country_fkey,"
        " ADD FOREIGN KEY (country) REFERENCES country NOT VALID",
        "ALTER TABLE person DISABLE TRIGGER ALL",
        "ALTER TABLE country ENABLE ROW LEVEL SECURITY",
    ],
)
def test_a_key_that_does_not_hold_lists_nothing(people: Asker, change: str) -> None:
    groups(people)
    people.admin.execute(change.encode())
    with refused("DP001", "needs delta", ""):
        people.plain(BY_COUNTRY)


def test_new_keys_are_new_groups(people: Asker) -> None:
    groups(people)
    people.admin.execute("INSERT INTO country VALUES ('JP', 'Japan', 4)")
    assert "JP" in groups(people)
    assert told(people) == (False, [])


def test_a_foreign_key_is_never_a_fact(people: Asker) -> None:
    """Somebody whose value no public row lists, as a superuser can make one, is in no group, and tells nothing."""
    people.admin.execute("SET session_replication_role = replica; INSERT INTO person VALUES (9999, 'XX', 1, 'a', 'CH')")
    assert groups(people).keys() == {"CH", "DE", "NZ", None}


def test_a_table_of_another_owner_can_list_groups(people: Asker, make_role: MakeRole) -> None:
    """Where the owner of the people's table may not read the public one, the question is asked without."""
    owner = make_role("owner", "discreet_curator")
    people.admin.execute(f"ALTER TABLE person OWNER TO {owner}".encode())
    with refused("DP001", "needs delta", ""):
        people.plain(BY_COUNTRY)
    people.admin.execute(f"GRANT SELECT ON country TO {owner}".encode())
    assert groups(people).keys() == {"CH", "DE", "NZ", None}


def test_explain_knows_the_groups(people: Asker) -> None:
    ((text,),) = people.plain(f"SELECT discreet.explain_text($${BY_COUNTRY}$$)")
    assert "every group is shown, also without people" in text
    assert "declare categories" not in text
