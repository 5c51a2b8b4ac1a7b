"""Public rows LEFT JOIN people: all public groups appear, also those without people."""

from __future__ import annotations

from tests.database.gate.conftest import Asker

DAYS = "c.day BETWEEN '2025-01-01' AND '2025-01-31'"
VISITS = f"""SELECT c.day, count(v.id) AS visits FROM calendar c LEFT JOIN clinic.visit v ON v.day = c.day
    AND v.ward = 'Surgery' WHERE {DAYS} GROUP BY c.day ORDER BY c.day"""
JANUARY = "INSERT INTO calendar SELECT date '2025-01-01' + n FROM generate_series(0, 30) n ON CONFLICT DO NOTHING"


def test_every_day_appears_with_its_number(asker: Asker) -> None:
    asker.admin.execute(JANUARY)
    answer, truth = asker.rows(VISITS, 100), asker.truth(VISITS)
    assert [day for day, _ in answer] == [day for day, _ in truth]
    assert 0 in [visits for _, visits in truth]
    # sensitivity 15 at epsilon 100: beyond 5 with a probability of e**-33
    assert all(abs(int(mine) - int(theirs)) <= 5 for (_, mine), (_, theirs) in zip(answer, truth, strict=True))


def test_it_needs_no_delta(asker: Asker) -> None:
    asker.admin.execute(JANUARY)
    asker.rows(VISITS, 1)
    assert [delta for _, delta in asker.charges()] == [0]


def test_a_day_that_is_added_appears(asker: Asker) -> None:
    asker.admin.execute(JANUARY)
    question = VISITS.replace("31'", "31' OR c.day = '2200-01-01'")
    before = len(asker.rows(question, 1))
    asker.admin.execute("INSERT INTO calendar VALUES ('2200-01-01'); TRUNCATE discreet._answer")
    assert len(asker.rows(question, 1)) == before + 1
    asker.admin.execute("DELETE FROM calendar WHERE day >= '2025-01-01'")


def test_days_that_only_count_as_such_are_named(asker: Asker) -> None:
    """PostgreSQL has a row for a day without visits, and count(*) is 1."""
    alone = "public rows without a joined person not counted"
    for aggregate, named in (
        ("count(*)", True), ("count(*) FILTER (WHERE v.cost IS NULL)", True), ("sum(coalesce(v.cost, 1))", True),
        ("count(v.cost)", False), ("sum(v.cost)", False), ("count(*) FILTER (WHERE v.cost > 5)", False),
    ):  # fmt: skip
        question = VISITS.replace("count(v.id) AS visits", f"{aggregate} AS visits")
        assert (alone in asker.explain(question)["caveats"]) == named, aggregate
