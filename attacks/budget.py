"""Budget: an answer is seen, and then not paid for.

The naive design checks a budget of four answers per role, and counts them in the asker's own transaction. Against it,
noisy and personal a try succeeds when more than four answers at a quarter of the budget are seen; against audited,
whose price is what it remembers, when the first of two sums that give a salary away is forgotten.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg

from attacks.attack import Attack, Ending, Family, until_refused
from attacks.office import BY_KEY, NEAR, PEOPLE, Door, Office, Session

SETTINGS = ("naive", "noisy", "audited", "personal")
ALLOWED = 4
NO_PRICE = "there is no price: answers are counted by what they tell together"

NAIVE = f"""
    CREATE TABLE lab.spent (role name PRIMARY KEY, answers float8 NOT NULL);
    CREATE FUNCTION lab.paid_ask(epsilon float8 DEFAULT 0.25) RETURNS float8
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
    DECLARE before float8 := coalesce((SELECT answers FROM lab.spent WHERE role = session_user), 0);
    BEGIN
        IF before + 4 * epsilon > {ALLOWED} THEN
            RAISE EXCEPTION 'the budget is exhausted';
        END IF;
        INSERT INTO lab.spent VALUES (session_user, 4 * epsilon)
        ON CONFLICT (role) DO UPDATE SET answers = spent.answers + 4 * epsilon;
        RETURN (SELECT count(*) FROM lab.plain) + lab.laplace(1 / abs(epsilon));
    END $$;
    GRANT SELECT ON lab.spent TO PUBLIC;
