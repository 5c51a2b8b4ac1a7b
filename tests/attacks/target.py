"""What is attacked: a protected table, roles that want more of it than they paid for, and a naive design beside it.

Whatever an attack does, `Target.check` must hold after it: the log fits, what is spent is the sum of the charges, and
no limit is exceeded.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import Any

import psycopg
from tests.databases import Connection, Database

PEOPLE = 1000
ASK = "SELECT discreet.dp_count(*) FROM hr.person"
PRICE = Decimal("0.1")  # of ASK: discreet.epsilon as it comes

# mallory and eve may read the table and spend all of the budget, blind may do neither.
ROLES = ("mallory", "eve", "blind")

TABLES = f"""
    CREATE SCHEMA hr;
    CREATE TABLE hr.person (
        id int PRIMARY KEY, name text NOT NULL, dept text NOT NULL, salary int NOT NULL, smoker boolean NOT NULL);
    INSERT INTO hr.person
    SELECT n, 'name ' || n, 'dept ' || n % 5, 1000 + n % 100, n % 4 = 0 FROM generate_series(1, {PEOPLE}) n;
    ANALYZE hr.person;
    CREATE TABLE hr.visit (person int REFERENCES hr.person, day date NOT NULL);
    INSERT INTO hr.visit SELECT n % {PEOPLE} + 1, date '2024-01-01' + n % 300 FROM generate_series(1, 3000) n;
    GRANT USAGE ON SCHEMA hr TO PUBLIC;
    SET client_min_messages = warning;
    SELECT discreet.create_dataset('default', 100), discreet.create_dataset('people', 1);
    SELECT discreet.protect('hr.person', 'id', dataset => 'people'),
           discreet.protect('hr.visit', 'person', dataset => 'people', max_rows => 1);
    RESET client_min_messages;
"""

# What one would write first: an UPDATE in the asker's own transaction.
NAIVE = """
    CREATE SCHEMA naive;
    CREATE TABLE naive.budget (spent numeric NOT NULL);
    INSERT INTO naive.budget VALUES (0);
    CREATE FUNCTION naive.ask() RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
    BEGIN
        UPDATE naive.budget SET spent = spent + 0.1 WHERE spent + 0.1 <= 1;
        IF NOT FOUND THEN RAISE EXCEPTION 'the naive budget is exhausted'; END IF;
        RETURN (SELECT count(*) FROM hr.person) + round(10 * ln(random() + 1e-9));
    END $$;
    GRANT USAGE ON SCHEMA naive TO PUBLIC;
    GRANT SELECT ON naive.budget TO PUBLIC;
"""

# a test that leaves other people behind would spoil those after it
CHANGED = f"""
    SELECT count(*) FROM hr.person FULL JOIN generate_series(1, {PEOPLE}) n ON id = n
    WHERE (name, dept, salary, smoker) IS DISTINCT FROM ('name ' || n, 'dept ' || n % 5, 1000 + n % 100, n % 4 = 0)
"""

RESET = """
    DROP OWNED BY mallory, eve, blind CASCADE;
    DROP SCHEMA IF EXISTS extra CASCADE;
    CREATE SCHEMA extra;
    GRANT ALL ON SCHEMA extra TO PUBLIC;
    GRANT SELECT ON hr.person, hr.visit TO mallory, eve;
    TRUNCATE discreet._charge, discreet._refusal;
    DELETE FROM discreet._budget WHERE role <> 0;
    UPDATE discreet._budget
    SET amount_spent = 0, delta_spent = 0, epsilon_limit = l.most, amount_limit = l.most
    FROM (VALUES ('people', 1), ('default', 100)) l(name, most) WHERE dataset = l.name;
    UPDATE naive.budget SET spent = 0;
    SELECT discreet.grant_budget('people', 'mallory', 1), discreet.grant_budget('people', 'eve', 1);
