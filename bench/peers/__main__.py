"""`python -m bench.peers`: the same questions at the same epsilon, asked of discreet and of its peers.

`--errors` measures errors alone: more repetitions on fewer rows, with the sampling error of each number.

Every peer is installed into an environment of its own, which is gone afterwards unless `--environments` names a folder.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psycopg
from dev.cluster import Cluster
from dev.markdown import table

from bench.clusters import throw_away_cluster
from bench.document import RESULTS, write_document
from bench.measure import Sample
from bench.peers.task import LONG, Question, Task, timed

HERE = Path(__file__).parent
PEERS = {
    "SmartNoise SQL": "smartnoise",
    "Qrlew": "qrlew",
    "diffprivlib": "diffprivlib",
    "OpenDP": "opendp",
}
EPSILON, DELTA = 1.0, 1e-6
# seconds that PostgreSQL may work on a statement of a peer
LIMIT = 20
ASKER = "bench_asker"

GROUPS, WARDS = 50, 20
# hardly any person has more visits
MOST_VISITS = 24


def of_residents(measure: str, column: str | None = None) -> Question:
    name = f"{measure} by {GROUPS} groups"
    return Question(name, measure, column, 0, 120, "resident", "department", GROUPS, "id", 1)


def of_visits(measure: str, column: str | None = None) -> Question:
    name = f"{measure} by {WARDS} groups, people with many rows"
    return Question(name, measure, column, 0, 1000, "visit", "ward", WARDS, "person", MOST_VISITS)


QUESTIONS = (
    of_residents("count"), of_residents("sum", "age"), of_residents("avg", "age"), of_visits("count"),
    of_visits("sum", "cost"),
)  # fmt: skip
# each person is one resident, and has ten visits on average
TABLES = f"""
    SELECT setseed(0.5);
    CREATE TABLE resident AS SELECT id, id % {GROUPS} AS department, (18 + 60 * random())::int AS age
        FROM generate_series(1, {{rows}}) AS id;
    ALTER TABLE resident ADD PRIMARY KEY (id);
    CREATE TABLE visit AS
        SELECT (random() * {{rows}} / 10)::int AS person, (random() * {WARDS - 1})::int AS ward,
               (random() * 1000)::int AS cost FROM generate_series(1, {{rows}});
    ALTER TABLE resident ALTER department SET NOT NULL, ALTER age SET NOT NULL;
    ALTER TABLE visit ALTER ward SET NOT NULL, ALTER cost SET NOT NULL;
    VACUUM (ANALYZE) resident, visit;
    CREATE EXTENSION pg_prewarm;
    SELECT pg_prewarm('resident'), pg_prewarm('visit');
"""
PROTECTION = f"""
    SELECT discreet.create_dataset('people', 1000), discreet.create_dataset('visitors', 1000);
    SELECT discreet.protect('resident', 'id', 'people'),
           discreet.protect('visit', 'person', 'visitors', max_groups => {WARDS}, max_rows => {MOST_VISITS},
                            max_total_rows => {MOST_VISITS});
    SELECT discreet.describe_column('resident', 'department', categories => array_agg(n::text))
        FROM generate_series(0, {GROUPS - 1}) n;
    SELECT discreet.describe_column('visit', 'ward', categories => array_agg(n::text))
        FROM generate_series(0, {WARDS - 1}) n;
    SELECT discreet.describe_column('resident', 'age', 0, 120), discreet.describe_column('visit', 'cost', 0, 1000);
    CREATE ROLE {ASKER} LOGIN IN ROLE discreet_analyst;
    SELECT discreet.grant_budget(name, '{ASKER}', 1000) FROM unnest(ARRAY['people', 'visitors']) AS name;
"""

PAGE = """# Beside others

Written by `make bench-peers`, in one run: PostgreSQL {version}, {cores} cores; tables of {rows} rows,
epsilon {epsilon:g} for each question (and delta {delta:g} where one is wanted), {times} times, or fewer when it takes
long. A statement that takes PostgreSQL more than {limit} s is ended.

"""
NOTES = f"""
Time is the median, from the question to its numbers, in brackets the middle half; error the root of the mean square
over groups and repetitions, bounding included, by chance up to a tenth larger or smaller. Versions are in
`bench/peers/requirements`. What the numbers do not say:

- discreet charges a durable budget and writes a log within that time; the others keep a budget in memory, or none.
- diffprivlib and OpenDP have no database: the rows are fetched by COPY, which is part of the time. OpenDP, by its
  Polars interface, searches for the scale of the noise at every question.
- diffprivlib's mean takes the number of values in each group for known, the others do not. Qrlew adds Gaussian noise;
  its answers hold for epsilon and delta.
