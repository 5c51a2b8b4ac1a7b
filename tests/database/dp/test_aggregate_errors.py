"""What is refused: with its SQLSTATE, a message and a hint, before anything is charged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from tests.database.dp.aggregating import BOUNDED, call
from tests.databases import Connection, Database
from tests.messages import refused


@contextmanager
def uncharged(admin: Connection) -> Iterator[None]:
    before = admin.execute("SELECT count(*) FROM discreet._charge").fetchone()
    yield
    assert admin.execute("SELECT count(*) FROM discreet._charge").fetchone() == before


@pytest.mark.parametrize("aggregate", BOUNDED)
@pytest.mark.parametrize(
    ("lower", "upper", "sqlstate", "message"),
    [
        ("9", "3", "22023", "lower bound 9 is above upper bound 3"),
        ("NULL::int", "3", "22004", "lower bound of a dp_ aggregate must not be NULL"),
        ("3", "NULL::int", "22004", "upper bound of a dp_ aggregate must not be NULL"),
        ("'NaN'::float8", "3", "22023", "must be finite numbers"),
        ("0", "'Infinity'::float8", "22023", "must be finite numbers"),
        ("'-Infinity'::numeric", "3", "22023", "must be finite numbers"),
        ("0", "1e201::numeric", "22023", "must be finite numbers below 1e+200"),
        ("0", "1e400::numeric", "22023", "must be finite numbers"),
        ("0", "1e-201::float8", "22023", "nearer to zero than 1e-200"),
        ("id", "3", "22023", "lower bound of a dp_ aggregate must be a constant or a parameter"),
        ("0", "random()", "22023", "upper bound of a dp_ aggregate must be a constant or a parameter"),
        ("0", "(SELECT 3)", "22023", "upper bound of a dp_ aggregate must be a constant or a parameter"),
    ],
)
def test_bounds_without_meaning(
    dp_admin: Connection, dora: Connection, aggregate: str, lower: str, upper: str, sqlstate: str, message: str
) -> None:
    for where in ("true", "false"):
        with uncharged(dp_admin), pytest.raises(psycopg.Error) as caught:
            dora.execute(f"SELECT {call(aggregate, 'i4', lower, upper, '1')} FROM data.t WHERE {where}")
        assert (caught.value.sqlstate, message in str(caught.value)) == (sqlstate, True), caught.value


@pytest.mark.parametrize("fraction", ["-0.1", "1.1", "'NaN'", "'Infinity'", "NULL", "-1e-300"])
def test_fraction_without_meaning(dp_admin: Connection, dora: Connection, fraction: str) -> None:
    with uncharged(dp_admin), refused("22003", "fraction of a quantile must be between 0 and 1", None):
        dora.execute(f"SELECT discreet.dp_quantile(i4, {fraction}, 0, 100) FROM data.t")


@pytest.mark.parametrize("type_name", ["json", "xml", "point"])
@pytest.mark.parametrize("where", ["true", "false"])
def test_values_without_a_hash_cannot_be_told_apart(
    dp_admin: Connection, dora: Connection, type_name: str, where: str
) -> None:
    """Whether or not there are rows, and before anything is paid."""
    value = {"json": "'{}'::json", "xml": "'<a/>'::xml", "point": "point(1, 1)"}[type_name]
    with uncharged(dp_admin), refused("42883", f"values of type {type_name} cannot be told apart", None):
        dora.execute(f"SELECT discreet.dp_count_distinct({value}) FROM data.t WHERE {where}")


@pytest.mark.parametrize("value", ["g", "true", "'{1}'::int[]", "interval '1 day'", "'a'::\"char\"", "1::money"])
@pytest.mark.parametrize("aggregate", BOUNDED)
def test_values_without_numeric_bounds(dp_admin: Connection, dora: Connection, aggregate: str, value: str) -> None:
    with uncharged(dp_admin), refused("42804", f"{aggregate} has no meaning for values of type", "numbers, dates"):
        dora.execute(f"SELECT {call(aggregate, value, value, value, '1')} FROM data.t")


def test_no_dataset_to_pay_from(database: Database) -> None:
    admin = database.connect()
    with refused("DP003", 'there is no dataset "default" to pay from', "discreet.create_dataset('default', epsilon)"):
        admin.execute("SELECT discreet.dp_count(*) FROM pg_class")


def test_exhausted_budget(database: Database) -> None:
    admin = database.connect()
    admin.execute("SELECT discreet.create_dataset('default', 0.25)")
    admin.execute("SELECT discreet.dp_count(*), discreet.dp_count(relname) FROM pg_class")
    with refused("DP003", 'the budget of dataset "default" is exhausted', "discreet.budget_status"):
        admin.execute("SELECT discreet.dp_count(*) FROM pg_class")
    admin.execute("SELECT discreet.dp_count(relname, 0.05) FROM pg_class")
    assert admin.execute("SELECT epsilon_spent, epsilon_left FROM discreet.budget_status").fetchone() == (
        admin.execute("SELECT 0.25, 0.00").fetchone()
    )
    refusals = admin.execute("SELECT role, code, question FROM discreet.refusals").fetchall()
    assert refusals == [("postgres", "DP003", "SELECT discreet.dp_count(*) FROM pg_class")]


@pytest.mark.parametrize("policy", ["personal", "audited"])
def test_other_policies_have_other_doors(dp_admin: Connection, dora: Connection, policy: str) -> None:
    more = ", unit_epsilon => 1" if policy == "personal" else ""
    dp_admin.execute(
        f"SET client_min_messages = warning; CREATE TABLE data.{policy} (id int PRIMARY KEY);"
        f"GRANT SELECT ON data.{policy} TO PUBLIC;"
        f"SELECT discreet.protect('data.{policy}', 'id', epsilon => 1, policy => '{policy}'{more})"
    )
    with uncharged(dp_admin), refused("DP001", f"is protected by policy '{policy}'", "discreet.query()"):
        dora.execute(f"SELECT discreet.dp_count(*) FROM data.{policy}")


def test_missing_bounds_are_no_function(dora: Connection) -> None:
    for question in (
        "discreet.dp_sum(i4)",
        "discreet.dp_avg(i4, 0)",
        "discreet.dp_median(i4)",
        "discreet.dp_quantile(i4)",
    ):
        with pytest.raises(psycopg.Error, match="does not exist"):
            dora.execute(f"SELECT {question} FROM data.t")


@pytest.mark.parametrize("aggregate", ["dp_count", "dp_sum", "dp_quantile"])
def test_role_without_a_part_in_discreet_gets_nothing(
    dp_admin: Connection, dp_database: Database, aggregate: str
) -> None:
    dp_admin.execute("DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN")
    with uncharged(dp_admin), pytest.raises(psycopg.Error, match="permission denied for"):
        dp_database.connect("stranger").execute(f"SELECT {call(aggregate, 'i4', '0', '1')} FROM data.t")


def test_all_call_sites_are_looked_at_before_the_first_is_paid(dp_admin: Connection, dora: Connection) -> None:
    with uncharged(dp_admin), pytest.raises(psycopg.Error, match="above upper bound"):
        dora.execute(
            "SELECT (SELECT discreet.dp_count(id, 1) FROM data.t), (SELECT discreet.dp_sum(i4, 9, 3, 1) FROM data.t)"
        )
