"""What explain(), error columns and notices tell: to everybody what text, catalog and history say, to curators more."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from tests.corpus.sample import questions
from tests.database.gate.conftest import Asker
from tests.databases import Connection, Database, MakeRole
from tests.messages import notices, refused
from tests.statistical.dp.dp_evidence import proportion_bounds

FOR_EVERYBODY = {
    "dataset", "epsilon", "delta", "accounting", "measurements", "shares", "outputs", "groups", "caveats", "stored",
}  # fmt: skip
FOR_CURATORS = FOR_EVERYBODY | {"native_sql", "sensitivities", "clamped"}
COUNT = "SELECT count(*) FROM hr.employee"
BY_DEPT = "SELECT dept, count(*), avg(salary) FROM hr.employee GROUP BY dept"
PERSONS = "SELECT avg(salary) FROM hr.person WHERE born > DATE '1970-01-01'"


def explained(connection: Connection, question: str, epsilon: object = 1) -> dict[str, Any]:
    ((told,),) = connection.execute("SELECT discreet.explain(%s, %s)", [question, epsilon]).fetchall()
    return told


def answered(asker: Asker, question: str, columns: str, options: str = "1") -> list[tuple[Any, ...]]:
    asked = f"SELECT * FROM discreet.query(%s, {options}, with_error => true) AS t({columns})"
    return asker.connection.execute(asked.encode(), [question]).fetchall()


# -- to everybody


def test_price_outputs_groups_and_store_are_told(asker: Asker) -> None:
    told = asker.explain("SELECT dept, count(*), 2 * count(*) AS twice, count(*) / avg(salary) FROM hr.employee"
                         " GROUP BY dept", 3)  # fmt: skip
    assert set(told) == FOR_EVERYBODY
    assert (told["epsilon"], told["measurements"], told["stored"]) == ("3", 3, False)
    assert told["outputs"] == [
        {"column": "dept", "mechanism": "exact", "scale": "0", "error_95": "0"},
        {"column": "count", "mechanism": "discrete Laplace", "scale": "0.897785", "error_95": "3"},
        {"column": "twice", "mechanism": "discrete Laplace", "scale": "1.79557", "error_95": "6"},
        {"column": "?column?", "mechanism": "post-processing", "scale": None, "error_95": None,
         "why": "made of several noisy numbers: comes with the answer"},
    ]  # fmt: skip
    assert told["groups"] == [
        {"by": ["dept"], "released": "declared categories: every group is shown, also without people"}
    ]


def test_a_group_of_as_many_people_as_told_is_shown_and_one_of_few_is_not(asker: Asker) -> None:
    (told,) = asker.explain("SELECT zip, count(*) FROM hr.employee GROUP BY zip", 50)["groups"]
    needed = told["people_shown_95"]
    assert 1 < told["threshold"] <= needed
    people = dict(asker.truth("SELECT zip, count(*) FROM hr.employee GROUP BY zip"))
    # at epsilon 50, noise beyond 2 has a probability of e^-100
    shown = {row["zip"] for row in asker.json("SELECT zip, count(*) FROM hr.employee GROUP BY zip", 50)}
    assert {zip_code for zip_code, number in people.items() if number > needed + 2} <= shown
    assert all(people[zip_code] >= told["threshold"] - 2 for zip_code in shown)


def test_a_stored_answer_is_told_to_who_may_ask_and_to_nobody_else(asker: Asker, make_role: MakeRole) -> None:
    asker.json(BY_DEPT, 1)
    assert asker.explain(BY_DEPT, 1)["stored"] is True
    assert asker.explain(BY_DEPT, 2)["stored"] is True  # at any price that is offered
    other = Asker(asker.database, make_role("other", "discreet_analyst"))
    assert other.explain(BY_DEPT, 1)["refused"]["code"] == "DP004"
    asker.admin.execute("SELECT discreet.grant_budget('staff', %s, 1)", [other.role])
    assert other.explain(BY_DEPT, 1)["stored"] is True


def test_nothing_is_spent_stored_or_written_down_for_a_curator_either(asker: Asker) -> None:
    asker.admin.execute(f"GRANT discreet_curator TO {asker.role}")
    try:
        for name in ("accepted.sql", "refused.sql"):
            for question in list(questions(name))[::7]:
                asker.explain(question.sql)
    finally:
        asker.admin.execute(f"REVOKE discreet_curator FROM {asker.role}")
    assert asker.truth("SELECT sum(amount_spent), sum(delta_spent) FROM discreet._budget") == [(0, 0)]
    for table in ("_charge", "_answer", "_refusal"):
        assert asker.truth(f"SELECT FROM discreet.{table}") == []


def test_every_question_of_the_corpus_has_a_width_or_a_reason_for_every_column(asker: Asker) -> None:
    for question in questions("accepted.sql"):
        if question.parameters:
            continue
        for column in asker.explain(question.sql)["outputs"]:
            assert column["error_95"] is not None or column["why"], (question.sql, column)


# -- to curators


@pytest.fixture
def team(carol: Connection, curator: str, person: str, make_role: MakeRole) -> str:
    """A group with a budget for hr.person, and in it the curator."""
    carol.execute("SELECT discreet.describe_column('hr.person', 'salary', 500, 1500)")
    carol.execute("SELECT discreet.describe_column('hr.person', 'born', 0, 20000)")
    group = make_role("team", options="NOLOGIN")
    for role in (group, curator):
        carol.execute("SELECT discreet.grant_budget('people', %s, 1)", [role])
    return group


def test_a_curator_is_told_native_sql_sensitivities_and_what_clamping_cuts(team: str, carol: Connection) -> None:
    carol.execute("UPDATE hr.person SET born = DATE '1960-01-01' + id * 365")
    told = explained(carol, PERSONS)
    assert set(told) == FOR_CURATORS
    assert '"hr"."person"' in told["native_sql"][0]
    assert [one["per_group"] for one in told["sensitivities"]] == ["1", "500"]
    # 100 to 2000 by 100; the years 1960 to 1969 and a few days before 1970
    assert told["clamped"] == [
        {"column": "hr.person.salary", "values": 20, "cut": 4 + 5, "share": "0.45"},
        {"column": "hr.person.born", "values": 20, "cut": 10, "share": "0.5"},
    ]


WAYS: dict[str, Callable[[Database, str, str, MakeRole], Connection]] = {}


def way(function: Callable[..., Connection]) -> Callable[..., Connection]:
    WAYS[function.__name__.replace("_", " ")] = function
    return function


@way
def with_a_budget_of_the_own(database: Database, team: str, curator: str, make_role: MakeRole) -> Connection:
    analyst = make_role("analyst", "discreet_analyst")
    database.connect(curator).execute("SELECT discreet.grant_budget('people', %s, 1)", [analyst])
    return database.connect(analyst)


@way
def as_a_member_of_the_team(database: Database, team: str, curator: str, make_role: MakeRole) -> Connection:
    return database.connect(make_role("member", "discreet_analyst", team))


@way
def with_the_right_to_read_the_table(database: Database, team: str, curator: str, make_role: MakeRole) -> Connection:
    reader = make_role("reader", "discreet_analyst", team)
    database.connect(curator).execute(f"GRANT USAGE ON SCHEMA hr TO {reader}; GRANT SELECT ON hr.person TO {reader}")
    return database.connect(reader)


@way
def by_set_role(database: Database, team: str, curator: str, make_role: MakeRole) -> Connection:
    """A curator's session that has become an analyst."""
    analyst = make_role("analyst", "discreet_analyst")
    database.connect().execute(f"GRANT {analyst} TO {curator}")
    connection = database.connect(curator)
    connection.execute(f"SET ROLE {analyst}")
    return connection


