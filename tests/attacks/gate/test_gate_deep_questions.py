"""Questions that are too much for parser, printer or memory must end in a refusal, not in a crash of the server."""

import pytest
from tests.attacks.gate.asking import COUNT, how_it_ends
from tests.attacks.target import Target
from tests.databases import Connection

LONG = {
    "sum": f"{COUNT} WHERE 0{'+1' * 9000} > 1",
    "longer sum": f"{COUNT} WHERE 0{'+1' * 40_000} > 1",
    "around the answer": f"SELECT count(*){'+1' * 9000} FROM hr.person",
    "not": f"{COUNT} WHERE {'NOT ' * 4000}true",
    "casts": f"{COUNT} WHERE salary{'::int' * 3000} > 1",
    "minus": f"{COUNT} WHERE {'- ' * 9000}salary > 1",
    "parentheses": f"{COUNT} WHERE {'(' * 9000}true{')' * 9000}",
    "subqueries": f"SELECT count(*) FROM {'(SELECT * FROM ' * 900}hr.person{') s' * 900}",
    "exponent": f"{COUNT} WHERE salary > 1e999999999",
    "cube": f"SELECT count(*) FROM hr.person GROUP BY CUBE ({', '.join(f'salary + {n}' for n in range(60))})",
    "names": "WITH c0 AS (SELECT id FROM hr.person), "
    + ", ".join(f"c{n} AS (SELECT a.id FROM c{n - 1} a JOIN c{n - 1} b ON a.id = b.id)" for n in range(1, 40))
    + " SELECT count(*) FROM c39",
}


@pytest.mark.parametrize("name", LONG)
def test_it_is_answered_or_refused_by_the_same_backend(gated: Target, blind: Connection, name: str) -> None:
    before = blind.info.backend_pid
    blind.execute("SET statement_timeout = '20s'")
    assert how_it_ends(blind, LONG[name]) in ("DP001", "22023", "answer")
    assert blind.execute("SELECT pg_backend_pid()").fetchall() == [(before,)]
