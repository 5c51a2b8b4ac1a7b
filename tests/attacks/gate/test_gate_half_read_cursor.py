"""A cursor whose rows are read in part, or twice."""

import pytest
from tests.attacks.gate.asking import FRESH, NAIVE_GATE
from tests.attacks.target import PRICE, Target
from tests.databases import Connection


def test_a_half_read_cursor_is_free_where_the_last_row_pays(target: Target) -> None:
    target.admin.execute(NAIVE_GATE)
    attacker = target.connect("blind")
    attacker.execute(
        "BEGIN; DECLARE answer CURSOR FOR"
        " SELECT extra.noisy('SELECT count(*) FROM hr.person') UNION ALL SELECT naive.ask()"
    )
    assert attacker.execute("FETCH 1 FROM answer").fetchone() is not None
    attacker.execute("CLOSE answer; COMMIT")
    assert target.naive_spent() == 0


@pytest.mark.parametrize(
    "opened",
    [
        f"DECLARE answer CURSOR FOR {FRESH}",
        f"DECLARE answer CURSOR FOR {FRESH.replace('SELECT', 'SELECT * FROM', 1)} UNION ALL SELECT NULL",
        "SELECT discreet.ask('SELECT smoker, count(*) FROM hr.person GROUP BY 1', 0.1)",
    ],
)
@pytest.mark.parametrize("end", ["CLOSE answer; COMMIT", "ROLLBACK"])
def test_a_half_read_cursor_is_paid_in_full(gated: Target, blind: Connection, opened: str, end: str) -> None:
    with gated.costs(PRICE):
        blind.execute("BEGIN")
        blind.execute(opened)
        assert blind.execute("FETCH 1 FROM answer").fetchone() is not None
        blind.execute(end)


def test_scrolling_back_shows_the_same_number(gated: Target, blind: Connection) -> None:
    with gated.costs(PRICE):
        blind.execute(f"BEGIN; DECLARE answer SCROLL CURSOR FOR SELECT * FROM ({FRESH}) q")
        first = blind.execute("FETCH ALL FROM answer").fetchall()
        blind.execute("MOVE ABSOLUTE 0 IN answer")
        assert blind.execute("FETCH ALL FROM answer").fetchall() == first
        blind.execute("COMMIT")