"""


LEDGER = """ledger AS (SELECT * FROM pg_stat_activity
                          WHERE datname = current_database() AND application_name = 'discreet ledger')"""
A_LEDGER_WAITS = "EXISTS (SELECT FROM ledger WHERE wait_event_type = 'Lock')"


class Target:
    """The attacked database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.admin = database.connect()
        self._idle: dict[str, list[Connection]] = {}
        self._lent: list[tuple[str, Connection, bool]] = []

    def build(self) -> None:
        for role in ROLES:
            known = self.admin.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).fetchone()
            if known is None:
                self.admin.execute(f"CREATE ROLE {role} LOGIN IN ROLE discreet_analyst")
        self.admin.execute(TABLES)
        self.admin.execute(NAIVE)

    def reset(self) -> None:
        if self.admin.closed:
            self.reconnect()
        self.admin.execute("SET client_min_messages = warning; " + RESET + "; RESET client_min_messages")

    def connect(self, role: str = "mallory", new: bool = False) -> Connection:
        """A connection of that role, in autocommit mode; one that has been used before unless it must be new."""
        idle = self._idle.setdefault(role, [])
        connection = idle.pop() if idle and not new else psycopg.connect(self.database.dsn(role), autocommit=True)
        connection.prepare_threshold = None
        self._lent.append((role, connection, new))
        return connection

    def give_back(self) -> None:
        """Takes back what the test has borrowed; what was made for it, or is spoilt, is closed."""
        for role, connection, new in self._lent:
            try:
                if new:
                    connection.close()
                    continue
                connection.rollback()
                connection.autocommit = True
                connection.execute("DISCARD ALL")
                self._idle[role].append(connection)
            except psycopg.Error:
                connection.close()
        self._lent.clear()

    def reconnect(self) -> None:
        """Ends all sessions, as after a crash of the server when no connection is any good, and begins a new one."""
        self.close()
        self.admin.close()
        self.admin = self.database.connect()

    def settle(self) -> None:
        """Ends all sessions, and returns when the ledger has finished all charges."""
        self.reconnect()
        self.wait_for("NOT EXISTS (SELECT FROM ledger WHERE state <> 'idle')")

    def close(self) -> None:
        self.give_back()
        for idle in self._idle.values():
            for connection in idle:
                connection.close()
            idle.clear()

    def value(self, query: str, *parameters: object) -> Any:
        row = self.admin.execute(query, parameters or None).fetchone()
        assert row is not None
        return row[0]

    def wait_for(self, condition: str, seconds: float = 60) -> None:
        """Returns when the condition holds: a boolean expression, which may read the view `ledger`."""
        deadline = time.monotonic() + seconds
        while not self.value(f"WITH {LEDGER} SELECT {condition}"):
            assert time.monotonic() < deadline, f"never happened: {condition}"
            time.sleep(0.01)

    def ledgers(self, where: str = "true") -> list[object]:
        """Process ids of the ledger connections."""
        return [pid for (pid,) in self.admin.execute(f"WITH {LEDGER} SELECT pid FROM ledger WHERE {where}").fetchall()]

    def spent(self, dataset: str = "people") -> Decimal:
        return self.value("SELECT amount_spent FROM discreet._budget WHERE role = 0 AND dataset = %s", dataset)

    def naive_spent(self) -> Decimal:
        return self.value("SELECT spent FROM naive.budget")

    def charges(self, dataset: str = "people") -> int:
        return self.value("SELECT count(*) FROM discreet._charge WHERE dataset = %s", dataset)

    def refusals(self) -> int:
        return self.value("SELECT count(*) FROM discreet._refusal")

    @contextmanager
    def costs(self, amount: Decimal | str | int, dataset: str = "people") -> Iterator[None]:
        """What happens inside takes exactly this from the dataset."""
        before = self.spent(dataset)
        assert isinstance(before, Decimal)
        yield
        assert self.spent(dataset) == before + Decimal(amount)

    @contextmanager
    def free(self) -> Iterator[None]:
        """What happens inside takes nothing from any dataset."""
        before = self.admin.execute("SELECT dataset, role, amount_spent FROM discreet._budget ORDER BY 1, 2").fetchall()
        yield
        after = self.admin.execute("SELECT dataset, role, amount_spent FROM discreet._budget ORDER BY 1, 2").fetchall()
        assert after == before

    def check(self) -> None:
        """No charge is lost, every charge fits, nobody has more than the limit, and the people are as they were."""
        assert self.value(CHANGED) == 0
        log = self.admin.execute("SELECT dataset, intact, finding FROM discreet.verify_log()").fetchall()
        assert [row for row in log if not row[1]] == []
        overspent = self.admin.execute("SELECT * FROM discreet._budget WHERE amount_spent > amount_limit").fetchall()
        assert overspent == []
        assert self.admin.execute(
            "SELECT dataset, amount_spent FROM discreet._budget b WHERE role = 0 AND amount_spent IS DISTINCT FROM"
            " (SELECT coalesce(sum(c.amount), 0) FROM discreet._charge c WHERE c.dataset = b.dataset)"
        ).fetchall() == []  # fmt: skip


def outcome(connection: Connection, question: str = ASK) -> str:
    """ "answer", or the SQLSTATE of the refusal; whatever else goes wrong is thrown."""
    try:
        return "answer" if connection.execute(question).fetchall() else "nothing"
    except psycopg.Error as error:
        if error.sqlstate in ("DP003", "DP007", "55000", "57014"):
            return error.sqlstate
        raise


def ask_until_refused(connection: Connection, question: str = ASK, most: int = 100) -> int:
    """How many answers the connection gets before the budget is exhausted."""
    for answers in range(most):
        if outcome(connection, question) == "DP003":
            return answers
    raise AssertionError(f"{most} answers, and no end")


def fill(target: Target) -> list[Connection]:
    """Takes every connection that is not reserved for superusers."""
    taken: list[Connection] = []
    while True:
        try:
            taken.append(psycopg.connect(target.database.dsn("eve"), autocommit=True))
        except psycopg.OperationalError:
            return taken


def in_thread(work: Callable[[], object]) -> threading.Thread:
    """Starts what will be interrupted; errors of the database are what it is expected to end with."""

    def run() -> None:
        with suppress(psycopg.Error):
            work()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


# Sees the answer, tells it to the client, and then waits to be interrupted.
TELL_AND_WAIT = """DO $$
DECLARE answer bigint;
BEGIN
    answer := ({question});
    RAISE NOTICE 'the answer is %', answer;
    PERFORM pg_sleep(60);
END $$"""


class Told:
    """A statement under way in a thread, whose answer the client has seen already; or which has ended without one."""

    def __init__(self, connection: Connection, question: str) -> None:
        self.connection = connection
        self.answer: str | None = None
        self._news = threading.Event()
        connection.add_notice_handler(self._hear)
        self._thread = in_thread(lambda: self._run(question))
        assert self._news.wait(120)

    def _run(self, question: str) -> None:
        try:
            self.connection.execute(TELL_AND_WAIT.format(question=question))
        finally:
            self._news.set()

    def _hear(self, diagnostic: psycopg.errors.Diagnostic) -> None:
        self.answer = diagnostic.message_primary
        self._news.set()

    def join(self) -> None:
        self._thread.join(120)
        assert not self._thread.is_alive()
