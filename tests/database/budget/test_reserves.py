"""reserve_budget() keeps a part of a dataset's budget for a role, which others cannot spend."""

from __future__ import annotations

import json
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from random import Random

import psycopg
import pytest
from tests.databases import Connection, Database, MakeRole
from tests.messages import notices

HISTORIES, STEPS = 5, 60
PERIODS = ["-infinity", "2026-01-01", "2026-02-01", "2026-03-01"]
AHEAD = "2999-01-01"


class Shop:
    """A dataset of epsilon 2, half of which each of three roles may spend; `period`: whether it has periods."""

    def __init__(self, database: Database, make_role: MakeRole, period: bool = False) -> None:
        self.database, self.admin, self.period = database, database.connect(), period
        self.ann, self.job, self.other = (make_role(name, "discreet_analyst") for name in ("ann", "job", "other"))
        dated = ", period => '1 month', lifetime_epsilon => 4" if period else ""
        self.admin.execute(f"SELECT discreet.create_dataset('shop', 2, 1e-6{dated})")
        for role in (self.ann, self.job, self.other):
            self.grant(role)

    def grant(self, role: str, epsilon: object = 2) -> None:
        self.admin.execute("SELECT discreet.grant_budget('shop', %s::regrole, %s, 1e-6)", [role, epsilon])

    def reserve(self, role: str, epsilon: object, until: str = AHEAD, connection: Connection | None = None) -> None:
        (connection or self.admin).execute(
            "SELECT discreet.reserve_budget('shop', %s::regrole, %s, %s)", [role, epsilon, until]
        )

    def release(self, role: str) -> None:
        self.admin.execute("SELECT discreet.release_budget('shop', %s::regrole)", [role])

    def expire(self) -> None:
        self.admin.execute("UPDATE discreet._reserve SET until = now() - interval '1 second'")

    def charge(
        self,
        role: str,
        amount: object,
        *periods: str,
        delta: object = 0,
        lifetime: object = None,
        connection: Connection | None = None,
    ) -> str | None:
        """The refusal, if any."""
        request: dict[str, object] = {
            "role": role, "dataset": "shop", "epsilon": str(amount), "amount": str(amount), "delta": str(delta),
            "question": "SELECT", "details": {}, "label": None,
        }  # fmt: skip
        if self.period:
            taken = None if lifetime is None else {"amount": str(lifetime), "delta": "0"}
            request |= {"period": "1 months 0 days", "periods": list(periods), "lifetime": taken}
        ((told,),) = (connection or self.admin).execute(
            "SELECT discreet._ledger_charge_question(%s::jsonb)", [json.dumps(request)]
        )
        return told["refused"]["message"] if "refused" in told else None

    def status(self, role: str | None, period: str | None = None) -> tuple[Decimal, Decimal, bool]:
        ((left, kept, until),) = self.admin.execute(
            "SELECT epsilon_left, epsilon_kept, kept_until IS NOT NULL FROM discreet.budget_status"
            " WHERE dataset = 'shop' AND role IS NOT DISTINCT FROM %s AND period IS NOT DISTINCT FROM %s",
            [role, period],
        ).fetchall()
        return left, kept, until


@pytest.fixture
def shop(database: Database, make_role: MakeRole) -> Shop:
    return Shop(database, make_role)


@pytest.fixture
def dated(database: Database, make_role: MakeRole) -> Shop:
    return Shop(database, make_role, period=True)


def test_others_cannot_spend_what_is_kept(shop: Shop) -> None:
    shop.reserve(shop.job, "1.5")
    assert shop.charge(shop.ann, "0.4") is None
    assert shop.charge(shop.ann, "0.2") == "what dataset shop has left is kept for other roles"
    assert shop.status(None) == (Decimal("1.6"), Decimal("1.5"), True)
    assert shop.charge(shop.job, "1.2") is None
    assert shop.status(shop.job) == (Decimal("0.8"), Decimal("0.3"), True)
    assert shop.charge(shop.ann, "0.2") is not None
    # what the job spends beyond is everybody's
    assert shop.charge(shop.job, "0.4") is None
    assert shop.charge(shop.job, "0.1") == "the budget of dataset shop is exhausted"


