"""docs/reference.md is Markdown that renders: a row is one line, with as many cells as the head of its table."""

from __future__ import annotations

import re

from dev.cluster import ROOT
from dev.reference import error_codes, lint_codes

from discreet.core.codes import CODES

PAGE = (ROOT / "docs" / "reference.md").read_text()
SECTIONS = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]


def cells(row: str) -> int:
    return len(re.findall(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", row))) - 1


def test_every_row_of_a_table_begins_with_a_bar() -> None:
    assert len(SECTIONS) >= 8
    for section in SECTIONS:
        title, empty, head, rule, *rows = section.rstrip("\n").split("\n")
        assert (empty, cells(rule)) == ("", cells(head)), title
        assert rows, title
        assert [row for row in rows if not row.startswith("| ") or cells(row) != cells(head)] == [], title


def test_error_codes_are_in_the_page() -> None:
    assert error_codes() in PAGE
    assert lint_codes() in PAGE
    assert [f"| `{code}` | " in error_codes() for code in CODES] == [True] * len(CODES)
