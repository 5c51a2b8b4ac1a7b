"""docs/benchmarks.md says what was measured last, for every part that was measured."""

from __future__ import annotations

from bench.document import DOCUMENT, RESULTS, document


def test_the_page_is_made_of_all_results() -> None:
    assert DOCUMENT.read_text() == document(), "python -m bench.document writes it anew"


def test_every_table_of_results_is_a_section() -> None:
    titles = [page.read_text().splitlines()[0].removeprefix("# ") for page in RESULTS.glob("*.md")]
    sections = [line.removeprefix("## ") for line in DOCUMENT.read_text().splitlines() if line.startswith("## ")]
    assert set(titles) <= set(sections)
    assert len(titles) > 10
