"""Questions within a question: all are charged together, then the inner ones are run, released, and put into it.

Why that is private is shown in gate/subquestions.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from discreet.core.errors import DiscreetError, TouchedDataError
from discreet.core.syntax import Json
from discreet.core.verdicts import judges
from discreet.gate.finish import cast_to, rows_sql
from discreet.gate.plan import Plan
from discreet.gate.pricing import Asked
from discreet.gate.subquestions import type_of
from discreet.gate.together import Rows, put_together
from discreet.gate.tree import INTERVAL, NATIVE_TYPE
from discreet.worker.meaning import Meaning
from discreet.worker.noisy import Noisy
from discreet.worker.policy import Charge
from discreet.worker.session import SessionError, Statement
from discreet.worker.store import keep
from discreet.worker.telling import explained

# the question with what its inner ones have released in it
Restated = Callable[[Meaning, tuple[str | None, ...]], Noisy]


class Nested:
    """A question in which answers of others, about all people, are constants.

    `whole`: the question once these are in place. Where all inner answers are stored, that is before anything is paid,
    since the question may be stored, too. Otherwise its own price is paid along with theirs, before any of them is run.
    """

    may_decline = False

    def __init__(self, outer: Noisy, inner: Sequence[Noisy], restated: Restated) -> None:
        self.outer, self.inner, self._restated = outer, inner, restated
        self.whole: Noisy | None = None
        self.together: Asked | None = None

    @property
    def plan(self) -> Plan:
        return self.outer.plan if self.whole is None else self.whole.plan

    @property
    def quantum(self) -> float | None:
        return self.outer.quantum

    @property
    def answering(self) -> Noisy:
        assert self.whole is not None
        return self.whole

    def admit(self) -> None:
        self.outer.admit()
        if self.outer.asked.empty:
            self.inner, self.whole = [], self.outer
        for one in self.inner:
            one.admit()

    def price(self) -> Charge | None:
        self.together = self.due_together()
        if self.together is not None:
            return self.outer.charge(self.together)
        return self.restated().price()

    def due_together(self) -> Asked | None:
        """The question with the price of all that is to be paid for it; None where the inner ones are stored."""
        due = [one.due for one in self.inner if one.price() is not None]
        return self.outer.asked.together_with(due) if due else None

    def restated(self) -> Noisy:
        """The question with the inner answers in place."""
        if self.whole is None:
            self.whole = self._restated(self.outer.meaning, tuple(released(one) for one in self.inner))
            self.whole.admit()
        return self.whole

    def run(self) -> None:
        if self.together is not None:
            self.restate_what_is_paid(self.together)
        self.answering.run()

    def restate_what_is_paid(self, together: Asked) -> None:
        """The refusal of a number that the inner answers have led to would tell of it."""
        asker, outer = self.outer.asker, self.outer.asked
        try:
            whole = self.restated()
        except TouchedDataError:
            raise
        except (DiscreetError, SessionError) as error:
            if isinstance(error, SessionError) and not judges(error):
                raise
            asker.session.log(f"discreet: {type(error).__name__} after the data was touched: {error}")
            raise TouchedDataError from None
        charged, paid = whole.asked.plan.charged, together.plan.charged
        outside = charged is not None and (paid is None or not paid.covers(charged))
        if whole.asked.amount > outer.amount or whole.asked.delta > outer.delta or outside:
            asker.session.log("discreet: a question costs more with a released number in it than before")
            raise TouchedDataError
        whole.bought_with(together)

    def decide(self) -> None:
        self.answering.decide()

    def record(self, left: Json) -> Rows:
        return self.answering.record(left)

    # -- without an answer

    def explained(self) -> dict[str, Json]:
        together = self.due_together()
        if together is None:
            return self.restated().explained()
        charged = self.outer.charge(together).due
        return explained(self.outer.asker, self.outer.asked, {}, together, charged)

    def explained_to_curators(self) -> dict[str, Json]:
        return self.outer.explained_to_curators()

    def as_text(self, told: dict[str, Json]) -> str:
        return self.outer.as_text(told)

    def findings(self) -> list[tuple[str, str, str]]:
        return self.outer.findings()


def released(one: Noisy) -> str | None:
    """The one number of an inner question, as a text: from the store, or measured and stored."""
    one.run()
    one.decide()
    asked, rows = put_together(one.asked, one.due, one.found, one.drawn)
    if one.drawn is not None:
        keep(one.asker, asked, one.due, one.drawn, rows)
    kind, _ = type_of(asked.plan, None)
    name = "interval" if kind == INTERVAL else NATIVE_TYPE[kind.family]
    shown = cast_to({"int8": "bigint"}.get(name, f"pg_catalog.{name}"), "c")
    finished = Statement(f"SELECT ({shown})::pg_catalog.text AS text FROM ({rows_sql(asked.plan)}) AS t(c)", ("jsonb",))
    (row,) = one.session.execute(finished, [json.dumps(rows)])
    text = row["text"]
    return None if text is None else str(text)
