"""create_dataset(…, period => '1 month'): each period has a budget, and a question pays from those that it reads."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from tests.databases import Database, MakeRole

SHOP = """
    CREATE SCHEMA shop;
    CREATE TABLE shop.customers (id int PRIMARY KEY, city text, age int);
    CREATE TABLE shop.visits (
        id int PRIMARY KEY, customer_id int REFERENCES shop.customers, pages int, visited_at timestamptz);
    CREATE TABLE shop.orders (
        id int PRIMARY KEY, customer_id int REFERENCES shop.customers, amount numeric, ordered_on date);
    CREATE TABLE shop.items (id int PRIMARY KEY, order_id int NOT NULL REFERENCES shop.orders, price int);
    INSERT INTO shop.customers SELECT n, 'city ' || n % 3, n % 90 FROM generate_series(1, 300) n;
    INSERT INTO shop.visits SELECT n, n % 300 + 1, n % 20, timestamptz '2026-01-01 00:00+00' + n * interval '1 hour'
    FROM generate_series(0, 24 * 120 - 1) n;
    INSERT INTO shop.orders SELECT n, n % 300 + 1, n % 50, date '2026-01-01' + n % 120 FROM generate_series(0, 999) n;
    INSERT INTO shop.items SELECT n, n % 1000, n % 10 FROM generate_series(0, 2999) n;
    ANALYZE;
    SELECT discreet.create_dataset('shop', 1000, 1e-3, period => '1 month', lifetime_epsilon => 1000);
    SELECT discreet.protect('shop.customers', 'id', 'shop');
    SELECT discreet.protect('shop.visits', 'customer_id', 'shop', max_rows => 10, "time" => 'visited_at');
    SELECT discreet.protect('shop.orders', 'customer_id', 'shop', max_rows => 5, "time" => 'ordered_on');
    SELECT discreet.protect('shop.items', 'order_id -> shop.orders.customer_id', 'shop', max_rows => 20);
    SELECT discreet.describe_column('shop.visits', 'pages', 0, 20);
    SELECT discreet.describe_column('shop.orders', 'amount', 0, 50);
    SELECT discreet.describe_column('shop.customers', 'age', 0, 100);
    SELECT discreet.describe_column('shop.customers', 'city', categories => ARRAY['city 0', 'city 1', 'city 2']);
