"""Labels of many rows changed in one act of an officer; single cells are tested against the model."""

from __future__ import annotations

from threading import Thread

import pytest
from tests.database.mls.subjects import Subjects, refused
from tests.database.waiting import wait_for_lock

PAY = """
    CREATE TABLE pay (name text PRIMARY KEY, country text, least int, most int,
                      CONSTRAINT in_order CHECK (least <= most))
"""
RELABEL = "SELECT discreet.mls_relabel('pay', %s, %s, %s, 'tests')"


@pytest.fixture
def pay(subjects: Subjects) -> Subjects:
    """Three people at U."""
    subjects.make_table(PAY, "pay", ["name"])
    subjects.at("U").execute(
        "INSERT INTO pay (name, country, least, most) VALUES ('ann', 'X', 1, 2), ('bob', 'X', 3, 4), ('cy', 'Y', 5, 6)"
    )
    return subjects


def test_many_cells_go_up_and_down_again(pay: Subjects) -> None:
    officer = pay.trusted("S")
    assert officer.execute(RELABEL, ["country = 'X'", ["least", "most"], "C"]).fetchall() == [(2,)]
    assert pay.seen("U", "pay", "name, least, most") == [("ann", None, None), ("bob", None, None), ("cy", 5, 6)]
    assert pay.seen("C", "pay", "name, least, least_label, most") == [
        ("ann", 1, "C", 2), ("bob", 3, "C", 4), ("cy", 5, "U", 6),
    ]  # fmt: skip
    assert officer.execute(RELABEL, ["least_label = 'C' AND least > 2", ["least", "most"], "U"]).fetchall() == [(1,)]
    assert pay.seen("U", "pay", "name, least") == [("ann", None), ("bob", 3), ("cy", 5)]
    assert officer.execute(RELABEL, ["true", ["country"], "U"]).fetchall() == [(0,)]


def test_whole_rows_go_up(pay: Subjects) -> None:
    pay.at("C").execute("UPDATE pay SET most = 9 WHERE name = 'ann'")
    officer = pay.trusted("S")
    pay.at("C").execute("SELECT discreet.mls_uplevel('pay', '{\"name\": \"ann\"}', 'most', 'U')")
    assert officer.execute(RELABEL, ["name < 'c'", ["name"], "C"]).fetchall() == [(2,)]
    assert pay.seen("U", "pay", "name") == [("cy",)]
    assert pay.seen("C", "pay", "name, name_label, least, least_label, tc") == [
        ("ann", "C", 1, "C", "C"), ("bob", "C", 3, "C", "C"), ("cy", "U", 5, "U", "U"),
    ]  # fmt: skip
    # the name is free below
    pay.at("U").execute("INSERT INTO pay (name) VALUES ('ann')")


def test_it_is_logged_once_with_the_number_of_rows(pay: Subjects) -> None:
    pay.trusted("S").execute(RELABEL, ["country = 'X'", ["least", "most"], "C"])
    logged = pay.admin.execute("SELECT details FROM discreet.mls_log WHERE act = 'mls_relabel'").fetchall()
    assert [(row[0]["entities"], row[0]["reason"], row[0]["to"]) for row in logged] == [(2, "tests", "C")]


def test_all_or_nothing_where_a_label_would_see_a_broken_row(pay: Subjects) -> None:
    """U would see ann's least of C beside its own most."""
    pay.at("C").execute("UPDATE pay SET least = 7, most = 8 WHERE name = 'ann'")
    pay.at("C").execute("UPDATE pay SET least = 4 WHERE name = 'bob'")
    before = pay.seen("S", "pay")
    error = refused(pay.trusted("S"), RELABEL, "true", ["least"], "U")
    assert error.sqlstate == "23514"
    assert "label U would see a row" in str(error)
    assert pay.seen("S", "pay") == before
    pay.trusted("S").execute(RELABEL, ["true", ["most", "least"], "U"])
    assert pay.seen("U", "pay", "name, least, most") == [("ann", 7, 8), ("bob", 4, 4), ("cy", 5, 6)]


