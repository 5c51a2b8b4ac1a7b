"""query(…, sample => …): an answer from a secret part of the people, for less."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from scipy.stats import binom
from tests.databases import Connection, Database, MakeRole

from discreet.dp.sampling import PoissonSample
from discreet.gate.sampling import BYTES, Sampled

PEOPLE = 20_000
TABLES = f"""
    CREATE SCHEMA shop AUTHORIZATION {{curator}};
    SET ROLE {{curator}};
    CREATE TABLE shop.customer (id int PRIMARY KEY, kind text NOT NULL, spent int NOT NULL, mail text NOT NULL);
    INSERT INTO shop.customer
    SELECT n, 'k' || n % 4, n % 101, 'c' || n FROM generate_series(1, {PEOPLE}) n;
    CREATE TABLE shop.purchase (customer int NOT NULL REFERENCES shop.customer, price int NOT NULL);
    INSERT INTO shop.purchase SELECT n, n % 11 FROM generate_series(1, {PEOPLE}) n, generate_series(1, 1 + n % 3);
    RESET ROLE;
"""
DECLARED = """
    SELECT discreet.create_dataset('shop', 1000, 1e-4);
    SELECT discreet.protect('shop.customer', 'id', dataset => 'shop');
    SELECT discreet.protect('shop.purchase', 'customer', dataset => 'shop', max_rows => 3);
    SELECT discreet.describe_column('shop.customer', 'spent', 0, 100);
    SELECT discreet.describe_column('shop.customer', 'kind', categories => '{{k0,k1,k2,k3}}');
    SELECT discreet.describe_column('shop.purchase', 'price', 0, 10);
    SELECT discreet.grant_budget('shop', '{analyst}', 1000, 1e-4)
