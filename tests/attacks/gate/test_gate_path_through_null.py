"""A way to the person that ends at a NULL, and a row that moves to another person."""

from tests.attacks.gate.asking import number
from tests.attacks.gate.test_gate_broken_foreign_key import COUNT, KEY, PROTECT, TABLES
from tests.attacks.target import Target
from tests.databases import Connection

MOVED = "UPDATE extra.trip SET person = 7"


def test_rows_that_lead_to_nobody_take_no_part(gated: Target, blind: Connection) -> None:
    gated.admin.execute(TABLES)
    gated.admin.execute(f"{KEY}; {PROTECT}; UPDATE extra.stop SET trip_id = NULL WHERE trip_id > 100")
    gated.admin.execute("UPDATE extra.trip SET person = NULL WHERE trip_id > 50")
    # 100 rows of 50 people; noise of scale 6 / 0.9 is beyond 200 with a probability below 1e-12
    assert number(blind, COUNT, "0.9") < 300


def test_rows_that_move_to_one_person_count_as_that_person(gated: Target, blind: Connection) -> None:
    gated.admin.execute(TABLES)
    gated.admin.execute(f"{KEY}; {PROTECT}; {MOVED}")
    assert gated.value(COUNT) == 4000
    assert number(blind, COUNT, "0.9") < 6 + 200
