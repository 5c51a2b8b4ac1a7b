"""Background knowledge: who can rule values out is left with the others; of two values, who rules out one knows.

With l different values in every class, ruling out l - 2 of them leaves a doubt; ruling out l - 1 does not, which no
choice of l prevents (docs/limits.md).
"""

from __future__ import annotations

from tests.databases import Connection

PEOPLE = """
    CREATE TABLE patient AS
    SELECT 20 + n % 40 AS age,
           CASE WHEN n % 40 < 10 THEN (ARRAY['heart', 'virus'])[1 + n / 40 % 2] ELSE 'd' || n / 40 % 4 END AS disease
    FROM generate_series(0, 399) n
"""
# Umeko is 21, and in her country heart diseases are rare
LEARNED = """
    SELECT count(DISTINCT disease) FROM released
    WHERE age::text IN ('21', '20-29', '20-39', '*') AND disease <> 'heart'
"""
CALL = """
    SELECT discreet.anonymize('patient', 'released', '{{"age": {{"intervals": [10, 20]}}}}', 10, l => {},
                              sensitive => 'disease')
"""


def test_ruling_out_one_of_two_values_leaves_one_and_of_three_two(admin: Connection) -> None:
    admin.execute(PEOPLE)
    admin.execute(CALL.format(2))
    assert admin.execute(LEARNED).fetchall() == [(1,)]
    admin.execute("DROP TABLE released; SELECT discreet.forget_release('public.released')")
    admin.execute(CALL.format(3))
    ((left,),) = admin.execute(LEARNED).fetchall()
    assert int(str(left)) >= 2
