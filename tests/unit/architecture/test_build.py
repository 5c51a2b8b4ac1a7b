"""The scripts that `make install` puts down."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from dev import build, upgrade
from dev.install import extension_version

MARKED = "CREATE FUNCTION f() ... AS $python$\n    # @PYTHON_PATH@\n    return 1\n$python$;\n"


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the package goes; no server is needed to know it."""
    folder = Path("/server/lib/discreet-1")
    monkeypatch.setattr(build, "python_folder", lambda: folder)
    return folder


def test_the_install_script_is_the_parts_in_their_order() -> None:
    script = build.install_script()
    assert script.startswith("\\echo")
    places = [script.index(part.read_text().split("\n")[0]) for part in build.parts()]
    assert places == sorted(places)


def test_the_install_script_names_the_folder_of_the_package(folder: Path) -> None:
    script = build.install_script()
    assert build.PATH_MARK not in script
    assert not [mark for mark in build.SETTINGS if mark in script]
    assert script.count("SET track_counts = off") > 1
    assert script.count("SET lc_monetary = 'C'") > 1
    assert f"import sys; sys.path[0] == '{folder}' or sys.path.insert(0, '{folder}')" in script


def test_the_path_line_puts_the_folder_first_and_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    path: list[str] = ["elsewhere"]
    monkeypatch.setattr("sys.path", path)
    for _ in range(3):
        exec(build.python_path_line(Path("/it's/here")))
    assert path == ["/it's/here", "elsewhere"]


def test_upgrade_scripts_name_the_folder_of_the_package_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    # otherwise every function that an upgrade replaces could not find the package
    (tmp_path / "extension" / "upgrades").mkdir(parents=True)
    (tmp_path / "sql").mkdir()
    (tmp_path / "sql" / "parts").write_text("# none\n")
    for name in ("discreet--0.0.1.sql", "discreet--0.0.1--0.0.2.sql"):
        (tmp_path / "extension" / "upgrades" / name).write_text(MARKED)
    monkeypatch.setattr(build, "ROOT", tmp_path)
    scripts = build.scripts()
    assert sorted(scripts) == [
        "discreet--0.0.1--0.0.2.sql",
        "discreet--0.0.1.sql",
        f"discreet--{extension_version()}.sql",
    ]
    for name in ("discreet--0.0.1.sql", "discreet--0.0.1--0.0.2.sql"):
        assert build.PATH_MARK not in scripts[name]
        assert str(folder) in scripts[name]


def test_what_upgrade_scripts_share_with_install_scripts_is_filled_in() -> None:
    script = build.scripts()["discreet--0.1.0--0.2.0.sql"]
    assert upgrade.MARK not in script
    assert build.PATH_MARK not in script
    assert "CREATE OR REPLACE FUNCTION discreet.query(" in script


def test_the_install_script_of_a_released_version_is_frozen() -> None:
    """Upgrades are tested from it, so it stays what `make build` made then, but for the path of the package."""
    frozen = build.ROOT / "extension" / "upgrades" / "discreet--0.1.0.sql"
    digest = hashlib.sha256(frozen.read_bytes()).hexdigest()
    assert digest == "041f6709bf3e815158a0fd6dc9c112cbc5d5f40c706e9412b76521953a26eaf8"