def test_members_of_a_role_spend_what_is_kept_for_it(shop: Shop) -> None:
    shop.admin.execute(f"GRANT {shop.job} TO {shop.other}")
    shop.reserve(shop.job, 2)
    assert shop.charge(shop.ann, "0.1") is not None
    assert shop.charge(shop.other, 2) is None


def test_it_is_given_back_when_it_ends(shop: Shop) -> None:
    shop.reserve(shop.job, 2)
    assert shop.charge(shop.ann, 1) is not None
    shop.expire()
    assert shop.status(None) == (2, 0, False)
    assert shop.charge(shop.ann, 1) is None
    shop.reserve(shop.job, 1)
    assert shop.charge(shop.ann, 1) is not None
    shop.release(shop.job)
    assert shop.charge(shop.ann, 1) is None


def test_a_role_that_is_dropped_or_loses_its_budget_keeps_nothing(shop: Shop, make_role: MakeRole) -> None:
    shop.reserve(shop.job, 2)
    shop.admin.execute("SELECT discreet.revoke_budget('shop', %s::regrole)", [shop.job])
    assert shop.charge(shop.ann, "0.5") is None
    gone = make_role("gone")
    shop.reserve(gone, 1)
    assert shop.charge(shop.ann, 1) is not None
    shop.admin.execute(f"DROP OWNED BY {gone}; DROP ROLE {gone}")
    assert shop.charge(shop.ann, 1) is None


def test_another_call_takes_the_place_of_the_first(shop: Shop) -> None:
    shop.reserve(shop.job, 1)
    assert shop.charge(shop.job, "0.9") is None
    shop.reserve(shop.job, "0.5")
    assert shop.status(shop.job)[1] == Decimal("0.5")
    assert shop.charge(shop.ann, "0.7") is not None
    assert shop.charge(shop.ann, "0.6") is None


def test_no_more_is_kept_than_there_is(shop: Shop) -> None:
    shop.reserve(shop.job, 1)
    assert shop.charge(shop.ann, "0.5") is None
    with pytest.raises(psycopg.Error, match=r"epsilon 0.6 is more than dataset \"shop\" has left to keep: 0.5"):
        shop.reserve(shop.other, "0.6")
    shop.reserve(shop.other, "0.5")
    assert shop.charge(shop.ann, "0.01") is not None
    assert shop.charge(shop.other, "0.5") is None
    assert shop.charge(shop.job, 1) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("'shop', 'pg_monitor', 0, '2999-01-01'", "epsilon is 0, which is not a budget"),
        ("'shop', 'pg_monitor', 'NaN', '2999-01-01'", "epsilon is NaN, which is not a budget"),
        ("'shop', 'pg_monitor', 3, '2999-01-01'", 'more than dataset "shop" has left to keep'),
        ("'shop', 'pg_monitor', 1, '2000-01-01'", "until is 2000-01-01 .*, which has passed"),
        ("'shop', 'pg_monitor', 1, '-infinity'", "which has passed"),
        ("'shop', 'pg_monitor', 1, NULL", "until must not be NULL"),
        ("'shop', '-', 1, 'infinity'", "there is no role -"),
        ("'shops', 'pg_monitor', 1, '2999-01-01'", 'there is no dataset "shops"'),
    ],
)
def test_it_is_refused(shop: Shop, arguments: str, message: str) -> None:
    with pytest.raises(psycopg.Error, match=message):
        shop.admin.execute(f"SELECT discreet.reserve_budget({arguments})")
    assert shop.admin.execute("SELECT count(*) FROM discreet._reserve").fetchone() == (0,)


def test_nothing_to_release_is_an_error(shop: Shop) -> None:
    with pytest.raises(psycopg.Error, match='nothing of dataset "shop" is kept for'):
        shop.release(shop.job)


def test_a_role_without_a_budget_is_a_notice(shop: Shop) -> None:
    heard = notices(shop.admin)
    shop.reserve("pg_monitor", 1)
    assert "pg_monitor holds no budget" in str(heard)


