"""Caveats follow from text and catalog: each stands where it can apply, and nowhere else."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.corpus.sample import planned

from discreet.dp.price import Price
from discreet.gate.caveats import caveats
from discreet.gate.measure import Terms

BY_DEPT = "SELECT dept, count(*) AS n FROM hr.employee GROUP BY dept"
NOT_IN = "NULLs in the subquery of NOT IN left out"
HAVING = "rows chosen by noisy numbers: HAVING"
LIMIT = "rows chosen by noisy numbers: ORDER BY … LIMIT"
WITHOUT = "groups without people counted among the rows of the answer"


def told(sql: str) -> list[str]:
    plan = planned(sql)
    return caveats(plan, [Terms.of(plan, Price.of(1), Fraction(1, 10**6), keys) for keys in plan.grouping.sets])


@pytest.mark.parametrize(
    ("question", "caveat"),
    [
        ("SELECT count(*) FROM clinic.patient WHERE id NOT IN (SELECT patient_id FROM clinic.visit)", NOT_IN),
        (f"{BY_DEPT} HAVING count(*) > 9", HAVING),
        (f"{BY_DEPT} ORDER BY 2 DESC LIMIT 3", LIMIT),
        (f"{BY_DEPT} ORDER BY n LIMIT 3", LIMIT),
        (f"SELECT * FROM ({BY_DEPT}) t WHERE n > 9", "rows chosen by noisy numbers: WHERE"),
        (f"SELECT avg(n) FROM ({BY_DEPT}) t", WITHOUT),
        ("SELECT dept, rank() OVER (ORDER BY count(*)) FROM hr.employee GROUP BY dept", WITHOUT),
    ],
)
def test_a_caveat_stands_where_it_can_apply(question: str, caveat: str) -> None:
    assert caveat in told(question)


@pytest.mark.parametrize(
    "question",
    [
        BY_DEPT,
        f"{BY_DEPT} HAVING dept <> 'Sales'",
        f"{BY_DEPT} ORDER BY dept LIMIT 3",
        f"{BY_DEPT} ORDER BY 1 LIMIT 3",
        f"{BY_DEPT} ORDER BY count(*)",
        "SELECT count(*) FROM clinic.patient WHERE id IN (SELECT patient_id FROM clinic.visit)",
        "SELECT sum(n) FROM (SELECT zip, count(*) AS n FROM hr.employee GROUP BY zip) t",
    ],
)
def test_no_caveat_stands_where_it_cannot_apply(question: str) -> None:
    assert not {NOT_IN, HAVING, LIMIT, WITHOUT} & set(told(question))
