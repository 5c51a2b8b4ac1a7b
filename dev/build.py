"""Joins the parts named in sql/parts, in that order, to build/discreet--VERSION.sql.

The scripts of extension/upgrades, from one version to the next or of a version already released, go there too;
what they have in common with the install scripts is filled in by dev/upgrade.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from dev import upgrade  # noqa: E402
from dev.install import extension_version, python_folder  # noqa: E402

PATH_MARK = "# @PYTHON_PATH@"
# settings stand where their mark is: those that the gate pins, and those by which values are written
SETTINGS = {
    "/* @PINNED_SETTINGS@ */\n": ROOT / "sql" / "gate" / "settings",
    "/* @PINNED_FORMATS@ */\n": ROOT / "sql" / "release" / "formats",
}


def parts() -> list[Path]:
    lines = (ROOT / "sql" / "parts").read_text().splitlines()
    return [ROOT / "sql" / line.strip() for line in lines if line.strip() and not line.startswith("#")]


def python_path_line(folder: Path) -> str:
    """One line of Python that puts the folder first on the path, once."""
    return f"import sys; sys.path[0] == {str(folder)!r} or sys.path.insert(0, {str(folder)!r})"


def install_script() -> str:
    head = r"\echo Use \"CREATE EXTENSION discreet\" to load this file. \quit"
    body = [part.read_text().strip() for part in parts()]
    return without_marks("\n\n".join([head, *body]) + "\n")


def without_marks(script: str) -> str:
    """The script with what its marks stand for: the way to the package, and settings."""
    for mark, settings in SETTINGS.items():
        script = script.replace(mark, settings.read_text())
    return script.replace(PATH_MARK, python_path_line(python_folder()))


def scripts() -> dict[str, str]:
    """Each file of build/, and what is in it."""
    files = sorted((ROOT / "extension" / "upgrades").glob("discreet--*.sql"))
    made = {file.name: without_marks(file.read_text()) for file in files}
    made[f"discreet--{extension_version()}.sql"] = install_script()
    for name, script in made.items():
        if upgrade.MARK in script:
            _, old, new = name.removesuffix(".sql").split("--")
            made[name] = upgrade.upgrade_script(made[f"discreet--{old}.sql"], made[f"discreet--{new}.sql"], script)
    return made


if __name__ == "__main__":
    target = ROOT / "build"
    target.mkdir(exist_ok=True)
    wanted = scripts()
    for name, script in wanted.items():
        (target / name).write_text(script)
    for old in target.glob("discreet--*.sql"):
        if old.name not in wanted:
            old.unlink()
