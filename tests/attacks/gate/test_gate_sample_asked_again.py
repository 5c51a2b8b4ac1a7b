"""One sample asked ten times is not ten samples: the attacker wants ten answers about one part of the people, each at
the price of a part, which together would cost as much as all of them.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from tests.attacks.target import Target
from tests.databases import Connection

ASKED = "SELECT n FROM discreet.query('SELECT count(*) FROM hr.person', 0.5, sample => 0.1{}) AS t(n bigint)"
PRICE = math.log1p(0.1 * math.expm1(0.5))


def test_asked_again_it_is_the_same_number(target: Target, mallory: Connection) -> None:
    found = {mallory.execute(ASKED.format(", fresh => true")).fetchone()}
    found |= {mallory.execute(ASKED.format("")).fetchone() for _ in range(9)}
    assert len(found) == 1
    assert target.value("SELECT count(*) FROM discreet._charge") == 1


def test_every_charge_has_a_sample_of_its_own_and_is_paid(target: Target, mallory: Connection) -> None:
    for _ in range(10):
        mallory.execute(ASKED.format(", fresh => true"))
    assert target.value("SELECT count(*) FROM discreet._charge") == 10
    assert float(target.value("SELECT sum(epsilon) FROM discreet._charge")) >= 10 * PRICE * (1 - 1e-9)


def test_neither_the_log_nor_the_answer_tells_the_sample(target: Target, mallory: Connection) -> None:
    """Whoever knew the key would know who belongs to the sample, and a sample that is known saves nothing."""
    mallory.execute(ASKED.format(", fresh => true"))
    kept = target.value("SELECT details::text FROM discreet._charge")
    assert '"sample": "1/10"' in kept
    told = mallory.execute("SELECT to_jsonb(a)::text FROM discreet.last_answer a").fetchone()
    assert told is not None
    for text in (kept, told[0]):
        assert re.search("[0-9a-f]{32}", text) is None
    assert Decimal(target.value("SELECT epsilon FROM discreet._charge")) < Decimal("0.5")
