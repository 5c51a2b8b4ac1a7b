"""Rows that are there when a table becomes a multilevel one get the labels that are given, or that rules give them."""

from __future__ import annotations

import json

import pytest
from tests.database.mls.subjects import Subjects, refused

STAFF = """
    CREATE TABLE staff (name text COLLATE "C" PRIMARY KEY, country text, salary int, notes text);
    INSERT INTO staff VALUES ('ann', 'X', 10, 'spy'), ('bob', 'Y', 20, NULL), ('cy', NULL, NULL, 'dull');
    CREATE INDEX by_salary ON staff (salary)
"""
BY_COUNTRY = "CASE WHEN country = 'X' THEN 'S' ELSE 'C' END"


def classify(subjects: Subjects, labels: object, definition: str = STAFF, key: str = "name") -> None:
    subjects.admin.execute(definition)
    subjects.admin.execute("SELECT discreet.mls_table('staff', %s, labels => %s)", [[key], json.dumps(labels)])
    for label in ("U", "C", "S", "S:NATO,CRYPTO"):
        subjects.grant("staff", subjects.role(label))


def test_a_label_of_each_column(subjects: Subjects) -> None:
    classify(subjects, {"*": "U", "salary": "C", "notes": "S"})
    shown = "name, country, salary, salary_label, notes, notes_label, tc"
    assert subjects.seen("U", "staff", shown) == [
        ("ann", "X", None, "U", None, "U", "U"),
        ("bob", "Y", None, "U", None, "U", "U"),
        ("cy", None, None, "U", None, "U", "U"),
    ]
    assert subjects.seen("C", "staff", shown)[0] == ("ann", "X", 10, "C", None, "C", "C")
    assert subjects.seen("S", "staff", shown) == [
        ("ann", "X", 10, "C", "spy", "S", "S"),
        ("bob", "Y", 20, "C", None, "S", "S"),
        ("cy", None, None, "C", "dull", "S", "S"),
    ]


def test_a_rule_gives_each_row_its_label(subjects: Subjects) -> None:
    classify(subjects, {"salary": "C", "notes": BY_COUNTRY})
    assert subjects.seen("C", "staff", "name, notes, notes_label, tc") == [
        ("ann", None, "C", "C"),
        ("bob", None, "C", "C"),
        ("cy", "dull", "C", "C"),
    ]
    assert subjects.seen("S", "staff", "name, notes, notes_label, salary_label, tc") == [
        ("ann", "spy", "S", "C", "S"),
        ("bob", None, "C", "C", "C"),
        ("cy", "dull", "C", "C", "C"),
    ]


def test_keys_may_have_labels_too_and_rows_of_incomparable_labels_are_one_above(subjects: Subjects) -> None:
    by_name = "CASE WHEN name = 'ann' THEN 'C' ELSE 'U' END"
    classify(subjects, {"name": by_name, "*": by_name, "salary": "C:NATO", "notes": "C:CRYPTO"})
    assert subjects.seen("U", "staff", "name, country, tc") == [("bob", "Y", "U"), ("cy", None, "U")]
    assert subjects.seen("C", "staff", "name, name_label, country_label") == [
        ("ann", "C", "C"), ("bob", "U", "U"), ("cy", "U", "U"),
    ]  # fmt: skip
    assert subjects.seen("S:NATO,CRYPTO", "staff", "name, salary, notes, tc") == [
        ("ann", 10, "spy", "C:NATO,CRYPTO"), ("bob", 20, None, "C:NATO,CRYPTO"), ("cy", None, "dull", "C:NATO,CRYPTO"),
    ]  # fmt: skip


