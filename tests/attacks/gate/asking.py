"""Questions to the gate, as an attacker writes them, and how they end."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import psycopg
from tests.attacks.target import PEOPLE, Target
from tests.databases import Connection
from tests.messages import notices

COUNT = "SELECT count(*) FROM hr.person"
FRESH = "SELECT discreet.query_json('SELECT count(*) FROM hr.person', 0.1, fresh => true)"
NUMBER = "SELECT (discreet.query_json('SELECT count(*) FROM hr.person', 0.1, fresh => true)->>'count')::bigint"
# reads part of the rows
FEW = "SELECT count(*), avg(salary) FROM hr.person WHERE smoker AND salary > 1090"

# true for one person; and the same about nobody
SECRET = "dept = 'dept 2' AND salary = 1007 AND name = 'name 7'"
NOBODY = SECRET.replace("name 7", "nobody")

# What one would write first: runs the text it is given as its owner, and adds some noise.
NAIVE_GATE = """
    CREATE FUNCTION extra.noisy(question text) RETURNS float8 LANGUAGE plpgsql SECURITY DEFINER AS $$
    DECLARE exact float8;
    BEGIN EXECUTE question INTO exact; RETURN exact + 1000 * ln(random() + 1e-9); END $$
"""
# a table part of which is on a server that nobody reaches: reading it fails, and the error has the server's name
BROKEN = """
    CREATE EXTENSION IF NOT EXISTS postgres_fdw SCHEMA public;
    DROP SERVER IF EXISTS nowhere CASCADE;
    CREATE SERVER nowhere FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '/nowhere', dbname 'secret');
    CREATE USER MAPPING FOR postgres SERVER nowhere;
    CREATE TABLE extra.whole (id int, x int) PARTITION BY LIST (x);
    CREATE TABLE extra.near PARTITION OF extra.whole FOR VALUES IN (1);
    CREATE FOREIGN TABLE extra.far PARTITION OF extra.whole FOR VALUES IN (2) SERVER nowhere;
    SELECT discreet.protect('extra.whole', 'id', dataset => 'people', max_rows => 1)
"""
# a function that tells when it runs, and as whom
SPY = """
    CREATE FUNCTION extra.tell(what text) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN RAISE NOTICE '% runs as %', what, current_user; RETURN true; END$$
