"""A town whose people are protected, and the ways to ask about them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count

import psycopg
from bench.crash import Ledger, question_of, read_ledger, unbalanced
from tests.database.waiting import waited_for
from tests.databases import Connection, Database

EPSILON = "0.001"
PEOPLE = 1000

# hermits have a budget of their own; the table of citizens has partitions
TOWN = f"""
    SET client_min_messages = warning;
    CREATE SCHEMA town;
    GRANT USAGE ON SCHEMA town TO PUBLIC;
    CREATE TABLE town.citizen (id int PRIMARY KEY, badge bigint NOT NULL) PARTITION BY RANGE (id);
    CREATE TABLE town.citizen_1 PARTITION OF town.citizen FOR VALUES FROM (0) TO (500);
    CREATE TABLE town.citizen_2 PARTITION OF town.citizen FOR VALUES FROM (500) TO (5000);
    CREATE TABLE town.hermit (id int PRIMARY KEY, badge bigint NOT NULL);
    INSERT INTO town.citizen SELECT n, 100 * n FROM generate_series(1, {PEOPLE}) n;
    INSERT INTO town.hermit SELECT n, 100 * n FROM generate_series(1, {PEOPLE}) n;
    SELECT discreet.create_dataset('citizens', 100), discreet.create_dataset('hermits', 100);
    SELECT discreet.protect('town.citizen', 'id', 'citizens'), discreet.protect('town.hermit', 'id', 'hermits');
    SELECT discreet.describe_column('town.citizen', 'badge', 0, 1000000000);
    SELECT discreet.describe_column('town.hermit', 'badge', 0, 1000000000);
    GRANT SELECT ON town.citizen, town.hermit TO {{reader}};
    SELECT discreet.grant_budget(dataset, role::regrole, 100)
    FROM unnest(ARRAY['citizens', 'hermits']) dataset, unnest(ARRAY['{{analyst}}', '{{reader}}']) role;
"""

# each question has its own number of nine digits, so that no answer comes from the store
numbers = count(100_000_000)

PLAIN = "SELECT count(*) FROM town.{table} WHERE badge < {number}"
QUERY = f"SELECT n FROM discreet.query('{PLAIN}', {EPSILON}, fresh => true) AS t(n bigint)"
AGGREGATE = f"SELECT discreet.dp_count(id, {EPSILON}) FROM town.{{table}} WHERE badge < {{number}}"
WAYS = {"plain SQL": PLAIN, "query()": QUERY, "an aggregate": AGGREGATE}


class Town:
    """A database with the tables, seen by those who ask and by a superuser."""

    def __init__(self, database: Database, analyst: str, reader: str) -> None:
        self.database, self.analyst, self.reader = database, analyst, reader

    def build(self) -> None:
        self.database.cluster.sql(TOWN.format(analyst=self.analyst, reader=self.reader), self.database.name)

    def asker(self, way: str) -> Connection:
        """A session of a role that may ask in this way."""
        session = self.database.connect(self.reader if way == "an aggregate" else self.analyst)
        session.execute(f"SET discreet.epsilon = '{EPSILON}'")
        return session

    def ledger(self) -> Ledger:
        admin = psycopg.connect(self.database.dsn(), autocommit=True)
        with admin:
            return read_ledger(admin)

    def charged(self) -> int:
        """How many charges there are; budgets and log fit them."""
        ledger = self.ledger()
        assert unbalanced(ledger) == []
        return len(ledger.charges)

    def charges_of(self, number: int) -> int:
        return sum(question_of(charge).number == number for charge in self.ledger().charges)

    def each_way_is_answered_and_charged(self) -> None:
        before = self.charged()
        for way in WAYS:
            session = self.asker(way)
            ask(session, way)
            session.close()
        assert self.charged() == before + len(WAYS)


def ask(session: Connection, way: str, table: str = "citizen", number: int | None = None) -> int:
    """The answer to a question that nobody has asked before."""
    statement = WAYS[way].format(table=table, number=next(numbers) if number is None else number)
    ((answer,),) = session.execute(statement.encode()).fetchall()
    return int(str(answer))


class Asking(threading.Thread):
    """A question in a thread of its own. It ends answered, with an SQLSTATE, or with None: the connection is lost."""

    def __init__(self, question: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.ending: str | None = "asking"
        self._question = question
        self.start()

    def run(self) -> None:
        try:
            self._question()
            self.ending = "answered"
        except psycopg.Error as error:
            self.ending = error.sqlstate

    def end(self) -> str | None:
        waited_for(lambda: not self.is_alive())
        return self.ending


def is_blocked(admin: Connection, by: Connection) -> bool:
    """Whether any process waits for a lock of a session."""
    blocked = "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
    return admin.execute(blocked, [by.info.backend_pid]).fetchone() != (0,)
