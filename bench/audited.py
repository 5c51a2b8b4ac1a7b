"""Exact answers under audit: what the decision takes, and how much of a stream of reports is answered."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from functools import partial
from random import Random

from bench.measure import Connection, Line, Sample, Subject, seconds

ASKER = "bench_reporter"
TIMES_NATIVE, MILLISECONDS = 3, 200
EARLIER, MEASURED = 199, 9
STAFF, REPORTS, LEAST = 10_000, 500, 10

# as many people as a fifth of the rows, in 400 grades
TAXPAYERS = """
    CREATE TABLE taxpayer (id int PRIMARY KEY, grade int NOT NULL, income int NOT NULL);
    SELECT setseed(0.5);
    INSERT INTO taxpayer SELECT n, 1 + floor(random() * 400), random() * 90000 FROM generate_series(1, {people}) AS n;
    VACUUM (ANALYZE) taxpayer;
    SELECT discreet.protect('taxpayer', unit => 'id', policy => 'audited');
    SELECT discreet.describe_column('taxpayer', 'grade', visibility => 'public');
    SELECT discreet.grant_budget('public.taxpayer', '{asker}', 1);
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
    SELECT discreet.protect('staff', unit => 'id', epsilon => 1000, delta => 1e-6, policy => 'audited',
                            min_group => {least}, fallback => 'noisy');
    SELECT discreet.describe_column('staff', c, 0, 2100, visibility => 'public')
    FROM unnest('{{department,site,age,grade,hired}}'::name[]) AS c;
    SELECT discreet.describe_column('staff', 'sex', categories => '{{F,M}}', visibility => 'public');
    SELECT discreet.describe_column('staff', 'salary', 0, 200000);
    SELECT discreet.grant_budget('public.staff', '{asker}', 1000, 1e-6);
"""
# what is filled into conditions and groups of reports
CONDITIONS = (
    "department = {0}", "site = {1}", "sex = 'F'", "age BETWEEN {2} AND {2} + 9", "grade >= {3}", "hired >= {4}",
    "true",
)  # fmt: skip


def load(subject: Subject) -> None:
    subject.cluster.sql(f"CREATE ROLE {ASKER} LOGIN IN ROLE discreet_analyst")
    subject.cluster.sql(TAXPAYERS.format(people=subject.rows // 5, asker=ASKER))
    subject.cluster.sql(EMPLOYEES.format(people=STAFF, asker=ASKER, least=LEAST))


def asked(question: str) -> str:
    return f"SELECT discreet.query_json($${question}$$)"


def decision(subject: Subject) -> Iterator[Line]:
    """Questions 200 to 208 of a session, each of them new: what they take beyond the native run."""
    questions = [f"SELECT count(*), sum(income) FROM taxpayer WHERE grade <= {n}" for n in range(1, 399)]
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
        yield beyond_native(f"question {EARLIER + 1} about {subject.rows // 5} people", pairs)
        ((atoms,),) = direct.execute("SELECT atoms FROM discreet.audit_state('taxpayer')").fetchall()
    question = questions[EARLIER + MEASURED]
    with subject.connect() as direct, subject.connect(ASKER) as late:
        late.execute("SELECT 1")
        direct.execute(question)
        took = seconds(lambda: late.execute(asked(question)))
    yield Line(
        f"audited: the first question of a session after {EARLIER + MEASURED}, {atoms} atoms", "",
        f"{1000 * took:.0f} ms", "",
    )  # fmt: skip


def beyond_native(name: str, pairs: list[tuple[float, float]]) -> Line:
    native, whole = Sample(tuple(n for n, _ in pairs)), Sample(tuple(w for _, w in pairs))
    took = statistics.median(w - n for n, w in pairs)
    most = max(TIMES_NATIVE * native.median, MILLISECONDS / 1000)
    return Line(
        f"audited: decision beyond the native run, {name}", native.milliseconds(), whole.milliseconds(),
        f"{1000 * took:.0f} ms", f"<= {1000 * most:.0f} ms", took <= most,
    )  # fmt: skip


def reports() -> list[str]:
    """Averages and counts by one or two columns, of everybody or of some, as departments ask month after month."""
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
    sized = exact = noisy = 0
    with subject.connect() as direct, subject.connect(ASKER) as asking:
        asking.execute("SET discreet.epsilon = 0.1")
        for report in reports():
            sized += all(LEAST <= size <= STAFF - LEAST or size == STAFF for size in sizes(direct, report))
            ((told,),) = asking.execute("SELECT discreet.explain(%s)", [report]).fetchall()
            assert isinstance(told, dict)
            noisy += "epsilon" in told.get("fallback", {})
            if told.get("answered", False):
                exact += 1
                asking.execute(asked(report))
    people = f"{REPORTS} reports about {STAFF} people"
    yield Line(f"audited: answered exactly, {people}", f"size rule alone: {sized}", str(exact), f"{exact / sized:.2f}")
    yield Line(f"audited: denied, {people}", "", str(REPORTS - exact), f"{noisy} answerable with noise")


def sizes(direct: Connection, report: str) -> list[int]:
    """People in each query set."""
    counted = f"SELECT coalesce(json_agg(n), '[]') FROM (SELECT count(*) AS n {report[report.index('FROM') :]}) c"
    found = direct.execute(counted).fetchone()[0]  # type: ignore[index]
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]
