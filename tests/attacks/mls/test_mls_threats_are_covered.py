"""The section Levels of docs/threats.md is the index of these tests."""

import re
from collections import Counter
from pathlib import Path

from dev.cluster import ROOT

ROW = re.compile(r"^\| (?P<attack>[^|]+) \| (?P<stop>[^|]+) \| (?P<test>test_mls_\w+\.py) \|$", re.MULTILINE)
SECTION = (ROOT / "docs" / "threats.md").read_text().partition("\n## Levels\n")[2].partition("\n## ")[0]
LISTED = [row["test"] for row in ROW.finditer(SECTION)]
PRESENT = {file.name for file in Path(__file__).parent.glob("test_mls_*.py")} - {Path(__file__).name}


def test_every_attack_on_levels_has_its_file_and_every_file_its_attack() -> None:
    assert set(LISTED) == PRESENT
    assert len(LISTED) > 20


def test_no_row_of_the_section_is_overlooked() -> None:
    """A row that is written otherwise than the pattern would be checked by nobody."""
    assert len(LISTED) == len(re.findall(r"^\| (?!attack )", SECTION, re.MULTILINE))
    assert [name for name, times in Counter(LISTED).items() if times > 1] == []
