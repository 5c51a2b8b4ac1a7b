"""Numbers that SQL makes of released ones lie within the error beside them at least 95 times in 100.

The server answers each question many times, each time with fresh noise. A case is a column in a row of an answer. Where
each case is within its error with 95 %, all cases of this file together raise a false alarm with a probability of at
most 1e-6. Where there is no number in truth, such as the share of nobody, only an error without a limit is right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from dev.cluster import Cluster
from tests.database.gate.conftest import Asker
from tests.databases import created
from tests.statistical.dp.dp_evidence import proportion_bounds

ANSWERS, FEWER = 300, 80
PEOPLE = {"a": 2, "b": 25, "c": 30, "d": 33, "e": 120, "f": 0}
TABLE = f"""
    CREATE TABLE kind (grp text PRIMARY KEY);
    INSERT INTO kind VALUES {", ".join(f"('{group}')" for group in PEOPLE)};
    CREATE TABLE person (id int PRIMARY KEY, grp text NOT NULL, x int NOT NULL);
    INSERT INTO person SELECT row_number() OVER (), grp, 7 * n % 11
    FROM (VALUES {", ".join(f"('{group}', {size})" for group, size in PEOPLE.items())}) AS t(grp, size),
        LATERAL generate_series(1, size) AS n;
    SELECT discreet.create_dataset('people', 1000);
    SELECT discreet.protect('person', 'id', 'people');
    SELECT discreet.describe_column('person', 'grp', categories => ARRAY(SELECT grp FROM kind));
    SELECT discreet.describe_column('person', 'x', 0, 10);
