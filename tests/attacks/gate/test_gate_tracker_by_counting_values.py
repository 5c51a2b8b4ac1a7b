"""Trackers that count the different values of a person's rows: a column, and beside it one that the attacker writes.

Where a person's two rows hold one value, the column is what was written; nothing in the question says "equals".
"""

from __future__ import annotations

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.gate.conftest import VOTERS
from tests.attacks.target import Target
from tests.databases import Connection

BY_NAME = "(SELECT id, id AS v FROM extra.voter UNION ALL SELECT id, 42 FROM extra.voter) u"
BY_KEY = (
    "(SELECT id, roll_no AS v FROM extra.voter WHERE region = 'region 2'"
    " UNION ALL SELECT id, 7 FROM extra.voter WHERE region = 'region 2') u"
)
ONE_VALUE = [
    "SELECT u.id FROM {} GROUP BY u.id HAVING count(DISTINCT v) = 1",
    "SELECT x.id FROM (SELECT u.id, count(*) OVER (PARTITION BY u.id, v) AS r FROM {}) x WHERE r = 2",
    "SELECT x.id FROM (SELECT u.id, dense_rank() OVER (PARTITION BY u.id ORDER BY v) AS r FROM {}) x"
    " GROUP BY x.id HAVING max(r) = 1",
    "SELECT x.id FROM (SELECT u.id, rank() OVER (PARTITION BY u.id ORDER BY v) AS r FROM {}) x"
    " GROUP BY x.id HAVING max(r) = 1",
    "SELECT x.id FROM (SELECT u.id, v FROM {} GROUP BY u.id, v) x GROUP BY x.id HAVING count(*) = 1",
    "SELECT x.id FROM (SELECT DISTINCT u.id, v FROM {}) x GROUP BY x.id HAVING count(*) = 1",
    "SELECT x.id FROM (SELECT DISTINCT ON (u.id, v) u.id, v FROM {} ORDER BY u.id, v) x"
    " GROUP BY x.id HAVING count(*) = 1",
    "SELECT p.id FROM extra.voter p WHERE (SELECT count(DISTINCT v) FROM {} WHERE u.id = p.id) = 1",
    "SELECT p.id FROM extra.voter p WHERE EXISTS"
    " (SELECT u.id FROM {} WHERE u.id = p.id GROUP BY u.id, v HAVING count(*) = 2)",
]
SPREADS = ["variance(v) = 0", "stddev_pop(v) = 0", "count(DISTINCT v) = 1", "sum(DISTINCT v) = 7"]
TWICE = "extra.voter p CROSS JOIN generate_series(1, 2) AS k WHERE region = 'region 2'"
WITHIN_ONE_COLUMN = [
    f"SELECT p.id FROM {TWICE} GROUP BY p.id HAVING count(DISTINCT {value}) = 1"
    for value in (
        "CASE WHEN k = 1 THEN roll_no ELSE 7 END",
        "COALESCE(CASE WHEN k = 1 THEN roll_no END, 7)",
        "k * (roll_no - 7)",
    )
]
# of a row that an outer join lacks, concat() makes a text, as it does of a row that is there
MISSING = [
    f"SELECT a.id FROM (SELECT id, k FROM {TWICE.replace('voter p', 'voter')}) a LEFT JOIN extra.voter q"
    f" ON a.id = q.id AND a.k = 1 AND q.region = 'region 2' GROUP BY a.id HAVING"
    f" count(DISTINCT replace({text}, '7', '')) = 1"
    for text in ("concat(q.roll_no)", "concat_ws('-', q.roll_no)")
]
IN_ORDER = [
    "mode() WITHIN GROUP (ORDER BY v) = 7",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY v) = 7",
    "string_agg(DISTINCT v::text, ',') = '7'",
    "length(string_agg(DISTINCT v::text, '')) = 1",
]
TRACKERS = [
    *(question.format(rows) for question in ONE_VALUE for rows in (BY_NAME, BY_KEY)),
    *(f"SELECT u.id FROM {BY_KEY} GROUP BY u.id HAVING {spread}" for spread in (*SPREADS, *IN_ORDER)),
    *MISSING,
    *WITHIN_ONE_COLUMN,
]
ANSWERED = [
    "SELECT id FROM extra.voter WHERE region = 'region 2' GROUP BY id HAVING count(DISTINCT roll_no) = 1",
    "SELECT id FROM (SELECT DISTINCT id, roll_no FROM extra.voter WHERE region = 'region 2') x",
    "SELECT id FROM (SELECT id, rank() OVER (PARTITION BY id ORDER BY roll_no) AS r FROM extra.voter"
    " WHERE region = 'region 2') x WHERE r = 1",
]


def asked(blind: Connection, people: str) -> object:
    return how_it_ends(blind, f"SELECT sum(salary) FROM extra.voter WHERE id IN ({people})")


@pytest.mark.parametrize("people", TRACKERS)
def test_it_is_refused(gated: Target, blind: Connection, people: str) -> None:
    gated.admin.execute(VOTERS)
    with gated.free():
        assert asked(blind, people) == "DP002"


@pytest.mark.parametrize("people", ANSWERED)
def test_a_column_alone_is_told_apart_from_itself_only(gated: Target, blind: Connection, people: str) -> None:
    gated.admin.execute(VOTERS)
    assert asked(blind, people) == "answer"
