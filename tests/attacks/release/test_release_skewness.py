"""Skewness: a class of one half positive is 2-diverse, but tells those in it that they are far likelier than others.

Li et al. 2007. l-diversity does not see it; t-closeness bounds how far a class may be from the table.
"""

from __future__ import annotations

from tests.databases import Connection

# one in forty is positive, but one half of those at 30
PEOPLE = """
    CREATE TABLE test AS
    SELECT 20 + n % 20 AS age,
           CASE WHEN n % 20 = 10 AND n / 20 % 2 = 0 OR n < 20 THEN 'pos' ELSE 'neg' END AS result
    FROM generate_series(0, 1999) n
"""
CALL = """
    SELECT discreet.anonymize('test', 'released', '{{"age": {{"intervals": [5, 10, 20]}}}}', 20, l => 2, t => {},
                              sensitive => 'result')
"""
LIKELIEST = """
    SELECT max(share) FROM (SELECT avg((result = 'pos')::int)::float8 AS share FROM released GROUP BY age) AS class
"""


def test_a_class_far_from_the_table_is_published_unless_t_is_asked_for(admin: Connection) -> None:
    admin.execute(PEOPLE)
    ((overall,),) = admin.execute("SELECT avg((result = 'pos')::int)::float8 FROM test").fetchall()
    admin.execute(CALL.format("NULL"))
    assert admin.execute(LIKELIEST).fetchall() == [(0.5,)]
    admin.execute("DROP TABLE released; SELECT discreet.forget_release('public.released')")
    admin.execute(CALL.format("0.05"))
    ((close,),) = admin.execute(LIKELIEST).fetchall()
    assert float(str(close)) <= float(str(overall)) + 0.05
