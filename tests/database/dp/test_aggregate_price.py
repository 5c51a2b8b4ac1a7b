"""What the aggregates cost, in which currency, to which dataset; and what the noise is told about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

import psycopg
import pytest
from tests.database.dp.aggregating import BOUNDED, Exact, call
from tests.databases import Connection
from tests.messages import refused

DATASETS = """
    SET client_min_messages = warning;
    SELECT discreet.create_dataset('pure', 100), discreet.create_dataset('zcdp', 10, 1e-6, 'zcdp'),
           discreet.create_dataset('bounded', 100, neighbours => 'bounded'), discreet.create_dataset('capped', 100);
    DO $$ DECLARE name text; BEGIN
        FOREACH name IN ARRAY ARRAY['pure', 'zcdp', 'bounded', 'capped'] LOOP
            EXECUTE format('CREATE TABLE data.%I (id int PRIMARY KEY, g int NOT NULL, x int)', name);
            EXECUTE format('INSERT INTO data.%I SELECT n, n %% 5, n %% 100 FROM generate_series(1, 500) n', name);
            EXECUTE format('GRANT SELECT ON data.%I TO PUBLIC', name);
            EXECUTE format('SELECT discreet.protect(%L, ''id'', dataset => %L, max_epsilon => %s)',
                           'data.' || name, name, CASE name WHEN 'capped' THEN '0.5' ELSE 'NULL' END);
        END LOOP;
    END $$;
    RESET client_min_messages;
