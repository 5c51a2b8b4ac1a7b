"""Plays some weeks of an invented company on a throw-away cluster, and writes its report: `make report`.

Questions, prices, refusals, labels and the release are real. What took seconds is dated back over some weeks, for there
to be something to look at: the hash chain of this sample no longer fits.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from dev.cluster import Cluster, throw_away  # noqa: E402
from dev.postgresql import pg_config  # noqa: E402

DATABASE = "company"
CURATION = """
    CREATE ROLE carol LOGIN IN ROLE discreet_curator;
    CREATE ROLE hr_team; CREATE ROLE ann LOGIN IN ROLE hr_team; CREATE ROLE bob LOGIN IN ROLE hr_team;
    CREATE ROLE "Clinic & research"; CREATE ROLE dora LOGIN IN ROLE "Clinic & research"; CREATE ROLE eve LOGIN;
    GRANT USAGE ON SCHEMA hr, clinic, census TO PUBLIC;
    SELECT discreet.protect('hr.employee', unit => 'id', epsilon => 6);
    SELECT discreet.describe_column('hr.employee', 'salary', lower => 20000, upper => 200000);
    SELECT discreet.describe_column('hr.employee', 'dept', categories =>
        '{Engineering,Executive,Finance,Human resources,Legal,Production,Research,Sales,Support}');
    SELECT discreet.describe_column('hr.employee', 'gender', categories => '{F,M}');
    SELECT discreet.grant_budget('hr.employee', 'hr_team', epsilon => 4);
    SELECT discreet.create_dataset('patients', epsilon => 4, delta => 1e-6, accounting => 'zcdp');
    SELECT discreet.protect('clinic.patient', unit => 'id', dataset => 'patients');
    SELECT discreet.protect('clinic.visit', unit => 'patient_id', dataset => 'patients', max_rows => 5);
    SELECT discreet.describe_column('clinic.patient', 'age', lower => 0, upper => 110);
    SELECT discreet.describe_column('clinic.patient', 'sex', categories => '{F,M}');
    SELECT discreet.describe_column('clinic.visit', 'cost', lower => 0, upper => 2000);
    SELECT discreet.grant_budget('patients', '"Clinic & research"', epsilon => 3, delta => 1e-6);
    SELECT discreet.protect('census.person', unit => 'id', epsilon => 1);
    SELECT discreet.describe_column('census.person', 'income', lower => 0, upper => 150000);
    SELECT discreet.describe_column('census.person', 'sex', categories => '{F,M}');
    SELECT discreet.grant_budget('census.person', 'hr_team', epsilon => 0.4);
    SELECT discreet.grant_budget('census.person', 'eve', epsilon => 0.9);
    SELECT discreet.anonymize('clinic.patient', 'clinic.patient_open', '{"age": {"intervals": [5, 10, 20]},
        "sex": "suppress"}', k => 5, sensitive => 'diagnosis');
    SELECT discreet.mls_define(ARRAY['U', 'C', 'S']);
    SELECT discreet.mls_clear('carol', 'S'), discreet.mls_clear('ann', 'U'), discreet.mls_clear('bob', 'C');
    CREATE TABLE hr.project (name text PRIMARY KEY, goal text, budget int, leader text);
    GRANT SELECT, INSERT, UPDATE, DELETE ON hr.project TO carol, ann, bob;
    SELECT discreet.mls_table('hr.project', key => ARRAY['name']);
