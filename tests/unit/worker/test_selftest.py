"""The self-test of a gate worker, which serves other sessions meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from discreet.dp import samplers
from discreet.worker import selftest
from discreet.worker.session import Session


class Recorded:
    """A session that writes down when it was asked for something: there a step of the worker ends."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def execute(self, *_: Any) -> None:
        self.told.append("a step ends")


def test_others_are_served_after_each_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Recorded()

    def distances() -> Iterator[float]:
        for _ in samplers.CASES:
            session.told.append("a sampler")
            yield 0.001

    monkeypatch.setattr(samplers, "distances", distances)
    ((_, status, _),) = selftest.samplers(cast(Session, session))
    assert status == selftest.PASSED
    assert session.told == ["a sampler", "a step ends"] * len(samplers.CASES)


def test_one_sampler_that_is_far_off_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samplers, "distances", lambda: iter([0.001, 1.01 * samplers.ALLOWED, 0.001]))
    ((_, status, _),) = selftest.samplers(cast(Session, Recorded()))
    assert status == selftest.FAILED
