"""A person with many rows: a class of k rows is one patient, who is found by age and read from all the rows."""

from __future__ import annotations

from tests.databases import Connection

# Alice, 50, came ten times; ten others of each age from 20 to 29 once
VISITS = """
    CREATE TABLE visit AS
    SELECT 'person ' || n AS patient, 20 + n % 10 AS age, (ARRAY['flu', 'cold', 'ulcer'])[1 + n % 3] AS disease
    FROM generate_series(1, 100) n
    UNION ALL SELECT 'Alice', 50, 'cancer' FROM generate_series(1, 10);
    CREATE TABLE voter AS SELECT DISTINCT patient AS name, age FROM visit;
"""
CALL = """SELECT discreet.anonymize('visit', 'released', '{{"age": {{"intervals": [10, 40]}}}}', 10,
                                     sensitive => 'disease', max_suppression => 0{})"""
# what the voters' list, joined with the release, leaves of Alice: who she may be, and what she has
NAMES = """
    SELECT array_agg(DISTINCT name) FROM voter v, released r
    WHERE r.disease = 'cancer' AND v.age = ANY (CASE r.age::text WHEN '50' THEN ARRAY[50] WHEN '50-59' THEN ARRAY[50]
                                                ELSE ARRAY(SELECT age FROM voter) END)
"""


def test_a_class_of_ten_rows_is_alice_unless_people_are_counted(admin: Connection) -> None:
    admin.execute(VISITS)
    admin.execute(CALL.format(""))
    assert admin.execute("SELECT discreet.k_anonymity('released', '{age}')").fetchall() == [(10,)]
    assert admin.execute(NAMES).fetchall() == [(["Alice"],)]
    admin.execute("DROP TABLE released; SELECT discreet.forget_release('public.released')")
    admin.execute(CALL.format(", unit => 'patient'"))
    ((names,),) = admin.execute(NAMES).fetchall()
    assert len(names or []) >= 10
