"""What happened in an installation, as one HTML page for a curator."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from statistics import median

from discreet.core.codes import CODES
from discreet.core.page import (
    bar,
    document,
    facts,
    heading,
    paragraph,
    path,
    percent,
    short,
    shortened,
    svg,
    table,
    text,
)
from discreet.ops.chart import budget_chart
from discreet.ops.forecast import Spending, day, forecast

WIDTH = 640
MOST_BARS, MOST_DOTS, MOST_LETTERS, MOST_PERIODS = 15, 300, 48, 60
# periods without a date, as the ledger calls them
UNDATED = ("undated", "lifetime")
STYLE = """
body{max-width:1000px}h2{margin-top:2.4em;border-top:1px solid var(--rest);padding-top:1em}h3{font-size:1em;margin:0}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,29em),1fr));gap:1.2em;margin-top:1em}
.card{border:1px solid var(--rest);border-radius:8px;padding:1em}.card .note{font-size:.9em}.plot{max-width:800px}
table{border-collapse:collapse;margin:.8em 0;font-size:.93em}th{font-weight:600;text-align:left;color:var(--soft)}
th,td{padding:.25em 1.2em .25em 0;border-bottom:1px solid var(--rest);vertical-align:top}.number{text-align:right;
font-variant-numeric:tabular-nums}.wide{overflow-x:auto}svg .line{fill:none;stroke:var(--main);stroke-width:2}
svg .area{fill:var(--main);opacity:.18}svg .ahead{fill:none;stroke:var(--main);stroke-width:2;stroke-dasharray:2 4}
svg .grid{stroke:var(--rest);fill:none}svg .dot{fill:var(--main);opacity:.55}
svg .tick{stroke:var(--warn);stroke-width:3}
"""


@dataclass(frozen=True)
class Budget:
    """A limit and what is spent of it; `role` None: the dataset's own."""

    dataset: str
    role: str | None
    limit: Fraction
    spent: Fraction


@dataclass(frozen=True)
class Kept:
    """What is kept for a role, of each period where the dataset has some, and is not spent."""

    role: str
    epsilon: Fraction
    until: datetime | None


@dataclass(frozen=True)
class Period:
    """What a period has, by the name that the ledger gives it, and what is spent and kept of it."""

    name: str
    limit: Fraction
    spent: Fraction
    kept: Fraction = Fraction(0)


@dataclass(frozen=True)
class Dataset:
    """`spending`: of the dataset, or of the period `current` where it has `periods`."""

    name: str
    accounting: str
    tables: int
    policies: str
    own: Budget
    roles: tuple[Budget, ...]
    spending: Spending | None
    kept: tuple[Kept, ...] = ()
    periods: tuple[Period, ...] = ()
    current: str | None = None


@dataclass(frozen=True)
class Asker:
    role: str
    answered: int
    refused: int
    epsilon: Fraction


@dataclass(frozen=True)
class Exactness:
    """Of one kind of number in one dataset; `relative`: of each answer, as far as known."""

    dataset: str
    kind: str
    answers: int
    half_width: float
    relative: tuple[float, ...]


@dataclass(frozen=True)
class Multilevel:
    """`entities`: of which the curator sees versions that differ; None where the curator may not look, `why`."""

    table: str
    entities: int | None
    columns: Mapping[str, int]
    why: str = ""


@dataclass(frozen=True)
class Release:
    name: str
    source: str
    kind: str
    promise: str
    published: int | None
    suppressed: int | None
    loss: float | None
    at: datetime


@dataclass(frozen=True)
class History:
    """All that the page shows."""

    database: str
    curator: str
    now: datetime
    datasets: Sequence[Dataset]
    askers: Sequence[Asker]
    refusals: Sequence[tuple[str, int, datetime]]
    exactness: Sequence[Exactness]
    multilevel: Sequence[Multilevel]
    releases: Sequence[Release]


def page(history: History) -> str:
    title = f"discreet in {history.database}"
    by = f"{history.now:%Y-%m-%d %H:%M} UTC, as {history.curator} may see it"
    answered = sum(asker.answered for asker in history.askers)
    refused = sum(asker.refused for asker in history.askers)
    parts = [
        heading(title, 1),
        paragraph(by, "note"),
        facts(
            [
                ("datasets", f"{len(history.datasets):,}"),
                ("protected tables", f"{sum(each.tables for each in history.datasets):,}"),
                ("questions paid for", f"{answered:,}"),
                ("refused", f"{refused:,}"),
                ("roles that asked", f"{len(history.askers):,}"),
                ("multilevel tables", f"{len(history.multilevel):,}"),
                ("releases", f"{len(history.releases):,}"),
            ]
        ),
        heading("Budgets"),
        budgets(history.datasets, history.now),
        heading("Questions by role"),
        questions(history.askers),
        heading("Refusals"),
        refusals(history.refusals),
        heading("Accuracy achieved"),
        accuracy(history.exactness),
        heading("Multilevel tables"),
        multilevel(history.multilevel),
        heading("Releases"),
        releases(history.releases),
    ]
    return document(title, parts, STYLE)


