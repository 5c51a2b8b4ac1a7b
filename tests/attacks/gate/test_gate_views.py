"""Views and rules over protected tables, which would be other names with other policies."""

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

VIEWS = [
    "CREATE VIEW extra.other AS SELECT * FROM hr.person",
    "CREATE VIEW extra.other WITH (security_barrier) AS SELECT salary FROM hr.person WHERE id = 7",
    "CREATE VIEW extra.other WITH (security_invoker) AS SELECT id, salary FROM hr.person",
    'CREATE TABLE extra.other (LIKE hr.person); CREATE RULE "_RETURN" AS ON SELECT TO extra.other'
    " DO INSTEAD SELECT * FROM hr.person",
    "CREATE VIEW extra.other AS SELECT p.* FROM hr.person p, generate_series(1, 1000)",
]


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_over_people_cannot_be_asked_about(gated: Target, blind: Connection, view: str) -> None:
    gated.admin.execute(f"{view}; GRANT SELECT ON extra.other TO PUBLIC")
    assert int(str(gated.value("SELECT count(*) FROM extra.other"))) >= 1
    with gated.free():
        assert how_it_ends(blind, "SELECT count(*) FROM extra.other") == "42704"
        assert how_it_ends(blind, "SELECT count(*) FROM hr.person p, extra.other o") == "42704"
