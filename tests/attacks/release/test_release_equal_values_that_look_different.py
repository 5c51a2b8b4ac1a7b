"""Equal values that look different: 1.0 and 1.00 are one class to the database, and two to who reads it."""

from __future__ import annotations

import pytest
from tests.databases import Connection

COLLATION = "CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
LOOKS = {
    "numeric": ("1.0", "1.00"),
    "float8": ("0", "-0"),
    "interval": ("1 day", "24 hours"),
    "jsonb": ("1.0", "1.00"),
    "text COLLATE caseless": ("Ann", "ANN"),
}
# how many rows of a relation look the same as the one that looks like fewest others
SEEN = 'SELECT min(n) FROM (SELECT count(*) AS n FROM {} GROUP BY seen::text COLLATE "C") AS t'


def smallest(connection: Connection, relation: str) -> object:
    ((found,),) = connection.execute(SEEN.format(relation).encode()).fetchall()
    return found


@pytest.mark.parametrize("type_name", LOOKS)
def test_a_class_looks_the_same_for_all_who_are_in_it(admin: Connection, type_name: str) -> None:
    most, one = LOOKS[type_name]
    admin.execute(COLLATION)
    admin.execute(f"CREATE TABLE person (id int, seen {type_name}, disease text)")
    admin.execute(
        f"INSERT INTO person SELECT n, CASE WHEN n < 5 THEN '{most}' ELSE '{one}' END::{type_name}, 'flu'"
        " FROM generate_series(1, 5) n"
    )
    assert admin.execute("SELECT min(n) FROM (SELECT count(*) AS n FROM person GROUP BY seen) AS t").fetchall() == [
        (5,)
    ]
    assert smallest(admin, "person") == 1
    for unit in ("NULL", "'id'"):
        assert admin.execute(f"SELECT discreet.k_anonymity('person', '{{seen}}', unit => {unit})").fetchall() == [(1,)]
    admin.execute(
        """SELECT discreet.anonymize('person', 'released', '{"seen": "suppress"}', 5, sensitive => 'disease')"""
    )
    assert smallest(admin, "released") == 5
    admin.execute("""SELECT discreet.anonymize('person', 'counted', '{"seen": "suppress"}', 5, unit => 'id')""")
    assert smallest(admin, "counted") == 5
    admin.execute("SELECT discreet.create_release_view('shown', 'person', '{seen}', 5, 'disease')")
    assert smallest(admin, "shown") == 5
