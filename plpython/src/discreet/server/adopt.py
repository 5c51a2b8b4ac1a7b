"""discreet.propose and discreet.adopt on the database."""

from __future__ import annotations

import json
from dataclasses import asdict
from decimal import ROUND_DOWN, Decimal

from discreet.adopt.catalog import Person, Tables, tables_from_json
from discreet.adopt.proposal import AboutPeople, Limits, Proposal, Step, proposal, unit_text
from discreet.budget.currency import amount_limit
from discreet.core import curation
from discreet.core.declarations import Dataset, Policy, delta_limit, epsilon_limit, given, given_name
from discreet.core.errors import InvalidParameterError
from discreet.server.catalog import DatabaseCatalog
from discreet.server.entry import sql_errors
from discreet.server.plpy import Plpy, run

Row = dict[str, object]
# the error that takes a rehearsal back, transaction_rollback: PL/Python knows its code, and nothing else raises it
REHEARSED = "40000"
# prices are kept to so many places
PLACES = Decimal("1e-9")


class QuietCatalog(DatabaseCatalog):
    """For a rehearsal, whose notices would be told twice."""

    def notice(self, message: str, hint: str) -> None:
        pass


@sql_errors
def propose(plpy: Plpy, person: str | None, schemas: list[str] | None) -> list[Row]:
    curation.require_curator(DatabaseCatalog(plpy))
    return rows(proposed(plpy, person, schemas).steps())


@sql_errors
def adopt(
    plpy: Plpy,
    person: str | None,
    epsilon: Decimal | None,
    delta: Decimal | None,
    schemas: list[str] | None,
    share: Decimal | None,
) -> list[Row]:
    """Everything is rehearsed before the first charge, so that what was paid for is also declared.

    The dataset is committed before, by the ledger: limits are bought with its budget, whatever becomes of the
    transaction.
    """
    catalog = DatabaseCatalog(plpy)
    curation.require_curator(catalog)
    money = epsilon_limit("epsilon", epsilon), delta_limit("delta", delta)
    part = share_of(given("share", share))
    plan = proposed(plpy, person, schemas)
    refuse_snapshot(plpy)
    refuse_other_budget(catalog, plan, money)
    declared(plpy, person, money, schemas, {}, rehearsed=True)
    wanting = [found for found in plan.clear if found.wants_limits]
    if plan.dataset_is_new:
        make_dataset(plpy, catalog, Dataset(plan.dataset, *money))
    each = (money[0] * part / max(len(wanting), 1)).quantize(PLACES, ROUND_DOWN)
    limits = {found.table.written: suggested(plpy, found, plan.dataset, each) for found in wanting}
    declared(plpy, person, money, schemas, limits, rehearsed=False)
    return rows(plan.steps(limits, money))


@sql_errors
def declare(
    plpy: Plpy,
    person: str | None,
    epsilon: Decimal,
    delta: Decimal,
    schemas: list[str] | None,
    limits: str,
    rehearsed: bool,
) -> None:
    """The declarations of all tables of which nothing must be decided."""
    catalog = QuietCatalog(plpy) if rehearsed else DatabaseCatalog(plpy)
    plan = proposed(plpy, person, schemas)
    if catalog.dataset(plan.dataset) is None:
        curation.create_dataset(catalog, Dataset(plan.dataset, epsilon, delta))
    bought = {name: Limits(**each) for name, each in json.loads(limits).items()}
    for found in plan.clear:
        name = found.table.written
        if found.new:
            limit = bought.get(name, Limits(1) if rehearsed or found.one_row else None)
            curation.protect(catalog, name, plan.dataset, None, None, policy_of(found, limit))
        for each in found.declarations:
            curation.describe_column(catalog, name, each.column, each.description)
    if rehearsed:
        plpy.error("this was a rehearsal", sqlstate=REHEARSED)


def policy_of(found: AboutPeople, limits: Limits | None) -> Policy:
    """Where limits are missing, because the catalog changed since they were bought, protect() refuses."""
    unit = unit_text(found.way)
    if found.one_row or limits is None:
        return Policy(unit)
    return Policy(unit, max_rows=limits.max_rows, max_groups=limits.max_groups, max_total_rows=limits.max_total_rows)


