"""What is kept for a job, taken by those who ask without it: together, in between, or by undoing the reserve."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.attacks.gate.periods import JANUARY, Shop
from tests.databases import MakeRole

FEBRUARY = "at >= '2026-02-01' AND at < '2026-03-01'"
COUNT = "SELECT count(*) FROM shop.visit WHERE {}"


@pytest.fixture
def job(shop: Shop, make_role: MakeRole) -> str:
    """A role that holds the whole budget, and for which 12 of 20 are kept."""
    name = make_role("job", "discreet_analyst")
    shop.admin.execute(
        f"GRANT USAGE ON SCHEMA shop TO {name}, {shop.analyst};"
        f"SELECT discreet.grant_budget('shop', '{name}', 20), discreet.reserve_budget('shop', '{name}', 12, 'infinity')"
    )
    return name


def refusal(shop: Shop, where: str, epsilon: object, connection: psycopg.Connection | None = None) -> str:
    with pytest.raises(psycopg.Error) as refused:
        shop.ask(COUNT.format(where), epsilon, connection)
    assert refused.value.sqlstate == "DP003"
    return str(refused.value)


def test_many_sessions_together_leave_it(shop: Shop, job: str) -> None:
    codes = set[str | None]()

    def one(_: int) -> int:
        connection, answered = shop.connect(), 0
        for _ in range(3):
            try:
                shop.ask(COUNT.format(JANUARY), 1, connection)
                answered += 1
            except psycopg.Error as error:
                codes.add(error.sqlstate)
        return answered

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(one, range(6))) == 8
    assert codes == {"DP003"}
    shop.ask(COUNT.format(JANUARY), 12, shop.database.connect(job))
    assert "exhausted in 2026-01-01" in refusal(shop, JANUARY, 1)


def test_a_question_about_several_months_leaves_it_in_each(shop: Shop, job: str) -> None:
    shop.ask(COUNT.format(JANUARY), 8)
    assert "kept for other roles" in refusal(shop, "at >= '2026-01-01' AND at < '2026-03-01'", 1)
    refused = refusal(shop, "at >= '2026-01-01' AND at < '2026-03-01'", 8)
    assert "from 2026-02-01 to before 2026-03-01" in refused
    shop.ask(COUNT.format("at >= '2026-01-01' AND at < '2026-03-01'"), 12, shop.database.connect(job))


def test_an_analyst_neither_makes_nor_ends_one(shop: Shop, job: str) -> None:
    for call in (
        f"discreet.release_budget('shop', '{job}')",
        f"discreet.reserve_budget('shop', '{shop.analyst}', 1, 'infinity')",
        f"discreet._end_reserve('shop', '{job}'::regrole::oid)",
        f"discreet._keep_reserve('shop', '{job}'::regrole::oid, 1, 1, now())",
        "discreet._spend_reserves('shop', ARRAY[0::oid], NULL, '-infinity', 1, 0)",
    ):
        with pytest.raises(psycopg.Error, match="permission denied for function"):
            shop.connect().execute(f"SELECT {call}")
    with pytest.raises(psycopg.Error, match="permission denied"):
        shop.connect().execute(f"SET ROLE {job}")


def test_another_curator_ends_none(shop: Shop, job: str, make_role: MakeRole) -> None:
    other = make_role("other", "discreet_curator")
    with pytest.raises(psycopg.Error, match="does not own dataset"):
        shop.database.connect(other).execute(f"SELECT discreet.release_budget('shop', '{job}')")


def test_a_curator_who_rolls_back_has_kept_nothing_and_released_nothing(shop: Shop, job: str) -> None:
    shop.admin.execute(f"BEGIN; SELECT discreet.release_budget('shop', '{job}'); ROLLBACK")
    assert "kept for other roles" in refusal(shop, FEBRUARY, 9)
    shop.admin.execute(f"SELECT discreet.release_budget('shop', '{job}')")
    shop.admin.execute(f"BEGIN; SELECT discreet.reserve_budget('shop', '{job}', 20, 'infinity'); ROLLBACK")
    shop.ask(COUNT.format(FEBRUARY), 20)
    assert shop.admin.execute("SELECT bool_and(intact) FROM discreet.verify_log()").fetchone() == (True,)


def test_what_a_curator_has_not_committed_is_not_asked_past(shop: Shop, job: str) -> None:
    """Who asks meanwhile waits; a question that cannot wait any longer is not answered."""
    shop.admin.execute(f"BEGIN; SELECT discreet.reserve_budget('shop', '{job}', 20, 'infinity')")
    with pytest.raises(psycopg.Error):
        shop.ask(COUNT.format(FEBRUARY), 8)
    shop.admin.execute("COMMIT")
    assert "kept for other roles" in refusal(shop, FEBRUARY, 1)
    assert shop.spent() == {}


def test_a_snapshot_of_before_keeps_nothing_that_was_spent_since(shop: Shop, job: str) -> None:
    """A curator in REPEATABLE READ does not write the log anew, nor reserve what is gone."""
    old = shop.database.connect()
    old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM discreet.charges")
    shop.ask(COUNT.format(JANUARY), 8)
    with pytest.raises(psycopg.Error, match="could not serialize"):
        old.execute(f"SELECT discreet.reserve_budget('shop', '{job}', 20, 'infinity')")
    old.execute("ROLLBACK")
    assert shop.admin.execute("SELECT bool_and(intact) FROM discreet.verify_log()").fetchone() == (True,)


def test_once_it_ends_it_is_everybodys(shop: Shop, job: str) -> None:
    assert "kept for other roles" in refusal(shop, JANUARY, 9)
    shop.admin.execute("UPDATE discreet._reserve SET until = now()")
    shop.ask(COUNT.format(JANUARY), 20)


def test_it_dies_with_its_role(shop: Shop, job: str) -> None:
    shop.admin.execute(f"DROP OWNED BY {job}; DROP ROLE {job}")
    shop.ask(COUNT.format(JANUARY), 20)


def test_explain_foretells_the_refusal(shop: Shop, job: str) -> None:
    ((told,),) = shop.connect().execute(
        "SELECT discreet.explain(%s, 9)->'refused'->>'message'", [COUNT.format(JANUARY)]
    )
    assert "kept for other roles" in told
