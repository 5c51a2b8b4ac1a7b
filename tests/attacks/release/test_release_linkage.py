"""Linkage: a list of voters names the only one of a birthday, sex and zip code in a table (Sweeney 2002)."""

from __future__ import annotations

from tests.databases import Connection

TABLES = """
    CREATE TABLE patient AS
    SELECT date '1940-01-01' + n * 97 % 14000 AS born, (ARRAY['m', 'f'])[1 + n % 2] AS sex,
           '021' || 30 + n * 31 % 13 AS zip, 'd' || n % 5 AS disease
    FROM generate_series(1, 500) n;
    CREATE TABLE voter AS SELECT 'name ' || row_number() OVER () AS name, born, sex, zip FROM patient;
"""
# for whom exactly one row can be theirs; and of how many rows each may be one
ROWS = "SELECT v.name, count(*) AS rows FROM voter v JOIN {} r ON {} GROUP BY v.name"
FOUND = "SELECT count(*) FILTER (WHERE rows = 1), min(rows) FROM ({}) AS matched"
SAME = "r.born = v.born AND r.sex = v.sex AND r.zip = v.zip"
POSSIBLE = """
    (r.born IN (v.born::text, '*', to_char(v.born, 'YYYY-MM'), to_char(v.born, 'YYYY'))
     OR r.born = to_char(v.born, 'YYYY')::int / 10 || '0s')
    AND r.sex IN (v.sex, '*') AND v.zip LIKE rtrim(r.zip, '*') || '%'
"""
SPEC = """'{"born": {"truncate": ["month", "year", "decade"]}, "sex": "suppress", "zip": {"digits": 5}}'"""


def test_a_voters_list_names_people_in_a_table_without_names_but_not_in_a_release(admin: Connection) -> None:
    admin.execute(TABLES)
    assert admin.execute(FOUND.format(ROWS.format("patient", SAME))).fetchall() == [(500, 1)]
    admin.execute(f"SELECT discreet.anonymize('patient', 'released', {SPEC}, 5, sensitive => 'disease')")
    ((found, least),) = admin.execute(FOUND.format(ROWS.format("released", POSSIBLE))).fetchall()
    assert found == 0
    assert int(str(least)) >= 5
