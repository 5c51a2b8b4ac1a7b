"""A shared sequence counts what others insert."""

from itertools import pairwise

from tests.attacks.mls.levels import Levels, refusal
from tests.databases import Connection


def test_a_sequence_tells_where_labels_are_row_security(naive: Connection, low: Connection, high: Connection) -> None:
    def number(name: str) -> int:
        (row,) = low.execute("INSERT INTO naive (name) VALUES (%s) RETURNING id", [name]).fetchall()
        return int(str(row[0]))

    before = number("a")
    high.execute("INSERT INTO naive (name, label) VALUES ('hidden', 'S')")
    assert number("b") == before + 2


def test_numbers_of_multilevel_tables_are_drawn_at_random(levels: Levels) -> None:
    levels.admin.execute(
        """
        CREATE TABLE memo (id bigserial PRIMARY KEY, number int GENERATED ALWAYS AS IDENTITY, body text);
        GRANT SELECT, INSERT ON memo TO mls_low, mls_high;
        SELECT discreet.mls_table('memo', ARRAY['id']);
        """
    )
    try:
        low = levels.at("low")
        ids = [low.execute("INSERT INTO memo (body) VALUES ('x') RETURNING id, number").fetchall()[0] for _ in range(9)]
        # nine draws among 2^31 or more are in no row: an alarm by chance has a probability below 1e-7
        assert not any(b[place] - a[place] in (1, 2) for a, b in pairwise(ids) for place in (0, 1))
        for question in ("SELECT lastval()", "SELECT currval('memo_id_seq')", "SELECT last_value FROM memo_id_seq"):
            assert refusal(low, question)[0] in ("55000", "42P01", "42501")
    finally:
        levels.admin.execute("DROP VIEW memo CASCADE; DROP TABLE memo_mls CASCADE")
