"""What the bodies of the SQL functions call: takes SQL values, gives SQL values, turns errors into SQL errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from discreet.core import checks, curation, exemption
from discreet.core.declarations import ColumnDescription, Dataset, Policy, given
from discreet.core.errors import DiscreetError
from discreet.server.catalog import DatabaseCatalog
from discreet.server.interrupts import CancelledError, Interruptible, function_begins, watch_for_interrupts
from discreet.server.plpy import Plpy

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def sql_errors(
    function: Callable[Concatenate[Plpy, Arguments], Answer],
) -> Callable[Concatenate[Plpy, Arguments], Answer]:
    """Raises a DiscreetError as PostgreSQL's users know errors; language discreet_python drops the traceback.

    A cancel ends what the function does. Rows are made here, not while PostgreSQL fetches them.
    """

    @wraps(function)
    def called(plpy: Plpy, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Answer:
        watch_for_interrupts()
        interruptible = Interruptible(plpy)
        with function_begins():
            try:
                answer = function(interruptible, *arguments, **named)
                return cast(Answer, list(answer)) if isinstance(answer, Iterator) else answer
            except CancelledError as cancelled:
                raise cancelled.error from None
            except DiscreetError as error:
                fields = {} if error.hint is None else {"hint": error.hint}
                interruptible.error(error.message, sqlstate=error.sqlstate, **fields)
            except RecursionError:
                hint = "Write it with fewer levels."
                interruptible.error("an argument is nested too deeply", sqlstate="54001", hint=hint)

    return called


@sql_errors
def implied(plpy: Plpy, type_name: str, labels: list[str] | None, found: list[str]) -> list[dict[str, object]]:
    said = checks.implied(type_name, None if labels is None else tuple(labels), tuple(found))
    lower, upper = (None, None) if said.bounds is None else (f"{bound:f}" for bound in said.bounds)
    return [{"lower": lower, "upper": upper, "categories": said.categories and list(said.categories)}]


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
    diagnose: Decimal | None,
    period: str | None,
    lifetime_epsilon: Decimal | None,
) -> None:
    dataset = Dataset(
        name, epsilon, delta, accounting, neighbours, quantum, lifetime, given("diagnose", diagnose), period,
        lifetime_epsilon,
    )  # fmt: skip
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
    max_groups: int | None,
    max_rows: int | None,
    max_epsilon: Decimal | None,
    max_delta: Decimal | None,
    unit_epsilon: Decimal | None,
    min_group: int,
    fallback: str | None,
    max_total_rows: int | None,
    time: str | None,
) -> None:
    wished = Policy(
        unit, policy, max_groups, max_rows, max_epsilon, max_delta, unit_epsilon, min_group, fallback, max_total_rows,
        time,
    )  # fmt: skip
    curation.protect(DatabaseCatalog(plpy), relation, dataset, epsilon, delta, wished)


@sql_errors
def alter_protection(
    plpy: Plpy,
    relation: str | None,
    *,
    max_rows: int | None,
    max_groups: int | None,
    max_total_rows: int | None,
    max_epsilon: Decimal | None,
    max_delta: Decimal | None,
) -> None:
    curation.alter_protection(
        DatabaseCatalog(plpy), relation, max_rows, max_groups, max_total_rows, max_epsilon, max_delta
    )


@sql_errors
def describe_column(
    plpy: Plpy,
    relation: str | None,
    column_name: str | None,
    lower: Decimal | str | None,
    upper: Decimal | str | None,
    categories: list[str] | None,
    visibility: str,
    others: str | None,
) -> None:
    listed = None if categories is None else tuple(categories)
    description = ColumnDescription(lower, upper, listed, visibility, others)
    curation.describe_column(DatabaseCatalog(plpy), relation, column_name, description)


@sql_errors
def unprotect(plpy: Plpy, relation: str | None) -> None:
    curation.unprotect(DatabaseCatalog(plpy), relation)


@sql_errors
def grant_budget(
    plpy: Plpy,
    dataset: str | None,
    role: str | None,
    epsilon: Decimal | None,
    delta: Decimal | None,
    forever: bool | None,
) -> None:
    curation.grant_budget(DatabaseCatalog(plpy), dataset, role, epsilon, delta, forever)


@sql_errors
def revoke_budget(plpy: Plpy, dataset: str | None, role: str | None) -> None:
    curation.revoke_budget(DatabaseCatalog(plpy), dataset, role)


@sql_errors
def reserve_budget(
    plpy: Plpy, dataset: str | None, role: str | None, epsilon: Decimal | None, until: str | None
) -> None:
    curation.reserve_budget(DatabaseCatalog(plpy), dataset, role, epsilon, until)


@sql_errors
def release_budget(plpy: Plpy, dataset: str | None, role: str | None) -> None:
    curation.release_budget(DatabaseCatalog(plpy), dataset, role)


@sql_errors
def exempt_view(plpy: Plpy, view: str | None, exempt: bool | None) -> None:
    exemption.exempt_view(DatabaseCatalog(plpy), view, exempt)


@sql_errors
def zcdp_epsilon_spent(plpy: Plpy, rho: Decimal, delta: Decimal) -> Decimal:
    from discreet.budget.currency import epsilon_spent

    return epsilon_spent(given("rho", rho), given("delta", delta))


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
