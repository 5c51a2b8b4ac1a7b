"""Views and rules over protected tables, which would be other names with other policies.

A view is expanded: what it filters, maps and joins passes the same checks, and is paid from the same budget.
"""

import pytest
from tests.attacks.gate.asking import how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection
from tests.versions import before

VIEWS = [
    ("CREATE VIEW extra.other AS SELECT * FROM hr.person", "answer"),
    ("CREATE VIEW extra.other WITH (security_barrier) AS SELECT salary FROM hr.person WHERE id = 7", "DP002"),
    ("CREATE VIEW extra.other WITH (security_invoker) AS SELECT id, salary FROM hr.person", "answer"),
    pytest.param(
        'CREATE TABLE extra.other (LIKE hr.person); CREATE RULE "_RETURN" AS ON SELECT TO extra.other'
        " DO INSTEAD SELECT * FROM hr.person",
        "answer",
        marks=before(16),
    ),
    ("CREATE VIEW extra.other AS SELECT p.* FROM hr.person p, generate_series(1, p.id)", "DP001"),
]


@pytest.mark.parametrize(("view", "end"), VIEWS)
def test_a_view_over_people_is_checked_and_paid_like_its_text(
    gated: Target, blind: Connection, view: str, end: str
) -> None:
    gated.admin.execute(f"{view}; GRANT SELECT ON extra.other TO PUBLIC")
    assert int(str(gated.value("SELECT count(*) FROM extra.other"))) >= 1
    with gated.costs("0.001" if end == "answer" else "0"):
        assert how_it_ends(blind, "SELECT count(*) FROM extra.other", "0.001") == end
    with gated.free():
        joined = how_it_ends(blind, "SELECT count(*) FROM hr.person p, extra.other o")
        assert joined in ("DP001", "DP002")
