"""How many groups were left out would tell how many people are alone in theirs."""

import pytest
from tests.attacks.gate.asking import explain, protect
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import notices

BY_TOWN = "SELECT town, count(*) FROM extra.resident GROUP BY town"


@pytest.mark.usefixtures("delta")
def test_nothing_tells_how_many_groups_were_left_out(gated: Target, blind: Connection) -> None:
    """None or fifty are alone: rows, notices and price are the same, but with probability below 50 deltas, 5e-7."""
    told = []
    for alone in (0, 50):
        gated.admin.execute("DROP TABLE IF EXISTS extra.resident")
        town = f"CASE WHEN n > {alone} THEN 'Here' ELSE 'town ' || n END"
        rows = f"SELECT n, {town} FROM generate_series(1, 1000) n"
        protect(gated, "resident", "id int PRIMARY KEY, town text", rows)
        heard = notices(blind)
        price = explain(blind, BY_TOWN, "0.4")
        answer = blind.execute("SELECT discreet.query_json(%s, 0.4, fresh => true)->>'town'", [BY_TOWN]).fetchall()
        gated.admin.execute("UPDATE discreet._budget SET amount_spent = 0, delta_spent = 0; TRUNCATE discreet._charge")
        told.append((answer, [message for _, message, _ in heard], price))
        heard.clear()
    assert told[0] == told[1]
    assert told[0][0] == [("Here",)]
