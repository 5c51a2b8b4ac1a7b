"""A budget over time, with what is ahead, as SVG."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from discreet.core.page import path, svg, text
from discreet.ops.forecast import Forecast, Spending

WIDTH, HEIGHT = 420, 170
LEFT, RIGHT, TOP, BOTTOM = 42, 12, 12, 24
PART_AHEAD = 0.5


def budget_chart(spending: Spending, ahead: Forecast, now: datetime) -> str:
    """Shares of the budget, in steps; dotted what is ahead, as long as a third of the picture at most."""
    begin = min(spending.first, now - timedelta(minutes=1))
    end = now if ahead.end is None or ahead.end <= now else min(ahead.end, now + PART_AHEAD * (now - begin))

    def x(moment: datetime) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * ((moment - begin) / (end - begin))

    def y(share: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    drawn = [piece for share in (0.0, 0.5) for piece in (path(f"M{LEFT} {y(share):.1f}H{WIDTH - RIGHT}", "grid"),)]
    drawn += [text(LEFT - 6, y(share) + 4, f"{share:.0%}", "end", "soft") for share in (0.0, 0.5, 1.0)]
    drawn.append(path(f"M{LEFT} {y(1):.1f}H{WIDTH - RIGHT}", "mark"))
    steps = f"M{x(begin):.1f} {y(0):.1f}" + "".join(
        f"H{x(moment):.1f}V{y(min(float(share), 1.0)):.1f}" for moment, share in spending.steps
    )
    steps += f"H{x(now):.1f}"
    drawn += [path(f"{steps}V{y(0):.1f}Z", "area"), path(steps, "line")]
    if ahead.end is not None and end > now:
        spent = float(spending.spent)
        reached = spent + (1 - spent) * ((end - now) / (ahead.end - now))
        drawn.append(path(f"M{x(now):.1f} {y(spent):.1f}L{x(end):.1f} {y(reached):.1f}", "ahead"))
    drawn += dates(begin, now, end, x)
    return svg(WIDTH, HEIGHT, drawn, "Share of the budget spent over time")


def dates(begin: datetime, now: datetime, end: datetime, x: Callable[[datetime], float]) -> list[str]:
    """Under the axis: where it begins, now, and where it ends when there is room."""
    form = "%Y-%m-%d" if end - begin >= timedelta(days=2) else "%H:%M"
    y = HEIGHT - 6
    drawn = [text(LEFT, y, f"{begin:{form}}", "start", "soft")]
    if end > now:
        drawn.append(text(WIDTH - RIGHT, y, f"{end:{form}}", "end", "soft"))
        drawn.append(path(f"M{x(now):.1f} {TOP}V{HEIGHT - BOTTOM}", "grid"))
        if x(now) < WIDTH - RIGHT - 95:
            drawn.append(text(x(now), y, "now", "middle", "soft"))
    else:
        drawn.append(text(WIDTH - RIGHT, y, "now", "end", "soft"))
    return drawn
