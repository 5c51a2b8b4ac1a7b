"""The tree as a whole: what is in it can be found and used by anybody, on any machine."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from dev.imports import drawn

ROOT = Path(__file__).resolve().parents[3]
NOT_OURS = {
    ".git", ".venv", ".cluster", "build", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache",
    ".hypothesis",
}  # fmt: skip
INTERNAL_TARGETS = {"server-packages", "test-packages"}

# of the machine on which somebody happened to work; the slashes apart, so that this file does not find itself
MACHINE = re.compile(r"(?<![\w./-])/(?:work|root|mnt|home/\w+|opt/wheels)\b/?")
REGISTRY = re.compile(
    r"(?<!no-emit-)\b(?:index-url|find-links|trusted-host)\b|https?://(?:\d+\.\d+\.\d+\.\d+|[\w.-]*(?:mirror|registry|"
    r"artifactory|nexus|pypi)[\w.-]*[:/])"
)


def files() -> Iterator[tuple[Path, str]]:
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NOT_OURS]
        for name in names:
            file = Path(folder) / name
            if file != Path(__file__).resolve() and file.suffix not in {".o", ".so", ".bc", ".pyc"}:
                yield file, file.read_text(errors="replace")


def test_no_file_names_a_folder_of_one_machine() -> None:
    assert {str(file): found[0] for file, text in files() if (found := MACHINE.search(text))} == {}


def test_no_file_names_a_package_registry() -> None:
    assert {str(file): found[0] for file, text in files() if (found := REGISTRY.search(text))} == {}


def test_these_searches_find_what_they_look_for() -> None:
    for found in ("/home/me/x", " /work/main", "'/root/.cache'", "/opt/wheels"):
        assert MACHINE.search(found)
    for found in ("--index-url x", "find-links = y", "https://pypi.org/simple", "http://10.0.0.1:8080/"):
        assert REGISTRY.search(found)
    for allowed in (
        "/usr/lib/postgresql/15",
        "a/work/b",
        "--no-emit-index-url",
        "https://www.gnu.org/licenses/",
    ):
        assert not MACHINE.search(allowed)
        assert not REGISTRY.search(allowed)


def named_files(text: str) -> Iterator[str]:
    """Files that a page names in code or in a picture: worker/gate.py, sql/gate/ledger.sql, gate/{run,printer}.py."""
    for folder, several, one, ending in re.findall(r"\b((?:\w+/)*)(?:\{([\w,]+)\}|(\w+))\.(py|c|sql|h)\b", text):
        for name in several.split(",") if several else [one]:
            yield f"{folder}{name}.{ending}"


def test_the_page_on_architecture_names_only_files_that_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    known = ["", "plpython/src/discreet/", "extension/", "sql/"]
    found = list(named_files(page))
    assert len(found) > 60
    assert [file for file in found if not any((ROOT / folder / file).exists() for folder in known)] == []


def test_the_page_on_architecture_draws_which_rooms_import_which() -> None:
    """Drawing fails where two rooms import each other."""
    assert f"```text\n{drawn()}```" in (ROOT / "docs" / "architecture.md").read_text()


def test_make_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", makefile, re.MULTILINE)
    assert phony
    targets = set(phony[1].replace("\\\n", " ").split())
    rules = set(re.findall(r"^([a-z][a-z-]*):(?!=)", makefile, re.MULTILINE))
    assert rules == targets
    help_text = subprocess.run(["make", "-s", "-C", str(ROOT), "help"], capture_output=True, text=True, check=True)
    listed = dict(re.findall(r"^  make (\S+) +(\S.*)$", help_text.stdout, re.MULTILINE))
    assert set(listed) == targets - INTERNAL_TARGETS


def test_ci_runs_make_test_and_nothing_else() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    commands = [line for line in lines if line and not line.startswith(("#", "set ", "cd "))]
    assert commands == ["exec make test"]


def test_locked_packages_have_hashes() -> None:
    for file in [file for folder in ("plpython", "dev", "dev/site") for file in (ROOT / folder).glob("*.lock")]:
        lock = file.read_text().replace("\\\n", " ")
        packages = [line for line in lock.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        assert packages
        assert [line for line in packages if "==" not in line or "--hash=sha256:" not in line] == []


def test_the_version_is_written_in_one_place() -> None:
    version = re.search(r"^default_version = '(.+)'$", (ROOT / "extension/discreet.control").read_text(), re.MULTILINE)
    assert version
    assert re.fullmatch(r"\d+\.\d+\.\d+", version[1])
    for file in (ROOT / "plpython" / "pyproject.toml", ROOT / "Makefile", ROOT / "pyproject.toml"):
        assert version[1] not in file.read_text()
