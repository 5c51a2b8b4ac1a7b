"""Settings, search_path, roles and plans of one question left for the next one, of another session."""

from __future__ import annotations

import psycopg
import pytest
from tests.database.worker.asking import Town
from tests.databases import Connection, MakeRole

# two tables of one name; the noise of a count at epsilon 1 is beyond 40 with probability below e^-40
CROWDS = """
    SET client_min_messages = warning;
    CREATE SCHEMA few; CREATE SCHEMA many;
    GRANT USAGE ON SCHEMA few, many TO PUBLIC;
    CREATE TABLE few.crowd (id int PRIMARY KEY, at timestamptz NOT NULL DEFAULT '2024-01-01 23:30:00+00');
    CREATE TABLE many.crowd (LIKE few.crowd INCLUDING ALL);
    INSERT INTO few.crowd SELECT generate_series(1, 100);
    INSERT INTO many.crowd SELECT generate_series(1, 900);
    SELECT discreet.create_dataset('crowds', 100);
    SELECT discreet.protect('few.crowd', 'id', 'crowds'), discreet.protect('many.crowd', 'id', 'crowds');
    SELECT discreet.grant_budget('crowds', '{analyst}', 100);
"""
COUNT = "SELECT n FROM discreet.query('SELECT count(*) FROM crowd', 1, fresh => true) AS t(n bigint)"


@pytest.fixture
def crowds(town: Town, admin: Connection) -> Town:
    admin.execute(CROWDS.format(analyst=town.analyst).encode())
    return town


def counted(session: Connection) -> int:
    ((number,),) = session.execute(COUNT).fetchall()
    return int(number)


def test_names_mean_what_they_mean_to_the_session_that_asks(crowds: Town) -> None:
    few, many = crowds.asker("query()"), crowds.asker("query()")
    few.execute("SET search_path = few, many")
    many.execute("SET search_path = many, few")
    for _ in range(5):
        assert abs(counted(few) - 100) < 40
        assert abs(counted(many) - 900) < 40


def test_what_one_role_may_ask_another_may_not(crowds: Town, make_role: MakeRole) -> None:
    """The worker has planned the question a moment ago, for somebody else."""
    poor = crowds.database.connect(make_role("paul", "discreet_analyst"))
    rich = crowds.asker("query()")
    for session in (rich, poor):
        session.execute("SET search_path = few")
    for _ in range(5):
        counted(rich)
        with pytest.raises(psycopg.Error) as refused:
            counted(poor)
        assert refused.value.sqlstate == "DP004"


def test_a_wish_of_one_session_is_not_charged_to_another(crowds: Town, admin: Connection) -> None:
    modest, greedy = crowds.asker("query()"), crowds.asker("query()")
    modest.execute("SET discreet.epsilon = 0.25; SET search_path = few")
    greedy.execute("SET discreet.epsilon = 2; SET search_path = few")
    for _ in range(3):
        for session in (modest, greedy):
            session.execute("SELECT n FROM discreet.query('SELECT count(*) FROM crowd', fresh => true) AS t(n bigint)")
    charged = admin.execute("SELECT epsilon FROM discreet.charges WHERE dataset = 'crowds' ORDER BY id").fetchall()
    assert [float(epsilon) for (epsilon,) in charged] == [0.25, 2] * 3


def test_settings_of_a_session_do_not_reach_the_worker(crowds: Town) -> None:
    strange, plain = crowds.asker("query()"), crowds.asker("query()")
    strange.execute("SET search_path = few; SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'SQL, DMY'")
    strange.execute("SET standard_conforming_strings = off; SET extra_float_digits = -15; SET bytea_output = 'escape'")
    plain.execute("SET search_path = few")
    for _ in range(3):
        assert abs(counted(strange) - 100) < 40
        assert abs(counted(plain) - 100) < 40
    ((told,),) = plain.execute("SELECT discreet.explain('SELECT count(*) FROM crowd', 1)").fetchall()
    ((other,),) = strange.execute("SELECT discreet.explain('SELECT count(*) FROM crowd', 1)").fetchall()
    assert told == other
