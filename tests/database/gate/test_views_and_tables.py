"""A question over a view that only filters and maps is the same measurement as over its table: it is paid once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dev.cluster import Cluster
from tests.database.gate.conftest import Asker
from tests.databases import created

PEOPLE = """
    CREATE TABLE person (id int PRIMARY KEY, age int NOT NULL, town text);
    INSERT INTO person SELECT n, n % 100, (ARRAY['a', 'b', NULL])[1 + n % 3] FROM generate_series(1, 3000) n;
    CREATE TABLE visit (person int REFERENCES person, day date, cost numeric);
    INSERT INTO visit SELECT n % 3000 + 1, date '2024-01-01' + n % 60, n % 50 FROM generate_series(1, 9000) n;
    CREATE VIEW stg_person AS SELECT id AS person_id, age AS years, upper(town) AS town, age * 2 AS twice FROM person;
    CREATE VIEW adults AS SELECT person_id, years, town FROM stg_person WHERE years >= 18;
    CREATE VIEW stg_visit AS SELECT person, day, cost FROM visit WHERE cost > 3;
    CREATE VIEW first_visits AS SELECT DISTINCT ON (person) person, day, cost FROM visit ORDER BY person, day;
    GRANT SELECT ON stg_person, adults, stg_visit, first_visits TO PUBLIC;
    SELECT discreet.create_dataset('people', 1000, 1e-3);
    SELECT discreet.protect('person', 'id', 'people'), discreet.protect('visit', 'person', 'people', max_rows => 5),
           discreet.describe_column('person', 'age', 0, 120), discreet.describe_column('visit', 'cost', 0, 50);
"""
SAME = [
    ("SELECT count(*) FROM person", "SELECT count(*) FROM stg_person"),
    ("SELECT avg(age) FROM person", "SELECT avg(years) FROM stg_person"),
    ("SELECT count(*) FROM person WHERE age >= 18", "SELECT count(*) FROM adults"),
    ("SELECT sum(age) FROM person WHERE age >= 18 AND age < 65", "SELECT sum(years) FROM adults WHERE years < 65"),
    ("SELECT upper(town), count(*) FROM person GROUP BY 1", "SELECT town, count(*) FROM stg_person GROUP BY town"),
    ("SELECT sum(age * 2) FROM person", "SELECT sum(twice) FROM stg_person"),
    ("SELECT avg(cost) FROM visit WHERE cost > 3", "SELECT avg(cost) FROM stg_visit"),
    ("SELECT count(*) FROM person", "SELECT count(*) FROM (SELECT * FROM (SELECT id, age FROM person) q) r"),
    ("SELECT count(*) FROM person p JOIN visit v ON v.person = p.id",
     "SELECT count(*) FROM (SELECT cost FROM person p JOIN visit v ON v.person = p.id) q"),
    ("SELECT count(*) FROM person p WHERE EXISTS (SELECT FROM visit v WHERE v.person = p.id AND cost > 9)",
     "SELECT count(*) FROM stg_person p WHERE EXISTS (SELECT FROM visit v WHERE v.person = p.person_id AND cost > 9)"),
]  # fmt: skip
OTHERS = [
    ("SELECT count(*) FROM person", "SELECT count(*) FROM adults"),
    ("SELECT sum(age) FROM person", "SELECT sum(twice) FROM stg_person"),
    ("SELECT count(*) FROM visit", "SELECT count(*) FROM first_visits"),
    ("SELECT count(*) FROM visit", "SELECT count(*) FROM stg_visit"),
    ("SELECT town, count(*) FROM person GROUP BY 1", "SELECT town, count(*) FROM stg_person GROUP BY town"),
    ("SELECT count(*) FROM person WHERE age > 20", "SELECT count(*) FROM stg_person WHERE twice > 20"),
]


@pytest.fixture(scope="module")
def viewer(cluster: Cluster, template: str) -> Iterator[Asker]:
    cluster.sql("CREATE ROLE viewer LOGIN IN ROLE discreet_analyst")
    with created(cluster, "views_and_tables", template) as database:
        asker = Asker(database, "viewer")
        asker.admin.execute(PEOPLE.encode())
        asker.admin.execute("SELECT discreet.grant_budget('people', %s, 1000, 1e-3)", [asker.role])
        asker.connection.execute("SET discreet.quiet = on")
        yield asker
    cluster.sql("DROP ROLE viewer")


def paid(asker: Asker, question: str) -> bool:
    before = len(asker.charges())
    asker.plain(question)
    return len(asker.charges()) > before


@pytest.mark.parametrize("both", SAME)
@pytest.mark.parametrize("first", [0, 1])
def test_the_same_question_is_paid_once(viewer: Asker, both: tuple[str, str], first: int) -> None:
    viewer.reset()
    assert paid(viewer, both[first])
    assert not paid(viewer, both[1 - first])
    assert viewer.plain(both[0]) == viewer.plain(both[1])


@pytest.mark.parametrize("both", OTHERS)
def test_another_question_is_another_measurement(viewer: Asker, both: tuple[str, str]) -> None:
    viewer.reset()
    assert paid(viewer, both[0])
    assert paid(viewer, both[1])
