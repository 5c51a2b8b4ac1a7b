"""docs/threats.md is the index of the attacks: every row has its test, and every test its row, in its own section."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from attacks.page import AGAIN, ROW, not_tried
from dev.cluster import ROOT

PAGE = (ROOT / "docs" / "threats.md").read_text()
HERE = Path(__file__).parent
PRESENT = {file.name: file.parent.name for file in HERE.glob("*/test_*.py")}
# whose section is not one of the gate's
FOLDERS = {
    "dp_ aggregates": "dp",
    "The worker": "worker",
    "Personal budgets": "personal",
    "Audited answers": "audited",
    "Levels": "mls",
    "Rules": "rules",
    "Releases": "release",
    "Sealed columns": "sealed",
    "Synthetic tables": "synthesis",
}
SECTIONS = {text.partition("\n")[0]: text for text in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}
ATTACKS = [row["attack"] for row in ROW.finditer(PAGE)]
TESTS = [row["test"] for row in ROW.finditer(PAGE)]


def twice(names: list[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def test_every_attack_has_its_test_and_every_test_its_attack() -> None:
    assert set(TESTS) == set(PRESENT)
    assert len(TESTS) > 200


def test_no_test_stands_in_two_rows_and_no_attack_has_two() -> None:
    assert twice(TESTS) == twice(ATTACKS) == []


@pytest.mark.parametrize("section", SECTIONS)
def test_the_tests_of_a_section_are_in_one_folder(section: str) -> None:
    folders = {PRESENT[row["test"]] for row in ROW.finditer(SECTIONS[section])}
    assert folders <= {FOLDERS.get(section, "gate")}


@pytest.mark.parametrize("section", SECTIONS)
def test_no_row_is_overlooked(section: str) -> None:
    """One that is written otherwise than the pattern would be checked by nobody."""
    written = re.findall(r"^\| (?!attack )", SECTIONS[section], re.MULTILINE)
    assert len(written) == len(list(ROW.finditer(SECTIONS[section])))


def test_no_attack_but_the_laboratory_stands_outside_the_folders() -> None:
    assert {file.name for file in HERE.glob("test_*.py")} == {Path(__file__).name, "test_laboratory.py"}


def test_the_page_of_the_laboratory_lists_only_what_it_could_have_tried() -> None:
    assert len(AGAIN.findall(PAGE)) == 3
    listed = not_tried(PAGE, set())
    assert "test_gate_rollback.py" in listed
    assert not re.search(r"\btest_(personal|audited)_|\| test_rollback\.py", listed)
