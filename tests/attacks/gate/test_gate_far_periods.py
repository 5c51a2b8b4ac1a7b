"""Periods far away, opened by one analyst so that questions without an end in time become dear for all."""

import psycopg
import pytest
from tests.attacks.gate.periods import Shop

FAR = "SELECT count(*) FROM shop.visit WHERE at = '2120-01-01'"
OPEN = "SELECT count(*) FROM shop.visit v JOIN shop.member m ON v.who = m.id WHERE at >= '2026-01-01'"


@pytest.fixture
def members(shop: Shop) -> Shop:
    """Beside the visits a table without a time, which pays for each period that is read."""
    shop.admin.execute(
        "CREATE TABLE shop.member (id int PRIMARY KEY); INSERT INTO shop.member SELECT generate_series(0, 199);"
        "SELECT discreet.protect('shop.member', 'id', 'shop')"
    )
    return shop


def bound(shop: Shop) -> None:
    shop.admin.execute(
        "SELECT discreet.describe_column('shop.visit', 'at', timestamptz '2025-06-01', timestamptz '2027-05-31')"
    )


def periods(shop: Shop, question: str) -> list[str]:
    ((told,),) = shop.connect().execute("SELECT discreet.explain(%s, 1)", [question]).fetchall()
    assert "periods" in told, told
    return list(told["periods"])


def test_without_bounds_it_works(members: Shop) -> None:
    before = periods(members, OPEN)
    members.ask(FAR, 1)
    assert periods(members, OPEN)[-1] == "2120-01-01"
    assert len(periods(members, OPEN)) > len(before) + 1000


def test_declared_bounds_undo_it(members: Shop) -> None:
    before = periods(members, OPEN)
    members.ask(FAR, 1)
    bound(members)
    assert periods(members, OPEN)[: len(before)] == before
    assert periods(members, OPEN)[-1] == "2027-05-01"


def test_with_bounds_nothing_outside_is_opened(members: Shop) -> None:
    bound(members)
    before = periods(members, OPEN)
    for question in (FAR, "SELECT count(*) FROM shop.visit WHERE at < '2000-01-01' OR at > '2090-01-01'",
                     "SELECT count(*) FROM shop.visit WHERE at >= '0500-01-01' AND at < '2026-02-01'"):  # fmt: skip
        members.ask(question, 1)
    assert periods(members, OPEN) == before
    spent = members.spent().keys()
    assert min(spent) >= "2025-06-01"
    assert max(spent) <= "2027-05-01"


def test_rows_outside_are_not_read_and_are_a_caveat(members: Shop) -> None:
    bound(members)
    members.admin.execute(
        "INSERT INTO shop.visit SELECT 90000 + n, n, 1, timestamptz '2031-01-01' FROM generate_series(1, 100) n"
    )
    question = "SELECT count(*) FROM shop.visit WHERE at > '2026-04-01' AND at < '2040-01-01'"
    # one count with noise of scale max_rows / epsilon = 1: beyond 15 scales with probability exp(-15) < 1e-6
    assert abs(members.ask(question, 10)) <= 15
    ((caveats,),) = members.connect().execute("SELECT discreet.explain(%s)->>'caveats'", [question]).fetchall()
    assert "rows dated outside 2026-04-01..2027-05-31 and without a date left out" in caveats


def test_a_time_beyond_all_periods_is_refused(members: Shop) -> None:
    with pytest.raises(psycopg.Error, match="more than 2000 periods away"):
        members.ask("SELECT count(*) FROM shop.visit WHERE at = '9000-01-01'", 1)
    assert members.spent() == {}
