"""Every chapter of `make demo` is played, and comes to the end that its story tells."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator

import pytest
from demo import tour
from dev.cluster import ROOT, Cluster

ALICE = "98750.00"

# what a line must hold for the story to be true, in this order
STORIES = {
    "question": [
        "psql, as carol", "psql, as ann", "NOTICE:  epsilon 0.5 spent; epsilon left for you 0.5", " Engineering ",
        "hr_team |             1 |           0.8 |          0.2", "ERROR:  using column id singles out a person",
        'ERROR:  the budget of dataset "hr.employee" is exhausted', "psql, as otto", "2 | t      | every charge fits",
    ],
    "budget": [
        "NOTICE:  epsilon 0.4 spent", "NOTICE:  answered again from the store, free of charge",
        "ann  |           0.9 |           0.8 |          0.1", "SQLSTATE DP003", "psql, as eric", "SQLSTATE DP003",
        "eric | DP003",
    ],
    "tracker": [
        "ERROR:  fewer than 10 people", f" {ALICE}", "SQLSTATE DP002", "salary_of_alice ±", "SQLSTATE DP006",
        "SQLSTATE DP002", "salary_of_alice ±",
    ],
    "levels": [
        "psql, as uma", " Atlantis | Exploration | Talos       | U", " Voyager  |             |             | U",
        "psql, as cleo", " Atlantis | Exploration | Vega        | C ", " Voyager  |             | Mars        | C ",
        "psql, as sam", " Phantom  | S          | Spying      | S               | Rigel ",
        " Phantom  | U          | Supply ", "psql, as uma",
        " Phantom  | Supply      | Venus       | U", "SQLSTATE 42501",
    ],
    "personal": [
        'ERROR:  the budget of dataset "clinic.one_budget" is exhausted', "SQLSTATE DP003",
        "      |             1 |           1.0 |          0.0", "  80 | ", " youngest ",
        " 0 |        0.1 |    887",
    ],
    "release": [" 1", "   4208 |   521", " 10 | 3 |", " 10", "   4208 |     0", "SQLSTATE DP008"],
    "synthetic": [
        "NOTICE:  epsilon 2 spent", " 2.0 ", "  1 | name 1 ", " synthetic ", "SQLSTATE DP003",
        "      |             3 |             2 |            1",
    ],
    "sealed": [
        " what_the_disk_holds", " 01", "psql, as eric", " t      |        0", "which is not open",
        'ERROR:  the secret does not open key "wages"', " all_salaries_are_there", " t", "psql, as postgres",
        "is damaged, or was sealed for another place",
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def stage(cluster: Cluster, template: str) -> Iterator[Cluster]:
    tour.set_stage(cluster)
    yield cluster
    tour.strike(cluster)


def test_every_chapter_has_its_test() -> None:
    assert list(STORIES) == list(tour.CHAPTERS)


@pytest.mark.parametrize("chapter", STORIES)
def test_a_chapter_comes_to_its_end(stage: Cluster, chapter: str) -> None:
    out = io.StringIO()
    tour.play(stage, chapter, out)
    shown = out.getvalue()
    lines = iter(shown.splitlines())
    for told in STORIES[chapter]:
        assert any(told in line for line in lines), f"{told}, in this order, in:\n{shown}"
    assert "\033" not in shown
    assert len(shown.splitlines()) < 85
    if chapter == "tracker":
        assert shown.count(ALICE) == 1  # on the plain table, and nowhere else


def test_colours_tell_what_was_typed_from_what_was_said() -> None:
    script = [line for line in tour.CHAPTERS["budget"].read_text().splitlines() if line]
    said = [*script, "ERROR:  no", "HINT:  ask less", " count "]
    painted = list(tour.painted(said, "budget", coloured=True))
    assert painted[-3:] == ["\033[31mERROR:  no\033[0m", "\033[33mHINT:  ask less\033[0m", " count "]
    assert "\033[36m-- Refusals are logged, too.\033[0m" in painted
    assert "\033[1mSET discreet.epsilon = 0.4;\033[0m" in painted


def test_an_unknown_chapter_is_answered_with_the_known_ones() -> None:
    command = [sys.executable, str(ROOT / "demo" / "tour.py"), "sideways"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert all(f"  {chapter} " in done.stderr for chapter in tour.CHAPTERS)


def test_a_question_mark_lists_the_chapters_and_installs_nothing() -> None:
    command = ["make", "-s", "-C", str(ROOT), "demo", "CHAPTER=?"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(tour.CHAPTERS)


def test_results_that_hold_nothing_are_left_out() -> None:
    nothing = [" protect | grant_budget ", "---------+--------------", "         | ", ""]
    something = [" count ", "-------", "     7", ""]
    no_rows = [" count ", "-------", ""]
    assert list(tour.telling(["SELECT 1;", *nothing, *something, *no_rows, "SELECT 2;"])) == [
        "SELECT 1;", "", *something, *no_rows, "SELECT 2;"
    ]  # fmt: skip
