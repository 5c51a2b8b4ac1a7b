"""The page of a release: complete in itself, well-formed, and nothing in it is read as markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

from discreet.release.page import page


def report(**changed: Any) -> dict[str, Any]:
    risk = {
        "prosecutor risk, highest": 1.0, "prosecutor risk, average": 0.5, "share of sample uniques": 0.25,
        "share of rows above risk 0.2": 0.75,
    }  # fmt: skip
    usual = {
        "release": "hr.released", "relation": "hr.person", "method": "optimal", "published": 95, "suppressed": 5,
        "classes": 10, "k": 5, "l": 3, "t": None, "claim": {"k": 5, "l": 3, "t": None}, "loss": 0.25,
        "columns": [{"column": "age", "level": "intervals of 5", "loss": 0.25}],
        "sizes_before": [[1, 25], [3, 25]], "sizes": [[5, 3], [40, 2]],
        "risk_before": risk, "risk": {name: value / 10 for name, value in risk.items()}, "why": "it is so; really",
    }  # fmt: skip
    return usual | changed


def test_a_page_is_well_formed_and_asks_nobody_for_anything() -> None:
    html = page(report())
    ElementTree.fromstring(html.removeprefix("<!DOCTYPE html>\n").replace('<meta charset="utf-8">', ""))
    assert not re.search(r"(src|href)=|@import|url\(|<script", html)
    assert html.count("<svg") == 3


def test_bars_are_as_long_as_what_they_stand_for() -> None:
    html = page(report())
    heights = [float(height) for height in re.findall(r'height="([\d.]+)"><title>', html)]
    # rows by size: 25 of 1, 75 of 2-3 before; 15 of 4-7, 80 of 32-63 after; the highest is 180
    assert heights[:4] == [round(180 * 25 / 80, 1), 0, round(180 * 75 / 80, 1), 0]
    assert heights[-1] == 180


def test_names_are_not_read_as_markup() -> None:
    html = page(report(release="<script>alert(1)</script>", columns=[{"column": "<b>&", "level": "<i>", "loss": 1}]))
    assert "<script>alert" not in html
    assert "&lt;b&gt;&amp;" in html


def test_l_and_t_are_shown_when_they_were_measured() -> None:
    assert "</b>t</div>" not in page(report())
    assert "<b>0.125</b>t" in page(report(t=0.125))
