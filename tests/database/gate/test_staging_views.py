"""Views of analysts over protected tables: rows stay rows, answers are questions, the rest is refused at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dev.cluster import Cluster
from tests.database.gate.staging import Staging, refusal, staged
from tests.databases import MakeRole
from tests.messages import notices

STAGES = """
    CREATE VIEW mine.stg_customer AS SELECT * FROM shop.customer;
    CREATE VIEW mine.stg_orders AS
        SELECT order_id, customer_id, status, ordered, extract(year FROM ordered) AS year FROM shop.orders;
    CREATE VIEW mine.home AS SELECT customer_id, balance * 2 AS twice FROM mine.stg_customer WHERE segment = 'home';
    CREATE VIEW mine.joined AS
        SELECT c.segment, o.status FROM mine.stg_customer c JOIN mine.stg_orders o USING (customer_id);
    CREATE VIEW mine.each AS SELECT customer_id, count(*) AS n FROM shop.orders GROUP BY customer_id;
    CREATE VIEW mine.answer AS SELECT segment, count(*) AS n FROM mine.stg_customer GROUP BY segment;
"""


@pytest.fixture
def staging(cluster: Cluster, template: str, make_role: MakeRole) -> Iterator[Staging]:
    with staged(cluster, template, make_role) as database:
        with database.free():
            database.ana.execute(STAGES)
        yield database


def is_stored_as_question(staging: Staging, view: str) -> bool:
    row = staging.admin.execute("SELECT pg_get_viewdef(%s::regclass)", (f"mine.{view}",)).fetchone()
    assert row is not None
    return "discreet.query(" in row[0]


def test_views_of_rows_stay_views(staging: Staging) -> None:
    for view in ("stg_customer", "stg_orders", "home", "joined", "each"):
        assert not is_stored_as_question(staging, view), view
    assert is_stored_as_question(staging, "answer")


@pytest.mark.parametrize(
    "question",
    [
        "SELECT count(*) FROM mine.stg_customer",
        "SELECT segment, avg(balance) FROM mine.stg_customer GROUP BY 1",
        "SELECT avg(twice) FROM mine.home",
        "SELECT segment, status, count(*) FROM mine.joined GROUP BY 1, 2",
        "SELECT avg(least(n, 10)) FROM mine.each",
        "SELECT sum(n) FROM mine.answer",
    ],
)
def test_staging_layers_are_asked_about(staging: Staging, question: str) -> None:
    assert staging.ana.execute(question.encode()).fetchall()


def test_the_same_question_over_a_layer_is_paid_once(staging: Staging) -> None:
    staging.ana.execute("SELECT count(*) FROM (SELECT * FROM shop.customer) q")
    with staging.free():
        staging.ana.execute("SELECT count(*) FROM mine.stg_customer")
        staging.ana.execute("WITH q AS (SELECT * FROM shop.customer) SELECT count(*) FROM q")


def test_rows_of_a_layer_are_refused(staging: Staging) -> None:
    with staging.free():
        assert refusal(staging.ana, "SELECT * FROM mine.home") == "DP002"
        assert refusal(staging.ana, "SELECT count(*) FROM mine.stg_customer WHERE name = 'x'") == "DP001"


def test_rights_are_those_of_who_asks(staging: Staging) -> None:
    staging.ana.execute("GRANT USAGE ON SCHEMA mine TO PUBLIC; GRANT SELECT ON ALL TABLES IN SCHEMA mine TO PUBLIC")
    bob = staging.database.connect(staging.other)
    with staging.free():
        assert refusal(bob, "SELECT count(*) FROM mine.stg_customer") == "42501"
    staging.admin.execute("SELECT discreet.grant_budget('customers', %s, 1)", (staging.other,))
    bob = staging.database.connect(staging.other)
    assert bob.execute("SELECT count(*) FROM mine.stg_customer").fetchall()
    staging.admin.execute("SELECT discreet.revoke_budget('customers', %s)", (staging.other,))
    with staging.free():
        assert refusal(bob, "SELECT count(*) FROM mine.stg_customer") == "DP004"


def test_columns_that_are_hidden_later_are_hidden_in_the_layer(staging: Staging) -> None:
    staging.ana.execute("SELECT avg(balance) FROM mine.stg_customer")
    staging.admin.execute("SELECT discreet.describe_column('shop.customer', 'balance', visibility => 'hidden')")
    with staging.free():
        assert refusal(staging.ana, "SELECT avg(balance) FROM mine.stg_customer") == "DP001"
        assert refusal(staging.ana, "SELECT avg(twice) FROM mine.home") == "DP001"
    assert staging.ana.execute("SELECT count(*) FROM mine.stg_customer").fetchall()


@pytest.mark.parametrize(
    ("definition", "state"),
    [
        ("SELECT random() AS r, segment FROM shop.customer", "DP001"),
        ("SELECT segment, string_agg(phone, ',') FROM shop.customer GROUP BY 1", "DP001"),
        ("SELECT segment, sum(country_id) FROM shop.customer GROUP BY 1", "DP005"),
        ("SELECT upper(name) AS u FROM shop.customer", "DP001"),
        ("SELECT a.segment FROM shop.customer a, shop.customer b", "DP001"),
        ("SELECT * FROM shop.customer ORDER BY balance LIMIT 5", "DP001"),
    ],
)
def test_what_can_never_be_asked_is_refused_when_the_view_is_made(
    staging: Staging, definition: str, state: str
) -> None:
    with staging.free():
        assert refusal(staging.ana, f"CREATE VIEW mine.never AS {definition}") == state
    assert staging.admin.execute("SELECT to_regclass('mine.never')").fetchone() == (None,)


def test_layers_of_one_transaction_are_made_together(staging: Staging) -> None:
    staging.ana.execute(
        "BEGIN; CREATE VIEW mine.one AS SELECT * FROM shop.customer;"
        " CREATE VIEW mine.two AS SELECT segment FROM mine.one; COMMIT"
    )
    assert len(staging.ana.execute("SELECT segment, count(*) FROM mine.two GROUP BY 1").fetchall()) == 2


def test_dbt_renames_its_views(staging: Staging) -> None:
    staging.ana.execute(
        "BEGIN; CREATE VIEW mine.home__tmp AS (SELECT * FROM mine.home); ALTER VIEW mine.home RENAME TO home__old"
    )
    staging.ana.execute("ALTER VIEW mine.home__tmp RENAME TO home2; COMMIT")
    assert staging.ana.execute("SELECT count(*) FROM mine.home2").fetchall()


def test_answers_are_kept_in_tables_and_materialized_views_and_say_what_they_cost(staging: Staging) -> None:
    told = notices(staging.ana)
    before = staging.spent()
    staging.ana.execute("CREATE TABLE mine.kept AS SELECT segment, count(*) AS n FROM mine.stg_customer GROUP BY 1")
    assert staging.spent() > before
    assert "epsilon 0.1 spent" in str(told[-1])
    with staging.free():
        staging.ana.execute(
            "CREATE MATERIALIZED VIEW mine.seen AS SELECT segment, count(*) AS n FROM mine.stg_customer GROUP BY 1"
        )
        assert "free of charge" in str(told[-1])
        staging.ana.execute("REFRESH MATERIALIZED VIEW mine.seen")
        kept = staging.ana.execute("SELECT * FROM mine.kept ORDER BY 1").fetchall()
        assert staging.ana.execute("SELECT * FROM mine.seen ORDER BY 1").fetchall() == kept
        assert refusal(staging.ana, "CREATE MATERIALIZED VIEW mine.rows AS SELECT * FROM shop.customer") == "DP002"


def test_a_superuser_cannot_read_rows_by_an_analysts_view(staging: Staging) -> None:
    """The owner of the view may not read the table, so nobody may by her rights."""
    assert refusal(staging.admin, "SELECT * FROM mine.stg_customer") == "42501"