"""
# n and s: a count and a sum; `people`: all groups, also without people. A sum is below -1000 with a probability below
# 1e-20, so that logarithms and roots do not fail.
QUESTIONS = {
    "quotients": "SELECT grp, {s} / NULLIF({n}, 0)::numeric AS q, 100.0 * {n} / NULLIF({s}, 0) AS r,"
    " {s} / NULLIF({n}, 0) AS whole FROM {people} GROUP BY grp",
    "divisors near 0": "SELECT grp, 1.0 / NULLIF({n}, 0) AS q, {n} / ({n} - 20.0) AS r, {s} / ({n} - 28.5) AS s"
    " FROM {people} GROUP BY grp",
    "products": "SELECT grp, {n} * {s} AS p, ({n} - 30) * ({n} - 30) AS square, abs({n} - 30) * {s} AS a,"
    " sqrt({n}) AS root FROM {people} GROUP BY grp",
    "functions": "SELECT grp, exp({n} / 10.0) AS e, ln({s} + 1000) AS l, log({s} + 1000) AS d, sign({n} - 28) AS sign,"
    " {n} % 7 AS m, ({n} - 28) ^ 2 AS square, power({n} - 28.5, -1) AS inverse, power({s} + 1000, 0.5) AS root"
    " FROM {people} GROUP BY grp",
    "shares of the total": "SELECT grp, 100.0 * {n} / sum({n}) OVER () AS share, round({s} / sum({s}) OVER (), 2) AS r"
    " FROM {people} GROUP BY grp",
    "ranks": "SELECT grp, rank() OVER (ORDER BY {n} DESC) AS r, row_number() OVER (ORDER BY {n}) AS n,"
    " dense_rank() OVER (ORDER BY {s}) AS d, percent_rank() OVER (ORDER BY {n}) AS p,"
    " ntile(4) OVER (ORDER BY {n}) AS quarter, cume_dist() OVER (ORDER BY {n}) AS c FROM {people} GROUP BY grp",
    "running sums": "SELECT grp, sum({n}) OVER (ORDER BY grp) AS s, {n} - lag({n}) OVER (ORDER BY grp) AS change,"
    " max({n}) OVER (ORDER BY grp ROWS 1 PRECEDING) AS m, avg({s}) OVER () AS a,"
    " first_value({n}) OVER (ORDER BY grp) AS f FROM {people} GROUP BY grp",
    "sums over groups": "SELECT sum(n) AS sum, avg(n) AS avg, max(n) AS max, min(s) AS min, avg(s) AS mean,"
    " sum(s) / sum(n) AS q FROM (SELECT grp, {n} AS n, {s} AS s FROM {people} GROUP BY grp) AS t",
    "groups of groups": "SELECT grp < 'd' AS grp, sum(n) / sum(s) AS q, max(n) - min(n) AS range"
    " FROM (SELECT grp, {n} AS n, {s} AS s FROM {people} GROUP BY grp) AS t GROUP BY 1",
    "choices": "SELECT grp, GREATEST({n}, 30) AS g, LEAST({n}, {s} / 5) AS l, CASE WHEN {n} > 28 THEN {s} ELSE {n} END"
    " AS c FROM {people} GROUP BY grp",
}  # fmt: skip
ASKED = {"n": "count(*)", "s": "sum(x)", "people": "person"}
IN_TRUTH = {"n": "count(id)", "s": "coalesce(sum(x), 0)", "people": "kind LEFT JOIN person USING (grp)"}
FALSE_ALARM = 1e-6 / (len(QUESTIONS) + 1)

Number = object
Cells = dict[tuple[object, str], tuple[Number, Number]]


@pytest.fixture(scope="module")
def asker(cluster: Cluster, template: str) -> Iterator[Asker]:
    role = "margins_asker"
    cluster.sql(f"CREATE ROLE {role} LOGIN IN ROLE discreet_analyst")
    with created(cluster, "margins", template) as database:
        cluster.sql(f"SET client_min_messages = warning; {TABLE}", database.name)
        asker = Asker(database, role)
        asker.admin.execute("SELECT discreet.grant_budget('people', %s, 1000)", [role])
        asker.connection.execute("SET discreet.with_error = on; SET discreet.quiet = on")
        yield asker
    cluster.sql(f"DROP ROLE {role}")


def cells(rows: list[dict[str, object]]) -> Cells:
    """Each number with its error, by its group and column."""
    return {
        (row.get("grp"), name): (number, row.get(f"{name}_error"))
        for row in rows
        for name, number in row.items()
        if name != "grp" and not name.endswith("_error")
    }


def is_inside(number: Number, error: Number, truth: Number) -> bool:
    if number is None:
        return True  # nothing is stated
    width = float(str(error))
    if truth is None:
        return math.isinf(width)
    return abs(float(str(number)) - float(str(truth))) <= width + 1e-9 * abs(float(str(truth)))


def coverage(asker: Asker, question: str, answers: int = ANSWERS) -> dict[tuple[object, str], int]:
    """How often each number of the answer was within its error."""
    truth = cells([row for (row,) in asker.truth(f"SELECT to_jsonb(t) FROM ({question.format(**IN_TRUTH)}) AS t")])
    found = dict.fromkeys(truth, 0)
    asker.reset()
    for _ in range(answers):
        told = cells(asker.json(question.format(**ASKED), 1, fresh=True))
        assert told.keys() == truth.keys()
        for cell, (number, error) in told.items():
            found[cell] += is_inside(number, error, truth[cell][0])
    return found


def too_rare(found: dict[tuple[object, str], int], answers: int = ANSWERS) -> list[object]:
    upper = proportion_bounds(np.array(list(found.values())), answers, FALSE_ALARM)[1]
    return [cell for cell, most in zip(found.items(), upper, strict=True) if most < 0.95]


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_truth_is_within_the_error_95_times_in_100(asker: Asker, name: str) -> None:
    assert not too_rare(coverage(asker, QUESTIONS[name]))


@contextmanager
def mutant(asker: Asker, function: str, old: str, new: str) -> Iterator[None]:
    """Within, a function of the server does something else."""
    ((text,),) = asker.truth(f"SELECT pg_get_functiondef('discreet.{function}'::regproc)")
    assert old in text
    asker.admin.execute(text.replace(old, new).encode())
    try:
        yield
    finally:
        asker.admin.execute(text.encode())


NARROWED = "_margin_error", "- margin[1], 0) END", "- margin[1], 0) / 10 END"


@pytest.mark.parametrize(
    ("name", "function", "old", "new"),
    [
        *((name, *NARROWED) for name in QUESTIONS),
        ("divisors near 0", "_margin_over", "ARRAY['-Infinity', 'Infinity']", "ARRAY[0, 1]"),
        ("sums over groups", "_margin_sum", "END AS width", "END / 10 AS width"),
    ],
)
def test_an_error_that_is_too_small_is_noticed(asker: Asker, name: str, function: str, old: str, new: str) -> None:
    with mutant(asker, function, old, new):
        assert too_rare(coverage(asker, QUESTIONS[name], FEWER), FEWER)


@pytest.mark.parametrize("name", [name for name in QUESTIONS if name != "choices"])
def test_hardly_any_noise_makes_hardly_any_error(asker: Asker, name: str) -> None:
    """An error without a limit, or one of the whole range, would pass the first test."""
    asker.reset()
    for (group, column), (number, error) in cells(asker.json(QUESTIONS[name].format(**ASKED), 90, fresh=True)).items():
        # rows may be equal, so that a dense rank of 1 is never excluded
        if group not in ("a", "f") and (name, column) != ("ranks", "d") and number is not None:
            assert float(str(error)) <= 0.02 * abs(float(str(number))) + 2, (group, column, number, error)
