"""Questions where people have many rows, groups are many, or aggregates are: no cliff between neighbouring sizes.

All in one process, so that what is compared is the work and not how it is spread.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.measure import Line, Subject, alternate, ratio

ASKER, EPSILON = "bench_asker", 0.01
FEW_PEOPLE, MANY_PEOPLE, BEYOND_MEMORY = 2.0, 2.5, 1.5
MANY_AGGREGATES, KNOWN_GROUPS, UNKNOWN_GROUPS = 1.2, 1.5, 2.5
AGGREGATES, GROUPS, MANY_GROUPS = 20, 10_000, 100_000
ONE_PROCESS = "SET max_parallel_workers_per_gather = 0"

# ten rows each, in 20 wards; one row each; one row each, with numbers and many groups
TABLES = f"""
    CREATE TABLE stay AS
        SELECT (random() * {{rows}} / 10)::int AS person, (random() * 19)::int AS ward, (random() * 1000)::int AS cost
        FROM generate_series(1, {{rows}});
    CREATE TABLE call AS
        SELECT n AS person, (random() * 19)::int AS ward, (random() * 1000)::int AS cost
        FROM generate_series(1, {{rows}}) n;
    CREATE TABLE answer AS
        SELECT n AS person, n % {GROUPS} AS known, n % {MANY_GROUPS} AS place,
               {", ".join(f"(random() * 1000)::int AS a{n}" for n in range(AGGREGATES))}
        FROM generate_series(1, {{rows}}) n;
    ALTER TABLE answer ADD PRIMARY KEY (person), ALTER known SET NOT NULL;
    VACUUM (ANALYZE) stay, call, answer;
    SELECT discreet.create_dataset('{{dataset}}', 1000, 0.1);
    SELECT discreet.protect('stay', 'person', '{{dataset}}', max_groups => 20, max_rows => 5);
    SELECT discreet.protect('call', 'person', '{{dataset}}', max_groups => 20, max_rows => 5);
    SELECT discreet.protect('answer', 'person', '{{dataset}}');
    SELECT discreet.describe_column(t::regclass, 'ward', categories => array_agg(n::text))
        FROM generate_series(0, 19) n, unnest(ARRAY['stay', 'call']) t GROUP BY t;
    SELECT discreet.describe_column(t::regclass, 'cost', 0, 1000) FROM unnest(ARRAY['stay', 'call']) t;
    SELECT discreet.describe_column('answer', 'known', categories => array_agg(n::text))
        FROM generate_series(0, {GROUPS - 1}) n;
    SELECT discreet.describe_column('answer', ('a' || n)::name, 0, 1000) FROM generate_series(0, {AGGREGATES - 1}) n;
    CREATE EXTENSION IF NOT EXISTS pg_prewarm;
    SELECT pg_prewarm(t::regclass) FROM unnest(ARRAY['stay', 'call', 'answer']) t;
"""


def load(subject: Subject) -> None:
    subject.cluster.sql(TABLES.format(rows=subject.rows, dataset="guests"))
    subject.cluster.sql(f"CREATE ROLE {ASKER} LOGIN IN ROLE discreet_analyst")
    subject.cluster.sql(f"SELECT discreet.grant_budget('guests', '{ASKER}', 1000, 0.1)")


def compare(subject: Subject, name: str, question: str, columns: str, at_most: float) -> Line:
    """A question by a superuser, who reads the rows, and through the gate."""
    asked = f"SELECT * FROM discreet.query($${question}$$, {EPSILON}, fresh => true) AS t({columns})"
    with subject.connect() as direct, subject.connect(ASKER) as asking:
        for connection, statement in ((direct, question), (asking, asked)):
            connection.execute(ONE_PROCESS)
            connection.execute(statement)
        pair = alternate(subject.repetitions, lambda: direct.execute(question), lambda: asking.execute(asked))
    return ratio(f"gate: {name}", *pair, at_most)


def many_rows(subject: Subject) -> Iterator[Line]:
    question = "SELECT ward, count(*), sum(cost) FROM {} GROUP BY ward"
    for table, people, most in (("stay", subject.rows // 10, FEW_PEOPLE), ("call", subject.rows, MANY_PEOPLE)):
        name = f"count and sum by 20 groups, {people} people, one process"
        yield compare(subject, name, question.format(table), "w int, c bigint, s bigint", most)


def beyond_memory(subject: Subject) -> Iterator[Line]:
    """A question within discreet.people_memory, and the same beyond it."""
    question = "SELECT ward, count(*), sum(cost) FROM call GROUP BY ward"
    asked = f"SELECT * FROM discreet.query($${question}$$, {EPSILON}, fresh => true) AS t(w int, c bigint, s bigint)"
    memory = f"ALTER ROLE {ASKER} SET discreet.people_memory = "
    subject.cluster.sql(memory + "'4GB'")
    with subject.connect(ASKER) as rich:
        subject.cluster.sql(memory + "'64kB'")
        with subject.connect(ASKER) as poor:
            for connection in (rich, poor):
                connection.execute(ONE_PROCESS)
                connection.execute(asked)
            pair = alternate(subject.repetitions, lambda: rich.execute(asked), lambda: poor.execute(asked))
    subject.cluster.sql(f"ALTER ROLE {ASKER} RESET ALL")
    yield ratio(f"{subject.rows} people, beyond discreet.people_memory; native: within", *pair, BEYOND_MEMORY)


def many_aggregates(subject: Subject) -> Iterator[Line]:
    sums = ", ".join(f"sum(a{n})" for n in range(AGGREGATES))
    columns = ", ".join(f"s{n} bigint" for n in range(AGGREGATES))
    yield compare(subject, f"{AGGREGATES} sums", f"SELECT {sums} FROM answer", columns, MANY_AGGREGATES)


def many_groups(subject: Subject) -> Iterator[Line]:
    question = "SELECT {0}, count(*) FROM answer GROUP BY {0}"
    for column, groups, most in (("known", GROUPS, KNOWN_GROUPS), ("place", MANY_GROUPS, UNKNOWN_GROUPS)):
        name = f"count by {groups} {'known' if column == 'known' else 'unknown'} groups"
        yield compare(subject, name, question.format(column), "g int, c bigint", most)