def proposed(plpy: Plpy, person: str | None, schemas: list[str] | None) -> Proposal:
    where = Person.parse(given_name("person", person))
    return proposal(described(plpy, where, schemas), where, DatabaseCatalog(plpy).dataset_names())


def described(plpy: Plpy, person: Person, schemas: list[str] | None) -> Tables:
    """The schema of the people is always among them."""
    wanted = None if schemas is None else [*schemas, person.table[0]]
    found = run(plpy, "SELECT discreet._adoptable(:schemas::text[]) AS tables", schemas=wanted)
    return tables_from_json(json.loads(found[0]["tables"]))


def share_of(share: Decimal) -> Decimal:
    if not share.is_finite() or not 0 < share <= 1:
        raise InvalidParameterError(
            f"share is {share}, which is no share of a budget",
            "Give the part of epsilon that pays for limits of rows, such as 0.1.",
        )
    return share


def refuse_snapshot(plpy: Plpy) -> None:
    """An older snapshot would not see the dataset that the ledger makes."""
    isolation = run(plpy, "SELECT current_setting('transaction_isolation') AS level")[0]["level"]
    if isolation != "read committed":
        raise InvalidParameterError(
            f"adopt() cannot run in a transaction of isolation level {isolation}",
            "Its dataset is committed at once, which only READ COMMITTED sees.",
        )


def refuse_other_budget(catalog: DatabaseCatalog, plan: Proposal, money: tuple[Decimal, Decimal]) -> None:
    known = catalog.dataset(plan.dataset)
    if known is None:
        return
    curation.manageable_dataset(catalog, plan.dataset)
    if (known.epsilon, known.delta) != money:
        raise InvalidParameterError(
            f'dataset "{plan.dataset}" has epsilon {known.epsilon}, delta {known.delta} already',
            "Give these: adopt() changes no budget. To see what is new: SELECT * FROM discreet.propose(person);",
        )


def make_dataset(plpy: Plpy, catalog: DatabaseCatalog, dataset: Dataset) -> None:
    """Committed when this returns; one that is there already, as after an adoption that failed, is taken."""
    request = {
        "role": catalog.caller().name,
        "dataset": dataset.name,
        "epsilon": f"{dataset.epsilon:f}",
        "delta": f"{dataset.delta:f}",
        "amount": f"{amount_limit(dataset, dataset.epsilon):f}",
    }
    run(plpy, "SELECT discreet._ledger('create_dataset', :request::jsonb)", request=json.dumps(request))


def suggested(plpy: Plpy, found: AboutPeople, dataset: str, epsilon: Decimal) -> Limits:
    row = run(
        plpy,
        "SELECT max_rows, max_groups, max_total_rows FROM discreet.suggest_rows("
        ":name::regclass, :unit::text, :dataset::text, :epsilon::numeric)",
        name=found.table.written, unit=unit_text(found.way), dataset=dataset, epsilon=f"{epsilon:f}",
    )[0]  # fmt: skip
    return Limits(row["max_rows"], row["max_groups"], row["max_total_rows"])


def declared(
    plpy: Plpy,
    person: str | None,
    money: tuple[Decimal, Decimal],
    schemas: list[str] | None,
    limits: dict[str, Limits],
    rehearsed: bool,
) -> None:
    """Runs _adopt_declared, which is a subtransaction; that of a rehearsal ends in the error that is expected."""
    try:
        run(
            plpy,
            "SELECT discreet._adopt_declared(:person::text, :epsilon::numeric, :delta::numeric, :schemas::text[],"
            " :limits::jsonb, :rehearsed::boolean)",
            person=person, epsilon=f"{money[0]:f}", delta=f"{money[1]:f}", schemas=schemas,
            limits=json.dumps({name: asdict(each) for name, each in limits.items()}), rehearsed=str(rehearsed),
        )  # fmt: skip
    except plpy.SPIError as error:
        if not rehearsed or getattr(error, "sqlstate", None) != REHEARSED:
            raise


def rows(steps: list[Step]) -> list[Row]:
    return [
        {"step": number, "statement": step.statement, "reason": step.reason, "decide": step.decide}
        for number, step in enumerate(steps, 1)
    ]
