"""A block keeps the answer in a variable, and raises an exception that takes everything else back."""

from tests.attacks.target import ASK, PRICE, Target, ask_until_refused
from tests.databases import Connection

KEEP_AND_RAISE = """CREATE FUNCTION pg_temp.keep() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE answer bigint;
BEGIN
    BEGIN
        answer := ({question});
        RAISE division_by_zero;
    EXCEPTION WHEN division_by_zero THEN
        NULL;
    END;
    RETURN answer;
END $$"""


def test_exception_refunds_a_naive_ledger(target: Target, mallory: Connection) -> None:
    mallory.execute(KEEP_AND_RAISE.format(question="SELECT naive.ask()"))
    assert mallory.execute("SELECT pg_temp.keep() IS NOT NULL").fetchone() == (True,)
    assert target.naive_spent() == 0


def test_exception_refunds_nothing_here(target: Target, mallory: Connection) -> None:
    mallory.execute(KEEP_AND_RAISE.format(question=ASK))
    with target.costs(PRICE):
        assert mallory.execute("SELECT pg_temp.keep() IS NOT NULL").fetchone() == (True,)


def test_exceptions_in_a_loop_end_at_the_limit(target: Target, mallory: Connection) -> None:
    mallory.execute(KEEP_AND_RAISE.format(question=ASK))
    assert ask_until_refused(mallory, "SELECT pg_temp.keep()") == 10
    assert target.spent() == 1
