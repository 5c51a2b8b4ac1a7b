"""A cursor that was opened at one label and is read at another."""

from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection

DECLARE = "DECLARE names SCROLL CURSOR WITH HOLD FOR SELECT name, salary, tc FROM employee ORDER BY name"


def test_a_held_cursor_with_high_rows_keeps_its_session_high(levels: Levels) -> None:
    session = levels.at("high")
    session.execute(DECLARE)
    assert refusal(session, "SET discreet.level = 'U'")[0] == "42501"
    session.execute("FETCH ALL FROM names")
    assert refusal(session, "SET discreet.level = 'C'")[0] == "42501"


def test_a_cursor_that_was_opened_low_shows_nothing_of_higher_rows_to_a_low_session(low: Connection) -> None:
    low.execute(f"BEGIN; {DECLARE}")
    assert low.execute("FETCH ALL FROM names").fetchall() == [("Smith", None, "U")]
    assert low.execute("FETCH BACKWARD ALL FROM names").fetchall() == [("Smith", None, "U")]
    assert refusal(low, "DELETE FROM employee WHERE CURRENT OF names")[0] in ("0A000", "24000", "42809")


def test_rows_that_higher_sessions_write_meanwhile_change_nothing(low: Connection, high: Connection) -> None:
    low.execute(f"BEGIN; {DECLARE}; MOVE 1 FROM names")
    high.execute("UPDATE employee SET salary = 1 WHERE name = 'Smith'; INSERT INTO employee (name) VALUES ('Zoe')")
    assert low.execute("FETCH ALL FROM names").fetchall() == []
    assert low.execute("MOVE BACKWARD ALL FROM names").statusmessage == "MOVE 1"
