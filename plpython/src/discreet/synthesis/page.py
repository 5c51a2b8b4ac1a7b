"""The report of synthetic tables as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.core.errors import InvalidParameterError
from discreet.core.page import bar, document, facts, heading, paragraph, percent, short, shortened, svg, table, text
from discreet.core.syntax import Json

WIDTH, BAR, GAP, TALL = 560, 18, 6, 60
MOST_SHOWN = 60


def page(report: Mapping[str, Json]) -> str:
    """Everything that is shown comes from the report, and so was paid for."""
    try:
        return document("Synthetic tables", _parts(report))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidParameterError(
            "this is not a report of synthesize()", "Keep what the function returned, and give it as it is."
        ) from None


def _parts(report: Mapping[str, Json]) -> list[str]:
    rows = [(str(name), f"{int(made['rows']):,}") for name, made in report["tables"].items()]
    parts = [
        heading("Synthetic tables", 1),
        paragraph("Rows that belong to no real person, drawn from a model of noisy counts.", "note"),
        facts([
            ("epsilon", short(float(report["epsilon"]))), ("delta", short(float(report["delta"]))),
            ("dataset", str(report["dataset"])), ("seconds", short(float(report["seconds"]))),
        ]),
        table(("table", "rows"), rows, (1,)),
    ]  # fmt: skip
    for model in report["models"]:
        parts += _model(model)
    if report["notes"]:
        parts += [heading("What is not as in the source"), *(paragraph(f"{note}.") for note in report["notes"])]
    return parts


def _model(model: Mapping[str, Json]) -> list[str]:
    measured: Sequence[Mapping[str, Json]] = model["measured"]
    several = [each for each in measured if len(each["columns"]) > 1]
    single = [each for each in measured if len(each["columns"]) == 1]
    about = f"About {int(model['rows']):,} rows, at most {int(model['rows_per_person'])} of a person."
    parts = [heading(shortened(", ".join(map(str, model["attributes"])), 90)), paragraph(about)]
    parts += [paragraph("Columns alone, as they were measured, noise included."), _histograms(single)]
    if several:
        words = "Columns together that were measured: the mean error by noise, as a part of all rows."
        parts += [paragraph(words), _errors(several)]
    others = sorted((each for each in model["expected"] if each["error"] is not None), key=lambda each: -each["error"])
    if others:
        words = "Pairs that were not measured: the error to be expected, at most, as a part of all rows."
        shown = f" The largest {MOST_SHOWN} of {len(others)}." if len(others) > MOST_SHOWN else ""
        parts += [paragraph(words + shown), _errors(others)]
    unknown = len(model["expected"]) - len(others)
    if unknown:
        parts.append(paragraph(f"{unknown} pairs have too many combinations to be counted; nothing is known.", "note"))
    return parts


def _histograms(measured: Sequence[Mapping[str, Json]]) -> str:
    drawn = []
    step = TALL + 22
    for place, each in enumerate(measured[:MOST_SHOWN]):
        counts = [max(0.0, float(count)) for count in each["counts"]]
        highest = max([*counts, 1.0])
        wide = (WIDTH - 130) / max(len(counts), 1)
        bottom = place * step + TALL + 4
        drawn.append(text(0, bottom, shortened(str(each["columns"][0]), 18)))
        for nth, count in enumerate(counts):
            tall = TALL * count / highest
            drawn.append(bar(130 + nth * wide, bottom - tall, 0.9 * wide, tall, "main", short(count)))
    return svg(WIDTH, min(len(measured), MOST_SHOWN) * step, drawn, "Noisy counts of each column")


def _errors(measured: Sequence[Mapping[str, Json]]) -> str:
    drawn = []
    shown = measured[:MOST_SHOWN]
    widest = max(float(each["error"]) for each in shown) or 1.0
    for place, each in enumerate(shown):
        y = place * (BAR + GAP)
        drawn.append(text(0, y + 14, shortened(" × ".join(map(str, each["columns"])), 42)))
        drawn.append(bar(280, y, (WIDTH - 350) * float(each["error"]) / widest, BAR, "warn"))
        drawn.append(text(WIDTH - 62, y + 14, percent(float(each["error"]))))
    return svg(WIDTH, len(shown) * (BAR + GAP), drawn, "Errors of columns that were measured together")
