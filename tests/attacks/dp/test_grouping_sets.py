"""GROUPING SETS, ROLLUP and CUBE: one call site, many overlapping groups."""

import pytest
from tests.attacks.target import PRICE, Target
from tests.databases import Connection

GROUPED = "SELECT dept, smoker, discreet.dp_count(*) FROM hr.person GROUP BY {grouping}"


@pytest.mark.parametrize(
    ("grouping", "sets"),
    [
        ("dept", 1),
        ("dept, smoker", 1),
        ("GROUPING SETS (dept, smoker)", 2),
        ("GROUPING SETS (dept, dept, dept)", 3),
        ("GROUPING SETS ((), (), (dept))", 3),
        ("ROLLUP (dept, smoker)", 3),
        ("CUBE (dept, smoker)", 4),
        ("ROLLUP (dept), ROLLUP (smoker)", 4),
    ],
)
@pytest.mark.parametrize("hash_aggregation", ["on", "off"])
def test_every_grouping_set_is_paid(
    target: Target, mallory: Connection, grouping: str, sets: int, hash_aggregation: str
) -> None:
    mallory.execute(f"SET enable_hashagg = {hash_aggregation}")
    columns = GROUPED if "dept" in grouping and "smoker" in grouping else GROUPED.replace(" smoker,", " 0,")
    with target.costs(sets * PRICE):
        mallory.execute(columns.format(grouping=grouping))


def test_disjoint_groups_are_paid_once(target: Target, mallory: Connection) -> None:
    with target.costs(PRICE):
        assert len(mallory.execute("SELECT id, discreet.dp_count(*) FROM hr.person GROUP BY id").fetchall()) == 1000
