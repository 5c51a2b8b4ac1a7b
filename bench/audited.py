"""Exact answers under audit: what the decision takes, and how much of a stream of reports is answered."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import cast

import psycopg

from bench.measure import Connection, Line, Sample, Subject, seconds

ASKER = "bench_reporter"
TIMES_NATIVE, MILLISECONDS = 3, 200
EARLIER, MEASURED, GRADES = 199, 9, 400
STAFF, REPORTS, LEAST = 10_000, 500, 10

TAXPAYERS = """
    CREATE TABLE {table} (id int PRIMARY KEY, grade int NOT NULL, income int NOT NULL);
    SELECT setseed(0.5);
    INSERT INTO {table} SELECT n, 1 + floor(random() * {grades}), random() * 90000
    FROM generate_series(1, {people}) AS n;
    VACUUM (ANALYZE) {table};
    SELECT discreet.protect('{table}', unit => 'id', policy => 'audited');
    SELECT discreet.describe_column('{table}', 'grade', visibility => 'public');
    SELECT discreet.grant_budget('public.{table}', '{asker}', 1);
"""
# departments, sites and grades of uneven sizes
EMPLOYEES = """
    CREATE TABLE staff (
        id int PRIMARY KEY, department int NOT NULL, site int NOT NULL, sex text NOT NULL, age int NOT NULL,
        grade int NOT NULL, hired int NOT NULL, salary int NOT NULL);
    INSERT INTO staff
        SELECT n, floor(20 * random() ^ 1.5), floor(8 * random() ^ 2), CASE WHEN random() < 0.45 THEN 'F' ELSE 'M' END,
               20 + floor(random() * 45), 1 + floor(10 * random() ^ 1.5), 1990 + floor(random() * 35),
               20000 + random() * 80000
        FROM generate_series(1, {people}) AS n;
    VACUUM (ANALYZE) staff;
    SELECT discreet.protect('staff', unit => 'id', epsilon => 1000, delta => 1e-4, policy => 'audited',
                            min_group => {least}, max_delta => 1e-7, fallback => 'noisy');
    SELECT discreet.describe_column('staff', c, 0, 2100, visibility => 'public')
    FROM unnest('{{department,site,age,grade,hired}}'::name[]) AS c;
    SELECT discreet.describe_column('staff', 'sex', categories => '{{F,M}}', visibility => 'public');
    SELECT discreet.describe_column('staff', 'salary', 0, 200000);
    SELECT discreet.grant_budget('public.staff', '{asker}', 1000, 1e-4);
