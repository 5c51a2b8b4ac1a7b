"""Without noise, an answer is what PostgreSQL answers: names, types, order and NULLs included, numbers to the grid.

The pure stages run here, in the test's own process, with draws that are 0, a threshold of one person, and choices that
take the best candidate (tests/exactly.py). Limits per person and bounds are wide enough for all rows. Nothing of this
can be had by a setting: the noise source of the server is another process's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from math import inf
from typing import Any

import pytest
from dev.cluster import Cluster
from tests.corpus import lab
from tests.corpus.sample import HARMLESS, NOON, SCHEMA, Question, questions
from tests.database.gate.conftest import Asker
from tests.databases import Connection, Row, created
from tests.exactly import PINNED, answered, columns, differences, numbers_within, same_types, width_of_bins

from discreet.core.quoting import literal
from discreet.gate.parse import parse
from discreet.gate.plan import Plan, plan
from discreet.gate.schema import TIMES, Column, Relation, Schema
from discreet.gate.times import with_moment

VALUES = list(questions("values.sql"))


@pytest.fixture(scope="module")
def laboratory(cluster: Cluster, template: str) -> Iterator[Connection]:
    with created(cluster, "zero_noise", template) as database:
        connection = database.connect()
        connection.execute(lab.DATA.encode())
        connection.execute(PINNED)
        yield connection


def planned(connection: Connection, question: Question, schema: Schema) -> Plan:
    """The plan of a question; the questions within it are answered first."""

    def with_numbers(released: Sequence[str | None] | None) -> Plan:
        tree = with_moment(parse(question.sql), lambda: NOON)
        return plan(tree, schema, HARMLESS, question.parameters, released)

    asked = with_numbers(None)
    return with_numbers(numbers_within(connection, asked)) if asked.subquestions else asked


def is_chosen(sql: str) -> bool:
    """Quantiles come from bins: between two values any of them holds the rank."""
    return re.search(r"percentile|\bmin\(|\bmax\(|dp_median|dp_quantile", sql) is not None


@pytest.mark.parametrize("question", VALUES, ids=lambda question: question.sql)
def test_an_answer_without_noise_is_what_postgresql_answers(laboratory: Connection, question: Question) -> None:
    given, told = answered(laboratory, planned(laboratory, question, lab.SCHEMA))
    cursor = laboratory.execute(question.sql.encode())
    assert [same_types(*pair) for pair in zip(told, columns(cursor), strict=True)] == [True] * len(told)
    slack = 0.03 if is_chosen(question.sql) else 1e-6
    found = differences(question.sql, given, cursor.fetchall(), slack)
    assert not found, str(found)


def opened(schema: Schema, rows: int) -> Schema:
    """The same tables, with nothing declared that leaves rows out: no categories, no limits per person to speak of."""

    def wide(column: Column) -> Column:
        if column.bounds is None or column.family in TIMES:
            return replace(column, categories=None)
        return replace(column, bounds=(column.bounds[0] * 10, column.bounds[1] * 10))

    def table(relation: Relation) -> Relation:
        columns = {name: wide(column) for name, column in relation.columns.items()}
        kept = relation.protection
        many = None if kept is None else replace(kept, max_groups=400, max_rows=rows)
        return replace(relation, columns=columns, protection=many)

    datasets = {name: replace(dataset, accounting="pure") for name, dataset in schema.datasets.items()}
    return Schema({name: table(relation) for name, relation in schema.relations.items()}, datasets)


# what PostgreSQL is asked in place of the clock, and of discreet's own aggregates
MOMENT = "timestamptz '2025-06-01 12:00:00+00'"
OWN = r"\b(?:discreet\.)?"
IN_POSTGRESQL = [
    (r"\b(?:now\(\)|(?:current|statement|transaction)_timestamp(?:\(\))?)", MOMENT),
    (r"\blocaltimestamp\b", MOMENT.replace("tz", "").replace("+00", "")),
    (r"\bcurrent_date\b", "date '2025-06-01'"),
    (rf"{OWN}dp_count\(\*\)", "count(*)"),
    (rf"{OWN}dp_count\(([\w.]+)(?:, [\d.]+)?\)", r"count(\1)"),
    (rf"{OWN}dp_count_distinct\(([\w.]+)(?:, [\d.]+)?\)", r"count(DISTINCT \1)"),
    (
        rf"{OWN}dp_(sum|avg|variance|stddev)\(([\w.]+), (-?[\d.]+|\$\d), (-?[\d.]+|\$\d)(?:, [\d.]+)?\)",
        r"\1(least(greatest(\2, \3), \4))",
    ),
    (rf"{OWN}dp_median\(([\w.]+), [^()]*\)", r"percentile_cont(0.5) WITHIN GROUP (ORDER BY \1)"),
    (rf"{OWN}dp_quantile\(([\w.]+), ([\d.]+), [^()]*\)", r"percentile_cont(\2) WITHIN GROUP (ORDER BY \1)"),
]


QUANTILE = r"percentile_(?:cont|disc)\((0\.\d+)\) WITHIN GROUP \(ORDER BY (\w+)( DESC)?\)"
TAIL = r"\b(?:min|max)\(|percentile_(?:cont|disc)\([01]\)"
# the value before the place of a quantile, or the one after it
NEIGHBOUR = r"(array_agg(\2 ORDER BY \2\3) FILTER (WHERE \2 IS NOT NULL))[1 + {}(\1 * (count(\2) - 1))]"


def translated(question: str) -> str:
    for words, instead in IN_POSTGRESQL:
        question = re.sub(words, instead, question, flags=re.IGNORECASE)
    return question


def is_between(connection: Connection, question: str, given: list[Row], width: float) -> bool:
    """Whether each quantile lies between the two values around its place, up to a bin: any number there is one."""
    sides = []
    for rounding in ("floor", "ceil"):
        sql = re.sub(QUANTILE, NEIGHBOUR.format(rounding), question)
        rows = connection.execute(f"SELECT * FROM ({sql}) AS neighbours".encode()).fetchall()
        sides.append(sorted(rows, key=lambda row: str(row[0])) if len(rows[0]) > 1 and len(rows) > 1 else rows)

    def holds(number: Any, one: Any, other: Any) -> bool:
        if not isinstance(one, int | float | Decimal):
            return bool(number == one == other)
        low, high = sorted((float(one), float(other)))
        return low - width <= float(number) <= high + width

    return all(any(all(map(holds, row, *pair)) for row in given) for pair in zip(*sides, strict=True))


def in_postgresql(connection: Connection, question: Question) -> Any:
    """What PostgreSQL answers, at the moment of the question, with its own aggregates."""
    sql = translated(question.sql)
    if not question.parameters:
        return connection.execute(sql.encode())
    given = ", ".join("NULL" if value is None else literal(value) for value in question.parameters)
    connection.execute("DEALLOCATE ALL")
    connection.execute(f"PREPARE asked AS {sql}".encode())
    return connection.execute(f"EXECUTE asked({given})".encode())


def is_defined(question: Question) -> bool:
    """Whether PostgreSQL's answer is one: not where it picks rows from equals, by where they lie.

    That is LIMIT without ORDER BY, and lead(), frames of rows and LATERAL over days that several rows share. Of
    discreet's own aggregates some have no counterpart: averages of dates, and what divides whole numbers.
    """
    sql = question.sql
    any_rows = re.search(r"\bLIMIT\b", sql) and "ORDER BY" not in sql
    any_peers = re.search(r"ORDER BY (v\.)?day( DESC)?\s*(\)|LIMIT|ROWS)", sql) and not re.search(
        "rank|DISTINCT ON", sql
    )
    own = re.search(r"dp_\w+\([^)]*(CASE|/|')|\) / dp_", sql)
    return not (any_rows or any_peers or own)


def rows_each(sql: str) -> int:
    """A patient has hundreds of visits, and tens of thousands of pairs of them, which are only counted."""
    return 3000 if re.search(r"\b(sum|avg|stddev|variance)\(", sql) else 200_000


ACCEPTED = [question for question in questions("accepted.sql") if is_defined(question)]
# sums of a person with up to 3,000 rows, of a column with bounds ten times as wide as declared
GRID = 1e-5


@pytest.mark.parametrize("question", ACCEPTED, ids=lambda question: question.sql)
def test_the_corpus_without_noise_is_what_postgresql_answers(asker: Asker, question: Question) -> None:
    connection = asker.admin
    connection.execute(PINNED.encode())
    asked = planned(connection, question, opened(SCHEMA, rows_each(question.sql)))
    given, told = answered(connection, asked)
    cursor = in_postgresql(connection, question)
    own = "dp_" in question.sql
    assert own or [same_types(*pair) for pair in zip(told, columns(cursor), strict=True)] == [True] * len(told)
    wanted = cursor.fetchall()
    found = differences(question.sql, given, wanted, GRID)
    if found and is_chosen(question.sql):
        found = differences(question.sql, given, wanted, GRID, width_of_bins(asked))
    sql = translated(question.sql)
    if found and re.search(TAIL, sql):  # of the ends a value is chosen that some people lie beyond
        found = differences(question.sql, given, wanted, GRID, inf)
    if found and re.search(QUANTILE, sql):
        assert is_between(connection, sql, given, width_of_bins(asked))
        return
    assert not found, str(found)


def test_nearly_all_of_the_corpus_is_compared() -> None:
    assert len(ACCEPTED) >= 0.95 * len(list(questions("accepted.sql")))


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len({question.sql for question in VALUES}) == len(VALUES) >= 200
