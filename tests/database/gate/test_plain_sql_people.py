"""Plain SQL: which subqueries are asked as part of the question around them, and which are answers of their own."""

from __future__ import annotations

import psycopg
import pytest
from tests.corpus.sample import questions
from tests.database.gate.conftest import Asker
from tests.database.gate.test_shop import shop, truth
from tests.exactly import columns, is_empty

__all__ = ["shop"]

WITHIN = [
    # a group is a row of a protected table, and so of one person
    """SELECT avg(n) FROM (SELECT o.order_id, count(*) AS n FROM shop.orders o JOIN shop.item i USING (order_id)
       GROUP BY 1) x""",
    "SELECT count(*) FROM (SELECT order_id FROM shop.item GROUP BY order_id HAVING count(*) > 2) x",
    # what names the person comes from all sides of a set operation
    """SELECT avg(n) FROM (SELECT c, count(*) AS n FROM (SELECT customer_id AS c FROM shop.orders UNION ALL
       SELECT customer_id FROM shop.customer) x GROUP BY c) y""",
    # rows that the question lists
    """SELECT d::date AS day, count(o.order_id) AS n
       FROM generate_series(date '2024-03-01', date '2024-03-05', '1 day') d
       LEFT JOIN shop.orders o ON o.ordered = d::date GROUP BY d ORDER BY d""",
    """SELECT v.label, count(*) AS n FROM (VALUES ('home', 'private'), ('work', 'business')) v(segment, label)
       JOIN shop.customer c USING (segment) GROUP BY v.label ORDER BY 1""",
]
AROUND = [
    """WITH base AS (SELECT * FROM shop.customer WHERE balance > 0),
       by_segment AS (SELECT segment, count(*) AS n FROM base GROUP BY segment)
       SELECT segment, n, n::numeric / (SELECT sum(n) FROM by_segment) AS share FROM by_segment ORDER BY segment""",
    """WITH o AS (SELECT customer_id, status FROM shop.orders),
       each AS (SELECT customer_id, count(*) AS n FROM o GROUP BY customer_id),
       spread AS (SELECT n, count(*) AS people FROM each GROUP BY n)
       SELECT n, people, sum(people) OVER (ORDER BY n) AS running FROM spread ORDER BY n""",
    """WITH base AS (SELECT segment FROM shop.customer), limits AS (SELECT 5 AS least),
       counted AS (SELECT segment, count(*) AS n FROM base GROUP BY segment)
       SELECT segment FROM counted, limits WHERE n > least ORDER BY segment""",
    "WITH base AS (SELECT * FROM shop.orders) SELECT (SELECT count(*) FROM base) AS n",
]


@pytest.mark.parametrize("question", WITHIN + AROUND)
def test_it_is_one_question_and_answered_like_postgresql(shop: Asker, question: str) -> None:
    shop.admin.execute("UPDATE discreet._budget SET amount_spent = 0, delta_spent = 0; TRUNCATE discreet._answer")
    before = len(shop.charges())
    shop.plain("SET discreet.epsilon = 100")
    cursor = shop.connection.execute(question.encode())
    told, rows = truth(shop.admin, question)
    assert columns(cursor) == told
    answered = cursor.fetchall()
    # groups that are declared appear without people, too; noise may empty a small one
    peopled = [[row for row in some if not is_empty(row)] for some in (answered, rows)]
    assert len(answered) == len(rows) or len(peopled[0]) == len(peopled[1])
    assert len(shop.charges()) == before + 1


def test_a_with_query_that_changes_rows_stays_where_it_is(shop: Asker) -> None:
    shop.admin.execute("CREATE TABLE IF NOT EXISTS shop.note (n int); GRANT ALL ON shop.note TO shopkeeper")
    made = "made AS (INSERT INTO shop.note VALUES (1) RETURNING n)"
    shop.plain(f"WITH {made}, c AS (SELECT count(*) AS m FROM shop.customer) SELECT * FROM made, c")
    assert shop.truth("SELECT count(*) FROM shop.note") == [(1,)]
    shop.admin.execute("DROP TABLE shop.note")


def test_days_are_those_of_the_session(shop: Asker) -> None:
    """Midnights of a series that was written in dates are no moments of the session's time zone."""
    shop.plain("SET TimeZone = 'Asia/Tokyo'")
    question = WITHIN[3].replace("d::date AS day", "d AS day")
    rows = shop.plain(question)
    shop.admin.execute("SET TimeZone = 'Asia/Tokyo'")
    assert [day for day, _ in rows] == [day for day, _ in shop.truth(question)]
    shop.plain("RESET TimeZone")
    shop.admin.execute("RESET TimeZone")


def test_questions_of_the_shop_are_answered_in_plain_sql(shop: Asker) -> None:
    failed = []
    shop.plain("SET discreet.epsilon = 100")
    for question in (*questions("shop.sql"), *questions("people.sql")):
        shop.admin.execute("UPDATE discreet._budget SET amount_spent = 0, delta_spent = 0")
        cursor = shop.connection.execute(question.sql.encode())
        told, _ = truth(shop.admin, question.sql)
        if columns(cursor) != told:
            failed.append((question.sql, columns(cursor), told))
    assert failed == []


def test_with_queries_that_name_each_other_twice_come_to_an_end(shop: Asker) -> None:
    """Each of them is two of the one before, so that 2 ** 40 columns would have to be looked at."""
    named = ["q0 AS (SELECT customer_id AS c FROM shop.customer)"]
    named += [f"q{n} AS (SELECT c FROM q{n - 1} UNION ALL SELECT c FROM q{n - 1})" for n in range(1, 41)]
    with pytest.raises(psycopg.Error) as error:
        shop.plain(f"WITH {', '.join(named)} SELECT count(*) FROM (SELECT c FROM q40 GROUP BY c) x")
    assert str(error.value.sqlstate).startswith("DP")
