"""Qrlew: rewrites a question into one with noise, which PostgreSQL runs as a whole."""

from __future__ import annotations

from collections.abc import Callable

import pyqrlew
import sqlalchemy

from bench.peers.task import Answer, Question, Task, answer_task


def prepare(task: Task) -> Callable[[Question], Callable[[], Answer]]:
    address = sqlalchemy.URL.create(
        "postgresql+psycopg2", username="postgres", host=task.host, port=task.port, database="postgres"
    )
    engine = sqlalchemy.create_engine(address)
    dataset = pyqrlew.Dataset.from_database("bench", engine, schema_name="public")

    def peer(question: Question) -> Callable[[], Answer]:
        keys = ", ".join(map(str, range(question.groups)))
        known = f" WHERE {question.key} IN ({keys})"
        if question.column is not None:
            known += f" AND {question.column} >= {question.lower} AND {question.column} <= {question.upper}"
        sql = question.sql.replace(" GROUP BY", f"{known} GROUP BY")

        def ask() -> Answer:
            relation = dataset.relation(sql)
            private = relation.rewrite_with_differential_privacy(
                dataset, [(question.table, [], question.unit)], {"epsilon": task.epsilon, "delta": task.delta},
                max_multiplicity=float(question.rows), max_multiplicity_share=1.0,
            )  # fmt: skip
            with engine.connect() as connection:
                rows = connection.execute(sqlalchemy.text(private.relation().to_query())).fetchall()
            return {int(row[0]): float(row[1]) for row in rows}

        return ask

    return peer


answer_task(prepare)
