"""Draws which rooms of the Python package import which, as docs/architecture.md shows it: `python3 dev/imports.py`.

A room is a folder of the package. Each line is a layer: its rooms import only rooms of the lines below it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "plpython" / "src" / "discreet"


def imported(module: Path) -> Iterator[str]:
    """Names of the package that a module imports, in functions too."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{each.name}" for each in node.names)


def rooms() -> dict[str, set[str]]:
    """The rooms that each room imports."""
    found = {folder.name: set[str]() for folder in sorted(PACKAGE.iterdir()) if (folder / "__init__.py").exists()}
    for room, others in found.items():
        for module in (PACKAGE / room).rglob("*.py"):
            parts = (name.split(".") for name in imported(module))
            others |= {part[1] for part in parts if part[0] == "discreet" and len(part) > 1 and part[1] in found}
        others.discard(room)
    return found


def layers(imports: dict[str, set[str]]) -> list[list[str]]:
    """Rooms by their distance from the ground, the highest first."""
    below: dict[str, int] = {}
    while len(below) < len(imports):
        ready = [room for room in imports if room not in below and imports[room] <= below.keys()]
        assert ready, f"rooms import each other: {sorted(imports.keys() - below.keys())}"
        below |= {room: 1 + max((below[other] for other in imports[room]), default=-1) for room in ready}
    return [[room for room in imports if below[room] == height] for height in sorted(set(below.values()), reverse=True)]


def drawn() -> str:
    imports = rooms()
    wide = max(map(len, imports))
    lines = []
    for layer in layers(imports):
        lines += [f"{room:{wide}} ──► {', '.join(sorted(imports[room])) or '(none)'}" for room in layer]
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


if __name__ == "__main__":
    print(drawn(), end="")