"""
TODAY = date.today().replace(day=1)


def months(first: str, last: date = TODAY) -> list[str]:
    year, month = map(int, first.split("-"))
    found = []
    while date(year, month, 1) <= last:
        found.append(f"{year}-{month:02}-01")
        year, month = divmod(year * 12 + month, 12)[0], month % 12 + 1
    return found


class Shop:
    def __init__(self, database: Database, analyst: str) -> None:
        self.database = database
        self.admin, self.asker, self.analyst = database.connect(), database.connect(analyst), analyst
        self.admin.execute(SHOP)
        self.admin.execute("SELECT discreet.grant_budget('shop', %s::regrole, 1000, 1e-3)", [analyst])
        self.admin.execute(f"GRANT USAGE ON SCHEMA shop TO {analyst}")
        # of periods before today, only those that a question names are open
        self.admin.execute("UPDATE discreet._dataset SET created_at = now()")

    def ask(self, question: str, epsilon: float = 100) -> list[dict[str, Any]]:
        rows = self.asker.execute(
            "SELECT discreet.query_json(%s, %s, fresh => true)", [question, Decimal(str(epsilon))]
        )
        return [row for (row,) in rows.fetchall()]

    def number(self, question: str, epsilon: float = 100) -> float:
        ((answer,),) = (row.values() for row in self.ask(question, epsilon))
        return float(answer)

    def paid(self) -> list[str]:
        """The periods that the last question paid from."""
        ((details,),) = self.admin.execute(
            "SELECT details FROM discreet._charge WHERE dataset = 'shop' ORDER BY id DESC LIMIT 1"
        ).fetchall()
        return list(details["periods"])

    def lifetime(self) -> Decimal:
        ((spent,),) = self.admin.execute(
            "SELECT coalesce(sum(amount_spent), 0) FROM discreet._period_spent WHERE period = 'infinity' AND role = 0"
        ).fetchall()
        return Decimal(spent)

    def spent(self) -> dict[str, Decimal]:
        rows = self.admin.execute("SELECT period::text, amount_spent FROM discreet._period_spent WHERE role = 0")
        return dict(rows.fetchall())


@pytest.fixture
def shop(database: Database, make_role: MakeRole) -> Shop:
    return Shop(database, make_role("ann", "discreet_analyst"))


def test_a_question_pays_from_the_periods_that_its_conditions_leave_open(shop: Shop) -> None:
    january = shop.number(
        "SELECT count(*) FROM shop.visits WHERE visited_at >= '2026-01-01' AND visited_at < '2026-02-01'"
    )
    assert shop.paid() == ["2026-01-01"]
    assert abs(january - 31 * 24) < 5
    spring = shop.number(
        "SELECT count(*) FROM shop.visits WHERE visited_at BETWEEN '2026-02-10' AND '2026-04-01 12:00'"
    )
    assert shop.paid() == ["2026-02-01", "2026-03-01", "2026-04-01"]
    assert abs(spring - (19 * 24 + 31 * 24 + 13)) < 5
    whole = shop.number("SELECT count(*) FROM shop.visits")
    assert shop.paid() == ["-infinity", *months("2026-01")]
    assert abs(whole - 120 * 24) < 5
    assert shop.spent()["2026-01-01"] == 200
    assert shop.spent()["2026-04-01"] == 200
    assert shop.lifetime() == 0


def test_tables_without_a_time_pay_from_the_lifetime_once_for_each_period(shop: Shop) -> None:
    shop.number("SELECT avg(age) FROM shop.customers", 10)
    assert (shop.paid(), shop.lifetime()) == ([], 10)
    joined = "SELECT count(*) FROM shop.visits v JOIN shop.customers c ON v.customer_id = c.id WHERE {}"
    shop.number(joined.format("visited_at >= '2026-01-01' AND visited_at < '2026-04-01'"), 10)
    assert (shop.paid(), shop.lifetime()) == (["2026-01-01", "2026-02-01", "2026-03-01"], 40)
    shop.number(joined.format("visited_at >= '2026-01-01' AND visited_at < '2026-02-01'"), 10)
    assert (shop.paid(), shop.lifetime()) == (["2026-01-01"], 50)
    # rows whose person is found over a parent with a time belong to its period
    shop.number(
        "SELECT count(*) FROM shop.items i JOIN shop.orders o ON i.order_id = o.id WHERE ordered_on < '2026-02-01'"
        " AND ordered_on >= '2026-01-01'",
        10,
    )
    assert (shop.paid(), shop.lifetime()) == (["2026-01-01"], 60)


def test_group_by_month_costs_each_month_its_price_once(shop: Shop) -> None:
    rows = shop.ask(
        "SELECT date_trunc('month', visited_at) AS month, count(*) AS n FROM shop.visits"
        " WHERE visited_at >= '2026-01-01' AND visited_at < '2026-05-01' GROUP BY 1",
        20,
    )
    assert shop.spent() == dict.fromkeys(["2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01"], 20)
    assert len(rows) == 4
    assert all(abs(row["n"] - 24 * 30) < 60 for row in rows)


def test_bounds_hold_for_each_period_apart(shop: Shop) -> None:
    # 400 rows of one customer in each of two months; 10 of each count
    shop.admin.execute(
        "INSERT INTO shop.visits"
        " SELECT 10000 + n, 7, 1, timestamptz '2026-01-15 00:00+00' + (n % 2) * interval '1 month'"
        " FROM generate_series(1, 800) n"
    )
    both = (
        "SELECT count(*) FROM shop.visits WHERE pages = 1 AND visited_at >= '2026-01-01' AND visited_at < '2026-03-01'"
    )
    # customer 7 has 10 in each month, beside others' rows
    truth = shop.admin.execute(
        "SELECT sum(least(n, 10)) FROM (SELECT count(*) AS n FROM shop.visits WHERE pages = 1"
        " AND visited_at >= '2026-01-01' AND visited_at < '2026-03-01'"
        " GROUP BY customer_id, date_trunc('month', visited_at)) t"
    ).fetchone()
    assert truth is not None
    assert abs(shop.number(both) - float(truth[0])) < 5


def test_rows_without_a_date_are_a_period_of_their_own(shop: Shop) -> None:
    shop.admin.execute(
        "INSERT INTO shop.visits"
        " SELECT 20000 + n, n, 1, (ARRAY[NULL, 'infinity', '-infinity']::timestamptz[])[n % 3 + 1]"
        " FROM generate_series(1, 90) n;"
        "INSERT INTO shop.visits VALUES (30000, 1, 1, '12026-01-01'), (30001, 2, 1, '0044-03-15 BC'),"
        " (30002, 3, 1, '9999-12-31')"
    )
    assert abs(shop.number("SELECT count(*) FROM shop.visits WHERE visited_at IS NULL") - 30) < 3
    assert shop.paid() == ["-infinity"]
    assert abs(shop.number("SELECT count(*) FROM shop.visits") - 92) < 5
    assert shop.paid() == ["-infinity", TODAY.isoformat()]
    shop.number("SELECT count(*) FROM shop.visits WHERE visited_at >= '2026-01-01'")
    assert "-infinity" not in shop.paid()


@pytest.mark.parametrize(
    "update",
    [
        "UPDATE shop.visits SET visited_at = visited_at + interval '1 month' WHERE id = 5",
        "UPDATE shop.visits SET visited_at = NULL WHERE id = 5",
        "UPDATE shop.visits SET visited_at = 'infinity' WHERE id = 5",
        "INSERT INTO shop.visits VALUES (5, 5, 5, now()) ON CONFLICT (id) DO UPDATE SET visited_at = '2030-01-01'",
        "SET session_replication_role = replica; UPDATE shop.visits SET visited_at = '2030-01-01' WHERE id = 5",
        "ALTER TABLE shop.visits ALTER visited_at TYPE timestamp USING visited_at + interval '1 month'",
        "ALTER TABLE shop.visits DROP visited_at",
        "UPDATE discreet._dataset SET period = '1 day'",
    ],
)
def test_no_row_moves_to_another_period(shop: Shop, update: str) -> None:
    with pytest.raises(psycopg.Error, match=r"would move to another period|trigger|cannot be changed|time of its rows"):
        shop.admin.execute(update)


def test_a_row_may_move_within_its_period_and_change_otherwise(shop: Shop) -> None:
    shop.admin.execute("UPDATE shop.visits SET visited_at = visited_at + interval '1 hour', pages = 3 WHERE id = 5")
    shop.admin.execute("UPDATE shop.orders SET amount = 3")


def test_without_the_trigger_nothing_is_answered(shop: Shop) -> None:
    shop.admin.execute('ALTER TABLE shop.visits DISABLE TRIGGER "~discreet_period"')
    with pytest.raises(psycopg.Error, match="not kept in their periods"):
        shop.number("SELECT count(*) FROM shop.visits")


def test_old_periods_are_not_opened_by_another_time(shop: Shop) -> None:
    shop.number("SELECT count(*) FROM shop.orders WHERE ordered_on = '2026-01-05'", 1)
    shop.admin.execute(
        "ALTER TABLE shop.orders ADD shipped_on date;"
        "SELECT discreet.unprotect('shop.items'), discreet.unprotect('shop.orders')"
    )
    for time in ("", ", \"time\" => 'shipped_on'"):
        with pytest.raises(psycopg.Error, match="had their time in column ordered_on"):
            shop.admin.execute(f"SELECT discreet.protect('shop.orders', 'customer_id', 'shop', max_rows => 5{time})")
    shop.admin.execute(
        "SELECT discreet.protect('shop.orders', 'customer_id', 'shop', max_rows => 5, \"time\" => 'ordered_on')"
    )


def test_what_reads_a_table_otherwise_is_paid_by_no_period(shop: Shop) -> None:
    shop.admin.execute("SELECT discreet.grant_budget('shop', current_user::regrole, 100)")
    for statement in (
        "SELECT discreet.dp_count(*) FROM shop.customers",
        "SELECT discreet.synthesize('shop.customers', 'shop.copies', 1)",
    ):
        with pytest.raises(psycopg.Error, match="has periods"):
            shop.admin.execute(statement)


def test_the_log_of_periods_is_verified(shop: Shop) -> None:
    shop.number(
        "SELECT count(*) FROM shop.visits v JOIN shop.customers c ON v.customer_id = c.id"
        " WHERE visited_at < '2026-03-01' AND visited_at > '2026-01-20'",
        10,
    )
    intact = "SELECT intact, finding FROM discreet.verify_log() WHERE dataset = 'shop'"
    assert shop.admin.execute(intact).fetchall() == [(True, "every charge fits the one before it")]
    shop.admin.execute("UPDATE discreet._period_spent SET amount_spent = 0 WHERE period = '2026-02-01' AND role = 0")
    ((found, finding),) = shop.admin.execute(intact).fetchall()
    assert not found
    assert "period 2026-02-01" in finding


def test_budget_status_shows_periods_and_the_one_of_which_least_is_left(shop: Shop) -> None:
    shop.number("SELECT count(*) FROM shop.visits WHERE visited_at < '2026-03-01' AND visited_at > '2026-02-20'", 30)
    shop.number("SELECT count(*) FROM shop.visits WHERE visited_at < '2026-03-01' AND visited_at > '2026-01-20'", 10)
    status = (
        "SELECT period, epsilon_left FROM discreet.budget_status WHERE dataset = 'shop' AND role IS NULL"
        " ORDER BY period"
    )
    assert shop.asker.execute(status).fetchall() == [
        ("2026-01-01", 990), ("2026-02-01", 960), (TODAY.isoformat(), 1000), ("lifetime", 1000), (None, 960),
    ]  # fmt: skip


def test_the_report_draws_periods_and_what_is_kept(shop: Shop) -> None:
    shop.number("SELECT count(*) FROM shop.visits WHERE visited_at < '2026-03-01' AND visited_at > '2026-02-20'", 30)
    shop.admin.execute("SELECT discreet.reserve_budget('shop', %s::regrole, 400, '2999-01-01')", [shop.analyst])
    ((page,),) = shop.admin.execute("SELECT discreet.report()").fetchall()
    assert "2026-02-01: epsilon 30 of 1000 spent, 400 kept" in page
    assert f"Period {TODAY}: Nothing has been spent yet." in page
    assert f"Kept for {shop.analyst} until 2999-01-01" in page
    shop.number("SELECT count(*) FROM shop.visits", 10)
    ((page,),) = shop.admin.execute("SELECT discreet.report()").fetchall()
    assert f"{TODAY}: epsilon 10 of 1000 spent, 390 kept" in page
    assert f"Period {TODAY}: First spent from less than a day ago" in page


def test_a_refusal_names_periods_that_are_dry_and_some_that_are_not(shop: Shop) -> None:
    shop.admin.execute("UPDATE discreet._budget SET amount_limit = 100 WHERE role = 0")
    shop.number("SELECT count(*) FROM shop.visits WHERE visited_at < '2026-03-01' AND visited_at >= '2026-01-01'", 95)
    with pytest.raises(psycopg.Error) as refused:
        shop.number(
            "SELECT count(*) FROM shop.visits WHERE visited_at < '2026-06-01' AND visited_at >= '2026-01-01'", 100
        )
    assert "the budget of dataset shop is exhausted in 2026-01-01, 2026-02-01" in str(refused.value)
    assert "from 2026-03-01 to before 2026-06-01" in str(refused.value)
    assert shop.spent() == {"2026-01-01": 95, "2026-02-01": 95}
    with pytest.raises(psycopg.Error) as refused:
        shop.number(
            "SELECT count(*) FROM shop.visits WHERE visited_at < '2026-03-01' AND visited_at >= '2026-01-01'", 100
        )
    assert "from 2026-03-01 to before 2026-04-01" in str(refused.value)


def test_explain_names_the_periods_that_would_pay(shop: Shop) -> None:
    question = "SELECT count(*) FROM shop.visits v JOIN shop.customers c ON v.customer_id = c.id WHERE {}"
    explain = "SELECT discreet.explain(%s, 2)"
    ((told,),) = shop.asker.execute(
        explain, [question.format("visited_at < '2026-03-01' AND visited_at > '2026-02-01'")]
    )
    assert (told["periods"], told["lifetime_epsilon"]) == (["2026-02-01"], "2")
    ((text,),) = shop.asker.execute("SELECT discreet.explain_text(%s, 2)", [question.format("visited_at IS NULL")])
    assert (
        "epsilon 2 of each of the periods undated of dataset shop and epsilon 2 of the lifetime of dataset shop" in text
    )
    assert shop.spent() == {}


def test_rows_of_other_periods_are_a_caveat(shop: Shop) -> None:
    caveats = "SELECT discreet.explain(%s)->>'caveats'"
    open_end = (
        "SELECT count(*) FROM shop.customers c JOIN shop.visits v ON c.id = v.customer_id"
        " WHERE visited_at >= '2026-10-05'"
    )
    ((told,),) = shop.asker.execute(caveats, [open_end])
    assert "rows dated outside 2026-10-01.." in told
    assert "and without a date left out" in told
    ((told,),) = shop.asker.execute(caveats, [open_end + " AND visited_at < '2026-11-01'"])
    assert "dated" not in told


def test_questions_within_a_question_pay_from_the_periods_of_all(shop: Shop) -> None:
    shop.number(
        "SELECT count(*) FROM shop.visits WHERE visited_at >= '2026-03-01' AND visited_at < '2026-04-01' AND pages >"
        " (SELECT avg(pages) FROM shop.visits WHERE visited_at >= '2026-01-01' AND visited_at < '2026-02-01')",
        10,
    )
    assert shop.paid() == ["2026-01-01", "2026-03-01"]
    assert shop.spent() == {"2026-01-01": 10, "2026-03-01": 10}


def test_what_was_measured_is_given_again_for_the_same_periods_only(shop: Shop) -> None:
    january = "SELECT count(*) FROM shop.visits WHERE visited_at >= '2026-01-01' AND visited_at < '2026-02-01'"
    first = shop.asker.execute(january).fetchone()
    assert shop.asker.execute(january.replace("count(*)", "count(*) AS again")).fetchone() == first
    whole = "SELECT count(*) FROM shop.visits"
    assert shop.asker.execute(whole).fetchone() == shop.asker.execute(whole).fetchone()
    assert len(shop.admin.execute("SELECT FROM discreet._charge").fetchall()) == 2
    # one more period is opened, and belongs to all
    shop.ask("SELECT count(*) FROM shop.visits WHERE visited_at = '2025-12-31'", 1)
    shop.asker.execute(whole)
    assert shop.paid() == ["-infinity", *months("2025-12")]


def test_a_limit_of_a_role_is_for_each_period_or_for_ever(shop: Shop) -> None:
    january = "SELECT count(*) FROM shop.visits WHERE visited_at >= '2026-01-01' AND visited_at < '2026-02-01'"
    february = january.replace("02-01", "03-01").replace("01-01", "02-01")
    for forever in (False, True):
        shop.admin.execute(
            "SELECT discreet.grant_budget('shop', %s::regrole, 12, forever => %s)", [shop.analyst, forever]
        )
        shop.admin.execute("TRUNCATE discreet._period_spent; UPDATE discreet._budget SET amount_spent = 0")
        shop.ask(january, 10)
        with pytest.raises(psycopg.Error, match="exhausted"):
            shop.ask(january, 10)
        if forever:
            with pytest.raises(psycopg.Error, match="exhausted"):
                shop.ask(february, 10)
        else:
            shop.ask(february, 10)


def test_an_application_that_may_only_write_is_kept_to_periods(shop: Shop, make_role: MakeRole) -> None:
    app = make_role("app")
    shop.admin.execute(f"GRANT USAGE ON SCHEMA shop TO {app}; GRANT SELECT, UPDATE, INSERT ON shop.visits TO {app}")
    connection = shop.database.connect(app)
    connection.execute("UPDATE shop.visits SET visited_at = visited_at + interval '1 second' WHERE id = 5")
    with pytest.raises(psycopg.Error, match="would move to another period"):
        connection.execute("UPDATE shop.visits SET visited_at = visited_at + interval '1 year' WHERE id = 5")


def test_rows_of_partitions_are_kept_in_their_periods(shop: Shop) -> None:
    shop.admin.execute("""
        CREATE TABLE shop.logins (customer_id int, at timestamp) PARTITION BY RANGE (at);
        CREATE TABLE shop.logins_1 PARTITION OF shop.logins FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
        SELECT discreet.protect('shop.logins', 'customer_id', 'shop', max_rows => 10, "time" => 'at');
        CREATE TABLE shop.logins_2 PARTITION OF shop.logins FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
        INSERT INTO shop.logins SELECT n, '2026-01-05' FROM generate_series(1, 50) n;
        INSERT INTO shop.logins SELECT n, '2026-02-05' FROM generate_series(1, 50) n;
    """)
    with pytest.raises(psycopg.Error, match="would move to another period"):
        shop.admin.execute("UPDATE shop.logins SET at = '2026-02-07' WHERE at = '2026-01-05'")
    assert abs(shop.number("SELECT count(*) FROM shop.logins WHERE at < '2026-02-01' AND at >= '2026-01-01'") - 50) < 3
    assert shop.paid() == ["2026-01-01"]
    shop.admin.execute("ALTER TABLE shop.logins RENAME at TO moment")
    assert (
        abs(shop.number("SELECT count(*) FROM shop.logins WHERE moment >= '2026-02-01' AND moment < '2026-03-01'") - 50)
        < 3
    )
    shop.admin.execute("CREATE TABLE shop.child () INHERITS (shop.visits)")
    with pytest.raises(psycopg.Error, match="not kept in their periods"):
        shop.number("SELECT count(*) FROM shop.visits")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT discreet.create_dataset('d', 1, period => '1 hour')", "neither whole months nor whole days"),
        ("SELECT discreet.create_dataset('d', 1, period => '1 month 1 day')", "neither whole months nor whole days"),
        ("SELECT discreet.create_dataset('d', 1, period => '-1 month')", "neither whole months nor whole days"),
        ("SELECT discreet.create_dataset('d', 1, period => '0')", "neither whole months nor whole days"),
        ("SELECT discreet.create_dataset('d', 1, lifetime_epsilon => 1)", "without a period"),
        ("SELECT discreet.create_dataset('d', 1, period => '1 month', neighbours => 'bounded')", "'unbounded'"),
        ("SELECT discreet.create_dataset('d', 1, period => '1 month', lifetime_epsilon => 'NaN')", "not a budget"),
        ("SELECT discreet.protect('shop.t', 'who', 'plain', max_rows => 1, \"time\" => 'at')", "has no period"),
        ("SELECT discreet.protect('shop.t', 'who', 'shop', max_rows => 1, \"time\" => 'who')", "cannot be the time"),
        ("SELECT discreet.protect('shop.t', 'who', 'shop', max_rows => 1, \"time\" => 'no')", "no column"),
        ("SELECT discreet.protect('shop.t', 'who', 'shop', policy => 'personal', unit_epsilon => 1)", "policy"),
        ("SELECT discreet.grant_budget('plain', 'postgres', 1, forever => true)", "has no period"),
    ],
)
def test_periods_are_declared_with_sense(shop: Shop, statement: str, message: str) -> None:
    shop.admin.execute("CREATE TABLE shop.t (who int, at date); SELECT discreet.create_dataset('plain', 1)")
    with pytest.raises(psycopg.Error, match=message):
        shop.admin.execute(statement)


def test_weeks_are_periods_too(shop: Shop) -> None:
    shop.admin.execute("""
        SELECT discreet.create_dataset('weeks', 100, period => '7 days');
        CREATE TABLE shop.weekly (who int, at date);
        INSERT INTO shop.weekly SELECT n, date '2026-07-01' + n % 21 FROM generate_series(0, 209) n;
        SELECT discreet.protect('shop.weekly', 'who', 'weeks', max_rows => 1, "time" => 'at');
    """)
    shop.admin.execute("SELECT discreet.grant_budget('weeks', %s::regrole, 100)", [shop.analyst])
    shop.ask("SELECT count(*) FROM shop.weekly WHERE at BETWEEN '2026-07-08' AND '2026-07-14'")
    rows = shop.admin.execute("SELECT details->>'periods' FROM discreet._charge WHERE dataset = 'weeks'").fetchall()
    assert rows == [('["2026-07-06", "2026-07-13"]',)]
