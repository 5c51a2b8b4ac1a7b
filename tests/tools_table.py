"""The table of tools in docs/tools.md: each line is what a test has measured.

`WRITE_TOOLS=1` before a make target writes the lines anew; otherwise they must be there as they are.
"""

from __future__ import annotations

import os
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tools.md"


def told(tool: str, what: str, looking: int, first: int, again: int, refused: str, friction: str = "") -> None:
    """A line: charges for looking around, for the first opening and for the next; what is refused, what hinders."""
    page = PAGE.read_text(encoding="utf-8")
    line = f"| {tool} | {what} | {looking} | {first} | {again} | {refused} | {friction or 'none'} |"
    if os.environ.get("WRITE_TOOLS"):
        start = f"| {tool} | "
        lines = page.splitlines()
        places = [place for place, old in enumerate(lines) if old.startswith(start)]
        # a new one goes to the end of the table
        end = max(place for place, old in enumerate(lines) if old.startswith("|"))
        if places:
            lines[places[0]] = line
        else:
            lines.insert(end + 1, line)
        PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    assert line in page.splitlines(), f"docs/tools.md does not say: {line}"
