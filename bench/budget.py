"""What a charge takes, and how many questions a budget pays for."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from decimal import ROUND_UP, Decimal
from functools import partial

import psycopg

from bench.clusters import throw_away_cluster
from bench.measure import Connection, Line, Sample, Subject, alternate, rate

MOST_MILLISECONDS = 2
MOST_GROWTH = 1.1
CHARGES = 1000
GROWTH_TIMES = 300
SESSIONS = 16
LEAST_PER_SECOND = 300
ROUNDS = 3
SECONDS = 5

PEOPLE = 10_000
SMALL_EPSILON = Decimal("0.01")

# what the executor hook sends for SELECT dp_count(*) FROM payers
CHARGE = """
    SELECT discreet._ledger('charge_aggregates', jsonb_build_array(jsonb_build_object(
        'role', session_user, 'question', 'SELECT dp_count(*) FROM payers', 'wish', '0.001',
        'unreadable', NULL, 'unsafe', NULL,
        'inside', jsonb_build_array('payers'::regclass::oid),
        'keys', discreet._single_columns(ARRAY['payers'::regclass::oid]),
        'sites', sites, 'all_sites', sites)))
    FROM (VALUES ('[{"function": "dp_count", "epsilon": null, "sets": 1}]'::jsonb)) AS paid (sites)
"""
# the least that a database can do durably
COMMIT = "UPDATE counter SET value = value + 1"
QUESTION = "SELECT discreet.dp_count(id, 0.001) FROM payers"


def load(subject: Subject) -> None:
    subject.cluster.sql("""
        CREATE TABLE counter AS SELECT 0 AS value;
        CREATE TABLE payers (id int PRIMARY KEY);
        SELECT discreet.create_dataset('payers', 1000);
        SELECT discreet.protect('payers', 'id', 'payers');
    """)


def charge(subject: Subject) -> Iterator[Line]:
    """One session charges and commits an UPDATE of one row in turn; runs on a young ledger and on an old one."""
    before = subject.cluster.sql("SELECT count(*) FROM discreet._charge")
    with subject.connect() as connection:
        connection.execute(CHARGE)
        native, discreet = alternate(CHARGES, lambda: connection.execute(COMMIT), lambda: connection.execute(CHARGE))
    median = 1000 * discreet.median
    yield Line(
        f"charge on a warm connection, {before} charges before; native: UPDATE",
        native.milliseconds(),
        discreet.milliseconds(),
        f"{median:.2f} ms",
        f"<= {MOST_MILLISECONDS} ms",
        median <= MOST_MILLISECONDS,
    )


def concurrent_charges(subject: Subject) -> Iterator[Line]:
    """16 sessions at one dataset, against 16 sessions at one row."""
    statements = (COMMIT, CHARGE, QUESTION)
    rounds = [[rate(subject.connect, SESSIONS, SECONDS, each) for each in statements] for _ in range(ROUNDS)]
    native, charges, questions = (Sample(rates) for rates in zip(*rounds, strict=True))
    yield Line(
        f"charges of {SESSIONS} sessions; native: UPDATEs",
        native.rate(),
        charges.rate(),
        f"{charges.median:.0f}/s",
        f">= {LEAST_PER_SECOND}/s",
        charges.median >= LEAST_PER_SECOND,
    )
    yield Line(
        f"whole questions of {SESSIONS} sessions; native: UPDATEs",
        native.rate(),
        questions.rate(),
        f"{questions.median:.0f}/s",
    )
    intact = subject.cluster.sql("SELECT intact FROM discreet.verify_log() WHERE dataset = 'payers'")
    if intact != "t":
        raise RuntimeError("the hash chain does not fit after concurrent charges")


# 10^6 stored answers and 10^4 roles with budgets in one dataset, 10^3 protected tables; analysed, as autovacuum does
LARGE = """
    INSERT INTO discreet._answer (key, dataset, epoch, answer)
    SELECT sha256(int4send(n)), 'payers', discreet._answers_epoch('payers'), '{"columns": [], "rows": []}'
    FROM generate_series(1, 1000000) n;
    INSERT INTO discreet._refusal (role, code, message, question)
    SELECT 'crowd_' || n % 10000, 'DP001', 'refused', 'SELECT id FROM payers' FROM generate_series(1, 100000) n;
    DO $$ BEGIN
        FOR n IN 1..10000 LOOP
            EXECUTE format('CREATE ROLE %I IN ROLE discreet_analyst', 'crowd_' || n);
        END LOOP;
        FOR n IN 1..1000 LOOP
            EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY, value int)', 'crowd_' || n);
            PERFORM discreet.protect(('crowd_' || n)::regclass, 'id', dataset => CASE n % 2 WHEN 0 THEN 'payers' END,
                                     epsilon => CASE n % 2 WHEN 1 THEN 1 END);
        END LOOP;
    END $$;
    INSERT INTO discreet._budget (dataset, role, epsilon_limit, delta_limit, amount_limit)
    SELECT 'payers', rolname::regrole, 1, 0, 1 FROM pg_roles WHERE rolname LIKE 'crowd_%';
    VACUUM ANALYZE;
