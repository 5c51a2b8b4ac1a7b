"""Notices: price, what is left, and how exact the answer is; nothing that depends on the rows."""

import re

import pytest
from tests.attacks.gate.asking import NOBODY, SECRET, ask
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import notices

# whether values can be clamped depends on the text of the condition
CLAMPED = re.compile(r"; values of salary clamped to 0\.\.2000")
ERRORS = re.compile(r"(avg|max) ±[\d.]+(?: to ±[\d.]+)?")


def without_clamps(told: list[tuple[str, str, str | None]]) -> list[tuple[str, str, str | None]]:
    return [(level, CLAMPED.sub("", message), hint) for level, message, hint in told]


@pytest.mark.parametrize(
    "question",
    [
        "SELECT count(*) FROM hr.person WHERE {}", "SELECT avg(salary) FROM hr.person WHERE {}",
        "SELECT smoker, sum(salary), max(salary) FROM hr.person WHERE {} GROUP BY smoker",
        "SELECT count(*) FROM hr.visit v JOIN hr.person p ON v.person = p.id WHERE {}",
    ],
)  # fmt: skip
def test_notices_are_the_same_whatever_the_rows_are(gated: Target, blind: Connection, question: str) -> None:
    """How exact an average or an extreme is follows from numbers as they were released with noise."""
    told = []
    for who in (SECRET, NOBODY, "true"):
        gated.admin.execute("UPDATE discreet._budget SET amount_spent = 0; TRUNCATE discreet._charge")
        heard = notices(blind)
        ask(blind, question.format(who), "0.01", fresh=True)
        told.append([(level, ERRORS.sub(r"\1", str(message)), hint) for level, message, hint in heard])
        heard.clear()
    assert told[0] == told[1], "the conditions differ in a name only"
    assert without_clamps(told[0]) == without_clamps(told[2]), "without a condition on salary, values may be clamped"
    assert len(told[0]) == 1
