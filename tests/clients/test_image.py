"""The image, where Docker is: it starts with a password only, as user postgres, and its server answers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import psycopg
import pytest
from dev.cluster import ROOT

PASSWORD = "only for this test"


@pytest.fixture(scope="module")
def image() -> str:
    """Built from this tree; skips where that cannot be."""
    if shutil.which("docker") is None:
        pytest.skip("docker is not installed; docker/check tests the image without it")
    if subprocess.run(["docker", "info"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no Docker daemon is running; docker/check tests the image without it")
    command = ["docker", "build", "-q", "-f", "docker/Dockerfile", "-t", "discreet:test", "."]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return "discreet:test"


@pytest.fixture(scope="module")
def server(image: str) -> Iterator[str]:
    """A connection string of the running image, with the sample data; user and password are to be added."""
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.waiting_utils import wait_for_logs

    container = DockerContainer(image).with_exposed_ports(5432)
    container = container.with_env("POSTGRES_PASSWORD", PASSWORD).with_env("DISCREET_SAMPLE", "yes")
    with container:
        wait_for_logs(container, "listening on IPv4 address", timeout=120)
        yield f"host={container.get_container_host_ip()} port={container.get_exposed_port(5432)} dbname=discreet"


def test_without_a_password_it_does_not_start(image: str) -> None:
    done = subprocess.run(["docker", "run", "--rm", image], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Set POSTGRES_PASSWORD" in done.stderr


def test_it_runs_as_postgres(image: str) -> None:
    command = ["docker", "run", "--rm", "--entrypoint", "id", image, "-un"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "postgres"


def test_an_analyst_asks_and_pays(server: str) -> None:
    with psycopg.connect(f"{server} user=postgres", password=PASSWORD, autocommit=True) as admin:
        admin.execute(
            """
            SELECT discreet.protect('hr.employee', unit => 'id', epsilon => 20);
            CREATE ROLE ann LOGIN PASSWORD 'ann';
            GRANT USAGE ON SCHEMA hr TO ann;
            SELECT discreet.grant_budget('hr.employee', 'ann', epsilon => 10);
            """
        )
        with psycopg.connect(f"{server} user=ann password=ann", autocommit=True) as ann:
            ann.execute("SET discreet.epsilon = 3")
            ((count,),) = ann.execute("SELECT count(*) FROM hr.employee").fetchall()
        # noise of scale 1/3: off by more than 10 with less than 1e-12
        assert abs(int(str(count)) - 2000) <= 10
        spent = admin.execute("SELECT epsilon_spent FROM discreet.budget_status WHERE role IS NULL").fetchall()
        assert spent == [(3,)]
        assert admin.execute("SELECT FROM discreet.check_installation() WHERE status = 'problem'").fetchall() == []
