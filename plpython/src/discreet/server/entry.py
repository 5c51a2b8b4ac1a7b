"""What the bodies of the SQL functions call: takes SQL values, gives SQL values, turns errors into SQL errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from discreet.core import curation, exemption
from discreet.core.declarations import ColumnDescription, Dataset, Policy, given
from discreet.core.errors import DiscreetError, RefusedShapeError
from discreet.server.catalog import DatabaseCatalog
from discreet.server.interrupts import CancelledError, Interruptible, watch_for_interrupts
from discreet.server.plpy import Plpy

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def sql_errors(
    function: Callable[Concatenate[Plpy, Arguments], Answer],
) -> Callable[Concatenate[Plpy, Arguments], Answer]:
    """Raises a DiscreetError as PostgreSQL's users know errors; language discreet_python drops the traceback.

    A cancel ends what the function does.
    """

    @wraps(function)
    def called(plpy: Plpy, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Answer:
        watch_for_interrupts()
        try:
            return function(Interruptible(plpy), *arguments, **named)
        except CancelledError as cancelled:
            raise cancelled.error from None
        except DiscreetError as error:
            fields = {} if error.hint is None else {"hint": error.hint}
            plpy.error(error.message, sqlstate=error.sqlstate, **fields)
        except RecursionError:
            plpy.error("an argument is nested too deeply", sqlstate="54001", hint="Write it with fewer levels.")

    return called


@sql_errors
def create_dataset(
    plpy: Plpy,
    name: str,
    epsilon: Decimal,
    delta: Decimal,
    accounting: str,
    neighbours: str,
    quantum: str | None,
    lifetime: str | None,
) -> None:
    dataset = Dataset(name, epsilon, delta, accounting, neighbours, quantum, lifetime)
    curation.create_dataset(DatabaseCatalog(plpy), dataset)


@sql_errors
def protect(
    plpy: Plpy,
    relation: str | None,
    dataset: str | None,
    epsilon: Decimal | None,
    delta: Decimal | None,
    *,
    unit: str | None,
    policy: str,
    max_groups: int,
    max_rows: int,
    max_epsilon: Decimal | None,
    max_delta: Decimal | None,
    unit_epsilon: Decimal | None,
    min_group: int,
    fallback: str | None,
    max_total_rows: int | None,
) -> None:
    wished = Policy(
        unit, policy, max_groups, max_rows, max_epsilon, max_delta, unit_epsilon, min_group, fallback, max_total_rows
    )
    curation.protect(DatabaseCatalog(plpy), relation, dataset, epsilon, delta, wished)


@sql_errors
def describe_column(
    plpy: Plpy,
    relation: str | None,
    column_name: str | None,
    lower: Decimal | None,
    upper: Decimal | None,
    categories: list[str] | None,
    visibility: str,
) -> None:
    listed = None if categories is None else tuple(categories)
    description = ColumnDescription(lower, upper, listed, visibility)
    curation.describe_column(DatabaseCatalog(plpy), relation, column_name, description)


@sql_errors
def unprotect(plpy: Plpy, relation: str | None) -> None:
    curation.unprotect(DatabaseCatalog(plpy), relation)


@sql_errors
def grant_budget(
    plpy: Plpy, dataset: str | None, role: str | None, epsilon: Decimal | None, delta: Decimal | None
) -> None:
    curation.grant_budget(DatabaseCatalog(plpy), dataset, role, epsilon, delta)


@sql_errors
def revoke_budget(plpy: Plpy, dataset: str | None, role: str | None) -> None:
    curation.revoke_budget(DatabaseCatalog(plpy), dataset, role)


@sql_errors
def exempt_view(plpy: Plpy, view: str | None, exempt: bool | None) -> None:
    exemption.exempt_view(DatabaseCatalog(plpy), view, exempt)


@sql_errors
def zcdp_epsilon_spent(plpy: Plpy, rho: Decimal, delta: Decimal) -> Decimal:
    from discreet.budget.currency import epsilon_spent

    return epsilon_spent(given("rho", rho), given("delta", delta))


@sql_errors
def release(plpy: Plpy, function: str, totals: list[str]) -> str:
    from discreet.dp.wire import released

    return released(function, totals)


@sql_errors
def check_installation(plpy: Plpy) -> Iterable[tuple[str, str, str]]:
    from discreet.server.ops_installation import findings

    return findings(plpy)


@sql_errors
def selftest(plpy: Plpy) -> Iterable[tuple[str, str, str, bool | None]]:
    from discreet.server.ops_selftest import PASSED_OF, findings

    return [(item, status, finding, PASSED_OF[status]) for item, status, finding in findings(plpy)]


@sql_errors
def compose_sequential(plpy: Plpy, epsilons: list[Decimal]) -> Decimal:
    from discreet.dp import composition

    return composition.compose_sequential(epsilons)


@sql_errors
def compose_parallel(plpy: Plpy, epsilons: list[Decimal]) -> Decimal:
    from discreet.dp import composition

    return composition.compose_parallel(epsilons)


@sql_errors
def group_epsilon(plpy: Plpy, epsilon: Decimal, people: int) -> Decimal:
    from discreet.dp import composition

    return composition.group_epsilon(epsilon, people)


@sql_errors
def gaussian_rho(plpy: Plpy, epsilon: Decimal, delta: Decimal) -> Decimal:
    from discreet.dp import composition

    return composition.gaussian_rho(epsilon, delta)


@sql_errors
def zcdp_epsilon(plpy: Plpy, rho: Decimal, delta: Decimal) -> Decimal:
    from discreet.dp import composition

    return composition.zcdp_epsilon(rho, delta)


@sql_errors
def laplace_scale(plpy: Plpy, sensitivity: Decimal, epsilon: Decimal) -> Decimal:
    from discreet.dp import composition

    return composition.laplace_scale(sensitivity, epsilon)


@sql_errors
def sensitivity(
    plpy: Plpy,
    kind: str | None,
    lower: Decimal | None,
    upper: Decimal | None,
    n: int | None,
    neighbours: str | None,
    may_be_null: bool | None,
) -> Decimal:
    from discreet.dp.sensitivity import sensitivity as sensitivity_of

    return sensitivity_of(
        given("kind", kind),
        given("lower", lower),
        given("upper", upper),
        given("n", n),
        given("neighbours", neighbours),
        given("may_be_null", may_be_null),
    )


@sql_errors
def query(
    plpy: Plpy,
    sql: str,
    epsilon: Decimal | None,
    params: list[str | None] | None,
    fresh: bool,
    accuracy: Decimal | None,
    with_error: bool,
) -> Iterable[tuple[object, ...]]:
    from discreet.server.gate import Gate

    types = plpy.execute("SELECT discreet._named_types() AS types")[0]["types"]
    if types is None:
        raise RefusedShapeError(
            "the columns of the answer have no names", "SELECT * FROM discreet.query(…) AS t(dept text, count bigint)."
        )
    rows = Gate(plpy, types).answer(sql, epsilon, params, fresh, accuracy, with_error)
    return [tuple(map(python_value, (value for _, value in row), types)) for row in rows]


def python_value(json_text: str | None, type_name: str | None) -> object:
    """What PL/Python makes an SQL value of: exact numbers, truth values, lists, bytes; else the text of the value."""
    if json_text is None or type_name in ("json", "jsonb"):
        return json_text
    value = json.loads(json_text, parse_float=Decimal)
    return bytes.fromhex(value.removeprefix("\\x")) if type_name == "bytea" else value


@sql_errors
def check_questions(plpy: Plpy, questions: str) -> None:
    from discreet.server.gate_statement import check_questions as check

    check(plpy, questions)


@sql_errors
def ask(plpy: Plpy, sql: str, epsilon: Decimal | None, cursor_name: str | None) -> str:
    from discreet.server.gate import Gate

    cursor = given("cursor_name", cursor_name)
    Gate(plpy).opened(sql, epsilon, cursor)
    return cursor


@sql_errors
def lint(plpy: Plpy, sql: str) -> Iterable[tuple[str, str, str]]:
    from discreet.server.gate import Gate

    return Gate(plpy).lint(sql)


@sql_errors
def answer_columns(plpy: Plpy, sql: str, epsilon: Decimal | None) -> str:
    from discreet.dp.price import parse_epsilon
    from discreet.gate.column_names import unique_names
    from discreet.gate.values import identifier
    from discreet.server.gate import Gate

    if epsilon is not None:  # a view keeps it, and would be refused whenever it is read
        parse_epsilon(epsilon)
    names, types = zip(*Gate(plpy).columns(sql), strict=True)
    columns = zip(unique_names(names), types, strict=True)
    return ", ".join(f"{identifier(name)} {type_name}" for name, type_name in columns)


@sql_errors
def query_json(
    plpy: Plpy, sql: str, epsilon: Decimal | None, params: list[str | None] | None, fresh: bool
) -> Iterable[str]:
    from discreet.server.gate import Gate

    return [json_object(row) for row in Gate(plpy).answer(sql, epsilon, params, fresh)]


def json_object(row: list[tuple[str, str | None]]) -> str:
    """Columns may share a name in SQL, but not in JSON: the second count becomes count_2."""
    from discreet.gate.column_names import unique_names

    names = unique_names([name for name, _ in row])
    values = ("null" if value is None else value for _, value in row)
    return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in zip(names, values, strict=True)) + "}"


@sql_errors
def explain(plpy: Plpy, sql: str, epsilon: Decimal | None) -> str:
    from discreet.server.gate_explain import explain as explained

    return json.dumps(explained(plpy, sql, epsilon))


@sql_errors
def suggest_bounds(plpy: Plpy, relation: str | None, column_name: str | None, epsilon: Decimal | None) -> str:
    from discreet.server.gate_suggest import BoundsGate

    lower, upper = BoundsGate(plpy, relation, column_name).bounds(epsilon)
    return f"[{lower:f},{upper:f}]"