- People with many rows: all bound the rows of a person in all groups together ({MOST_VISITS} here, which hardly any
  person exceeds); discreet by `max_total_rows`.
"""

# of --errors: repetitions, rows, and seconds that a question and a peer may take
MANY, FEW_ROWS, LONG_QUESTION, LONG_PEER = 200, 10_000, 1800, 12_000
ERRORS_PAGE = """# Errors beside others

Written by `python -m bench.peers --errors`, in one run: PostgreSQL {version}; tables of {rows} rows, epsilon
{epsilon:g} for each question (and delta {delta:g} where one is wanted), {times} times, or fewer when a question takes
long. Error is the root of the mean square over groups and repetitions, bounding included, ± twice its sampling error;
*of the best* is the error of discreet divided by that of the best peer, ± twice the sampling error of the quotient.
*Laplace* is the error of Laplace noise at this sensitivity and price, without bounding. Of counts of people by groups,
no noise with this promise has less (Ghosh, Roughgarden and Sundararajan 2009); of sums, none has a mean absolute error
that is more than 4 % less (Geng and Viswanath 2014, at epsilon 1). An error below it is chance, or a weaker promise;
equal is enough.

"""

Told = dict[str, Any]


@contextmanager
def environments(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="discreet-peers-", dir="/var/tmp") as fresh:
        yield Path(fresh)


def installed(name: str, folder: Path) -> Path | str:
    """The interpreter of a peer's environment, or why there is none."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        print(f"Installing {name}", flush=True)
        venv.create(folder / name, with_pip=True)
    wanted = HERE / "requirements" / f"{name}.txt"
    command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", str(wanted)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return "could not be installed: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1][:120]
    return python


def asked_of_peer(name: str, python: Path, task: Path, limit: int) -> dict[str, Told] | str:
    command = [str(python), str(HERE / f"{name}_peer.py"), str(task)]
    environment = os.environ | {"PYTHONPATH": str(HERE.parent.parent), "PGOPTIONS": f"-c statement_timeout={LIMIT}s"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment)
    if done.returncode != 0:
        return "does not run: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1][:120]
    answers: dict[str, Told] = json.loads(done.stdout)
    return answers


def asked_of_discreet(cluster: Cluster, task: Task) -> dict[str, Told]:
    told = {}
    with psycopg.connect(cluster.dsn(user=ASKER), autocommit=True) as connection:
        for question in task.questions:
            statement = (
                f"SELECT * FROM discreet.query($${question.sql}$$, {task.epsilon}, fresh => true)"
                " AS t(key int, answer numeric)"
            )

            def ask(statement: str = statement) -> dict[int, float]:
                return {int(str(key)): float(str(number)) for key, number in connection.execute(statement).fetchall()}

            told[question.name] = timed(ask, task.repetitions, task.longest)
    return told


def asked_natively(cluster: Cluster, task: Task) -> dict[str, Told]:
    told = {}
    with psycopg.connect(cluster.dsn(), autocommit=True) as connection:
        for question in task.questions:

            def ask(sql: str = question.sql) -> dict[int, float]:
                return {int(str(key)): float(str(number)) for key, number in connection.execute(sql).fetchall()}

            told[question.name] = timed(ask, task.repetitions)
    return told


def error(told: Told, truth: dict[str, float]) -> float:
    """Root of the mean square, over groups and repetitions; a group that is not shown counts as 0."""
    off = [answer.get(group, 0.0) - exact for answer in told["answers"] for group, exact in truth.items()]
    return math.sqrt(statistics.fmean(number**2 for number in off))


def squares(told: Told, truth: dict[str, float]) -> list[float]:
    """The mean square error of each repetition."""
    return [
        statistics.fmean((answer.get(group, 0.0) - exact) ** 2 for group, exact in truth.items())
        for answer in told["answers"]
    ]


def with_sampling_error(found: list[float]) -> tuple[float, float]:
    """The root of a mean of squares, and its standard error as a share of it, by the delta method."""
    mean = statistics.fmean(found)
    spread = statistics.stdev(found) / math.sqrt(len(found)) if len(found) > 1 else math.inf
    return math.sqrt(mean), spread / (2 * mean) if mean else 0.0


def laplace(question: Question, epsilon: float) -> str:
    """Of counts discrete noise, as their numbers are; nothing is said of averages."""
    if question.measure == "avg":
        return ""
    width = question.rows * (1 if question.column is None else max(abs(question.lower), abs(question.upper)))
    ratio = math.exp(-epsilon / width)
    return f"{math.sqrt(2 * ratio) / (1 - ratio):.4g}"


