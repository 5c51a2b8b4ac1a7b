"""When a budget ends: a straight line through what was spent of late."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from discreet.ops.forecast import Spending, forecast

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def spending(days_ago: float, spent: str, recent: str) -> Spending:
    first = NOW - timedelta(days=days_ago)
    return Spending(first, NOW, ((first, Fraction(spent) / 2), (NOW, Fraction(spent))), Fraction(recent))


def test_the_rate_of_the_last_weeks_goes_on() -> None:
    # a quarter in the 30 days before now, half is left: 60 days more
    found = forecast(spending(300, "1/2", "1/4"), NOW)
    assert found.end == NOW + timedelta(days=60)
    assert found.told == "At the rate of the last 30 days used up on about 30 April 2026, in 60 days."


def test_a_short_history_is_its_own_window() -> None:
    assert forecast(spending(3, "3/10", "3/10"), NOW).end == NOW + timedelta(days=7)


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (None, "Nothing has been spent yet."),
        (spending(40, "1", "1/2"), "Used up on 1 March 2026."),
        (spending(0.5, "1/2", "1/2"), "too early to tell"),
        (spending(90, "1/2", "0"), "at this rate it does not end"),
        (spending(90, "1/1000", "1/1000000"), "more than ten years"),
    ],
)
def test_what_cannot_be_foretold_is_said(before: Spending | None, told: str) -> None:
    found = forecast(before, NOW)
    assert told in found.told
    assert found.end is None or found.end <= NOW
