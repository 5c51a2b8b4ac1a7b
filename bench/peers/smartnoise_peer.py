"""SmartNoise SQL: rewrites a question, PostgreSQL runs it, Python adds the noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg2
import snsql

from bench.peers.task import Answer, Question, Task, answer_task


def metadata(question: Question) -> dict[str, object]:
    table: dict[str, object] = {"censor_dims": False, question.key: {"type": "int"}}
    if question.by_person:
        table |= {question.unit: {"type": "int", "private_id": True}, "max_ids": question.rows}
    else:
        table["row_privacy"] = True
    if question.column is not None:
        table[question.column] = {"type": "int", "lower": question.lower, "upper": question.upper}
    return {"": {"public": {question.table: table}}}


def prepare(task: Task) -> Callable[[Question], Callable[[], Answer]]:
    connection = psycopg2.connect(task.dsn())
    connection.autocommit = True

    def reader(question: Question, epsilon: float) -> Any:
        privacy = snsql.Privacy(epsilon=epsilon, delta=task.delta)
        return snsql.from_connection(connection, engine="postgres", privacy=privacy, metadata=metadata(question))

    def peer(question: Question) -> Callable[[], Answer]:
        sql = question.sql.replace(f"FROM {question.table}", f"FROM public.{question.table}")
        cost, _ = reader(question, task.epsilon).get_privacy_cost(sql)
        asking = reader(question, task.epsilon * task.epsilon / cost)

        def ask() -> Answer:
            return {int(row[0]): float(row[1]) for row in asking.execute(sql)[1:]}  # after the names of the columns

        return ask

    return peer


answer_task(prepare)
