"""The ledger of periods against a model: the same charges are paid, and the same is spent, in random histories."""

from __future__ import annotations

import json
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from random import Random

import psycopg
import pytest
from tests.databases import Connection, Database, MakeRole

HISTORIES, CHARGES = 6, 60
PERIODS = ["-infinity", "2026-01-01", "2026-02-01", "2026-03-01", "2026-04-01"]


def request(role: str, amount: object, periods: list[str], lifetime: object = None, delta: object = 0) -> str:
    return json.dumps(
        {
            "role": role, "dataset": "shop", "epsilon": str(amount), "amount": str(amount), "delta": str(delta),
            "question": "SELECT", "details": {}, "label": None, "period": "1 months 0 days", "periods": periods,
            "lifetime": None if lifetime is None else {"amount": str(lifetime), "delta": "0"},
        }
    )  # fmt: skip


def charge(connection: Connection, request: str) -> bool:
    ((told,),) = connection.execute("SELECT discreet._ledger_charge_question(%s::jsonb)", [request]).fetchall()
    assert ("refused" in told) != ("left_for_role" in told)
    return "refused" not in told


class Model:
    """Limits and what is spent of them, by payer: the dataset, or a role."""

    def __init__(self, limits: dict[str, Decimal], forever: str, lifetime: Decimal) -> None:
        self.limits, self.forever, self.lifetime = limits, forever, lifetime
        self.spent: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
        self.ever: dict[str, Decimal] = defaultdict(Decimal)

    def charge(self, role: str, amount: Decimal, periods: list[str], lifetime: Decimal | None) -> bool:
        due = dict.fromkeys(periods, amount) | ({} if lifetime is None else {"infinity": lifetime})
        for payer in ("", role):
            for period, of_period in due.items():
                limit = self.limits[payer]
                if period == "infinity":
                    limit = limit * self.lifetime / self.limits[""]
                elif payer == self.forever:
                    continue
                if self.spent[payer, period] + of_period > limit:
                    return False
        if role == self.forever and self.ever[role] + amount > self.limits[role]:
            return False
        for payer in ("", role):
            for period, of_period in due.items():
                self.spent[payer, period] += of_period
        self.ever[role] += amount
        return True


def begin(admin: Connection, make_role: MakeRole) -> tuple[Model, str, str]:
    ann, bob = make_role("ann", "discreet_analyst"), make_role("bob", "discreet_analyst")
    admin.execute("SELECT discreet.create_dataset('shop', 2, 1e-6, period => '1 month', lifetime_epsilon => 3)")
    admin.execute("SELECT discreet.grant_budget('shop', %s::regrole, 1)", [ann])
    admin.execute("SELECT discreet.grant_budget('shop', %s::regrole, 1.5, forever => true)", [bob])
    return Model({"": Decimal(2), ann: Decimal(1), bob: Decimal("1.5")}, bob, Decimal(3)), ann, bob


def test_random_histories_are_those_of_the_model(database: Database, make_role: MakeRole) -> None:
    admin = database.connect()
    model, ann, bob = begin(admin, make_role)
    paid = refused = 0
    for number in range(HISTORIES):
        random = Random(f"ledger {number}")
        for _ in range(CHARGES):
            role = random.choice([ann, bob])
            periods = sorted(random.sample(PERIODS, random.randint(0, 3)))
            lifetime = Decimal(random.randint(0, 40)) / 100 if random.random() < 0.3 or not periods else None
            amount = Decimal(random.randint(1, 60)) / 100
            accepted = model.charge(role, amount, periods, lifetime)
            assert charge(admin, request(role, amount, periods, lifetime)) == accepted
            paid, refused = paid + accepted, refused + (not accepted)
        admin.execute("TRUNCATE discreet._period_spent, discreet._charge; UPDATE discreet._budget SET amount_spent = 0")
        model.spent.clear()
        model.ever.clear()
    assert min(paid, refused) > 50
    for _ in range(CHARGES):
        random = Random("last")
        amount, periods = Decimal(random.randint(1, 9)) / 100, random.sample(PERIODS, 2)
        assert charge(admin, request(ann, amount, periods)) == model.charge(ann, amount, periods, None)
    rows = admin.execute(
        "SELECT CASE WHEN role = 0 THEN '' ELSE role::regrole::text END, period::text, amount_spent"
        " FROM discreet._period_spent"
    ).fetchall()
    assert {(role, period): spent for role, period, spent in rows} == dict(model.spent)
    assert admin.execute("SELECT bool_and(intact) FROM discreet.verify_log()").fetchone() == (True,)


def test_charges_that_come_together_spend_no_period_twice(database: Database, make_role: MakeRole) -> None:
    admin = database.connect()
    _, ann, bob = begin(admin, make_role)
    random = Random("together")
    wanted = [(random.choice([ann, bob]), sorted(random.sample(PERIODS, random.randint(1, 4)))) for _ in range(160)]

    def some(place: int) -> int:
        connection = database.connect()
        found = [charge(connection, request(role, "0.03", periods)) for role, periods in wanted[place::8]]
        return sum(found)

    with ThreadPoolExecutor(8) as threads:
        paid = sum(threads.map(some, range(8)))
    assert 0 < paid < 160
    ((most,),) = admin.execute("SELECT max(amount_spent) FROM discreet._period_spent WHERE role = 0").fetchall()
    assert most <= 2
    rows = admin.execute("SELECT details FROM discreet._charge").fetchall()
    counted: dict[str, Decimal] = defaultdict(Decimal)
    for (details,) in rows:
        for period in details["periods"]:
            counted[period] += Decimal("0.03")
    spent = admin.execute("SELECT period::text, amount_spent FROM discreet._period_spent WHERE role = 0").fetchall()
    assert dict(spent) == dict(counted)
    assert len(rows) == paid
    assert admin.execute("SELECT bool_and(intact) FROM discreet.verify_log()").fetchone() == (True,)


def test_a_charge_that_names_no_true_period_is_refused(database: Database, make_role: MakeRole) -> None:
    admin = database.connect()
    _, ann, _ = begin(admin, make_role)
    assert not charge(admin, request(ann, 1, ["2026-01-02"]))
    assert not charge(admin, request(ann, 1, ["2026-01-01"]).replace("1 months", "2 months"))
    for odd in (request(ann, 1, []), request(ann, -1, ["2026-01-01"]), request(ann, "NaN", ["2026-01-01"]),
                request(ann, 1, ["infinity"]), request(ann, 1, ["2026-01-01"], "Infinity")):  # fmt: skip
        with pytest.raises(psycopg.Error, match="a charge of amount"):
            charge(admin, odd)
    plain = json.loads(request(ann, 1, []))
    del plain["periods"]
    assert not charge(admin, json.dumps(plain))
    assert admin.execute("SELECT count(*) FROM discreet._charge").fetchone() == (0,)