@pytest.mark.parametrize("name", WAYS)
def test_an_analyst_is_told_nothing_of_it(
    database: Database, team: str, curator: str, make_role: MakeRole, name: str
) -> None:
    assert set(explained(WAYS[name](database, team, curator, make_role), PERSONS)) == FOR_EVERYBODY


def test_nor_through_functions_and_views_of_a_curator(
    database: Database, team: str, carol: Connection, make_role: MakeRole
) -> None:
    database.connect().execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
    carol.execute(
        "CREATE FUNCTION public.helpful(sql text) RETURNS jsonb LANGUAGE sql SECURITY DEFINER"
        " AS 'SELECT discreet.explain(sql, 1)'"
    )
    carol.execute(
        f"CREATE VIEW public.told AS SELECT discreet.explain($$ {PERSONS} $$, 1) AS told;"
        " GRANT SELECT ON public.told TO PUBLIC"
    )
    member = database.connect(make_role("member", "discreet_analyst", team))
    ((through_function,),) = member.execute("SELECT public.helpful(%s)", [PERSONS]).fetchall()
    ((through_view,),) = member.execute("SELECT told FROM public.told").fetchall()
    assert set(through_function) == set(through_view) == FOR_EVERYBODY


def test_a_curator_who_does_not_own_the_table_is_told_nothing_of_the_data(
    database: Database, team: str, make_role: MakeRole
) -> None:
    other = database.connect(make_role("other", "discreet_curator", team))
    told = explained(other, PERSONS)
    assert set(told) == FOR_CURATORS
    assert told["clamped"] == [
        {"column": "hr.person.salary", "why": "the table is not yours"},
        {"column": "hr.person.born", "why": "the table is not yours"},
    ]


