"""Joins the parts named in sql/parts, in that order, to build/discreet--VERSION.sql."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from dev.install import extension_version, python_folder  # noqa: E402

MARK = "# @PYTHON_PATH@"


def parts() -> list[Path]:
    lines = (ROOT / "sql" / "parts").read_text().splitlines()
    return [ROOT / "sql" / line.strip() for line in lines if line.strip() and not line.startswith("#")]


def python_path_line(folder: Path) -> str:
    """One line of Python that puts the folder first on the path, once."""
    return f"import sys; sys.path[0] == {str(folder)!r} or sys.path.insert(0, {str(folder)!r})"


def install_script() -> str:
    head = r"\echo Use \"CREATE EXTENSION discreet\" to load this file. \quit"
    body = [part.read_text().strip() for part in parts()]
    return "\n\n".join([head, *body]).replace(MARK, python_path_line(python_folder())) + "\n"


if __name__ == "__main__":
    target = ROOT / "build" / f"discreet--{extension_version()}.sql"
    target.parent.mkdir(exist_ok=True)
    target.write_text(install_script())
