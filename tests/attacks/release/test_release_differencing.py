"""Differencing: two releases, each anonymous, one subtracted from the other."""

from __future__ import annotations

from tests.databases import Connection
from tests.messages import refused

# Alice is the only one of 40
PEOPLE = """
    CREATE TABLE patient AS
    SELECT CASE WHEN n = 0 THEN 40 WHEN n <= 20 THEN 25 ELSE 55 END AS age,
           CASE WHEN n = 0 THEN 'rare' ELSE 'd' || n % 3 END AS disease
    FROM generate_series(0, 40) n
"""
CALL = "SELECT discreet.anonymize('patient', %s, %s, 10, sensitive => 'disease', max_suppression => 0)"
LEARNED = """
    SELECT a.disease FROM one a WHERE a.age = '<45'
    EXCEPT ALL SELECT b.disease FROM two b WHERE b.age = '<35'
"""


def test_what_two_naive_releases_tell_together_the_second_is_refused_for(admin: Connection) -> None:
    admin.execute(PEOPLE)
    for name, cut in (("one", 45), ("two", 35)):
        admin.execute(f"CREATE TABLE {name} AS SELECT CASE WHEN age < {cut} THEN '<{cut}' ELSE '>={cut}' END AS age,"
                      " disease FROM patient")  # fmt: skip
        assert admin.execute(f"SELECT discreet.k_anonymity('{name}', '{{age}}') >= 20").fetchall() == [(True,)]
    assert admin.execute(LEARNED).fetchall() == [("rare",)]
    admin.execute("DROP TABLE one, two")
    admin.execute(CALL, ["one", '{"age": {"ranges": [[45]]}}'])
    with refused("DP008", "1 row (age <45) in public.one and (age >=35) in public.two", "same levels"):
        admin.execute(CALL, ["two", '{"age": {"ranges": [[35]]}}'])
