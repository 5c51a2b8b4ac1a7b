"""Draws the pictures of the documentation anew, from answers of a throw-away server: `make plots`.

Reports are photographed by Chromium: that of the release of the publisher's guide, by its own SQL, and that of the
sample installation of `make report`.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from demo.report import write_sample_report  # noqa: E402

from dev.browser import photograph  # noqa: E402
from dev.cluster import Cluster, throw_away, throw_away_folder  # noqa: E402

EPSILONS = [0.1, 0.15, 0.22, 0.33, 0.5, 0.75, 1.1, 1.6, 2.4, 3.5, 5.0]
PEOPLE, TRUE_SHARE, POLLS = 10_000, 0.3, 25

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 44, 52
LOWEST, HIGHEST = 0.0, 0.6

# the same poll again and again, each person answering with a new coin
ESTIMATES = """
    SELECT discreet.rr_estimate(discreet.rr(n % 10 < 10 * {share}, {epsilon}), {epsilon})
    FROM generate_series(1, {people}) n, generate_series(1, {polls}) poll GROUP BY poll
"""


def estimates(cluster: Cluster, epsilon: float) -> list[float]:
    question = ESTIMATES.format(share=TRUE_SHARE, epsilon=epsilon, people=PEOPLE, polls=POLLS)
    return [float(line) for line in cluster.sql(question).splitlines()]


def standard_error(epsilon: float) -> float:
    """Of the share of those who answered: the coins alone, whose answers are all there."""
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    return math.sqrt(truth * (1 - truth) / PEOPLE) / (2 * truth - 1)


def across(epsilon: float) -> float:
    first, last = math.log(EPSILONS[0] / 1.15), math.log(EPSILONS[-1] * 1.15)
    return LEFT + (math.log(epsilon) - first) / (last - first) * (WIDTH - LEFT - RIGHT)


def up(share: float) -> float:
    return HEIGHT - BOTTOM - (share - LOWEST) / (HIGHEST - LOWEST) * (HEIGHT - TOP - BOTTOM)


def text(x: float, y: float, words: str, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{words}</text>'


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


def drawing(found: Callable[[float], list[float]]) -> str:
    fine = [EPSILONS[0] * (EPSILONS[-1] / EPSILONS[0]) ** (step / 80) for step in range(81)]
    upper = [(across(each), up(min(HIGHEST, TRUE_SHARE + 2 * standard_error(each)))) for each in fine]
    lower = [(across(each), up(max(LOWEST, TRUE_SHARE - 2 * standard_error(each)))) for each in fine]
    band = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*upper, *reversed(lower)])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        text(
            LEFT,
            24,
            f"{PEOPLE:,} people, of whom {TRUE_SHARE:.0%} would say yes: {POLLS} estimates at each epsilon",
            "start",
            ' font-weight="bold"',
        ),
        f'<polygon points="{band}" fill="#cfe3f5"/>',
    ]
    for tenth in range(int(10 * HIGHEST) + 1):
        parts.append(line(LEFT, up(tenth / 10), WIDTH - RIGHT, up(tenth / 10), 'stroke="#ddd"'))
        parts.append(text(LEFT - 8, up(tenth / 10) + 4, f"{tenth * 10} %", "end"))
    parts.append(line(LEFT, up(TRUE_SHARE), WIDTH - RIGHT, up(TRUE_SHARE), 'stroke="#333" stroke-dasharray="5 4"'))
    parts.append(text(WIDTH - RIGHT - 4, up(TRUE_SHARE) - 22, "truth", "end"))
    parts.append(text(across(0.16), up(0.05), "± 2 standard errors", "start", ' fill="#35719f"'))
    for epsilon in EPSILONS:
        parts.append(text(across(epsilon), HEIGHT - BOTTOM + 20, f"{epsilon:g}"))
        parts += [
            f'<circle cx="{across(epsilon):.1f}" cy="{up(share):.1f}" r="2.6" fill="#b3401c" fill-opacity="0.7"/>'
            for share in found(epsilon)
            if LOWEST <= share <= HIGHEST
        ]
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "epsilon of rr(), logarithmic"))
    return "\n".join([*parts, "</svg>", ""])


def photograph_report(cluster: Cluster, page: Path, picture: Path) -> None:
    """The report of the release that the publisher's guide makes, as an analyst would see it in a browser."""
    blocks = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "publisher.md").read_text(), re.DOTALL)
    (guide,) = [block for block in blocks if "discreet.anonymize('patient', 'patient_release'" in block]
    cluster.sql(guide)
    page.write_text(cluster.sql("SELECT discreet.release_report('public.patient_release')"))
    photograph(page, picture, 720, 1250)


def main() -> None:
    with throw_away_folder() as folder:
        with throw_away(in_memory=True, fsync="off") as cluster:
            cluster.sql("SET client_min_messages = warning; CREATE EXTENSION discreet CASCADE")
            (ROOT / "docs" / "local.svg").write_text(drawing(lambda epsilon: estimates(cluster, epsilon)))
            photograph_report(cluster, folder / "report.html", ROOT / "docs" / "release_report.png")
        write_sample_report(folder / "installation.html")
        photograph(folder / "installation.html", ROOT / "docs" / "report.png", 1060, 1490)


if __name__ == "__main__":
    main()
