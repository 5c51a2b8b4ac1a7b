"""Gate workers keep what names mean. Whatever changes it takes effect with the next question, in every session."""

from __future__ import annotations

import psycopg
import pytest
from tests.database.worker.asking import EPSILON, Town
from tests.databases import Connection

QUESTION = f"""
    SELECT * FROM discreet.query($$SELECT street, count(*), sum(h.badge) FROM town.hermit h
        JOIN town.street s ON s.id = h.badge / 1000 GROUP BY street$$, {EPSILON}, fresh => true)
        AS t(street text, people bigint, badges numeric)
"""
STREETS = """
    CREATE TABLE town.street (id bigint PRIMARY KEY, street text NOT NULL);
    INSERT INTO town.street SELECT n, 'street ' || n % 3 FROM generate_series(0, 100) n;
    SELECT discreet.protect('town.street', NULL, policy => 'public');
    SELECT discreet.unprotect('town.hermit');
    SELECT discreet.protect('town.hermit', 'id', 'hermits', max_rows => 5);
    SELECT discreet.describe_column('town.hermit', 'badge', 0, 1000000000);
    SELECT discreet.describe_column('town.street', 'street', categories => ARRAY['street 0', 'street 1', 'street 2']);
"""
# a change by another session, and the SQLSTATE of the next question
CHANGES = {
    "SELECT discreet.revoke_budget('hermits', '{analyst}')": "DP004",
    "SELECT discreet.describe_column('town.hermit', 'badge', visibility => 'hidden')": "DP001",
    "SELECT discreet.describe_column('town.hermit', 'badge')": "DP005",
    "SELECT discreet.unprotect('town.street'); ALTER TABLE town.street OWNER TO {reader}": "42704",
    "ALTER TABLE town.hermit RENAME TO recluse": "42704",
    "ALTER TABLE town.hermit RENAME COLUMN badge TO number": "DP001",
    "ALTER SCHEMA town RENAME TO city": "42704",
    "DROP TABLE town.street": "42704",
}


@pytest.fixture
def street(town: Town, admin: Connection) -> Connection:
    """A session whose question every worker knows."""
    admin.execute(STREETS)
    session = town.asker("query()")
    for _ in range(6):
        session.execute(QUESTION)
        error(session)
    return session


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen_by_the_next_question(town: Town, admin: Connection, street: Connection, change: str) -> None:
    admin.execute(change.format(analyst=town.analyst, reader=town.reader))
    for _ in range(3):
        with pytest.raises(psycopg.Error) as refused:
            street.execute(QUESTION)
        assert refused.value.sqlstate == CHANGES[change]


def error(session: Connection) -> float:
    """How exact a count is at a price."""
    (told,) = session.execute(
        "SELECT discreet.explain('SELECT count(*) FROM town.hermit', 0.5)->'outputs'->0->>'error_95'"
    ).fetchone() or (0,)
    return float(str(told))


def test_a_key_that_is_dropped_and_made_again_changes_the_noise_at_once(
    town: Town, admin: Connection, street: Connection
) -> None:
    one_row = error(street)
    admin.execute("ALTER TABLE town.hermit DROP CONSTRAINT hermit_pkey")
    five_rows = error(street)
    admin.execute("ALTER TABLE town.hermit ADD PRIMARY KEY (id)")
    assert error(street) == one_row < five_rows


def test_what_a_transaction_alters_itself_is_seen_in_it(town: Town, admin: Connection, street: Connection) -> None:
    """The curator asks before and after an ALTER of the same transaction, and after its savepoint is rolled back."""
    admin.execute("SELECT discreet.grant_budget('hermits', current_user::regrole, 10)")
    answer = "SELECT discreet.explain('SELECT count(*) FROM town.hermit') ? 'refused'"
    with admin.transaction(force_rollback=True):
        assert admin.execute(answer).fetchone() == (False,)
        with admin.transaction(force_rollback=True):
            admin.execute("ALTER TABLE town.hermit RENAME TO recluse")
            assert admin.execute(answer).fetchone() == (True,)
        assert admin.execute(answer).fetchone() == (False,)


def test_an_older_snapshot_is_not_answered_by_what_a_newer_one_saw(
    town: Town, admin: Connection, street: Connection
) -> None:
    """In the old snapshot a person has two rows; the key that was made since does not hold there."""
    admin.execute("ALTER TABLE town.hermit DROP CONSTRAINT hermit_pkey")
    admin.execute("INSERT INTO town.hermit SELECT 1, 1 FROM generate_series(1, 100)")
    with town.database.connect() as keeper:
        keeper.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        (snapshot,) = keeper.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
        admin.execute("DELETE FROM town.hermit WHERE id = 1 AND badge = 1")
        admin.execute("ALTER TABLE town.hermit ADD PRIMARY KEY (id)")
        for _ in range(6):
            newer = error(street)
        street.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        street.execute(f"SET TRANSACTION SNAPSHOT '{snapshot}'".encode())
        older = error(street)
        street.execute("ROLLBACK")
        again = error(street)
    assert newer == again
    assert older > newer


def test_groups_are_those_that_this_session_writes(town: Town, admin: Connection) -> None:
    """What a worker knows of a question, it knows from sessions that write dates in another way."""
    admin.execute("ALTER TABLE town.hermit ADD COLUMN born date NOT NULL DEFAULT '2000-02-01'")
    admin.execute(
        "SELECT discreet.describe_column('town.hermit', 'born', categories => ARRAY['2000-02-01', '2000-01-02'])"
    )
    question = (
        "SELECT born, n > 500 FROM discreet.query('SELECT born, count(*) FROM town.hermit GROUP BY born', 1,"
        " fresh => true) AS t(born date, n bigint) ORDER BY 1"
    )
    found = []
    for style in ("ISO, MDY", "German", "SQL, DMY", "ISO, MDY"):
        with town.asker("query()") as session:
            session.execute(f"SET DateStyle = '{style}'")
            found.append([(str(day), many) for day, many in session.execute(question)])
    assert found == [[("2000-01-02", False), ("2000-02-01", True)]] * len(found)


def test_a_session_puts_each_answer_together_as_its_question_says(town: Town) -> None:
    """It keeps the statement of the last answer, and no other."""
    session = town.asker("query()")
    shapes = {
        "SELECT count(*) FROM town.hermit": "bigint",
        "SELECT count(*) > 500 FROM town.hermit": "boolean",
        "SELECT 'n' || (count(*) > 500) FROM town.hermit": "text",
    }
    expected = {"bigint": True, "boolean": True, "text": "ntrue"}
    for _ in range(3):
        for sql, kind in shapes.items():
            for repeated in range(2):
                got = session.execute(
                    f"SELECT x {'> 500' if kind == 'bigint' else ''} FROM discreet.query($${sql}$$, 1,"
                    f" fresh => {bool(repeated)}) AS t(x {kind})"
                ).fetchone()
                assert got == (expected[kind],)
