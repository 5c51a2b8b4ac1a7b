"""Policy 'personal': people pay for themselves, and those who cannot pay take no part."""

from __future__ import annotations

import json
import secrets
from fractions import Fraction

from discreet.core.errors import RefusedShapeError
from discreet.core.syntax import Json
from discreet.dp.exact import decimal_text
from discreet.gate.payers import Personal as Payers
from discreet.gate.plan import Plan
from discreet.gate.pricing import Asked
from discreet.gate.run import statements
from discreet.personal.budgets import price_of
from discreet.worker.meaning import Meaning
from discreet.worker.noisy import Noisy
from discreet.worker.policy import Asking, Charge
from discreet.worker.session import Session, run
from discreet.worker.telling import Told
from discreet.worker.totals import Totals, put_rows

RUN = """
    SELECT place, value FROM discreet._personal_run(
        :role::oid, :dataset::text, :by_integer::boolean, :selection::text, :terms::text, :most::int,
        :statements::text[], :places::int[])
"""


class Personal(Noisy):
    """A question that is answered with noise, about rows of those who have paid."""

    @property
    def payers(self) -> Payers:
        assert self.plan.personal is not None
        return self.plan.personal

    def admit(self) -> None:
        """An older snapshot would let people pay who were another number of rows then."""
        level = self.asker.setting("transaction_isolation")
        if level != "read committed":
            raise RefusedShapeError(
                f"a question in a {level.upper()} transaction, about people who pay for themselves",
                "Ask in READ COMMITTED.",
            )
        super().admit()

    def native(self) -> list[str]:
        return [*super().native(), self.payers.selection]

    def charge(self, due: Asked) -> Charge:
        """The limits of the role bound how much it asks; those of the dataset are not touched."""
        charge = super().charge(due)
        taken = {"amount": decimal_text(due.epsilon), "delta": "0", "personal": True}
        return Charge("charge_personal", charge.request, charge.due | taken)

    def totals_of_due(self) -> list[Totals]:
        return totals_of_payers(self.session, self.due.plan, self.payers, self.due.epsilon, self.acting)

    def told(self, left: Json) -> Told:
        return Told(self.paid(), self.bought is None, left, "", True, self.cut)

    def paid(self) -> str:
        by_whom = "" if self.bought is None else " by each selected person who can pay, for each of their rows"
        return super().paid() + by_whom

    def explained(self) -> dict[str, Json]:
        """Nothing of it depends on the data."""
        paid_by = (
            "each selected person who can pay: epsilon for each of their rows that takes part,"
            f" at most {self.payers.most}; who cannot pay takes no part"
        )
        return super().explained() | {"policy": "personal", "paid_by": paid_by}


def with_noise(meaning: Meaning, asking: Asking, asked: Asked) -> Noisy:
    """A question under policy 'noisy' or 'personal', by who pays for it."""
    return (Noisy if asked.plan.personal is None else Personal)(meaning, asking, asked)


def totals_of_payers(session: Session, plan: Plan, payers: Payers, epsilon: Fraction, role: int) -> list[Totals]:
    """Of every grouping set, over the rows of those who have paid; selection, payment and run share a snapshot."""
    sets = plan.grouping.sets
    built = [(keys, one) for keys in range(len(sets)) for one in statements(plan, sets[keys], secrets.randbits(62))]
    ways = [(place, sql) for place, (_, statement) in enumerate(built) for sql in statement.as_texts]
    terms = {"schema": payers.schema, "table": payers.table, "price": price_of(epsilon)}
    rows = run(
        session,
        RUN,
        role=role,
        dataset=plan.dataset.name,
        by_integer=payers.by_integer,
        selection=payers.selection,
        terms=", " + json.dumps(terms)[1:-1],
        most=payers.most,
        statements=[sql for _, sql in ways],
        places=[str(place) for place, _ in ways],
    )
    found: list[Totals] = [{} for _ in sets]
    for row in rows:
        keys, statement = built[row["place"]]
        put_rows(found[keys], plan, statement, [json.loads(row["value"])])
    return found
