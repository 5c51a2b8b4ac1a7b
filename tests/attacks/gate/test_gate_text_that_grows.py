"""A text that grows beyond a gigabyte on one row is an error, and so an oracle."""

import pytest
from tests.attacks.gate.asking import NOBODY, SECRET, how_it_ends
from tests.databases import Connection


@pytest.mark.parametrize(("levels", "ends"), [(2, "answer"), (8, "DP001")])
def test_a_text_that_grows_without_end_is_no_oracle(blind: Connection, levels: int, ends: str) -> None:
    """Longer than a gigabyte after eight levels: an error, if it came so far."""
    for who in (SECRET, NOBODY):
        grown = f"SELECT CASE WHEN {who} THEN 'aaaaaaaaaa' ELSE '' END AS t FROM hr.person"
        for _ in range(levels):
            grown = f"SELECT {' || '.join('t' * 10)} AS t FROM ({grown}) s"
        assert how_it_ends(blind, f"SELECT count(*) FROM ({grown}) s WHERE length(t) > 0") == ends