def test_what_clamping_cuts_is_counted_for_every_type_of_number(database: Database, make_role: MakeRole) -> None:
    admin = database.connect()
    admin.execute(
        'CREATE TABLE "odd ""one" (id int PRIMARY KEY, small smallint, "r e" real, d float8, n numeric, day date,'
        " moment timestamp, zoned timestamptz)"
    )
    admin.execute(
        'INSERT INTO "odd ""one" VALUES'
        " (1, 5, 5, 5, 5, '1970-01-06', '1970-01-01 00:00:05', '1970-01-01 00:00:05+00'),"
        " (2, 0, 0, 0, 0, '1970-01-01', '1970-01-01', '1970-01-01 00:00+00'),"
        " (3, 11, 10.5, 10.5, 10.5, '1970-01-12', '1970-01-01 00:00:10.5', '1970-01-01 00:00:10.5+00'),"
        " (4, NULL, 'NaN', 'NaN', 'NaN', 'infinity', 'infinity', '-infinity'),"
        " (5, NULL, 'Infinity', '-Infinity', 'Infinity', '-infinity', NULL, 'infinity'),"
        " (6, 10, 10, 10, 10, '1970-01-11', '1970-01-01 00:00:10', '1970-01-01 00:00:10+00')"
    )
    admin.execute("SELECT discreet.create_dataset('people', 1), discreet.protect('\"odd \"\"one\"', 'id', 'people')")
    admin.execute("SELECT discreet.grant_budget('people', 'postgres', 1)")
    columns = ["small", "r e", "d", "n", "day", "moment", "zoned"]
    for column in columns:
        admin.execute('SELECT discreet.describe_column(\'"odd ""one"\', %s, 1, 10)', [column])
    listed = ", ".join(f'count("{column}")' for column in columns)
    told = explained(admin, f'SELECT {listed} FROM (SELECT * FROM "odd ""one") t')["clamped"]
    expected = {"values": 4, "cut": 2, "share": "0.5"}
    assert told == [{"column": f'public.odd "one.{column}'} | expected for column in columns]


def test_an_empty_column_has_no_share(team: str, carol: Connection) -> None:
    (_, born) = explained(carol, PERSONS)["clamped"]
    assert born == {"column": "hr.person.born", "values": 0, "cut": 0, "share": None}


# -- columns of errors


def test_noisy_columns_have_their_error_beside_them(asker: Asker) -> None:
    question = (
        "SELECT dept, count(*), round(avg(salary) / 12) AS pay, count(*) / 2 AS pairs, sqrt(count(*))"
        " FROM hr.employee GROUP BY dept ORDER BY 2 DESC, 1"
    )
    columns = (
        "dept text, count bigint, count_error numeric, pay numeric, pay_error numeric, pairs bigint,"
        " pairs_error numeric, root float8, root_error numeric"
    )
    rows = answered(asker, question, columns, "3")
    assert [row[1] for row in rows] == sorted((row[1] for row in rows), reverse=True)
    assert {(row[2], row[6]) for row in rows} == {(3, Decimal("2.5"))}
    # the root of n ± 3
    for row in rows:
        lower, upper = (max(row[1] + end, 0) ** 0.5 for end in (-3, 3))
        assert float(row[8]) == pytest.approx(max(upper - row[7], row[7] - lower))
    # an average of more values is more exact
    assert rows[0][4] < rows[-1][4] <= 16_668


