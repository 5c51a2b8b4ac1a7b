"""Trackers that look through what is computed within one person: a person singled out below is singled out."""

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.gate.conftest import VOTERS
from tests.attacks.target import Target
from tests.databases import Connection

ONE = "region = 'region 2' AND roll_no = 7"
TRACKERS = [
    f"(SELECT id FROM extra.voter GROUP BY id HAVING bool_or({ONE})) x",
    f"(SELECT id, bool_or({ONE}) AS a FROM extra.voter GROUP BY id) x WHERE a",
    f"(SELECT id, count(*) FILTER (WHERE {ONE}) AS n FROM extra.voter GROUP BY id) x WHERE n = 1",
    "(SELECT id, max(region) AS r, min(roll_no) AS n FROM extra.voter GROUP BY id) x WHERE r = 'region 2' AND n = 7",
    "(SELECT id, max(region) AS r, sum(roll_no) AS n FROM extra.voter GROUP BY id) x WHERE r = 'region 2' AND n = 7",
    f"(SELECT DISTINCT ON (id) id, voted FROM extra.voter ORDER BY id, ({ONE})) x",
    f"(SELECT voted, row_number() OVER (PARTITION BY id ORDER BY ({ONE})::int) AS n FROM extra.voter) x WHERE n = 1",
    "(SELECT first_value(region) OVER w AS r, first_value(roll_no) OVER w AS n FROM extra.voter"
    " WINDOW w AS (PARTITION BY id ORDER BY dob)) x WHERE r = 'region 2' AND n = 7",
    f"hr.person p WHERE EXISTS (SELECT FROM extra.voter v WHERE v.id = p.id AND v.{ONE.replace('AND ', 'AND v.')})",
    f"hr.person p WHERE p.id IN (SELECT v.id FROM extra.voter v WHERE v.{ONE.replace('AND ', 'AND v.')})",
    f"(SELECT id FROM extra.voter EXCEPT SELECT id FROM extra.voter WHERE {ONE}) x",
    "extra.voter v WHERE v.region = 'region 2' AND (SELECT w.roll_no FROM extra.voter w WHERE w.id = v.id"
    " ORDER BY w.dob LIMIT 1) = 7",
    "(SELECT id, region, roll_no FROM extra.voter INTERSECT SELECT id, 'region 2', 7 FROM extra.voter) x",
    "(SELECT id, region, roll_no FROM extra.voter UNION SELECT id, 'region 2', 7 FROM extra.voter) x",
    "hr.person p WHERE p.id IN (SELECT id FROM (SELECT id, region, roll_no FROM extra.voter"
    " INTERSECT SELECT id, 'region 2', 7 FROM extra.voter) x)",
    "hr.person p WHERE EXISTS (SELECT v.id, v.region, v.roll_no FROM extra.voter v WHERE v.id = p.id"
    " EXCEPT SELECT v.id, 'region 2', 7 FROM extra.voter v WHERE v.id = p.id)",
    "hr.person p WHERE 7 IN (SELECT v.id FROM extra.voter v WHERE v.id = p.id)",
    "hr.person p WHERE 7 >= ALL (SELECT v.id FROM extra.voter v WHERE v.id = p.id)",
    "hr.person p WHERE (SELECT v.id FROM extra.voter v WHERE v.id = p.id LIMIT 1) = 7",
    "(SELECT id, mode() WITHIN GROUP (ORDER BY id) AS m FROM extra.voter GROUP BY id) x WHERE m = 7",
    "(SELECT id, percentile_disc(0.5) WITHIN GROUP (ORDER BY id) AS m FROM extra.voter GROUP BY id) x WHERE m = 7",
    "(SELECT id, mode() WITHIN GROUP (ORDER BY region) AS r, percentile_cont(0.5) WITHIN GROUP (ORDER BY roll_no) AS n"
    " FROM extra.voter GROUP BY id) x WHERE r = 'region 2' AND n = 7",
    "(SELECT id, string_agg(region, ',' ORDER BY dob) AS r, mode() WITHIN GROUP (ORDER BY roll_no) AS n"
    " FROM extra.voter GROUP BY id) x WHERE r = 'region 2' AND n = 7",
    "(SELECT id, max(region) AS r, row_number() OVER (PARTITION BY id ORDER BY count(*)) AS p, roll_no AS n"
    " FROM extra.voter GROUP BY id, roll_no) x WHERE r = 'region 2' AND n = 7",
    "extra.voter v WHERE region = 'region 2' AND (id, 7) IN (SELECT w.id, w.roll_no FROM extra.voter w)",
    "extra.voter v WHERE region = 'region 2' AND concat(roll_no)::int = 7",
]


@pytest.mark.parametrize("source", TRACKERS)
def test_it_is_refused(gated: Target, blind: Connection, source: str) -> None:
    gated.admin.execute(VOTERS)
    with gated.free():
        assert how_it_ends(blind, f"SELECT count(*) FROM {source}") == "DP002"
