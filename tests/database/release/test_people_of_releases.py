"""With a unit, classes are of people: whoever has many rows is one of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.databases import Connection
from tests.messages import refused

# at 20 two people, both with flu, one of whom also has all else; at 30 two; at 40 one, with three visits
VISITS = """
    CREATE TABLE visit (patient text, age int, disease text);
    INSERT INTO visit VALUES
        ('ann', 20, 'flu'), ('bob', 20, 'flu'), ('bob', 20, 'cold'), ('bob', 20, 'ulcer'),
        ('cid', 30, 'flu'), ('dan', 30, 'cold'), ('dan', 30, 'cold'),
        ('eve', 40, 'flu'), ('eve', 40, 'cold'), ('eve', 40, 'ulcer');
"""
SPEC = json.dumps({"age": {"ranges": [[20, 30], [99]]}})


def one(connection: Connection, query: str, *parameters: object) -> Any:
    row = connection.execute(query, parameters).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture
def visits(admin: Connection) -> Connection:
    admin.execute(VISITS)
    return admin


@pytest.mark.parametrize("nulls", ["own", "wildcard", "conservative"])
def test_k_and_l_are_those_of_people(visits: Connection, nulls: str) -> None:
    assert one(visits, "SELECT discreet.k_anonymity('visit', '{age}', %s)", nulls) == 3
    assert one(visits, "SELECT discreet.k_anonymity('visit', '{age}', %s, 'patient')", nulls) == 1
    visits.execute("DELETE FROM visit WHERE age = 40")
    assert one(visits, "SELECT discreet.k_anonymity('visit', '{age}', %s, 'patient')", nulls) == 2
    query = "SELECT discreet.l_diversity('visit', '{age}', 'disease', nulls => %s, unit => %s)"
    # both of age 20 have flu
    assert [one(visits, query, nulls, unit) for unit in (None, "patient")] == [2, 1]
    visits.execute("UPDATE visit SET disease = 'gout' WHERE patient = 'ann'")
    assert one(visits, query, nulls, "patient") == 2


@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_a_value_that_all_people_share_is_told_as_the_reason(visits: Connection, method: str) -> None:
    visits.execute("INSERT INTO visit SELECT DISTINCT patient, age, 'gout' FROM visit")
    call = "SELECT discreet.anonymize('visit', 'r', %s, 2, 2, sensitive => 'disease', unit => 'patient', method => %s)"
    with refused("22023", "all people taken together share a value of the sensitive column", "Ask for less"):
        visits.execute(call, [SPEC, method])


def test_two_visits_for_the_same_disease_are_one_voice(visits: Connection) -> None:
    visits.execute("DELETE FROM visit WHERE age <> 30")
    query = "SELECT discreet.l_diversity('visit', '{age}', 'disease', 'entropy', unit => %s)"
    assert one(visits, query, None) < 1.9
    assert one(visits, query, "patient") == pytest.approx(2)


def test_all_measures_and_several_columns_count_people(visits: Connection) -> None:
    visits.execute("ALTER TABLE visit ADD ward int; UPDATE visit SET ward = age")
    query = "SELECT * FROM discreet.measure('visit', '{age}', '{disease,ward}', unit => %s)"
    rows, people = ({row[:2]: row[2] for row in visits.execute(query, [unit])} for unit in (None, "patient"))
    assert (rows["k", None], people["k", None]) == (3, 1)
    assert (rows["distinct l", "disease"], people["distinct l", "disease"]) == (2, 1)
    assert people["distinct l", "ward"] == 1
    # distances are of rows
    assert people["equal t", "disease"] == rows["equal t", "disease"]


def test_the_risk_is_that_of_people(visits: Connection) -> None:
    risk: dict[str, float] = dict(
        visits.execute("SELECT * FROM discreet.disclosure_risk('visit', '{age}', unit => 'patient')").fetchall()
    )
    assert (risk["people"], risk["sample uniques"], risk["prosecutor risk, highest"]) == (5, 1, 1)
    assert risk["special uniques by age"] == 1


@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_a_release_has_k_people_in_each_class(visits: Connection, method: str) -> None:
    call = (
        "SELECT discreet.anonymize('visit', 'r', %s, 2, sensitive => 'disease', method => %s, max_suppression => 0{})"
    )
    report = one(visits, call.format(""), SPEC, method)
    assert (report["k"], report["unit"]) == (3, None)
    assert report["classes"] == 3
    visits.execute("DROP TABLE r; SELECT discreet.forget_release('public.r')")
    report = one(visits, call.format(", unit => 'patient'"), SPEC, method)
    assert (report["k"], report["unit"], report["published"], report["classes"]) == (2, "patient", 10, 2)
    assert sorted(map(tuple, report["sizes"])) == [(2, 1), (3, 1)]
    # eve is with cid and dan, and the table does not say who is who
    assert visits.execute("SELECT count(*) FROM r GROUP BY age ORDER BY 1").fetchall() == [(4,), (6,)]
    columns = visits.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = 'r'::regclass AND attnum > 0"
    ).fetchall()
    assert columns == [("age",), ("disease",)]
    assert one(visits, "SELECT discreet.release_report('public.r')").count("People by the size of the class") == 1
    assert one(visits, "SELECT count(*) FROM pg_class WHERE relname LIKE '\\_discreet%%'") == 0


def test_l_of_a_release_is_that_of_people(visits: Connection) -> None:
    call = "SELECT discreet.anonymize('visit', 'r', %s, 2, l => 2, sensitive => 'disease', unit => 'patient')"
    report = one(visits, call, SPEC)
    # everybody of age 20 has flu, so they are not a class of their own
    assert (report["k"], report["l"], report["classes"]) == (5, 3, 1)


def test_a_kept_pseudonym_may_be_the_unit(visits: Connection) -> None:
    call = "SELECT discreet.anonymize('visit', 'r', %s, 2, keep => '{patient}', unit => 'patient')"
    assert one(visits, call, SPEC)["k"] == 2
    assert one(visits, "SELECT discreet.k_anonymity('r', '{age}', unit => 'patient')") == 2


def test_a_view_counts_people_whenever_it_is_read(visits: Connection) -> None:
    visits.execute("SELECT discreet.create_release_view('shown', 'visit', '{age}', 2, 'disease', 2, unit => 'patient')")
    query = "SELECT DISTINCT age FROM shown ORDER BY age"
    assert visits.execute(query).fetchall() == [(30,)]
    visits.execute("INSERT INTO visit VALUES ('fay', 20, 'gout'), ('eve', 40, 'gout'), (NULL, 40, 'gout')")
    assert visits.execute(query).fetchall() == [(20,), (30,)]
    visits.execute("UPDATE visit SET patient = 'cid' WHERE patient = 'dan'")
    assert visits.execute(query).fetchall() == [(20,)]


def test_one_person_with_many_rows_is_found_between_two_releases(admin: Connection) -> None:
    admin.execute(
        """
        CREATE TABLE visit AS
        SELECT 'p' || n AS patient, CASE WHEN n < 5 THEN 20 ELSE 40 END AS age, 'd' || n % 3 AS disease
        FROM generate_series(0, 9) n UNION ALL SELECT 'eve', 30, 'd' || n % 3 FROM generate_series(1, 5) n
        """
    )
    call = """SELECT discreet.anonymize('visit', %s, format('{"age": {"ranges": [[%%s]]}}', %s::int)::jsonb, 4,
                                        max_suppression => 0, unit => %s)"""
    admin.execute(call, ["a", 35, None])
    # eve's five rows are five people for who does not know better
    admin.execute(call, ["b", 25, None])
    admin.execute("DROP TABLE b; SELECT discreet.forget_release('public.b')")
    with refused("DP008", "1 person (age 30) in public.a and (age >=25) in public.b", "same levels"):
        admin.execute(call, ["b", 25, "patient"])


def test_a_row_of_nobody_is_not_in_a_view_of_people(admin: Connection) -> None:
    """A release that counts rows shows it, and is the view but for this row."""
    admin.execute(
        """
        CREATE TABLE visit AS SELECT 'p' || n AS patient, 30 AS age, 'd' || n AS disease FROM generate_series(1, 5) n
        UNION ALL SELECT NULL, 30, 'secret'
        """
    )
    admin.execute(
        "SELECT discreet.create_release_view('v', 'visit', '{age}', 5, sensitive => 'disease', unit => 'patient')"
    )
    assert admin.execute("SELECT count(*) FROM v").fetchall() == [(5,)]
    with refused("DP008", "public.v", "forget_release"):
        admin.execute("""SELECT discreet.anonymize('visit', 'r', '{"age": "suppress"}', 5, sensitive => 'disease')""")


def test_rows_of_nobody_are_refused(visits: Connection) -> None:
    visits.execute("INSERT INTO visit VALUES (NULL, 20, 'flu')")
    for call in (
        "k_anonymity('visit', '{age}', unit => 'patient')",
        "k_anonymity('visit', '{age}', 'wildcard', 'patient')",
        "l_diversity('visit', '{age}', 'disease', unit => 'patient')",
        "measure('visit', '{age}', '{disease}', unit => 'patient')",
        "disclosure_risk('visit', '{age}', unit => 'patient')",
        f"anonymize('visit', 'r', '{SPEC}', 2, unit => 'patient')",
    ):
        with refused("22023", 'public.visit has rows whose "patient" is NULL', "leaves them out"):
            visits.execute(f"SELECT discreet.{call}")


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        ("k_anonymity('visit', '{age}', unit => 'ghost')", "42703", 'public.visit has no column "ghost"'),
        ("k_anonymity('visit', '{age}', unit => 'age')", "22023", 'column "age" is named twice'),
        ("create_release_view('v', 'visit', '{age}', 2, unit => 'ghost')", "42703", 'has no column "ghost"'),
        (
            f"anonymize('visit', 'r', '{SPEC}', 6, unit => 'patient')",
            "22023",
            "the table has 5 people, fewer than k = 6",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(visits: Connection, call: str, code: str, message: str) -> None:
    with refused(code, message, ""):
        visits.execute(f"SELECT discreet.{call}")


def test_an_empty_table_has_no_people(admin: Connection) -> None:
    admin.execute("CREATE TABLE t (p int, a int, s int)")
    for nulls in ("own", "wildcard", "conservative"):
        assert one(admin, "SELECT discreet.k_anonymity('t', '{a}', %s, 'p')", nulls) is None
        assert one(admin, "SELECT discreet.l_diversity('t', '{a}', 's', nulls => %s, unit => 'p')", nulls) is None
    assert admin.execute("SELECT * FROM discreet.disclosure_risk('t', '{a}', unit => 'p')").fetchall() == []
