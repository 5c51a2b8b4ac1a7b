"""A cursor whose rows are read in part, or not at all, or twice."""

from tests.attacks.target import ASK, PRICE, Target
from tests.databases import Connection

BY_DEPT = "SELECT dept, discreet.dp_count(*) FROM hr.person GROUP BY dept"


def test_half_read_cursor_is_free_where_the_last_row_pays(target: Target, mallory: Connection) -> None:
    """A design that charges in the final row, by a UNION ALL with the function that charges."""
    mallory.execute("BEGIN")
    mallory.execute(
        "DECLARE answer CURSOR FOR SELECT count(*) + round(10 * random()) FROM hr.person UNION ALL SELECT naive.ask()"
    )
    assert mallory.execute("FETCH 1 FROM answer").fetchone() is not None
    mallory.execute("CLOSE answer; COMMIT")
    assert target.naive_spent() == 0


def test_cursor_is_paid_when_it_is_opened(target: Target, mallory: Connection) -> None:
    mallory.execute("BEGIN")
    with target.costs(PRICE):
        mallory.execute(f"DECLARE answer CURSOR FOR {BY_DEPT}")
    with target.free():
        mallory.execute("CLOSE answer; ROLLBACK")


def test_half_read_cursor_is_paid_in_full(target: Target, mallory: Connection) -> None:
    with target.costs(PRICE):
        mallory.execute("BEGIN")
        mallory.execute(f"DECLARE answer CURSOR FOR {BY_DEPT}")
        assert len(mallory.execute("FETCH 2 FROM answer").fetchall()) == 2
        mallory.execute("CLOSE answer; ROLLBACK")


def test_scrolling_back_shows_the_same_numbers(target: Target, mallory: Connection) -> None:
    with target.costs(PRICE):
        mallory.execute("BEGIN")
        mallory.execute(f"DECLARE answer SCROLL CURSOR FOR {BY_DEPT}")
        first = mallory.execute("FETCH ALL FROM answer").fetchall()
        mallory.execute("MOVE ABSOLUTE 0 IN answer")
        assert mallory.execute("FETCH ALL FROM answer").fetchall() == first
        mallory.execute("COMMIT")


def test_held_cursor_shows_the_same_numbers(target: Target, mallory: Connection) -> None:
    with target.costs(PRICE):
        mallory.execute("BEGIN")
        mallory.execute(f"DECLARE answer SCROLL CURSOR WITH HOLD FOR {BY_DEPT}")
        first = mallory.execute("FETCH ALL FROM answer").fetchall()
        mallory.execute("COMMIT")
        assert list(reversed(mallory.execute("FETCH BACKWARD ALL FROM answer").fetchall())) == first
        mallory.execute("CLOSE answer")


def test_cursor_whose_savepoint_is_rolled_back_stays_paid(target: Target, mallory: Connection) -> None:
    with target.costs(PRICE):
        mallory.execute("BEGIN; SAVEPOINT before")
        mallory.execute(f"DECLARE answer CURSOR FOR {BY_DEPT}")
        mallory.execute("FETCH 1 FROM answer")
        mallory.execute("ROLLBACK TO before; COMMIT")


def test_portal_of_the_protocol_is_paid(target: Target, mallory: Connection) -> None:
    with target.costs(PRICE), mallory.transaction(), mallory.cursor(name="answer") as cursor:
        cursor.itersize = 1
        cursor.execute(ASK)
        assert cursor.fetchone() is not None
