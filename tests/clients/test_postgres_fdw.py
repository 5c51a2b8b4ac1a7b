"""postgres_fdw: another database asks as the analyst, with the SQL that the foreign-data wrapper makes of its queries.

Aggregates that it sends over are answered privately; where it would fetch rows, it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from dev.cluster import Cluster
from tests.databases import Connection, created
from tests.office import ANALYST, CANARY, NOISE, Office

FOREIGN = """
    CREATE EXTENSION postgres_fdw;
    CREATE SERVER office FOREIGN DATA WRAPPER postgres_fdw
        OPTIONS (host '{socket}', port '{port}', dbname '{database}', use_remote_estimate '{estimate}');
    CREATE USER MAPPING FOR postgres SERVER office OPTIONS (user '{role}', password_required 'false');
    CREATE TYPE mood AS ENUM ('sad', 'glad');
    CREATE SCHEMA hr;
    CREATE TYPE hr.mood AS ENUM ('sad', 'glad');
    IMPORT FOREIGN SCHEMA hr FROM SERVER office INTO hr;
    CREATE TABLE city (dept text, mayor text);
    INSERT INTO city VALUES ('dept 1', 'Ann'), ('dept 2', 'Bob');
    CREATE FUNCTION here(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END';
"""

SENT = (
    "SELECT count(*) FROM hr.person",
    "SELECT count(*) FROM hr.person WHERE age > 30 AND dept = 'dept 1'",
    "SELECT dept, count(*) FROM hr.person GROUP BY dept",
    "SELECT dept, count(*) FROM hr.person GROUP BY dept HAVING count(*) > 100 ORDER BY dept",
    "SELECT dept, avg(salary), sum(age) FROM hr.person WHERE smoker GROUP BY dept",
    "SELECT count(*) FILTER (WHERE age > 40) FROM hr.person",
)
# by its estimate of costs the wrapper sends the aggregate, or fetches rows
SENT_OR_FETCHED = (
    "SELECT count(*) FROM hr.person p JOIN hr.visit v ON v.person_id = p.id",
    "SELECT c.mayor, s.n FROM city c JOIN (SELECT dept, count(*) AS n FROM hr.person GROUP BY dept) s USING (dept)",
    "SELECT dept, count(*) FROM hr.person GROUP BY ROLLUP (dept)",
    "SELECT DISTINCT dept FROM hr.person",
    "SELECT dept, n FROM (SELECT dept, count(*) AS n FROM hr.person GROUP BY dept) s WHERE here(n::int) > 0",
)
FETCHED = (
    "SELECT * FROM hr.person",
    "SELECT name, salary FROM hr.person WHERE id = 1000",
    "SELECT count(*) FROM hr.person WHERE here(age) > 30",
    "SELECT sum(here(age)) FROM hr.person",
    "SELECT array_agg(name ORDER BY here(age)) FROM hr.person",
    "SELECT count(*) FROM hr.person p JOIN city c USING (dept)",
    "SELECT row_number() OVER (ORDER BY salary), name FROM hr.person",
    "SELECT name FROM hr.person ORDER BY salary DESC LIMIT 1",
    "SELECT string_agg(name, ',') FROM hr.person",
    "SELECT p FROM hr.person p",
    "SELECT ctid FROM hr.person",
    "SELECT 1 FROM hr.person",
    "SELECT EXISTS (SELECT FROM hr.person WHERE name > 'b')",
    "CREATE TABLE stolen AS SELECT * FROM hr.person",
    "ANALYZE hr.person",
    "UPDATE hr.person SET salary = 0",
    "DELETE FROM hr.person RETURNING *",
    "INSERT INTO hr.visit VALUES (1, 1, 1)",
    "TRUNCATE hr.person",
)


@pytest.fixture(scope="module", params=["false", "true"], ids=["local estimates", "remote estimates"])
def elsewhere(cluster: Cluster, office_database: Office, request: pytest.FixtureRequest) -> Iterator[Connection]:
    with created(cluster, f"elsewhere_{request.param}") as database:
        connection = database.connect()
        name = office_database.database.name
        connection.execute(
            FOREIGN.format(
                socket=cluster.socket, port=cluster.port, database=name, role=ANALYST, estimate=request.param
            )
        )
        yield connection


@pytest.fixture
def foreign(office: Office, elsewhere: Connection) -> Connection:
    """A superuser of another database, for whom the foreign tables of the office are mapped to its analyst."""
    elsewhere.execute("SELECT postgres_fdw_disconnect_all()")
    return elsewhere


@pytest.mark.parametrize("query", SENT)
def test_an_aggregate_that_is_sent_over_is_answered(office: Office, foreign: Connection, query: str) -> None:
    rows = foreign.execute(query).fetchall()
    assert rows
    assert not CANARY.search(repr(rows))
    assert office.questions() == 1


@pytest.mark.parametrize("query", SENT_OR_FETCHED)
def test_what_the_wrapper_may_do_in_two_ways_shows_no_row(foreign: Connection, query: str) -> None:
    state: str | None = "DP"
    try:
        shown = repr(foreign.execute(query).fetchall())
    except psycopg.Error as error:
        shown, state = str(error), error.sqlstate
    assert (state or "").startswith("DP")
    assert not CANARY.search(shown)


def test_a_count_is_the_count_with_noise(office: Office, foreign: Connection) -> None:
    ((answer,),) = foreign.execute("SELECT count(*) FROM hr.person").fetchall()
    assert abs(int(str(answer)) - 2000) <= NOISE


@pytest.mark.parametrize("query", FETCHED)
def test_what_would_fetch_rows_is_refused(office: Office, foreign: Connection, query: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        foreign.execute(query)
    assert caught.value.sqlstate == "42501" or (caught.value.sqlstate or "").startswith("DP")
    assert not CANARY.search(str(caught.value))
    assert office.spent() == 0


def test_the_answer_is_the_same_on_both_ways(office: Office, foreign: Connection) -> None:
    """What the wrapper sends has the same canonical text: it is answered from the store."""
    with psycopg.connect(office.dsn, autocommit=True) as nora:
        query = "SELECT count(*) FROM hr.person WHERE age > 33"
        assert nora.execute(query).fetchall() == foreign.execute(query).fetchall()
    assert office.questions() == 1