"""
# what is filled into conditions and groups of reports
CONDITIONS = (
    "department = {0}", "site = {1}", "sex = 'F'", "age BETWEEN {2} AND {2} + 9", "grade >= {3}", "hired >= {4}",
    "true",
)  # fmt: skip


def load(subject: Subject) -> None:
    subject.cluster.sql(f"CREATE ROLE {ASKER} LOGIN IN ROLE discreet_analyst")
    for table, people in tables(subject).items():
        subject.cluster.sql(TAXPAYERS.format(table=table, people=people, grades=GRADES, asker=ASKER))
    subject.cluster.sql(EMPLOYEES.format(people=STAFF, asker=ASKER, least=LEAST))


def tables(subject: Subject) -> dict[str, int]:
    """As many people as a fifth of the rows, and a tenth of them."""
    return {"few_taxpayers": subject.rows // 50, "taxpayers": subject.rows // 5}


def asked(question: str) -> str:
    return f"SELECT discreet.query_json($${question}$$)"


def decision(subject: Subject) -> Iterator[Line]:
    """What questions take beyond the native run when many were answered, about some people and ten times as many."""
    for table, people in tables(subject).items():
        yield from decision_about(subject, table, people)


def decision_about(subject: Subject, table: str, people: int) -> Iterator[Line]:
    """Questions 200 to 208 of a session, each of them new, and one of a session that knows nothing yet."""
    questions = [f"SELECT count(*), sum(income) FROM {table} WHERE grade <= {n}" for n in range(1, GRADES - 1)]
    Random(1).shuffle(questions)
    earlier, measured = questions[:EARLIER], questions[EARLIER : EARLIER + MEASURED]
    with subject.connect() as direct, subject.connect(ASKER) as asking:
        for question in earlier:
            asking.execute(asked(question))
        direct.execute(measured[0])
        pairs = [
            (seconds(partial(direct.execute, question)), seconds(partial(asking.execute, asked(question))))
            for question in measured
        ]
        ((atoms,),) = direct.execute(f"SELECT atoms FROM discreet.audit_state('{table}')").fetchall()
        yield beyond_native(f"question {EARLIER + 1}, {people} people in {atoms} atoms", pairs)
    question = questions[EARLIER + MEASURED]
    with subject.connect() as direct, subject.connect(ASKER) as late:
        late.execute("SELECT 1")
        direct.execute(question)
        took = seconds(lambda: late.execute(asked(question)))
    name = f"audited: the first question of a session after {EARLIER + MEASURED}, {people} people"
    yield Line(name, "", f"{1000 * took:.0f} ms", "")


def beyond_native(name: str, pairs: list[tuple[float, float]]) -> Line:
    native, whole = Sample(tuple(n for n, _ in pairs)), Sample(tuple(w for _, w in pairs))
    took = statistics.median(w - n for n, w in pairs)
    most = max(TIMES_NATIVE * native.median, MILLISECONDS / 1000)
    return Line(
        f"audited: decision beyond the native run, {name}", native.milliseconds(), whole.milliseconds(),
        f"{1000 * took:.0f} ms", f"<= {1000 * most:.0f} ms", took <= most,
    )  # fmt: skip


def reports() -> list[str]:
    """Averages and counts by one or two columns, of all or of some, as departments ask month after month."""
    random, made = Random(7), []
    for _ in range(REPORTS):
        filled = (random.randint(0, 19), random.randint(0, 7), random.randint(20, 55), random.randint(1, 8),
                  random.choice((1995, 2000, 2005, 2010, 2015, 2020)))  # fmt: skip
        where = " AND ".join(one.format(*filled) for one in random.sample(CONDITIONS, random.choice((1, 1, 2))))
        by = random.choice(("", "", "sex", "site", "department", "grade", "sex, site"))
        shown = f"{by}, " if by else ""
        made.append(f"SELECT {shown}count(*), avg(salary) FROM staff WHERE {where}" + (f" GROUP BY {by}" if by else ""))
    return made


def usefulness(subject: Subject) -> Iterator[Line]:
    """Of the same stream: how much a plain size rule answers, how much the audit, and what noise stands in for."""
    sized, said = 0, Counter[str]()
    with subject.connect() as direct, subject.connect(ASKER) as asking:
        heard: list[str] = []
        asking.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
        asking.execute("SET discreet.epsilon = 0.1")
        for report in reports():
            sized += all(LEAST <= size <= STAFF - LEAST or size == STAFF for size in sizes(direct, report))
            heard.clear()
            try:
                asking.execute(asked(report))
            except psycopg.Error as error:
                said[str(error.sqlstate)] += 1
            else:
                said["exact" if "exact" in heard[-1] else "noisy"] += 1
    exact, noisy, people = said["exact"], said["noisy"], f"{REPORTS} reports about {STAFF} people"
    yield Line(f"audited: answered exactly, {people}", f"size rule alone: {sized}", str(exact), f"{exact / sized:.2f}")
    yield Line(f"audited: answered by fallback 'noisy', {people}", "", str(noisy), f"{REPORTS - exact - noisy} refused")


def sizes(direct: Connection, report: str) -> list[int]:
    """People in each query set."""
    counted = f"SELECT coalesce(json_agg(n), '[]') FROM (SELECT count(*) AS n {report[report.index('FROM') :]}) c"
    ((found,),) = direct.execute(counted).fetchall()
    return cast("list[int]", found)
