"""Statistics that are computed from rows of all labels tell of those above.

At epsilon 100 noise moves a count with probability below 1e-40.
"""

from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection

COUNT = "SELECT * FROM discreet.query_json('SELECT count(*) FROM employee', 100)"
SECRET = [
    "INSERT INTO employee (name, salary) SELECT 'agent ' || n, 1 FROM generate_series(1, 20) n",
    "UPDATE employee SET salary = 90000 WHERE name = 'Smith'",
]


def test_statistics_of_the_owner_tell_where_labels_are_row_security(
    naive: Connection, low: Connection, high: Connection
) -> None:
    naive.execute(
        "CREATE FUNCTION naive_count() RETURNS bigint LANGUAGE sql SECURITY DEFINER"
        " AS 'SELECT count(*) FROM public.naive'"
    )
    try:
        before = low.execute("SELECT naive_count()").fetchall()
        high.execute("INSERT INTO naive (name, label) VALUES ('agent', 'S')")
        assert low.execute("SELECT naive_count()").fetchall() != before
    finally:
        naive.execute("DROP FUNCTION naive_count()")


def test_answers_come_from_what_the_label_of_the_asker_shows(statistics: Levels) -> None:
    probes = [
        COUNT,
        "SELECT * FROM discreet.query_json('SELECT count(*) FROM employee WHERE salary > 50000', 100)",
        "SELECT * FROM discreet.query_json('SELECT count(*) FROM employee WHERE tc = $$S$$', 100)",
    ]
    (_, rows), *_ = statistics.tell_nothing(SECRET, probes, who="asks_low")
    assert rows == [({"count": 1},)]
    assert statistics.at("asks_high").execute(COUNT).fetchall() == [({"count": 22},)]


def test_neither_set_role_nor_a_wish_changes_the_label(statistics: Levels) -> None:
    statistics.admin.execute("GRANT mls_asks_high TO mls_asks_low")
    try:
        session = statistics.at("asks_low")
        session.execute("SET ROLE mls_asks_high")
        assert session.execute(COUNT).fetchall() == [({"count": 1},)]
        assert "not below the clearance" in refusal(session, "SET discreet.level = 'S'")[1]
    finally:
        statistics.admin.execute("REVOKE mls_asks_high FROM mls_asks_low")


def test_an_answer_from_above_is_not_given_again_below(statistics: Levels) -> None:
    assert statistics.at("asks_high").execute(COUNT).fetchall() == [({"count": 2},)]
    assert statistics.at("asks_low").execute(COUNT).fetchall() == [({"count": 1},)]
    assert statistics.at("asks_high").execute(COUNT).fetchall() == [({"count": 2},)]


def test_a_session_that_was_answered_above_writes_nothing_below(statistics: Levels) -> None:
    session = statistics.at("asks_high")
    session.execute("SELECT discreet.explain('SELECT count(*) FROM employee')")
    assert "below what this session has read" in refusal(session, "SET discreet.level = 'U'")[1]
