"""A history from before an officer moved a value upwards shows it where it was: what is hidden is still told."""

from collections.abc import Sequence

import psycopg
import pytest
from tests.attacks.mls.levels import Levels

ROW = "INSERT INTO employee (name, salary, perf) VALUES ('Rossi', 7, 'cryptonym')"
HISTORY = """SELECT label, act, version::text FROM discreet.mls_history('employee', '{"name": "Rossi"}')"""


def relabel(levels: Levels, columns: Sequence[str], to: str) -> None:
    with psycopg.connect(levels.database.dsn("mls_trusted"), autocommit=True) as officer:
        moved = officer.execute(
            "SELECT discreet.mls_relabel('employee', $$name = 'Rossi'$$, %s, %s, 'misclassified')", [list(columns), to]
        ).fetchall()
        assert moved == [(1,)]


def history(levels: Levels, name: str) -> str:
    return repr(levels.at(name).execute(HISTORY).fetchall())


@pytest.mark.parametrize("columns", [["perf"], ["name", "salary", "perf"]])
def test_the_history_below_no_longer_shows_what_went_up(levels: Levels, columns: list[str]) -> None:
    levels.at("low").execute(ROW)
    assert "cryptonym" in history(levels, "low")
    relabel(levels, columns, "S")
    assert "cryptonym" not in history(levels, "low") + history(levels, "middle")
    assert "cryptonym" in history(levels, "high")
    assert levels.admin.execute("SELECT DISTINCT intact FROM discreet._verify_history()").fetchall() == [(True,)]


def test_a_value_that_goes_up_in_two_steps_takes_its_history_along(levels: Levels) -> None:
    levels.at("low").execute(ROW)
    relabel(levels, ["salary"], "C")
    assert "cryptonym" in history(levels, "middle")
    relabel(levels, ["perf"], "C")
    relabel(levels, ["perf"], "S")
    assert "cryptonym" not in history(levels, "low") + history(levels, "middle")
    assert "cryptonym" in history(levels, "high")


def test_another_value_of_the_entries_goes_up_later(levels: Levels) -> None:
    levels.at("low").execute(ROW)
    relabel(levels, ["salary"], "C")
    relabel(levels, ["perf"], "S")
    assert "cryptonym" not in history(levels, "low") + history(levels, "middle")


def test_what_is_relabelled_above_hides_nothing_below(levels: Levels) -> None:
    low = levels.at("low")
    low.execute(ROW)
    levels.at("middle").execute("UPDATE employee SET perf = 'else' WHERE name = 'Rossi'")
    with psycopg.connect(levels.database.dsn("mls_middle"), autocommit=True) as middle:
        middle.execute("INSERT INTO employee (name, perf) VALUES ('Verdi', 'cryptonym')")
    before = history(levels, "low")
    with psycopg.connect(levels.database.dsn("mls_trusted"), autocommit=True) as officer:
        for predicate in ("perf = 'else'", "name = 'Verdi'"):
            officer.execute(
                "SELECT discreet.mls_relabel('employee', %s, ARRAY['perf'], 'S', 'misclassified')", [predicate]
            )
    assert history(levels, "low") == before
    assert "else" not in history(levels, "middle")
    low.execute("UPDATE employee SET perf = 'new' WHERE name = 'Rossi'")
    assert "new" in history(levels, "low")
