"""Parts of a protected table: read one by one, read twice, added unseen, or with people in two of them."""

import psycopg
import pytest
from tests.attacks.target import PRICE, Target
from tests.databases import Connection
from tests.messages import refused

PARTITIONED = """
    CREATE TABLE extra.p (id int PRIMARY KEY, x int NOT NULL) PARTITION BY RANGE (id);
    CREATE TABLE extra.p1 PARTITION OF extra.p FOR VALUES FROM (0) TO (100);
    CREATE TABLE extra.p2 PARTITION OF extra.p FOR VALUES FROM (100) TO (300) PARTITION BY RANGE (id);
    CREATE TABLE extra.p2a PARTITION OF extra.p2 FOR VALUES FROM (100) TO (200);
    CREATE TABLE extra.p2b PARTITION OF extra.p2 FOR VALUES FROM (200) TO (300);
    INSERT INTO extra.p SELECT n, n % 10 FROM generate_series(0, 299) n;
    ANALYZE extra.p;
    GRANT SELECT ON ALL TABLES IN SCHEMA extra TO mallory;
    SET client_min_messages = warning;
    SELECT discreet.protect('extra.p', 'id', dataset => 'people', max_rows => 1);
    RESET client_min_messages;
"""
INHERITED = """
    CREATE TABLE extra.parent (id int PRIMARY KEY, x int NOT NULL);
    CREATE TABLE extra.child (PRIMARY KEY (id)) INHERITS (extra.parent);
    INSERT INTO extra.parent SELECT n, n FROM generate_series(1, 100) n;
    INSERT INTO extra.child SELECT n, n FROM generate_series(1, 100) n;
    GRANT SELECT ON ALL TABLES IN SCHEMA extra TO mallory;
    SET client_min_messages = warning;
    SELECT discreet.protect('extra.parent', 'id', dataset => 'people', max_rows => 1);
    RESET client_min_messages;
"""


@pytest.fixture
def partitioned(target: Target) -> Target:
    target.admin.execute(PARTITIONED)
    return target


@pytest.fixture
def inherited(target: Target) -> Target:
    target.admin.execute(INHERITED)
    return target


@pytest.mark.parametrize("relation", ["p", "p1", "p2", "p2b"])
def test_part_of_a_partitioned_table_is_paid_by_its_people(
    partitioned: Target, mallory: Connection, relation: str
) -> None:
    for where in ("true", "id < 50", "id = 250", "id < 0"):
        with partitioned.costs(PRICE), partitioned.costs(0, "default"):
            mallory.execute(f"SELECT discreet.dp_count(*) FROM extra.{relation} WHERE {where}")


def test_part_that_is_read_twice_is_refused(partitioned: Target, mallory: Connection) -> None:
    for one, other in (("p", "p"), ("p", "p1"), ("p2", "p2b"), ("p1", "p1")):
        with partitioned.free(), refused("DP001", "reading a table twice", "discreet.query()"):
            mallory.execute(
                "SELECT discreet.dp_count(*)"
                f" FROM (SELECT * FROM extra.{one} UNION ALL SELECT * FROM extra.{other}) twice"
            )


def test_parts_that_share_nobody_can_be_read_together(partitioned: Target, mallory: Connection) -> None:
    with partitioned.costs(PRICE):
        mallory.execute(
            "SELECT discreet.dp_count(*) FROM (SELECT * FROM extra.p1 UNION ALL SELECT * FROM extra.p2a) parts"
        )


def test_filter_on_another_part_is_refused(partitioned: Target, mallory: Connection) -> None:
    for other in ("extra.p", "extra.p2a", "hr.person"):
        with partitioned.free(), refused("DP001", "depends on other rows", "discreet.query()"):
            mallory.execute(f"SELECT discreet.dp_count(*) FROM extra.p1 WHERE x > (SELECT max(id) FROM {other})")


@pytest.mark.parametrize("setting", ["on", "off"])
def test_aggregation_partition_by_partition_is_one_answer(
    partitioned: Target, mallory: Connection, setting: str
) -> None:
    """The planner may aggregate each partition on its own: the groups are the same, and so is the price."""
    mallory.execute(f"SET enable_partitionwise_aggregate = {setting}")
    with partitioned.costs(PRICE):
        rows = mallory.execute("SELECT id, discreet.dp_count(*) FROM extra.p GROUP BY id").fetchall()
    assert len(rows) == 300
    with partitioned.costs(PRICE):
        rows = mallory.execute("SELECT x, discreet.dp_count(*) FROM extra.p GROUP BY x").fetchall()
    assert len(rows) == 10


def test_partition_that_is_attached_later_is_protected(partitioned: Target, mallory: Connection) -> None:
    mallory.execute("SELECT discreet.dp_count(*) FROM extra.p")
    partitioned.admin.execute("CREATE TABLE extra.p3 PARTITION OF extra.p FOR VALUES FROM (300) TO (400)")
    partitioned.admin.execute("GRANT SELECT ON extra.p3 TO mallory")
    with partitioned.costs(PRICE):
        mallory.execute("SELECT discreet.dp_count(*) FROM extra.p3")


def test_inherited_rows_may_be_the_same_people(inherited: Target, mallory: Connection) -> None:
    """The unique index of the parent does not see the child: one person may be in both."""
    for relation in ("extra.parent", "ONLY extra.parent", "extra.child"):
        with inherited.free(), refused("DP001", "not unique", "discreet.query()"):
            mallory.execute(f"SELECT discreet.dp_count(*) FROM {relation}")


def test_child_that_is_added_later_is_protected(target: Target, mallory: Connection) -> None:
    target.admin.execute(INHERITED)
    target.admin.execute("DROP TABLE extra.child")
    with target.costs(PRICE):
        mallory.execute("SELECT discreet.dp_count(*) FROM extra.parent")
    target.admin.execute("CREATE TABLE extra.child () INHERITS (extra.parent); GRANT SELECT ON extra.child TO mallory")
    for relation in ("extra.parent", "extra.child"):
        with target.free(), refused("DP001", "not unique", "discreet.query()"):
            mallory.execute(f"SELECT discreet.dp_count(*) FROM {relation}")


def test_own_table_under_a_protected_parent_is_refused(target: Target, mallory: Connection) -> None:
    """An attacker cannot make own rows part of the table, so as to be its unit."""
    with pytest.raises(psycopg.Error, match="must be owner"):
        mallory.execute("CREATE TABLE extra.spy () INHERITS (hr.person)")
