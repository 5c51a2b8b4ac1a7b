"""An auditor without a database: people are numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from discreet.audited.decision import Span, judged, refined_spans
from discreet.audited.history import PERSON, Event, History, Part

SPREAD = np.uint64(0x9E3779B97F4A7C15)


def people(numbers: Iterable[int], versions: Mapping[int, int]) -> bytes:
    """A query set, as the native statement gives it."""
    listed = list(numbers)
    made = np.zeros(len(listed), PERSON)
    made["person"] = np.array(listed, dtype=np.uint64) * SPREAD
    made["version"] = [versions.get(number, 1) for number in listed]
    return made.tobytes()


def hashes(numbers: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array(list(numbers), dtype=np.uint64) * SPREAD


class Auditor:
    def __init__(self, least: int = 10, known: Iterable[int] = ()) -> None:
        self.least = least
        self.known = hashes(known)
        self.history = History.empty()
        self.spans: dict[tuple[int, bool], Span] = {}
        self.versions: dict[int, int] = {}
        self.events: list[bytes] = []

    def write(self, *numbers: int) -> None:
        """New versions of these people's rows."""
        for number in numbers:
            self.versions[number] = self.versions.get(number, 1) + 1

    def answers(self, *sets: Iterable[int], column: int = 1) -> bool:
        """Whether these disjoint sets are answered together; if so, they are remembered."""
        event = self.history.event([Part.of([people(some, self.versions) for some in sets], [column])])
        after = self.history.after(event)
        verdict = judged(after, [column], self.known, self.least, self.spans)
        if verdict.denial is not None:
            return False
        self.events.append(replace(event, dropped=verdict.dropped).packed())
        self.spans = refined_spans(self.spans, verdict.spans, after)
        self.history = after.without(verdict.dropped)
        return True

    def replayed(self) -> History:
        """The history that a session reads which was not there."""
        history = History.empty()
        for packed in self.events:
            event = Event.unpacked(packed)
            history = history.after(event).without(event.dropped)
        return history
