"""When a budget ends, if it is spent on as it was of late."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

WINDOW = timedelta(days=30)
SHORTEST = timedelta(days=1)
FARTHEST = timedelta(days=3650)


@dataclass(frozen=True)
class Spending:
    """What was spent of a budget, as shares of it: `steps` are moments with all that was spent by then, in order.

    `recent`: spent within WINDOW before now.
    """

    first: datetime
    last: datetime
    steps: tuple[tuple[datetime, Fraction], ...]
    recent: Fraction

    @property
    def spent(self) -> Fraction:
        return self.steps[-1][1]


@dataclass(frozen=True)
class Forecast:
    """In words; `end`: when nothing is left, where that is known."""

    told: str
    end: datetime | None = None


def forecast(spending: Spending | None, now: datetime) -> Forecast:
    """A straight line through the last WINDOW, or through all there is when that is less."""
    if spending is None or spending.spent == 0:
        return Forecast("Nothing has been spent yet.")
    if spending.spent >= 1:
        return Forecast(f"Used up on {day(spending.last)}.", spending.last)
    span = min(WINDOW, now - spending.first)
    if span < SHORTEST:
        return Forecast("First spent from less than a day ago: too early to tell when it ends.")
    if spending.recent == 0:
        return Forecast(f"Nothing was spent in the last {WINDOW.days} days: at this rate it does not end.")
    left = (1 - spending.spent) / spending.recent * Fraction(span / timedelta(seconds=1))
    if left > FARTHEST / timedelta(seconds=1):
        return Forecast(f"At the rate of the last {days(span)} it lasts for more than ten years.")
    ahead = timedelta(seconds=float(left))
    end = now + ahead
    return Forecast(f"At the rate of the last {days(span)} used up on about {day(end)}, in {days(ahead)}.", end)


def day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def days(span: timedelta) -> str:
    number = max(round(span / timedelta(days=1)), 1)
    return f"{number} day" if number == 1 else f"{number} days"
