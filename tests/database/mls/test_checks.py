"""CHECKs of a multilevel table: they judge what is written, and what a label is shown by a declassification."""

from __future__ import annotations

from threading import Thread

import pytest
from tests.database.mls.subjects import Subjects, refused
from tests.database.waiting import wait_for_lock
from tests.databases import Connection

PAY = """
    CREATE TABLE pay (name text PRIMARY KEY, least int, most int, twice int GENERATED ALWAYS AS (2 * least) STORED,
                      CONSTRAINT in_order CHECK (least <= most), CONSTRAINT bounded CHECK (twice < 1000))
"""
LOWER = """SELECT discreet.mls_declassify('pay', '{"name": "ann"}', '{%s}', '%s', 'tests')"""
UPLEVEL = """SELECT discreet.mls_uplevel('pay', '{"name": "ann"}', '%s', '%s')"""
SHOWN = "SELECT least, most FROM pay ORDER BY 1, 2"


@pytest.fixture
def pay(subjects: Subjects) -> Subjects:
    """ann has 10 to 20 at U."""
    subjects.make_table(PAY, "pay", ["name"])
    subjects.at("U").execute("INSERT INTO pay (name, least, most) VALUES ('ann', 10, 20)")
    return subjects


def test_a_row_that_is_skipped_is_not_judged(pay: Subjects) -> None:
    """C shows its own version and that of U; an UPDATE acts on its own, with which it agrees."""
    pay.at("C").execute("UPDATE pay SET least = 30, most = 40")
    assert pay.at("C").execute("UPDATE pay SET least = 35").rowcount == 1
    assert pay.at("C").execute(SHOWN).fetchall() == [(10, 20), (35, 40)]
    assert pay.at("S").execute("UPDATE pay SET least = 36").rowcount == 1
    assert refused(pay.at("C"), "UPDATE pay SET least = 50").sqlstate == "23514"
    assert refused(pay.at("C"), "UPDATE pay SET least = 600, most = 900").sqlstate == "23514"


def test_nor_is_a_row_that_names_a_parent_which_is_not_there(pay: Subjects) -> None:
    pay.make_table("CREATE TABLE bonus (id int PRIMARY KEY, name text, sum int)", "bonus", ["id"])
    pay.admin.execute("SELECT discreet.mls_reference('bonus', ARRAY['name'], 'pay')")
    pay.at("U").execute("INSERT INTO bonus (id, name, sum) VALUES (1, 'ann', 1)")
    pay.at("C").execute("UPDATE bonus SET name = NULL")
    pay.at("U").execute("DELETE FROM bonus; DELETE FROM pay")
    assert pay.at("C").execute("UPDATE bonus SET sum = 2").rowcount == 1


def test_what_others_of_the_label_have_written_meanwhile_is_judged(pay: Subjects) -> None:
    """Both change a pair that is allowed, to one that is not."""
    one, other = pay.at("U"), pay.another("U")
    one.execute("BEGIN; UPDATE pay SET least = 19")

    errors: list[object] = []

    def change() -> None:
        errors.append(refused(other, "UPDATE pay SET most = 11").sqlstate)

    thread = Thread(target=change)
    thread.start()
    wait_for_lock(pay.database, other)
    one.execute("COMMIT")
    thread.join()
    assert errors == ["23514"]
    assert one.execute(SHOWN).fetchall() == [(19, 20)]


@pytest.fixture
def officer(pay: Subjects) -> Connection:
    """A trusted session at S with an own version, 50 to 90."""
    session = pay.trusted("S")
    session.execute("UPDATE pay SET least = 50, most = 90")
    return session


@pytest.mark.parametrize("label", ["U", "C"])
def test_a_label_is_not_shown_a_row_that_breaks_a_check(pay: Subjects, officer: Connection, label: str) -> None:
    error = refused(officer, LOWER % ("least", label))
    assert error.sqlstate == "23514"
    assert f"label {label} would see" in str(error)
    assert pay.at("C").execute(SHOWN).fetchall() == [(10, 20)]
    assert (50, 90) in officer.execute(SHOWN).fetchall()
    officer.execute(LOWER % ("most", label))
    officer.execute(LOWER % ("least", label))
    assert (50, 90) in pay.at(label).execute(SHOWN).fetchall()


def test_both_columns_at_once_may_be_lowered(pay: Subjects, officer: Connection) -> None:
    officer.execute(LOWER % ("least,most", "U"))
    assert pay.at("U").execute(SHOWN).fetchall() == [(50, 90)]


def test_versions_between_that_would_borrow_the_value_are_judged(pay: Subjects) -> None:
    """C has the least of U, and a most of its own: a new least of U would be above it."""
    pay.at("C").execute("UPDATE pay SET most = 15")
    officer = pay.trusted("S")
    officer.execute("UPDATE pay SET least = 18, most = 30 WHERE tc = 'U'")
    officer.execute("UPDATE pay SET least = 18, most = 30 WHERE tc = 'C'")
    error = refused(officer, LOWER % ("least", "U"))
    assert error.sqlstate == "23514"
    assert "label C would see" in str(error)
    # one that would see nothing wrong
    officer.execute("UPDATE pay SET least = 14 WHERE tc = 'S'")
    officer.execute(LOWER % ("least", "U"))
    assert (14, 15) in pay.at("C").execute(SHOWN).fetchall()


@pytest.mark.parametrize("above", ["S", "S:NATO", "C:CRYPTO"])
def test_rows_that_the_officer_does_not_dominate_do_not_count(pay: Subjects, above: str) -> None:
    """They borrow the least of U, and would be broken: to refuse would tell of them."""
    pay.at(above).execute("UPDATE pay SET most = 15")
    officer = pay.trusted("C")
    officer.execute("UPDATE pay SET least = 18, most = 30")
    officer.execute(LOWER % ("least", "U"))
    assert pay.at("U").execute(SHOWN).fetchall() == [(18, 20)]


def test_a_row_that_was_broken_before_is_no_reason_to_refuse(pay: Subjects, officer: Connection) -> None:
    pay.admin.execute("UPDATE pay_mls SET least = 400 WHERE _label = 0")
    officer.execute(LOWER % ("least,most", "C"))
    assert pay.at("C").execute(SHOWN).fetchall() == [(50, 90), (400, 20)]


def test_a_lower_value_that_does_not_fit_is_not_accepted_again(pay: Subjects) -> None:
    pay.at("C").execute("UPDATE pay SET least = 30, most = 40")
    error = refused(pay.at("C"), UPLEVEL % ("most", "U"))
    assert (error.sqlstate, "label C would see" in str(error)) == ("23514", True)
    pay.at("C").execute(UPLEVEL % ("least", "U"))
    pay.at("C").execute(UPLEVEL % ("most", "U"))
    assert pay.at("C").execute(SHOWN).fetchall() == [(10, 20)]
