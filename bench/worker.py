"""What it takes a session to ask: memory, its first question and further ones, and how many sessions ask at once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dev.cluster import Cluster, throw_away_folder

from bench.clusters import throw_away_cluster
from bench.measure import Connection, Line, Sample, Subject, alternate, rate, ratio, samples, seconds

MOST_MEGABYTES = 3.0
MOST_WARM, MOST_COLD, MOST_FURTHER = 15, 400, 3
FIRST_TIMES, COLD_TIMES, FURTHER_TIMES = 20, 8, 200
SESSIONS = 64
LEAST_CHARGES = {"fast": 1.0, "slow": 5.0}
LEAST_QUESTIONS = 500
ROUNDS, SECONDS = 3, 5
GROUPS, MOST_BY_GROUPS = 10_000, 1.5
SLOW_FSYNC = 0.005

ASKER = "worker_asker"
HAMLET = f"""
    CREATE TABLE hamlet (id int PRIMARY KEY, street text, age int);
    INSERT INTO hamlet SELECT n, 'street ' || n % 3, n FROM generate_series(1, 10) n;
    CREATE TABLE payer (id int PRIMARY KEY);
    CREATE TABLE counter AS SELECT 0 AS value;
    SELECT discreet.create_dataset('hamlet', 1000), discreet.create_dataset('payer', 1000);
    SELECT discreet.protect('hamlet', 'id', 'hamlet'), discreet.protect('payer', 'id', 'payer');
    SELECT discreet.describe_column('hamlet', 'street', categories => ARRAY['street 0', 'street 1', 'street 2']);
    SELECT discreet.describe_column('hamlet', 'age', 0, 120);
    CREATE ROLE {ASKER} LOGIN IN ROLE discreet_analyst;
    GRANT SELECT ON payer TO {ASKER};
    GRANT SELECT, UPDATE ON counter TO {ASKER};
    SELECT discreet.grant_budget('hamlet', '{ASKER}', 1000), discreet.grant_budget('payer', '{ASKER}', 1000);
"""
PARISHES = f"""
    CREATE TABLE parishioner AS
        SELECT id, id % {GROUPS} AS parish, 18 + id % 60 AS age FROM generate_series(1, {{rows}}) AS id;
    ALTER TABLE parishioner ADD PRIMARY KEY (id), ALTER parish SET NOT NULL;
    VACUUM (ANALYZE) parishioner;
    SELECT discreet.create_dataset('parishioners', 1000);
    SELECT discreet.protect('parishioner', 'id', 'parishioners');
    SELECT discreet.describe_column('parishioner', 'parish', categories => array_agg(n::text))
    FROM generate_series(0, {GROUPS - 1}) AS n;
    SELECT discreet.describe_column('parishioner', 'age', 0, 120);
    SELECT discreet.grant_budget('parishioners', '{ASKER}', 1000);
"""
QUESTION = "SELECT street, count(*), avg(age) FROM hamlet GROUP BY street"
ASKED = f"SELECT * FROM discreet.query($${QUESTION}$$, 0.001, fresh => true) AS t(s text, c bigint, a numeric)"
# the least work beside a charge: no rows are read, and one number is drawn
CHARGED = "SELECT discreet.dp_count(id, 0.001) FROM payer"
COMMIT = "UPDATE counter SET value = value + 1"

WORKERS = "FROM pg_stat_activity WHERE backend_type LIKE 'discreet%'"


def load(subject: Subject) -> None:
    subject.cluster.sql(HAMLET)
    subject.cluster.sql(PARISHES.format(rows=subject.rows))


# -- memory


def private_megabytes(process: int) -> float:
    """Memory that no other process shares."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean", "Private_Dirty"))) / 1024


def backends(looking: Connection) -> set[int]:
    found = looking.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'").fetchall()
    return {int(str(process)) for (process,) in found}


def shown(megabytes: float) -> str:
    return f"{megabytes:.1f} MB"


def memory(subject: Subject) -> Iterator[Line]:
    """Two sessions ask, so that neither is the only one that has mapped a library; the second is measured."""
    for name, statement in {"query()": ASKED, "dp_count()": CHARGED}.items():
        with (
            subject.connect() as looking,
            subject.connect(ASKER) as silent,
            subject.connect(ASKER) as other,
            subject.connect(ASKER) as asking,
        ):
            silent.execute("SELECT 1")
            other.execute(statement)
            before = backends(looking)
            asking.execute(statement)
            own, never = (private_megabytes(session.info.backend_pid) for session in (asking, silent))
            others = [private_megabytes(process) for process in backends(looking) - before]
            workers = looking.execute(f"SELECT pid {WORKERS}").fetchall()
            shared = [private_megabytes(int(str(process))) for (process,) in workers]
        yield Line(
            f"private memory of a session after its first {name}; native: a session that never asked",
            shown(never), shown(own), shown(own), f"<= {MOST_MEGABYTES:g} MB", own <= MOST_MEGABYTES,
        )  # fmt: skip
        yield Line(
            f"processes that this session brings with it, by {name}",
            "", shown(sum(others)), str(len(others)), "0", not others,
        )  # fmt: skip
        yield Line(f"workers that all sessions share, after {name}", "", shown(sum(shared)), str(len(shared)))


# -- one session


def end_workers(subject: Subject) -> None:
    subject.cluster.sql(f"SELECT pg_terminate_backend(pid, 10000) {WORKERS}")


def first(subject: Subject, user: str, statement: str) -> float:
    """How long the first statement of a new connection takes."""
    with subject.connect(user) as connection:
        return seconds(lambda: connection.execute(statement))