def decimal(number: Fraction) -> str:
    return f"{float(number):.4g}"


def whole(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def budgets(datasets: Sequence[Dataset], now: datetime) -> str:
    if not datasets:
        return paragraph("There is no dataset yet: discreet.protect() makes the first.")
    return '<div class="cards">' + "".join(card(dataset, now) for dataset in datasets) + "</div>"


def card(dataset: Dataset, now: datetime) -> str:
    ahead = forecast(dataset.spending, now)
    own = dataset.own
    tables = "1 table" if dataset.tables == 1 else f"{dataset.tables} tables"
    policies = f" ({dataset.policies})" if dataset.policies else ""
    where = " in the period of which least is left" if dataset.periods else ""
    told = (
        f"epsilon {decimal(own.spent)} of {decimal(own.limit)} spent{where}, {dataset.accounting}; {tables}{policies}"
    )
    parts = [heading(dataset.name, 3), paragraph(told, "note")]
    if dataset.periods:
        parts.append(strip_of_periods(dataset.periods, dataset.current))
    if dataset.spending is not None:
        parts.append(budget_chart(dataset.spending, ahead, now))
    parts.append(paragraph(ahead.told if dataset.current is None else f"Period {dataset.current}: {ahead.told}"))
    parts += [
        paragraph(f"Kept for {each.role}{until(each.until)}: epsilon {decimal(each.epsilon)}") for each in dataset.kept
    ]
    if dataset.roles:
        parts.append(shares(dataset.roles))
    return '<div class="card">' + "".join(parts) + "</div>"


def until(moment: datetime | None) -> str:
    return "" if moment is None else f" until {moment:%Y-%m-%d %H:%M} UTC"


def strip_of_periods(periods: Sequence[Period], current: str | None) -> str:
    """A column for each dated period, the last ones if there are many; below them the two that have no date."""
    dated = [period for period in periods if period.name not in UNDATED][-MOST_PERIODS:]
    others = [period for period in periods if period.name in UNDATED]
    drawn, width, height = [], 420 / max(len(dated), 12), 60
    for place, period in enumerate(dated):
        x, used, kept = place * width, min(period.spent / period.limit, Fraction(1)), period.kept / period.limit
        spent, free = height * float(used), height * float(max(1 - used - kept, Fraction(0)))
        told = f"{period.name}: epsilon {decimal(period.spent)} of {decimal(period.limit)} spent"
        told += f", {decimal(period.kept)} kept" if period.kept else ""
        drawn.append(bar(x, 0, width - 1, free, "rest", told))
        drawn.append(bar(x, free, width - 1, height - spent - free, "other", told))
        kind = "warn" if used > Fraction(9, 10) else "main"
        drawn.append(bar(x, height - spent, width - 1, spent, kind, told))
        if period.name == current:
            drawn.append(path(f"M{x:.1f} {height + 2}H{x + width - 1:.1f}", "tick"))
    if dated:
        drawn.append(text(0, height + 16, dated[0].name, kind="soft"))
    if len(dated) > 1:
        drawn.append(
            text(len(dated) * width, height + 16, dated[-1].name, "end" if len(dated) > 6 else "start", "soft")
        )
    for place, period in enumerate(others):
        y, used = height + 24 + 24 * place, min(period.spent / period.limit, Fraction(1))
        drawn.append(text(0, y + 15, period.name))
        drawn.append(bar(140, y + 5, 170, 12, "rest"))
        drawn.append(bar(140, y + 5, 170 * float(used), 12, "warn" if used > Fraction(9, 10) else "main"))
        drawn.append(text(320, y + 15, f"{decimal(period.spent)} of {decimal(period.limit)}"))
    return svg(420, height + 24 + 24 * len(others), drawn, "What is spent of each period")


def shares(roles: Sequence[Budget]) -> str:
    """What each role has used of its own limit."""
    width, drawn = 420, []
    for place, budget in enumerate(roles):
        y, used = 24 * place, min(budget.spent / budget.limit, Fraction(1))
        drawn.append(text(0, y + 15, shortened(budget.role or "", 20)))
        drawn.append(bar(140, y + 5, 170, 12, "rest"))
        drawn.append(bar(140, y + 5, 170 * float(used), 12, "warn" if used > Fraction(9, 10) else "main"))
        drawn.append(text(320, y + 15, f"{decimal(budget.spent)} of {decimal(budget.limit)}"))
    return svg(width, 24 * len(roles), drawn, "What each role has spent of its limit")


def questions(askers: Sequence[Asker]) -> str:
    if not askers:
        return paragraph("No question was asked yet.")
    ranked = sorted(askers, key=lambda asker: (-asker.answered - asker.refused, asker.role))
    shown, rest = ranked[:MOST_BARS], ranked[MOST_BARS:]
    if rest:
        others = Asker(
            f"{len(rest)} others",
            sum(asker.answered for asker in rest),
            sum(asker.refused for asker in rest),
            sum((asker.epsilon for asker in rest), Fraction(0)),
        )
        shown = [*shown, others]
    unit = (WIDTH - 370) / max(asker.answered + asker.refused for asker in shown)
    drawn = []
    for place, asker in enumerate(shown):
        y = 26 * place
        end = 140 + unit * (asker.answered + asker.refused)
        drawn.append(text(0, y + 16, shortened(asker.role, 20)))
        drawn.append(bar(140, y + 4, unit * asker.answered, 16, "main", f"{asker.answered:,} answered"))
        drawn.append(
            bar(140 + unit * asker.answered, y + 4, unit * asker.refused, 16, "warn", f"{asker.refused:,} refused")
        )
        told = f"{asker.answered:,} paid, {asker.refused:,} refused, epsilon {decimal(asker.epsilon)}"
        drawn.append(text(end + 6, y + 16, told, kind="soft"))
    return paragraph(
        "Questions that were paid for (blue) and refused (orange). What comes from the store is not counted."
    ) + plot(26 * len(shown), drawn, "Questions by role")


def plot(height: float, drawn: Sequence[str], told: str) -> str:
    return '<div class="plot">' + svg(WIDTH, height, drawn, told) + "</div>"


def refusals(found: Sequence[tuple[str, int, datetime]]) -> str:
    if not found:
        return paragraph("Nothing was refused.")
    unit = (WIDTH - 450) / max(number for _, number, _ in found)
    drawn = []
    for place, (code, number, last) in enumerate(found):
        y = 26 * place
        meaning = CODES[code].meaning if code in CODES else ""
        drawn.append(text(0, y + 16, shortened(f"{code}  {meaning}", MOST_LETTERS)))
        drawn.append(bar(310, y + 4, unit * number, 16, "warn"))
        drawn.append(text(316 + unit * number, y + 16, f"{number:,}, last on {last:%Y-%m-%d}", kind="soft"))
    return plot(26 * len(found), drawn, "Refusals by code")


def accuracy(found: Sequence[Exactness]) -> str:
    if not found:
        return paragraph("No noisy answer was given yet.")
    head = ["dataset", "kind", "answers", "median 95 % error", "as a share of the number"]
    rows = [
        [
            each.dataset,
            each.kind,
            f"{each.answers:,}",
            f"±{short(each.half_width)}",
            f"±{percent(median(each.relative))}" if each.relative else "",
        ]
        for each in found
    ]
    words = (
        "By how much answers were off at most, with 95 %: a column of an answer counts once, by the median of its rows."
    )
    drawn = [each for each in found if any(each.relative)]
    strip = strips(drawn) if drawn else ""
    return paragraph(words) + strip + '<div class="wide">' + table(head, rows, numbers=(2, 3, 4)) + "</div>"


def strips(found: Sequence[Exactness]) -> str:
    """A dot for every answer, on a logarithmic scale; the tick is the median."""
    lowest = min(share for each in found for share in each.relative if share)
    highest = max(share for each in found for share in each.relative)
    first, last = math.floor(math.log10(lowest)), math.ceil(math.log10(highest))
    last = max(last, first + 1)

    def across(share: float) -> float:
        return 200 + (WIDTH - 240) * (math.log10(share) - first) / (last - first)

    bottom = 28 * len(found)
    drawn = []
    for power in range(first, last + 1):
        x = across(10.0**power)
        drawn += [
            path(f"M{x:.1f} 0V{bottom + 4}", "grid"),
            text(x, bottom + 18, f"±{percent(10.0**power)}", "middle", "soft"),
        ]
    for place, each in enumerate(found):
        y = 28 * place + 14
        shown = [share for share in each.relative if share][:MOST_DOTS]
        drawn.append(text(0, y + 4, shortened(f"{each.kind} in {each.dataset}", 30)))
        drawn += [f'<circle class="dot" cx="{across(share):.1f}" cy="{y}" r="4"/>' for share in shown]
        x = across(median(shown))
        drawn.append(path(f"M{x:.1f} {y - 9}V{y + 9}", "tick"))
    return plot(bottom + 26, drawn, "Errors as shares of the numbers")


def multilevel(found: Sequence[Multilevel]) -> str:
    if not found:
        return paragraph("There is no multilevel table.")
    rows = []
    for each in found:
        columns = ", ".join(f"{name} ({number:,})" for name, number in each.columns.items())
        rows.append([each.table, whole(each.entities), columns if each.entities is not None else each.why])
    words = "Entities of which more than one version is visible at this session's label, and the columns that differ."
    return (
        paragraph(words) + '<div class="wide">' + table(["table", "entities", "columns"], rows, numbers=(1,)) + "</div>"
    )


def releases(found: Sequence[Release]) -> str:
    if not found:
        return paragraph("Nothing was released.")
    head = ["release", "of", "promise", "published", "left out", "loss", "on"]
    rows = [
        [
            f"{each.name} (view)" if each.kind == "view" else each.name,
            each.source,
            each.promise,
            whole(each.published),
            whole(each.suppressed),
            "" if each.loss is None else percent(each.loss),
            day(each.at),
        ]
        for each in found
    ]
    return '<div class="wide">' + table(head, rows, numbers=(3, 4, 5)) + "</div>"
