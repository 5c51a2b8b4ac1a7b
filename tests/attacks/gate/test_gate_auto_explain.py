"""auto_explain, which a DBA has loaded, logs plans with buffers; at client_min_messages = log the asker reads it."""

import re

import pytest
from tests.attacks.gate.asking import FEW, NAIVE_GATE, ask
from tests.attacks.target import Target
from tests.databases import Connection
from tests.messages import notices

LOGGED = ["log_min_duration = 0", "log_analyze = on", "log_buffers = on", "log_nested_statements = on"]


@pytest.fixture
def reader(watched: Target) -> Connection:
    for setting in LOGGED:
        watched.admin.execute(f"ALTER ROLE blind SET auto_explain.{setting}")
    connection = watched.connect("blind", new=True)
    connection.execute("SET client_min_messages = log")
    return connection


def plans(connection: Connection, statement: str) -> list[str]:
    heard = notices(connection)
    connection.execute(statement)
    return [str(message) for level, message, _ in heard if level == "LOG"]


def test_it_tells_of_a_naive_design(watched: Target, reader: Connection) -> None:
    watched.admin.execute(NAIVE_GATE)
    told = plans(reader, "SELECT extra.noisy('SELECT count(*) FROM hr.person WHERE salary = 1007')")
    assert re.search(r"rows=10(\.00)? loops=1", told[0])


def test_it_tells_the_same_buffers_whatever_was_read(watched: Target, reader: Connection) -> None:
    """Of the statement around the question; the plans of the question itself are not logged."""
    ask(reader, "SELECT count(*) FROM hr.visit")
    told = []
    for question in (
        FEW,
        FEW.replace("1090", "0"),
        FEW.replace("hr.person", "hr.person p JOIN hr.visit v ON p.id = v.person"),
    ):
        (plan,) = plans(reader, f"SELECT discreet.query_json('{question}', 0.001)")
        told.append([line for line in plan.splitlines() if "Buffers" in line])
    assert told[0] == told[1] == told[2]
    assert "person" not in plan.replace(question, "")
