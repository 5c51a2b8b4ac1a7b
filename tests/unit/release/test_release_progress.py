"""A long search tells how far it is, now and then."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.release.hierarchy import Hierarchy, Values
from discreet.release.problem import Claim, Table
from discreet.release.recoding import recode
from discreet.server import release_publish


class Server:
    """Hears notices."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def notice(self, message: str, **_: object) -> None:
        self.heard.append(message)


def search(server: Server, method: str) -> None:
    ages = np.arange(64, dtype=np.int64)
    people = Table([ages, ages % 7], 0 * ages, 1, 0 * ages + 1)
    hierarchies = [
        Hierarchy.of(Values("age", "integer", [f"{age:02d}" for age in ages], False), {"intervals": [2, 4, 8, 16, 32]}),
        Hierarchy.of(Values("day", "text", list("abcdefg"), False), "suppress"),
    ]
    progress = release_publish.Progress(server)  # type: ignore[arg-type]
    recode(method, Claim(4, max_suppression=Fraction(0)), people, hierarchies, progress)


@pytest.mark.parametrize(
    ("method", "told"), [("optimal", "combinations of levels tried"), ("mondrian", "boxes to cut")]
)
def test_notices_come_after_a_while_and_not_before(monkeypatch: pytest.MonkeyPatch, method: str, told: str) -> None:
    server = Server()
    search(server, method)
    assert server.heard == []
    monkeypatch.setattr(release_publish, "PATIENCE", -1)
    search(server, method)
    assert server.heard
    assert all(told in message for message in server.heard)
