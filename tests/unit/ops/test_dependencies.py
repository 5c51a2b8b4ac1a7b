"""What check_installation() knows of the packages that the server's Python imports."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest
from dev.cluster import ROOT
from dev.install import locked
from dev.postgresql import SUPPORTED, major

from discreet.server import ops_installation
from discreet.server.ops_installation import DEPENDENCIES, LEAST_MINOR, dependency, locked_versions


def test_every_package_that_is_required_is_checked() -> None:
    required = (ROOT / "plpython" / f"pglast-{major()}.in").read_text()
    required += (ROOT / "plpython" / "requirements.in").read_text()
    assert re.findall(r"^([\w.-]+)==", required, re.MULTILINE) == list(DEPENDENCIES)


def test_the_lock_pins_all_of_them_and_what_they_need() -> None:
    pinned = locked_versions(locked())
    assert set(DEPENDENCIES) < pinned.keys()
    assert locked_versions("") == {}


@pytest.mark.parametrize("version", SUPPORTED)
def test_each_postgresql_has_the_parser_with_its_grammar(version: int) -> None:
    pinned = locked_versions((ROOT / "plpython" / f"pglast-{version}.lock").read_text())
    assert pinned["pglast"].split(".")[0] == str(version - 10)


@pytest.mark.parametrize(
    ("name", "pinned", "status", "finding"),
    [
        ("scipy", metadata.version("scipy"), "ok", metadata.version("scipy")),
        ("scipy", "0.1", "problem", f"version {metadata.version('scipy')} is installed, 0.1 is locked"),
        ("scipy", None, "problem", "none is locked"),
        ("wrapt", "0.1", "problem", "0.1 is locked"),
        ("no_such_package", "1", "problem", "cannot be imported"),
    ],
)
def test_a_package_of_another_version_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, name: str, pinned: str | None, status: str, finding: str
) -> None:
    monkeypatch.setattr(
        ops_installation, "package_folder", lambda: Path(str(metadata.distribution("scipy").locate_file("")))
    )
    assert dependency(name, pinned)[0] == status
    assert finding in dependency(name, pinned)[1]


def test_a_package_from_elsewhere_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops_installation, "package_folder", lambda: tmp_path)
    status, finding = dependency("scipy", metadata.version("scipy"))
    assert status == "warning"
    assert "not from the package folder" in finding


def test_a_parser_with_the_grammar_of_another_postgresql_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops_installation, "run", lambda plpy, text: [{"major": major() + 1}])
    [(item, status, finding)] = ops_installation.grammar(object())  # type: ignore[arg-type]
    assert (item, status) == ("grammar", "problem")
    assert f"parses the SQL of PostgreSQL {major()}, and the server is PostgreSQL {major() + 1}" in finding


def told(monkeypatch: pytest.MonkeyPatch, number: int) -> list[tuple[str, str, str]]:
    monkeypatch.setattr(ops_installation, "run", lambda plpy, text: [{"number": str(number)}])
    return list(ops_installation.minor_version(object()))  # type: ignore[arg-type]


def test_every_postgresql_has_a_least_minor_version() -> None:
    assert list(LEAST_MINOR) == list(SUPPORTED)


@pytest.mark.parametrize(("version", "minor"), LEAST_MINOR.items())
def test_a_minor_version_with_known_holes_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, version: int, minor: int
) -> None:
    assert told(monkeypatch, version * 10_000 + minor) == []
    assert told(monkeypatch, version * 10_000 + minor + 1) == []
    [(item, status, finding)] = told(monkeypatch, version * 10_000 + minor - 1)
    assert (item, status) == ("minor version", "problem")
    assert f"PostgreSQL {version}.{minor - 1} has known holes" in finding
    assert finding.endswith(f"update it to {version}.{minor} or later")
