"""The private cluster of `make up`: started by anybody, usable after another call, a crash or a reboot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from dev import cluster as private_cluster
from dev.cluster import Cluster, throw_away_folder
from tests.databases import FAST_AND_FORGETFUL, throw_away_cluster


@pytest.fixture(scope="module")
def own() -> Iterator[Cluster]:
    """A cluster that these tests may crash."""
    with throw_away_cluster() as cluster:
        yield cluster


@pytest.fixture
def running(own: Cluster) -> Cluster:
    own.start()
    return own


def postmaster(cluster: Cluster) -> int:
    return int((cluster.data / "postmaster.pid").read_text().split("\n")[0])


def crash(cluster: Cluster) -> None:
    """Kills the server as a power cut would, and waits until it is gone."""
    number = postmaster(cluster)
    os.kill(number, signal.SIGKILL)
    while cluster.running:
        time.sleep(0.01)


def answers(dsn: str) -> str:
    with psycopg.connect(dsn) as connection:
        return str(connection.execute("SELECT current_user").fetchall()[0][0])


def test_the_connection_string_works_for_the_superuser(running: Cluster) -> None:
    assert answers(running.dsn()) == "postgres"


def test_the_connection_string_works_for_another_role_when_appended(running: Cluster) -> None:
    running.sql("CREATE ROLE alice LOGIN")
    assert answers(running.dsn() + " user=alice") == "alice"
    running.sql("DROP ROLE alice")


def test_it_listens_on_no_network(running: Cluster) -> None:
    assert running.sql("SHOW listen_addresses") == ""


def test_it_is_not_run_by_root(running: Cluster) -> None:
    assert Path(f"/proc/{postmaster(running)}").stat().st_uid != 0


def test_starting_twice_is_starting_once(running: Cluster) -> None:
    before = postmaster(running)
    running.start()
    assert postmaster(running) == before


def test_stopping_keeps_the_data(running: Cluster) -> None:
    running.sql("CREATE TABLE kept (x int)")
    running.stop()
    assert not running.running
    running.stop()
    running.start()
    assert running.sql("SELECT count(*) FROM kept") == "0"
    running.sql("DROP TABLE kept")


def test_after_a_crash_it_starts_again(running: Cluster) -> None:
    with psycopg.connect(running.dsn(), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS x")
        crash(running)
    running.start()
    assert running.sql("SELECT x FROM kept") == "1"
    running.sql("DROP TABLE kept")


def test_after_a_reboot_in_which_its_number_went_to_another_program_it_starts_again(running: Cluster) -> None:
    """PostgreSQL would refuse: the process in the lock file is alive, and belongs to the same user."""
    crash(running)
    user = running.user if os.getuid() == 0 else None
    with subprocess.Popen(["sleep", "60"], user=user) as other:
        locks = [running.data / "postmaster.pid", *running.socket.glob(".s.PGSQL.*.lock")]
        for lock in locks:
            lines = lock.read_text().split("\n")
            lock.write_text("\n".join([str(other.pid), *lines[1:]]))
        try:
            assert not running.running
            running.start()
            assert answers(running.dsn()) == "postgres"
        finally:
            other.kill()


@contextmanager
def not_yet_made(name: str) -> Iterator[Cluster]:
    with throw_away_folder() as folder:
        cluster = Cluster(folder / name, settings=FAST_AND_FORGETFUL)
        try:
            yield cluster
        finally:
            cluster.remove()


def test_a_half_made_cluster_is_made_anew() -> None:
    with not_yet_made("interrupted") as cluster:
        cluster.data.mkdir(parents=True)
        (cluster.data / "PG_VERSION").write_text("15\n")
        cluster.start()
        assert answers(cluster.dsn()) == "postgres"


@pytest.mark.parametrize("name", ["it's a fine place, really", "deep" * 30])
def test_a_folder_whose_name_does_not_fit_a_connection_string_will_do(name: str) -> None:
    with not_yet_made(name) as cluster:
        cluster.start()
        assert answers(cluster.dsn() + " user=postgres") == "postgres"


def test_removing_it_leaves_nothing() -> None:
    with not_yet_made("it's gone") as cluster:
        cluster.start()
        assert cluster.socket.exists()
        cluster.remove()
        assert not cluster.folder.exists()
        assert not cluster.socket.exists()


def test_up_makes_a_database_with_the_extension_and_the_sample_data(
    running: Cluster, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIZE", "0.01")
    private_cluster.up(running)
    assert "Loading the sample data" in capfd.readouterr().err
    assert running.sql("SELECT count(*) FROM hr.employee", "discreet") == "20"
    assert running.sql("SELECT discreet.version()", "discreet") != ""
    running.sql("DELETE FROM hr.employee", "discreet")
    private_cluster.up(running)
    assert running.sql("SELECT count(*) FROM hr.employee", "discreet") == "0"
    crash(running)
    private_cluster.up(running)
    assert running.sql("SELECT count(*) FROM hr.employee", "discreet") == "0"


def test_up_restarts_a_cluster_that_runs_another_build(
    running: Cluster, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIZE", "0.01")
    private_cluster.up(running)
    before = postmaster(running)
    (running.folder / "build.sha256").write_text("of yesterday")
    private_cluster.up(running)
    assert postmaster(running) != before
    assert "Another build is installed" in capfd.readouterr().err


def test_an_unknown_verb_is_answered_with_the_known_ones() -> None:
    program = Path(private_cluster.__file__)
    done = subprocess.run([sys.executable, str(program), "sideways"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "usage: dev/cluster.py up|down|reset|psql|dsn" in done.stderr
