"""The run step of a question that people pay for themselves."""

from __future__ import annotations

import json
import secrets
from fractions import Fraction
from typing import Any

from discreet.core.errors import RefusedShapeError
from discreet.gate.plan import Plan
from discreet.gate.run import statements
from discreet.personal.budgets import price_of
from discreet.personal.selection import Personal
from discreet.worker.session import Session, run
from discreet.worker.totals import Found, as_texts, put_rows

RUN = """
    SELECT place, value FROM discreet._personal_run(
        :role::oid, :dataset::text, :by_integer::boolean, :selection::text, :terms::text, :most::int,
        :statements::text[], :places::int[])
"""


def refuse_other_isolation(level: str) -> None:
    """An older snapshot would let people pay who were another number of rows then."""
    if level != "read committed":
        raise RefusedShapeError(
            f"a question in a {level.upper()} transaction, about people who pay for themselves",
            "Ask in READ COMMITTED.",
        )


def totals_of_payers(session: Session, plan: Plan, epsilon: Fraction, role: int) -> list[Found]:
    """Of every grouping set, over the rows of those who have paid; selection, payment and run share a snapshot."""
    assert plan.personal is not None
    sets = plan.grouping.sets
    built = [(keys, one) for keys in range(len(sets)) for one in statements(plan, sets[keys], secrets.randbits(62))]
    ways = [(place, sql) for place, (_, statement) in enumerate(built) for sql in as_texts(statement)]
    terms = {"schema": plan.personal.schema, "table": plan.personal.table, "price": price_of(epsilon)}
    rows = run(
        session,
        RUN,
        role=role,
        dataset=plan.dataset.name,
        by_integer=plan.personal.by_integer,
        selection=plan.personal.selection,
        terms=", " + json.dumps(terms)[1:-1],
        most=plan.personal.most,
        statements=[sql for _, sql in ways],
        places=[str(place) for place, _ in ways],
    )
    found: list[Found] = [{} for _ in sets]
    for row in rows:
        keys, statement = built[row["place"]]
        put_rows(found[keys], plan, statement, [json.loads(row["value"])])
    return found


def told(personal: Personal) -> dict[str, Any]:
    """What explain() tells: nothing of it depends on the data."""
    return {
        "policy": "personal",
        "paid_by": "everybody who is selected and can pay: epsilon for each own row that takes part,"
        f" at most {personal.most}; who cannot pay takes no part",
    }
