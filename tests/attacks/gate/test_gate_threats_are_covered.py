"""docs/threats.md is the index of these tests: every attack has its file, and every file its attack."""

import re
from collections import Counter
from pathlib import Path

from dev.cluster import ROOT

ROW = re.compile(r"^\| (?P<attack>[^|]+) \| (?P<stop>[^|]+) \| (?P<test>test_gate_\w+\.py) \|$", re.MULTILINE)
PAGE = (ROOT / "docs" / "threats.md").read_text()
LISTED = [row["test"] for row in ROW.finditer(PAGE)]
PRESENT = {file.name for file in Path(__file__).parent.glob("test_gate_*.py")} - {Path(__file__).name}


def test_every_attack_of_the_threat_model_has_its_file() -> None:
    assert set(LISTED) - PRESENT == set()


def test_every_file_is_an_attack_of_the_threat_model() -> None:
    assert PRESENT - set(LISTED) == set()


def test_no_row_of_the_page_is_overlooked() -> None:
    """A row that is written otherwise than the pattern would be checked by nobody."""
    assert len(LISTED) == len(re.findall(r"^\| (?!attack |.*\| test_(?!gate_))", PAGE, re.MULTILINE)) > 90
    assert [name for name, times in Counter(LISTED).items() if times > 1] == []