"""


def ask(connection: Connection, question: str, epsilon: str = "0.001", fresh: bool = False) -> list[dict[str, object]]:
    rows = connection.execute(
        "SELECT discreet.query_json(%s, %s::numeric, fresh => %s)", [question, epsilon, fresh]
    ).fetchall()
    return [row for (row,) in rows]


def number(connection: Connection, question: str, epsilon: str = "0.001", fresh: bool = False) -> Decimal:
    """The answer of one row and one column."""
    ((answer,),) = (row.values() for row in ask(connection, question, epsilon, fresh))
    return Decimal(str(answer))


def explain(connection: Connection, question: str, epsilon: str = "1") -> dict[str, object]:
    ((told,),) = connection.execute("SELECT discreet.explain(%s, %s::numeric)", [question, epsilon]).fetchall()
    return told


def half_width(connection: Connection, question: str) -> float:
    """Within how much of the truth 95 % of the answers are, at epsilon 1."""
    (output,) = explain(connection, question)["outputs"]  # type: ignore[misc]
    return float(output["error_95"])  # type: ignore[has-type]


def ending(act: Callable[[], object]) -> str:
    """ "answer", or the SQLSTATE of the error."""
    try:
        act()
    except psycopg.Error as error:
        return str(error.sqlstate)
    return "answer"


def how_it_ends(connection: Connection, question: str, epsilon: str = "0.001") -> str:
    return ending(lambda: ask(connection, question, epsilon))


def protect(target: Target, table: str, columns: str, rows: str, **bounds: tuple[int, int]) -> None:
    """A table in schema extra whose unit is its column id; its people are those of the attacked dataset."""
    target.admin.execute(f"CREATE TABLE extra.{table} ({columns}); INSERT INTO extra.{table} {rows}")
    target.admin.execute("SELECT discreet.protect(%s, 'id', dataset => 'people', max_rows => 1)", [f"extra.{table}"])
    for column, (lower, upper) in bounds.items():
        target.admin.execute(
            "SELECT discreet.describe_column(%s, %s, %s, %s)", [f"extra.{table}", column, lower, upper]
        )


# -- averaging


def assert_paid_for_each(target: Target, connection: Connection, loop: str) -> None:
    """The loop, {} standing for the number of runs at 0.1 each, pays for each run, and ends with the budget."""
    with target.costs("0.3"):
        assert len(connection.execute(loop.format(3)).fetchall()) == 3
    assert ending(lambda: connection.execute(loop.format(100))) == "DP003"
    assert target.charges() == 10


# -- sensitivity

# noise at epsilon 0.9 for one row per person is beyond 20 with probability below 1e-7
MOST = PEOPLE + 20


def assert_not_multiplied(target: Target, connection: Connection, source: str) -> None:
    """A plain count sees the rows multiplied; here nobody is more than one."""
    multiplied = target.value(f"SELECT count(*) FROM {source}")
    assert isinstance(multiplied, int)
    assert multiplied > 1.5 * MOST
    assert number(connection, f"SELECT count(*) FROM {source}", "0.9") <= MOST


# -- errors as an oracle


def naive_oracle(target: Target, expression: str) -> list[str]:
    """How a naive design ends when the expression, {} standing for a condition, fails on one row, and when on none."""
    target.admin.execute(NAIVE_GATE)
    connection = target.connect("blind")
    questions = [f"SELECT sum({expression.replace('{}', who)}) FROM hr.person" for who in (SECRET, NOBODY)]
    return [ending(lambda text=text: connection.execute("SELECT extra.noisy(%s)", [text])) for text in questions]  # type: ignore[misc]


def assert_no_oracle(connection: Connection, expression: str) -> None:
    """Answered or refused, but the same whether the row is there or not."""
    for shape in ("SELECT sum({}) FROM hr.person", "SELECT count(*) FROM hr.person WHERE ({}) = 1"):
        ends = {how_it_ends(connection, shape.format(expression.replace("{}", who))) for who in (SECRET, NOBODY)}
        assert len(ends) == 1
        assert ends <= {"answer", "DP001", "DP005"}


# -- running code


def assert_refused(connection: Connection, call: str) -> None:
    """Around the answer and on the rows."""
    for question in (f"SELECT count(*), {call} FROM hr.person", f"{COUNT} WHERE ({call}) IS NULL"):
        assert how_it_ends(connection, question) == "DP001"


def what_runs(connection: Connection, made: str, question: str) -> list[str | None]:
    """What the spy tells while a question is asked in a session whose objects come first."""
    connection.execute(f"{SPY}; {made}")
    heard = notices(connection)
    connection.execute("SET search_path = extra, pg_catalog, public")
    how_it_ends(connection, question)
    return [message for _, message, _ in heard if "runs as" in str(message)]


# -- trackers

SHAPES = (
    "SELECT sum(salary) FROM hr.person WHERE {}",
    "SELECT sum(salary) FILTER (WHERE {}) FROM hr.person",
    "SELECT sum(CASE WHEN {} THEN salary ELSE 0 END) FROM hr.person",
    "WITH w AS (SELECT * FROM hr.person) SELECT sum(salary) FROM w WHERE {}",
    "SELECT sum(salary) FROM (SELECT * FROM hr.person WHERE {}) s",
    "SELECT {}, sum(salary) FROM hr.person GROUP BY 1",
)


def exact_sum(target: Target, where: str) -> int:
    """What a table without protection tells."""
    return int(str(target.value(f"SELECT sum(salary) FROM hr.person WHERE {where}")))


def assert_tracker_refused(target: Target, connection: Connection, where: str) -> None:
    with target.free():
        for shape in SHAPES:
            assert how_it_ends(connection, shape.format(where)) == "DP002"


def never_within(target: Target, guess: Callable[[], Decimal], truth: int, within: int) -> bool:
    """Whether one of four guesses, each for a whole budget, is further from the truth than that."""
    for _ in range(4):
        target.admin.execute(
            "UPDATE discreet._budget SET amount_spent = 0; TRUNCATE discreet._charge, discreet._answer"
        )
        if abs(guess() - truth) > within:
            return True
    return False