"""
MULTILEVEL = {
    "ann": "INSERT INTO hr.project (name, goal, budget, leader) VALUES ('Heron', 'a new pump', 90, 'Ito'),"
    " ('Kite', 'training', 20, 'Roy'), ('Wren', 'a survey', 15, 'Sato')",
    "bob": "UPDATE hr.project SET budget = budget + 50 WHERE name IN ('Heron', 'Kite')",
    "carol": "UPDATE hr.project SET goal = 'a merger', budget = 900 WHERE name = 'Heron'",
}
# who, at what epsilon, and what; each line is a question of its own
QUESTIONS = [
    *(("ann", 0.1 + 0.02 * n, f"count(*), avg(salary) FROM hr.employee WHERE hired < date '{1996 + 2 * n}-01-01'")
      for n in range(12)),
    *(("bob", 0.08, f"dept, count(*) FROM hr.employee WHERE salary > {30000 + 10000 * n} GROUP BY dept")
      for n in range(9)),
    ("ann", 0.3, "dept, count(*), avg(salary), sum(salary) FROM hr.employee GROUP BY dept"),
    *(("dora", 0.15, f"sex, count(*), avg(age) FROM clinic.patient WHERE age > {9 * n} GROUP BY sex")
      for n in range(8)),
    *(("dora", 0.12, f"sum(cost), count(*) FROM clinic.visit WHERE day >= date '2024-{n}-01'") for n in range(1, 11)),
    *(("eve", 0.06, f"sex, sum(income), count(*) FROM census.person WHERE age > {5 * n} GROUP BY sex")
      for n in range(12)),
    *(("bob", 0.05, f"avg(income) FROM census.person WHERE age < {30 + 10 * n}") for n in range(4)),
]  # fmt: skip
REFUSED = [
    ("ann", "SELECT count(*) FROM hr.employee WHERE id = 7 AND salary > 100000"),
    ("bob", "SELECT count(*) FROM hr.employee WHERE id = 17"),
    ("bob", "SELECT count(*) FROM hr.employee WHERE id = 17 OR dept = 'Sales'"),
    ("bob", "SELECT * FROM hr.employee"),
    ("ann", "SELECT max(zip) FROM hr.employee"),
    ("ann", "SELECT salary FROM hr.employee ORDER BY salary LIMIT 1"),
    ("ann", "SET discreet.epsilon = 3; SELECT avg(salary) FROM hr.employee"),
    ("dora", "SELECT sum(id) FROM clinic.visit"),
    ("eve", "SELECT sum(household) FROM census.person"),
    ("eve", "SELECT region, count(*) FROM census.person GROUP BY region"),
    ("eve", "SELECT count(*) FROM census.person WHERE id = 4"),
]
# the n-th of all is the longer ago the smaller n is; mornings and afternoons of some weeks
DATED_BACK = """
    UPDATE discreet._charge c SET at = now() - pg_catalog.make_interval(hours => dated.ago)
    FROM (SELECT dataset, id, (10 + 1000 * (1 - percent_rank() OVER w) ^ 1.4
                 + 20 * (hashtext(dataset || id) % 10) / 10)::int AS ago
          FROM discreet._charge WINDOW w AS (PARTITION BY dataset ORDER BY id)) dated
    WHERE (c.dataset, c.id) = (dated.dataset, dated.id);
    UPDATE discreet._refusal SET at = at - pg_catalog.make_interval(hours => abs(hashtext(question)) % 700);
    UPDATE discreet._release SET at = at - interval '19 days';
"""


def session(cluster: Cluster, role: str, sql: str) -> str:
    """Refusals are part of the story."""
    program = os.path.join(pg_config("--bindir"), "psql")
    command = [program, "-XqAt", cluster.dsn(DATABASE, role)]
    return subprocess.run(command, input=sql, check=True, capture_output=True, text=True).stdout


def sample_report(cluster: Cluster) -> str:
    rows = subprocess.run([sys.executable, str(HERE / "sample_data.py")], check=True, capture_output=True, text=True)
    cluster.sql(f"CREATE DATABASE {DATABASE}")
    cluster.sql("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE", DATABASE)
    cluster.sql(rows.stdout, DATABASE)
    cluster.sql("SET client_min_messages = warning;" + CURATION, DATABASE)
    for role, sql in MULTILEVEL.items():
        session(cluster, role, sql)
    by_role: dict[str, list[str]] = {}
    for role, epsilon, question in QUESTIONS:
        by_role.setdefault(role, []).append(f"SET discreet.epsilon = {epsilon:.2f}; SELECT {question};")
    for role, question in REFUSED:
        by_role[role].append(f"{question};")
    for role, asked in by_role.items():
        session(cluster, role, "\n".join(asked))
    cluster.sql(DATED_BACK, DATABASE)
    return session(cluster, "carol", "SELECT discreet.report()")


def write_sample_report(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with throw_away(in_memory=True, fsync="off") as cluster:
        target.write_text(sample_report(cluster))


if __name__ == "__main__":
    write_sample_report(Path(sys.argv[1]))
    print(f"Written: {sys.argv[1]}")