"""
# told to the client before the statement can fail
# how a block ends that was interrupted, divided by zero or raised; and how the naive budget refuses
NAIVE_REFUSAL = "P0001"
ENDINGS = ("57014", "57P01", "22012", NAIVE_REFUSAL)
# a price that divides by zero or overflows in the naive design, and is out of range here
IMPOSSIBLE_PRICE = ("22012", "22003", "22023")
# of the naive budget, in a transaction that does not see what was paid since
CONCURRENT_UPDATE = "40001"
TELL = "DO $do$ DECLARE seen float8; BEGIN seen := ({question}); RAISE NOTICE '%', seen; {then} END $do$"

Way = Callable[[Office, Session, str], float | None]


def question(door: Door, number: int) -> str:
    """A count of all people, each time in other words."""
    if door.setting == "naive":
        return "SELECT lab.paid_ask()"
    if door.setting == "audited":
        return f"SELECT sum(p.salary) FROM {door.table} p"
    return f"SELECT count(*) FROM {door.table} p WHERE p.salary > -{number + 1}"


@contextmanager
def told(session: Session) -> Iterator[list[float]]:
    """Numbers that the session is told in notices."""
    numbers: list[float] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        with suppress(ValueError):
            numbers.append(float(notice.message_primary or ""))

    session.add_notice_handler(hear)
    try:
        yield numbers
    finally:
        session.remove_notice_handler(hear)


def first(session: Session, text: str) -> float:
    ((value,),) = session.execute(text.encode()).fetchall()
    return float(value)


def rollback(office: Office, session: Session, text: str) -> float:
    with session.transaction(force_rollback=True):
        return first(session, text)


def savepoint(office: Office, session: Session, text: str) -> float:
    with session.transaction(), session.transaction(force_rollback=True):
        return first(session, text)


def cursor(office: Office, session: Session, text: str) -> float:
    with session.transaction(force_rollback=True):
        session.execute(f"DECLARE c CURSOR FOR {text}".encode())
        return first(session, "FETCH 1 FROM c")


def failing(then: str) -> Way:
    """The answer is told by a notice; then the block ends as `then` says."""

    def way(office: Office, session: Session, text: str) -> float | None:
        with told(session) as numbers, until_refused(*ENDINGS):
            session.execute(TELL.format(question=text, then=then).encode())
        return numbers[0] if numbers else None

    return way


def interrupted(by: str) -> Way:
    """The answer is told by a notice; then another session interrupts."""

    def way(office: Office, session: Session, text: str) -> float | None:
        news = threading.Event()
        process = session.info.backend_pid

        def hear(notice: psycopg.errors.Diagnostic) -> None:
            if (notice.message_primary or "").replace(".", "").isdigit():
                news.set()

        session.add_notice_handler(hear)

        def interrupt() -> None:
            news.wait(20)
            with psycopg.connect(office.cluster.dsn(office.database), autocommit=True) as other:
                other.execute(f"SELECT {by}({process})".encode())

        thread = threading.Thread(target=interrupt, daemon=True)
        thread.start()
        seen = failing("PERFORM pg_sleep(20);")(office, session, text)
        news.set()
        thread.join(30)
        session.remove_notice_handler(hear)
        if by == "pg_terminate_backend":
            session.close()  # where the question was refused at once, the end came after it
        return seen

    return way


def timed_out(office: Office, session: Session, text: str) -> float | None:
    session.execute("SET statement_timeout = '400ms'")
    try:
        return failing("PERFORM pg_sleep(20);")(office, session, text)
    finally:
        session.execute("SET statement_timeout = 0")


def collusion(office: Office, session: Session, text: str) -> float:
    """Two roles take turns."""
    office.turn += 1
    other = office.session("eve")
    other.execute("SET discreet.epsilon = 0.25")
    return first((session, other)[office.turn % 2], text)


def old_snapshot(office: Office, door: Door) -> Ending:
    """What another session of the role asks in between is not seen by a transaction that has begun before."""
    door.session.execute("SET discreet.epsilon = 0.25; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
    other = office.connect("mallory")
    try:
        if door.setting == "audited":
            whole = first(other, question(door, 0))
            rest = first(door.session, f"{question(door, 0)} WHERE NOT ({BY_KEY})")
            return Ending.LEARNED if abs(whole - rest - door.secret) <= NEAR else Ending.WRONG
        other.execute("SET discreet.epsilon = 0.25")
        for number in range(ALLOWED):
            first(other, question(door, number))
        with until_refused(CONCURRENT_UPDATE):
            return counted(door, ALLOWED + (first(door.session, question(door, ALLOWED)) > PEOPLE / 2))
        return Ending.REFUSED
    finally:
        other.close()


def ended(office: Office, door: Door, way: Way) -> Ending:
    """Whether more is seen than is allowed."""
    door.session.execute("SET discreet.epsilon = 0.25")
    if door.setting == "audited":
        with until_refused(NAIVE_REFUSAL):
            whole = way(office, door.session, question(door, 0))
            rest = first(door.session, f"{question(door, 0)} WHERE NOT ({BY_KEY})")
            if whole is not None:
                return Ending.LEARNED if abs(whole - rest - door.secret) <= NEAR else Ending.WRONG
        return Ending.REFUSED
    seen = 0
    for number in range(2 * ALLOWED):
        with until_refused(NAIVE_REFUSAL):
            door.session.execute("SET discreet.epsilon = 0.25")
            value = way(office, door.session, question(door, number))
            # who has nothing left is left out silently, and counts nothing
            seen += value is not None and value > PEOPLE / 2
    return counted(door, seen)


def counted(door: Door, seen: int) -> Ending:
    """Whether that many answers are more than was paid for; people who cannot pay are not refused but left out."""
    if seen > ALLOWED:
        return Ending.LEARNED
    return Ending.WRONG if door.setting == "personal" else Ending.REFUSED


def at_once(office: Office, door: Door) -> Ending:
    """Sixteen sessions ask in the same moment."""
    sessions = [office.connect("mallory") for _ in range(4 * ALLOWED)]
    start = threading.Barrier(len(sessions))
    seen: list[float] = []

    def ask(session: Session, number: int) -> None:
        start.wait(60)
        with until_refused(NAIVE_REFUSAL):
            seen.append(first(session, question(door, number)))

    for session in sessions:
        session.execute("SET discreet.epsilon = 0.25")
    threads = [threading.Thread(target=ask, args=(session, n), daemon=True) for n, session in enumerate(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for session in sessions:
        session.close()
    return counted(door, sum(value > PEOPLE / 2 for value in seen))


def epsilon_values(office: Office, door: Door) -> Ending:
    """Prices that are none: the budget is not to grow by them."""
    for price in ("-1", "0", "NaN", "Infinity", "1e-320", "-Infinity"):
        for _ in range(ALLOWED):
            with until_refused(NAIVE_REFUSAL, *IMPOSSIBLE_PRICE):
                if door.setting == "naive":
                    first(door.session, f"SELECT lab.paid_ask('{price}'::float8)")
                else:
                    asked = question(door, 0)
                    first(
                        door.session, f"SELECT discreet.query_json($q${asked}$q$, '{price}', fresh => true) ->> 'count'"
                    )
    return ended(office, door, lambda _, session, text: first(session, text))


def attacks(office: Office) -> Family:
    office.admin.execute(NAIVE.encode())

    def one(name: str, act: Callable[[Office, Door], Ending], most: int = 1000, **missing: str) -> Attack:
        def attempt(setting: str) -> Ending:
            office.admin.execute("TRUNCATE lab.spent")
            office.session("eve")
            return act(office, office.door(setting))

        return Attack(name, attempt, missing, most)

    def by(name: str, way: Way, most: int = 1000, **missing: str) -> Attack:
        return one(name, lambda office, door: ended(office, door, way), most, **missing)

    return Family(
        "Budget",
        f"More than the {ALLOWED} answers that were paid for; under audited, a salary by a sum that is forgotten.",
        SETTINGS,
        (
            by("answer seen, then ROLLBACK", rollback),
            by("SAVEPOINT", savepoint),
            by("plpgsql EXCEPTION", failing("RAISE 'no'; EXCEPTION WHEN OTHERS THEN NULL;")),
            by("cancel", interrupted("pg_cancel_backend"), most=3),
            by("statement_timeout", timed_out, most=2),
            by("half-read cursor", cursor),
            by("killed backend", interrupted("pg_terminate_backend"), most=2),
            one("concurrent double spend", at_once, most=5, audited=NO_PRICE),
            by("several colluding roles", collusion),
            one("NaN, negative, zero, infinite, subnormal, huge epsilon", epsilon_values, most=3, audited=NO_PRICE),
            by("refund after an error", failing("PERFORM 1 / 0;")),
            one("old snapshot (REPEATABLE READ)", old_snapshot),
        ),
    )  # fmt: skip
