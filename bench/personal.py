"""Questions that people pay for themselves: beside the native ones, and how many a budget is enough for."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import partial

import psycopg

from bench.measure import Connection, Line, Sample, Subject, alternate, ratio, seconds

PEOPLE = 1_000_000
TIMES_NATIVE, FIRST_SECONDS, BYTES = 8, 1.5, 8
MANY = 1000
ASKER = "bench_surveyor"

CITIZENS = f"""
    CREATE TABLE citizen (id bigint PRIMARY KEY, age int NOT NULL, town int NOT NULL);
    SELECT setseed(0.5);
    INSERT INTO citizen SELECT n, 100 * random(), n % 50 FROM generate_series(1, {PEOPLE}) n;
    VACUUM (ANALYZE) citizen;
    SELECT discreet.protect('citizen', 'id', policy => 'personal', unit_epsilon => 100),
           discreet.describe_column('citizen', 'age', 0, 100);
    SELECT discreet.describe_column('citizen', 'town', categories => array_agg(n::text)) FROM generate_series(0, 49) n;
"""
# surveys of rare blood groups: each of 20 is that of 50 people
PATIENTS = """
    CREATE TABLE {table} (id int PRIMARY KEY, blood text NOT NULL, age int NOT NULL);
    INSERT INTO {table} SELECT n, 'group ' || n % 20, n % 100 FROM generate_series(1, 1000) n;
    SELECT discreet.protect('{table}', 'id', epsilon => 1, policy => '{policy}'{more}),
           discreet.describe_column('{table}', 'age', 0, 100);
    SELECT discreet.describe_column('{table}', 'blood', categories => array_agg('group ' || n))
    FROM generate_series(0, 19) n;
"""


def load(subject: Subject) -> None:
    subject.cluster.sql(CITIZENS)
    for policy, more in {"noisy": "", "personal": ", unit_epsilon => 1"}.items():
        subject.cluster.sql(PATIENTS.format(table=f"patient_{policy}", policy=policy, more=more))
    subject.cluster.sql(f"CREATE ROLE {ASKER} LOGIN")
    for dataset, limit in {"citizen": 1000, "patient_noisy": 1, "patient_personal": 1000}.items():
        subject.cluster.sql(f"SELECT discreet.grant_budget('public.{dataset}', '{ASKER}', {limit})")
    subject.cluster.sql("CREATE EXTENSION IF NOT EXISTS pg_prewarm; SELECT pg_prewarm('citizen')")


def asked(question: str, columns: str, epsilon: float) -> str:
    return f"SELECT * FROM discreet.query($${question}$$, {epsilon}, fresh => true) AS t({columns})"


def everybody(subject: Subject) -> Iterator[Line]:
    """A question that selects all people, in a session that knows them, and in one that does not."""
    questions = {
        "average": ("SELECT avg(age) FROM citizen", "a numeric"),
        "count and sum by 50 groups": (
            "SELECT town, count(*), sum(age) FROM citizen GROUP BY town",
            "t int, c bigint, s bigint",
        ),
    }
    with subject.connect() as direct, subject.connect(ASKER) as asking:
        for name, (question, columns) in questions.items():
            personal = asked(question, columns, 0.01)
            direct.execute(question)
            asking.execute(personal)
            both = partial(direct.execute, question), partial(asking.execute, personal)
            pair = alternate(subject.repetitions, *both)
            yield ratio(f"personal: {name}, {PEOPLE} people pay", *pair, TIMES_NATIVE)

    def first() -> float:
        with subject.connect(ASKER) as asking:
            return seconds(lambda: asking.execute(asked(*questions["average"], 0.01)))

    firsts = Sample(tuple(first() for _ in range(5)))
    yield Line(
        "personal: first question of a session",
        "",
        firsts.milliseconds(),
        f"{firsts.median:.2f} s",
        f"<= {FIRST_SECONDS} s",
        firsts.median <= FIRST_SECONDS,
    )


def size(subject: Subject) -> Iterator[Line]:
    """Bytes a person, before and after many questions, while a transaction holds an old snapshot."""

    def bytes_a_person(table: str) -> float:
        return int(subject.cluster.sql(f"SELECT pg_total_relation_size('discreet.{table}')")) / PEOPLE

    keys = bytes_a_person("_personal_people")
    tiny = asked("SELECT count(*) FROM patient_personal WHERE age > 200", "c bigint", 0.00001)
    with subject.connect() as other, subject.connect(ASKER) as asking:
        asking.execute(tiny)
        before = bytes_a_person("_personal_page")
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM citizen")
        for _ in range(MANY):
            asking.execute(tiny)
        grown = bytes_a_person("_personal_page") - before
    name = "personal: ledger, bytes a person beside the keys"
    yield Line(name, "", f"{before:.1f}", f"keys {keys:.1f}", f"<= {BYTES}", before <= BYTES)
    yield Line(f"personal: growth in {MANY} questions, bytes a person", "", f"{grown:.3f}", "", "0", grown == 0)


def surveys(subject: Subject, policy: str) -> int:
    """Surveys of one rare group after the other, at 0.1, until a budget is empty: how many were about a whole group."""
    answered = 0
    with subject.connect() as direct, subject.connect(ASKER) as asking:
        for group in range(20):
            question = f"SELECT avg(age) FROM patient_{policy} WHERE blood = 'group {group}'"
            for _ in range(11):
                before = paid(direct)
                try:
                    asking.execute(asked(question, "a numeric", 0.1))
                except psycopg.Error:
                    return answered
                answered += policy == "noisy" or paid(direct) - before == 50 * Decimal("0.1")
    return answered


def paid(direct: Connection) -> Decimal:
    """What the patients have paid together."""
    left = direct.execute("SELECT sum(1 - epsilon_left) FROM discreet._personal_left('patient_personal')").fetchone()
    return Decimal(str(left[0])) if left and left[0] is not None else Decimal(0)


def wasteful_global_budget(subject: Subject) -> Iterator[Line]:
    """With one budget for all, a survey of few people is paid by all people."""
    noisy, personal = (surveys(subject, policy) for policy in ("noisy", "personal"))
    yield Line(
        "personal: surveys of 20 rare groups, each at a tenth of the budget",
        f"{noisy} (noisy)",
        f"{personal} (personal)",
        f"{personal / noisy:.0f} times as many",
    )
