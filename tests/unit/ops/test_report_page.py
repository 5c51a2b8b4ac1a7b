"""The page of an installation: complete in itself, well-formed, true to its numbers, and no name is read as markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from discreet.ops.forecast import Spending
from discreet.ops.page import Asker, Budget, Dataset, Exactness, History, Kept, Multilevel, Period, Release, page

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FIRST = NOW - timedelta(days=20)
EMPTY = History("shop", "carol", NOW, [], [], [], [], [], [])
BAD = "<script>alert('x')</script>&\"é"


def history(name: str = "staff") -> History:
    own = Budget(name, None, Fraction(2), Fraction(1))
    spent = Spending(FIRST, NOW, ((FIRST, Fraction(1, 4)), (NOW, Fraction(1, 2))), Fraction(1, 2))
    dataset = Dataset(name, "pure", 1, "noisy", own, (replace(own, role=name, spent=Fraction(19, 10)),), spent)
    return History(
        name,
        name,
        NOW,
        [dataset, Dataset("never asked", "zcdp", 0, "", replace(own, spent=Fraction(0)), (), None)],
        [Asker(name, 30, 10, Fraction(1)), Asker("idle", 0, 20, Fraction(0))],
        [("DP002", 5, NOW), (name, 2, NOW)],
        [Exactness(name, "count", 3, 12345.6, (0.01, 0.1, 20.0)), Exactness(name, "expression", 1, 2.0, ())],
        [Multilevel(name, 2, {name: 2, "b": 1}), Multilevel("hidden", None, {}, f"permission denied for {name}")],
        [Release(name, name, "view", "k = 5", None, None, None, NOW), Release("t", "s", "table", "", 95, 5, 0.25, NOW)],
    )


def parsed(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(html.removeprefix("<!DOCTYPE html>\n").replace('<meta charset="utf-8">', ""))


def words(html: str) -> str:
    return " ".join("".join(parsed(html).itertext()).split())


def test_a_page_is_well_formed_and_asks_nobody_for_anything() -> None:
    html = page(history())
    assert len(list(parsed(html).iter("{http://www.w3.org/2000/svg}svg"))) == 5
    assert not re.search(r"(src|href)=|@import|url\(|<script", html)
    assert "prefers-color-scheme:dark" in html


def test_an_empty_installation_says_so() -> None:
    told = words(page(EMPTY))
    assert "There is no dataset yet" in told
    assert "No question was asked yet" in told
    assert "Nothing was released" in told
    assert "<svg" not in page(EMPTY)


def test_names_are_not_read_as_markup() -> None:
    html = page(history(BAD))
    assert "<script" not in html
    assert BAD in "".join(parsed(html).itertext())


def test_numbers_are_told() -> None:
    told = words(page(history()))
    assert "epsilon 1 of 2 spent, pure; 1 table (noisy)" in told
    assert "At the rate of the last 20 days used up on about 21 March 2026, in 20 days." in told
    assert "30 paid, 10 refused, epsilon 1" in told
    assert "DP002 a question that singles out a person5, last on 2026-03-01" in told
    assert "±12,300" in told
    assert "±10 %" in told
    assert "permission denied for staff" in told


def test_bars_are_as_long_as_what_they_stand_for() -> None:
    html = page(history())
    widths = {
        title: float(width) for width, title in re.findall(r'width="([\d.]+)" height="16.0"><title>([^<]+)<', html)
    }
    assert widths["30 answered"] == 3 * widths["10 refused"]
    assert widths["20 refused"] == 2 * widths["10 refused"]


def test_many_roles_are_put_together() -> None:
    askers = [Asker(f"role {n}", 100 - n, 0, Fraction(1, 10)) for n in range(40)]
    told = words(page(replace(EMPTY, askers=askers)))
    assert "role 14" in told
    assert "role 15" not in told
    # the 25 others asked 85 to 61 questions
    assert "25 others" in told
    assert f"{sum(range(61, 86)):,} paid, 0 refused, epsilon 2.5" in told


def with_periods(number: int) -> History:
    periods = [Period(f"20{place:02}-01-01", Fraction(4), Fraction(place % 5), Fraction(1)) for place in range(number)]
    periods += [Period("lifetime", Fraction(8), Fraction(2)), Period("undated", Fraction(4), Fraction(4))]
    kept = (Kept("job", Fraction(1), NOW), Kept("other", Fraction(1, 2), None))
    (dataset, *_) = history().datasets
    dated = replace(dataset, periods=tuple(periods), kept=kept, current="2003-01-01")
    return replace(EMPTY, datasets=[dated])


def test_periods_are_a_strip_with_what_is_spent_and_kept_of_each() -> None:
    html = page(with_periods(5))
    told = words(html)
    assert "spent in the period of which least is left" in told
    assert "Period 2003-01-01: At the rate of the last 20 days used up on about 21 March 2026" in told
    assert "Kept for job until 2026-03-01 12:00 UTC: epsilon 1" in told
    assert "Kept for other: epsilon 0.5" in told
    assert "2003-01-01: epsilon 3 of 4 spent, 1 kept" in told
    heights = re.findall(
        r'class="(\w+)" [^>]* height="([\d.]+)"><title>2002-01-01: epsilon 2 of 4 spent, 1 kept<', html
    )
    assert heights == [("rest", "15.0"), ("other", "15.0"), ("main", "30.0")]
    assert "2 of 8" in told


def test_of_many_periods_the_last_are_shown() -> None:
    told = words(page(with_periods(90)))
    assert "2030-01-01: epsilon" in told
    assert "2089-01-01: epsilon" in told
    assert "2029-01-01: epsilon" not in told
