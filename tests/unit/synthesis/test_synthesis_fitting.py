"""The process that fits, as the worker starts it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
import pytest

from discreet.core.errors import LimitExceededError, RefusedShapeError
from discreet.synthesis.model import Measured
from discreet.synthesis.problem import Problem
from discreet.worker import fitting
from discreet.worker.session import Session


class Waiting:
    """A session that waits."""

    def __init__(self) -> None:
        self.waited = 0

    def execute(self, *_: object) -> None:
        self.waited += 1


@pytest.fixture
def processes() -> Iterator[list[fitting.FittingProcess]]:
    started: list[fitting.FittingProcess] = []
    yield started
    for process in started:
        process.close()


def begun() -> fitting.FittingProcess:
    return fitting.FittingProcess(cast("Session", Waiting()))


def test_so_many_work_at_once_and_no_more(processes: list[fitting.FittingProcess]) -> None:
    processes += [begun() for _ in range(fitting.MOST_AT_ONCE)]
    with pytest.raises(LimitExceededError):
        begun()
    processes.pop().close()
    processes.append(begun())


def test_a_message_larger_than_the_pipe_waits_and_arrives(processes: list[fitting.FittingProcess]) -> None:
    """The process has not read anything yet when the worker begins to write."""
    processes.append(begun())
    fitter = processes[0].begun(Problem((300, 300)), {}, None)
    counts = fitter.fitted([Measured((0, 1), np.full((300, 300), 2.0), 1.0)])
    assert abs(counts[:300] - 600).max() <= 6


def test_a_process_that_ended_is_told_as_such(processes: list[fitting.FittingProcess]) -> None:
    processes.append(begun())
    processes[0]._process.kill()
    processes[0]._process.wait()
    with pytest.raises(RefusedShapeError, match="has ended"):
        processes[0].begun(Problem((3, 3)), {}, None)