"""


@pytest.fixture(scope="session")
def datasets(dp_admin: Connection) -> Connection:
    dp_admin.execute(DATASETS)
    dp_admin.execute(
        "SELECT discreet.grant_budget(dataset, 'dora', epsilon_limit, delta_limit) FROM discreet.datasets"
        " WHERE dataset IN ('pure', 'zcdp', 'bounded', 'capped')"
    )
    return dp_admin


@pytest.fixture(scope="session")
def exact_datasets(exact_session: Exact) -> None:
    exact_session.connection.execute(DATASETS)


@contextmanager
def costs(admin: Connection, dataset: str, amount: str) -> Iterator[None]:
    question = "SELECT amount_spent FROM discreet._budget WHERE dataset = %s AND role = 0"
    (before,) = admin.execute(question, [dataset]).fetchone() or (None,)
    yield
    (after,) = admin.execute(question, [dataset]).fetchone() or (None,)
    assert after - before == Decimal(amount)


@pytest.mark.parametrize("aggregate", ["dp_count", "dp_count_distinct", *BOUNDED])
def test_every_aggregate_costs_its_epsilon(datasets: Connection, dora: Connection, aggregate: str) -> None:
    with costs(datasets, "pure", "0.25"):
        dora.execute(f"SELECT {call(aggregate, 'x', '0', '100', '0.25')} FROM data.pure")


def test_aggregates_of_one_statement_add_up(datasets: Connection, dora: Connection) -> None:
    with costs(datasets, "pure", "0.6"):
        dora.execute(
            "SELECT discreet.dp_count(x, 0.1), discreet.dp_sum(x, 0, 100, 0.2), discreet.dp_avg(x, 0, 100, 0.3)"
            " FROM data.pure GROUP BY g"
        )
    (charge,) = dora.execute("SELECT epsilon, delta FROM discreet.charges ORDER BY at DESC LIMIT 1").fetchall()
    assert charge == (Decimal("0.6"), 0)


def test_wish_is_what_the_session_sets(datasets: Connection, dora: Connection) -> None:
    with costs(datasets, "pure", "0.1"):
        dora.execute("SELECT discreet.dp_count(*) FROM data.pure")
    dora.execute("SET discreet.epsilon = 0.02")
    with costs(datasets, "pure", "0.04"):
        dora.execute("SELECT discreet.dp_count(*), discreet.dp_median(x, 0, 100) FROM data.pure")
    with costs(datasets, "pure", "0.52"):
        dora.execute("SELECT discreet.dp_count(*), discreet.dp_median(x, 0, 100, 0.5) FROM data.pure")


def test_wish_is_charged_to_its_last_digit(datasets: Connection, dora: Connection) -> None:
    dora.execute("SET extra_float_digits = -15; SET discreet.epsilon = 0.0163")
    with costs(datasets, "pure", "0.0163"):
        dora.execute("SELECT discreet.dp_count(*) FROM data.pure")


def test_unprotected_table_is_paid_by_the_default_dataset(datasets: Connection, dora: Connection) -> None:
    with costs(datasets, "default", "0.1"), costs(datasets, "pure", "0"):
        dora.execute("SELECT discreet.dp_count(*) FROM data.t")


def test_public_table_is_paid_by_the_default_dataset(datasets: Connection, dora: Connection) -> None:
    datasets.execute("CREATE TABLE data.open (id int); GRANT SELECT ON data.open TO PUBLIC")
    datasets.execute("SELECT discreet.protect('data.open', NULL, policy => 'public')")
    with costs(datasets, "default", "0.1"):
        dora.execute("SELECT discreet.dp_count(*) FROM data.open")


def test_zcdp_dataset_pays_in_rho(datasets: Connection, dora: Connection) -> None:
    """An epsilon of 0.5 is worth rho = 0.5**2 / 2; five grouping sets of it five times as much."""
    with costs(datasets, "zcdp", "0.125"):
        dora.execute("SELECT discreet.dp_count(x, 0.5) FROM data.zcdp")
    with costs(datasets, "zcdp", "0.04"):
        dora.execute("SELECT g, discreet.dp_count(x, 0.2) FROM data.zcdp GROUP BY ROLLUP (g)")
    (charge,) = dora.execute("SELECT epsilon, details FROM discreet.charges ORDER BY at DESC LIMIT 1").fetchall()
    assert charge[0] == Decimal("0.4")


def test_status_of_a_zcdp_dataset_is_converted(datasets: Connection, dora: Connection) -> None:
    dora.execute("SELECT discreet.dp_count(x, 0.5) FROM data.zcdp")
    ((limit, spent, left, rho_spent, rho_limit),) = datasets.execute(
        "SELECT s.epsilon_limit, s.epsilon_spent, s.epsilon_left, b.amount_spent, b.amount_limit"
        " FROM discreet.budget_status s JOIN discreet._budget b USING (dataset)"
        " WHERE dataset = 'zcdp' AND s.role IS NULL AND b.role = 0"
    ).fetchall()
    # half of delta is for thresholds of unknown keys
    ((converted, most),) = datasets.execute(
        "SELECT discreet.zcdp_epsilon(%s, 5e-7), discreet.gaussian_rho(10, 5e-7)", [rho_spent]
    ).fetchall()
    assert (limit, spent, rho_limit) == (10, converted, most)
    assert left == limit - spent


def test_zcdp_answers_more_small_questions_than_pure_would(datasets: Connection) -> None:
    ((pure, zcdp),) = datasets.execute(
        "SELECT 10 / 0.1, floor(amount_limit / (0.1 * 0.1 / 2)) FROM discreet._budget"
        " WHERE dataset = 'zcdp' AND role = 0"
    ).fetchall()
    assert zcdp > 2 * pure


def test_zcdp_budget_ends(datasets: Connection, dora: Connection) -> None:
    with refused("DP003", "the budget of dataset zcdp is exhausted", "budget_status"):
        dora.execute("SELECT discreet.dp_count(x, 50) FROM data.zcdp")


def test_wish_is_lowered_to_the_cap(datasets: Connection, dora: Connection) -> None:
    dora.execute("SET discreet.epsilon = 10")
    with costs(datasets, "capped", "0.5"):
        dora.execute("SELECT discreet.dp_count(*) FROM data.capped")
    with costs(datasets, "capped", "0.5"):
        dora.execute("SELECT discreet.dp_count(*), discreet.dp_avg(x, 0, 100) FROM data.capped")
    with costs(datasets, "capped", "0.5"):
        dora.execute("SELECT discreet.dp_count(*), discreet.dp_avg(x, 0, 100, 0.4) FROM data.capped")
    with costs(datasets, "capped", "0.499999999998"):
        dora.execute("SELECT g, discreet.dp_count(*) FROM data.capped GROUP BY GROUPING SETS (g, x, ())")


def test_epsilon_in_the_question_above_the_cap_is_refused(datasets: Connection, dora: Connection) -> None:
    for question in (
        "SELECT discreet.dp_count(x, 0.51) FROM data.capped",
        "SELECT discreet.dp_count(x, 0.3), discreet.dp_sum(x, 0, 1, 0.3) FROM data.capped",
        "SELECT discreet.dp_count(x, 0.3) FROM data.capped GROUP BY GROUPING SETS (g, ())",
    ):
        with costs(datasets, "capped", "0"), refused("DP001", "more than the 0.5", "Give less."):
            dora.execute(question)
    with costs(datasets, "capped", "0"), refused("DP001", "no epsilon is left", "Give less."):
        dora.execute("SELECT discreet.dp_count(x, 0.5), discreet.dp_count(*) FROM data.capped")
    with costs(datasets, "capped", "0.5"):
        dora.execute("SELECT discreet.dp_count(x, 0.5) FROM data.capped")


def test_a_price_is_remembered_until_declarations_or_rights_change(datasets: Connection, dora: Connection) -> None:
    question = "SELECT discreet.dp_count(x, 0.5) FROM data.capped"
    for _ in range(2):
        with costs(datasets, "capped", "0.5"):
            dora.execute(question)
    changes = {
        "UPDATE discreet._protected_table SET max_epsilon = {} WHERE relation = 'data.capped'::regclass": (
            "0.4",
            "0.5",
        ),
        "ALTER TABLE data.capped {} CONSTRAINT capped_pkey": ("DROP", "ADD PRIMARY KEY (id); --"),
        "SELECT discreet.{}": ("revoke_budget('capped', 'dora')", "grant_budget('capped', 'dora', 100)"),
    }
    for change, (there, back) in changes.items():
        datasets.execute(change.format(there).encode())
        with costs(datasets, "capped", "0"), pytest.raises(psycopg.Error) as caught:
            dora.execute(question)
        assert str(caught.value.sqlstate).startswith("DP00")
        datasets.execute(change.format(back).encode())
        with costs(datasets, "capped", "0.5"):
            dora.execute(question)


def test_charge_says_who_asked_what(datasets: Connection, dora: Connection) -> None:
    question = "SELECT discreet.dp_count(x, 0.125) /* Ünïcode */ FROM data.pure"
    dora.execute(question)
    ((role, dataset, epsilon, delta, asked, details),) = dora.execute(
        "SELECT role, dataset, epsilon, delta, question, details FROM discreet.charges ORDER BY at DESC LIMIT 1"
    ).fetchall()
    assert (role, dataset, epsilon, delta, asked) == ("dora", "pure", Decimal("0.125"), 0, question)
    assert details == {"aggregates": [{"function": "dp_count", "epsilon": "0.125", "sets": 1}]}


def test_long_question_is_cut_between_characters(datasets: Connection, dora: Connection) -> None:
    dora.execute(f"SELECT discreet.dp_count(*) /* {'é' * 9000} */ FROM data.pure")
    ((asked,),) = dora.execute("SELECT question FROM discreet.charges ORDER BY at DESC LIMIT 1").fetchall()
    assert 7990 <= len(str(asked).encode()) <= 8000


FILTERED = [
    ("SELECT discreet.dp_count(*) FROM data.bounded", False),
    ("SELECT discreet.dp_count(x) FROM data.bounded", False),
    ("SELECT discreet.dp_count(*) FROM data.bounded HAVING discreet.dp_count(*) > 0", False),
    ("SELECT discreet.dp_sum(CASE WHEN g = 1 THEN x END, 0, 10) FROM data.bounded", False),
    ("SELECT discreet.dp_count(*) FROM (SELECT * FROM data.bounded ORDER BY g) s", False),
    ("SELECT discreet.dp_count(*) FROM data.bounded WHERE g = 1", True),
    ("SELECT discreet.dp_count(*) FROM data.bounded WHERE id = 1", True),
    ("SELECT discreet.dp_count(*) FROM data.bounded WHERE id IN (1, 2)", True),
    ("SELECT discreet.dp_count(*) FROM (SELECT * FROM data.bounded WHERE g > 1) s", True),
    ("SELECT discreet.dp_count(*) FROM data.bounded GROUP BY id / 1000", True),
    ("SELECT discreet.dp_count(*) FROM data.bounded GROUP BY GROUPING SETS (())", True),
    ("SELECT discreet.dp_count(*) FILTER (WHERE g = 1) FROM data.bounded", True),
    ("SELECT discreet.dp_count(DISTINCT x) FROM data.bounded", True),
    ("SELECT discreet.dp_sum(DISTINCT x, 0, 10) FROM data.bounded", True),
    ("SELECT discreet.dp_count(*) FROM data.bounded WHERE false", True),
    ("SELECT discreet.dp_count(*) FROM data.bounded WHERE now() < '2000-01-01'", True),
]


@pytest.mark.parametrize("plan", ["serial", "parallel", "index"])
@pytest.mark.parametrize(("question", "filtered"), FILTERED)
def test_noise_is_told_of_a_selection_by_values(
    exact: Exact, exact_datasets: None, question: str, filtered: bool, plan: str
) -> None:
    """Among bounded neighbours a changed row may leave one selection and enter another: twice the sensitivity."""
    if plan == "parallel":
        exact.connection.execute(
            "SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0"
        )
    elif plan == "index":
        exact.connection.execute("SET enable_seqscan = off")
    for handed in exact.handed(question):
        assert (handed.neighbours, handed.accounting, handed.amount) == ("bounded", "pure", "0.1")
        # more noise than needed is no harm, less would be
        assert handed.filtered == filtered or (handed.filtered and plan == "index")


@pytest.mark.parametrize(
    ("dataset", "neighbours", "accounting", "amount"),
    [
        ("pure", "unbounded", "pure", "0.3"),
        ("zcdp", "unbounded", "zcdp", "0.045"),
        ("bounded", "bounded", "pure", "0.3"),
    ],
)
def test_noise_is_told_the_price_in_the_datasets_currency(
    exact: Exact, exact_datasets: None, dataset: str, neighbours: str, accounting: str, amount: str
) -> None:
    for aggregate in ("dp_count", "dp_count_distinct", *BOUNDED):
        handed = exact.one(f"SELECT {call(aggregate, 'x', '0', '100', '0.3')} FROM data.{dataset}")
        assert (handed.function, handed.neighbours, handed.accounting) == (aggregate, neighbours, accounting)
        assert Decimal(handed.amount) == Decimal(amount)


def test_price_per_grouping_set_is_what_noise_is_told(exact: Exact, exact_datasets: None) -> None:
    handed = exact.handed("SELECT g, discreet.dp_count(x, 0.3) FROM data.pure GROUP BY ROLLUP (g)")
    assert {h.amount for h in handed} == {"0.3"}
    assert len(handed) == 6


def test_bounded_noise_is_larger(datasets: Connection, dora: Connection) -> None:
    """Both are 0 at epsilon 100 with probability 1 - 1e-20; at bounded neighbours the answer is as exact."""
    assert dora.execute("SELECT discreet.dp_count(x, 50) FROM data.bounded WHERE g = 1").fetchone() == (100,)
