"""A table whose rows are hidden by row security is not read for who may not see them."""

from tests.attacks.gate.asking import COUNT, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

HIDDEN = """
    CREATE TABLE extra.hidden (dept text PRIMARY KEY); INSERT INTO extra.hidden VALUES ('dept 1');
    ALTER TABLE extra.hidden ENABLE ROW LEVEL SECURITY;
    GRANT SELECT ON extra.hidden TO PUBLIC;
"""


def test_hidden_rows_stay_hidden(gated: Target, blind: Connection) -> None:
    gated.admin.execute(HIDDEN)
    assert blind.execute("SELECT count(*) FROM extra.hidden").fetchall() == [(0,)]
    with gated.free():
        assert how_it_ends(blind, f"{COUNT} p JOIN extra.hidden h ON p.dept = h.dept") == "42704"