def test_error_columns_go_through_outer_selects_and_take_free_names(asker: Asker) -> None:
    question = (
        'SELECT t.n_error, t.n * 2 AS n FROM (SELECT count(*) AS n, 1 AS n_error, 2 AS "error 0" FROM hr.employee) t'
    )
    ((one, _, error),) = answered(asker, question, "n_error int, n bigint, n_error_2 numeric", "3")
    assert (one, error) == (1, 2)


def test_a_question_that_was_asked_without_errors_is_answered_with_them_for_nothing(asker: Asker) -> None:
    (plain,) = asker.json(COUNT, 1)
    ((count, error),) = answered(asker, COUNT, "count bigint, count_error numeric")
    assert (count, error) == (plain["count"], 3)
    assert asker.spent("staff") == 1


def test_an_answer_may_have_more_columns_than_a_function_has_arguments(asker: Asker) -> None:
    factors = range(1, 61)
    question = "SELECT " + ", ".join(f"{n} * count(*)" for n in factors) + " FROM hr.employee"
    columns = ", ".join(f"c{n} bigint, e{n} numeric" for n in factors)
    ((*numbers,),) = answered(asker, question, columns)
    assert numbers == [part for n in factors for part in (n * numbers[0], 3 * n)]


def test_half_widths_hold_95_times_in_100_from_end_to_end(asker: Asker, database: Database) -> None:
    """Two thousand groups in one answer; a false alarm of at most 1e-8 for each of three columns."""
    admin = database.connect()
    admin.execute("CREATE TABLE survey (id int PRIMARY KEY, place text NOT NULL, x int)")
    admin.execute(
        "INSERT INTO survey SELECT row_number() OVER (), 'p' || p, n % 130 - 10"
        " FROM generate_series(1, 2000) p, generate_series(1, 5 + p % 40) n"
    )
    admin.execute("SELECT discreet.create_dataset('people', 1), discreet.protect('survey', 'id', 'people')")
    admin.execute("SELECT discreet.describe_column('survey', 'x', 0, 100)")
    admin.execute(
        "SELECT discreet.describe_column('survey', 'place', categories => array_agg('p' || p)) "
        "FROM generate_series(1, 2000) p"
    )
    admin.execute("SELECT discreet.grant_budget('people', %s, 1)", [asker.role])
    own = Asker(database, asker.role)
    question = (
        "SELECT place, 10 * count(*), sum(x) - count(*) / 3 AS less, avg(x) FROM survey GROUP BY place ORDER BY 1"
    )
    types = "place text, ten bigint, ten_error numeric, less bigint, less_error numeric, avg numeric, avg_error numeric"
    rows = answered(own, question, types)
    exact = own.truth(question.replace("(x)", "(least(greatest(x, 0), 100))"))
    assert [row[0] for row in rows] == [row[0] for row in exact]
    for column in (1, 2, 3):
        off = [
            (abs(row[2 * column - 1] - truth[column]), row[2 * column]) for row, truth in zip(rows, exact, strict=True)
        ]
        inside = np.array([sum(error <= width for error, width in off)])
        assert proportion_bounds(inside, len(rows), 1e-8)[1][0] >= 0.95


# -- notices


def test_a_notice_names_the_columns_and_their_errors(asker: Asker) -> None:
    heard = notices(asker.connection)
    question = "SELECT count(*) AS staff, 2 * count(*) AS hands, count(*) > 9 AS many, 1 AS one FROM hr.employee"
    asker.json(question, 1)
    asker.json(question, 1)
    told = "95 % error: staff ±3, hands ±6, many not known"
    assert [message for _, message, _ in heard] == [
        f"epsilon 1 spent; epsilon left for you 999, for dataset staff 999; {told}",
        f"answered again from the store, free of charge; epsilon left for you 999, for dataset staff 999; {told}",
    ]


def test_a_notice_tells_the_range_of_errors_that_differ_by_group(asker: Asker) -> None:
    heard = notices(asker.connection)
    columns = "dept text, count bigint, count_error numeric, avg numeric, avg_error numeric"
    rows = answered(asker, BY_DEPT, columns, "3")
    found = re.search(r"count ±3, avg ±([0-9]+) to ±([0-9]+)", str(heard[-1][1]))
    assert found is not None
    # to three digits, upwards
    for told, width in zip(found.groups(), sorted(row[4] for row in rows)[:: len(rows) - 1], strict=True):
        assert width <= Decimal(told) <= width * Decimal("1.01")