"""
ASKER = "asker"
OPEN_TO_ASKER = f"""
    CREATE ROLE {ASKER} LOGIN;
    SELECT discreet.grant_budget('payers', '{ASKER}', 500);
    CREATE TABLE newcomer (id int PRIMARY KEY, value int);
"""
COUNT = "SELECT * FROM discreet.query('SELECT count(*) FROM payers', epsilon => 0.001, fresh => {fresh}) AS t(n bigint)"
PROTECT = (
    "SELECT discreet.protect('newcomer', 'id', 'payers')",
    "SELECT discreet.describe_column('newcomer', 'value', 0, 1)",
    "SELECT discreet.unprotect('newcomer')",
)


def refused(connection: Connection) -> None:
    try:
        connection.execute("SELECT * FROM discreet.query('SELECT id FROM payers') AS t(id int)")
    except psycopg.Error as error:
        if error.sqlstate == "DP002":
            return
        raise
    raise RuntimeError("a question for the unit was answered")


def curate(connection: Connection) -> None:
    for statement in PROTECT:
        connection.execute(statement)


def steps() -> Iterator[tuple[str, str, Callable[[Connection], object]]]:
    """What is done, by whom, and how."""
    yield "a charge", "postgres", lambda connection: connection.execute(CHARGE)
    yield "a stored answer", ASKER, lambda connection: connection.execute(COUNT.format(fresh="false"))
    yield "a question refused", ASKER, refused
    yield "a question asked", ASKER, lambda connection: connection.execute(COUNT.format(fresh="true"))
    yield "protect, describe_column and unprotect", "postgres", curate


def growth(subject: Subject) -> Iterator[Line]:
    """The same steps on a ledger without history and on a large one, in turn."""
    with throw_away_cluster() as young, throw_away_cluster() as old:
        subjects = [Subject(cluster, subject.rows, subject.repetitions) for cluster in (young, old)]
        for each in subjects:
            load(each)
            each.cluster.sql(OPEN_TO_ASKER)
        old.sql(LARGE)
        old.sql("CHECKPOINT")  # else it is written while charges are measured
        for name, user, step in steps():
            with subjects[0].connect(user) as on_young, subjects[1].connect(user) as on_old:
                for connection in (on_young, on_old):
                    step(connection)
                few, many = alternate(GROWTH_TIMES, partial(step, on_young), partial(step, on_old))
            value = many.median / few.median
            yield Line(
                f"{name}: 10^6 stored answers, 10^4 roles, 10^3 tables; native: a new ledger",
                few.milliseconds(), many.milliseconds(), f"{value:.2f}", f"<= {MOST_GROWTH}", value <= MOST_GROWTH,
            )  # fmt: skip


def laplace_deviation(epsilon: Decimal) -> float:
    """Standard deviation of discrete Laplace noise on a count."""
    p = math.exp(-float(epsilon))
    return math.sqrt(2 * p) / (1 - p)


def questions_until_exhausted(subject: Subject, accounting: str, epsilon: Decimal) -> tuple[int, float]:
    """Counts until the budget of (1, 1e-6) refuses: how many answers, and their standard deviation."""
    table = f"people_{accounting}"
    subject.cluster.sql(f"""
        CREATE TABLE {table} (id int PRIMARY KEY);
        INSERT INTO {table} SELECT generate_series(1, {PEOPLE});
        SELECT discreet.create_dataset('{table}', 1, 1e-6, '{accounting}');
        SELECT discreet.protect('{table}', 'id', '{table}');
    """)
    answers: list[int] = []
    with subject.connect() as connection:
        try:
            while True:
                rows = connection.execute(f"SELECT discreet.dp_count(id, {epsilon}) FROM {table}").fetchall()
                answers.append(int(str(rows[0][0])))
        except psycopg.Error as error:
            if error.sqlstate != "DP003":
                raise
    return len(answers), statistics.stdev(answers)


def accounting(subject: Subject) -> Iterator[Line]:
    """Equally accurate counts under the same limit; Gaussian noise of scale 1 / epsilon under zcdp."""
    deviation = laplace_deviation(SMALL_EPSILON)
    equally_accurate = Decimal(1 / deviation).quantize(Decimal("1e-9"), ROUND_UP)
    pure, pure_deviation = questions_until_exhausted(subject, "pure", SMALL_EPSILON)
    zcdp, zcdp_deviation = questions_until_exhausted(subject, "zcdp", equally_accurate)
    yield Line(
        f"counts of standard deviation {deviation:.0f} for epsilon 1, delta 1e-6: pure and zcdp",
        f"pure: {pure} (deviation {pure_deviation:.0f})",
        f"zcdp: {zcdp} (deviation {zcdp_deviation:.0f})",
        f"{zcdp / pure:.1f} times",
        "> 2 times",
        zcdp > 2 * pure,
    )
