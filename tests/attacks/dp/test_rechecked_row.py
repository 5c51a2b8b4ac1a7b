"""A row that another session has just changed is looked at again by a second copy of the plan (EvalPlanQual)."""

from tests.attacks.target import ASK, PRICE, Target, in_thread
from tests.database.waiting import wait_for_lock
from tests.databases import Connection


def test_answer_beside_a_rechecked_row_is_never_drawn_unpaid(target: Target, mallory: Connection) -> None:
    mallory.execute("CREATE TABLE extra.own (n int); INSERT INTO extra.own VALUES (1); GRANT ALL ON extra.own TO eve")
    eve = target.connect("eve")
    eve.execute("BEGIN; UPDATE extra.own SET n = 2")
    rows: list[object] = []
    question = f"SELECT n, dp_count FROM extra.own, ({ASK}) answer WHERE dp_count + n > 0 FOR UPDATE OF own"
    thread = in_thread(lambda: rows.extend(mallory.execute(question).fetchall()))
    wait_for_lock(target.database, mallory)
    with target.free():
        eve.execute("COMMIT")
        thread.join(60)
    assert target.spent() == PRICE
    assert len(rows) <= 1


def test_update_by_an_answer_is_paid_once(target: Target, mallory: Connection) -> None:
    mallory.execute("CREATE TABLE extra.own (n bigint); INSERT INTO extra.own VALUES (1), (2), (3)")
    with target.costs(PRICE):
        mallory.execute(f"UPDATE extra.own SET n = ({ASK})")
    assert mallory.execute("SELECT count(DISTINCT n) FROM extra.own").fetchone() == (1,)
