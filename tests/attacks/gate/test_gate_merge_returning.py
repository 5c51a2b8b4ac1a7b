"""MERGE into views, MERGE … RETURNING (PostgreSQL 17), RETURNING old (18): rows of people, or how many there are."""

import psycopg
import pytest
from tests.attacks.target import Target
from tests.databases import Connection
from tests.versions import since

VIEW = "CREATE VIEW extra.door AS SELECT * FROM hr.person; GRANT SELECT, INSERT, UPDATE, DELETE ON extra.door TO blind"
OLD = pytest.param("UPDATE extra.door SET salary = 1 RETURNING old.salary", marks=since(18))
ONTO = "MERGE INTO extra.door d USING (VALUES (1)) v(id) ON d.id = v.id"


@pytest.mark.parametrize(
    "statement",
    [f"{ONTO} WHEN MATCHED THEN UPDATE SET salary = 1", f"{ONTO} WHEN MATCHED THEN DELETE RETURNING d.salary",
     f"{ONTO} WHEN NOT MATCHED BY SOURCE THEN DELETE", OLD, "DELETE FROM extra.door RETURNING salary"],
)  # fmt: skip
@since(17)
def test_nothing_is_written_or_returned_through_a_view(gated: Target, blind: Connection, statement: str) -> None:
    gated.admin.execute(VIEW)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        blind.execute(statement)


@since(17)
def test_json_table_is_no_way_around_the_gate(blind: Connection) -> None:
    with pytest.raises(psycopg.Error) as refusal:
        blind.execute(
            "SELECT count(*) FROM hr.person p, JSON_TABLE('[1, 2]', '$[*]' COLUMNS (n int PATH '$')) j WHERE p.id = j.n"
        )
    assert refusal.value.sqlstate == "DP001"
