"""What the asker is told of a question with noise: before by explain(), after by a notice and last_answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal

from discreet.budget.currency import epsilon_spent
from discreet.core.errors import DiscreetError
from discreet.core.syntax import Json
from discreet.core.verdicts import judges
from discreet.dp.exact import decimal_text
from discreet.gate.caveats import caveats, thresholds
from discreet.gate.exactness import Widths, about, all_widths, columns_told, errors_told, exactness, groups_told
from discreet.gate.plan import Plan, errors_sql
from discreet.gate.pricing import Asked
from discreet.gate.readable import measured
from discreet.gate.stored import Found, covers, terms_with
from discreet.gate.together import Rows
from discreet.worker.asker import Asker
from discreet.worker.session import Session, SessionError, Statement

# columns of which a notice says how exact they are
MOST_TOLD = 8


@dataclass(frozen=True)
class Told:
    """What the policy says of the price: in words, whether it was `free`, and what is `left`, `for_all` in words.

    `in_epsilon`: whether limits count epsilon. `cut`: about how many people were cut, in words.
    """

    paid: str
    free: bool
    left: dict[str, Json]
    for_all: str
    in_epsilon: bool
    cut: str | None


def tell(asker: Asker, asked: Asked, told: Told, rows: Rows) -> None:
    """What was paid, what is left, the 95 % error of each noisy column, from released numbers, and caveats."""
    widths = all_widths(asked.plan, rows, margin_widths(asker.session, asked.plan, rows))
    errors = errors_told(asked.plan, asked.terms, rows, widths)
    limits = caveats(asked.plan, asked.terms) + ([] if told.cut is None else [told.cut])
    columns = columns_told(asked.plan, asked.terms, rows, widths)
    asker.session.tell_answer(last_answer(asker, asked, told, limits) | {"columns": columns})
    if not rows:
        limits = [*limits, *(f"no group has as many as about {least} people" for least in smallest(asked))]
    if len(errors) > MOST_TOLD:
        errors = [*errors[:MOST_TOLD], f"{len(errors) - MOST_TOLD} more columns: see discreet.explain()"]
    unit = "epsilon" if asked.plan.dataset.accounting == "pure" else "rho"
    asker.session.notice(
        f"{told.paid}; {unit} left for you {told.left['left_for_role']}{told.for_all}"
        + (f"; 95 % error: {', '.join(errors)}" if errors else "")
        + "".join(f"; {limit}" for limit in limits)
    )


def margin_widths(session: Session, plan: Plan, rows: Rows) -> Widths:
    """The least and the largest error of each column whose error SQL makes of margins, by its place."""
    (*_, sql) = (None, *errors_sql(plan))
    if sql is None or not rows:
        return {}
    try:
        (found,) = session.execute(Statement(sql, ("jsonb",)), [json.dumps(rows)])
    except SessionError as error:
        if not judges(error):
            raise
        return {}  # so will the answer itself, which says why
    return {place: (found[f"least{place}"], found[f"most{place}"]) for place in plan.margin_places}


def last_answer(asker: Asker, asked: Asked, told: Told, limits: list[str]) -> dict[str, Json]:
    """What the view last_answer shows, and explain() has told beforehand."""
    lines = told.left["lines"] or [{"epsilon_limit": "0", "spent": "0", "delta_left": "0"}]
    cap = Decimal(asked.plan.dataset.delta_limit.numerator) / Decimal(asked.plan.dataset.delta_limit.denominator)
    epsilons = [
        Decimal(line["epsilon_limit"]) - (spent if told.in_epsilon else epsilon_spent(spent, cap))
        for line, spent in ((line, Decimal(line["spent"])) for line in lines)
    ]
    return {
        "asked_at": asker.setting("now"),
        "epsilon": "0" if told.free else decimal_text(asked.cost.epsilon),
        "delta": "0" if told.free else decimal_text(asked.cost.delta),
        "epsilon_left": format(max(min(epsilons), Decimal(0)), "f"),
        "delta_left": format(max(min(Decimal(line["delta_left"]) for line in lines), Decimal(0)), "f"),
        "from_store": told.free,
        "caveats": limits,
    }


def smallest(asked: Asked) -> list[int]:
    """How many people a group must have, about, to be shown; none where a grouping set shows all its groups."""
    keys = asked.plan.grouping.keys
    hidden = all(not all(keys[key].known for key in some) for some in asked.plan.grouping.sets)
    return sorted(thresholds(asked.plan, asked.terms))[:1] if hidden else []


def explained(asker: Asker, asked: Asked, found: Found, due: Asked, charged: dict[str, Json] | None) -> dict[str, Json]:
    """What explain() tells every role; `charged`: what would be taken from limits."""
    # an answer in the store was paid for: whether it is there is history, which every role that may ask may have
    stored = bool(found) and covers(asked.plan, found)
    plan = asked.plan
    terms = [terms_with(some, n, found, due.terms[n]) for n, some in enumerate(asked.terms)]
    return (
        {
            "dataset": plan.dataset.name,
            "epsilon": decimal_text(due.epsilon),
            "delta": decimal_text(due.delta),
            "accounting": plan.dataset.accounting,
            "measurements": len(plan.measurements),
            "shares": shares_told(due),
            "outputs": [column.told() for column in exactness(plan, terms)],
            "groups": groups_told(plan, terms),
            "caveats": caveats(plan, terms),
            "stored": stored,
        }
        | periods_told(due)
        | ({} if charged is None else shortage(asker, charged))
        | ({} if asker.label is None else {"label": asker.label.text})
    )


def shares_told(due: Asked) -> list[dict[str, Json]]:
    """Of what is to be measured, which part of the price each has; of joint noise, an even part of that of all."""
    plan, terms = due.plan, due.terms[0]
    return [
        {
            "measures": measured(measurement, plan),
            "share": about(terms.share_of(measurement)),
            "joint": terms.joint_part(measurement) is not None,
        }
        for measurement in plan.measurements
        if measurement.own is None
    ]


def periods_told(due: Asked) -> dict[str, Json]:
    """The periods that would pay, each the whole price, and what the lifetime would, where the dataset has periods."""
    charged, lifetime = due.plan.charged, due.lifetime
    if charged is None:
        return {}
    days = [charged.calendar.first_day(number).isoformat() for number in charged.numbers]
    told: dict[str, Json] = {"periods": (["undated"] if charged.undated else []) + days}
    return told if lifetime is None else told | {"lifetime_epsilon": decimal_text(lifetime.epsilon)}


def shortage(asker: Asker, due: dict[str, Json]) -> dict[str, Json]:
    """The refusal, where the limits do not leave the price."""
    try:
        asker.refuse_shortage([due])
    except DiscreetError as error:
        return {"refused": refusal(error)}
    return {}


def refusal(error: DiscreetError) -> dict[str, Json]:
    return {"code": error.sqlstate, "message": error.message, "hint": error.hint}
