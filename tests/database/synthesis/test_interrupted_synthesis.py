"""A synthetic table that is not finished: no table, one charge, no process left behind."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import psycopg
import pytest
from tests.database.synthesis.clinic import spent, value
from tests.database.waiting import waited_for
from tests.databases import Connection

ASKED = "SELECT discreet.synthesize('clinic.patient', 'clinic.copy', 50, 1e-6, max_model_mb => 64)"


def fitting_processes(above: int) -> list[int]:
    """Processes of the worker that fit."""
    found = []
    for place in Path("/proc").iterdir():
        try:
            words = (place / "cmdline").read_bytes() if place.name.isdigit() else b""
            stat = (place / "stat").read_text() if b"discreet.synthesis.process" in words else ""
        except OSError:
            continue
        if stat and above in ancestors(int(place.name)):
            found.append(int(place.name))
    return found


def ancestors(process: int) -> list[int]:
    found = []
    while process > 1:
        try:
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            break
        found.append(process)
    return found


@pytest.fixture
def postmaster(admin: Connection) -> int:
    return int(Path(value(admin, "SELECT current_setting('data_directory')"), "postmaster.pid").read_text().split()[0])


def charges(connection: Connection) -> int:
    return int(spent(connection)[0])


def begun(connection: Connection, errors: list[str | None]) -> threading.Thread:
    def ask() -> None:
        try:
            connection.execute(ASKED)
            errors.append(None)
        except psycopg.Error as error:
            errors.append(error.sqlstate)

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


@pytest.mark.parametrize("how", ["cancel", "kill"])
def test_an_interrupted_synthesis_leaves_one_charge_and_nothing_else(
    clinic: Connection, admin: Connection, postmaster: int, how: str
) -> None:
    errors: list[str | None] = []
    thread = begun(clinic, errors)
    waited_for(lambda: bool(fitting_processes(postmaster)) and charges(admin) == 1)
    (process,) = fitting_processes(postmaster)
    if how == "cancel":
        admin.execute("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT discreet.synth%'")
    else:
        os.kill(process, signal.SIGKILL)
    thread.join()
    assert errors == ["57014" if how == "cancel" else "DP001"]
    waited_for(lambda: not fitting_processes(postmaster))
    assert value(clinic, "SELECT to_regclass('clinic.copy')") is None
    assert charges(clinic) == 1
    assert value(clinic, "SELECT bool_and(intact) FROM discreet.verify_log() WHERE dataset = 'clinic'")
