"""pgaudit beside discreet: it logs who asked what, and not what the gate read for it; neither disturbs the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest
from dev.cluster import Cluster
from tests.databases import Row, throw_away_cluster

GROUPS = 34  # 33 of them are one person each, too few to be shown
PEOPLE = f"""
    SET client_min_messages = warning;
    CREATE EXTENSION pgaudit;
    CREATE EXTENSION discreet CASCADE;
    CREATE TABLE person (id int PRIMARY KEY, dept text NOT NULL);
    INSERT INTO person
    SELECT n, CASE WHEN n < {GROUPS} THEN 'rare ' || n ELSE 'many' END FROM generate_series(1, 1000) n;
    SELECT discreet.create_dataset('people', 10, 1e-6), discreet.protect('person', 'id', 'people');
    CREATE ROLE alice LOGIN;
    SELECT discreet.grant_budget('people', 'alice', 10, 1e-6);
    SELECT discreet.grant_budget('people', 'postgres', 10, 1e-6);
"""
SETTINGS = {
    "pgaudit.log": "read, write",
    "pgaudit.log_rows": "on",
    "pgaudit.log_relation": "on",
    "log_line_prefix": "<%u> ",
}
BY_DEPT = "SELECT dept, count(*) FROM person GROUP BY dept"
ENTRY = re.compile(
    r'^<(\w+)> LOG:  AUDIT: SESSION,\d+,\d+,(?:READ|WRITE),\w+,\w*,([\w.]*),"?(.*?)"?,<not logged>,(\d+)\s*$',
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Entry:
    """A statement that pgaudit has logged."""

    role: str
    relation: str
    text: str
    rows: int


@pytest.fixture(scope="module", params=["discreet,pgaudit", "pgaudit,discreet"])
def audited(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[Cluster]:
    if cluster.sql("SELECT count(*) FROM pg_available_extensions WHERE name = 'pgaudit'") == "0":
        pytest.skip("pgaudit is not installed (Debian: postgresql-15-pgaudit)")
    with throw_away_cluster(shared_preload_libraries=request.param, **SETTINGS) as running:
        running.sql(PEOPLE)
        yield running


def asked(cluster: Cluster, role: str, *statements: str) -> tuple[list[Row], list[Entry]]:
    """The rows of the last statement, or none where it is refused, and what pgaudit logs of them all."""
    log = cluster.folder / "log"
    before = len(log.read_text())
    rows: list[Row] = []
    with psycopg.connect(cluster.dsn(user=role), autocommit=True) as connection:
        connection.execute("SET discreet.epsilon = 1")
        for statement in statements:
            try:
                rows = connection.execute(statement).fetchall()
            except psycopg.Error:
                rows = []
    found = ENTRY.findall(log.read_text()[before:])
    return rows, [Entry(who, relation, text, int(count)) for who, relation, text, count in found]


def test_questions_are_answered_and_what_was_sent_is_logged(audited: Cluster) -> None:
    rows, entries = asked(audited, "alice", BY_DEPT)
    ((dept, count),) = rows
    # noise of scale 1: off by more than 30 with less than 1e-12
    assert (dept, abs(int(str(count)) - (1000 - GROUPS + 1)) <= 30) == ("many", True)
    # with the number of rows that she got
    assert Entry("alice", "", BY_DEPT, 1) in entries


def test_what_the_session_runs_for_the_gate_is_logged_under_who_asks_and_the_ledger_is_not(audited: Cluster) -> None:
    _, entries = asked(audited, "alice", "SELECT count(*) FROM person")
    assert {entry.role for entry in entries} == {"alice"}
    texts = [entry.text for entry in entries]
    assert len(texts) > 1, "the statement of the asker and those of the gate"
    assert not any("_ledger" in text for text in texts)


def test_how_many_rows_were_read_for_an_analyst_is_not_logged(audited: Cluster) -> None:
    """pgaudit leaves out what runs as a role of which the session user is no member: here, the owner of the table."""
    rows, entries = asked(audited, "alice", BY_DEPT + " ORDER BY dept")
    assert len(rows) == 1
    assert {entry.relation for entry in entries if entry.role == "alice"} == {""}
    assert max(entry.rows for entry in entries) < GROUPS


def test_how_many_rows_were_read_for_the_owner_of_the_table_is_logged(audited: Cluster) -> None:
    question = f"SELECT * FROM discreet.query('{BY_DEPT}', fresh => true) AS t(dept text, n bigint)"
    rows, entries = asked(audited, "postgres", question)
    assert len(rows) == 1
    assert [entry.rows for entry in entries if entry.relation == "public.person"] == [GROUPS]


def test_a_refused_statement_is_in_the_log_of_the_server_and_in_that_of_discreet(audited: Cluster) -> None:
    _, entries = asked(audited, "alice", "SELECT id FROM person")
    assert [entry for entry in entries if entry.text == "SELECT id FROM person"] == []
    assert "<alice> STATEMENT:  SELECT id FROM person" in (audited.folder / "log").read_text()
    refusal = "SELECT code FROM discreet.refusals WHERE role = 'alice' ORDER BY at DESC LIMIT 1"
    assert audited.sql(refusal) == "DP002"


def test_charges_are_logged_by_discreet_as_without_pgaudit(audited: Cluster) -> None:
    last = "SELECT role, epsilon FROM discreet.charges ORDER BY id DESC LIMIT 1"
    asked(audited, "alice", "SELECT count(*) FROM person WHERE dept > 'n'")
    assert audited.sql(last) == "alice|1"
    assert audited.sql("SELECT bool_and(intact) FROM discreet.verify_log()") == "t"


def test_a_client_that_is_told_what_is_logged_is_told_of_its_own_statement_only(audited: Cluster) -> None:
    """pgaudit.log_client is for superusers to set; inside the gate no message of pgaudit reaches the client."""
    audited.sql("ALTER ROLE alice SET pgaudit.log_client = on")
    heard: list[str] = []
    with psycopg.connect(audited.dsn(user="alice"), autocommit=True) as alice:
        alice.add_notice_handler(lambda told: heard.append(str(told.message_primary)))
        alice.execute("SET client_min_messages = debug1")
        alice.execute("SELECT count(*) FROM person WHERE dept < 'n'")
    audited.sql("ALTER ROLE alice RESET pgaudit.log_client")
    (told,) = [message for message in heard if message.startswith("AUDIT")]
    assert told.endswith("SELECT count(*) FROM person WHERE dept < 'n',<not logged>,1")