def errors_page(found: dict[str, dict[str, Told] | str], task: Task, rows: int, version: str) -> str:
    lines = [["question", "by", "repetitions", "error", "of the best", "Laplace"]]
    native = found["native SQL"]
    assert isinstance(native, dict)
    for question in task.questions:
        truth = native[question.name]["answers"][0]
        known: dict[str, tuple[float, float]] = {}
        for name, answers in found.items():
            told: Told = {"cannot": answers} if isinstance(answers, str) else answers[question.name]
            if name == "native SQL":
                continue
            if "cannot" in told:
                lines.append([question.name, name, told["cannot"].replace("|", "/"), "", "", ""])
                continue
            known[name] = with_sampling_error(squares(told, truth))
            size, off = known[name]
            times = str(len(told["answers"]))
            lines.append(
                [question.name, name, times, f"{size:.4g} ± {2 * off * size:.2g}", "", laplace(question, task.epsilon)]
            )
        peers = {name: one for name, one in known.items() if name != "discreet"}
        if peers and "discreet" in known:
            best = min(peers, key=lambda name: peers[name][0])
            quotient = known["discreet"][0] / peers[best][0]
            off = 2 * quotient * math.hypot(known["discreet"][1], peers[best][1])
            (own,) = (line for line in lines if line[:2] == [question.name, "discreet"])
            own[4] = f"{quotient:.3f} ± {off:.2g} ({best})"
    head = ERRORS_PAGE.format(
        version=version, rows=rows, epsilon=task.epsilon, delta=task.delta, times=task.repetitions
    )
    return head + table(lines)


def page(found: dict[str, dict[str, Told] | str], task: Task, rows: int, version: str) -> str:
    lines = [["question", "by", "time", "times native", "error", "times discreet's"]]
    native, own = found["native SQL"], found["discreet"]
    assert isinstance(native, dict)
    assert isinstance(own, dict)
    for question in task.questions:
        truth = native[question.name]["answers"][0]
        base = Sample(tuple(native[question.name]["seconds"])).median
        best = error(own[question.name], truth)
        for name, answers in found.items():
            told: Told = {"cannot": answers} if isinstance(answers, str) else answers[question.name]
            if "cannot" in told:
                lines.append([question.name, name, told["cannot"].replace("|", "/"), "", "", ""])
                continue
            time = Sample(tuple(told["seconds"]))
            off = error(told, truth)
            compared = ["0", ""] if name == "native SQL" else [f"{off:.3g}", f"{off / best:.2f}"]
            lines.append([question.name, name, time.milliseconds(), f"{time.median / base:.1f}", *compared])
    head = PAGE.format(
        version=version,
        cores=os.cpu_count(),
        rows=rows,
        epsilon=task.epsilon,
        delta=task.delta,
        times=task.repetitions,
        limit=LIMIT,
    )
    return head + table(lines) + NOTES


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--errors", action="store_true", help="errors alone, with their sampling errors")
    parser.add_argument("--rows", type=int, help=f"of each table (1000000, of errors {FEW_ROWS})")
    parser.add_argument("--repetitions", type=int, help=f"of each question (9, of errors {MANY})")
    parser.add_argument("--environments", type=Path, help="a folder to keep the peers in, for another run")
    parser.add_argument("--only-install", action="store_true", help="install the peers, and measure nothing")
    arguments = parser.parse_args()
    errors = arguments.errors
    rows = arguments.rows or (FEW_ROWS if errors else 1_000_000)
    repetitions = arguments.repetitions or (MANY if errors else 9)
    longest, limit = (LONG_QUESTION, LONG_PEER) if errors else (LONG, 900)

    with environments(arguments.environments) as folder:
        pythons = {name: installed(file, folder) for name, file in PEERS.items()}
        if arguments.only_install:
            sys.exit(0)
        with throw_away_cluster() as cluster:
            cluster.sql("SET client_min_messages = warning;" + TABLES.format(rows=rows) + PROTECTION)
            task = Task(str(cluster.socket), cluster.port, EPSILON, DELTA, repetitions, QUESTIONS, longest)
            file = folder / "task.json"
            file.write_text(json.dumps(asdict(task)))
            found: dict[str, dict[str, Told] | str] = {
                "native SQL": asked_natively(cluster, task),
                "discreet": asked_of_discreet(cluster, task),
            }
            for name, python in pythons.items():
                print(f"Asking {name}", flush=True)
                found[name] = python if isinstance(python, str) else asked_of_peer(PEERS[name], python, file, limit)
            write = errors_page if errors else page
            written = write(found, task, rows, cluster.sql("SHOW server_version"))
    (RESULTS / ("peers_errors.md" if errors else "peers.md")).write_text(written)
    write_document()
    print(written)


if __name__ == "__main__":
    main()