def test_rules_hold_as_well(pay: Subjects) -> None:
    pay.admin.execute("SELECT discreet.add_rule('pay', 'cap', 'NEW.most < 100 OR NEW.country = ''Z''')")
    officer = pay.trusted("C")
    officer.execute("UPDATE pay SET country = 'Z', most = 200 WHERE name = 'ann'")
    error = refused(officer, RELABEL, "name = 'ann'", ["most"], "U")
    assert 'label U would see a row of multilevel table "public"."pay" that violates rule "cap"' in str(error)
    lower = "SELECT discreet.mls_declassify('pay', '{\"name\": \"ann\"}', '{most}', 'U', 'tests')"
    assert 'violates rule "cap"' in str(refused(officer, lower))
    assert officer.execute(RELABEL, ["name = 'ann'", ["country", "most"], "U"]).fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("predicate", "columns", "to", "told"),
    [
        ("country = 'X'", ["least"], "S:NATO", "is not dominated by that of the session"),
        ("country = 'X'", [], "C", "no columns are given"),
        ("country = 'X'", ["wage"], "C", 'has no column "wage"'),
        ("wage > 1", ["least"], "C", 'names column "wage"'),
        ("EXISTS (SELECT 1)", ["least"], "C", "holds a subquery"),
        ("pg_sleep(1) IS NULL", ["least"], "C", "calls pg_sleep"),
        ("country", ["least"], "C", "argument of WHERE must be type boolean"),
    ],
)
def test_what_cannot_be_meant_is_refused(pay: Subjects, predicate: str, columns: list[str], to: str, told: str) -> None:
    officer = pay.trusted("S")
    assert told in str(refused(officer, RELABEL, predicate, columns, to))
    assert officer.execute(RELABEL, ["true", ["least"], "C"]).fetchall() == [(3,)]


def test_keys_go_up_only_and_versions_are_settled_first(pay: Subjects) -> None:
    officer = pay.trusted("S")
    officer.execute(RELABEL, ["name = 'ann'", ["name"], "C"])
    assert "can only be raised" in str(refused(officer, RELABEL, "name = 'ann'", ["name"], "U").diag.message_hint)
    pay.at("C").execute("UPDATE pay SET most = 9 WHERE name = 'bob'")
    assert "1 rows have several versions" in str(refused(officer, RELABEL, "name = 'bob'", ["name"], "C"))


def test_incomparable_versions_are_not_chosen_from(pay: Subjects) -> None:
    pay.at("C:NATO").execute("UPDATE pay SET most = 7 WHERE name = 'ann'")
    pay.at("C:CRYPTO").execute("UPDATE pay SET most = 8 WHERE name = 'ann'")
    error = refused(pay.trusted("S:NATO,CRYPTO"), RELABEL, "name = 'ann'", ["most"], "C")
    assert "in 1 rows have several highest versions" in str(error)
    assert "mls_uplevel" in str(error.diag.message_hint)


def test_what_others_commit_meanwhile_is_moved_and_not_lost(pay: Subjects) -> None:
    """Below the highest label, where rows are locked and not the table."""
    low, officer = pay.at("U"), pay.trusted("S")
    low.execute("BEGIN; UPDATE pay SET most = 99 WHERE name = 'ann'; DELETE FROM pay WHERE name = 'bob'")
    changed: list[object] = []
    thread = Thread(target=lambda: changed.extend(officer.execute(RELABEL, ["true", ["most"], "C"]).fetchall()))
    thread.start()
    wait_for_lock(pay.database, officer)
    low.execute("COMMIT")
    thread.join()
    assert changed == [(2,)]
    assert pay.seen("C", "pay", "name, most, most_label") == [("ann", 99, "C"), ("cy", 6, "C")]
    assert pay.seen("U", "pay", "name, most") == [("ann", None), ("cy", None)]
    low.execute("INSERT INTO pay (name) VALUES ('bob')")
    roots = "SELECT count(*) FROM pay_mls WHERE _entity IS NULL AND NOT _dead AND _slot <> 0"
    assert pay.admin.execute(roots).fetchall() == [(0,)]


def test_a_declassification_lowers_what_was_committed_last(pay: Subjects) -> None:
    officer, high = pay.trusted("S"), pay.at("S")
    officer.execute("UPDATE pay SET most = 50 WHERE name = 'ann'")
    high.execute("BEGIN; UPDATE pay SET most = 66 WHERE name = 'ann' AND tc = 'S'")
    lower = "SELECT discreet.mls_declassify('pay', '{\"name\": \"ann\"}', '{most}', 'U', 'tests')"
    thread = Thread(target=lambda: officer.execute(lower))
    thread.start()
    wait_for_lock(pay.database, officer)
    high.execute("COMMIT")
    thread.join()
    assert pay.seen("U", "pay", "name, most")[0] == ("ann", 66)


def test_a_range_of_labels_holds_for_what_is_taken_away_below(pay: Subjects) -> None:
    role = pay.role("S", trusted=True)
    pay.admin.execute("SELECT discreet.mls_clear(%s, 'S', write_from => 'C')", [role])
    officer = pay.trusted("S")
    for columns in (["most"], ["name"]):
        assert "at which the role may not write" in str(refused(officer, RELABEL, "true", columns, "C"))


def test_only_trusted_sessions_relabel(pay: Subjects) -> None:
    assert refused(pay.at("S"), RELABEL, "true", ["least"], "C").sqlstate == "42501"