def test_a_classified_row_is_what_a_trusted_load_of_it_would_be(subjects: Subjects) -> None:
    """Stored cell by cell, as far as ids do not count; and it is used further as any other row."""
    labels = {"*": "U", "salary": "C", "notes": "S:NATO"}
    classify(subjects, labels)
    subjects.make_table(STAFF.replace("staff", "loaded").replace("by_salary", "other"), "loaded", ["name"])
    subjects.admin.execute("TRUNCATE loaded_mls")
    subjects.trusted("S:NATO,CRYPTO").execute(
        "INSERT INTO loaded (name, name_label, country, country_label, salary, salary_label, notes, notes_label)"
        " VALUES ('ann', 'U', 'X', 'U', 10, 'C', 'spy', 'S:NATO')"
    )
    stored = (
        "SELECT t.name, country, salary, notes, _key_label, _label, _dead, _source, _entity IS NULL,"
        " _slot = CASE WHEN _entity IS NULL THEN 0 ELSE _entity # (_label << 1) END FROM {}_mls t"
        " WHERE t.name = 'ann' ORDER BY _label"
    )
    classified, loaded = (subjects.admin.execute(stored.format(name)).fetchall() for name in ("staff", "loaded"))
    assert classified == loaded
    assert len(classified) == 3
    subjects.at("C").execute("UPDATE staff SET salary = 11 WHERE name = 'ann'")
    assert subjects.at("U").execute("DELETE FROM staff WHERE name = 'bob'").rowcount == 1
    assert subjects.seen("C", "staff", "name, salary") == [("ann", 11), ("bob", 20), ("cy", None)]


def test_a_rule_that_gives_all_cells_the_label_of_the_key_stores_one_row(subjects: Subjects) -> None:
    classify(subjects, {"*": BY_COUNTRY})
    assert subjects.admin.execute("SELECT count(*), bool_and(_source IS NULL) FROM staff_mls").fetchall() == [(3, True)]
    assert subjects.seen("C", "staff", "name, notes, tc") == [("bob", None, "C"), ("cy", "dull", "C")]


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ({"name": "C"}, 'the label of column "country" does not dominate that of the key in 3 rows of public.staff'),
        (
            {"*": BY_COUNTRY, "salary": "C"},
            'the label of column "salary" does not dominate that of the key in 1 rows of public.staff: {"name": "ann"}',
        ),
        ({"notes": "CASE WHEN salary > 15 THEN 'S' END"}, 'the rule of column "notes" gives no label in 2 rows'),
        ({"wage": "C"}, 'labels names column "wage"'),
        ({"notes": "D"}, 'there is no level "D"'),
        ({"notes": "S:BOMB"}, 'there is no compartment "BOMB"'),
        ({"notes": 3}, "labels is not an object of texts"),
        (["C"], "labels is not an object of texts"),
        ({"notes": "(SELECT 'S')"}, "the rule of a label holds a subquery"),
        ({"notes": "pg_read_file('x' || name)"}, "the rule of a label calls pg_read_file"),
        ({"notes": "CASE WHEN wage > 3 THEN 'S' ELSE 'C' END"}, 'names column "wage", which the table does not have'),
        ({"notes": "upper(notes)"}, "there is no level"),
        ({"notes": "salary + name"}, "the rule of a label cannot be used: operator does not exist"),
    ],
)
def test_labels_that_cannot_be_given_are_refused_and_nothing_is_changed(
    subjects: Subjects, labels: object, told: str
) -> None:
    subjects.admin.execute(STAFF)
    error = refused(subjects.admin, "SELECT discreet.mls_table('staff', '{name}', labels => %s)", json.dumps(labels))
    assert told in str(error)
    assert subjects.admin.execute("SELECT count(*) FROM staff").fetchall() == [(3,)]
    assert subjects.admin.execute("SELECT FROM pg_trigger WHERE tgrelid = 'staff'::regclass").fetchall() == []


def test_storage_properties_stay(subjects: Subjects) -> None:
    classify(subjects, {"salary": "C"})
    kept = subjects.admin.execute(
        "SELECT a.attcollation::regcollation::text, (SELECT count(*) FROM pg_indexes WHERE indexname = 'by_salary')"
        " FROM pg_attribute a WHERE attrelid = 'staff_mls'::regclass AND attname = 'name'"
    )
    assert kept.fetchall() == [('"C"', 1)]


def test_all_obstacles_are_named_at_once(subjects: Subjects) -> None:
    subjects.admin.execute(
        "CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE t (id int PRIMARY KEY, x int UNIQUE, y int REFERENCES p);"
        " CREATE VIEW v AS SELECT * FROM t"
    )
    error = refused(subjects.admin, "SELECT discreet.mls_table('t', '{id}')")
    assert all(part in str(error) for part in ("foreign key t_y_fkey", "t_x_key", "public.v"))
    assert all(part in str(error.diag.message_hint) for part in ("mls_reference", "drop other unique keys", "anew"))
