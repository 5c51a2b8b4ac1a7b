"""Fifty connections of tools at once: they browse the catalog and ask, beside sessions that never use discreet."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from bench.measure import Connection, Line, Sample, Subject, seconds
from bench.worker import WORKERS, private_megabytes, shown

CONNECTIONS = 50
ROUNDS = 10
ANALYST, READER, OTHER = "tools_analyst", "tools_reader", "tools_other"
TABLE = f"""
    CREATE TABLE visitor (id int PRIMARY KEY, name text, city text NOT NULL, age int NOT NULL, seen date NOT NULL);
    INSERT INTO visitor
    SELECT n, 'visitor ' || n, 'city ' || n % 5, n % 90, date '2026-01-01' + n % 300 FROM generate_series(1, 10000) n;
    ANALYZE visitor;
    GRANT SELECT ON visitor TO {READER};
"""
PROTECTED = f"""
    SELECT discreet.create_dataset('visitors', 1000);
    SELECT discreet.protect('visitor', 'id', 'visitors');
    SELECT discreet.describe_column('visitor', 'name', visibility => 'hidden'),
           discreet.describe_column('visitor', 'age', 0, 120),
           discreet.describe_column('visitor', 'city', categories => '{{city 0,city 1,city 2,city 3,city 4}}');
    SELECT discreet.grant_budget('visitors', '{ANALYST}', 1000);
"""
# what drivers and BI tools ask when they connect and list
BROWSING = (
    "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT LIKE '%_catalog'",
    "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = 'visitor'",
    "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)"
    " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
    " WHERE c.relname = 'visitor' AND a.attnum > 0 ORDER BY a.attnum",
    "SELECT id, city, age, seen FROM visitor LIMIT 0",
)
# each number of people is another question
ASKING = (
    "SELECT city, count(*), avg(age) FROM visitor WHERE age * 10 < {number} GROUP BY city",
    "SELECT count(*) FROM visitor WHERE seen >= date '2026-01-01' AND age * 10 < {number}",
)
AGAIN = "SELECT city, count(*) FROM visitor GROUP BY city"


def load(subject: Subject) -> None:
    """The sessions beside them are in a database without the extension, and read the same table."""
    subject.cluster.sql(f"CREATE ROLE {ANALYST} LOGIN IN ROLE discreet_analyst; CREATE ROLE {READER} LOGIN")
    subject.cluster.sql(f"CREATE DATABASE {OTHER}")
    for database in ("postgres", OTHER):
        subject.cluster.sql(TABLE, database)
    subject.cluster.sql(PROTECTED)


def kinds(number: int) -> dict[str, tuple[str, ...]]:
    return {
        "browsing the catalog": BROWSING,
        "a new question": tuple(question.format(number=number) for question in ASKING),
        "a question asked again": (AGAIN,),
    }


def together(subject: Subject, user: str, database: str) -> tuple[dict[str, Sample], float, float]:
    """Latencies of all statements by kind, private memory of a session at the end, and how many statements a second."""
    found: dict[str, list[float]] = {kind: [] for kind in kinds(0)}
    ready = threading.Barrier(CONNECTIONS)
    failed: list[BaseException] = []

    def work(place: int, session: Connection) -> None:
        try:
            session.execute("SELECT 1")
            ready.wait(60)
            for turn in range(ROUNDS):
                # kinds are mixed: neighbours do different things at a time
                number = place * ROUNDS + turn + 1
                listed = list(kinds(number).items())
                for step in range(len(listed)):
                    kind, statements = listed[(place + step) % len(listed)]
                    for statement in statements:
                        found[kind].append(seconds(executed(session, statement)))
        except BaseException as error:
            failed.append(error)
            ready.abort()

    with ExitStack() as stack:
        sessions = [stack.enter_context(subject.connect(user, database)) for _ in range(CONNECTIONS)]
        for session in sessions:
            session.execute("SET discreet.quiet = on; SET discreet.epsilon = 0.01" if user == ANALYST else "SELECT 1")
        threads = [threading.Thread(target=work, args=each) for each in enumerate(sessions)]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.perf_counter() - begun
        if failed:
            raise failed[0]
        memory = Sample(tuple(private_megabytes(session.info.backend_pid) for session in sessions)).median
    samples = {kind: Sample(tuple(each)) for kind, each in found.items()}
    return samples, memory, sum(map(len, found.values())) / took


def executed(session: Connection, statement: str) -> Callable[[], object]:
    return lambda: session.execute(statement.encode()).fetchall()


def connections(subject: Subject) -> Iterator[Line]:
    """The sessions beside are measured before those of the tools, and again after them: what grows is seen."""
    with subject.connect(ANALYST) as first:
        first.execute("SET discreet.quiet = on")
        first.execute(AGAIN)
    plain, plain_memory, plain_rate = together(subject, READER, OTHER)
    asked, memory, asked_rate = together(subject, ANALYST, "postgres")
    after, _, _ = together(subject, READER, OTHER)
    for kind, sample in asked.items():
        added = 1000 * (sample.median - plain[kind].median)
        yield Line(
            f"{CONNECTIONS} tool connections, {kind}; native: sessions that never use discreet",
            plain[kind].milliseconds(), sample.milliseconds(), f"+ {added:.1f} ms",
        )  # fmt: skip
        yield Line(
            f"the same sessions without discreet, {kind}, after the tools have asked",
            plain[kind].milliseconds(), after[kind].milliseconds(),
            f"{after[kind].median / plain[kind].median:.2f}",
        )  # fmt: skip
    yield Line(
        f"statements of {CONNECTIONS} connections together", f"{plain_rate:.0f}/s", f"{asked_rate:.0f}/s",
        f"{asked_rate / plain_rate:.2f}",
    )  # fmt: skip
    yield Line(
        f"private memory of one of {CONNECTIONS} sessions, median", shown(plain_memory), shown(memory),
        f"+ {memory - plain_memory:.1f} MB",
    )  # fmt: skip
    with subject.connect() as looking:
        pids = looking.execute(f"SELECT pid {WORKERS}").fetchall()
        shared = sum(private_megabytes(int(str(pid))) for (pid,) in pids)
    yield Line("workers that all of them share", "", shown(shared), str(len(pids)))