def test_people_who_pay_for_themselves_keep_nothing_for_roles(shop: Shop) -> None:
    shop.admin.execute(
        "CREATE TABLE public.member (id int PRIMARY KEY);"
        "SELECT discreet.create_dataset('club', 1);"
        "SELECT discreet.protect('public.member', 'id', 'club', policy => 'personal', unit_epsilon => 1)"
    )
    with pytest.raises(psycopg.Error, match="pay for themselves"):
        shop.admin.execute("SELECT discreet.reserve_budget('club', %s::regrole, 1, 'infinity')", [shop.job])


def test_the_same_part_of_delta_is_kept(shop: Shop) -> None:
    shop.reserve(shop.job, 1)
    assert shop.charge(shop.ann, "0.1", delta="5e-7") is None
    assert shop.charge(shop.ann, "0.1", delta="1e-8") is not None
    assert shop.charge(shop.job, "0.1", delta="5e-7") is None
    assert shop.charge(shop.job, "0.1", delta="1e-8") is not None


def test_what_is_kept_is_written_in_the_log(shop: Shop) -> None:
    """In UTC, and as ISO writes it, whatever the session's settings are."""
    shop.admin.execute("SET TimeZone = '-06'; SET DateStyle = 'German'")
    shop.reserve(shop.job, 1, "01.01.2999 00:00")
    assert shop.charge(shop.job, "0.5") is None
    shop.release(shop.job)
    acts = shop.admin.execute(
        "SELECT question, details->>'act', details->>'for', epsilon, role = session_user FROM discreet.charges"
        " WHERE dataset = 'shop' AND details ? 'act' ORDER BY id"
    ).fetchall()
    assert acts == [
        (f"SELECT discreet.reserve_budget('shop', '{shop.job}', 1, '2999-01-01 06:00:00+00')", "reserve_budget",
         shop.job, 0, True),
        (f"SELECT discreet.release_budget('shop', '{shop.job}')", "release_budget", shop.job, 0, True),
    ]  # fmt: skip
    intact = "SELECT bool_and(intact) FROM discreet.verify_log()"
    assert shop.admin.execute(intact).fetchone() == (True,)
    shop.admin.execute("DELETE FROM discreet._charge WHERE id = 1")
    assert shop.admin.execute(intact).fetchone() == (False,)


def test_of_periods_it_is_kept_in_each(dated: Shop) -> None:
    dated.reserve(dated.job, "1.5")
    for month in PERIODS[1:3]:
        assert dated.charge(dated.ann, "0.5", month) is None
        refused = dated.charge(dated.ann, "0.1", month)
        assert refused == f"what dataset shop has left in {month} is kept for other roles"
    assert dated.charge(dated.job, "1.5", PERIODS[1]) is None
    assert dated.charge(dated.job, "1.5", PERIODS[2], PERIODS[3]) is None
    assert dated.status(dated.job, PERIODS[3])[1] == 0
    # of the lifetime, the part that it has of each period
    assert dated.status(None, "lifetime") == (4, 3, True)
    assert dated.charge(dated.ann, "0.4", PERIODS[0], lifetime=1) is None
    assert "tables without a time is kept for other roles" in (dated.charge(dated.ann, "0.1", lifetime="0.1") or "")
    assert dated.charge(dated.job, "0.1", PERIODS[0], lifetime=3) is None
    assert dated.admin.execute("SELECT bool_and(intact) FROM discreet.verify_log()").fetchone() == (True,)


def test_a_period_of_which_less_is_left_keeps_what_is_left(dated: Shop) -> None:
    assert dated.charge(dated.ann, "1.7", PERIODS[1]) is None
    dated.reserve(dated.job, 1)
    dated.reserve(dated.other, 1)
    assert dated.charge(dated.ann, "0.1", PERIODS[1]) is not None
    # the older one has it all
    assert dated.charge(dated.other, "0.1", PERIODS[1]) is not None
    assert dated.charge(dated.job, "0.3", PERIODS[1]) is None
    assert dated.charge(dated.other, 1, PERIODS[2]) is None


