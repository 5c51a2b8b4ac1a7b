"""The report of a release as one HTML page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from discreet.core.page import bar, document, facts, heading, paragraph, path, percent, shortened, svg, text
from discreet.core.syntax import Json

WIDTH, BAR, GAP = 560, 26, 8
RISKS = (
    "prosecutor risk, highest",
    "prosecutor risk, average",
    "share of sample uniques",
)


def page(report: Mapping[str, Json]) -> str:
    """Everything that is shown comes from the report."""
    title = f"Release {report['release']}"
    counted = "rows" if report.get("unit") is None else "people"
    parts = [
        heading(title, 1),
        paragraph(f"of {report['relation']}, by {report['method']} recoding", "note"),
        _facts(report),
        heading("Sizes of classes"),
        paragraph(f"{counted.capitalize()} by the size of the class they are in, before (grey) and after."),
        _sizes(report["sizes_before"], report["sizes"], int(report["claim"]["k"]), counted),
        heading("Risk"),
        _risks(report["risk_before"], report["risk"], [*RISKS, f"share of {counted} above risk 0.2"]),
        heading("What was lost"),
        paragraph("Of each column: values that can no longer be told apart, as a share of all; 100 % is nothing left."),
        _losses(report["columns"]),
        heading("Why no less"),
        *(paragraph(f"{sentence}.") for sentence in str(report["why"]).split("; ")),
    ]
    return document(title, parts)


def _facts(report: Mapping[str, Json]) -> str:
    named = [("rows published", f"{report['published']:,}"), ("left out", f"{report['suppressed']:,}")]
    named += [("classes", f"{report['classes']:,}"), ("k", str(report["k"]))]
    named += [(name, f"{report[name]:.3g}") for name in ("l", "t") if report[name] is not None]
    return facts([*named, ("loss", percent(report["loss"]))])


def _bins(sizes: Sequence[Sequence[int]]) -> dict[int, int]:
    """Rows by the power of two below the size of their class."""
    rows: dict[int, int] = {}
    for size, classes in sizes:
        power = int(math.log2(size))
        rows[power] = rows.get(power, 0) + size * classes
    return rows


def _sizes(before: Sequence[Sequence[int]], after: Sequence[Sequence[int]], k: int, counted: str) -> str:
    old, new = _bins(before), _bins(after)
    powers = range(min([*old, *new]), max([*old, *new]) + 1)
    highest = max([*old.values(), *new.values()])
    height, bottom = 180, 205
    step = WIDTH / len(powers)
    drawn = []
    for place, power in enumerate(powers):
        for rows, kind, offset in ((old.get(power, 0), "other", 0.1), (new.get(power, 0), "main", 0.5)):
            tall = height * rows / highest
            drawn.append(bar((place + offset) * step, bottom - tall, 0.38 * step, tall, kind, f"{rows:,} {counted}"))
        low, high = 2**power, 2 ** (power + 1) - 1
        name = f"{low}" if low == high else f"{low}–{high}" if high < 1000 else f"{low:,}+"
        drawn.append(text((place + 0.5) * step, bottom + 16, name, "middle"))
    at = (math.log2(k) - powers[0]) * step
    drawn += [path(f"M{at:.1f} 8V{bottom}", "mark"), text(at + 4, 16, f"k = {k}")]
    return svg(WIDTH, bottom + 24, drawn, f"{counted.capitalize()} by the size of their class")


def _risks(before: Mapping[str, float], after: Mapping[str, float], names: Sequence[str]) -> str:
    drawn = []
    y = 0
    for name in names:
        drawn.append(text(0, y + 14, name))
        for value, kind, offset in ((before[name], "other", 20), (after[name], "main", 34)):
            drawn.append(bar(0, y + offset, (WIDTH - 70) * value, 11, kind))
            drawn.append(text((WIDTH - 70) * value + 5, y + offset + 10, percent(value)))
        y += 56
    return svg(WIDTH, y, drawn, "Risks before and after")


def _losses(columns: Sequence[Mapping[str, Json]]) -> str:
    drawn = []
    for place, column in enumerate(columns):
        y = place * (BAR + GAP)
        drawn.append(text(0, y + 17, str(column["column"])))
        drawn.append(bar(120, y + 4, WIDTH - 290, 18, "rest"))
        drawn.append(bar(120, y + 4, (WIDTH - 290) * float(column["loss"]), 18, "warn"))
        drawn.append(text(WIDTH - 162, y + 17, shortened(f"{percent(column['loss'])}, {column['level']}", 25)))
    return svg(WIDTH, len(columns) * (BAR + GAP), drawn, "What was lost of each column")