def test_a_long_notice_is_cut(asker: Asker) -> None:
    heard = notices(asker.connection)
    asker.json("SELECT " + ", ".join(f"count(*) + {n} AS c{n}" for n in range(20)) + " FROM hr.employee", 1)
    message = str(heard[0][1])
    assert message.endswith("c7 ±3, 12 more columns: see discreet.explain()")


def test_a_notice_of_a_zcdp_dataset_speaks_of_rho(asker: Asker) -> None:
    heard = notices(asker.connection)
    asker.json("SELECT count(*) FROM census.person", 2)
    assert str(heard[0][1]).startswith("epsilon 2 spent; rho left for you ")


def test_an_answer_of_exact_columns_says_nothing_of_errors(asker: Asker) -> None:
    heard = notices(asker.connection)
    asker.json("SELECT dept FROM hr.employee GROUP BY dept", 1)
    assert "error" not in str(heard[0][1])


# -- accuracy


def test_a_wanted_accuracy_is_that_of_what_is_made_of_the_counts(asker: Asker) -> None:
    def paid(question: str, accuracy: int) -> Decimal:
        asker.reset()
        answered(asker, question, "x bigint, x_error numeric", f"accuracy => {accuracy}")
        return asker.spent("staff")

    assert paid(COUNT, 5) == paid("SELECT 100 * count(*) FROM hr.employee", 500) > 0
    assert paid("SELECT count(*) - 100 * count(*) FROM hr.employee", 500) > paid(COUNT, 5)


def test_an_average_of_so_many_values_is_as_exact_as_wanted(asker: Asker) -> None:
    smallest = answered(asker, COUNT, "n bigint, e numeric", "100")[0][0] // 2
    before = asker.spent("staff")
    pay = "SELECT avg(salary) FROM hr.employee"
    columns, wanted = "x numeric, x_error numeric", f"accuracy => 1000, smallest_count => {smallest}"
    ((_, error),) = answered(asker, pay, columns, wanted)
    spent = asker.spent("staff")
    # the error that is told is that of all values, of which there are more
    assert 0 < error <= 1000
    assert answered(asker, pay, columns, wanted)[0][1] == error
    assert asker.spent("staff") == spent
    answered(asker, pay, columns, f"accuracy => 250, smallest_count => {smallest}")
    assert asker.spent("staff") - spent > 2 * (spent - before)


@pytest.mark.parametrize(
    "aggregate", ["percentile_disc(0.5) WITHIN GROUP (ORDER BY salary)", "min(salary)", "max(salary)"]
)
def test_what_is_chosen_by_rank_is_as_exact_as_wanted_in_ranks(asker: Asker, aggregate: str) -> None:
    question = f"SELECT {aggregate} FROM hr.employee"

    def paid(ranks: int) -> Decimal:
        asker.reset()
        answered(asker, question, "x numeric, x_error numeric", f"accuracy => {ranks}")
        return asker.spent("staff")

    assert paid(10) > paid(40) > 0
    price = paid(40)
    asker.reset()
    # two digits of the price are enough to keep to it, and one less is not
    ranks = [
        int(re.search(r"no more than (\d+) ranks", asker.explain(question, some)["outputs"][0]["why"])[1])  # type: ignore[index]
        for some in (price, price * Decimal("0.9"))
    ]
    assert ranks[0] <= 40 < ranks[1]


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ("accuracy => 5, smallest_count => 0", "smallest_count is 0, which is below 1", "Give a number of values"),
        ("accuracy => 5, smallest_count => -1", "smallest_count is -1, which is below 1", "Give a number of values"),
        ("smallest_count => 10", "no accuracy is asked for", "accuracy => 5, smallest_count => 100"),
    ],
)
def test_a_smallest_count_goes_with_an_accuracy(asker: Asker, options: str, message: str, hint: str) -> None:
    with refused("DP001", message, hint):
        answered(asker, "SELECT avg(salary) FROM hr.employee", "x numeric, x_error numeric", options)


def test_an_accuracy_that_cannot_be_foretold_is_refused(asker: Asker) -> None:
    with refused("DP001", "not known before it is answered", "Give an epsilon"):
        answered(asker, "SELECT avg(salary) FROM hr.employee", "x numeric, x_error numeric", "accuracy => 5")