def beyond(name: str, native: Sample, discreet: Sample, at_most: int) -> Line:
    value = 1000 * (discreet.median - native.median)
    return Line(
        name, native.milliseconds(), discreet.milliseconds(), f"+ {value:.1f} ms", f"<= + {at_most} ms",
        value <= at_most,
    )  # fmt: skip


def one_session(subject: Subject) -> Iterator[Line]:
    """The first question of a connection, with workers that run and without, and further ones."""
    subject.cluster.sql("CHECKPOINT")
    with subject.connect(ASKER) as asking:
        asking.execute(ASKED)
        warm = samples((first(subject, "postgres", QUESTION), first(subject, ASKER, ASKED)) for _ in range(FIRST_TIMES))
    yield beyond("first question of a connection, 10 rows, workers run", *warm, MOST_WARM)

    def cold() -> tuple[float, float]:
        end_workers(subject)
        return first(subject, "postgres", QUESTION), first(subject, ASKER, ASKED)

    yield beyond(
        "first question of a connection, 10 rows, workers ended before", *samples(cold() for _ in range(COLD_TIMES)),
        MOST_COLD,
    )  # fmt: skip
    with subject.connect() as direct, subject.connect(ASKER) as asking:
        direct.execute(QUESTION)
        asking.execute(ASKED)
        native, further = alternate(FURTHER_TIMES, lambda: direct.execute(QUESTION), lambda: asking.execute(ASKED))
    median = 1000 * further.median
    yield Line(
        "further question of a connection, 10 rows", native.milliseconds(), further.milliseconds(), f"{median:.2f} ms",
        f"<= {MOST_FURTHER} ms", median <= MOST_FURTHER,
    )  # fmt: skip


# -- many sessions

SHIM = f"""
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>
int fsync(int file) {{ usleep({SLOW_FSYNC * 1e6:.0f}); return syscall(SYS_fsync, file); }}
int fdatasync(int file) {{ usleep({SLOW_FSYNC * 1e6:.0f}); return syscall(SYS_fdatasync, file); }}
"""


@contextmanager
def slow_fsync(cluster: Cluster) -> Iterator[None]:
    """The server runs on a disk that takes a while to write: each fsync sleeps first."""
    with throw_away_folder() as folder:
        library = folder / "slow_fsync.so"
        compiler = ["cc", "-shared", "-fPIC", "-x", "c", "-o", str(library), "-"]
        subprocess.run(compiler, input=SHIM, text=True, check=True)
        library.chmod(0o755)
        cluster.stop()
        before = os.environ.get("LD_PRELOAD")
        os.environ["LD_PRELOAD"] = str(library)
        try:
            cluster.start()
        finally:
            if before is None:
                del os.environ["LD_PRELOAD"]
            else:
                os.environ["LD_PRELOAD"] = before
        yield
        cluster.stop()
    cluster.start()


def commit(asking: Connection) -> Sample:
    return Sample(tuple(seconds(lambda: asking.execute(COMMIT)) for _ in range(50)))


def charges(subject: Subject, disk: str) -> Iterator[Line]:
    def connect() -> Connection:
        return subject.connect(ASKER)

    with connect() as alone:
        single = commit(alone)
    if disk == "slow" and single.median < SLOW_FSYNC:
        raise RuntimeError("the server does not use the slow fsync")
    rounds = [[rate(connect, SESSIONS, SECONDS, each) for each in (COMMIT, CHARGED)] for _ in range(ROUNDS)]
    native, charged = (Sample(rates) for rates in zip(*rounds, strict=True))
    value, least = charged.median / native.median, LEAST_CHARGES[disk]
    yield Line(
        f"charges on one budget, {SESSIONS} sessions, {disk} fsync (a commit alone: {single.milliseconds()}); "
        "native: UPDATEs of one row",
        native.rate(), charged.rate(), f"{value:.2f}", f">= {least:g}", value >= least,
    )  # fmt: skip


def many_sessions(subject: Subject) -> Iterator[Line]:
    """On a server of their own: without workers each session needs a second connection."""
    with throw_away_cluster(max_connections="300") as cluster:
        crowded = Subject(cluster, subject.rows, subject.repetitions)
        cluster.sql(HAMLET)
        yield from charges(crowded, "fast")
        questions = Sample(tuple(rate(lambda: crowded.connect(ASKER), SESSIONS, SECONDS, ASKED) for _ in range(ROUNDS)))
        yield Line(
            f"whole questions of {SESSIONS} sessions, 10 rows, fast fsync", "", questions.rate(),
            f"{questions.median:.0f}/s", f">= {LEAST_QUESTIONS}/s", questions.median >= LEAST_QUESTIONS,
        )  # fmt: skip
        with slow_fsync(cluster):
            yield from charges(crowded, "slow")
        logs = cluster.sql("SELECT count(*) FROM discreet.verify_log() WHERE intact IS NOT TRUE")
        if logs != "0":
            raise RuntimeError("the log does not fit after concurrent charges")


# -- many groups


def many_groups(subject: Subject) -> Iterator[Line]:
    """Each person has one row: PostgreSQL counts and sums, and two numbers are drawn for each group."""
    question = "SELECT parish, count(*), sum(age) FROM parishioner WHERE age >= 30 GROUP BY parish"
    columns = "p int, c bigint, s bigint"
    through_the_gate = f"SELECT * FROM discreet.query($${question}$$, 0.01, fresh => true) AS t({columns})"
    with subject.connect() as direct, subject.connect(ASKER) as asking:
        direct.execute(question)
        asking.execute(through_the_gate)
        pair = alternate(
            subject.repetitions, lambda: direct.execute(question), lambda: asking.execute(through_the_gate)
        )
    yield ratio(f"row-level count and sum by {GROUPS} groups, filtered, {subject.rows} rows", *pair, MOST_BY_GROUPS)
