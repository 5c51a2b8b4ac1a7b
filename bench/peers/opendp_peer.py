"""OpenDP, by its Polars interface. The rows are fetched; keys are given."""

from __future__ import annotations

from collections.abc import Callable

import opendp.prelude as dp
import polars as pl

from bench.peers.rows import columns
from bench.peers.task import Answer, Question, Task, answer_task

dp.enable_features("contrib")


def prepare(task: Task) -> Callable[[Question], Callable[[], Answer]]:
    def peer(question: Question) -> Callable[[], Answer]:
        key = pl.col(question.key)
        keys = pl.LazyFrame({question.key: list(range(question.groups))}, schema={question.key: pl.Int64})

        def ask() -> Answer:
            frame = pl.LazyFrame(columns(task, question))
            unit = (
                dp.unit_of(contributions=1)
                if not question.by_person
                else dp.unit_of(contributions=1, identifier=pl.col(question.unit))
            )
            context = dp.Context.compositor(
                data=frame,
                privacy_unit=unit,
                privacy_loss=dp.loss_of(epsilon=task.epsilon),
                split_evenly_over=1,
                margins=[dp.polars.Margin(by=[key], max_length=2_000_000, max_groups=question.groups)],
            )
            query = context.query()
            if question.by_person:
                query = query.truncate_per_group(question.rows)
            bounds = (question.lower, question.upper)
            number = {
                "count": lambda: dp.len(signed=True),
                "sum": lambda: pl.col(question.column).dp.sum(bounds),
                "avg": lambda: pl.col(question.column).cast(pl.Float64).fill_nan(0.0).fill_null(0.0).dp.mean(bounds),
            }[question.measure]()
            query = query.group_by(question.key).agg(number.alias("answer")).with_keys(keys)
            released = query.release().collect()
            return dict(zip(released[question.key].to_list(), released["answer"].to_list(), strict=True))

        return ask

    return peer


answer_task(prepare)