"""
SUMS = "SELECT kind, sum(spent) FROM shop.customer GROUP BY kind"


class Shop:
    def __init__(self, analyst: Connection, admin: Connection) -> None:
        self.analyst, self.admin = analyst, admin
        self.told: list[str] = []
        analyst.add_notice_handler(lambda notice: self.told.append(str(notice.message_primary)))

    def ask(self, question: str, columns: str, options: str = "epsilon => 1, sample => 0.1") -> list[tuple[Any, ...]]:
        return self.analyst.execute(
            f"SELECT * FROM discreet.query(%s, {options}) AS t({columns})", [question]
        ).fetchall()

    def charges(self) -> list[tuple[Decimal, Decimal]]:
        return self.admin.execute("SELECT epsilon, delta FROM discreet._charge ORDER BY id").fetchall()


@pytest.fixture
def shop(admin: Connection, curator: str, database: Database, make_role: MakeRole) -> Shop:
    admin.execute(TABLES.format(curator=curator))
    analyst = make_role("ann", "discreet_analyst")
    owner = database.connect(curator)
    for statement in DECLARED.format(analyst=analyst).strip().split(";\n"):
        owner.execute(statement)
    owner.execute(f"GRANT USAGE ON SCHEMA shop TO {analyst}")
    return Shop(database.connect(analyst), admin)


def test_the_price_is_that_of_the_sample(shop: Shop) -> None:
    shop.ask("SELECT count(*) FROM shop.customer", "n bigint")
    ((epsilon, delta),) = shop.charges()
    assert float(epsilon) == pytest.approx(math.log1p(0.1 * math.expm1(1)), rel=1e-9)
    assert delta == 0
    assert any("estimated from a random 10 % of the people" in told for told in shop.told)
    shop.ask("SELECT mail, count(*) FROM shop.customer GROUP BY mail", "mail text, n bigint")
    # a hundredth of the dataset's delta, of which a tenth is paid
    assert shop.charges()[1][1] == Decimal("1e-7")


def test_estimates_are_scaled_and_their_errors_hold_the_sample(shop: Shop) -> None:
    """The count has a deviation of √(20,000 · 9) = 424 by the sample: it is six times that off in 2 of 10^9 cases."""
    question = "SELECT count(*), sum(spent), avg(spent) FROM shop.customer"
    columns = "n bigint, n_error numeric, total bigint, total_error numeric, mean numeric, mean_error numeric"
    options = "epsilon => 9, sample => 0.1, with_error => true"
    ((n, n_error, total, total_error, mean, mean_error),) = shop.ask(question, columns, options)
    assert abs(n - PEOPLE) < 6 * 424
    assert 1.96 * 424 < n_error < 6 * 424
    assert abs(total - 50 * PEOPLE) < 6 * 424 * 60
    assert 424 * 60 < total_error < 200 * n_error
    # the deviation of a mean of 2,000 values from 0 to 100 is below 1.2
    assert abs(float(mean) - 50) < 7
    assert 1 < mean_error < 20


def test_rows_of_a_person_are_sampled_together(shop: Shop) -> None:
    ((rows, people),) = shop.ask("SELECT count(*), count(DISTINCT customer) FROM shop.purchase", "n bigint, p bigint",
                                 "epsilon => 50, sample => 0.5")  # fmt: skip
    assert abs(people - PEOPLE) < 6 * 142
    assert abs(rows - 2 * people) < 6 * 200


def test_a_small_sample_is_looked_up_by_an_index(shop: Shop) -> None:
    """The same answers as without one. The list of people comes from the index alone, and their rows by the index."""
    shop.admin.execute("ALTER TABLE shop.purchase ADD wide text DEFAULT repeat('w', 300)")
    shop.admin.execute("CREATE INDEX ON shop.purchase (customer)")
    shop.admin.execute("VACUUM FULL shop.purchase")
    shop.admin.execute("VACUUM ANALYZE shop.purchase")
    ((rows, people),) = shop.ask("SELECT count(*), count(DISTINCT customer) FROM shop.purchase", "n bigint, p bigint",
                                 "epsilon => 50, sample => 0.05")  # fmt: skip
    assert abs(people - PEOPLE) < 6 * 617
    assert abs(rows - 2 * people) < 6 * 617
    sample = Sampled(PoissonSample.of(Decimal("0.01")), "integer").drawn()
    listed = sample.looked_up("shop.purchase AS sampled", "sampled.customer")
    condition = f"{sample.sql('customer')} AND customer = ANY ({listed})"
    read = f"SELECT customer, price FROM shop.purchase WHERE {condition}"
    every = f"SELECT customer, price FROM shop.purchase WHERE {sample.sql('customer')}"
    assert shop.admin.execute(f"({every}) EXCEPT ALL ({read})".encode()).fetchall() == []
    plan = "\n".join(str(row[0]) for row in shop.admin.execute(f"EXPLAIN (COSTS off) {read}".encode()).fetchall())
    assert "Index Only Scan using purchase_customer_idx on purchase sampled" in plan
    assert "Seq Scan" not in plan


def test_all_numbers_of_a_charge_have_one_sample_and_every_charge_a_new_one(shop: Shop) -> None:
    """At epsilon 100 noise is below one row but in 1 of 10^9 cases, and scaled below 10; two samples are 424 apart."""
    question = "SELECT kind, count(*) FROM shop.customer GROUP BY ROLLUP (kind)"
    options = "epsilon => 50, sample => 0.1, fresh => true"
    first, second = (dict(shop.ask(question, "kind text, n bigint", options)) for _ in range(2))
    for found in (first, second):
        assert abs(found.pop(None) - sum(found.values())) <= 60
    assert first != second


def test_a_sampled_answer_is_stored_for_the_same_rate_only(shop: Shop) -> None:
    first = shop.ask(SUMS, "kind text, total bigint")
    assert shop.ask(SUMS, "kind text, total bigint") == first
    assert len(shop.charges()) == 1
    for options in ("epsilon => 1", "epsilon => 1, sample => 0.2", "epsilon => 1, sample => 0.1, fresh => true"):
        assert shop.ask(SUMS, "kind text, total bigint", options) != first
    assert len(shop.charges()) == 4


REFUSED = [
    ("SELECT count(*) FROM shop.customer", "n bigint", "sample => 0", "22023"),
    ("SELECT count(*) FROM shop.customer", "n bigint", "sample => 1", "22023"),
    ("SELECT count(*) FROM shop.customer", "n bigint", "sample => 'NaN'", "22023"),
    ("SELECT count(*) FROM shop.customer", "n bigint", "sample => 0.1, accuracy => 5", "DP001"),
    ("SELECT max(spent) FROM shop.customer", "n int", "sample => 0.1", "DP001"),
    ("SELECT stddev(spent) FROM shop.customer", "n numeric", "sample => 0.1", "DP001"),
    ("SELECT count(DISTINCT spent) FROM shop.customer", "n bigint", "sample => 0.1", "DP001"),
    ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY spent) FROM shop.customer", "n float8", "sample => 0.1",
     "DP001"),
    ("SELECT count(*) FROM shop.customer WHERE spent > (SELECT avg(spent) FROM shop.customer)", "n bigint",
     "sample => 0.1", "DP001"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "columns", "options", "code"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_scaled_is_refused(shop: Shop, question: str, columns: str, options: str, code: str) -> None:
    with pytest.raises(psycopg.Error) as error:
        shop.ask(question, columns, options)
    assert error.value.sqlstate == code
    assert shop.charges() == []


@pytest.mark.parametrize("kept", ["accounting => 'zcdp'", "neighbours => 'bounded'"])
def test_other_datasets_are_refused(shop: Shop, curator: str, database: Database, kept: str) -> None:
    owner, analyst = database.connect(curator), shop.analyst.info.user
    owner.execute(f"""
        CREATE TABLE shop.other (id int PRIMARY KEY);
        SELECT discreet.create_dataset('other', 3, 1e-6, {kept});
        SELECT discreet.protect('shop.other', 'id', dataset => 'other');
        SELECT discreet.grant_budget('other', '{analyst}', 3)
    """)
    with pytest.raises(psycopg.Error, match="saves nothing") as error:
        shop.ask("SELECT count(*) FROM shop.other", "n bigint")
    assert error.value.sqlstate == "DP001"


@pytest.mark.parametrize("unit", ["id", "mail", "id::smallint", "md5(mail)::uuid", "date '2000-01-01' + id"])
def test_each_person_belongs_to_the_sample_independently(shop: Shop, unit: str) -> None:
    """1,000 people, 200 keys: how many belong, and how many neighbours both do; each bound fails in 1 of 10^8 cases."""
    kind = shop.admin.execute(f"SELECT pg_typeof({unit})::text FROM shop.customer LIMIT 1").fetchone()
    assert kind is not None
    assert kind[0] in BYTES
    one = both = 0
    for _ in range(200):
        condition = Sampled(PoissonSample.of(Decimal("0.3")), kind[0]).drawn().sql(unit)
        counts = f"""
            SELECT count(*) FILTER (WHERE here), count(*) FILTER (WHERE here AND next)
            FROM (SELECT here, lead(here) OVER (ORDER BY id) AS next
                  FROM (SELECT id, {condition} AS here FROM shop.customer WHERE id <= 1000) AS s) AS t
        """
        found = shop.admin.execute(counts).fetchone()
        assert found is not None
        one, both = one + found[0], both + found[1]
    for seen, tries, likely in ((one, 66_666, 0.3), (both, 66_600, 0.09)):
        # a third of the tries: pairs overlap, so that their number varies more than that of as many tosses
        assert binom.ppf(1e-8, tries, likely) <= seen / 3 <= binom.isf(1e-8, tries, likely)
