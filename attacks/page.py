"""The page docs/attacks.md, from what was measured."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dev.markdown import table

from attacks.attack import Family, Missing, Outcome
from attacks.reconstruction import FEW, Line, at_most

ROW = re.compile(r"^\| (?!attack )(?P<attack>[^|]+?) \| [^|]+ \| (?P<test>test_\w+\.py) \|$", re.MULTILINE)
Cells = Mapping[str, Mapping[str, Outcome | Missing]]

HEAD = """# Attacks, measured

Written by `make attacks` ({version}): every number here comes from one run of it. Each cell is the share of tries in
which the attacker got what is wanted, and the number of tries; *refused*: no try got as far as a guess. Secrets are
drawn anew for each try. What each attack is, and its tests, is in the [threat model](threats.md); the code is in
`attacks/`.

None of {tries} tries means, with 95 % confidence, that an attack succeeds in less than {bound} % of cases. What holds
against every attack is in the [concepts](concepts.md).

A salary is one of 65,536, and a guess within 50 counts: by chance one of 650 is right. The attacker knows all other
salaries, and names the victim by the key or, where that is refused, by a birthday that no other person has.

| setting | what it is |
|---|---|
| plain | a function that gives exact aggregates over any condition, and no rows |
| naive | the same with Laplace noise of scale 100 on every number, drawn anew each time, without a budget |
| noisy, personal | policies of discreet, with a budget of epsilon 1, all of which the attacker spends |
| audited | policy of discreet: exact answers, about no fewer than 10 people |
"""
BELOW = {
    "Budget": "Here naive keeps a budget of four answers for each role, and counts them in the asker's transaction.",
    "Levels": (
        "Settings: a view that shows low rows only, row security, and a multilevel table.\n"
        "By chance one message of 256 arrives."
    ),
    "Releases": (
        "Settings: the rows without names; what one would do first (birthdays to the month, hashes, k without l or t,\n"
        "rounding by chance); and the functions of discreet."
    ),
    "Synthetic tables": (
        "Settings: rows drawn from the rows; a Bayes net of exact shares; and synthesize(), a new table for each try."
    ),
}


def head(version: str, tries: int) -> str:
    """`tries` without success have a probability of 5 % where each succeeds with this one."""
    return HEAD.format(version=f"PostgreSQL {version}", tries=tries, bound=round(100 * (1 - 0.05 ** (1 / tries))))


def section(family: Family, cells: Cells) -> str:
    """The table of a family, and below it why some attacks were not tried."""
    rows = [["attack", *family.settings]]
    reasons: dict[str, list[str]] = {}
    for attack in family.attacks:
        shown = [attack.name]
        for setting in family.settings:
            cell = cells[attack.name][setting]
            shown.append(cell.shown() if isinstance(cell, Outcome) else "-")
            if isinstance(cell, Missing) and setting not in reasons.setdefault(cell.reason, []):
                reasons[cell.reason].append(setting)
        rows.append(shown)
    parts = [f"## {family.name}", family.about, BELOW.get(family.name, ""), table(rows).rstrip("\n")]
    parts += [f"\\- {', '.join(settings)}: {reason}." for reason, settings in reasons.items()]
    return "\n\n".join(filter(None, parts)) + "\n"


RECONSTRUCTION = """## Reconstruction

Each person's secret bit, from counts of it among chosen people (Dinur and Nissim 2003): by all subsets of
{few} people, in {tables} tables, the likeliest of all tables; by {answers:,} random subsets of {many:,} people, least
squares. Shares of the bits that are found; by chance half of them are, and under epsilon 1 no attack finds more than
{most:.0f} % in the mean. The whole budget is spent. Policy audited refuses such counts: the bit is not public.

"""


def reconstruction(lines: Sequence[Line]) -> str:
    """Rates as a function of noise."""
    small, large = lines[0].exhaustive, lines[0].random
    rows = [["counts", "all subsets", "random subsets"]]
    rows += [[line.design, line.exhaustive.shown(), line.random.shown()] for line in lines]
    about = RECONSTRUCTION.format(
        few=FEW, tables=small.people // FEW, answers=large.answers, many=large.people, most=100 * at_most(1)
    )
    return about + table(rows)


ABSENT = """## Not in the laboratory

These have no rate: what they reach for is no secret that could be guessed again and again, or a single try takes a
server down. Their tests show that they fail.

"""


# sections of the threat model with the same attacks on other kinds of answers
AGAIN = re.compile(r"^## (?:dp_ aggregates|Personal budgets|Audited answers)\n.*?(?=^## )", re.MULTILINE | re.DOTALL)


def not_tried(threats: str, tried: set[str]) -> str:
    """Attacks of the threat model that are not about learning a number: their tests say yes or no."""
    rows = [(row["attack"], row["test"]) for row in ROW.finditer(AGAIN.sub("", threats)) if row["attack"] not in tried]
    return ABSENT + table([("attack", "test"), *rows])
