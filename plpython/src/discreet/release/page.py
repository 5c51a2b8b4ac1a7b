"""The report of a release as one HTML page that needs nothing but itself: plots are SVG, inline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

WIDTH, BAR, GAP = 560, 26, 8
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:640px;margin:2em auto;padding:0 1em;color:#1c2530;background:#fff}
h1{font-size:1.5em;margin:0}h2{font-size:1.1em;margin:2em 0 .3em}p{margin:.3em 0}
.facts{display:flex;gap:1.2em;margin:1em 0;flex-wrap:wrap}.facts div{border-left:3px solid #2f6f9f;padding-left:.6em}
.facts b{display:block;font-size:1.4em}.note{color:#5b6775}svg text{font:12px system-ui,sans-serif;fill:#1c2530}
"""
BEFORE, AFTER, LOST, REST = "#b9c4cf", "#2f6f9f", "#c9632c", "#e9edf1"
RISKS = (
    "prosecutor risk, highest",
    "prosecutor risk, average",
    "share of sample uniques",
    "share of rows above risk 0.2",
)


def page(report: Mapping[str, Any]) -> str:
    """Everything that is shown comes from the report; texts are escaped."""
    title = f"Release {report['release']}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="note">of {escape(str(report["relation"]))}, by {escape(str(report["method"]))} recoding</p>',
        _facts(report),
        "<h2>Sizes of classes</h2>",
        "<p>Rows by the size of the class they are in, before (grey) and after.</p>",
        _sizes(report["sizes_before"], report["sizes"], int(report["claim"]["k"])),
        "<h2>Risk</h2>",
        _risks(report["risk_before"], report["risk"]),
        "<h2>What was lost</h2>",
        "<p>Of each column: values that can no longer be told apart, as a share of all; 100 % is nothing left.</p>",
        _losses(report["columns"]),
        "<h2>Why no less</h2>",
        *(f"<p>{escape(sentence)}.</p>" for sentence in str(report["why"]).split("; ")),
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _facts(report: Mapping[str, Any]) -> str:
    facts = [("rows published", f"{report['published']:,}"), ("left out", f"{report['suppressed']:,}")]
    facts += [("classes", f"{report['classes']:,}"), ("k", str(report["k"]))]
    facts += [(name, f"{report[name]:.3g}") for name in ("l", "t") if report[name] is not None]
    facts.append(("loss", percent(report["loss"])))
    return '<div class="facts">' + "".join(f"<div><b>{value}</b>{name}</div>" for name, value in facts) + "</div>"


def percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _bins(sizes: Sequence[Sequence[int]]) -> dict[int, int]:
    """Rows by the power of two below the size of their class."""
    rows: dict[int, int] = {}
    for size, classes in sizes:
        power = int(math.log2(size))
        rows[power] = rows.get(power, 0) + size * classes
    return rows


def _sizes(before: Sequence[Sequence[int]], after: Sequence[Sequence[int]], k: int) -> str:
    old, new = _bins(before), _bins(after)
    powers = range(min([*old, *new]), max([*old, *new]) + 1)
    highest = max([*old.values(), *new.values()])
    height, bottom = 180, 205
    step = WIDTH / len(powers)
    bars = []
    for place, power in enumerate(powers):
        for rows, colour, offset in ((old.get(power, 0), BEFORE, 0.1), (new.get(power, 0), AFTER, 0.5)):
            tall = height * rows / highest
            bars.append(
                f'<rect x="{(place + offset) * step:.1f}" y="{bottom - tall:.1f}" width="{0.38 * step:.1f}"'
                f' height="{tall:.1f}" fill="{colour}"><title>{rows:,} rows</title></rect>'
            )
        low, high = 2**power, 2 ** (power + 1) - 1
        name = f"{low}" if low == high else f"{low}–{high}" if high < 1000 else f"{low:,}+"
        bars.append(f'<text x="{(place + 0.5) * step:.1f}" y="{bottom + 16}" text-anchor="middle">{name}</text>')
    at = (math.log2(k) - powers[0]) * step
    bars.append(f'<path d="M{at:.1f} 8V{bottom}" stroke="{LOST}" stroke-dasharray="4 3"/>')
    bars.append(f'<text x="{at + 4:.1f}" y="16">k = {k}</text>')
    return _svg(bottom + 24, bars)


def _svg(height: float, inside: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" width="100%">'
        + "".join(inside)
        + "</svg>"
    )


def _risks(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    drawn = []
    y = 0
    for name in RISKS:
        drawn.append(f'<text x="0" y="{y + 14}">{escape(name)}</text>')
        for value, colour, offset in ((before[name], BEFORE, 20), (after[name], AFTER, 34)):
            drawn.append(
                f'<rect x="0" y="{y + offset}" width="{(WIDTH - 70) * value:.1f}" height="11" fill="{colour}"/>'
            )
            drawn.append(f'<text x="{(WIDTH - 70) * value + 5:.1f}" y="{y + offset + 10}">{percent(value)}</text>')
        y += 56
    return _svg(y, drawn)


def _losses(columns: Sequence[Mapping[str, Any]]) -> str:
    drawn = []
    for place, column in enumerate(columns):
        y = place * (BAR + GAP)
        lost = (WIDTH - 290) * float(column["loss"])
        drawn.append(f'<text x="0" y="{y + 17}">{escape(str(column["column"]))}</text>')
        drawn.append(f'<rect x="120" y="{y + 4}" width="{WIDTH - 290}" height="18" fill="{REST}"/>')
        drawn.append(f'<rect x="120" y="{y + 4}" width="{lost:.1f}" height="18" fill="{LOST}"/>')
        shown = f"{percent(column['loss'])}, {column['level']}"
        drawn.append(
            f'<text x="{WIDTH - 162}" y="{y + 17}">{escape(shown if len(shown) < 26 else shown[:24] + "…")}</text>'
        )
    return _svg(len(columns) * (BAR + GAP), drawn)