class Model:
    """What is left of the cap and of reserves, by period."""

    def __init__(self, period: bool) -> None:
        self.period = period
        self.spent: dict[str, Decimal] = defaultdict(Decimal)
        self.kept: dict[str, Decimal] = {}  # by role, oldest first
        self.used: dict[tuple[str, str], Decimal] = defaultdict(Decimal)

    def left(self, role: str, period: str) -> Decimal:
        """For a role: what older reserves of others, and all of them together, leave."""
        rest = free = 2 - self.spent[period]
        for holder, amount in self.kept.items():
            has = min(rest, amount - self.used[holder, period])
            rest -= has
            free -= has if holder != role else 0
        return free

    def charge(self, role: str, amount: Decimal, periods: list[str]) -> bool:
        if any(self.left(role, period) < amount for period in periods):
            return False
        for period in periods:
            self.spent[period] += amount
            if role in self.kept:
                self.used[role, period] += min(amount, self.kept[role] - self.used[role, period])
        return True

    def reserve(self, role: str, amount: Decimal) -> bool:
        if self.period:
            free = 2 - sum(kept for holder, kept in self.kept.items() if holder != role)
        else:
            free = (
                2
                - self.spent[""]
                - sum(kept - self.used[holder, ""] for holder, kept in self.kept.items() if holder != role)
            )
        if amount > free:
            return False
        self.release(role)
        self.kept[role] = amount
        return True

    def release(self, role: str) -> None:
        self.kept.pop(role, None)
        for holder, period in list(self.used):
            if holder == role:
                del self.used[holder, period]


@pytest.mark.parametrize("period", [False, True])
def test_random_histories_are_those_of_the_model(database: Database, make_role: MakeRole, period: bool) -> None:
    shop = Shop(database, make_role, period)
    seen = set()
    for number in range(HISTORIES):
        random, model = Random(f"reserves {number}"), Model(period)
        for _ in range(STEPS):
            role, amount = random.choice([shop.ann, shop.job, shop.other]), Decimal(random.randint(1, 30)) / 100
            act = random.choice(["charge"] * 6 + ["reserve", "release"])
            if act == "charge":
                periods = random.sample(PERIODS, random.randint(1, 3)) if period else []
                accepted = model.charge(role, amount, periods or [""])
                assert (shop.charge(role, amount, *periods) is None) == accepted
                seen.add((act, accepted))
            elif act == "reserve":
                accepted = model.reserve(role, 5 * amount)
                try:
                    shop.reserve(role, 5 * amount)
                    assert accepted
                except psycopg.Error:
                    assert not accepted
                seen.add((act, accepted))
            elif role in model.kept:
                shop.release(role)
                model.release(role)
                seen.add((act, True))
        spent = "SELECT max(amount_spent) FROM discreet._period_spent WHERE role = 0" if period else (
            "SELECT amount_spent FROM discreet._budget WHERE role = 0")  # fmt: skip
        ((most,),) = shop.admin.execute(spent).fetchall()
        assert most == max(model.spent.values()) <= 2
        assert shop.admin.execute("SELECT bool_and(intact) FROM discreet.verify_log()").fetchone() == (True,)
        shop.admin.execute(
            "TRUNCATE discreet._period_spent, discreet._charge, discreet._reserve, discreet._reserve_spent;"
            "UPDATE discreet._budget SET amount_spent = 0"
        )
    assert len(seen) == 5


def test_charges_and_reserves_that_come_together(shop: Shop) -> None:
    """Nothing is kept that was spent before, and nobody else spends what is kept."""
    shop.admin.execute("UPDATE discreet._budget SET amount_limit = 1 WHERE role = 0")

    def spend(role: str) -> int:
        connection = shop.database.connect()
        return sum(shop.charge(role, "0.01", connection=connection) is None for _ in range(60))

    def keep(_: int) -> bool:
        connection = shop.database.connect()
        try:
            shop.reserve(shop.job, "0.6", connection=connection)
        except psycopg.Error:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        spending = [threads.submit(spend, role) for role in (shop.ann, shop.other, shop.ann)]
        kept = threads.submit(keep, 0)
        others = sum(each.result() for each in spending)
    assert others == (40 if kept.result() else 100)
    assert sum(shop.charge(shop.job, "0.01") is None for _ in range(61)) == (60 if kept.result() else 0)
