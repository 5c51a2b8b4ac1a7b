"""diffprivlib: numpy with noise. The rows are fetched; every group is a call of its own, groups being disjoint."""

from __future__ import annotations

from collections.abc import Callable

from diffprivlib import tools

from bench.peers.rows import columns
from bench.peers.task import Answer, CannotError, Question, Task, answer_task


def prepare(task: Task) -> Callable[[Question], Callable[[], Answer]]:
    def peer(question: Question) -> Callable[[], Answer]:
        if question.by_person:
            raise CannotError("a row is a person: nothing bounds what a person with many rows adds")

        def ask() -> Answer:
            found = columns(task, question)
            key = found[question.key]
            if question.column is None:
                ends = (-0.5, question.groups - 0.5)
                counts, _ = tools.histogram(key, task.epsilon, bins=question.groups, range=ends)
                return dict(enumerate(counts))
            function = {"sum": tools.sum, "avg": tools.mean}[question.measure]
            values, bounds = found[question.column].astype(float), (question.lower, question.upper)
            return {
                group: function(values[key == group], epsilon=task.epsilon, bounds=bounds)
                for group in range(question.groups)
            }

        return ask

    return peer


answer_task(prepare)
