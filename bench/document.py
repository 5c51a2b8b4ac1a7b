"""docs/benchmarks.md, made of all tables of results: by this alone with `python -m bench.document`."""

from __future__ import annotations

from pathlib import Path

RESULTS = Path(__file__).with_name("results")
DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

Written by `make bench` and `make bench-peers` from the folder bench/results, of which each part was measured
in one run, native SQL and discreet in turn. Medians; in brackets the middle half of the durations, or the range of the
rates. A *value* is the ratio of discreet to native SQL, where nothing else is named; *target* is what the project has
set itself before measuring.
"""


PICTURES = {"growth": "![Time of a question against rows, people, groups, sums, partitions and sessions](growth.svg)\n"}


def document() -> str:
    """The pages of all results, each a section; those beside peers come last."""
    pages = sorted(RESULTS.glob("*.md"), key=lambda page: (page.stem.startswith("peers"), page.stem))
    sections = [HEAD]
    for page in pages:
        sections += [
            page.read_text().replace("# ", "## ", 1),
            *([PICTURES[page.stem]] if page.stem in PICTURES else []),
        ]
    return "\n".join(sections)


def write_document() -> None:
    DOCUMENT.write_text(document())


if __name__ == "__main__":
    write_document()
