"""Questions to the gate, as an attacker writes them."""

from __future__ import annotations

import psycopg
from tests.databases import Connection

COUNT = "SELECT count(*) FROM hr.person"
FRESH = "SELECT discreet.query_json('SELECT count(*) FROM hr.person', 0.1, fresh => true)"


def ask(connection: Connection, question: str, epsilon: str = "0.001") -> list[dict[str, object]]:
    rows = connection.execute("SELECT discreet.query_json(%s, %s::numeric)", [question, epsilon]).fetchall()
    return [row for (row,) in rows]  # type: ignore[misc]


def how_it_ends(connection: Connection, question: str, epsilon: str = "0.001") -> str:
    """ "answer", or the SQLSTATE of the refusal."""
    try:
        ask(connection, question, epsilon)
    except psycopg.Error as error:
        return str(error.sqlstate)
    return "answer"
