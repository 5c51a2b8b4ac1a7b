"""Rules of labels: what a trusted load gives to cells without a label, and what other sessions must dominate."""

from __future__ import annotations

import pytest
from tests.database.mls.subjects import Subjects, refused

CASES = "CREATE TABLE cases (id int PRIMARY KEY, country text, notes text)"
BY_COUNTRY = "CASE country WHEN 'X' THEN 'S' WHEN 'Y' THEN 'C' END"


@pytest.fixture
def cases(subjects: Subjects) -> Subjects:
    """Notes about country X want S, those about Y want C, others nothing."""
    subjects.make_table(CASES, "cases", ["id"])
    subjects.admin.execute("SELECT discreet.mls_rule('cases', 'notes', %s)", [BY_COUNTRY])
    return subjects


def test_a_load_gets_the_labels_of_the_rule(cases: Subjects) -> None:
    trusted = cases.trusted("S")
    trusted.execute(
        "INSERT INTO cases (id, id_label, country, country_label, notes)"
        " VALUES (1, 'U', 'X', 'U', 'a'), (2, 'U', 'Y', 'U', 'b'), (3, 'U', 'Z', 'U', 'c')"
    )
    shown = "id, country, notes, notes_label"
    assert cases.seen("U", "cases", shown) == [(1, "X", None, "U"), (2, "Y", None, "U"), (3, "Z", None, "U")]
    assert cases.seen("C", "cases", shown) == [(1, "X", None, "C"), (2, "Y", "b", "C"), (3, "Z", None, "C")]
    # without a wish of the rule it is the label of the session
    assert cases.seen("S", "cases", shown) == [(1, "X", "a", "S"), (2, "Y", "b", "C"), (3, "Z", "c", "S")]


def test_a_label_that_is_given_is_taken(cases: Subjects) -> None:
    cases.trusted("S").execute(
        "INSERT INTO cases (id, id_label, country, country_label, notes, notes_label)"
        " VALUES (1, 'U', 'X', 'U', 'a', 'C')"
    )
    assert cases.seen("C", "cases", "notes, notes_label") == [("a", "C")]


def test_other_sessions_must_dominate_what_the_rule_wants(cases: Subjects) -> None:
    insert = "INSERT INTO cases (id, country, notes) VALUES (%s, '%s', 'secret') RETURNING notes_label"
    for label, country in (("U", "X"), ("U", "Y"), ("C", "X")):
        error = refused(cases.at(label), insert % (1, country))
        assert error.sqlstate == "42501"
        assert error.diag.message_primary == (
            'the rule of column "notes" of multilevel table "public"."cases" wants a label above that of the session'
        )
        assert error.diag.message_detail is None
    assert cases.at("U").execute(insert % (1, "Z")).fetchall() == [("U",)]
    assert cases.at("C").execute(insert % (2, "Y")).fetchall() == [("C",)]
    assert cases.at("S").execute(insert % (3, "X")).fetchall() == [("S",)]
    assert cases.admin.execute("SELECT count(*) FROM cases_mls").fetchall() == [(3,)]


def test_an_update_is_judged_by_the_row_as_its_writer_sees_it(cases: Subjects) -> None:
    low, high = cases.at("U"), cases.at("C")
    low.execute("INSERT INTO cases (id, country, notes) VALUES (1, 'Z', 'open')")
    assert refused(low, "UPDATE cases SET country = 'X'").sqlstate == "42501"
    # the notes are those of U, which C does not own
    assert high.execute("UPDATE cases SET country = 'X'").rowcount == 1
    assert refused(high, "UPDATE cases SET notes = 'more' WHERE tc = 'C'").sqlstate == "42501"
    assert cases.seen("U", "cases", "country, notes") == [("Z", "open")]
    assert high.execute("UPDATE cases SET country = 'Y', notes = 'more' WHERE tc = 'C'").rowcount == 1


def test_what_is_above_changes_no_verdict(cases: Subjects) -> None:
    """An entity that S knows to be about X: U is told nothing of it."""
    low = cases.at("U")
    low.execute("INSERT INTO cases (id, country, notes) VALUES (1, 'Z', 'open')")
    cases.at("S").execute("UPDATE cases SET country = 'X'")
    assert low.execute("UPDATE cases SET notes = 'still open'").rowcount == 1
    assert low.execute("INSERT INTO cases (id, country, notes) VALUES (2, 'Z', '')").rowcount == 1


def test_a_rule_of_the_key(subjects: Subjects) -> None:
    subjects.make_table("CREATE TABLE pair (a int, b int, x int, PRIMARY KEY (a, b))", "pair", ["a", "b"])
    subjects.admin.execute("SELECT discreet.mls_rule('pair', 'b', 'CASE WHEN a > 5 THEN ''C'' ELSE ''U'' END')")
    subjects.trusted("C").execute("INSERT INTO pair (a, b, x) VALUES (1, 1, 1), (9, 1, 2)")
    assert subjects.seen("U", "pair", "a, a_label, b_label, x") == [(1, "U", "U", None)]
    assert subjects.seen("C", "pair", "a, a_label, b_label, x") == [(1, "U", "U", 1), (9, "C", "C", 2)]
    assert refused(subjects.at("U"), "INSERT INTO pair (a, b) VALUES (7, 7)").sqlstate == "42501"
    error = refused(subjects.admin, "SELECT discreet.mls_rule('pair', 'a', 'C')")
    assert 'the key has a rule already, that of column "b"' in str(error)


def test_a_rule_may_be_a_label_and_is_taken_away_with_null(cases: Subjects) -> None:
    cases.admin.execute("SELECT discreet.mls_rule('cases', 'notes', 'S')")
    assert refused(cases.at("C"), "INSERT INTO cases (id) VALUES (1)").sqlstate == "42501"
    cases.admin.execute("SELECT discreet.mls_rule('cases', 'notes', NULL)")
    cases.at("U").execute("INSERT INTO cases (id, country, notes) VALUES (1, 'X', 'a')")
    assert cases.seen("U", "cases", "notes, notes_label") == [("a", "U")]


@pytest.mark.parametrize(
    ("column", "rule", "told"),
    [
        ("wage", "C", 'has no column "wage"'),
        ("notes", "D", 'there is no level "D"'),
        ("notes", "(SELECT 'C')", "holds a subquery"),
        ("notes", "CASE WHEN tc = 'U' THEN 'C' END", 'names column "tc"'),
        ("notes", "lo_get(id)::text", "calls lo_get"),
    ],
)
def test_a_rule_that_cannot_be_kept_is_refused(cases: Subjects, column: str, rule: str, told: str) -> None:
    assert told in str(refused(cases.admin, "SELECT discreet.mls_rule('cases', %s, %s)", column, rule))
    # the old one holds
    assert refused(cases.at("U"), "INSERT INTO cases (id, country, notes) VALUES (1, 'X', 'a')").sqlstate == "42501"


def test_only_officers_give_rules(cases: Subjects) -> None:
    assert refused(cases.trusted("S"), "SELECT discreet.mls_rule('cases', 'notes', NULL)").sqlstate == "42501"
