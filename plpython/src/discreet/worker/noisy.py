"""Policy 'noisy': numbers of all people, each with noise that the dataset pays for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from discreet.core.syntax import Json
from discreet.dp.additive import additive_noise
from discreet.dp.exact import decimal_text
from discreet.dp.noise import AT_ONCE
from discreet.dp.price import Price
from discreet.gate.exactness import MISSED, sensitivities
from discreet.gate.excluded import are_lasting, constant_conditions_sql, groups_sql, listed_sql
from discreet.gate.lint import findings
from discreet.gate.measure import (
    Draws,
    Group,
    Released,
    domain_groups,
    of_all_people,
    refuse_large_answer,
    release,
)  # fmt: skip
from discreet.gate.plan import Plan, errors_sql
from discreet.gate.pricing import Asked, missing
from discreet.gate.readable import readable
from discreet.gate.run import Statement as NativeStatement
from discreet.gate.run import cut_sql, statements
from discreet.gate.stored import Found
from discreet.gate.terms import PEOPLE
from discreet.gate.together import Rows, put_together, wants_no_rows
from discreet.worker.acting import run_as
from discreet.worker.analysis import analysed
from discreet.worker.asker import LONGEST_QUESTION
from discreet.worker.meaning import Meaning
from discreet.worker.policy import Asking, Charge
from discreet.worker.session import Statement
from discreet.worker.store import keep, recalled
from discreet.worker.telling import Told, explained, tell
from discreet.worker.totals import Totals, totals


class Noisy:
    """A question that is answered with noise.

    `due`: what of it is not stored, and is measured; `bought`: what was paid for, None where nothing was. Of the draws
    each is used once.
    """

    may_decline = False
    acting: int
    found: Found
    due: Asked
    bought: Asked | None
    known: list[list[Group] | None]
    draws: list[Draws]
    totals: list[Totals]
    people_cut: int | None
    cut: str | None
    drawn: list[Released] | None

    def __init__(self, meaning: Meaning, asking: Asking, asked: Asked) -> None:
        self.meaning, self.asking, self.asked = meaning, asking, asked
        self.asker, self.session = meaning.asker, meaning.asker.session

    @property
    def plan(self) -> Plan:
        return self.asked.plan

    @property
    def quantum(self) -> float | None:
        return self.plan.dataset.response_quantum

    # -- admit

    def admit(self) -> None:
        """Errors of types and names come before the charge: the server has analysed the statements."""
        self.acting = self.meaning.acting()
        plan = self.plan
        domains, lasting = groups_wanted(plan), plan.known_texts
        asked = [Statement(sql) for sql in [*constant_conditions_sql(plan.conditions), *domains.values()]]
        tried = [Statement(f"SELECT {sql}") for sql in plan.trials]
        finish = [self.asking.finish(plan), *errors_sql(plan)]
        found = analysed(self.session, [*asked, *tried], self.native(), self.acting, finish, len(plan.levels))
        held, listed = found[: len(asked) - len(domains)], found[len(asked) - len(domains) : len(asked)]
        if not all(rows[0]["holds"] for rows in held) or wants_no_rows(plan):
            self.asked = self.asked.of_nothing()
            return
        texts = {
            place: list(dict.fromkeys(row["text"] for row in rows)) for place, rows in zip(domains, listed, strict=True)
        }
        for place, some in texts.items():
            if are_lasting(plan.grouping.keys[place], plan.source, plan.conditions):
                lasting[place] = some
        self.asked = replace(self.asked, texts=lasting | texts | self.of_public_rows())
        refuse_large_answer(plan, self.asked.texts)
        for keys, terms in zip(plan.grouping.sets, self.asked.terms, strict=True):
            if not plan.knows_groups(keys):
                terms.threshold()
            for measurement in plan.measurements:
                terms.check(measurement)

    def statements(self) -> list[NativeStatement]:
        """What would be run, but for the secret."""
        return [statement for keys in self.plan.grouping.sets for statement in statements(self.plan, keys, 0)]

    def native(self) -> list[str]:
        """The statements that are run, as the server analyses them."""
        native = [sql for statement in self.statements() for sql in statement.as_texts]
        return [*native, cut_sql(self.plan)] if tells_cut(self.plan) else native

    def of_public_rows(self) -> dict[int, list[str | None]]:
        """The groups that public rows give to keys, which no person decides about: row by row."""
        keys = self.plan.grouping.keys
        listed = next((key.listed for key in keys if key.listed is not None), None)
        if listed is None:
            return {}
        rows = [json.loads(row or "[]") for row in run_as(self.session, self.acting, listed_sql(keys, listed))]
        return {place: [row[place] for row in rows] for place in range(len(keys))}

    # -- price

    def price(self) -> Charge | None:
        self.asked, self.found = recalled(self.asker, self.asked, self.asking.wish)
        self.due = missing(self.asked, self.found)
        self.bought = self.due if self.due.plan.measurements else None
        return None if self.bought is None else self.charge(self.bought)

    def bought_with(self, together: Asked) -> None:
        """All of it was paid for already, along with others."""
        self.found, self.due, self.bought = {}, self.asked, together

    def charge(self, due: Asked) -> Charge:
        """What is due, from the limits of the dataset."""
        taken = {
            "dataset": due.plan.dataset.name,
            "amount": decimal_text(due.cost.amount),
            "delta": decimal_text(due.cost.delta),
        } | in_periods(due)
        details: dict[str, Json] = {
            "measurements": len(due.plan.measurements),
            "grouping_sets": len(due.plan.grouping.sets),
        }
        if due.plan.sample is not None:
            details["sample"] = str(due.plan.sample.rate)
        request = {
            "role": self.asker.user,
            "epsilon": decimal_text(due.cost.epsilon),
            "question": self.asking.text[:LONGEST_QUESTION],
            "details": details,
        }
        label = None if self.asker.label is None else self.asker.label.bits
        asked = {"personal": False, "label": label, "key": due.key, "fresh": self.asking.wish.fresh}
        return Charge("charge_question", taken | request, taken | asked)

    # -- run

    def run(self) -> None:
        """The exact totals of what is due; noise that depends on no row is drawn meanwhile."""
        self.people_cut = None
        if not self.due.plan.measurements:
            return
        due = self.due = self.due.with_sample()
        sets = due.plan.grouping.sets
        with self.asker.touching_data():
            known = [domain_groups(due.plan, keys, due.texts) for keys in sets]
            if PEOPLE in self.found:  # unknown groups are known by what is stored
                stored = self.found[PEOPLE]
                known = [list(stored[n].numbers) if some is None else some for n, some in enumerate(known)]
            self.known = known
            self.draws = [Draws(due.plan, terms, groups) for terms, groups in zip(due.terms, known, strict=True)]
            with self.drawing():
                self.totals = self.totals_of_due()
                if tells_cut(due.plan):
                    (number,) = run_as(self.session, self.acting, cut_sql(due.plan))
                    self.people_cut = int(number)
                self.meaning.refuse_changed()

    def totals_of_due(self) -> list[Totals]:
        plan = self.due.plan
        return [totals(self.session, plan, keys, self.acting) for keys in plan.grouping.sets]

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Noise of many numbers is drawn while the session reads its rows, unless other sessions need the worker."""
        if sum(draw.missing for draw in self.draws) >= AT_ONCE:
            self.session.meanwhile = drawn_ahead(self.draws)
        try:
            yield
        finally:
            self.session.meanwhile = None

    # -- decide

    def decide(self) -> None:
        """Draws the noise, once for each number."""
        self.drawn, self.cut = None, None
        if not self.due.plan.measurements:
            return
        with self.asker.touching_data():
            of_sets = zip(self.due.terms, self.known, self.totals, self.draws, strict=True)
            self.drawn = [of_all_people(of_set[0], release(self.due.plan, *of_set)) for of_set in of_sets]
            if self.people_cut is not None:
                self.cut = self.cut_told(self.people_cut)

    def cut_told(self, people: int) -> str:
        """About how many people have more than counts, where the dataset pays for knowing it, in words."""
        due, acts = self.due, self.due.terms[0].acts
        price = Price.of(due.worth, due.plan.dataset.accounting)
        amount = price.amount * due.plan.diagnosed * len(due.plan.grouping.sets)
        noise = additive_noise(acts, replace(price, amount=amount), acts)
        (noisy,) = noise.added([people], noise.draw(1))
        if due.terms[0].sample is not None:
            return f"about {due.terms[0].sample.scaled(max(noisy, 0))} people have more rows than count, by the sample"
        return f"about {max(noisy, 0)} people (±{noise.half_width(1 - MISSED)}) have more rows than count"

    # -- record

    def record(self, left: Json) -> Rows:
        if left is None:
            request = {"role": self.asker.user, "dataset": self.plan.dataset.name, "amount": "0", "delta": "0"}
            left = self.asker.ledger("left", request | in_periods(self.asked))
        self.asker.wait_for_quantum(self.quantum)
        self.asked, rows = put_together(self.asked, self.due, self.found, self.drawn)
        if self.drawn is not None:
            keep(self.asker, self.asked, self.due, self.drawn, rows)
        if self.bought is not None:
            self.asked = replace(self.asked, epsilon=self.bought.epsilon)
        tell(self.asker, self.asked, self.told(left), rows)
        return rows

    def told(self, left: Json) -> Told:
        """What is said of the price."""
        dataset = self.plan.dataset
        where = "" if self.asker.label is None else f" at label {self.asker.label.text}"
        for_all = f", for dataset {dataset.name}{where} {left['left_for_dataset']}"
        return Told(self.paid(), self.bought is None, left, for_all, dataset.accounting == "pure", self.cut)

    def paid(self) -> str:
        if self.bought is not None:
            return f"epsilon {decimal_text(self.bought.cost.epsilon)} spent"
        how = "answered again from the store" if self.found else "answered by the text of the question"
        return f"{how}, free of charge"

    # -- without an answer

    def explained(self) -> dict[str, Json]:
        asked, found = recalled(self.asker, self.asked, self.asking.wish)
        due = missing(asked, found)
        charged = self.charge(due).due if due.plan.measurements else None
        return explained(self.asker, asked, found, due, charged)

    def explained_to_curators(self) -> dict[str, Json]:
        return {
            "native_sql": [statement.sql for statement in self.statements()],
            "sensitivities": sensitivities(self.plan, self.asked.terms),
        }

    def as_text(self, told: dict[str, Json]) -> str:
        return readable(told, self.plan)

    def findings(self) -> list[tuple[str, str, str]]:
        return findings(self.plan)


def in_periods(due: Asked) -> dict[str, Json]:
    """The periods that pay, by their first days, and what is taken from the lifetime, where the dataset has periods."""
    charged, lifetime = due.plan.charged, due.lifetime
    if charged is None:
        return {}
    calendar = charged.calendar
    days = [calendar.first_day(number).isoformat() for number in charged.numbers]
    cost = lifetime and {"amount": decimal_text(lifetime.amount), "delta": decimal_text(lifetime.delta)}
    return {
        "period": f"{calendar.months} months {calendar.days} days",
        "periods": (["-infinity"] if charged.undated else []) + days,
        "lifetime": cost,
    }


def groups_wanted(plan: Plan) -> dict[int, str]:
    """The SQL of the groups of keys, by their places, which are not known yet."""
    return {
        place: groups_sql(key, plan.source, plan.conditions)
        for place, key in enumerate(plan.grouping.keys)
        if key.domain is not None and place not in plan.known_texts
    }


def tells_cut(plan: Plan) -> bool:
    """Whether a part of the price tells how many people were cut."""
    return bool(plan.diagnosed) and plan.sharing > 0


def drawn_ahead(draws: list[Draws]) -> Iterator[None]:
    for draw in draws:
        while draw.missing:
            draw.draw_some()
            yield
