"""Three years of dashboards, with a budget for each month and with one for ever; both promise the same for a month."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

import psycopg

from bench.measure import Connection, Line, Subject

MONTHS, FIRST = 36, date(2023, 1, 1)
PEOPLE, VISITS = 2000, 72_000
PRICE = Decimal("0.1")
# what the questions take from each month
PROMISE = 5 * PRICE
ASKER = "bench_dashboard"
KEPT = {"by_month": "period => '1 month'", "for_ever": ""}


def load(subject: Subject) -> None:
    subject.cluster.sql(f"CREATE ROLE {ASKER} LOGIN")
    for name, period in KEPT.items():
        time, more = (", \"time\" => 'visited_at'", f", {period}") if period else ("", "")
        subject.cluster.sql(f"""
            CREATE TABLE {name} (customer_id int, town text, pages int, visited_at timestamptz NOT NULL);
            INSERT INTO {name} SELECT n % {PEOPLE}, 'town ' || n % 5, n % 20,
                   begin + n * (timestamptz '{month(MONTHS)} 00:00+00' - begin) / {VISITS}
            FROM generate_series(0, {VISITS - 1}) n, (SELECT timestamptz '{FIRST} 00:00+00') AS first(begin);
            ANALYZE {name};
            SELECT discreet.create_dataset('{name}', {PROMISE}{more});
            SELECT discreet.protect('{name}', 'customer_id', '{name}', max_rows => 3{time});
            SELECT discreet.describe_column('{name}', 'pages', 0, 20);
            SELECT discreet.describe_column('{name}', 'town', categories => array_agg('town ' || n))
            FROM generate_series(0, 4) n;
            SELECT discreet.grant_budget('{name}', '{ASKER}', {PROMISE});
        """)


def month(number: int) -> date:
    return date(FIRST.year + number // 12, number % 12 + 1, 1)


def asked_after(number: int) -> Iterator[tuple[str, int]]:
    """The questions that are asked when this month is over, and how many months each is about."""
    for shown in ("town, count(*)", "avg(pages)", "count(*)"):
        yield shown, 1
    if number % 3 == 2:
        yield "town, count(*)", 3
    if number % 12 == 11:
        yield "town, avg(pages)", 12


def question(table: str, shown: str, first: date, end: date) -> str:
    where = f"visited_at >= '{first}' AND visited_at < '{end}'"
    group = " GROUP BY town" if shown.startswith("town") else ""
    return f"SELECT {shown} FROM {table} WHERE {where}{group}"


def answered(connection: Connection, table: str) -> tuple[int, int]:
    """How many questions of three years are answered, of how many."""
    found = every = 0
    for number in range(MONTHS):
        for shown, months in asked_after(number):
            text = question(table, shown, month(number + 1 - months), month(number + 1))
            every += 1
            try:
                connection.execute("SELECT discreet.query_json(%s, %s)", [text, PRICE]).fetchall()
                found += 1
            except psycopg.Error as error:
                if error.sqlstate != "DP003":
                    raise
    return found, every


def dashboards(subject: Subject) -> Iterator[Line]:
    """What a month has paid is the same in both; without periods, what is asked about one counts for all."""
    with subject.connect(user=ASKER) as connection:
        (without, every), (with_months, _) = (answered(connection, name) for name in ("for_ever", "by_month"))
    most = subject.cluster.sql("SELECT max(amount_spent) FROM discreet._period_spent WHERE role = 0")
    yield Line(
        f"dashboards of {MONTHS} months, epsilon {PROMISE} for a person's month; native: one budget for ever",
        f"{without} of {every} answered",
        f"{with_months} of {every} answered",
        f"{with_months / every:.0%}",
        "100%",
        with_months == every and Decimal(most) <= PROMISE,
    )
    yield Line(
        "epsilon for a person who comes every month, for as many answers",
        f"{every * PRICE}",
        f"{MONTHS * PROMISE}",
        f"{PROMISE} a month",
    )
